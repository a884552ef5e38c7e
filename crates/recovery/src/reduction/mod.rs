//! The reduction seam: how much may be sent during fast recovery.

mod pipe;
mod prr;

pub use pipe::PipeReduction;
pub use prr::{Conservative, Prr, SafeAck, SlowStart};

use base::Bytes;
use core::fmt::Debug;

/// The inputs when an episode begins.
#[derive(Clone, Copy, Debug)]
pub struct EpisodeEntry {
    /// The controller's window after its reaction (its `ssthresh`).
    pub ssthresh: Bytes,
    /// The window before it.
    pub prior_cwnd: Bytes,
    /// `SND.NXT − SND.UNA`, after this ACK.
    pub flight_size: Bytes,
    /// Bytes beyond `SND.UNA` known before this ACK to have arrived: selectively acknowledged, or announced by duplicate
    /// ACKs.
    pub sacked_before: Bytes,
    /// Bytes this ACK acknowledged cumulatively.
    pub newly_acked: Bytes,
    /// Segment size.
    pub smss: Bytes,
}

/// What one ACK (or one firing of the reordering timer) inside an episode brings.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryAck {
    /// Bytes newly delivered, however the peer reports it: selectively, or one segment per duplicate ACK, which a later
    /// cumulative ACK does not count again (RFC 6937 §2, DeliveredData). Zero for a timer.
    pub delivered: Bytes,
    /// Bytes in flight now.
    pub pipe: Bytes,
    /// The controller's window now.
    pub cwnd: Bytes,
    /// Bytes `SND.UNA` advanced by.
    pub acked: Bytes,
    /// Bytes newly marked lost.
    pub newly_lost: Bytes,
}

/// How much may be sent during an episode. It replaces `cwnd − pipe`; each episode builds one.
pub trait Reduction: Debug + Send {
    /// An episode begins.
    fn on_enter(&mut self, entry: &EpisodeEntry);
    /// Handles an ACK or a reordering timer in the episode; also called after `on_enter` for the ACK that began it.
    fn on_ack(&mut self, ack: &RecoveryAck);
    /// Bytes left: a retransmission or new data.
    fn on_sent(&mut self, bytes: Bytes);
    /// Bytes that may leave now.
    fn quota(&self) -> Bytes;
    /// Returns whether this rule alone handles a retransmission that is lost again. If not, the loss is a new congestion signal
    /// for the controller (RFC 8985 §9.3).
    fn answers_lost_retransmissions(&self) -> bool;
    /// A copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn Reduction>;
    /// Bytes behind the box.
    fn state_size(&self) -> usize;
}

impl Clone for Box<dyn Reduction> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
