//! What became of packets at a second bottleneck, as results hold it.

use crate::run::columns::recorded;
use serde::{Deserialize, Serialize};
use sim::Hops;

recorded! {
prefix "second_";
/// The second bottleneck in a run of several flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondResult {
    /// Bytes read in the window by flows that cross it, of those that full packets carry at its rate; millionths.
    pub use_ppm: u64,
    /// Waiting there, microseconds: half of the packets in the window did not wait longer.
    pub wait_p50_us: u64,
    /// 95 of 100 did not wait longer there.
    pub wait_p95_us: u64,
    /// Packets that it dropped in the whole run.
    pub dropped: u64,
}
}

impl SecondResult {
    /// The mean of two runs, rounded down.
    pub(crate) fn mean_with(self, other: Self) -> Self {
        let mean = |of: fn(&Self) -> u64| u64::midpoint(of(&self), of(&other));
        Self {
            use_ppm: mean(|result| result.use_ppm),
            wait_p50_us: mean(|result| result.wait_p50_us),
            wait_p95_us: mean(|result| result.wait_p95_us),
            dropped: mean(|result| result.dropped),
        }
    }
}

/// Returns whether what crosses these bottlenecks crosses this one.
pub(crate) fn crosses(hops: Hops, bottleneck: Hops) -> bool {
    hops == Hops::Both || hops == bottleneck
}
