//! A transfer in company: the arm has one flow with a size, and its own time counts, as if it were alone.

use crate::run::ideal::ideal_time;
use crate::run::measured::Measured;
use crate::run::shares::Beside;
use crate::spec::{Company, Group, Point, Work};
use base::Rate;
use sim::Direction;

/// Returns the results with the transfer's own time and its ideal one, if the arm has a single flow with a size and it came through.
pub(crate) fn with_own_time(found: Measured, point: &Point, seed: u64, flows: &[Beside<'_>]) -> Measured {
    let mut of_arm = flows.iter().filter(|one| one.group.is_arm());
    let (Some(one), None) = (of_arm.next(), of_arm.next()) else { return found };
    let sized = matches!(Work::of(one.group), Ok(Work::Bytes(_)));
    let Some(elapsed) = one.flow.elapsed().filter(|_| sized && one.flow.is_complete()) else { return found };
    let bytes = one.flow.bytes_read;
    let ideal = ideal_time(&fair_path(point, one.group), seed, bytes);
    Measured { bytes, elapsed_ns: elapsed.as_nanos(), ideal_ns: Some(ideal.as_nanos()), ..found }
}

/// Returns the path that is left for one flow: what datagrams leave, by equal parts to all flows that send as much as they can.
pub(crate) fn fair_path(point: &Point, own: &Group) -> Point {
    let groups = point.company.groups.iter().filter(|group| group.direction == Direction::Forward);
    let (mut flows, mut left) = (1, point.rate.bits_per_sec());
    for group in groups {
        match Work::of(group) {
            Ok(Work::Bulk) => flows += u64::from(group.count),
            Ok(Work::Datagrams { rate, .. }) => {
                left = left.saturating_sub(rate.bits_per_sec() * u64::from(group.count));
            }
            _ => {}
        }
    }
    let rate = Rate::from_bits_per_sec((left / flows).max(1)).expect("not zero");
    Point { rate, rtt: point.rtt + own.own_rtt, company: Company::default(), ..point.clone() }
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
    fn a_flow_has_its_fair_part_of_the_path(company: &str, bits: u64) {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "12Mbit"), ("flow.company", company)] {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        assert_eq!(fair_path(&point, &point.company.groups[0]).rate.bits_per_sec(), bits);
    }
}
