//! Congestion control: how much may be in flight. Never sees a segment, a payload or a timer.
//!
//! The seam is [`CongestionControl`], with three implementations. [`Bbr3`] models the path, and [`Outside`] applies what a program's own
//! [`Advisor`] decides. Most algorithms are *parts* of the other,
//! [`LossBased`]: a [`SlowStart`] and an [`Avoidance`], each of which borrows the [`Window`] and returns a number that the
//! composite applies, so that no other code writes `cwnd`. [`algo::build`] is the only place that matches on configuration tags.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

pub mod algo;
pub mod avoidance;
pub mod bbr3;
pub mod control;
pub mod full_pipe;
pub mod loss_based;
pub mod outside;
pub mod pacing;
pub mod sample;
pub mod slow_start;
pub mod window;

#[cfg(test)]
mod testing;

pub use algo::{
    AvoidanceConfig, CcConfig, ClassicConfig, ControllerConfig, CssConfig, CubicConfig, CwndValidation,
    DelayIncreaseConfig, Detection, FastConvergence, GrowthCount, HystartConfig, HystartPpConfig, IdleRestart,
    LssConfig, PacedTrain, PacingConfig, RenoConfig, RenoGrowth, SlowStartConfig, SsthreshBase, Undone, build,
};
pub use algo::{
    ChirpingConfig, CompoundConfig, ExitWindow, Expected, LimitedConfig, PlateauConfig, RapidConfig, RoundTrip,
    SearchConfig, TrainsConfig, Unused,
};
pub use avoidance::Avoidance;
pub use bbr3::{Bbr3, Bbr3Config};
pub use control::{CcNote, CcPhase, CongestionControl, Pacing, Resumption, Snapshot};
pub use full_pipe::FullPipe;
pub use loss_based::LossBased;
pub use outside::{Advisor, Advisors, Outside, OutsideConfig};
pub use sample::{AckSample, CongestionEvent, EpisodeKind, FlightStart, LossSample, SentSample};
pub use slow_start::{ExitCause, SavedPath, SlowStart, Step};
pub use window::{InitialWindow, Window};
