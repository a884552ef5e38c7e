//! Entry points of the device and the clock.

use super::entry::{plugin, status};
use super::memory::bytes;
use base::Duration;
use libc::{c_int, c_longlong, c_void, size_t, timeval, timezone, useconds_t};

pub(super) unsafe extern "C" fn netdev_send(u: *mut c_void, packet: *const c_void, len: size_t) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, packet) = unsafe { (plugin(u), bytes(packet, len)) };
    status(packet.map(|packet| plugin.netdev_send(packet)))
}

/// Never fails: packetdrill would retry indefinitely.
pub(super) unsafe extern "C" fn netdev_receive(
    u: *mut c_void,
    buf: *mut c_void,
    len: *mut size_t,
    time_us: *mut c_longlong,
) -> c_int {
    // SAFETY: the table's contract.
    let (plugin, len, time_us) = unsafe { (plugin(u), &mut *len, &mut *time_us) };
    let (packet, at) = plugin.netdev_receive().unwrap_or_default();
    // packetdrill's buffer takes any IP packet.
    let fits = packet.len().min(*len);
    // SAFETY: the table's contract; the packet is this crate's own.
    unsafe { std::ptr::copy_nonoverlapping(packet.as_ptr(), buf.cast::<u8>(), fits) };
    (*len, *time_us) = (fits, at);
    0
}

pub(super) unsafe extern "C" fn usleep(u: *mut c_void, us: useconds_t) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    plugin.sleep_for(Duration::from_micros(us.into()));
    0
}

pub(super) unsafe extern "C" fn gettimeofday(u: *mut c_void, time: *mut timeval, _zone: *mut timezone) -> c_int {
    // SAFETY: the table's contract.
    let plugin = unsafe { plugin(u) };
    let us = plugin.time_of_day();
    // SAFETY: the table's contract.
    unsafe { *time = timeval { tv_sec: us / 1_000_000, tv_usec: us % 1_000_000 } };
    0
}
