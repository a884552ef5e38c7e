//! A transfer in company: the arm has one flow with a size, and its own time counts, as if it were alone.

use crate::run::hosts::removed;
use crate::run::ideal::ideal_time;
use crate::run::measured::Measured;
use crate::run::shares::{Beside, read_over};
use crate::spec::{Company, Group, Life, Point, Second, Work};
use base::{Duration, Instant, Rate};
use sim::{Direction, Hops, Pause};

/// Returns the results with the transfer's own time and its ideal one, if the arm has a single flow with a size and it came through, and
/// with what the sending host's pauses take from that.
pub(crate) fn with_own_time(
    found: Measured,
    (point, pauses): (&Point, &[Pause]),
    seed: u64,
    flows: &[Beside<'_>],
) -> Measured {
    let mut of_arm = flows.iter().filter(|one| one.group.is_arm());
    let (Some(one), None) = (of_arm.next(), of_arm.next()) else { return found };
    let sized = matches!(Work::of(one.group), Ok(Work::Bytes(_)));
    let Some(elapsed) = one.flow.elapsed().filter(|_| sized && one.flow.is_complete()) else { return found };
    let bytes = one.flow.bytes_read;
    let path = fair_path(point, one.group);
    let ideal = ideal_time(&path, seed, bytes);
    let (began, sent) = (one.flow.started.since(Instant::ZERO), ideal.saturating_sub(path.whole_rtt() / 2));
    let removed = (!pauses.is_empty()).then(|| removed(pauses, point, began, sent).as_nanos());
    Measured {
        bytes,
        elapsed_ns: elapsed.as_nanos(),
        ideal_ns: Some(ideal.as_nanos()),
        removed_ns: removed.or(found.removed_ns),
        ..found
    }
}

/// Returns the path that is left for one flow: of each bottleneck that it crosses what datagrams leave, by equal parts to all flows that
/// send as much as they can.
pub(crate) fn fair_path(point: &Point, own: &Group) -> Point {
    let (path, company) = (point.over(own.hops).into_owned(), Company::default());
    let first = if own.hops == Hops::Second { Hops::Second } else { Hops::First };
    let rate = fair_rate(point, path.rate, first);
    let rate_of_second = path.life.second.rate.map(|rate| fair_rate(point, rate, Hops::Second));
    let life = Life { second: Second { rate: rate_of_second, ..path.life.second }, ..path.life };
    Point { rate, life, rtt: path.rtt + own.own_rtt, company, ..path }
}

/// What one bottleneck of this rate leaves.
fn fair_rate(point: &Point, rate: Rate, bottleneck: Hops) -> Rate {
    let crosses = |group: &&Group| group.hops == Hops::Both || group.hops == bottleneck;
    let groups = point.company.groups.iter().filter(|group| group.direction == Direction::Forward).filter(crosses);
    let (mut flows, mut left) = (1, rate.bits_per_sec());
    for group in groups {
        match Work::of(group) {
            Ok(Work::Bulk) => flows += u64::from(group.count),
            Ok(Work::Datagrams { rate, .. }) => {
                left = left.saturating_sub(rate.bits_per_sec() * u64::from(group.count));
            }
            _ => {}
        }
    }
    Rate::from_bits_per_sec((left / flows).max(1)).expect("not zero")
}

/// Returns the shortest time in which the bottlenecks carry what the arm's flows read in the window: that of the one which takes longest;
/// `None` where there is one bottleneck.
pub(crate) fn ideal_of_arm(point: &Point, seed: u64, flows: &[Beside<'_>]) -> Option<Duration> {
    point.life.second.rate?;
    let of_arm: Vec<Beside<'_>> = flows.iter().filter(|one| one.group.is_arm()).copied().collect();
    let ideal = |bottleneck| {
        let bytes = read_over(bottleneck, &of_arm, point.company.window);
        ideal_time(&point.over(bottleneck), seed, bytes)
    };
    Some(ideal(Hops::First).max(ideal(Hops::Second)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use test_case::test_case;

    #[test_case("arm bytes=1MB", 12_000_000; "alone")]
    #[test_case("arm bytes=1MB + linux x2", 4_000_000; "two others")]
    #[test_case("arm bytes=1MB + linux x2 direction=back", 12_000_000; "others the other way")]
    #[test_case("arm bytes=1MB + linux + datagrams x2 pace=2Mbit", 4_000_000; "after datagrams")]
    #[test_case("arm bytes=1MB + datagrams pace=20Mbit", 1; "nothing is left")]
    #[test_case("arm bytes=1MB + linux hops=first + linux x4 hops=second", 6_000_000; "others at the second bottleneck")]
    fn a_flow_has_its_fair_part_of_the_path(company: &str, bits: u64) {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "12Mbit"), ("flow.company", company)] {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        assert_eq!(fair_path(&point, &point.company.groups[0]).rate.bits_per_sec(), bits);
    }

    #[test]
    fn a_flow_has_its_fair_part_of_each_bottleneck_that_it_crosses() {
        let mut point = Point::default();
        let company = "arm bytes=1MB + linux hops=first + linux x4 hops=second + arm hops=second bytes=1MB";
        for (key, value) in [("path.rate", "12Mbit"), ("path.second.rate", "20Mbit"), ("flow.company", company)] {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let fair = |group: usize| fair_path(&point, &point.company.groups[group]);
        let both = fair(0);
        let second = both.life.second.rate.map(Rate::bits_per_sec);
        assert_eq!((both.rate.bits_per_sec(), second), (6_000_000, Some(4_000_000)));
        let second = fair(3);
        assert_eq!((second.rate.bits_per_sec(), second.life.second.rate), (4_000_000, None));
    }
}
