//! The state of the connection that the path's rules need.

use crate::config::PathMtuConfig;
use base::Bytes;
use core::net::IpAddr;

/// The connection as the path's rules see it.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct PathCx {
    pub config: PathMtuConfig,
    /// Bytes of the largest packet that the first link carries.
    pub link: u16,
    /// Our address, which determines the version of IP.
    pub local: IpAddr,
    /// Bytes that options occupy in every segment.
    pub options: Bytes,
    /// Payload bytes of a full segment now, options deducted.
    pub smss: Bytes,
}

impl PathCx {
    /// Returns the bytes of IP and TCP header without options.
    pub fn headers(&self) -> u16 {
        if self.local.is_ipv4() { 40 } else { 60 }
    }

    /// Returns the bytes of a packet whose payload and options together have `mss` bytes.
    pub fn packet_of(&self, mss: u16) -> u16 {
        mss.saturating_add(self.headers())
    }
}
