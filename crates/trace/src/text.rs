//! Canonical trace text: one event a line, `t_ns conn Event{field=value,…}`. Parity and determinism tests compare it.

use crate::{ConnId, Event, Observer};
use base::Instant;
use core::fmt::Write;

/// Appends one canonical line.
pub fn write_line(out: &mut String, at: Instant, conn: ConnId, event: &Event) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{} {} {event}", at.as_nanos(), conn.0);
}

/// Collects canonical text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSink(pub String);

impl Observer for TextSink {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        write_line(&mut self.0, at, conn, &event);
    }
}
