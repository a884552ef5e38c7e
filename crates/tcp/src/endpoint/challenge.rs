//! Challenge ACKs and their throttle (RFC 5961 §7).
//!
//! An ACK answers what cannot be processed: a legitimate peer sees in it where we stand and corrects itself. A flood of forged
//! segments must not become a flood of ACKs, nor may two ends that disagree answer each other indefinitely. So a connection
//! sends no more than so many of them an interval. The count is the connection's own and partly random: a count that is
//! shared or predictable would reveal to an outsider which of his segments were answered, and thereby the sequence numbers
//! (CVE-2016-5696). Repeated SYNs draw on it too.
//!
//! Data that comes again is always acknowledged: its sender missed an ACK, and no ACK of ours brings data about.

use crate::config::ChallengeConfig;
use base::{Instant, Rng};

/// What is left of an interval's answers.
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
    /// Takes one of the interval's answers, if any is left.
    pub fn take(held: &mut Option<Self>, cfg: &ChallengeConfig, now: Instant, rng: &mut Rng) -> bool {
        let Self { until, left } = held.filter(|held| now < held.until).unwrap_or_else(|| {
            let least = cfg.limit.div_ceil(2);
            // At most `limit`, which fits.
            let more = rng.below(u64::from(cfg.limit - least) + 1) as u32;
            Self { until: now + cfg.interval, left: least + more }
        });
        *held = Some(Self { until, left: left.saturating_sub(1) });
        left > 0
    }
}
