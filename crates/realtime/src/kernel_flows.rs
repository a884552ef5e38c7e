//! Several flows of the kernel's TCP beside each other: for each a client in one namespace and a server in the other, and a thread for
//! either. The receivers count what they read by second of the run.

use crate::kernel_arm::{self, CHUNK, GLANCE_MS, Pair};
use crate::snmp::Snmp;
use crate::watch::Watch;
use crate::world::World;
use base::Instant;
use lab::run::{Order, PlainFlow, PlainOutcome, plain_flows, plain_results};
use lab::spec::{Group, GroupProfile};
use lab::{Ends, KernelCc, Measured, RunFailure, RunSpec};
use net::{Clock, KernelTotals, MonotonicClock, Raised, Share, kernel_totals};
use nix::sys::socket::sockopt::{ReceiveTimeout, SendTimeout};
use nix::sys::socket::{connect, setsockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Checks whether the flows of a run can be made.
///
/// # Errors
/// Names what cannot, and the remedy.
pub fn can_be_made(world: &World, run: &RunSpec) -> Result<(), String> {
    plain_flows(run, Order::Given).map_err(|refusal| refusal.0)?;
    run.point.company.groups.iter().try_for_each(|group| kernel_arm::is_there(world, cc_of(group, &run.ends)))
}

/// Whose congestion control the flows of a group have.
fn cc_of(group: &Group, ends: &Ends) -> KernelCc {
    match (&group.profile, ends) {
        (GroupProfile::Kernel(cc), _) | (_, Ends::Kernel(cc)) => *cc,
        _ => unreachable!("other flows are refused before"),
    }
}

/// The time of a run.
#[derive(Clone, Copy)]
struct Course<'r> {
    began: Instant,
    until: base::Duration,
    /// Whether the run was given up.
    stop: &'r AtomicBool,
}

impl Course<'_> {
    /// Returns the time since the start of the run.
    fn now(&self) -> base::Duration {
        MonotonicClock::default().now().since(self.began)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.now() >= self.until
    }

    /// Waits for a time of the run, or for its end.
    fn wait_for(&self, time: base::Duration) {
        while !self.is_over() {
            let left = time.saturating_sub(self.now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left.as_nanos()).min(Duration::from_millis(GLANCE_MS as u64)));
        }
    }
}

/// What a client knows at the end.
struct Sent {
    started: base::Duration,
    written: u64,
    is_closed: bool,
    totals: KernelTotals,
}

/// What a server knows at the end.
#[derive(Default)]
struct Came {
    last_read: Option<base::Duration>,
    read: u64,
    bins: Vec<u64>,
    is_closed: bool,
}

/// Makes a run until the end of its window.
pub fn run(world: &World, run: &RunSpec, order: Order, watch: &mut Watch<'_>) -> Result<Measured, RunFailure> {
    let flows = plain_flows(run, order)?;
    let groups = &run.point.company.groups;
    let open = |(number, flow): (usize, &PlainFlow)| {
        Pair::open(world, cc_of(&groups[flow.group], &run.ends), kernel_arm::PORT + number as u16)
    };
    let pairs: Vec<Pair> = flows.iter().enumerate().map(open).collect::<io::Result<_>>().map_err(failed)?;
    let stop = AtomicBool::new(false);
    let began = MonotonicClock::default().now();
    let course = Course { began, until: run.point.company.window.until, stop: &stop };
    let (all_sent, all_came) = std::thread::scope(|scope| {
        let (sent, came): (Vec<_>, Vec<_>) = pairs
            .iter()
            .zip(&flows)
            .map(|(pair, flow)| {
                let ((client_ended, sent), (server_ended, came)) = (mpsc::channel(), mpsc::channel());
                scope.spawn(move || server_ended.send(receive(&pair.listener, course)));
                scope.spawn(move || client_ended.send(send(pair, flow, course)));
                (sent, came)
            })
            .unzip();
        let outcome = (|| Ok((collect(watch, &sent)?, collect(watch, &came)?)))();
        // Threads that still wait have nothing left to wait for.
        stop.store(true, Ordering::Relaxed);
        pairs.iter().for_each(Pair::end);
        outcome
    })?;
    let is_of_arm = |flow: &PlainFlow| groups[flow.group].profile == GroupProfile::Arm;
    let of_arm = flows.iter().zip(&all_sent).filter(|(flow, _)| is_of_arm(flow));
    let totals = of_arm.fold(KernelTotals { bytes_sent: 0, bytes_retransmitted: 0 }, |sum, (_, sent)| KernelTotals {
        bytes_sent: sum.bytes_sent + sent.totals.bytes_sent,
        bytes_retransmitted: sum.bytes_retransmitted + sent.totals.bytes_retransmitted,
    });
    let found = plain_results(run, &flows, all_sent.into_iter().zip(all_came).map(outcome).collect())?;
    // The counters of a namespace are those of all flows together.
    let alone = flows.iter().all(is_of_arm);
    let counters = |namespace| Snmp::read(namespace).filter(|_| alone);
    Ok(kernel_arm::with_counters(found, totals, counters(&world.a).as_ref(), counters(&world.b).as_ref()))
}

fn failed(error: io::Error) -> RunFailure {
    RunFailure(format!("the kernel's sockets: {error}"))
}

fn collect<T>(watch: &mut Watch<'_>, from: &[Receiver<io::Result<T>>]) -> Result<Vec<T>, RunFailure> {
    from.iter().map(|one| watch.receive(one)?.map_err(failed)).collect()
}

fn outcome((sent, came): (Sent, Came)) -> PlainOutcome {
    PlainOutcome {
        started: sent.started,
        last_read: came.last_read,
        written: sent.written,
        read: came.read,
        bins: came.bins,
        is_closed: sent.is_closed && came.is_closed,
    }
}

/// Sends what a flow has, and closes; at the end of the run it just ends.
fn send(pair: &Pair, flow: &PlainFlow, course: Course<'_>) -> io::Result<Sent> {
    let _raised = Raised::new(Share::Stack);
    course.wait_for(flow.start);
    let client = &pair.client;
    let mut sent = Sent { started: course.now(), written: 0, is_closed: false, totals: kernel_totals(client)? };
    // Connecting ends with the run, too; a moment later, so that the run is over then.
    let left_ms = course.until.saturating_sub(course.now()).as_nanos() / 1_000_000 + 10;
    setsockopt(client, SendTimeout, &TimeVal::milliseconds(left_ms as i64))?;
    let connected = connect(client.as_raw_fd(), &pair.server).map_err(io::Error::from);
    match connected.and_then(|()| write(client, flow, course, &mut sent)) {
        Ok(()) => {}
        // A flow that nothing answers is starved, which is a result.
        Err(error) if course.is_over() || error.kind() == ErrorKind::TimedOut => {}
        Err(error) => return Err(error),
    }
    sent.totals = kernel_totals(client)?;
    Ok(sent)
}

fn write(mut client: &TcpStream, flow: &PlainFlow, course: Course<'_>, sent: &mut Sent) -> io::Result<()> {
    // Not before: it would end the connecting so soon, too.
    setsockopt(client, SendTimeout, &TimeVal::milliseconds(GLANCE_MS))?;
    setsockopt(client, ReceiveTimeout, &TimeVal::milliseconds(GLANCE_MS))?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let len = flow.bytes.map_or(CHUNK as u64, |bytes| (bytes - sent.written).min(CHUNK as u64)) as usize;
        if course.is_over() {
            return Ok(());
        }
        if len == 0 || flow.stop.is_some_and(|stop| course.now() >= stop) {
            break;
        }
        tcp::fill_pattern(sent.written, &mut chunk[..len]);
        match client.write(&chunk[..len]) {
            Ok(written) => sent.written += written as u64,
            Err(error) if is_early(&error) => {}
            Err(error) => return Err(error),
        }
    }
    client.shutdown(std::net::Shutdown::Write)?;
    // The server closes after reading everything.
    while !course.is_over() {
        match client.read(&mut chunk) {
            Ok(0) => {
                sent.is_closed = true;
                return Ok(());
            }
            Ok(_) => {}
            Err(error) if is_early(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a call only took too long.
fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn receive(listener: &TcpListener, course: Course<'_>) -> io::Result<Came> {
    let _raised = Raised::new(Share::Stack);
    let seconds = (course.until.as_nanos() / 1_000_000_000) as usize;
    let mut came = Came { bins: vec![0; seconds], ..Came::default() };
    let (mut chunk, mut expected) = (vec![0; CHUNK], vec![0; CHUNK]);
    let Some((mut server, _)) = until_over(course, || listener.accept())? else { return Ok(came) };
    while let Some(len) = until_over(course, || server.read(&mut chunk))? {
        let now = course.now();
        if len == 0 {
            came.is_closed = true;
            break;
        }
        tcp::fill_pattern(came.read, &mut expected[..len]);
        if chunk[..len] != expected[..len] {
            return Err(io::Error::other(format!("wrong bytes behind the first {}", came.read)));
        }
        (came.last_read, came.read) = (Some(now), came.read + len as u64);
        if let Some(bin) = came.bins.get_mut((now.as_nanos() / 1_000_000_000) as usize) {
            *bin += len as u64;
        }
    }
    Ok(came)
}

/// Repeats a call that timed out until the run is over; `None` then.
fn until_over<T>(course: Course<'_>, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    while !course.is_over() {
        match attempt() {
            Err(error) if is_early(&error) => {}
            // What breaks at the end no longer matters.
            Err(_) if course.is_over() => {}
            other => return other.map(Some),
        }
    }
    Ok(None)
}
