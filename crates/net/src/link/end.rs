//! One end of a link: a TUN device, in a separate namespace if requested, and the kernel's counters there.

use super::{LinkEnd, LinkError};
use crate::netns::{Namespace, NamespaceError};
use crate::tun::Tun;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

/// Packets that the kernel may queue for a link that is late: at a gigabit per second, and 1500 bytes each, 0.8 s.
const QUEUE: u32 = 65_536;

/// Counters of all interfaces in the calling thread's namespace.
const COUNTERS: &str = "/proc/thread-self/net/dev";

/// A device and its namespace.
#[derive(Debug)]
pub(super) struct End {
    /// Its name in messages to users.
    title: String,
    name: String,
    // The device is dropped before its namespace.
    device: Tun,
    ring: Arc<Ring>,
    /// Packets that the kernel rejected.
    pub(super) refused: u64,
    /// Frames that were not packets.
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

    /// Creates the device in the calling thread's namespace.
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

    /// Reads a frame; returns `None` if there is none.
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

    /// Passes a packet to the kernel, which may reject it: a device that is down is not an error of the link.
    pub(super) fn write(&mut self, frame: &[u8]) {
        while let Err(error) = self.device.write_frame(frame) {
            if error.kind() != io::ErrorKind::Interrupted {
                self.refused += 1;
                return;
            }
        }
    }

    /// Returns the device's queue counters.
    pub(super) fn ring(&self) -> Arc<Ring> {
        self.ring.clone()
    }
}

/// The kernel's counters of a device's queue; other threads than the link's read them.
#[derive(Debug)]
pub(super) struct Ring {
    device: String,
    /// Counters of the device's namespace, whichever thread reads them.
    counters: Mutex<File>,
    /// Packets that an older device dropped before the link existed.
    dropped_before: u64,
}

impl Ring {
    /// Opens the counters of a device in the calling thread's namespace.
    fn of(device: &str) -> io::Result<Self> {
        let mut counters = File::open(COUNTERS)?;
        let dropped_before = dropped(&mut counters, device)?;
        Ok(Self { device: device.to_owned(), counters: Mutex::new(counters), dropped_before })
    }

    /// Returns the packets that found the queue full since the link was opened.
    pub(super) fn drops(&self) -> u64 {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        // The file could be read before; a device that was removed since no longer counts.
        dropped(&mut counters, &self.device).map_or(0, |dropped| dropped.saturating_sub(self.dropped_before))
    }
}

/// Returns the packets to a device that the kernel dropped on the way.
fn dropped(counters: &mut File, device: &str) -> io::Result<u64> {
    let mut text = String::new();
    counters.rewind()?;
    counters.read_to_string(&mut text)?;
    dropped_in(&text, device).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// After the name there are eight numbers about received and eight about sent packets, the fourth of them drops.
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
