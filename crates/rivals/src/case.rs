//! What is measured, and what is the same for both rivals.

/// The stack's address, the kernel's, and its port.
pub const OURS: [u8; 4] = [10, 7, 0, 1];
pub const THEIRS: [u8; 4] = [10, 7, 0, 2];
pub const PORT: u16 = 9;
pub const MTU: u16 = 1_500;
/// Bytes that the application offers or asks for at once.
pub const CALL: usize = 256 << 10;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Our side sends.
    pub sends: bool,
    /// The device segments, and checksums are left to it.
    pub offload: bool,
}

impl Case {
    /// The words that choose it: of the direction, and of the device.
    pub fn words(&self) -> (&'static str, &'static str) {
        (if self.sends { "tx" } else { "rx" }, if self.offload { "on" } else { "off" })
    }
}
