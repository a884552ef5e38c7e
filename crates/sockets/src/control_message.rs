//! Control messages (`cmsghdr`) beside received bytes.

/// A control message that accompanies received bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlMessage {
    /// `cmsg_level`.
    pub level: i32,
    /// `cmsg_type`.
    pub kind: i32,
    /// What follows its header.
    pub data: Vec<u8>,
}

impl ControlMessage {
    /// Its encoding: `cmsghdr`, the data, and padding to the next multiple of its alignment.
    pub fn encode(&self) -> Vec<u8> {
        let len = size_of::<libc::cmsghdr>() + self.data.len();
        let padded = len.next_multiple_of(align_of::<libc::cmsghdr>());
        let mut bytes = Vec::with_capacity(padded);
        bytes.extend_from_slice(&len.to_ne_bytes());
        bytes.extend_from_slice(&self.level.to_ne_bytes());
        bytes.extend_from_slice(&self.kind.to_ne_bytes());
        bytes.extend_from_slice(&self.data);
        bytes.resize(padded, 0);
        bytes
    }
}
