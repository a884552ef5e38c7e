//! The greatest variation of a round trip, from which the timeout is computed where a profile asks for it.
//!
//! Owns: that peak and the round it belongs to. RFC 6298 §2.3 computes the timeout from the smoothed variation, which in a flight
//! of many samples forgets a whole round trip within milliseconds. One sample can raise the peak; it decays by a quarter of the
//! distance once per round trip.

use base::{Duration, SeqNum, SeqRange};

/// Weight of the variation in the timeout (RFC 6298 §2.3, `K`).
const K: u32 = 4;

/// All values are four times a variation, because the timeout adds that to the smoothed RTT.
#[derive(Clone, Debug)]
pub(super) struct Peak {
    /// What the timeout adds.
    pub held: Duration,
    /// Greatest value of the current round.
    round: Duration,
    /// The round is over once this was acknowledged.
    round_end: SeqNum,
}

impl Peak {
    /// Starts after the first sample, whose variation is half of it.
    pub fn new(floor: Duration, rttvar: Duration, flight: SeqRange) -> Self {
        let held = (rttvar * K).max(floor);
        Self { held, round: held, round_end: flight.end }
    }

    /// Takes the smoothed variation after a sample; `flight` is the unacknowledged data before it.
    pub fn on_variation(&mut self, floor: Duration, rttvar: Duration, flight: SeqRange) {
        self.round = self.round.max(rttvar * K);
        self.held = self.held.max(self.round);
        if flight.start.after(self.round_end) {
            self.held = self.held.saturating_sub(self.held.saturating_sub(self.round) / 4);
            self.round = floor;
            self.round_end = flight.end;
        }
    }
}

/// Moves the mean of variations by the `deviation` of a sample: a quarter of the way, but only an eighth of that when a sample
/// *below* the mean RTT would raise it, since a path that becomes faster needs no longer timeout.
pub(super) fn smoothed(rttvar: Duration, srtt: Duration, sample: Duration) -> Duration {
    let deviation = srtt.abs_diff(sample);
    if deviation <= rttvar {
        return rttvar.saturating_sub(rttvar.saturating_sub(deviation) / 4);
    }
    let rise = deviation.saturating_sub(rttvar) / 4;
    rttvar + if sample < srtt { rise / 8 } else { rise }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Duration = Duration::from_millis(200);

    fn flight(from: u32, to: u32) -> SeqRange {
        SeqRange::new(SeqNum(from), SeqNum(to))
    }
    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn never_less_than_the_floor_is_added() {
        assert_eq!(Peak::new(FLOOR, ms(10), flight(1, 1)).held, ms(200));
        assert_eq!(Peak::new(FLOOR, ms(75), flight(1, 1)).held, ms(300));
    }

    #[test]
    fn one_sample_raises_it_and_each_round_trip_takes_a_quarter_back() {
        let mut peak = Peak::new(FLOOR, ms(10), flight(1, 1));
        peak.on_variation(FLOOR, ms(150), flight(1, 10_001));
        assert_eq!(peak.held, ms(600));
        // The same round: the next values are smaller, and change nothing.
        peak.on_variation(FLOOR, ms(5), flight(2, 10_001));
        assert_eq!(peak.held, ms(600), "the round of the peak itself has just ended");
        peak.on_variation(FLOOR, ms(5), flight(10_002, 20_001));
        assert_eq!(peak.held, ms(500));
        peak.on_variation(FLOOR, ms(5), flight(15_000, 25_001));
        assert_eq!(peak.held, ms(500), "still the same round");
        peak.on_variation(FLOOR, ms(5), flight(20_002, 30_001));
        assert_eq!(peak.held, ms(425));
    }

    #[test]
    fn a_faster_path_hardly_raises_the_variation() {
        assert_eq!(smoothed(ms(10), ms(100), ms(150)), ms(20));
        assert_eq!(smoothed(ms(10), ms(100), ms(50)), Duration::from_micros(11_250));
        assert_eq!(smoothed(ms(10), ms(100), ms(102)), ms(8));
    }
}
