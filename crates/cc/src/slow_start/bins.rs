//! What was sent and delivered up to the ends of equal spans of time, for SEARCH (draft-chung-ccwg-search-09 §3.1).
//!
//! Totals are sequence numbers, as deep as the look-back needs: a window of bins never covers as much as the sequence space,
//! because no congestion window exceeds a quarter of it.
//!
//! Deviations: the look-back is interpolated towards the past, where the draft's text goes towards the future, which its authors
//! call an error; a pause longer than the window of bins starts over.

use crate::sample::AckSample;
use base::{Duration, Instant, SeqNum};

/// Bins in the window that is compared.
const WINDOW: usize = 10;
/// Further bins that are kept for the look-back.
const LOOK_BACK: usize = 15;
/// The look-back's fraction of a bin is counted in parts of this size.
const PARTS: u64 = 100;

/// With what delivery is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// With what was sent one round trip before.
    Sent,
    /// With twice of what was delivered one round trip before (up to draft -08).
    TwiceDelivered,
}

/// The totals.
#[derive(Clone, Debug)]
pub struct Bins {
    /// Length of a bin.
    span: Duration,
    window_percent: u32,
    of: Expected,
    /// End of the current bin.
    end: Instant,
    /// The bins filled since the start.
    current: u32,
    /// Delivered up to the end of each bin, by number modulo length.
    delivered: [SeqNum; WINDOW + 1],
    /// What delivery is compared with, up to the end of each bin.
    expected: [SeqNum; WINDOW + 1 + LOOK_BACK],
}

impl Bins {
    /// Begins with an ACK; `None` without its round-trip sample, which gives the bins their length.
    pub fn new(ack: &AckSample, window_percent: u32, of: Expected) -> Option<Self> {
        let span = ack.rtt?.scale(u64::from(window_percent), 100 * WINDOW as u64);
        if span.is_zero() {
            return None;
        }
        let (delivered, expected) = ([ack.snd_una; _], [totals(of, ack); _]);
        Some(Self { span, window_percent, of, end: ack.now + span, current: 0, delivered, expected })
    }

    /// Starts over with this ACK and the same length of bins.
    pub fn start_over(&mut self, ack: &AckSample) {
        (self.end, self.current) = (ack.now + self.span, 0);
        (self.delivered, self.expected) = ([ack.snd_una; _], [totals(self.of, ack); _]);
    }

    /// Takes an ACK. Returns whether it ended a bin.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        if ack.now <= self.end {
            return false;
        }
        let passed = ack.now.since(self.end).as_nanos() / self.span.as_nanos() + 1;
        if passed > WINDOW as u64 {
            match Self::new(ack, self.window_percent, self.of) {
                Some(fresh) => *self = fresh,
                None => self.start_over(ack),
            }
            return false;
        }
        let passed = passed as u32;
        let last = (self.delivered_at(self.current), self.expected_at(self.current));
        for skipped in 1..passed {
            self.store(self.current + skipped, last);
        }
        self.current += passed;
        self.store(self.current, (ack.snd_una, totals(self.of, ack)));
        self.end += self.span.scale(u64::from(passed), 1);
        true
    }

    /// Returns what a path with room would have delivered in the window that ends now, and what was delivered, in bytes; `None`
    /// while there are too few bins for a look-back of `rtt`.
    pub fn expected_and_delivered(&self, rtt: Duration) -> Option<(u64, u64)> {
        let (back, part) = self.look_back(rtt)?;
        let previous = self.current.checked_sub(back)?;
        if previous <= WINDOW as u32 {
            return None;
        }
        let sent = |end: u32| u64::from(self.expected_at(end).distance_from(self.expected_at(end - WINDOW as u32)));
        let interpolated = ((PARTS - part) * sent(previous) + part * sent(previous - 1)) / PARTS;
        let expected = match self.of {
            Expected::Sent => interpolated,
            Expected::TwiceDelivered => 2 * interpolated,
        };
        Some((expected, self.delivered_over(WINDOW as u32)))
    }

    /// Returns the bytes delivered in the last of the *first* round trips, the bandwidth-delay product of the empty path.
    pub fn delivered_in_a_round_trip(&self) -> u32 {
        let bins = (100 * WINDOW as u32).div_ceil(self.window_percent);
        self.delivered_over(bins) as u32
    }

    /// Returns how many whole bins a round trip covers, and which part of another.
    fn look_back(&self, rtt: Duration) -> Option<(u32, u64)> {
        let (rtt, span) = (rtt.as_nanos(), self.span.as_nanos());
        let bins = rtt / span;
        (bins < LOOK_BACK as u64).then(|| {
            (bins as u32, u64::try_from(u128::from(rtt % span) * u128::from(PARTS) / u128::from(span)).unwrap_or(0))
        })
    }

    fn delivered_over(&self, bins: u32) -> u64 {
        let since = self.current.saturating_sub(bins);
        u64::from(self.delivered_at(self.current).distance_from(self.delivered_at(since)))
    }

    fn store(&mut self, bin: u32, (delivered, expected): (SeqNum, SeqNum)) {
        self.delivered[bin as usize % (WINDOW + 1)] = delivered;
        self.expected[bin as usize % (WINDOW + 1 + LOOK_BACK)] = expected;
    }

    fn delivered_at(&self, bin: u32) -> SeqNum {
        self.delivered[bin as usize % (WINDOW + 1)]
    }

    fn expected_at(&self, bin: u32) -> SeqNum {
        self.expected[bin as usize % (WINDOW + 1 + LOOK_BACK)]
    }
}

/// Returns the total that delivery will be compared with.
const fn totals(of: Expected, ack: &AckSample) -> SeqNum {
    match of {
        Expected::Sent => ack.snd_nxt,
        Expected::TwiceDelivered => ack.snd_una,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ack;
    use test_case::test_case;

    fn at(us: u64, una: u32, nxt: u32, rtt_ms: u64) -> AckSample {
        AckSample {
            now: Instant::from_nanos(us * 1_000),
            snd_una: SeqNum(una),
            snd_nxt: SeqNum(nxt),
            rtt: Some(Duration::from_millis(rtt_ms)),
            ..ack(0, 0)
        }
    }

    fn bins(of: Expected) -> Bins {
        Bins::new(&at(0, 0, 0, 100), 350, of).expect("it carries a round trip")
    }

    #[test_case(100, Some((2, 85)); "the first round trip")]
    #[test_case(80, Some((2, 28)))]
    #[test_case(34, Some((0, 97)); "less than a bin")]
    #[test_case(524, Some((14, 97)))]
    #[test_case(525, None; "fifteen bins are too far back")]
    fn a_look_back_of(rtt_ms: u64, expected: Option<(u32, u64)>) {
        let bins = bins(Expected::Sent);
        assert_eq!(bins.span, Duration::from_millis(35));
        assert_eq!(bins.look_back(Duration::from_millis(rtt_ms)), expected);
    }

    #[test]
    fn a_bin_ends_with_the_first_ack_after_it_and_skipped_ones_repeat_its_totals() {
        let mut bins = bins(Expected::Sent);
        assert!(!bins.on_ack(&at(35_000, 1, 2, 100)), "its end belongs to it");
        assert!(bins.on_ack(&at(35_001, 10, 20, 100)));
        assert_eq!((bins.current, bins.end), (1, Instant::from_nanos(70_000_000)));
        assert!(bins.on_ack(&at(140_001, 50, 90, 100)));
        assert_eq!((bins.current, bins.end), (4, Instant::from_nanos(175_000_000)));
        let delivered: Vec<u32> = (0..=4).map(|bin| bins.delivered_at(bin).0).collect();
        let expected: Vec<u32> = (0..=4).map(|bin| bins.expected_at(bin).0).collect();
        assert_eq!((delivered, expected), (vec![0, 10, 10, 10, 50], vec![0, 20, 20, 20, 90]));
    }

    #[test]
    fn ten_bins_without_an_ack_are_bridged_and_eleven_start_over_with_a_new_length() {
        let mut bridged = bins(Expected::Sent);
        assert!(bridged.on_ack(&at(350_001, 5, 5, 200)));
        assert_eq!((bridged.current, bridged.span), (10, Duration::from_millis(35)));
        let mut over = bins(Expected::Sent);
        assert!(!over.on_ack(&at(385_001, 5, 5, 200)));
        assert_eq!((over.current, over.span, over.delivered_at(0)), (0, Duration::from_millis(70), SeqNum(5)));
    }

    /// Sends 100 bytes in each of the first bins and delivers them a round trip of two bins later, across the wrap.
    #[test_case(Expected::Sent, 300_000, (1_000, 1_000))]
    #[test_case(Expected::TwiceDelivered, 300_000, (2_000, 1_000))]
    fn a_path_with_room_delivers_what_was_sent(of: Expected, start: u32, expected: (u64, u64)) {
        for first in [start, u32::MAX - 700] {
            let zero = SeqNum(first);
            let mut bins = Bins::new(&AckSample { snd_una: zero, snd_nxt: zero, ..at(0, 0, 0, 100) }, 350, of)
                .expect("it carries a round trip");
            for bin in 1..=40_u32 {
                let sample = at(u64::from(bin) * 35_000 + 1, 0, 0, 100);
                let una = zero + 100 * bin.saturating_sub(2);
                assert!(bins.on_ack(&AckSample { snd_una: una, snd_nxt: zero + 100 * bin, ..sample }));
                let seen = bins.expected_and_delivered(Duration::from_millis(70));
                assert_eq!(seen.is_some(), bin > 12, "bin {bin}");
                if bin > 24 {
                    assert_eq!(seen, Some(expected));
                }
            }
            assert_eq!(bins.delivered_in_a_round_trip(), 300);
        }
    }

    #[test]
    fn the_fraction_of_a_bin_lies_in_the_past() {
        let mut bins = bins(Expected::Sent);
        let mut nxt = 0;
        for bin in 1..=20_u32 {
            nxt += if bin == 18 { 1_000 } else { 100 };
            assert!(bins.on_ack(&at(u64::from(bin) * 35_000 + 1, 0, nxt, 100)));
        }
        let expected = |rtt_ms: u64| bins.expected_and_delivered(Duration::from_millis(rtt_ms)).map(|(sent, _)| sent);
        // The window that ends at bin 18 has the large bin, the one that ends before it has not.
        assert_eq!(expected(70), Some(1_900));
        assert_eq!(expected(87), Some((52 * 1_900 + 48 * 1_000) / 100));
        assert_eq!(expected(105), Some(1_000));
    }
}
