//! Paced Chirping's numbers.

use base::Duration;

/// Paced Chirping's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChirpingConfig {
    /// RFC 3465's `L`, in segments, should slow start continue without chirps; `None` for no limit.
    pub limit_segments: Option<u32>,
    /// The first estimate of the mean gap between two segments.
    pub first_gap: Duration,
    /// No estimate is shorter, ...
    pub gap_min: Duration,
    /// ... and none is longer.
    pub gap_max: Duration,
    /// The first gap of a chirp, in percent of the estimate; from 101 to 300.
    pub geometry_percent: u32,
    /// The chirps of a round, in percent of the ones before; from 101 to 400.
    pub gain_percent: u32,
}

impl Default for ChirpingConfig {
    /// The prototype's numbers.
    fn default() -> Self {
        Self {
            limit_segments: None,
            first_gap: Duration::from_micros(200),
            gap_min: Duration::from_micros(30),
            gap_max: Duration::from_millis(10),
            geometry_percent: 200,
            gain_percent: 200,
        }
    }
}

impl ChirpingConfig {
    /// The first two chirps are the first flight.
    pub(crate) const FIRST_FLIGHT_SEGMENTS: u32 = 10;

    pub(crate) fn check(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        let what = "must be between 1us and 1s";
        let spans = Duration::from_micros(1)..=Duration::from_secs(1);
        need(spans.contains(&self.gap_min), "cc.slow_start.gap_min", what);
        need(spans.contains(&self.gap_max), "cc.slow_start.gap_max", what);
        let what = "must lie between `cc.slow_start.gap_min` and `cc.slow_start.gap_max`";
        need((self.gap_min..=self.gap_max).contains(&self.first_gap), "cc.slow_start.first_gap", what);
        let what = "must be between 101 and 300";
        need((101..=300).contains(&self.geometry_percent), "cc.slow_start.geometry_percent", what);
        let what = "must be between 101 and 400";
        need((101..=400).contains(&self.gain_percent), "cc.slow_start.gain_percent", what);
    }
}
