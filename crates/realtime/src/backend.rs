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
use crate::{command_arm, kernel_arm, kernel_flows, leftovers, profile_arm};
use base::Duration;
use lab::run::Order;
use lab::spec::{Flow, Orders};
use lab::{Backend, Ends, Measured, Plan, Punctuality, RunFailure, RunSpec};
use net::LinkReport;

/// A packet delayed by the machine for longer than this may affect a result. Of some seventy transfers of 32 MB on a busy machine
/// of two processors, those whose latest packet was up to 7 ms late were as fast as the others to 0.1 %; of those with more than
/// 10 ms some lost one to four per cent.
pub const LATE: Duration = Duration::from_millis(8);

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
        leftovers::remove().map_err(CannotStart::usage)?;
        let world = World::open(&plan.cells[0].point, 0).map_err(CannotStart::usage)?;
        for run in &plan.runs {
            can_be_made(run, &world).map_err(CannotStart::Usage)?;
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
            return kernel_flows::run(world, run, order, &mut watch);
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

fn can_be_made(run: &RunSpec, world: &World) -> Result<(), String> {
    if !run.point.company.is_empty() {
        kernel_flows::can_be_made(world, run)?;
    }
    if !run.point.drops.is_empty() {
        let drops = &run.point.drops;
        return Err(format!(
            "path.drop={drops}: a real link does not know positions in a stream; take it out, or use the simulator"
        ));
    }
    run.point.life.changes.without_reports().map_err(|refusal| format!("path.changes: {refusal}"))?;
    if !run.point.hosts.is_ideal() {
        return Err("host: these hosts exist in the simulator only; leave out `--backend netns`".to_owned());
    }
    match &*run.ends {
        // Several flows are checked above.
        _ if !run.point.company.is_empty() => Ok(()),
        Ends::Profile(_) => Ok(()),
        Ends::Kernel(cc) => kernel_arm::is_there(world, *cc),
        Ends::Command(_) if matches!(run.point.flow, Flow::Bytes(_)) => Ok(()),
        Ends::Command(_) => Err("flow.seconds: command arms require `flow.bytes`".to_owned()),
    }
}
