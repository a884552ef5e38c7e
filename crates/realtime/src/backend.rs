//! Runs in real time: two network namespaces, the emulated path between them, and the arm's TCP at its ends.
//!
//! ```text
//!  namespace longhaul-PID-a                                       namespace longhaul-PID-b
//!  our TCP ── lh0 ── the kernel ── wa0 ═══ the cell's path ═══ wb0 ── the kernel ── lh0 ── our TCP
//!                        └ its TCP, a client                 its TCP, a server ┘
//! ```
//! Each run has a new pair: no queue, cache or counter survives from the run before. Runs are sequential, in the order of the
//! plan, so that disturbances by the machine affect all arms alike. The link reports delays caused by the machine; a run with
//! such delays is repeated once.

use crate::interrupt::Interrupt;
use crate::trace_file::Traced;
use crate::turn::Turn;
use crate::watch::Watch;
use crate::world::World;
use crate::{command_arm, flows, kernel_arm, leftovers, profile_arm};
use base::Duration;
use lab::run::{Order, plain_flows};
use lab::spec::{Figure, Flow, Orders};
use lab::{Backend, Ends, Measured, Plan, Punctuality, RunFailure, RunSpec};
use net::LinkReport;

/// A packet delayed by the machine for longer than this may affect a result. Of some seventy transfers of 32 MB on a busy machine
/// of two processors, those whose latest packet was up to 7 ms late were as fast as the others to 0.1 %; of those with more than
/// 10 ms some lost one to four per cent.
pub const LATE: Duration = Duration::from_millis(8);

/// How the names of metrics begin that only the simulator knows: where packets wait, whose they are, what never happens in real time.
const OF_THE_SIMULATOR: [&str; 9] =
    ["second_", "wait_", "ping_", "pings_", "datagrams_", "harm_", "startup_", "full_rate_", "repair_"];

/// Why no run can be made.
#[derive(Debug, thiserror::Error)]
pub enum CannotStart {
    /// The request is not possible, or a privilege is missing.
    #[error("{0}")]
    Usage(String),
    /// The system rejected what it should permit.
    #[error("{0}")]
    Failed(String),
}

impl CannotStart {
    fn usage(message: impl std::fmt::Display) -> Self {
        Self::Usage(message.to_string())
    }
}

/// Makes runs in real time.
#[derive(Debug)]
pub struct NetnsBackend<'t> {
    interrupt: Interrupt,
    trace: Option<&'t Traced>,
}

impl<'t> NetnsBackend<'t> {
    /// Checks whether the machine can make the plan's runs, and removes leftovers of killed ones. `when_interrupted` is printed
    /// when the program is asked to end.
    ///
    /// Call it before starting any thread: it redirects SIGINT and SIGTERM.
    ///
    /// # Errors
    /// Names what is missing, and the remedy.
    pub fn new(plan: &Plan, trace: Option<&'t Traced>, when_interrupted: String) -> Result<Self, CannotStart> {
        can_be_compared_by(plan.primary.name).map_err(CannotStart::Usage)?;
        leftovers::remove().map_err(CannotStart::usage)?;
        let world = World::open(&plan.cells[0].point, 0).map_err(CannotStart::usage)?;
        for run in &plan.runs {
            can_be_made(run).and_then(|()| is_there(run, &world)).map_err(CannotStart::Usage)?;
        }
        drop(world);
        let interrupt =
            Interrupt::catch(when_interrupted).map_err(|error| CannotStart::Failed(format!("signals: {error}")))?;
        Ok(Self { interrupt, trace })
    }

    /// Returns what the results depend on besides the plan.
    pub fn maker() -> String {
        let release = nix::sys::utsname::uname().map(|name| name.release().to_string_lossy().into_owned());
        format!("netns on kernel {}", release.as_deref().unwrap_or("unknown"))
    }

    /// Makes a run; one of several flows in both orders is two.
    fn attempt(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let given = self.once(run, Order::Given)?;
        let company = &run.point.company;
        if company.is_empty() || company.orders == Orders::Given {
            return Ok(given);
        }
        Ok(given.mean_with(&self.once(run, Order::Reversed)?))
    }

    fn once(&self, run: &RunSpec, order: Order) -> Result<Measured, RunFailure> {
        let world = World::open(&run.point, run.seed).map_err(|error| RunFailure(error.to_string()))?;
        let done = self.transfer(run, order, &world);
        let report = world.close();
        self.interrupt.obey();
        let (measured, report) = (done?, report.map_err(|error| RunFailure(error.to_string()))?);
        Ok(with_path(measured, run, &report))
    }
}

impl NetnsBackend<'_> {
    /// Waits for its turn after its world was created, so that another waiting process can run while this world is removed.
    fn transfer(&self, run: &RunSpec, order: Order, world: &World) -> Result<Measured, RunFailure> {
        let _turn = Turn::take(&self.interrupt)?;
        let mut watch = Watch::new(world, &self.interrupt);
        watch.go_on()?;
        if !run.point.company.is_empty() {
            return flows::run(world, run, order, self.trace, &mut watch);
        }
        match &*run.ends {
            Ends::Profile(config) => profile_arm::run(world, run, config, self.trace, &mut watch),
            Ends::Kernel(cc) => kernel_arm::run(world, run.point.flow, *cc, &mut watch),
            Ends::Command(pair) => command_arm::run(world, run.point.flow, pair, &mut watch),
        }
    }
}

impl Backend for NetnsBackend<'_> {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let found = self.punctual(run)?;
        let Some(twin) = run.of_twin() else { return Ok(found) };
        Ok(Measured { twin_ns: Some(self.punctual(&twin)?.elapsed_ns), ..found })
    }
}

impl NetnsBackend<'_> {
    /// Makes a run, and makes it again if the machine disturbed it.
    fn punctual(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let first = self.attempt(run)?;
        // A trace covers one run.
        let disturbed = first.punctuality.is_some_and(|punctuality| punctuality.disturbed);
        if !disturbed || self.trace.is_some() {
            return Ok(first);
        }
        let mut second = self.attempt(run)?;
        second.punctuality.as_mut().expect("there is one in real time").attempts = 2;
        Ok(second)
    }
}

/// Adds the path's statistics.
fn with_path(measured: Measured, run: &RunSpec, report: &LinkReport) -> Measured {
    let late = report.lateness.later_than(LATE);
    let own_ideal_ns = measured.ideal_ns;
    let measured = measured.with_path(&run.point, run.seed, &report.ab.path);
    Measured {
        ideal_ns: own_ideal_ns.or(measured.ideal_ns),
        packets: report.ab.path.offered + report.ba.path.offered,
        punctuality: Some(Punctuality {
            latest_ns: report.lateness.max.as_nanos(),
            late,
            attempts: 1,
            disturbed: report.lateness.max > LATE || report.unmodelled_drops() > 0,
        }),
        ..measured
    }
}

/// Refuses comparisons by what would be unknown of every run.
fn can_be_compared_by(metric: &str) -> Result<(), String> {
    if OF_THE_SIMULATOR.iter().any(|begin| metric.starts_with(begin)) {
        let remedy = "compare by another, such as goodput, or leave out `--backend netns`";
        return Err(format!("--metric {metric}: this is measured in the simulator only; {remedy}"));
    }
    Ok(())
}

/// Checks whether the machine has what a run needs.
fn is_there(run: &RunSpec, world: &World) -> Result<(), String> {
    match &*run.ends {
        _ if !run.point.company.is_empty() => flows::are_there(world, run),
        Ends::Kernel(cc) => kernel_arm::is_there(world, *cc),
        Ends::Profile(_) | Ends::Command(_) => Ok(()),
    }
}

/// Refuses what exists in virtual time only, by the key that asks for it, and with the remedy.
fn can_be_made(run: &RunSpec) -> Result<(), String> {
    let point = &run.point;
    if !point.company.is_empty() {
        plain_flows(run, Order::Given).map_err(|refusal| refusal.0)?;
    }
    if !point.drops.is_empty() {
        let drops = &point.drops;
        return Err(format!(
            "path.drop={drops}: a real link does not know positions in a stream; take it out, or use the simulator"
        ));
    }
    point.life.changes.without_reports().map_err(|refusal| format!("path.changes: {refusal}"))?;
    let is_virtual = |key: &str| key.starts_with("host.") || key.starts_with("path.second.");
    if let Some((key, value)) = point.settings().find(|(key, _)| is_virtual(key)) {
        return Err(format!(
            "{key}={value}: this exists in the simulator only; take it out, or leave out `--backend netns`"
        ));
    }
    if point.startup == Figure::Measured {
        let remedy = "take it out, or leave out `--backend netns`";
        return Err(format!("flow.startup=measured: starts are measured in the simulator only; {remedy}"));
    }
    match (&*run.ends, point.flow) {
        (Ends::Command(_), Flow::Seconds(_)) if point.company.is_empty() => {
            Err("flow.seconds: command arms require `flow.bytes`".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::run::paths;
    use lab::spec::{self, Overrides, keys};

    /// Runs of `wan` with these arms and settings.
    fn run(arm: &str, set: &[&str]) -> RunSpec {
        let mut experiment = spec::builtin("wan").unwrap();
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        let overrides = Overrides { arms: vec![arm.to_owned()], set, iterations: Some(1), ..Overrides::default() };
        experiment.apply(&overrides).unwrap();
        Plan::new(experiment).unwrap().runs.remove(0)
    }

    /// What a run in real time is made from.
    fn given(run: &RunSpec) -> String {
        let point = &run.point;
        let flows: Vec<_> = [Order::Given, Order::Reversed].into_iter().map(|order| plain_flows(run, order)).collect();
        let company = (point.company.window, point.company.orders);
        format!("{:?} {:?} {flows:?} {company:?}", paths(point, run.seed), point.flow)
    }

    /// The word for a key that real time honours.
    const HONOURED: &str = "";

    /// For each key: settings, of which the last is the key's, and what its refusal says.
    const SERVED: [(&[&str], &str); 43] = [
        (&["path.rate=5Mbit"], HONOURED),
        (&["path.rtt=33ms"], HONOURED),
        (&["path.buffer=7pkt"], HONOURED),
        (&["path.queue=codel"], HONOURED),
        (&["path.jitter=1ms"], HONOURED),
        (&["path.loss=1%"], HONOURED),
        (&["path.drop=last 3"], "path.drop=last 3: a real link does not know positions"),
        (&["path.reorder.probability=1%"], HONOURED),
        (&["path.reorder.probability=1%", "path.reorder.delay=9ms"], HONOURED),
        (&["path.reorder.probability=1%", "path.reorder.mode=early"], HONOURED),
        (&["path.reorder.queues=4x8/2ms"], HONOURED),
        (&["path.duplicate=1%"], HONOURED),
        (&["path.bursts=1%/4"], HONOURED),
        (&["path.policer=5Mbit/64kB"], HONOURED),
        (&["path.release=1ms..5ms"], HONOURED),
        (&["path.back.rate=1Mbit"], HONOURED),
        (&["path.back.rate=1Mbit", "path.back.buffer=9pkt"], HONOURED),
        (&["path.back.rate=1Mbit", "path.back.queue=codel"], HONOURED),
        (&["path.back.loss=1%"], HONOURED),
        (&["path.back.release=1ms..5ms"], HONOURED),
        (&["path.back.thin=5ms"], HONOURED),
        (&["path.second.rate=1Mbit"], "path.second.rate=1Mbit: this exists"),
        (&["path.second.rate=1Mbit", "path.second.rtt=9ms"], "path.second.r"),
        (&["path.second.rate=1Mbit", "path.second.buffer=9pkt"], "path.second.r"),
        (&["path.second.rate=1Mbit", "path.second.queue=codel"], "path.second.r"),
        (&["path.changes=1s rate=1Mbit"], HONOURED),
        (&["path.model=lte"], HONOURED),
        (&["host.sender.pause=50ms x3"], "host.sender.pause=50ms x3: this exists"),
        (&["host.sender.first_flight=50ms"], "host.sender.first_flight=50ms: this exists"),
        (&["host.sender.remembers=2500kB/200ms"], "host.sender.remembers=2500kB/200ms: this exists"),
        (&["host.sender.merge=5ms"], "host.sender.merge=5ms: this exists"),
        (&["host.receiver.pause=50ms x3"], "host.receiver.pause=50ms x3: this exists"),
        (&["host.receiver.merge=5ms"], "host.receiver.merge=5ms: this exists"),
        (&["host.receiver.profile=linux"], "host.receiver.profile=linux"),
        (&["host.offload=on"], "host.offload=on: this exists"),
        (&["flow.bytes=7MB"], HONOURED),
        (&["flow.seconds=7s"], HONOURED),
        (&["flow.company=arm + kernel:cubic"], HONOURED),
        (&["flow.company=arm x10 + longhaul x10", "flow.mix=10%"], HONOURED),
        (&["flow.company=arm + longhaul", "flow.window=1s..4s"], HONOURED),
        (&["flow.company=arm + longhaul", "flow.orders=both"], HONOURED),
        (&["flow.company=arm + longhaul", "flow.harm=measured"], "flow.harm"),
        (&["flow.startup=measured"], "flow.startup=measured: starts are measured in the simulator only; take it out"),
    ];

    #[test]
    fn each_key_is_honoured_or_refused_by_name() {
        let of = |settings: &[&str]| settings.last().and_then(|text| text.split_once('=')).unwrap().0.to_owned();
        let named: Vec<String> = SERVED.iter().map(|(settings, _)| of(settings)).collect();
        assert_eq!(named, keys().map(|key| key.name.to_owned()).collect::<Vec<_>>(), "every key, in their order");
        for (settings, refusal) in SERVED {
            for arm in ["linux", "kernel:cubic"] {
                let (with, without) = (run(arm, settings), run(arm, &settings[..settings.len() - 1]));
                let made = can_be_made(&with);
                if refusal == HONOURED {
                    assert_eq!(made, Ok(()), "{settings:?}");
                    assert_ne!(given(&with), given(&without), "{settings:?} changes nothing");
                } else {
                    let said = made.unwrap_err();
                    assert!(said.contains(refusal), "{said}");
                    assert!(said.contains("take it out") || said.contains("take out"), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_comparison_by_what_is_unknown_is_refused() {
        for begin in OF_THE_SIMULATOR {
            let metric = spec::METRICS.iter().find(|metric| metric.name.starts_with(begin)).expect("it is a metric's");
            let said = can_be_compared_by(metric.name).unwrap_err();
            assert!(said.starts_with(&format!("--metric {}: ", metric.name)), "{said}");
        }
        for known in ["goodput", "share_pct", "elapsed_ms", "completion_p99_ms", "utilisation"] {
            assert_eq!(can_be_compared_by(known), Ok(()));
        }
    }

    #[test]
    fn routers_reports_are_refused() {
        let said = can_be_made(&run("linux", &["path.changes=1s mtu=1400"])).unwrap_err();
        assert!(said.starts_with("path.changes: "), "{said}");
        assert_eq!(can_be_made(&run("linux", &["path.changes=1s blackhole=1400"])), Ok(()));
    }
}
