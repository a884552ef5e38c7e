//! A link whose rate changes by a course, exact over any number of packets and changes.
//!
//! Whatever waits is served at the rate of the moment: a packet that a change meets in service continues at the new rate, and what an
//! outage meets waits for its end. With a constant rate it is the serialiser, to the nanosecond.

use crate::capacity::Capacity;
use crate::course::Course;
use crate::rate::serialiser::{BIT_NANOS, Service};
use base::{Duration, Instant};

/// A link that follows a course.
#[derive(Clone, Debug)]
pub struct ChangingLink {
    capacity: Capacity,
    /// When the course begins.
    origin: Duration,
    /// How much the link can have sent when its last packet has left.
    done: u128,
    /// When that is.
    last_exit: Instant,
}

impl ChangingLink {
    /// Creates an idle link at the beginning of the course, which begins with the start of time.
    pub fn new(course: &Course) -> Self {
        Self { capacity: Capacity::new(course), origin: Duration::ZERO, done: 0, last_exit: Instant::ZERO }
    }

    fn time(&self, at: Instant) -> Duration {
        at.since(Instant::ZERO + self.origin)
    }

    fn pass(&mut self, from: u128, len: u32) -> Instant {
        self.done = from.saturating_add(u128::from(len) * u128::from(BIT_NANOS));
        self.last_exit = Instant::ZERO + self.origin + self.capacity.reached(self.done);
        self.last_exit
    }
}

impl Service for ChangingLink {
    fn begin(&mut self, at: Instant) {
        self.origin = at.since(Instant::ZERO);
    }

    fn exit(&mut self, now: Instant, len: u32) -> Instant {
        let now = self.time(now);
        let from = self.capacity.by(now).max(self.done);
        self.capacity.forget(now, from);
        self.pass(from, len)
    }

    /// The packet follows its predecessor without a gap unless the link was idle in between, to the fraction of a nanosecond.
    fn follow(&mut self, ready: Instant, len: u32) -> Instant {
        if self.begins(self.last_exit) >= ready { self.pass(self.done, len) } else { self.exit(ready, len) }
    }

    fn begins(&self, at: Instant) -> Instant {
        Instant::ZERO + self.origin + self.capacity.open_from(self.time(at))
    }

    fn start_behind(&mut self, exit: Instant) {
        self.done = self.capacity.by(self.time(exit));
        self.last_exit = exit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::droptail::Buffer;
    use crate::queue::{Codel, QueueSpec};
    use crate::rate::Bottleneck;
    use crate::rate::managed::ManagedBottleneck;
    use crate::rate::serialiser::Serialiser;
    use crate::stretch::Stretch;
    use crate::testing::{Traveller, at, drive, ns, path_of, rate, travel};
    use crate::{Ecn, Path};
    use base::Rng;
    use proptest::prelude::{Just, prop_assert_eq, prop_oneof, proptest};
    use test_case::test_case;

    /// Rates in bits a nanosecond from these nanoseconds on; zero is an outage.
    fn course(stretches: &[(u64, u64)]) -> Course {
        let stretch = |(from, bits): &(u64, u64)| {
            let rate = (*bits > 0).then(|| rate(bits * 1_000_000_000));
            Stretch { from: ns(*from), rate, delay: None }
        };
        Course::given(stretches.iter().map(stretch).collect()).unwrap()
    }

    fn exits(stretches: &[(u64, u64)], offers: &[(u64, u32)]) -> Vec<u64> {
        let mut path = path_of(Bottleneck::of(ChangingLink::new(&course(stretches)), Buffer::Unlimited));
        drive(&mut path, offers).arrivals.iter().map(|(ns, _)| *ns).collect()
    }

    #[test_case(&[(0, 8), (100, 4)], &[(0, 50), (0, 50), (0, 50)] => vec![50, 100, 200]; "what waits is served at the new rate")]
    #[test_case(&[(0, 8), (100, 4)], &[(0, 150)] => vec![200]; "so is what is in service")]
    #[test_case(&[(0, 8), (100, 16)], &[(0, 300)] => vec![200]; "a faster one")]
    #[test_case(&[(0, 8), (100, 0), (150, 8)], &[(0, 60), (0, 60), (120, 10)] => vec![60, 170, 180]; "nothing leaves in an outage")]
    #[test_case(&[(0, 8), (100, 0), (150, 8)], &[(0, 100), (0, 1)] => vec![100, 151]; "the last bit before it")]
    #[test_case(&[(0, 8), (100, 4)], &[(500, 10), (900, 10)] => vec![520, 920]; "an idle link")]
    fn exits_by_hand(stretches: &[(u64, u64)], offers: &[(u64, u32)]) -> Vec<u64> {
        exits(stretches, offers)
    }

    #[test]
    fn a_managed_queue_waits_for_the_end_of_an_outage() {
        let link = ChangingLink::new(&course(&[(0, 8), (100, 0), (150, 8)]));
        let queue = QueueSpec::Codel(Codel::default());
        let hop = ManagedBottleneck::new(link, &queue, Buffer::Unlimited, &Rng::new(1)).unwrap();
        let offers = [(0, 60), (0, 60), (120, 10), (300, 10)];
        let mut path = Path::new(vec![Box::new(hop)], &Rng::new(1));
        let offers: Vec<_> = offers
            .iter()
            .zip(0..)
            .map(|((at, len), index)| (*at, Traveller { index, len: *len, flow: 0, ecn: Ecn::NotEct }))
            .collect();
        let journey = travel(&mut path, &offers);
        assert_eq!(journey.arrivals.iter().map(|(ns, _)| *ns).collect::<Vec<_>>(), [60, 170, 180, 310]);
    }

    #[test]
    fn a_course_begins_with_the_path() {
        let mut link = ChangingLink::new(&course(&[(0, 8), (100, 4)]));
        link.begin(at(1_000));
        assert_eq!([link.exit(at(1_050), 50), link.exit(at(1_050), 50)], [at(1_100), at(1_200)]);
    }

    proptest! {
        /// With one rate it is the serialiser, and stretches of that rate change nothing.
        #[test]
        fn a_constant_rate_is_the_serialisers(
            bps in 1_000u64..10_000_000_000, cuts in proptest::collection::vec(1u64..50_000, 0..5),
            gaps in proptest::collection::vec((0u64..20_000, 1u32..3_000), 1..60), behind in prop_oneof![Just(0u64), 1u64..40_000],
        ) {
            let mut at_ns = 0;
            let mut stretches = vec![Stretch { from: ns(0), rate: Some(rate(bps)), delay: None }];
            stretches.extend(cuts.iter().map(|cut| { at_ns += cut; Stretch { from: ns(at_ns), ..stretches[0] } }).collect::<Vec<_>>());
            let (mut link, mut plain) = (ChangingLink::new(&Course::given(stretches).unwrap()), Serialiser::new(rate(bps)));
            if behind > 0 {
                link.start_behind(at(behind));
                plain.start_behind(at(behind));
            }
            let mut now = 0;
            for (gap, len) in gaps {
                now += gap;
                prop_assert_eq!(link.exit(at(now), len), plain.exit(at(now), len));
                let ready = link.begins(link.last_exit);
                prop_assert_eq!(link.clone().follow(ready, len), plain.clone().follow(ready, len));
            }
        }

        /// Rates that change pass in every span exactly what they allow while packets wait.
        #[test]
        fn a_busy_link_wastes_nothing(
            steps in proptest::collection::vec((1u64..5_000, prop_oneof![1 => Just(0u64), 4 => 1u64..50]), 1..10), lens in proptest::collection::vec(1u32..3_000, 1..60),
        ) {
            let mut from = 0;
            let mut stretches = vec![(0, 3)];
            stretches.extend(steps.iter().map(|(gap, bits)| { from += gap; (from, *bits) }));
            stretches.push((from + 7, 5));
            let offers: Vec<_> = lens.iter().map(|len| (0, *len)).collect();
            let total: u64 = lens.iter().map(|len| u64::from(*len)).sum();
            let last = *exits(&stretches, &offers).last().unwrap();
            prop_assert_eq!(ns(last), Capacity::new(&course(&stretches)).time_to_pass(ns(0), total));
        }
    }
}
