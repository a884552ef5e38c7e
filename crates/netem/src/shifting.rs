//! A line whose delay follows a course: what enters in a stretch takes its delay.
//!
//! Order is kept while the delay grows. When it shrinks, packets that enter later may overtake, unless jitter keeps their order: this is
//! a route that became shorter, not a queue. Draws as the line does.

use crate::course::{Course, Stretches};
use crate::delay::Delay;
use crate::hop::{Hop, HopKind, Offer, Packet};
use crate::stretch::Stretch;
use base::{Duration, Instant, Rng};

/// A line that becomes longer and shorter.
#[derive(Debug)]
pub struct ShiftingDelay {
    line: Delay,
    /// Where a stretch has none.
    own: Duration,
    /// The stretch that comes next, and those behind it.
    next: Option<Stretch>,
    ahead: Stretches,
    /// When the course begins.
    origin: Duration,
    may_shorten: bool,
}

impl ShiftingDelay {
    /// Creates a line that follows the course, with the jitter and the reordering of `line`; its delay counts where the course has none.
    pub fn new(line: Delay, course: &Course) -> Self {
        let mut ahead = course.stretches();
        let own = line.delay();
        Self { line, own, next: ahead.next(), ahead, origin: Duration::ZERO, may_shorten: course.may_shorten(own) }
    }
}

impl<P: Packet> Hop<P> for ShiftingDelay {
    fn begin(&mut self, at: Instant) {
        self.origin = at.since(Instant::ZERO);
    }
    fn offer(&mut self, now: Instant, packet: P, rng: &mut Rng) -> Offer<P> {
        let time = now.since(Instant::ZERO + self.origin);
        while let Some(stretch) = self.next.filter(|stretch| stretch.from <= time) {
            self.line.set_delay(stretch.delay.unwrap_or(self.own));
            self.next = self.ahead.next();
        }
        self.line.offer(now, packet, rng)
    }
    fn reorders(&self) -> bool {
        self.may_shorten || Hop::<P>::reorders(&self.line)
    }
    fn kind(&self) -> HopKind {
        HopKind::Delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, drive, full_sized, ns, path_of, rate};

    fn course(stretches: &[(u64, Option<u64>)]) -> Course {
        let stretch =
            |(from, delay): &(u64, Option<u64>)| Stretch { from: ns(*from), rate: Some(rate(8)), delay: delay.map(ns) };
        Course::given(stretches.iter().map(stretch).collect()).unwrap()
    }

    #[test]
    fn packets_take_the_delay_of_the_stretch_that_they_enter_in() {
        let hop = ShiftingDelay::new(Delay::fixed(ns(10)), &course(&[(0, None), (100, Some(50)), (200, Some(20))]));
        let outcome = drive(&mut path_of(hop), &[(0, 40), (99, 40), (100, 40), (190, 40), (205, 40), (300, 40)]);
        assert_eq!(
            outcome.arrivals,
            [(10, 0), (109, 1), (150, 2), (225, 4), (240, 3), (320, 5)],
            "a shorter way overtakes"
        );
    }

    #[test]
    fn only_a_way_that_becomes_shorter_reorders() {
        let reorders = |stretches: &[(u64, Option<u64>)]| {
            Hop::<crate::testing::Parcel>::reorders(&ShiftingDelay::new(Delay::fixed(ns(10)), &course(stretches)))
        };
        assert!(!reorders(&[(0, None), (5, Some(10)), (6, Some(11))]));
        assert!(reorders(&[(0, None), (5, Some(9))]) && reorders(&[(0, Some(11)), (5, None)]));
    }

    #[test]
    fn a_course_begins_with_the_path() {
        let mut hop = ShiftingDelay::new(Delay::fixed(ns(10)), &course(&[(0, None), (100, Some(50))]));
        Hop::<crate::testing::Parcel>::begin(&mut hop, at(1_000));
        let mut rng = Rng::new(1);
        let exits = [1_099, 1_100].map(|ns| crate::testing::exit_of(hop.offer(at(ns), full_sized(0), &mut rng)));
        assert_eq!(exits, [at(1_109), at(1_150)]);
    }
}
