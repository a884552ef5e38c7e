//! Runs of several flows in real time: which flows such a backend makes, and the results of what they read.

use crate::plan::RunSpec;
use crate::run::applications::Transfers;
use crate::run::backend::RunFailure;
use crate::run::company::sum_of_arm;
use crate::run::flows::{Order, start, work_of};
use crate::run::lone::with_own_time;
use crate::run::measured::Measured;
use crate::run::shares::{Beside, CompanyResult, shares};
use crate::spec::{Ends, Figure, Group, GroupProfile, KernelCc, Work};
use base::{Duration, Instant, Rng};
use sim::{Delays, Direction, EndOutcome, FlowOutcome, Outcome, Piece};
use tcp::{CloseReason, TcpInfo, ValidConfig};

/// Most flows of a run in real time: each of the kernel's has two threads.
const MOST_FLOWS: u64 = 100;

/// Whose TCP a flow has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainTcp {
    /// The kernel's.
    Kernel(KernelCc),
    /// Ours, at both ends.
    Profile(ValidConfig),
}

/// A flow that sends as much as it can, or so many bytes, from the first namespace to the second. Times count from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainFlow {
    /// Index of its group.
    pub group: usize,
    /// Whose it is.
    pub tcp: PlainTcp,
    /// When its first SYN is due.
    pub start: Duration,
    /// When its application stops and closes; `None` for the end of the window.
    pub stop: Option<Duration>,
    /// How much it sends; `None` for as much as it can.
    pub bytes: Option<u64>,
}

/// What came of a flow. Times count from the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlainOutcome {
    /// When its first SYN left.
    pub started: Duration,
    /// When the receiving application read its last byte so far; `None` if it read none.
    pub last_read: Option<Duration>,
    /// Payload bytes that the sending application handed over.
    pub written: u64,
    /// Payload bytes that the receiving application read.
    pub read: u64,
    /// The same by second of the run.
    pub bins: Vec<u64>,
    /// Whether both ends closed before the end of the window.
    pub is_closed: bool,
    /// The final statistics of sender and receiver, if both are ours and got through.
    pub ends: Option<[TcpInfo; 2]>,
}

/// Returns the flows of a run, group by group, with the starts that the simulator would draw from the same seed.
///
/// # Errors
/// Names what real time cannot do, and the remedy.
pub fn plain_flows(spec: &RunSpec, order: Order) -> Result<Vec<PlainFlow>, RunFailure> {
    let company = &spec.point.company;
    if company.harm == Figure::Measured {
        return Err(refused("harm is measured in the simulator only", "take out `flow.harm`"));
    }
    let count: u64 = company.groups.iter().map(|group| u64::from(group.count)).sum();
    if count > MOST_FLOWS {
        let problem = format!("{count} flows are too many for a run in real time");
        return Err(refused(&problem, &format!("use {MOST_FLOWS} at most")));
    }
    let mut rng = Rng::new(spec.seed).fork("flows/starts");
    let mut flows = Vec::new();
    for (number, group) in company.groups.iter().enumerate() {
        let (bytes, tcp) = (bytes_of(group)?, tcp_of(group, &spec.ends)?);
        let one = |start| PlainFlow { group: number, tcp: tcp.clone(), start, stop: group.stop, bytes };
        flows.extend((0..group.count).map(|_| one(start(group, &mut rng))));
    }
    if order == Order::Reversed {
        // As in the simulator: of flows that start at one time, the other is the first, too.
        let starts: Vec<Duration> = flows.iter().map(|flow| flow.start).collect();
        flows.reverse();
        flows.iter_mut().zip(starts).for_each(|(flow, start)| flow.start = start);
    }
    Ok(flows)
}

fn refused(problem: &str, remedy: &str) -> RunFailure {
    RunFailure(format!("flow.company: {problem}; {remedy}"))
}

/// Whose TCP the flows of a group have.
fn tcp_of(group: &Group, ends: &Ends) -> Result<PlainTcp, RunFailure> {
    match (&group.profile, ends) {
        (GroupProfile::Kernel(cc), _) => Ok(PlainTcp::Kernel(*cc)),
        (GroupProfile::Named(name), _) => {
            let profile = profiles::get(name).map_err(|unknown| RunFailure(unknown.to_string()))?;
            Ok(PlainTcp::Profile(profile.config().clone()))
        }
        (_, Ends::Kernel(cc)) => Ok(PlainTcp::Kernel(*cc)),
        (_, Ends::Profile(arm)) => Ok(PlainTcp::Profile(arm.clone())),
        (_, Ends::Command(_)) => {
            Err(refused("a pair of commands is one flow", "use arms that are profiles or `kernel:cubic`"))
        }
    }
}

/// What each flow of a group sends, if real time can do what the group asks for.
fn bytes_of(group: &Group) -> Result<Option<u64>, RunFailure> {
    let only = |what: &str, remedy: &str| {
        Err(refused(
            &format!("`{group}`: {what} in the simulator only"),
            &format!("{remedy}, or leave out `--backend netns`"),
        ))
    };
    match group.profile {
        GroupProfile::Datagrams | GroupProfile::Ping => return only("datagrams exist", "take them out"),
        GroupProfile::Arm | GroupProfile::Named(_) | GroupProfile::Kernel(_) => {}
    }
    if !group.own_rtt.is_zero() {
        return only("flows have a round trip of their own", "take out `rtt`");
    }
    if group.direction == Direction::Back {
        return only("flows go back", "take out `direction`");
    }
    if group.pace.is_some() {
        return only("applications have a pace", "take out `pace`");
    }
    match work_of(group)? {
        Work::Bulk => Ok(None),
        Work::Bytes(bytes) => Ok(Some(bytes)),
        _ => only("such applications exist", "use flows that send as much as they can, or have `bytes`"),
    }
}

/// Computes the results of a run from what came of its flows. Where packets waited, and whose were dropped, stays unknown; the counters
/// of the arm's flows are summed if they are ours.
///
/// # Errors
/// When no flow of the arm got through.
pub fn plain_results(spec: &RunSpec, flows: &[PlainFlow], came: Vec<PlainOutcome>) -> Result<Measured, RunFailure> {
    let (point, window) = (&spec.point, spec.point.company.window);
    let outcome = Outcome {
        flows: came.into_iter().zip(flows).map(|(came, flow)| outcome(came, flow)).collect(),
        datagrams: Vec::new(),
        forward: Default::default(),
        reverse: Default::default(),
        delays: Delays::default(),
        second: None,
        steps: 0,
        virtual_time: window.until,
    };
    let groups = &point.company.groups;
    let beside = outcome.flows.iter().zip(flows).map(|(flow, made)| Beside { flow, group: &groups[made.group] });
    let beside: Vec<Beside<'_>> = beside.collect();
    if !beside.iter().any(|one| one.group.is_arm() && one.flow.bytes_read > 0) {
        return Err(RunFailure("no flow of the arm got through".to_owned()));
    }
    let (bytes, mut company) = shares(point, spec.seed, &beside, &outcome);
    let (mut of_arm, mut of_others) = (Transfers::default(), Transfers::default());
    for one in &beside {
        let transfers = if one.group.is_arm() { &mut of_arm } else { &mut of_others };
        transfers.add(point, spec.seed, one.group, one.flow);
    }
    let transfers = if of_arm.is_empty() { of_others } else { of_arm };
    transfers.note(&mut company.applications);
    let unknown = (None, None, None, None);
    let CompanyResult { wait_p50_us, wait_p95_us, wait_p99_us, dropped_of_arm, .. } = &mut company;
    (*wait_p50_us, *wait_p95_us, *wait_p99_us, *dropped_of_arm) = unknown;
    let elapsed = window.until.saturating_sub(window.from);
    let known = sum_of_arm(&beside, elapsed).unwrap_or_default();
    let found = Measured { company: Some(company), bytes, elapsed_ns: elapsed.as_nanos(), ..known };
    Ok(with_own_time(found, (point, &[]), spec.seed, &beside))
}

/// The flow as the simulator would report it.
fn outcome(came: PlainOutcome, flow: &PlainFlow) -> FlowOutcome {
    let at = |time: Duration| Instant::ZERO + time;
    let (started, last_read) = (at(came.started), came.last_read.map(at));
    let done = |bytes| last_read.filter(|_| came.read == bytes);
    let end = |info| EndOutcome { closed: came.is_closed.then_some(CloseReason::Normal), info, conn: None };
    FlowOutcome {
        started,
        last_read,
        bytes_written: came.written,
        bytes_read: came.read,
        pieces: flow.bytes.map(|bytes| Piece { asked: started, bytes, done: done(bytes) }).into_iter().collect(),
        bins: came.bins,
        dropped: 0,
        queue: Vec::new(),
        waits: Delays::default(),
        sender: end(came.ends.map(|[sender, _]| sender)),
        receiver: end(came.ends.map(|[_, receiver]| receiver)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run::flows::flows as simulated_flows;
    use crate::spec::company::GROUP_KEYS;
    use crate::spec::{self, Overrides};
    use test_case::test_case;

    fn run(arm: &str, set: &[&str]) -> RunSpec {
        let mut experiment = spec::builtin("wan").unwrap();
        let fixed = ["path.rate=8Mbit", "path.rtt=20ms", "flow.window=2s..4s"];
        let set = fixed.iter().chain(set).map(|text| (*text).to_owned()).collect();
        let overrides = Overrides { arms: vec![arm.to_owned()], set, iterations: Some(1), ..Overrides::default() };
        experiment.apply(&overrides).unwrap();
        Plan::new(experiment).unwrap().runs.remove(0)
    }

    #[test]
    fn flows_start_when_those_of_the_simulator_do() {
        let set = ["flow.company=arm x2 start=0s..1s + arm start=1s..2s bytes=1MB stop=3s"];
        let (kernel, ours) = (run("kernel:cubic", &set), run("linux", &set));
        for order in [Order::Given, Order::Reversed] {
            let plain = plain_flows(&kernel, order).unwrap();
            let simulated = simulated_flows(&ours, order).unwrap().scenario.flows;
            let starts: Vec<Duration> = plain.iter().map(|flow| flow.start).collect();
            assert_eq!(starts, simulated.iter().map(|flow| flow.start).collect::<Vec<_>>());
            let mut groups: Vec<usize> = plain.iter().map(|flow| flow.group).collect();
            if order == Order::Reversed {
                groups.reverse();
            }
            assert_eq!(groups, [0, 0, 1]);
            let (sized, bulk): (Vec<_>, Vec<_>) = plain.iter().partition(|flow| flow.bytes.is_some());
            assert_eq!(
                (sized[0].group, sized[0].bytes, sized[0].stop),
                (1, Some(1_000_000), Some(Duration::from_secs(3)))
            );
            assert!(bulk.iter().all(|flow| flow.group == 0 && flow.stop.is_none()));
        }
    }

    #[test_case("kernel:cubic", "arm + ping every=1s", "datagrams exist"; "pings")]
    #[test_case("kernel:cubic", "arm + datagrams pace=1Mbit", "datagrams exist"; "datagrams")]
    #[test_case("kernel:cubic", "arm + kernel:reno rtt=20ms", "take out `rtt`"; "a round trip of its own")]
    #[test_case("kernel:cubic", "arm + arm direction=back", "take out `direction`"; "the way back")]
    #[test_case("kernel:cubic", "arm pace=1Mbit", "take out `pace`"; "a pace")]
    #[test_case("kernel:cubic", "arm arrivals=1/s sizes=1kB", "such applications exist"; "arrivals")]
    #[test_case("kernel:cubic", "arm bytes=1kB every=1s", "such applications exist"; "repetitions")]
    #[test_case("kernel:cubic", "arm x101", "use 100 at most"; "too many")]
    fn what_real_time_cannot_do_is_refused(arm: &str, company: &str, message: &str) {
        let RunFailure(refusal) =
            plain_flows(&run(arm, &[&format!("flow.company={company}")]), Order::Given).unwrap_err();
        assert!(refusal.starts_with("flow.company: ") && refusal.contains(message), "{refusal}");
    }

    #[test_case("linux", "arm + longhaul + kernel:reno", &["linux", "longhaul", "kernel"])]
    #[test_case("kernel:cubic", "arm + linux", &["kernel", "linux"])]
    fn a_flow_is_the_kernel_s_or_a_profile_s(arm: &str, company: &str, expected: &[&str]) {
        let flows = plain_flows(&run(arm, &[&format!("flow.company={company}")]), Order::Given).unwrap();
        let is = |name: &str, tcp: &PlainTcp| match tcp {
            PlainTcp::Kernel(_) => name == "kernel",
            PlainTcp::Profile(config) => profiles::get(name).is_ok_and(|profile| profile.config() == config),
        };
        assert_eq!(flows.len(), expected.len());
        assert!(flows.iter().zip(expected).all(|(flow, name)| is(name, &flow.tcp)), "{company}");
    }

    #[test]
    fn counters_of_the_arm_s_flows_are_summed_if_they_are_ours() {
        let run = run("linux", &["flow.company=arm x2 + longhaul"]);
        let flows = plain_flows(&run, Order::Given).unwrap();
        let simulated = sim::run(&simulated_flows(&run, Order::Given).unwrap().scenario, &mut trace::Off).unwrap();
        let any = simulated.flows[0].sender.info.unwrap();
        let came = |bytes: u64| {
            let mut info = any;
            (info.counters.bytes_sent, info.counters.bytes_retransmitted) = (bytes, 7);
            PlainOutcome { read: bytes, bins: vec![0, 0, bytes, 0], ends: Some([info; 2]), ..PlainOutcome::default() }
        };
        let found = plain_results(&run, &flows, vec![came(300), came(100), came(400)]).unwrap();
        assert_eq!((found.bytes, found.bytes_sent, found.bytes_retransmitted), (400, Some(400), Some(14)));
        assert_eq!(found.company.unwrap().share_ppm, 500_000);
    }

    #[test]
    fn each_key_of_a_group_is_honoured_or_refused_by_its_name() {
        // `profile` and `count` are what a group begins with.
        let groups: [(&str, &str); 15] = [
            ("profile", "linux"),
            ("count", "arm x2"),
            ("start", "arm start=1s"),
            ("stop", "arm stop=3s"),
            ("rtt", "arm rtt=20ms"),
            ("direction", "arm + arm direction=back"),
            ("bytes", "arm bytes=1MB"),
            ("pace", "arm pace=1Mbit"),
            ("arrivals", "arm arrivals=1/s sizes=1kB"),
            ("sizes", "arm app=request sizes=1kB"),
            ("app", "arm app=onoff on=1s off=1s"),
            ("think", "arm app=request sizes=1kB think=1s"),
            ("on", "arm app=onoff on=1s off=1s"),
            ("off", "arm app=onoff on=1s off=1s"),
            ("every", "arm bytes=1kB every=1s"),
        ];
        let known: Vec<&str> = groups.iter().map(|(key, _)| *key).chain(["size", "hops"]).collect();
        let (mut known, mut all) = (known, GROUP_KEYS.to_vec());
        known.sort_unstable();
        all.sort_unstable();
        assert_eq!(known, all, "`size` belongs to datagrams and `hops` to two bottlenecks, which are refused");
        let plain = |company: &str| plain_flows(&run("linux", &[&format!("flow.company={company}")]), Order::Given);
        let without = plain("arm").unwrap();
        for (key, company) in groups {
            match plain(&if key == "profile" { format!("arm + {company}") } else { company.to_owned() }) {
                Ok(flows) => assert_ne!(flows, without, "`{key}` changes nothing"),
                Err(refusal) => assert!(refusal.0.contains("in the simulator only; "), "{key}: {}", refusal.0),
            }
        }
    }

    #[test]
    fn harm_is_refused() {
        let run = run("kernel:cubic", &["flow.company=arm + kernel:cubic", "flow.harm=measured"]);
        assert!(plain_flows(&run, Order::Given).unwrap_err().0.contains("take out `flow.harm`"));
    }

    #[test]
    fn shares_are_those_of_the_bytes_read_and_the_rest_is_unknown() {
        let run = run("kernel:cubic", &["flow.company=arm + kernel:cubic"]);
        let flows = plain_flows(&run, Order::Given).unwrap();
        let came =
            |bins: &[u64]| PlainOutcome { read: bins.iter().sum(), bins: bins.to_vec(), ..PlainOutcome::default() };
        let found = plain_results(&run, &flows, vec![came(&[0, 900, 300, 300]), came(&[0, 300, 100, 100])]).unwrap();
        let company = found.company.unwrap();
        assert_eq!((found.bytes, company.share_ppm, company.early_share_ppm), (600, 750_000, Some(750_000)));
        assert_eq!((company.wait_p50_us, company.dropped_of_arm, found.bytes_sent), (None, None, None));
        let nothing = plain_results(&run, &flows, vec![came(&[]), came(&[0, 300])]).unwrap_err();
        assert!(nothing.0.contains("no flow of the arm"), "{nothing}");
    }

    #[test]
    fn a_flow_with_a_size_that_came_through_has_its_own_time() {
        let run = run("kernel:cubic", &["flow.company=arm bytes=1MB + kernel:cubic"]);
        let flows = plain_flows(&run, Order::Given).unwrap();
        let [started, last] = [Duration::from_millis(500), Duration::from_millis(2_500)];
        let arm = PlainOutcome {
            started,
            last_read: Some(last),
            written: 1_000_000,
            read: 1_000_000,
            bins: vec![0, 500_000, 500_000],
            is_closed: true,
            ends: None,
        };
        let found = plain_results(&run, &flows, vec![arm, PlainOutcome::default()]).unwrap();
        assert_eq!((found.bytes, found.elapsed_ns), (1_000_000, 2_000_000_000));
        assert!(found.ideal_ns.is_some());
    }
}
