//! Several flows beside each other: the kernel's with a thread for each end, ours on one stack a side.

use crate::course::Course;
use crate::kernel_arm;
use crate::kernel_flows::{Found, KernelFlows, cc_of};
use crate::profile_flows::ProfileFlows;
use crate::snmp::Snmp;
use crate::trace_file::Traced;
use crate::watch::Watch;
use crate::world::World;
use lab::run::{Order, PlainFlow, PlainOutcome, plain_flows, plain_results};
use lab::spec::GroupProfile;
use lab::{Ends, Measured, RunFailure, RunSpec};
use net::{Clock, KernelTotals, MonotonicClock};
use std::sync::atomic::{AtomicBool, Ordering};

/// From the start of the threads to the start of the run: what listens does so by then.
const LEAD: base::Duration = base::Duration::from_millis(50);

/// Checks whether the kernel has what its flows need.
///
/// # Errors
/// Names what is missing, and the remedy.
pub fn are_there(world: &World, run: &RunSpec) -> Result<(), String> {
    let flows = plain_flows(run, Order::Given).map_err(|refusal| refusal.0)?;
    flows.iter().filter_map(cc_of).try_for_each(|cc| kernel_arm::is_there(world, cc))
}

/// Makes a run until the end of its window.
pub fn run(
    world: &World,
    run: &RunSpec,
    order: Order,
    trace: Option<&Traced>,
    watch: &mut Watch<'_>,
) -> Result<Measured, RunFailure> {
    let flows = plain_flows(run, order)?;
    let (of_kernel, ours) = (KernelFlows::open(world, &flows)?, ProfileFlows::open(world, run.seed, &flows)?);
    let stop = AtomicBool::new(false);
    let began = MonotonicClock::default().now() + LEAD;
    let course = Course { began, until: run.point.company.window.until, stop: &stop };
    let (of_kernel, ours) = std::thread::scope(|scope| {
        let outcome = (|| {
            let ours = ours.map(|ours| ours.spawn(scope, course, trace, watch)).transpose()?;
            let ends = of_kernel.spawn(scope, course);
            let of_kernel = ends.collect(watch)?;
            Ok((of_kernel, ours.map_or(Ok(Vec::new()), |ours| ours.collect(watch))?))
        })();
        // Threads that still wait have nothing left to wait for.
        stop.store(true, Ordering::Relaxed);
        of_kernel.end();
        outcome
    })?;
    let totals = of_kernel.iter().filter(|(place, ..)| is_of_arm(run, &flows[*place])).fold(NOTHING, plus);
    // The counters of a namespace are those of all its flows together, and ours are not among them.
    let alone = of_kernel.iter().all(|(place, ..)| is_of_arm(run, &flows[*place]));
    let mut came: Vec<(usize, PlainOutcome)> = of_kernel.into_iter().map(|(place, came, _)| (place, came)).collect();
    came.extend(ours);
    came.sort_by_key(|(place, _)| *place);
    let found = plain_results(run, &flows, came.into_iter().map(|(_, came)| came).collect())?;
    let Ends::Kernel(_) = &*run.ends else { return Ok(found) };
    let counters = |namespace| Snmp::read(namespace).filter(|_| alone);
    Ok(kernel_arm::with_counters(found, totals, counters(&world.a).as_ref(), counters(&world.b).as_ref()))
}

const NOTHING: KernelTotals = KernelTotals { bytes_sent: 0, bytes_retransmitted: 0 };

fn plus(sum: KernelTotals, (_, _, one): &Found) -> KernelTotals {
    KernelTotals {
        bytes_sent: sum.bytes_sent + one.bytes_sent,
        bytes_retransmitted: sum.bytes_retransmitted + one.bytes_retransmitted,
    }
}

fn is_of_arm(run: &RunSpec, flow: &PlainFlow) -> bool {
    run.point.company.groups[flow.group].profile == GroupProfile::Arm
}
