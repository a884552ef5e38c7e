//! The reduction seam: how much may be sent during fast recovery.

mod pipe;

pub use pipe::PipeReduction;

use base::Bytes;
use core::fmt::Debug;

/// What is known when an episode begins.
#[derive(Clone, Copy, Debug)]
pub struct EpisodeEntry {
    /// The controller's window after its reaction (its `ssthresh`).
    pub ssthresh: Bytes,
    /// The window before it.
    pub prior_cwnd: Bytes,
    /// `SND.NXT − SND.UNA`, after this ACK.
    pub flight_size: Bytes,
    /// Octets on the scoreboard selectively acknowledged before this ACK.
    pub sacked_before: Bytes,
    /// Octets this ACK acknowledged cumulatively.
    pub newly_acked: Bytes,
    /// Segment size.
    pub smss: Bytes,
}

/// What one ACK (or one firing of the reordering timer) inside an episode brings.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryAck {
    /// Octets newly delivered; zero for a timer.
    pub delivered: Bytes,
    /// Octets in flight now.
    pub pipe: Bytes,
    /// The controller's window now.
    pub cwnd: Bytes,
    /// Octets `SND.UNA` advanced by.
    pub acked: Bytes,
    /// Octets newly marked lost.
    pub newly_lost: Bytes,
}

/// How much may be sent while an episode lasts. Consulted instead of `cwnd − pipe`.
pub trait Reduction: Debug + Send {
    /// An episode begins.
    fn on_enter(&mut self, entry: &EpisodeEntry);
    /// An ACK or a reordering timer inside it; also called right after `on_enter` for the ACK that began it.
    fn on_ack(&mut self, ack: &RecoveryAck);
    /// Octets left: a retransmission or new data.
    fn on_sent(&mut self, bytes: Bytes);
    /// Octets that may leave now.
    fn quota(&self) -> Bytes;
    /// A copy, so that endpoints can be cloned.
    fn clone_box(&self) -> Box<dyn Reduction>;
    /// Octets behind the box.
    fn state_size(&self) -> usize;
}

impl Clone for Box<dyn Reduction> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}
