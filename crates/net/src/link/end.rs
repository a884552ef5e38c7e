//! One end of a link: a TUN device, in a namespace of its own if asked for, and what the kernel counted there.

use super::{LinkEnd, LinkError};
use crate::netns::{Namespace, NamespaceError};
use crate::tun::Tun;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Packets that the kernel may keep for a link that is late: at a gigabit a second, and 1500 bytes each, 0.8 s.
const QUEUE: u32 = 65_536;

/// Counters of all interfaces, as the calling thread's namespace has them.
const COUNTERS: &str = "/proc/thread-self/net/dev";

/// A device and its namespace.
#[derive(Debug)]
pub(super) struct End {
    /// Its name in messages to users.
    title: String,
    name: String,
    // The device goes before the namespace that it is in.
    device: Tun,
    ring: Arc<Ring>,
    /// Packets that the kernel did not take.
    pub(super) refused: u64,
    /// Frames that were no packets.
    pub(super) unreadable: u64,
    _namespace: Option<Namespace>,
}

impl End {
    pub(super) fn open(end: &LinkEnd) -> Result<Self, LinkError> {
        let Some(name) = &end.namespace else {
            return Self::make(end);
        };
        let namespace = match Namespace::open(name) {
            Err(NamespaceError::NotFound(_)) => Namespace::create(name)?,
            opened => opened?,
        };
        let made = namespace.run(|| Self::make(end))??;
        Ok(Self { _namespace: Some(namespace), ..made })
    }

    /// Makes the device where the calling thread is.
    fn make(end: &LinkEnd) -> Result<Self, LinkError> {
        let name = end.device.clone();
        let device = Tun::create_for_link(&name, end.mtu, &end.addresses, QUEUE)?;
        let ring = Arc::new(Ring::of(&name).map_err(|source| LinkError::Counters { device: name.clone(), source })?);
        Ok(Self { title: end.to_string(), name, device, ring, refused: 0, unreadable: 0, _namespace: None })
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        use crate::device::Device;
        self.device.fd()
    }

    /// Reads a frame; `None` when there is none.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<Option<usize>, LinkError> {
        loop {
            match self.device.read_frame(buf) {
                Ok(len) => return Ok(Some(len)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(LinkError::Read { device: self.name.clone(), source }),
            }
        }
    }

    /// Hands a packet to the kernel, which takes it or says why not: a device that is down is not the link's failure.
    pub(super) fn write(&mut self, frame: &[u8]) {
        while let Err(error) = self.device.write_frame(frame) {
            if error.kind() != io::ErrorKind::Interrupted {
                self.refused += 1;
                return;
            }
        }
    }

    /// The device's queue, for whoever asks.
    pub(super) fn ring(&self) -> Arc<Ring> {
        self.ring.clone()
    }
}

/// What the kernel counts of a device's queue; read by who wants to know, not by the link's thread.
#[derive(Debug)]
pub(super) struct Ring {
    device: String,
    /// Of the namespace that the device is in, whoever reads it.
    counters: Mutex<File>,
    /// Packets dropped before the link was there, by a device that is older than it.
    dropped_before: u64,
}

impl Ring {
    /// Of a device in the calling thread's namespace.
    fn of(device: &str) -> io::Result<Self> {
        let mut counters = File::open(COUNTERS)?;
        let dropped_before = dropped(&mut counters, device)?;
        Ok(Self { device: device.to_owned(), counters: Mutex::new(counters), dropped_before })
    }

    /// Packets that found the queue full since the link is there.
    pub(super) fn drops(&self) -> u64 {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        // The file was read before; a device that was removed since counts nothing any more.
        dropped(&mut counters, &self.device).map_or(0, |dropped| dropped.saturating_sub(self.dropped_before))
    }
}

/// Packets to a device that the kernel dropped on the way.
fn dropped(counters: &mut File, device: &str) -> io::Result<u64> {
    let mut text = String::new();
    counters.rewind()?;
    counters.read_to_string(&mut text)?;
    dropped_in(&text, device).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Behind the name stand eight numbers about what was received and eight about what was sent, the fourth of them drops.
fn dropped_in(text: &str, device: &str) -> Option<u64> {
    const SENT_DROPPED: usize = 8 + 3;
    let of_device = |line: &'_ str| -> Option<u64> {
        let (name, numbers) = line.split_once(':')?;
        if name.trim() != device {
            return None;
        }
        numbers.split_whitespace().nth(SENT_DROPPED)?.parse().ok()
    };
    text.lines().find_map(of_device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_found_by_the_device_s_name() {
        let text = "Inter-|   Receive                          |  Transmit\n \
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
             lo:     100       1    2    3    4     5          6         7      800       9   10   11   12    13      14         15\n  \
             wa0:     100       1    2    3    4     5          6         7      800       9   10   42   12    13      14         15\n";
        assert_eq!(
            (dropped_in(text, "wa0"), dropped_in(text, "lo"), dropped_in(text, "a0")),
            (Some(42), Some(11), None)
        );
    }
}
