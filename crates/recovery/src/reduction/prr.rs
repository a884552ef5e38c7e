//! Proportional rate reduction (RFC 9937 §6; RFC 6937 §3 with either of its bounds).
//!
//! Owns: what the episode has delivered and sent so far, and what the latest ACK still allows (`sndcnt`). While the flight
//! exceeds the controller's new window, sending is the fraction of delivery by which the window was reduced; below it, a
//! [`Bound`] limits how fast the flight may be refilled. The controller owns the window itself: it is at `ssthresh` from the
//! beginning and takes effect again when the episode is over (RFC 9937 §6.4).
//!
//! Not here: the segment that leaves while nothing was sent in the episode (RFC 9937 §6.2). The endpoint lets the first
//! retransmission after a reaction leave under every reduction, because RFC 6675 §5 asks for it too.
//!
//! Deviations:
//! * Segments leave whole, so the proportional part is rounded up to whole ones, as in the examples of both RFCs, which count
//!   segments; in bytes it would stay one behind. Under a bound, the first segment for an ACK needs only one byte of `sndcnt`:
//!   otherwise a large one, for which a small one was delivered, could wait for an ACK that never comes. The excess is deducted
//!   from the next counts, and the window itself is never exceeded.
//! * An ACK that delivers nothing is ignored under every bound, as RFC 9937 asks. Under RFC 6937's slow-start bound every stray
//!   duplicate would allow a segment.
//! * Unless it proves a loss: then it counts as the delivery of one segment. A segment has left the path either way, and when a
//!   timer marks the last of the flight lost, no ACK will come to allow anything to leave.

use super::{EpisodeEntry, RecoveryAck, Reduction};
use base::Bytes;
use core::fmt::Debug;
use core::marker::PhantomData;

/// How the flight is refilled once it is below the window, and what RecoverFS includes.
pub trait Bound: Clone + Debug + Default + Send + 'static {
    /// Bytes the episode can deliver, as seen at its beginning.
    fn recover_fs(entry: &EpisodeEntry) -> Bytes {
        entry.flight_size
    }
    /// Returns the bytes that may leave for this ACK. `banked` is what the episode delivered beyond what it sent.
    fn limit(banked: Bytes, ack: &RecoveryAck, smss: Bytes) -> Bytes;
}

/// RFC 9937: as many as were delivered, plus one segment for an ACK that advances and proves no loss.
#[derive(Clone, Debug, Default)]
pub struct SafeAck;

/// RFC 6937's conservative bound: as many as were delivered.
#[derive(Clone, Debug, Default)]
pub struct Conservative;

/// RFC 6937's slow-start bound: one segment more than each ACK delivered.
#[derive(Clone, Debug, Default)]
pub struct SlowStart;

impl Bound for SafeAck {
    //= specs/rfc9937.md#beginning-of-an-episode
    //# RecoverFS is SND.NXT − SND.UNA, less what was SACKed before this ACK, plus what this ACK cumulatively
    //# acknowledged.
    /// Includes what this ACK delivers, but not data SACKed earlier, which cannot be delivered again.
    fn recover_fs(entry: &EpisodeEntry) -> Bytes {
        entry.flight_size.saturating_add(entry.newly_acked).saturating_sub(entry.sacked_before)
    }
    //= specs/rfc9937.md#each-ack
    //# An ACK is safe if it advances SND.UNA and no further loss shows with it.
    //= specs/rfc9937.md#each-ack
    //# Otherwise the larger of prr_delivered − prr_out and what this ACK delivered may be sent.
    //= specs/rfc9937.md#each-ack
    //# A safe ACK then adds one SMSS.
    fn limit(banked: Bytes, ack: &RecoveryAck, smss: Bytes) -> Bytes {
        let limit = banked.max(ack.delivered);
        if ack.acked > 0 && ack.newly_lost == 0 { limit.saturating_add(smss) } else { limit }
    }
}

impl Bound for Conservative {
    fn limit(banked: Bytes, _ack: &RecoveryAck, _smss: Bytes) -> Bytes {
        banked
    }
}

impl Bound for SlowStart {
    /// Counts segments, as the RFC's examples do: a delivered small one makes room for a full one.
    fn limit(banked: Bytes, ack: &RecoveryAck, smss: Bytes) -> Bytes {
        let delivered = u64::from(banked.max(ack.delivered)).next_multiple_of(u64::from(smss.max(1)));
        Bytes::try_from(delivered + u64::from(smss)).unwrap_or(Bytes::MAX)
    }
}

/// Proportional rate reduction under a bound.
#[derive(Clone, Debug, Default)]
pub struct Prr<B: Bound> {
    smss: Bytes,
    ssthresh: Bytes,
    recover_fs: Bytes,
    prr_delivered: Bytes,
    prr_out: Bytes,
    sndcnt: Bytes,
    /// Most bytes that may be added to the flight: the rest of the window, or no limit while the flight exceeds it.
    room: Bytes,
    /// Size allowed for the next segment while `sndcnt` is not exhausted.
    least: Bytes,
    bound: PhantomData<B>,
}

impl<B: Bound> Prr<B> {
    //= specs/rfc9937.md#each-ack
    //# While more than `ssthresh` is in flight, prr_delivered · ssthresh / RecoverFS, rounded up, less prr_out may be
    //# sent.
    /// Returns what may leave for this ACK while the flight exceeds the window.
    fn proportional(&self) -> Bytes {
        let product = u64::from(self.prr_delivered) * u64::from(self.ssthresh);
        // An empty flight cannot lose anything; a peer that pretends so must not cause a division by zero.
        let target = product.div_ceil(u64::from(self.recover_fs.max(1)));
        let missing = target.saturating_sub(u64::from(self.prr_out));
        Bytes::try_from(missing.next_multiple_of(u64::from(self.smss.max(1)))).unwrap_or(Bytes::MAX)
    }
}

impl<B: Bound> Reduction for Prr<B> {
    //= specs/rfc9937.md#beginning-of-an-episode
    //# The state is initialized at the beginning of each episode.
    //= specs/rfc9937.md#beginning-of-an-episode
    //# `ssthresh` is the congestion control's, and nothing counts as delivered or sent yet.
    //= specs/rfc9937.md#relations
    //# Any congestion control that reduces to a fixed `ssthresh` uses it.
    fn on_enter(&mut self, entry: &EpisodeEntry) {
        *self =
            Self { smss: entry.smss, ssthresh: entry.ssthresh, recover_fs: B::recover_fs(entry), ..Self::default() };
    }

    //= specs/rfc9937.md#each-ack
    //# An ACK that delivers nothing and proves nothing lost changes nothing.
    fn on_ack(&mut self, ack: &RecoveryAck) {
        let departed = if ack.delivered > 0 { ack.delivered } else { ack.newly_lost.min(self.smss) };
        if departed == 0 {
            return;
        }
        // Lower than before if the controller reacted to a further signal.
        self.ssthresh = self.ssthresh.min(ack.cwnd);
        self.prr_delivered = self.prr_delivered.saturating_add(departed);
        (self.sndcnt, self.room) = match self.ssthresh.checked_sub(ack.pipe) {
            Some(room) => {
                let banked = self.prr_delivered.saturating_sub(self.prr_out);
                (B::limit(banked, ack, self.smss), room)
            }
            None => (self.proportional(), Bytes::MAX),
        };
        self.least = self.smss;
    }

    //= specs/rfc9937.md#each-transmission
    //# Every byte sent in the episode counts towards prr_out, whether new or retransmitted.
    fn on_sent(&mut self, bytes: Bytes) {
        self.prr_out = self.prr_out.saturating_add(bytes);
        self.sndcnt = self.sndcnt.saturating_sub(bytes);
        self.room = self.room.saturating_sub(bytes);
        self.least = 0;
    }

    //= specs/rfc9937.md#each-ack
    //# Sending never brings what is in flight from below `ssthresh` to above it.
    fn quota(&self) -> Bytes {
        if self.sndcnt == 0 { 0 } else { self.sndcnt.max(self.least).min(self.room) }
    }

    /// A segment lost again leaves `pipe` like any other, and is replaced no faster than bytes are delivered.
    fn answers_lost_retransmissions(&self) -> bool {
        true
    }
    fn clone_box(&self) -> Box<dyn Reduction> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests;
