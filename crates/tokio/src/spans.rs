//! A stack's connections as spans of `tracing`.

use crate::observed::ConnectionObserver;
use base::Instant;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use trace::{ConnId, Event, State};
use tracing::field::{Empty, display};
use tracing::{Level, Span};

/// The target of spans and events, for filters.
const TARGET: &str = "longhaul";

/// Gives each connection a span of `tracing`: target `longhaul`, level DEBUG, with its number and, once it has a stream, its addresses. In it
/// are its events, each with `at`, nanoseconds on the stack's clock: changes of state and recoveries at DEBUG, all else at TRACE.
#[derive(Debug, Default)]
pub struct Spans {
    open: BTreeMap<ConnId, Span>,
    /// The number of the next connection.
    next: u32,
}

impl Spans {
    /// Returns the span of a connection, a new one for a new connection; none for what follows its end, such as a last reset, and for what
    /// belongs to no connection, such as a cookie.
    fn span(&mut self, conn: ConnId) -> Option<&Span> {
        if conn.0 >= self.next && conn.0 < u32::MAX {
            self.next = conn.0 + 1;
            let span = tracing::debug_span!(target: TARGET, "tcp", conn = conn.0, local = Empty, peer = Empty);
            self.open.insert(conn, span);
        }
        self.open.get(&conn)
    }
}

impl ConnectionObserver for Spans {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        let Some(span) = self.span(conn) else { return };
        let at = at.as_nanos();
        match event {
            Event::StateChanged { .. } | Event::EpisodeChanged { .. } => {
                tracing::event!(target: TARGET, parent: span, Level::DEBUG, at, "{event}");
            }
            _ => tracing::event!(target: TARGET, parent: span, Level::TRACE, at, "{event}"),
        }
        if let Event::StateChanged { to: State::Closed, .. } = event {
            self.open.remove(&conn);
        }
    }

    fn on_stream(&mut self, conn: ConnId, local: SocketAddr, peer: SocketAddr) {
        if let Some(span) = self.span(conn) {
            span.record("local", display(local)).record("peer", display(peer));
        }
    }
}
