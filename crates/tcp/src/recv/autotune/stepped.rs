//! A window that grows by steps: after a round trip that delivered at least a share of it, it becomes a multiple of what was
//! delivered. The level sets the limit, and whether windows are scaled at all (RFC 7323 §2).
//!
//! No standard asks for this. It models systems whose algorithm is not public: a share near one and a multiple below two make a
//! cautious receiver, which in slow start lags behind the peer's window and stops between one and one and a half times the
//! product of bandwidth and delay; a half and a doubling follow slow start without delaying it for long.
//!
//! A round trip's worth is what was taken since the last one, scaled down to one round trip if that took longer: a reader that
//! sleeps and then takes much has not taken it in one.

use base::{Bytes, Duration, Ratio};

/// A window that grows by steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteppedConfig {
    /// Initial size in bytes; at most the level's limit.
    pub initial: Bytes,
    /// The limit of its growth.
    pub level: WindowLevel,
    /// Share of the window that a round trip must deliver for it to grow. Not zero.
    pub share: Ratio,
    /// The new window in percent of what was delivered; at least 100.
    pub factor_percent: u32,
}

/// Limits of a receive window's growth. The level fixes both the largest window and the shift, so that one setting owns both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowLevel {
    /// 65,535 bytes: without the option windows are not scaled in either direction.
    Disabled,
    /// 262,140 bytes.
    HighlyRestricted,
    /// 1,048,560 bytes.
    Restricted,
    /// 16,776,960 bytes.
    Normal,
    /// 1,073,725,440 bytes: the maximum of RFC 7323 §2.3.
    Experimental,
}

impl WindowLevel {
    /// The window shift (RFC 7323 §2.2); `None` for no option.
    pub const fn shift(self) -> Option<u8> {
        match self {
            Self::Disabled => None,
            Self::HighlyRestricted => Some(2),
            Self::Restricted => Some(4),
            Self::Normal => Some(8),
            Self::Experimental => Some(14),
        }
    }
    /// Returns the largest window in bytes: what the header's field can express with the shift.
    pub const fn max(self) -> Bytes {
        match self.shift() {
            Some(shift) => 65_535 << shift,
            None => 65_535,
        }
    }
}

impl Default for SteppedConfig {
    /// 44 Ethernet segments at first; half of the window in a round trip sets it to twice what was delivered.
    fn default() -> Self {
        const HALF: Ratio = Ratio::new(1, 2).expect("a half");
        Self { initial: 64_240, level: WindowLevel::Normal, share: HALF, factor_percent: 200 }
    }
}

impl SteppedConfig {
    /// Returns the window after a round trip that delivered this much, if it is larger.
    pub(super) fn grown(&self, window: Bytes, delivered: Bytes) -> Option<Bytes> {
        let used_well = u128::from(delivered) * u128::from(self.share.den());
        if used_well < u128::from(window) * u128::from(self.share.num()) {
            return None;
        }
        let wanted = u64::from(delivered) * u64::from(self.factor_percent) / 100;
        let wanted = Bytes::try_from(wanted).unwrap_or(Bytes::MAX).min(self.level.max());
        (wanted > window).then_some(wanted)
    }
}

/// Scales `copied` bytes in `elapsed`, at least a round trip, down to one round trip.
pub(super) fn per_round_trip(copied: Bytes, rtt: Duration, elapsed: Duration) -> Bytes {
    let share = u128::from(copied) * u128::from(rtt.as_nanos()) / u128::from(elapsed.as_nanos().max(1));
    share.min(u128::from(copied)) as Bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recv::{ReceiveWindow, ReceiveWindowConfig};
    use test_case::test_case;

    const SLOW_START: Bytes = 14_600;

    fn law(num: u64, den: u64, factor_percent: u32) -> SteppedConfig {
        SteppedConfig { share: Ratio::new(num, den).expect("a share"), factor_percent, ..SteppedConfig::default() }
    }
    fn cautious() -> SteppedConfig {
        law(3, 4, 150)
    }

    #[test_case(WindowLevel::Disabled, None, 65_535)]
    #[test_case(WindowLevel::HighlyRestricted, Some(2), 262_140)]
    #[test_case(WindowLevel::Restricted, Some(4), 1_048_560)]
    #[test_case(WindowLevel::Normal, Some(8), 16_776_960)]
    #[test_case(WindowLevel::Experimental, Some(14), 1_073_725_440)]
    fn the_level_fixes_maximum_and_shift(level: WindowLevel, shift: Option<u8>, max: Bytes) {
        let config = ReceiveWindowConfig::Stepped(SteppedConfig { level, ..SteppedConfig::default() });
        assert_eq!((config.shift(), config.largest()), (shift, max));
        // The smallest shift that can express the maximum is the level's own.
        assert_eq!(ReceiveWindow::shift_for(max), shift.unwrap_or(0));
    }

    #[test_case(64_240, 48_179 => None; "less than the share")]
    #[test_case(64_240, 48_180 => Some(72_270); "the share")]
    #[test_case(64_240, 64_240 => Some(96_360); "all of it")]
    #[test_case(16_776_960, 16_776_960 => None; "no more than the level allows")]
    #[test_case(15_000_000, 15_000_000 => Some(16_776_960); "and up to that")]
    fn a_round_trip_that_used_the_window_well_widens_it(window: Bytes, delivered: Bytes) -> Option<Bytes> {
        cautious().grown(window, delivered)
    }

    /// A sender that doubles each round trip as far as the window permits, on a path that carries `bdp` in one.
    fn windows(law: SteppedConfig, bdp: Bytes) -> Vec<Bytes> {
        let (mut window, mut cwnd) = (law.initial, SLOW_START);
        let mut seen = Vec::new();
        for _ in 0..10 {
            let delivered = cwnd.min(window).min(bdp);
            window = law.grown(window, delivered).unwrap_or(window);
            seen.push(window);
            cwnd = cwnd.saturating_mul(2);
        }
        seen
    }

    /// 100 Mbit/s and 25 ms: 312,500 bytes. Slow start alone would have twice that in flight in the seventh round trip.
    #[test]
    fn per_round_trip_the_cautious_law_lags_behind_a_doubling_sender_and_stops_below_one_and_a_half_paths() {
        let seen = windows(cautious(), 312_500);
        assert_eq!(seen, [64_240, 64_240, 87_600, 131_400, 197_100, 295_650, 443_475, 443_475, 443_475, 443_475]);
    }

    #[test]
    fn per_round_trip_the_doubling_law_keeps_up_and_stops_at_two_paths() {
        let seen = windows(law(1, 2, 200), 312_500);
        assert_eq!(seen, [64_240, 64_240, 116_800, 233_600, 467_200, 625_000, 625_000, 625_000, 625_000, 625_000]);
    }

    #[test_case(100_000, 25, 25 => 100_000)]
    #[test_case(100_000, 25, 50 => 50_000; "two round trips' worth")]
    #[test_case(100_000, 25, 2_500 => 1_000; "a reader that slept")]
    fn bytes_per_round_trip(copied: Bytes, rtt_ms: u64, elapsed_ms: u64) -> Bytes {
        per_round_trip(copied, Duration::from_millis(rtt_ms), Duration::from_millis(elapsed_ms))
    }
}
