//! Sending by `pipe` (RFC 6675 §5, step C): as much as the window exceeds the flight.
//!
//! Owns: its copy of `pipe` between two ACKs. The controller owns the window and reduces it at once when the episode begins, so
//! nothing leaves until about half a flight has drained.

use super::{EpisodeEntry, RecoveryAck, Reduction};
use base::Bytes;

/// `cwnd − pipe`.
#[derive(Clone, Debug, Default)]
pub struct PipeReduction {
    cwnd: Bytes,
    pipe: Bytes,
}

impl Reduction for PipeReduction {
    fn on_enter(&mut self, entry: &EpisodeEntry) {
        self.cwnd = entry.ssthresh;
        self.pipe = entry.flight_size;
    }
    fn on_ack(&mut self, ack: &RecoveryAck) {
        self.cwnd = ack.cwnd;
        self.pipe = ack.pipe;
    }
    fn on_sent(&mut self, bytes: Bytes) {
        self.pipe = self.pipe.saturating_add(bytes);
    }
    //= specs/rfc6675.md#recovery
    //# Further segments leave while the window exceeds what is in flight by one SMSS.
    fn quota(&self) -> Bytes {
        self.cwnd.saturating_sub(self.pipe)
    }
    /// A loss shrinks `pipe`, and the missing amount may leave at once.
    fn answers_lost_retransmissions(&self) -> bool {
        false
    }
    fn clone_box(&self) -> Box<dyn Reduction> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= specs/rfc6675.md#recovery
    //= type=test
    //# Further segments leave while the window exceeds what is in flight by one SMSS.
    #[test]
    fn leaves_what_the_window_has_beside_the_flight() {
        let mut reduction = PipeReduction::default();
        let entry = EpisodeEntry {
            ssthresh: 10_000,
            prior_cwnd: 20_000,
            flight_size: 9_000,
            sacked_before: 0,
            newly_acked: 0,
            smss: 1000,
        };
        reduction.on_enter(&entry);
        assert_eq!(reduction.quota(), 1_000);
        reduction.on_enter(&EpisodeEntry { flight_size: 20_000, ..entry });
        assert_eq!(reduction.quota(), 0, "half a flight has to drain first");
        reduction.on_ack(&RecoveryAck { delivered: 1000, pipe: 8_500, cwnd: 10_000, acked: 0, newly_lost: 1000 });
        assert_eq!(reduction.quota(), 1_500);
        reduction.on_sent(1000);
        assert_eq!(reduction.quota(), 500);
        reduction.on_sent(1000);
        assert_eq!(reduction.quota(), 0, "a forced retransmission may overdraw");
    }
}
