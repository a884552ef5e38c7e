//! The results of a run, as numbers that can be added.

use crate::run::Measured;
use crate::spec::Point;

/// A number of a run; `None` where the ends cannot report it.
pub type Quantity = fn(&Measured, &Point) -> Option<f64>;

/// Payload bits over the time from the first SYN to the last byte read, Mbit/s.
pub fn goodput(run: &Measured, _: &Point) -> Option<f64> {
    Some(run.goodput_mbps())
}

/// From the first SYN to the last byte read, seconds.
pub fn seconds(run: &Measured, _: &Point) -> Option<f64> {
    Some(run.elapsed_ns as f64 / 1e9)
}

/// Payload retransmitted, bytes.
pub fn retransmitted(run: &Measured, _: &Point) -> Option<f64> {
    run.bytes_retransmitted.map(|bytes| bytes as f64)
}

/// All payload sent, bytes.
pub fn sent(run: &Measured, _: &Point) -> Option<f64> {
    run.bytes_sent.map(|bytes| bytes as f64)
}

/// Retransmission timeouts.
pub fn rtos(run: &Measured, _: &Point) -> Option<f64> {
    run.rtos.map(|count| count as f64)
}

/// Recovery episodes.
pub fn episodes(run: &Measured, _: &Point) -> Option<f64> {
    run.episodes.map(|count| count as f64)
}

/// Those that ended without a timeout.
pub fn episodes_without_timeout(run: &Measured, _: &Point) -> Option<f64> {
    run.episodes_without_timeout.map(|count| count as f64)
}

/// Recoveries begun without a timeout, per 10 MB of payload.
pub fn recoveries_per_10mb(run: &Measured, _: &Point) -> Option<f64> {
    run.fast_retransmits.map(|count| count as f64 * 1e7 / run.bytes as f64)
}

/// Duplicates that the sender recognised.
pub fn duplicates_recognised(run: &Measured, _: &Point) -> Option<f64> {
    run.dsacks_received.map(|count| count as f64)
}

/// Additional time caused by the losses by position, milliseconds.
pub fn repair_ms(run: &Measured, _: &Point) -> Option<f64> {
    run.undropped_ns.map(|undropped| (run.elapsed_ns as f64 - undropped as f64) / 1e6)
}

/// The same in round-trip times.
pub fn repair_rtts(run: &Measured, point: &Point) -> Option<f64> {
    run.repair_rtts(point)
}

/// Time after SACKs that report nothing new, seconds.
pub fn stale_seconds(run: &Measured, _: &Point) -> Option<f64> {
    run.stale_sack_ns.map(|span| span as f64 / 1e9)
}
