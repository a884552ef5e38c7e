//! The controller seam.
//!
//! A controller owns `cwnd` and `ssthresh` (inside its [`Window`]) and nothing else. It receives each event as one struct and
//! answers with small notes, so that the trait stays object-safe and its tests need no tracer.

use crate::sample::{AckSample, CongestionEvent, LossSample, SentSample};
use crate::slow_start::ExitCause;
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate};
use core::fmt::Debug;

/// Decides how many bytes may be in flight, and optionally when the next may leave.
///
/// Calling order for one ACK: `on_lost` for each segment the ACK proved lost, then `on_congestion` if that began an
/// episode, then `on_ack`; `on_recovery_exit` comes before the `on_ack` of the ACK that ended the episode.
pub trait CongestionControl: Debug + Send {
    /// A segment left: new data, a retransmission or a probe.
    fn on_sent(&mut self, _sent: &SentSample) {}
    /// An ACK was processed. Called for every acceptable ACK, also during recovery: `ack.episode` says where we are.
    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote>;
    /// A segment was marked lost.
    fn on_lost(&mut self, _lost: &LossSample) {}
    /// A congestion signal: at most one `Loss` an episode, and one `Timeout` for each expiry.
    fn on_congestion(&mut self, event: &CongestionEvent, now: Instant);
    /// The episode ended: everything outstanding when it began has been delivered.
    fn on_recovery_exit(&mut self, _now: Instant) {}
    /// Another episode begins and is one with the last: an undo is to bring back what was before both.
    fn on_recovery_resumed(&mut self) {}
    /// The connection sent nothing for `idle`, which is longer than one RTO, and is about to send again. The default keeps
    /// the window (RFC 5681 §4.1 asks for a restart; several deployed stacks do not do it).
    fn on_idle_restart(&mut self, _idle: Duration) {}
    /// The window was not used, and is lowered to `cwnd` (RFC 2861 §3.2): what is known of the path becomes `ssthresh`, but
    /// for a quarter. The default keeps the window.
    fn on_unused(&mut self, _cwnd: Bytes) {}
    /// The path's segment size changed; `cwnd` keeps its size in bytes but not less than the controller's minimum.
    fn on_smss_change(&mut self, smss: Bytes);
    /// The last reduction was spurious. Restores what was saved before it, never leaving less than that; `false` when
    /// there is nothing to restore.
    fn undo(&mut self) -> bool;
    /// `cwnd`, `ssthresh` and `smss`.
    fn window(&self) -> &Window;
    /// When segments may leave; `None` sends as soon as the window allows.
    fn pacing(&self) -> Option<Pacing> {
        None
    }
    /// Phase and numbers for traces and `TcpInfo`.
    fn snapshot(&self) -> Snapshot;
    /// A copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
    /// Bytes this controller occupies behind its box, for the memory budget of an idle connection.
    fn state_size(&self) -> usize;
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// When segments may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// At most `quantum` bytes at once, then spaced so that the long-run rate is `rate`.
    Rate {
        /// The long-run rate of payload bytes.
        rate: Rate,
        /// Largest burst, bytes.
        quantum: Bytes,
    },
    /// The next segment leaves at this moment or later (chirps and paced first flights decide each departure).
    Departure(Instant),
}

/// What a controller wants known about an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcNote {
    /// Slow start ended, and why.
    SlowStartExited(ExitCause),
    /// A conservative phase ended and slow start goes on; or its end was undone.
    ReturnedToSlowStart,
    /// Slow start, or a model-based controller, entered this phase.
    PhaseChanged(&'static str),
}

/// A controller's state for people: a phase and up to four named numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// `slow_start` or the policy's own phase (`css`, `lss`), the avoidance algorithm's name (`cubic`, `reno`), or a
    /// controller's own phase.
    pub phase: &'static str,
    /// Congestion window, bytes.
    pub cwnd: Bytes,
    /// Slow-start threshold, bytes.
    pub ssthresh: Bytes,
    /// Further values, e.g. `("w_max", 1_460_000)`; unused places have an empty name.
    pub values: [(&'static str, u64); 4],
}
