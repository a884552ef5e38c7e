//! Challenge ACKs and their throttle (RFC 5961 §7).
//!
//! An ACK answers a segment that cannot be processed: it shows a legitimate peer our state, and the peer corrects itself. A flood
//! of forged segments must not cause a flood of ACKs, nor may two ends that disagree answer each other indefinitely. So a
//! connection limits these ACKs per interval. The count is per connection and partly random: a shared or predictable one would
//! reveal to an attacker which segments were answered, and thereby the sequence numbers (CVE-2016-5696). Repeated SYNs draw on it
//! too.
//!
//! Repeated data is always acknowledged: its sender missed an ACK, and our ACKs cause no data in return.

use crate::config::ChallengeConfig;
use base::{Instant, Rng};

/// The challenge ACKs left in the current interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    until: Instant,
    left: u32,
}

impl Allowance {
    //= specs/rfc5961.md#throttling
    //# The number of challenge ACKs in an interval is bounded.
    //= specs/rfc5961.md#throttling
    //# The bound and the interval can be configured.
    /// Takes one of the interval's challenge ACKs, if any is left. Returns whether there was one.
    pub fn take(held: &mut Option<Self>, cfg: &ChallengeConfig, now: Instant, rng: &mut Rng) -> bool {
        let Self { until, left } = held.filter(|held| now < held.until).unwrap_or_else(|| {
            let least = cfg.limit.div_ceil(2);
            // At most `limit`, so it fits.
            let more = rng.below(u64::from(cfg.limit - least) + 1) as u32;
            Self { until: now + cfg.interval, left: least + more }
        });
        *held = Some(Self { until, left: left.saturating_sub(1) });
        left > 0
    }
}
