//! What can be seen of a stack and its connections.

use super::{Conn, Stack, StackCounters};
use crate::config::ValidConfig;
use crate::endpoint::Endpoint;
use crate::info::{Details, TcpInfo};
use base::Instant;

impl Stack {
    /// A snapshot of a connection.
    pub fn info(&self, conn: Conn) -> Option<TcpInfo> {
        self.slots.get(conn).map(|slot| slot.endpoint.info())
    }

    /// Returns the full report of a connection at `now`.
    pub fn details(&self, conn: Conn, now: Instant) -> Option<Details> {
        self.slots.get(conn).map(|slot| slot.endpoint.details(now))
    }

    /// A connection's endpoint, for checkers.
    #[inline]
    pub fn endpoint(&self, conn: Conn) -> Option<&Endpoint> {
        self.slots.get(conn).map(|slot| &slot.endpoint)
    }

    /// Totals of the stack.
    pub fn counters(&self) -> &StackCounters {
        &self.counters
    }

    /// Returns a connection's configuration.
    pub fn config(&self, conn: Conn) -> Option<&ValidConfig> {
        self.endpoint(conn).map(Endpoint::config)
    }

    /// Returns all connections, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Conn, &Endpoint)> {
        self.slots.iter().map(|slot| (slot.conn, &slot.endpoint))
    }

    /// Returns the number of connections in any state.
    pub fn connections(&self) -> usize {
        self.slots.len()
    }
}
