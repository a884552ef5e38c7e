//! A sender's time by activity.

use crate::capture::diagnosis::Diagnosis;
use crate::capture::quantities::ms;
use serde::Serialize;

/// A sender's time, each moment counted once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeReport {
    /// The path was full: a queue stood before its narrowest link, or that link delivered without pause.
    pub path_ms: f64,
    /// The receive window was full.
    pub window_limited_ms: f64,
    /// The window is closed.
    pub window_closed_ms: f64,
    /// Losses were repaired, or had made the window too small for the path.
    pub losses_ms: f64,
    /// Silent until a timer fired.
    pub waiting_for_timers_ms: f64,
    /// Everything is acknowledged and nothing sent: the application is silent.
    pub idle_ms: f64,
    /// Something is in flight, and the application has no more.
    pub starved_ms: f64,
    /// The congestion window doubled, and had not filled the path yet.
    pub slow_start_ms: f64,
    /// All that the sender's buffer holds is in flight.
    pub send_buffer_ms: f64,
    /// The rest: packets do not say.
    pub undetermined_ms: f64,
}

impl TimeReport {
    pub(super) fn of(diagnosis: &Diagnosis) -> Self {
        Self {
            path_ms: ms(diagnosis.path),
            window_limited_ms: ms(diagnosis.window),
            window_closed_ms: ms(diagnosis.window_closed),
            losses_ms: ms(diagnosis.losses),
            waiting_for_timers_ms: ms(diagnosis.timers),
            idle_ms: ms(diagnosis.idle),
            starved_ms: ms(diagnosis.starved),
            slow_start_ms: ms(diagnosis.slow_start),
            send_buffer_ms: ms(diagnosis.send_buffer),
            undetermined_ms: ms(diagnosis.undetermined),
        }
    }
}
