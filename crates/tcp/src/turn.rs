//! The only loop body in the project: virtual time, a real device and conformance scripts all call [`turn`].
//!
//! In virtual time the order inside a turn is by time: a timer due before a frame's ingress is served before it; at equal times
//! the frame goes first. A driver that stamps frames when it reads them cannot know that order and asks for frames before timers
//! ([`Timers`]). Then ready data is transmitted, one burst per endpoint in turn. A full device reports that, and the endpoint
//! stays on the ready list: back-pressure, not drops.

use crate::cx::StackCx;
use crate::pattern::Payload;
use crate::stack::Stack;
use base::Instant;
use trace::Observer;
use wire::Header;

/// A frame as a device or an emulator hands it in: one segment, or one super-segment of many.
#[derive(Clone, Copy, Debug)]
pub struct RxFrame<'a> {
    /// Ingress time; not after the turn's `now`, and not before the preceding frame's.
    pub at: Instant,
    /// IP and TCP header, options included (`wire::split` separates them from a raw read, `wire::Header::read` takes them alone).
    pub header: Header<'a>,
    /// The segment's bytes, or their description.
    pub payload: Payload<'a>,
    /// Segment size of a super-segment; `None` for a plain one.
    pub gso_size: Option<u16>,
    /// What is known about the TCP checksum.
    pub checksum: ChecksumState,
}

/// A frame for a device or an emulator.
#[derive(Clone, Copy, Debug)]
pub struct TxFrame<'a> {
    /// IP and TCP header.
    pub header: &'a [u8],
    /// The segment's bytes, or their description.
    pub payload: Payload<'a>,
    /// Segment size when the device is to cut the payload; `None` for a plain segment.
    pub gso_size: Option<u16>,
    /// Who completes the TCP checksum.
    pub checksum: ChecksumState,
}

/// The TCP checksum of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumState {
    /// It is in the header: to be verified on receipt, computed on transmission.
    InHeader,
    /// The device's: the header only holds the pseudo-header sum (transmission), or the device or the local sender guarantees the
    /// bytes (receipt).
    Device,
    /// Not needed: an emulator that cannot corrupt bytes carries them.
    Unneeded,
}

/// What the device did with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Took it.
    Accepted,
    /// Took it, and expects no room for another one: endpoints are asked for no more in this turn, so that no frame has to be kept.
    Last,
    /// Has no room; a later turn offers the same frame again.
    Full,
}

/// Limits of one turn.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Most frames handed to the device.
    pub frames: usize,
    /// Timers served, and when.
    pub timers: Timers,
}

impl Budget {
    /// No limit; for virtual time, where a turn takes no time.
    pub const UNLIMITED: Self = Self { frames: usize::MAX, timers: Timers::InOrder };
}

/// Which timers a turn serves, and in which order with the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timers {
    /// Timers due by the turn's `now`, merged with the frames by time, each at its own instant: the timestamps are exact.
    InOrder,
    /// Timers due by this instant, after all frames. For drivers that were suspended: by then the device had been read empty, so
    /// an ACK that makes a timer unnecessary has been processed. They are served at this instant, or at the last frame's if that
    /// is later.
    /// that is later.
    BehindFrames {
        /// The instant at which no arrived frame was left unread.
        due_by: Instant,
    },
}

/// What the driver must know afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnResult {
    /// When the next timer is due: run a turn then, even without frames. May be early, never late.
    pub next_deadline: Option<Instant>,
    /// The device was full or the budget spent: call again when there is room, without waiting for the deadline.
    pub more_to_send: bool,
}

/// Handles `rx` and due timers, then transmits.
///
/// Application readiness is in [`Stack::poll_event`] afterwards.
pub fn turn<'a, O: Observer>(
    stack: &mut Stack,
    cx: &mut StackCx<'_, O>,
    rx: impl IntoIterator<Item = RxFrame<'a>>,
    tx: &mut impl FnMut(TxFrame<'_>) -> Sent,
    budget: Budget,
) -> TurnResult {
    match budget.timers {
        Timers::InOrder => {
            for frame in rx {
                stack.serve_timers_before(frame.at, cx.obs);
                stack.handle_frame(&frame, cx.obs);
            }
            stack.serve_timers_until(cx.now, cx.obs);
        }
        Timers::BehindFrames { due_by } => {
            let mut at = due_by;
            for frame in rx {
                at = at.max(frame.at);
                stack.handle_frame(&frame, cx.obs);
            }
            stack.serve_late_timers(due_by, at, cx.obs);
        }
    }
    let more_to_send = stack.transmit(cx, tx, budget);
    TurnResult { next_deadline: stack.next_deadline(), more_to_send }
}
