//! Throughput from acknowledgements alone, so that a capture has it, too.

use crate::model::Table;

/// A bin lasts a round trip at least, and a whole trace has at most so many.
const MOST_BINS: u64 = 400;

/// Fills `to` with the bits per second newly acknowledged in each bin of time; `acks` holds the cumulative acknowledgements. What is left at
/// the end and lasts less than half a bin belongs to the last one.
pub(crate) fn fill(acks: &Table, round_trip: u64, end: u64, to: &mut Table) {
    let (Some(times), Some(acked)) = (acks.column("t"), acks.column("ack")) else { return };
    let width = round_up(round_trip.max(end / MOST_BINS).max(1));
    let mut before = acked.values.first().copied().unwrap_or(0);
    let mut rows = times.values.iter().zip(&acked.values).peekable();
    let mut from = 0;
    while from < end {
        let until = if end - from < width + width / 2 { end } else { from + width };
        let start = before;
        // The last bin has what arrives at its end.
        while let Some((_, ack)) = rows.next_if(|(at, _)| **at < until || until == end) {
            before = *ack;
        }
        to.step(from, [(before - start) * 8 * 1_000_000 / (until - from)]);
        from = until;
    }
}

/// Returns the next of 1, 2 and 5 times a power of ten.
fn round_up(width: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        if let Some(found) = [1, 2, 5].into_iter().map(|step| step * power).find(|found| *found >= width) {
            return found;
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;

    fn filled(acks: &[(u64, u64)], round_trip: u64, end: u64) -> Vec<(u64, u64)> {
        let mut of = Table::new(&[("ack", Unit::Seq)]);
        acks.iter().for_each(|&(at, ack)| of.step(at, [ack]));
        let mut to = Table::new(&[("v", Unit::Rate)]);
        fill(&of, round_trip, end, &mut to);
        let [at, rate] = ["t", "v"].map(|name| to.column(name).unwrap().values.clone());
        at.into_iter().zip(rate).collect()
    }

    #[test]
    fn a_bin_lasts_a_round_trip_rounded_up() {
        assert_eq!([1, 2, 3, 5, 6, 99, 101, 700_000].map(round_up), [1, 2, 5, 5, 10, 100, 200, 1_000_000]);
        // 125 bytes in a millisecond are 1 Mbit/s.
        let acks = [(0, 1), (500, 126), (1_100, 251), (2_900, 376)];
        assert_eq!(filled(&acks, 900, 3_000), [(0, 1_000_000)]);
        assert_eq!(
            filled(&[(0, 1), (500, 126), (2_900, 251)], 900, 3_000),
            [(0, 1_000_000), (1_000, 0), (2_000, 1_000_000)]
        );
    }

    #[test]
    fn the_bytes_of_all_bins_are_those_acknowledged() {
        let acks: Vec<(u64, u64)> = (0..100).map(|at| (at * 777, 1 + at * at)).collect();
        let end = 99 * 777;
        let bins = filled(&acks, 10_000, end);
        let until = |index: usize| bins.get(index + 1).map_or(end, |(at, _)| *at);
        let bits: u64 = bins.iter().enumerate().map(|(index, (at, rate))| rate * (until(index) - at) / 1_000_000).sum();
        assert!(bits.abs_diff(8 * 99 * 99) <= 8, "{bits}");
    }

    #[test]
    fn a_short_rest_belongs_to_the_last_bin() {
        let acks = [(0, 1), (500, 126), (1_500, 251), (2_100, 376)];
        assert_eq!(filled(&acks, 900, 2_500), [(0, 1_000_000), (2_000, 2_000_000)]);
        assert_eq!(filled(&acks, 900, 2_250), [(0, 1_000_000), (1_000, 1_600_000)]);
    }

    #[test]
    fn nothing_acknowledged_has_no_rate() {
        assert_eq!(filled(&[], 1_000, 5_000), [(0, 0)]);
    }
}
