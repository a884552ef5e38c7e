//! The observer of a stack, if it has one.

use base::Instant;
use std::net::SocketAddr;
use tcp::{Conn, FourTuple};
use trace::{ConnId, Event, Observer};

/// Learns what happens on the connections of a stack, and why: each segment, loss, timer and window ([`Event`]).
///
/// It is called inside the stack, under its lock: what takes long belongs on another thread.
pub trait ConnectionObserver: Send + 'static {
    /// Takes an event of a connection, by the clock of the stack. Numbers of connections are never used again.
    fn record(&mut self, at: Instant, conn: ConnId, event: Event);
    /// This connection has a stream now. Events may have come before.
    fn on_stream(&mut self, _conn: ConnId, _local: SocketAddr, _peer: SocketAddr) {}
}

impl<O: Observer + Send + 'static> ConnectionObserver for O {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        Observer::record(self, at, conn, event);
    }
}

/// The observer that the builder got, if any. A stack without one builds no event; a build without the feature has no code for events.
#[derive(Default)]
pub(crate) struct Observed {
    #[cfg(feature = "trace")]
    pub by: Option<Box<dyn ConnectionObserver>>,
}

impl Observed {
    /// A stream was made for `conn`.
    pub fn on_stream(&mut self, conn: Conn, tuple: &FourTuple) {
        if let Some(observer) = self.observer() {
            let [local, peer] =
                [(tuple.local, tuple.local_port), (tuple.remote, tuple.remote_port)].map(SocketAddr::from);
            observer.on_stream(conn.id(), local, peer);
        }
    }

    /// Returns whether there is one.
    pub fn observes(&self) -> bool {
        self.is_on()
    }

    fn observer(&mut self) -> Option<&mut (dyn ConnectionObserver + 'static)> {
        #[cfg(feature = "trace")]
        return self.by.as_deref_mut();
        #[cfg(not(feature = "trace"))]
        return None;
    }
}

impl Observer for Observed {
    const ENABLED: bool = cfg!(feature = "trace");

    #[inline(always)]
    fn is_on(&self) -> bool {
        #[cfg(feature = "trace")]
        return self.by.is_some();
        #[cfg(not(feature = "trace"))]
        return false;
    }

    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        if let Some(observer) = self.observer() {
            observer.record(at, conn, event);
        }
    }
}
