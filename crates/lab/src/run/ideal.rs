//! The ideal time of a transfer: what no sender can beat on a path.

use crate::run::course::{Way, delays, rates};
use crate::spec::Point;
use base::Duration;
use netem::Capacity;

/// Bytes of payload and of IP packet in which the ideal transfer is counted.
pub(crate) const IDEAL_PAYLOAD: u64 = 1_460;
pub(crate) const IDEAL_PACKET: u64 = 1_500;

/// A round trip for the handshake, all packets back to back at the bottleneck's rate, and half a round trip. Three things take more:
/// a policer that passes them more slowly, which counts instead: what fits its bucket at once, the rest at its rate; a rate that changes,
/// whose stretches count one after the other, outages among them; and a model, which draws them from `seed`. Of round-trip times that
/// change, the shortest counts. Of two bottlenecks the tighter one counts, and both their round trips. Several flows have no handshake in their window, which is when their rates count.
pub fn ideal_time(point: &Point, seed: u64, bytes: u64) -> Duration {
    let bytes = bytes.div_ceil(IDEAL_PAYLOAD).saturating_mul(IDEAL_PACKET);
    let second = point.life.second;
    let rtt = least_rtt(point, seed) + second.rtt;
    let from = if point.company.is_empty() { rtt } else { point.company.window.from };
    let sent = match rates(point, seed) {
        Some(course) => Capacity::new(&course).time_to_pass(from, bytes).saturating_sub(from),
        None => point.rate.time_for(bytes),
    };
    let policed = point.life.policer.map(|policer| policer.rate.time_for(bytes.saturating_sub(policer.burst)));
    let there = second.rate.map(|rate| rate.time_for(bytes));
    let longest = [policed, there].into_iter().flatten().fold(sent, Duration::max);
    rtt + longest + rtt / 2
}

fn least_rtt(point: &Point, seed: u64) -> Duration {
    let there = point.rtt / 2;
    let least = |way: Way, own: Duration| delays(point, seed, way, own).map_or(own, |course| course.least_delay(own));
    least(Way::There, there) + least(Way::Back, point.rtt.saturating_sub(there))
}

/// Returns the bytes of IP packets that the path can carry between two moments of a run.
pub(crate) fn carried(point: &Point, seed: u64, from: Duration, until: Duration) -> u64 {
    let time = until.saturating_sub(from);
    let bytes = match rates(point, seed) {
        Some(course) => Capacity::new(&course).bytes_between(from, until),
        None => point.rate.bytes_in(time),
    };
    point.life.policer.map_or(bytes, |policer| bytes.min(policer.rate.bytes_in(time).saturating_add(policer.burst)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use test_case::test_case;

    /// A million bytes are 685 packets or 1,027,500 bytes, which take 822 ms at 10 Mbit/s.
    #[test_case(&[] => 822 + 150; "plain")]
    #[test_case(&[("path.policer", "5Mbit/27500B")] => 1_600 + 150; "a bucket, and the rest at the policer's rate")]
    #[test_case(&[("path.policer", "5Mbit/2MB")] => 822 + 150; "a bucket that holds everything")]
    #[test_case(&[("path.changes", "500ms rate=5Mbit")] => 500 + 2 * 422 + 50; "a slower rate for what 400 ms did not pass")]
    #[test_case(&[("path.changes", "500ms outage=2s")] => 822 + 2_000 + 150; "an outage")]
    #[test_case(&[("path.changes", "50ms outage=100ms")] => 100 + 50 + 822 + 50; "the rest of an outage")]
    #[test_case(&[("path.changes", "5s outage=100ms")] => 822 + 150; "an outage behind the end")]
    #[test_case(&[("path.changes", "500ms rtt=40ms")] => 822 + 60; "the shortest round trip")]
    #[test_case(&[("path.changes", "500ms rtt=400ms")] => 822 + 150; "which may be the first")]
    #[test_case(&[("path.model", "lte mean=10Mbit hold=1us")] => 825 + 150; "a model that is almost its mean")]
    #[test_case(&[("path.second.rate", "5Mbit"), ("path.second.rtt", "20ms")] => 1_644 + 180; "a tighter bottleneck behind it")]
    #[test_case(&[("path.second.rate", "50Mbit"), ("path.second.rtt", "20ms")] => 822 + 180; "a wider one")]
    #[test_case(&[("path.policer", "20Mbit/1500B")] => 822 + 150; "a policer that does not matter")]
    fn ideal_ms(settings: &[(&str, &str)]) -> u64 {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "10Mbit")].iter().chain(settings) {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let ideal = ideal_time(&point, 1, 1_000_000);
        ideal.as_millis()
    }
}
