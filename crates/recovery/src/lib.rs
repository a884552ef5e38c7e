//! Tracks what was sent, what is missing, and when to send it again.
//!
//! The [`Scoreboard`] is the source of truth: one record per segment in sequence order, send-order links through it, marks, and
//! an incrementally updated `pipe`. Everything else reads it or returns marks. A component never owns a deadline: it returns one,
//! and the endpoint arms a timer.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

pub mod config;
pub mod detect;
pub mod episode;
pub mod frto;
pub mod rate_sample;
pub mod reduction;
pub mod rto;
pub mod rtt;
pub mod sack;
pub mod scoreboard;
pub mod tlp;
pub mod undo;
pub mod variants;

pub use config::{
    BlockCheck, BlockCheckVariant, DetectorConfig, DsackAdaptation, DupThreshConfig, EarlyAnswer, LimitedTransmit,
    PrrBound, PrrConfig, RackConfig, RecoveryConfig, ReductionConfig, RttOf, build_block_check, build_detector,
    build_detector_without_sack, build_reduction,
};
pub use detect::{DetectCx, DetectorKind, LossDetector, ReorderingWindow, Verdict};
pub use episode::Episode;
pub use reduction::{EpisodeEntry, RecoveryAck, Reduction};
pub use scoreboard::{Arrival, Delivered, Mark, NewestDelivered, Scoreboard, SegmentId, SentSegment, Xmit};
pub use tlp::{Probe, TlpConfig};
pub use undo::{Undo, UndoConfig};
