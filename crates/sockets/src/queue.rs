//! The queue of the device that scripts configure. `tc qdisc replace dev tun0 root pfifo limit 0` leaves it no room: the device
//! refuses every packet and reports that to the sender.

use crate::device::DEVICE;
use crate::netlink::{Netlink, Wanted, find};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

/// The request for queueing disciplines, and the size of its fixed part (`struct tcmsg`).
const GET: u16 = 38;
const FIXED: usize = 20;
/// Offsets of the device and of the discipline's parent; the parent value of a device's root discipline.
const DEVICE_AT: usize = 4;
const PARENT_AT: usize = 12;
const ROOT: u32 = u32::MAX;
/// Attributes: the discipline's name, and its settings, which begin with the limit for the disciplines known here.
const KIND: u16 = 1;
const SETTINGS: u16 = 2;

/// A handle for asking how much room the queue has.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    line: Option<Netlink>,
}

impl Queue {
    /// The queue of this thread's network namespace.
    pub fn open() -> Self {
        Self { line: Netlink::open(SockProtocol::NetlinkRoute) }
    }

    /// Whether the device currently refuses packets.
    pub fn refuses(&self) -> bool {
        let Some(line) = &self.line else { return false };
        let Ok(device) = if_nametoindex(DEVICE) else { return false };
        let mut question = [0; FIXED];
        question[DEVICE_AT..DEVICE_AT + 4].copy_from_slice(&device.to_ne_bytes());
        let queues = line.ask(GET, Wanted::All, &question).unwrap_or_default();
        queues.iter().any(|queue| is_without_room(queue, device))
    }
}

/// Whether this is the root queue of `device` and accepts no packet.
fn is_without_room(queue: &[u8], device: u32) -> bool {
    let number =
        |at: usize| queue.get(at..).and_then(|rest| rest.first_chunk()).map(|bytes| u32::from_ne_bytes(*bytes));
    let ours = number(DEVICE_AT) == Some(device) && number(PARENT_AT) == Some(ROOT);
    let attributes = queue.get(FIXED..).unwrap_or_default();
    let counts = find(attributes, KIND).is_some_and(|name| name == b"pfifo\0" || name == b"bfifo\0");
    let limit = find(attributes, SETTINGS).and_then(|settings| settings.first_chunk());
    ours && counts && limit.is_some_and(|limit| u32::from_ne_bytes(*limit) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::attribute;
    use test_case::test_case;

    #[test_case(7, ROOT, b"pfifo\0", 0 => true)]
    #[test_case(7, ROOT, b"bfifo\0", 0 => true)]
    #[test_case(7, ROOT, b"pfifo\0", 1 => false; "room for one")]
    #[test_case(7, 0x1_0000, b"pfifo\0", 0 => false; "inside another")]
    #[test_case(8, ROOT, b"pfifo\0", 0 => false; "of another device")]
    #[test_case(7, ROOT, b"other\0", 0 => false; "settings that mean something else")]
    fn a_queue_without_room(device: u32, parent: u32, name: &[u8], limit: u32) -> bool {
        let mut queue = vec![0; FIXED];
        queue[DEVICE_AT..DEVICE_AT + 4].copy_from_slice(&device.to_ne_bytes());
        queue[PARENT_AT..PARENT_AT + 4].copy_from_slice(&parent.to_ne_bytes());
        queue.extend(attribute(KIND, name));
        queue.extend(attribute(SETTINGS, &limit.to_ne_bytes()));
        assert!(!is_without_room(&queue[..queue.len() - 4], 7), "cut");
        is_without_room(&queue, 7)
    }
}
