//! The ideal time of a transfer: what no sender can beat on a path.

use crate::spec::Point;
use base::Duration;

/// Bytes of payload and of IP packet in which the ideal transfer is counted.
const IDEAL_PAYLOAD: u64 = 1_460;
const IDEAL_PACKET: u64 = 1_500;

/// A round trip for the handshake, all packets back to back at the bottleneck's rate, and half a round trip. A policer that passes them
/// more slowly counts instead: what fits its bucket at once, the rest at its rate.
pub fn ideal_time(point: &Point, bytes: u64) -> Duration {
    let bytes = bytes.div_ceil(IDEAL_PAYLOAD).saturating_mul(IDEAL_PACKET);
    let policed = |policer: crate::spec::Policer| policer.rate.time_for(bytes.saturating_sub(policer.burst));
    let passed = point.life.policer.map_or(Duration::ZERO, policed);
    point.rtt + point.rate.time_for(bytes).max(passed) + point.rtt / 2
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
    #[test_case(&[("path.policer", "20Mbit/1500B")] => 822 + 150; "a policer that does not matter")]
    fn ideal_ms(settings: &[(&str, &str)]) -> u64 {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "10Mbit")].iter().chain(settings) {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let ideal = ideal_time(&point, 1_000_000);
        assert_eq!(ideal.as_nanos() % 1_000_000, 0);
        ideal.as_millis()
    }
}
