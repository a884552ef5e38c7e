//! Packets, as those observers see them that want to.

/// A packet that leaves a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSent<'a> {
    /// Which host: zero is where the clients are, one where the servers are.
    pub host: u32,
    /// IP and TCP header; the TCP checksum is perhaps not filled in.
    pub header: &'a [u8],
    /// What follows.
    pub payload: PacketPayload<'a>,
}

/// The bytes behind the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketPayload<'a> {
    /// The bytes themselves.
    Bytes(&'a [u8]),
    /// Bytes of the position-coded stream that is sent where no application looks at the data.
    Stream {
        /// Bytes of the stream before the first one.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
}
