//! Control of a running link from other threads.

use super::direction::Way;
use super::end::Ring;
use super::report::LinkReport;
use netem::PathSpec;
use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

/// A request to a link.
#[derive(Debug)]
pub(super) enum Request {
    /// To end.
    Stop,
    /// Report its statistics.
    Report(Sender<LinkReport>),
    /// Send packets over another path.
    Change(Way, Box<PathSpec>),
}

/// Sends requests to a link, from any thread, while it runs or before.
#[derive(Clone, Debug)]
pub struct LinkHandle {
    requests: Sender<Request>,
    bell: Arc<EventFd>,
    /// At end a and end b.
    rings: [Arc<Ring>; 2],
}

impl LinkHandle {
    /// Asks the link to end; packets in flight are lost then.
    pub fn stop(&self) {
        self.ask(Request::Stop);
    }

    /// From now on packets take another path; those on their way arrive as they would have. Of losses by position in a stream
    /// there are none.
    pub fn set(&self, way: Way, spec: PathSpec) {
        self.ask(Request::Change(way, Box::new(spec)));
    }

    /// Returns the statistics so far; waits until the link runs. Returns `None` when it has ended.
    pub fn report(&self) -> Option<LinkReport> {
        let (answer, answered) = mpsc::channel();
        self.ask(Request::Report(answer));
        answered.recv().ok().map(|report| self.with_rings(report))
    }

    /// Completes a report with numbers for which the link's thread has no time.
    pub(super) fn with_rings(&self, mut report: LinkReport) -> LinkReport {
        [report.ab.ring_drops, report.ba.ring_drops] = self.rings.each_ref().map(|ring| ring.drops());
        report
    }

    /// Sends a request; a link that has ended ignores it.
    fn ask(&self, request: Request) {
        if self.requests.send(request).is_ok() {
            // The bell's counter cannot be full: the link sets it to zero.
            let _ = self.bell.write(1);
        }
    }
}

/// The link's end of it.
#[derive(Debug)]
pub(super) struct Inbox {
    requests: Receiver<Request>,
    handle: LinkHandle,
}

impl Inbox {
    pub(super) fn new(rings: [Arc<Ring>; 2]) -> io::Result<Self> {
        let bell = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?);
        let (sender, requests) = mpsc::channel();
        Ok(Self { requests, handle: LinkHandle { requests: sender, bell, rings } })
    }

    pub(super) fn handle(&self) -> LinkHandle {
        self.handle.clone()
    }

    /// Returns the descriptor that becomes readable on a request.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.handle.bell.as_fd()
    }

    /// Resets the bell. Call it before `next`, so that no request in between is missed.
    pub(super) fn silence(&self) -> io::Result<()> {
        match self.handle.bell.read() {
            Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Returns the oldest request.
    pub(super) fn next(&mut self) -> Option<Request> {
        self.requests.try_recv().ok()
    }
}
