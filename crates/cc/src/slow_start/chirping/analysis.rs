//! What one chirp shows: the mean gap at which the path carries segments, from the delay of each.
//!
//! An *excursion* begins where delay rises, and lasts while delay stays above five eighths of its highest. One of five segments or more
//! that ends was other traffic's queue: where delay rose in it, the chirp's own gaps count. One that does not end is the chirp's own
//! queue: from the gap before it on, the chirp was faster than the path. Each other segment counts with the gap before the last
//! excursion.
//!
//! Only differences of delay count, so round trips serve as delays.

use base::Duration;

/// Segments of an excursion that counts.
const LONG: u32 = 5;

/// The analysis of one chirp, segment by segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Analysis {
    /// The last segment: the gap before it, and its delay.
    last: Option<(Duration, Duration)>,
    /// Segments with a gap before them, ...
    gaps: u32,
    /// ... those that count with their own, and the sum of these.
    own: u32,
    sum: Duration,
    /// The gap before the last excursion.
    knee: Option<Duration>,
    excursion: Option<Excursion>,
}

#[derive(Clone, Debug)]
struct Excursion {
    /// The delay before it.
    floor: Duration,
    /// The highest delay in it, above that.
    highest: Duration,
    segments: u32,
    /// Where delay rose: segments and the sum of their gaps.
    rises: u32,
    sum: Duration,
}

impl Analysis {
    /// Takes the next segment of the chirp, of which the first has no gap.
    pub fn on_segment(&mut self, gap: Duration, delay: Duration) {
        self.gaps += 1;
        if let Some((last_gap, last_delay)) = self.last {
            let rises = last_delay < delay;
            self.follow(last_gap, last_delay, rises);
            if rises && self.excursion.is_none() {
                self.knee = Some(last_gap);
                let highest = Duration::ZERO;
                self.excursion = Some(Excursion { floor: last_delay, highest, segments: 1, rises: 1, sum: last_gap });
            }
        }
        self.last = Some((gap, delay));
    }

    /// Continues an excursion by a segment before whose successor delay rises, or ends it.
    fn follow(&mut self, gap: Duration, delay: Duration, rises: bool) {
        let Some(excursion) = &mut self.excursion else { return };
        let above = delay.saturating_sub(excursion.floor);
        if above >= excursion.highest.scale(5, 8) {
            excursion.highest = excursion.highest.max(above);
            excursion.segments += 1;
            if rises {
                excursion.rises += 1;
                excursion.sum += gap;
            }
            return;
        }
        if excursion.segments >= LONG {
            self.own += excursion.rises;
            self.sum += excursion.sum;
        }
        self.excursion = None;
    }

    /// Returns the mean gap that the whole chirp shows; `None` for a chirp of one segment.
    pub fn finish(mut self) -> Option<Duration> {
        let (gap, delay) = self.last?;
        self.follow(gap, delay, false);
        let others = self.knee.unwrap_or(gap) * self.gaps.saturating_sub(self.own);
        Some((self.sum + others) / self.gaps.max(1))
    }
}
