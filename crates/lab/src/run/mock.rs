//! A stand-in for tests.

use crate::plan::RunSpec;
use crate::run::backend::{Backend, RunFailure};
use crate::run::measured::Measured;
use crate::spec::Flow;
use base::Duration;

/// A stand-in with known results: the second arm is half as fast as the first, the third a third, and so on; odd
/// iterations have a loss that is repaired, even ones none. A flow of [`MockBackend::FAILING_BYTES`] fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct MockBackend;

impl MockBackend {
    /// A flow of this size fails.
    pub const FAILING_BYTES: u64 = 13;
}

impl Backend for MockBackend {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let Flow::Bytes(bytes) = spec.point.flow else { return Err(RunFailure("only sized flows".to_owned())) };
        if bytes == Self::FAILING_BYTES {
            return Err(RunFailure(format!("Stalled, seed {}: as it was asked for", spec.seed)));
        }
        let slower = spec.arm as u64 + 1;
        let lossy = u64::from(spec.iteration % 2);
        // 8 µs per byte is 1 Mbit/s; each iteration takes a little longer than the one before.
        let elapsed = Duration::from_nanos(bytes * slower * (7_992 + 8 * u64::from(spec.iteration)));
        Ok(Measured {
            bytes_sent: Some(bytes + 100 * lossy),
            bytes_retransmitted: Some(100 * lossy),
            episodes: Some(lossy),
            episodes_without_timeout: Some(lossy),
            fast_retransmits: Some(lossy),
            rtos: Some(0),
            lost_retransmissions: Some(0),
            probes: Some(0),
            undone: Some(0),
            dsacks_sent: Some(lossy),
            dsacks_received: Some(lossy),
            sacks_received: Some(4 * lossy),
            stale_sacks: Some(lossy),
            reo_wnd_mult: Some(1),
            dropped: lossy,
            packets: 100,
            ..Measured::of_transfer(bytes, elapsed)
        })
    }
}
