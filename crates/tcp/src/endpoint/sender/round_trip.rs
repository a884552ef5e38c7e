//! Step 4 of ACK processing: what an ACK reveals about the round-trip time (RFC 6298 §3, RFC 7323 §4).

use super::Sender;
use crate::config::Config;
use crate::timestamps::TimestampState;
use base::{Bytes, Duration, Instant, SeqRange};
use recovery::rtt::Trust;
use recovery::{Arrival, Delivered};

/// An ACK's data for a round-trip sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttCx<'a> {
    pub cfg: &'a Config,
    pub now: Instant,
    /// The clock that timestamps are read from.
    pub clock: &'a TimestampState,
    /// The timestamp that the ACK echoes, where the connection uses them.
    pub tsecr: Option<u32>,
    /// The shortest time that the clock can distinguish from zero.
    pub resolution: Duration,
    pub arrival: Arrival,
    /// Bytes in flight before the ACK.
    pub prior_pipe: Bytes,
}

impl Sender {
    //= specs/rfc9406.md#rounds
    //# At least one RTT sample is taken in each round.
    //= specs/rfc9406.md#rounds
    //# At least eight RTT samples are taken in each round that has as many ACKs.
    //= specs/rfc6298.md#taking-samples
    //# A segment that was retransmitted gives no RTT sample, unless a timestamp tells which copy was acknowledged.
    //= specs/rfc6298.md#taking-samples
    //# At least one RTT sample is taken in each round trip that allows it.
    //= specs/rfc7323.md#round-trips
    //# An echoed timestamp gives an RTT sample only in an ACK that advances SND.UNA.
    /// Step 4: takes a round-trip sample from an ACK. The sampler applies Karn's rule; timestamps are not needed for it and would
    /// be coarser. Returns the sample, and whether the estimator trusts it.
    #[inline]
    pub fn sample_rtt(&mut self, cx: &RttCx<'_>, d: &Delivered) -> Option<(Duration, Trust)> {
        if cx.arrival == Arrival::Overtaking && !cx.cfg.recovery.detector.measures_overtaking() {
            return None;
        }
        let mut sample = d.rtt_sample(cx.now);
        if sample.is_none() && d.acked > 0 {
            // All newly acknowledged data was retransmitted: only the echo shows which copy this ACK answers. An echo of an
            // earlier copy would measure the wait for an ACK that was lost.
            let names = |tsecr: &u32| d.batch.iter().any(|segment| segment.tsval == *tsecr);
            sample = cx.tsecr.filter(names).and_then(|tsecr| cx.clock.echo_age(tsecr, cx.now));
        }
        let sample = sample.filter(|sample| !sample.is_zero() && *sample >= cx.resolution)?;
        // RFC 7323 appendix G: about one ACK for two segments of the flight.
        let per_round_trip = cx.prior_pipe / (2 * self.space.smss()) + 1;
        let flight = SeqRange::new(self.space.una(), self.space.nxt());
        let trust = self.rec.rtt.on_sample(&cx.cfg.rtt, cx.now, sample, per_round_trip, flight);
        self.rec.rto.on_rtt(&cx.cfg.rto, &self.rec.rtt);
        self.rec.tail.on_rtt_sample();
        Some((sample, trust))
    }
}
