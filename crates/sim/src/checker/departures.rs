//! Departures checker: a sender's departures fit a token bucket ([`BurstLimit`]).
//!
//! It counts independently: the data that left since the last step, against what window and smoothed round trip earned in
//! the meantime. It samples both before and after, and the faster counts, since an acknowledgement changes them at the
//! instant at which it releases data. Before a round trip is known there is no rate, so nothing is checked. A smoothed round
//! trip of more than four minimum ones counts as four: the additional delay of a queue or of late ACKs does not slow a
//! sender down.

use crate::outcome::Cause;
use crate::scenario::BurstLimit;
use crate::topology::Topology;
use base::Instant;
use tcp::TcpInfo;

/// Tokens per byte: the tokens earned between two steps are rounded up to one of these.
const FINE: u128 = 1 << 20;
/// In units of the minimum round trip.
const LONGEST_RTT: u32 = 4;

#[derive(Debug)]
pub(super) struct Departures {
    limit: Option<BurstLimit>,
    flows: Vec<Bucket>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Bytes that may leave, in units of [`FINE`]; a full bucket before anything has left.
    tokens: Option<u128>,
    at: Instant,
    sent: u64,
    /// Bytes per round trip, in hundredths, and the round trip in nanoseconds.
    rate: Option<(u128, u128)>,
}

impl Departures {
    pub(super) fn new(topology: &Topology, limit: Option<BurstLimit>) -> Self {
        Self { limit, flows: vec![Bucket::default(); topology.flows.len()] }
    }

    #[inline]
    pub(super) fn after_step(&mut self, topology: &Topology, node: usize, now: Instant) -> Result<(), Cause> {
        match self.limit {
            None => Ok(()),
            Some(limit) => self.check(topology, node, now, limit),
        }
    }

    fn check(&mut self, topology: &Topology, node: usize, now: Instant, limit: BurstLimit) -> Result<(), Cause> {
        for (flow, bucket) in self.flows.iter_mut().enumerate() {
            let (host, app) = topology.flows[flow].sender;
            let host = &topology.nodes[host];
            let conn = host.apps[app].end().conn().filter(|_| topology.flows[flow].sender.0 == node);
            let Some(info) = conn.and_then(|conn| host.stack.info(conn)) else { continue };
            bucket.take(&info, now, limit).map_err(|problem| Cause::Burst { flow, problem })?;
        }
        Ok(())
    }
}

impl Bucket {
    fn take(&mut self, info: &TcpInfo, now: Instant, limit: BurstLimit) -> Result<(), String> {
        let slow_start = info.cwnd < info.ssthresh;
        let percent = if slow_start { limit.slow_start_percent } else { limit.avoidance_percent };
        let sent = info.counters.bytes_sent;
        let Some(srtt) = info.srtt else {
            *self = Self { sent, ..Self::default() };
            return Ok(());
        };
        let srtt = info.min_rtt.map_or(srtt, |least| srtt.min(least * LONGEST_RTT));
        let rate = (u128::from(info.cwnd) * u128::from(percent), u128::from(srtt.as_nanos()));
        let elapsed = u128::from(now.since(self.at).as_nanos());
        let earned = [self.rate.unwrap_or(rate), rate].into_iter().map(|(bytes, srtt)| {
            (bytes * elapsed).saturating_mul(FINE).checked_div(100 * srtt).map_or(u128::MAX, |tokens| tokens + 1)
        });
        let depth = u128::from(limit.segments) * u128::from(info.smss) * FINE;
        let tokens = self.tokens.map_or(depth, |tokens| tokens.saturating_add(earned.max().unwrap_or(0)).min(depth));
        let left = sent - self.sent;
        let Some(rest) = tokens.checked_sub(u128::from(left) * FINE) else {
            let tokens = tokens / FINE;
            let cwnd = info.cwnd;
            let phase = if slow_start { "slow start" } else { "avoidance" };
            return Err(format!(
                "{left} bytes left at once where {tokens} may, with a window of {cwnd} bytes in {phase} and a round trip of {srtt}"
            ));
        };
        *self = Self { tokens: Some(rest), at: now, sent, rate: Some(rate) };
        Ok(())
    }
}
