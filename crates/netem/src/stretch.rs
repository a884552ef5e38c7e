//! A stretch of time in which a path stays as it is.

use base::{Duration, Rate};

/// What a path is like from a moment on, until the next stretch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When it begins, counted from the beginning of the path's time.
    pub from: Duration,
    /// Rate of the bottleneck; `None` for an outage, in which nothing leaves.
    pub rate: Option<Rate>,
    /// One-way delay; `None` for the path's own.
    pub delay: Option<Duration>,
}
