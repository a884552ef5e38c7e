//! Operations for a socket interface beyond opening, writing and reading: adding addresses at run time, peeking at
//! bytes.

use super::api::is_unicast;
use super::{Conn, Stack};
use crate::endpoint::Queues;
use core::net::IpAddr;

impl Stack {
    /// Adds `ip` to the stack's own addresses, unless it cannot be a host's address.
    pub fn add_address(&mut self, ip: IpAddr) {
        if is_unicast(ip) && !self.addresses.contains(&ip) {
            self.addresses.push(ip);
        }
    }

    /// Its own addresses, in the order they were learned.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// Returns the amounts of data in a connection's buffers.
    pub fn queues(&self, conn: Conn) -> Option<Queues> {
        self.endpoint(conn).map(|endpoint| endpoint.queues())
    }

    /// Copies received bytes into `buf` without consuming them; returns their number.
    pub fn peek(&self, conn: Conn, buf: &mut [u8]) -> usize {
        self.endpoint(conn).map_or(0, |endpoint| endpoint.peek(buf))
    }
}
