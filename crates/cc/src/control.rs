//! The controller seam.
//!
//! A controller owns `cwnd` and `ssthresh` (inside its [`Window`]) and nothing else. It receives each event as one struct and
//! returns small notes, so that the trait stays object-safe and its tests need no tracer.

use crate::sample::{AckSample, CongestionEvent, FlightStart, LossSample, SentSample};
use crate::slow_start::ExitCause;
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate};
use core::fmt::Debug;

/// Decides how many bytes may be in flight, and optionally when the next one may leave.
///
/// Calling order for one ACK: `on_lost` for each segment the ACK proved lost, then `on_congestion` if that began an episode, then
/// `on_ack`; `on_recovery_exit` comes before the `on_ack` of the ACK that ended the episode.
pub trait CongestionControl: Debug + Send {
    /// Handles a departing segment: new data, a retransmission or a probe.
    fn on_sent(&mut self, _sent: &SentSample) {}
    /// Handles that the connection is about to send while nothing is in flight, before the first segment. May be called more than
    /// once before it leaves, and long before if the peer's window is closed.
    fn on_flight_start(&mut self, _start: &FlightStart) {}
    /// Handles an ACK. Called for every acceptable ACK, also during recovery: `ack.episode` tells which state applies.
    fn on_ack(&mut self, ack: &AckSample) -> Option<CcNote>;
    /// A segment was marked lost.
    fn on_lost(&mut self, _lost: &LossSample) {}
    /// Handles a congestion signal: at most one `Loss` per episode, and one `Timeout` for each expiry.
    fn on_congestion(&mut self, event: &CongestionEvent, now: Instant);
    /// Handles the end of an episode: everything outstanding at its beginning has been delivered.
    fn on_recovery_exit(&mut self, _now: Instant) {}
    /// Handles a pause of `idle`, longer than one RTO, after which the connection is about to send. The default keeps the window
    /// (RFC 5681 §4.1 asks for a restart; several deployed stacks do not perform it).
    fn on_idle_restart(&mut self, _idle: Duration) {}
    /// Lowers an unused window to `cwnd` (RFC 2861 §3.2): `ssthresh` remembers three quarters of it. The default keeps the
    /// window.
    fn on_unused(&mut self, _cwnd: Bytes) {}
    /// Adjusts to the path's segment size; `cwnd` keeps its size in bytes, but at least the controller's minimum.
    fn on_smss_change(&mut self, smss: Bytes);
    /// Undoes a spurious reduction. Restores the state saved before it, never leaving a smaller window; returns `false` if there
    /// is nothing to restore.
    fn undo(&mut self) -> bool;
    /// `cwnd`, `ssthresh` and `smss`.
    fn window(&self) -> &Window;
    /// When segments may leave; `None` sends as soon as the window allows.
    fn pacing(&self) -> Option<Pacing> {
        None
    }
    /// Returns whether the controller models the path. Then delivery rates are marked as limited by the application also while
    /// less than a segment waits for more, but not while the window is full.
    fn models_path(&self) -> bool {
        false
    }
    /// Returns whether the window alone says what leaves during an episode. If not, a reduction of loss recovery does, which begins
    /// with `ssthresh`.
    fn governs_recovery(&self) -> bool {
        self.models_path()
    }
    /// Returns whether the controller sends less than the path carries at present, on purpose: delivery rates are then no measure of
    /// the path, as when the application limits them.
    fn limits_itself(&self) -> bool {
        false
    }
    /// Returns what came of what an earlier connection had found on the path; `None` for a controller that was given nothing.
    fn resumption(&self) -> Option<Resumption> {
        None
    }
    /// Phase and numbers for traces and `TcpInfo`.
    fn snapshot(&self) -> Snapshot;
    /// Returns a copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn CongestionControl>;
    /// Returns the bytes this controller occupies behind its box, for the memory budget of an idle connection.
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
    /// The next segment leaves at or after this moment (chirps and paced first flights decide each departure).
    Departure(Instant),
}

/// What came of what an earlier connection had found on the path (RFC 9959).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// The connection still compares the path, or has not enough to send.
    Waiting,
    /// It sends what the earlier one left, and does not know yet whether the path carries it.
    Jumped,
    /// The path carries it.
    Confirmed,
    /// It does not fit: the path is another one, or congested.
    Declined,
    /// It was not needed: the window had grown beyond it, or there was too little to send.
    Unused,
    /// The path does not carry it: it is to be forgotten.
    Retreated,
}

/// What a controller reports about an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcNote {
    /// Slow start ended, and why.
    SlowStartExited(ExitCause),
    /// A conservative phase ended and slow start continues; or its end was undone.
    ReturnedToSlowStart,
    /// Slow start, or a model-based controller, entered this phase.
    PhaseChanged(CcPhase),
}

/// What a controller is doing, for traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcPhase {
    /// Slow start at full speed.
    SlowStart,
    /// Conservative slow start (RFC 9406).
    Css,
    /// Limited slow start beside congestion avoidance.
    Lss,
    /// Half of the window that an earlier connection had leaves, and is not yet confirmed (RFC 9959).
    Jump,
    /// The window comes down after slow start has found the path full.
    Draining,
    /// Congestion avoidance of RFC 5681.
    Reno,
    /// Congestion avoidance of RFC 9438.
    Cubic,
    /// Compound TCP's congestion avoidance.
    Compound,
    /// A program's own congestion control, beyond its slow start.
    Outside,
    /// BBR doubles its rate until the pipe is full.
    Startup,
    /// BBR removes the queue that this left.
    Drain,
    /// BBR sends less than the bandwidth, at the beginning of a cycle.
    ProbeDown,
    /// BBR sends the bandwidth, with room for others.
    ProbeCruise,
    /// BBR sends the bandwidth, with all that may be in flight.
    ProbeRefill,
    /// BBR sends more than the bandwidth.
    ProbeUp,
    /// BBR sends little, to see the round trip without a queue.
    ProbeRtt,
}

/// A controller's state for people: a phase and up to four named numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The slow-start policy's phase, or the avoidance algorithm.
    pub phase: CcPhase,
    /// Congestion window, bytes.
    pub cwnd: Bytes,
    /// Slow-start threshold, bytes.
    pub ssthresh: Bytes,
    /// Further values, e.g. `("w_max", 1_460_000)`; unused places have an empty name.
    pub values: [(&'static str, u64); 4],
}
