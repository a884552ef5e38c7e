//! The features of a network device, queried as `ethtool -k` does.

use libc::{c_char, ifreq};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::AsRawFd;

/// The ioctl request that carries a query to the device's driver.
const SIOCETHTOOL: libc::c_ulong = 0x8946;

/// The feature bit for segmentation offload: the device cuts frames of several segments.
pub(crate) const TCP_SEGMENTATION: u32 = 0x1e;

#[repr(C)]
struct Question {
    command: u32,
    answer: u32,
}

/// Whether `device` in this thread's network namespace has the feature enabled; `None` when the device does not exist.
pub(crate) fn feature(device: &str, feature: u32) -> Option<bool> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None).ok()?;
    // SAFETY: an all-zero request is a valid one without a name.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= request.ifr_name.len() {
        return None;
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *place = byte as c_char;
    }
    let mut question = Question { command: feature, answer: 0 };
    request.ifr_ifru.ifru_data = (&raw mut question).cast();
    // SAFETY: the request points to a query that lives until the call returns, and has the size these commands expect.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    (result == 0).then_some(question.answer != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_device_answers_and_one_that_is_not_there_does_not() {
        assert!(feature("lo", TCP_SEGMENTATION).is_some());
        assert_eq!(feature("no-such-device", TCP_SEGMENTATION), None);
        assert_eq!(feature("a name that no device can have", TCP_SEGMENTATION), None);
    }
}
