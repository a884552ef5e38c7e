//! The device that scripts configure: its name, and what the network namespace says of it.

/// Ethernet's MTU, which is also packetdrill's default.
pub(crate) const DEFAULT_MTU: u16 = 1_500;

/// The device that packetdrill's init commands configure.
pub(crate) const DEVICE: &str = "tun0";
/// The device's settings, and its MTU for IPv6. Both are read below `/proc/sys`, which shows the current network namespace;
/// `/sys` shows the one in which it was mounted.
const SETTINGS: &str = "/proc/sys/net/ipv4/conf/tun0";
const DEVICE_MTU: [&str; 2] = ["/proc/sys/net/ipv6/conf/tun0/mtu", "/sys/class/net/tun0/mtu"];

/// Whether the network namespace has the device that scripts configure.
pub(crate) fn has_device() -> bool {
    std::path::Path::new(SETTINGS).exists()
}

/// The MTU of the device, if the device exists.
pub(crate) fn device_mtu() -> Option<u16> {
    let read = |path| std::fs::read_to_string(path).ok()?.trim().parse().ok();
    DEVICE_MTU.into_iter().find_map(read).filter(|_| has_device())
}
