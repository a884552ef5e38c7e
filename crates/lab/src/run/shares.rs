//! What several flows made of one path: shares, fairness, use and waiting. All in whole parts of a million, so that results are the same
//! everywhere.

use crate::run::applications::ApplicationResult;
use crate::run::columns::recorded;
use crate::run::ideal::carried;
use crate::run::second::{SecondResult, crosses};
use crate::spec::{Figure, Group, Point, Window, Work};
use base::Duration;
use serde::{Deserialize, Serialize};
use sim::{Delays, FlowOutcome, Hops, Outcome};

/// One and all.
const MILLION: u64 = 1_000_000;
/// Payload in a full packet, and its size, as the ideal time counts them.
const FULL: (u64, u64) = (1_460, 1_500);
/// Seconds for which a share has to reach a part of the fair one to count as converged, and that part in tenths.
const CONVERGED: (usize, u64) = (5, 9);

/// Per cent of what full packets carry that fill a path.
const FILLED: u64 = 95;

recorded! {
prefix "";
/// The results of several flows; parts are millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyResult {
    /// Bytes that the arm's flows read in the window, of all that were read.
    pub share_ppm: u64,
    /// The same before the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_share_ppm: Option<u64>,
    /// Jain's index of the flows' bytes in the window; `None` where all flows are short ones that arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jain_ppm: Option<u64>,
    /// The same before the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early_jain_ppm: Option<u64>,
    /// Bytes of the flow with the fewest, of the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ppm: Option<u64>,
    /// Bytes read in the window, of those that full packets carry at the path's rate.
    pub use_ppm: u64,
    /// Second of the run from which the arm's flows have nine tenths of their fair share for five seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converged_s: Option<u64>,
    /// Packets that the path dropped of the arm's flows, in either direction and over the whole run; `None` in real
    /// time, where nothing tells the packets of one flow from another's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_of_arm: Option<u64>,
    /// Waiting at the bottleneck, microseconds: half of the packets in the window did not wait longer. `None` in real time, as
    /// are the next two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_p50_us: Option<u64>,
    /// 95 of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_p95_us: Option<u64>,
    /// 99 of 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_p99_us: Option<u64>,
    /// The second bottleneck; what is above is of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondResult>,
    /// What applications noticed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub applications: ApplicationResult,
}
}

/// Lines of runs without applications stay as they were.
fn is_default(result: &ApplicationResult) -> bool {
    *result == ApplicationResult::default()
}

/// A flow in the path's direction, and the group that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'o> {
    pub(crate) flow: &'o FlowOutcome,
    pub(crate) group: &'o Group,
}

impl Beside<'_> {
    /// Returns whether it crosses the path's own bottleneck.
    fn is_over_first(&self) -> bool {
        crosses(self.group.hops, Hops::First)
    }

    /// Returns whether it lasts: short flows have what they asked for, not a share.
    fn lasts(&self) -> bool {
        !matches!(Work::of(self.group), Ok(Work::Arrivals(..)))
    }
}

/// Computes the results of the flows in the path's direction; and the bytes that the arm's read in the window.
pub(crate) fn shares(point: &Point, seed: u64, flows: &[Beside<'_>], outcome: &Outcome) -> (u64, CompanyResult) {
    let window = point.company.window;
    let [from, until] = [window.from, window.until].map(|time| (time.as_nanos() / 1_000_000_000) as usize);
    let read = |flows: &[Beside<'_>], seconds: core::ops::Range<usize>| -> Vec<u64> {
        flows.iter().map(|one| one.flow.bins.iter().take(seconds.end).skip(seconds.start).sum()).collect()
    };
    let of_arm = |bytes: &[u64]| -> u64 {
        bytes.iter().zip(flows).filter(|(_, one)| one.group.is_arm()).map(|(bytes, _)| bytes).sum()
    };
    let share = |bytes: &[u64]| parts(of_arm(bytes), bytes.iter().sum());
    let (early, late) = (read(flows, 0..from), read(flows, from..until));
    let lasting: Vec<Beside<'_>> = flows.iter().filter(|one| one.lasts()).copied().collect();
    let (lasting_early, lasting_late) = (read(&lasting, 0..from), read(&lasting, from..until));
    let all: u64 = late.iter().sum();
    let over_first: u64 = late.iter().zip(flows).filter(|(_, one)| one.is_over_first()).map(|(bytes, _)| bytes).sum();
    let datagrams = in_datagrams(outcome, until);
    let wait = |percent| Some(outcome.delays.quantile_us(percent).unwrap_or(0));
    let of_company = |value: Option<u64>| value.filter(|_| point.company.has_applications());
    let others = all - of_arm(&late);
    let applications = ApplicationResult {
        wait_max_us: of_company(outcome.delays.quantile_us(100)),
        filled_s: of_company(filled(point, seed, flows, &datagrams)),
        others_bytes: (point.company.harm == Figure::Measured || point.company.mix.is_some()).then_some(others),
        arm_wait_us: waited(flows, Group::is_arm),
        others_wait_us: waited(flows, |group| !group.is_arm()),
        ..ApplicationResult::default()
    };
    let has_lasting = !lasting.is_empty();
    let result = CompanyResult {
        share_ppm: share(&late).unwrap_or(0),
        early_share_ppm: share(&early),
        jain_ppm: has_lasting.then(|| jain(&lasting_late).unwrap_or(0)),
        early_jain_ppm: jain(&lasting_early),
        worst_ppm: has_lasting.then(|| worst(&lasting_late)),
        use_ppm: parts(
            over_first + datagrams.iter().skip(from).sum::<u64>(),
            payload(carried(point, seed, window.from, window.until)),
        )
        .unwrap_or(0),
        converged_s: converged(&lasting, until),
        dropped_of_arm: Some(flows.iter().filter(|one| one.group.is_arm()).map(|one| one.flow.dropped).sum()),
        wait_p50_us: wait(50),
        wait_p95_us: wait(95),
        wait_p99_us: wait(99),
        second: second(point, seed, flows, outcome),
        applications,
    };
    (of_arm(&late), result)
}

/// Returns the bytes that flows over a bottleneck read in the window.
pub(crate) fn read_over(bottleneck: Hops, flows: &[Beside<'_>], window: Window) -> u64 {
    let over = flows.iter().filter(|one| crosses(one.group.hops, bottleneck));
    over.map(|one| window.sum(&one.flow.bins)).sum()
}

/// Computes the results; `None` where there is one bottleneck.
fn second(point: &Point, seed: u64, flows: &[Beside<'_>], outcome: &Outcome) -> Option<SecondResult> {
    let [there, _] = outcome.second.as_ref()?;
    let window = point.company.window;
    let datagrams = outcome.datagrams.iter().filter(|one| crosses(one.hops, Hops::Second));
    let in_datagrams: u64 = datagrams.map(|one| window.sum(&one.bins)).sum();
    let read = read_over(Hops::Second, flows, window) + in_datagrams;
    let carried = carried(&point.over(Hops::Second), seed, window.from, window.until);
    let wait = |percent| there.delays.quantile_us(percent).unwrap_or(0);
    Some(SecondResult {
        use_ppm: parts(read, payload(carried)).unwrap_or(0),
        wait_p50_us: wait(50),
        wait_p95_us: wait(95),
        dropped: there.path.dropped.total(),
    })
}

/// How long packets of some flows waited, if that is known of each flow: 95 of 100 no longer.
fn waited(flows: &[Beside<'_>], is_meant: impl Fn(&Group) -> bool) -> Option<u64> {
    let mut waits = Delays::default();
    flows.iter().filter(|one| is_meant(one.group)).for_each(|one| waits.merge(&one.flow.waits));
    waits.quantile_us(95)
}

/// Bytes of the flow with the fewest, of the mean.
fn worst(bytes: &[u64]) -> u64 {
    parts(bytes.iter().min().map_or(0, |least| least * bytes.len() as u64), bytes.iter().sum()).unwrap_or(0)
}

/// Payload that datagrams brought by second; those of the other direction bring none.
fn in_datagrams(outcome: &Outcome, until: usize) -> Vec<u64> {
    let over_first = || outcome.datagrams.iter().filter(|flow| crosses(flow.hops, Hops::First));
    let at = |second: usize| over_first().filter_map(|flow| flow.bins.get(second)).sum();
    (0..until).map(at).collect()
}

/// Returns the first second of the run in which nearly as much is read as full packets carry.
fn filled(point: &Point, seed: u64, flows: &[Beside<'_>], datagrams: &[u64]) -> Option<u64> {
    let enough = |second: usize| {
        let from = Duration::from_secs(second as u64);
        payload(carried(point, seed, from, from + Duration::from_secs(1))) / 100 * FILLED
    };
    let over_first = || flows.iter().filter(|one| one.is_over_first());
    let read = |second: usize| -> u64 { over_first().filter_map(|one| one.flow.bins.get(second)).sum() };
    let first = datagrams.iter().enumerate().find(|(second, bytes)| read(*second) + **bytes >= enough(*second));
    first.map(|(second, _)| second as u64)
}

impl CompanyResult {
    /// The mean of two runs, rounded down. What one of them lacks, the mean lacks.
    pub(crate) fn mean_with(&self, other: &Self) -> Self {
        let mean = |of: fn(&Self) -> u64| u64::midpoint(of(self), of(other));
        let both = |of: fn(&Self) -> Option<u64>| Some(u64::midpoint(of(self)?, of(other)?));
        Self {
            share_ppm: mean(|result| result.share_ppm),
            early_share_ppm: both(|result| result.early_share_ppm),
            jain_ppm: both(|result| result.jain_ppm),
            early_jain_ppm: both(|result| result.early_jain_ppm),
            worst_ppm: both(|result| result.worst_ppm),
            use_ppm: mean(|result| result.use_ppm),
            converged_s: both(|result| result.converged_s),
            dropped_of_arm: both(|result| result.dropped_of_arm),
            wait_p50_us: both(|result| result.wait_p50_us),
            wait_p95_us: both(|result| result.wait_p95_us),
            wait_p99_us: both(|result| result.wait_p99_us),
            second: self.second.zip(other.second).map(|(one, other)| one.mean_with(other)),
            applications: self.applications.mean_with(&other.applications),
        }
    }
}

/// Returns `part` of `all` in millionths; `None` of nothing.
fn parts(part: u64, all: u64) -> Option<u64> {
    let millionths = (u128::from(part) * u128::from(MILLION)).checked_div(u128::from(all))?;
    Some(u64::try_from(millionths).unwrap_or(u64::MAX))
}

/// Jain's index: the square of the sum over n times the sum of squares; 1 where all are equal, 1/n where one has everything.
fn jain(bytes: &[u64]) -> Option<u64> {
    let sum: u128 = bytes.iter().map(|bytes| u128::from(*bytes)).sum();
    let squares: u128 = bytes.iter().map(|bytes| u128::from(*bytes) * u128::from(*bytes)).sum();
    // Fits for what a terabit a second carries in a day.
    let index = sum.checked_mul(sum)?.checked_mul(u128::from(MILLION))?.checked_div(squares * bytes.len() as u128)?;
    u64::try_from(index).ok()
}

/// Bytes of payload in so many bytes of full packets.
fn payload(bytes: u64) -> u64 {
    let bytes = u128::from(bytes) * u128::from(FULL.0) / u128::from(FULL.1);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns the first second from which the arm's flows have nearly their fair share for a while, counted from the start of the run.
fn converged(flows: &[Beside<'_>], seconds: usize) -> Option<u64> {
    let of_arm = flows.iter().filter(|one| one.group.is_arm()).count() as u64;
    let is_fair = |second: usize| {
        let read = |one: &Beside<'_>| one.flow.bins.get(second).copied().unwrap_or(0);
        let all: u64 = flows.iter().map(read).sum();
        let arm: u64 = flows.iter().filter(|one| one.group.is_arm()).map(read).sum();
        // arm / all ≥ 0.9 · of_arm / flows
        of_arm > 0 && all > 0 && arm * 10 * flows.len() as u64 >= all * CONVERGED.1 * of_arm
    };
    let mut run = 0;
    for second in 0..seconds {
        run = if is_fair(second) { run + 1 } else { 0 };
        if run == CONVERGED.0 {
            return Some((second + 1 - run) as u64);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Key;
    use base::Instant;

    fn flow(bins: &[u64]) -> FlowOutcome {
        FlowOutcome {
            started: Instant::ZERO,
            last_read: None,
            bytes_written: 0,
            bytes_read: bins.iter().sum(),
            bins: bins.to_vec(),
            pieces: Vec::new(),
            dropped: 3,
            queue: Vec::new(),
            waits: Delays::default(),
            sender: sim::EndOutcome::default(),
            receiver: sim::EndOutcome::default(),
        }
    }

    fn point(window: &str) -> Point {
        let mut point = Point::default();
        for (key, value) in [("path.rate", "8Mbit"), ("flow.company", "arm + linux"), ("flow.window", window)] {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        point
    }

    fn outcome(flows: Vec<FlowOutcome>) -> Outcome {
        let (forward, reverse) = Default::default();
        Outcome {
            flows,
            datagrams: Vec::new(),
            forward,
            reverse,
            delays: Delays::default(),
            second: None,
            steps: 0,
            virtual_time: Duration::ZERO,
        }
    }

    fn result(window: &str, arm: &[u64], other: &[u64]) -> CompanyResult {
        let (point, outcome) = (point(window), outcome(vec![flow(arm), flow(other)]));
        let flows = outcome.flows.iter().zip(&point.company.groups).map(|(flow, group)| Beside { flow, group });
        shares(&point, 1, &flows.collect::<Vec<_>>(), &outcome).1
    }

    #[test]
    fn the_index_of_nine_and_one_is_that_of_the_paper() {
        // Jain, Chiu and Hawe, DEC-TR-301 (1984): (9 + 1)² / (2 · (81 + 1)) = 0.610.
        assert_eq!(jain(&[9, 1]), Some(609_756));
    }

    #[test]
    fn shares_are_of_the_window_and_of_the_time_before() {
        let found = result("2s..4s", &[100, 0, 300, 300], &[0, 100, 100, 100]);
        assert_eq!((found.share_ppm, found.early_share_ppm), (750_000, Some(500_000)));
        // (600 + 200)² / (2 · (600² + 200²)) = 0.8
        assert_eq!((found.jain_ppm, found.early_jain_ppm), (Some(800_000), Some(1_000_000)));
        assert_eq!((found.worst_ppm, found.dropped_of_arm), (Some(500_000), Some(3)));
        // 2 s at 8 Mbit/s are 2 MB, of which 1460/1500 are payload.
        assert_eq!(found.use_ppm, 800 * MILLION / 1_946_666);
    }

    #[test]
    fn a_window_from_the_beginning_has_no_time_before() {
        let found = result("0s..1s", &[1], &[0]);
        assert_eq!((found.share_ppm, found.early_share_ppm, found.early_jain_ppm), (MILLION, None, None));
        assert_eq!(found.jain_ppm, Some(500_000), "one of two has everything");
    }

    #[test]
    fn a_share_has_converged_when_it_stays_near_the_fair_one_for_five_seconds() {
        let mut arm = vec![0, 90, 90, 90, 90, 80];
        arm.extend([82; 5]);
        assert_eq!(result("0s..11s", &arm, &[100; 11]).converged_s, Some(6), "82 of 182 is 0.901 of half");
        assert_eq!(result("0s..10s", &arm, &[100; 11]).converged_s, None);
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let huge = 1 << 50;
        assert_eq!(result("0s..1s", &[huge], &[huge]).jain_ppm, Some(MILLION));
        assert_eq!(result("0s..1s", &[huge], &[huge]).share_ppm, 500_000);
    }

    #[test]
    fn the_mean_of_two_orders_lacks_what_one_lacks() {
        let one = CompanyResult { share_ppm: 400_000, converged_s: Some(9), ..CompanyResult::default() };
        let other = CompanyResult { share_ppm: 500_001, converged_s: None, ..CompanyResult::default() };
        let mean = one.mean_with(&other);
        assert_eq!((mean.share_ppm, mean.converged_s), (450_000, None));
    }
}
