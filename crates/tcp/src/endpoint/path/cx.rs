//! What the path's rules need to know of the connection.

use crate::config::PathMtuConfig;
use base::Bytes;
use core::net::IpAddr;

/// The connection as the path's rules see it.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct PathCx {
    pub config: PathMtuConfig,
    /// Bytes of the largest packet that the first link takes.
    pub link: u16,
    /// Our address: it says which version of IP is spoken.
    pub local: IpAddr,
    /// Returns the bytes that options occupy in every segment.
    pub options: Bytes,
    /// Payload bytes of a full segment now, options deducted.
    pub smss: Bytes,
}

impl PathCx {
    /// Returns the bytes of IP and TCP header without options.
    pub fn headers(&self) -> u16 {
        if self.local.is_ipv4() { 40 } else { 60 }
    }

    /// Bytes of a packet with so many bytes of payload and options.
    pub fn packet_of(&self, mss: u16) -> u16 {
        mss.saturating_add(self.headers())
    }
}
