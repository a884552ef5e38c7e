//! Step 4 of ACK processing: what an ACK tells of the round-trip time (RFC 6298 §3, RFC 7323 §4).

use super::{Endpoint, Segment};
use crate::cx::Cx;
use base::{Bytes, Duration, SeqRange};
use recovery::rtt::{OvertakingSample, Trust};
use recovery::{Arrival, Delivered};
use trace::{Event, Observer};

impl Endpoint {
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
    /// Step 4: Karn's rule lives in the sampler; timestamps are not needed for it and would be coarser.
    #[inline]
    pub(super) fn sample_rtt<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        seg: &Segment<'_>,
        d: &Delivered,
        arrival: Arrival,
        prior_pipe: Bytes,
    ) -> Option<Duration> {
        if arrival == Arrival::Overtaking && self.cfg.rtt.overtaking == OvertakingSample::PassedOver {
            return None;
        }
        let mut sample = d.rtt_sample(cx.now);
        if sample.is_none() && d.acked > 0 && self.neg.timestamps {
            // Everything newly acknowledged was retransmitted: only the echo can tell which copy this is.
            let echo = seg.repr.options.timestamps.map(|ts| ts.tsecr);
            // An echo of an earlier copy would measure the wait for an ACK that was lost.
            let names = |tsecr: &u32| d.batch.iter().any(|segment| segment.tsval == *tsecr);
            sample = echo.filter(names).and_then(|tsecr| self.ts.echo_age(tsecr, cx.now));
        }
        let sample = sample.filter(|sample| self.is_measurable(*sample))?;
        // RFC 7323 appendix G: about one ACK for two segments of the flight.
        let per_round_trip = prior_pipe / (2 * self.snd.space.smss()) + 1;
        let flight = SeqRange::new(self.snd.space.una(), self.snd.space.nxt());
        if d.sacked > 0 {
            let prompt = &mut self.extras_mut().prompt_rtt;
            *prompt = Some(prompt.unwrap_or(sample).min(sample));
        }
        let trust = self.snd.rec.rtt.on_sample(&self.cfg.rtt, cx.now, sample, per_round_trip, flight);
        self.snd.rec.rto.on_rtt(&self.cfg.rto, &self.snd.rec.rtt);
        self.snd.rec.tail.on_rtt_sample();
        let (rtt, rto) = (&self.snd.rec.rtt, self.snd.rec.rto.current().duration());
        cx.emit(|| Event::RttUpdated {
            sample,
            srtt: rtt.srtt().unwrap_or_default(),
            rttvar: rtt.rttvar().unwrap_or_default(),
            rto,
            // Until two samples agree the shorter of them may be wrong; what is known is the mean.
            min_rtt: rtt.min_rtt().or(rtt.srtt()).unwrap_or_default(),
        });
        // Controllers follow the least samples of a round trip: what does not lower the minimum would mislead them.
        (trust == Trust::Taken).then_some(sample)
    }

    /// Whether the clock can tell a round trip from none.
    #[inline]
    pub(super) fn is_measurable(&self, sample: Duration) -> bool {
        !sample.is_zero() && self.extras.as_ref().is_none_or(|extras| sample >= extras.clock_resolution)
    }

    /// What the clock of this host can tell apart. Time is counted in nanoseconds, so only a coarser clock needs room.
    pub(crate) fn set_clock_resolution(&mut self, resolution: Duration) {
        if resolution > Duration::from_nanos(1) {
            self.extras_mut().clock_resolution = resolution;
        }
    }
}
