//! Several flows of the kernel's TCP beside each other: for each a client in one namespace and a server in the other, and a thread for
//! either. The receivers count what they read by second of the run.

use crate::course::{Course, count};
use crate::kernel_arm::{self, CHUNK, GLANCE_MS, Pair};
use crate::watch::Watch;
use crate::world::World;
use lab::run::{PlainFlow, PlainOutcome, PlainTcp};
use lab::{KernelCc, RunFailure};
use net::{KernelTotals, Raised, Share, kernel_totals};
use nix::sys::socket::sockopt::{ReceiveTimeout, SendTimeout};
use nix::sys::socket::{connect, setsockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, Receiver};
use std::thread::Scope;

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

/// Those flows of a run that are the kernel's, each with its place among all.
pub struct KernelFlows<'f> {
    flows: Vec<(usize, &'f PlainFlow, Pair)>,
}

/// Where the results of their threads arrive.
pub struct Ends {
    places: Vec<usize>,
    sent: Vec<Receiver<io::Result<Sent>>>,
    came: Vec<Receiver<io::Result<Came>>>,
}

/// What came of a flow, and what the kernel counted of its sender.
pub type Found = (usize, PlainOutcome, KernelTotals);

impl<'f> KernelFlows<'f> {
    /// Creates their sockets.
    ///
    /// # Errors
    /// If the system rejects one of them.
    pub fn open(world: &World, flows: &'f [PlainFlow]) -> Result<Self, RunFailure> {
        let open = |(number, flow): (usize, &'f PlainFlow)| {
            let cc = cc_of(flow)?;
            Some(Pair::open(world, cc, kernel_arm::PORT + number as u16).map(|pair| (number, flow, pair)))
        };
        let flows = flows.iter().enumerate().filter_map(open).collect::<io::Result<_>>();
        Ok(Self { flows: flows.map_err(failed)? })
    }

    /// Starts their threads.
    pub fn spawn<'s>(&'s self, scope: &'s Scope<'s, '_>, course: Course<'s>) -> Ends {
        let mut ends = Ends { places: Vec::new(), sent: Vec::new(), came: Vec::new() };
        for (place, flow, pair) in &self.flows {
            let ((client_ended, sent), (server_ended, came)) = (mpsc::channel(), mpsc::channel());
            scope.spawn(move || server_ended.send(receive(&pair.listener, course)));
            scope.spawn(move || client_ended.send(send(pair, flow, course)));
            ends.places.push(*place);
            ends.sent.push(sent);
            ends.came.push(came);
        }
        ends
    }

    /// Ends whatever their threads wait for.
    pub fn end(&self) {
        self.flows.iter().for_each(|(_, _, pair)| pair.end());
    }
}

impl Ends {
    /// Waits for the results.
    ///
    /// # Errors
    /// If the run may not continue, or a socket failed.
    pub fn collect(&self, watch: &mut Watch<'_>) -> Result<Vec<Found>, RunFailure> {
        let (sent, came) = (collect(watch, &self.sent)?, collect(watch, &self.came)?);
        let each = self.places.iter().zip(sent).zip(came);
        Ok(each.map(|((place, sent), came)| (*place, outcome(&sent, came), sent.totals)).collect())
    }
}

/// The congestion control of a flow, if it is the kernel's.
pub fn cc_of(flow: &PlainFlow) -> Option<KernelCc> {
    match flow.tcp {
        PlainTcp::Kernel(cc) => Some(cc),
        PlainTcp::Profile(_) => None,
    }
}

fn failed(error: io::Error) -> RunFailure {
    RunFailure(format!("the kernel's sockets: {error}"))
}

fn collect<T>(watch: &mut Watch<'_>, from: &[Receiver<io::Result<T>>]) -> Result<Vec<T>, RunFailure> {
    from.iter().map(|one| watch.receive(one)?.map_err(failed)).collect()
}

fn outcome(sent: &Sent, came: Came) -> PlainOutcome {
    PlainOutcome {
        started: sent.started,
        last_read: came.last_read,
        written: sent.written,
        read: came.read,
        bins: came.bins,
        is_closed: sent.is_closed && came.is_closed,
        ends: None,
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
    let mut came = Came { bins: course.bins(), ..Came::default() };
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
        count(&mut came.bins, now, len as u64);
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
