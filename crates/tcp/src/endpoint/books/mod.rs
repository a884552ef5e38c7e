//! The books of a connection: counters, reports of its state, events and readiness. They read the other parts, and none of these
//! calls them.

mod account;
mod counters;
mod events;
pub(super) mod labels;
mod queues;
mod readiness;

pub(super) use account::{Account, Around};
pub(super) use counters::{AckReport, Statistics};
pub(super) use events::{
    SegmentReport, cause_of_new, cause_of_retransmission, emit_probe_answer, emit_rate, emit_reordering, emit_sack,
    limit,
};
pub use queues::{FinProgress, Queues};
pub(super) use readiness::{PendingEvents, Readiness};
