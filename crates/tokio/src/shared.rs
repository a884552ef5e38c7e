//! What the driver and all handles share: the stack behind its pipe, the clock, and who waits for what. One lock guards it; a handle's
//! call goes straight to the stack, so no queue lies between a stream and its windows.

use crate::backlog::Backlogs;
use crate::clock::Clock;
use crate::observed::Observed;
use crate::remembered::Remembered;
use crate::udp_waits::UdpWaits;
use crate::waits::{Waits, keep};
use base::Instant;
use pipe::{Next, Runner};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::{fmt, io};
use tcp::{Conn, FourTuple, Stack, StackCx, StackEvent, ValidConfig};

/// Why a driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// Every handle was dropped, and no connection was left.
    Unused,
    /// [`crate::Net::shutdown`] was called, and the connections were closed or their time was over.
    Shutdown,
    /// [`crate::Packets`] was dropped: nothing can come or leave any more.
    CutOff,
}

/// Whether the stack accepts work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Open,
    /// Connections may end in peace until this time.
    Closing {
        until: Instant,
    },
    /// The last connections were reset.
    Resetting,
    Ended(Ended),
    /// The driver was dropped, or its clock failed.
    Abandoned,
}

pub(crate) struct Inner {
    pub runner: Runner,
    pub clock: Box<dyn Clock>,
    pub observed: Observed,
    /// What connections have for which nothing else was chosen.
    pub config: ValidConfig,
    pub addresses: Vec<IpAddr>,
    /// The smallest MTU that the addresses allow, in bytes.
    pub least_mtu: u16,
    pub waits: Waits,
    pub backlogs: Backlogs,
    pub udp: UdpWaits,
    /// What connections leave to later ones, if they do.
    pub remembered: Option<Box<Remembered>>,
    /// Wait for a request.
    pub askers: Vec<Waker>,
    /// Wait for the driver's end.
    pub mourners: Vec<Waker>,
    pub stage: Stage,
    handles: usize,
    /// The driver's task, while it waits.
    driver: Option<Waker>,
    /// Until when it waits for time to pass.
    wakes_at: Instant,
    /// The stack's packets wait for room in the pipe, whose other end wakes the driver.
    is_held: bool,
    /// The driver is to run once more.
    nudged: bool,
    /// To be woken after the present call.
    due: Vec<Waker>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("runner", &self.runner).field("stage", &self.stage).finish_non_exhaustive()
    }
}

impl Inner {
    pub fn new(
        runner: Runner,
        clock: Box<dyn Clock>,
        observed: Observed,
        config: ValidConfig,
        addresses: Vec<IpAddr>,
        least_mtu: u16,
    ) -> Self {
        Self {
            runner,
            clock,
            observed,
            config,
            addresses,
            least_mtu,
            waits: Waits::default(),
            backlogs: Backlogs::default(),
            udp: UdpWaits::default(),
            remembered: None,
            askers: Vec::new(),
            mourners: Vec::new(),
            stage: Stage::Open,
            handles: 0,
            driver: None,
            wakes_at: Instant::ZERO,
            is_held: false,
            nudged: false,
            due: Vec::new(),
        }
    }

    /// Returns whether the driver no longer runs.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Ended(_) | Stage::Abandoned)
    }

    /// Calls the stack at the present time.
    pub fn call<T>(&mut self, call: impl FnOnce(&mut Stack, &mut StackCx<'_, Observed>) -> T) -> T {
        let now = self.clock.now();
        call(self.runner.stack(), &mut StackCx::new(now, &mut self.observed))
    }

    /// Records that the application has a new connection.
    pub fn on_stream(&mut self, conn: Conn, tuple: &FourTuple) {
        self.observed.on_stream(conn, tuple);
        if let Some(remembered) = &mut self.remembered {
            remembered.on_begin(self.runner.stack(), conn, tuple, self.clock.now());
        }
    }

    /// Records that the application is about to drop one.
    pub fn on_stream_end(&mut self, conn: Conn, tuple: &FourTuple) {
        if let Some(remembered) = &mut self.remembered {
            remembered.on_end(self.runner.stack(), conn, tuple, self.clock.now());
        }
    }

    /// Returns the driver's task if the last call left it something to do.
    fn driver_to_wake(&mut self) -> Option<Waker> {
        self.driver.as_ref()?;
        // A timer that waits for the device is earlier than whatever the driver waits for, and no run serves it yet.
        let counts = !self.runner.waits_for_device();
        let is_due = self.nudged
            || self.runner.has_ready() && !self.is_held
            || self.runner.stack().has_events()
            || counts && self.runner.next_deadline().is_some_and(|deadline| deadline < self.wakes_at);
        if is_due { self.driver.take() } else { None }
    }

    /// Makes the driver run after this call, whatever it waits for.
    pub fn nudge(&mut self) {
        self.nudged = true;
    }

    /// Runs one turn, and moves to `due` the tasks that have something to do now.
    pub fn turn(&mut self, now: Instant, due: &mut Vec<Waker>) -> Next {
        self.nudged = false;
        let next = self.runner.run(now, &mut self.observed);
        let Self { runner, waits, backlogs, askers, udp, .. } = self;
        let stack = runner.stack();
        while let Some(event) = stack.poll_event() {
            match event {
                StackEvent::Conn { conn, event } => waits.on_event(conn, event, due),
                StackEvent::Accepted { conn, .. } => {
                    if let Some(endpoint) = stack.endpoint(conn) {
                        backlogs.on_accepted(conn, &endpoint.tuple(), due);
                    }
                }
            }
        }
        let mut is_wanted = stack.has_requests();
        if let Some(datagrams) = runner.datagrams() {
            while let Some(event) = datagrams.poll_event() {
                udp.on_event(event, due);
            }
            is_wanted |= datagrams.has_flows();
        }
        if is_wanted || runner.has_others() {
            due.append(askers);
        }
        self.is_held = matches!(next, Next::At(_)) && self.runner.has_ready();
        next
    }

    /// Waits for what the driver has to do next: packets, room, a handle's call, or the time `at`.
    pub fn poll_work(&mut self, at: Instant, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.runner.poll_ready(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        self.wakes_at = at;
        keep(&mut self.driver, cx);
        if at == Instant::MAX { Poll::Pending } else { self.clock.poll_until(cx, at) }
    }

    /// Closes the listeners' queues; who waits for a connection learns of it.
    pub fn close_backlogs(&mut self) {
        std::mem::take(&mut self.backlogs).wake_all(&mut self.due);
        self.due.append(&mut self.askers);
    }

    /// Returns whether nothing waits to leave, or nothing can.
    pub fn is_quiet(&mut self) -> bool {
        self.is_held || !self.runner.has_ready()
    }

    /// Resets every connection.
    pub fn reset_all(&mut self) {
        self.stage = Stage::Resetting;
        self.call(|stack, cx| {
            let all: Vec<_> = stack.iter().map(|(conn, _)| conn).collect();
            all.into_iter().for_each(|conn| stack.abort(cx, conn));
        });
        self.nudge();
    }

    /// Enters the last stage, and moves every task to `due`.
    pub fn end(&mut self, stage: Stage, due: &mut Vec<Waker>) {
        self.stage = stage;
        self.waits.wake_all(due);
        self.backlogs.wake_all(due);
        self.udp.wake_all(due);
        due.append(&mut self.askers);
        due.append(&mut self.mourners);
    }

    /// Returns whether no handle is left.
    pub fn is_unused(&self) -> bool {
        self.handles == 0
    }
}

/// The shared state, as the driver holds it.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<Inner>>);

impl Shared {
    pub fn new(inner: Inner) -> Self {
        Self(Arc::new(Mutex::new(inner)))
    }

    /// Calls under the lock, and wakes the driver after it if there is something to do.
    pub fn with<T>(&self, call: impl FnOnce(&mut Inner) -> T) -> T {
        // A panic ends the driver, which ends every wait; what the handles still read is whole.
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = call(&mut inner);
        let (driver, due) = (inner.driver_to_wake(), std::mem::take(&mut inner.due));
        drop(inner);
        driver.into_iter().chain(due).for_each(Waker::wake);
        result
    }
}

/// The shared state, as every part of the application holds it. The driver ends after the last one.
#[derive(Debug)]
pub(crate) struct Handle {
    shared: Shared,
}

impl Handle {
    pub fn new(shared: &Shared) -> Self {
        shared.with(|inner| inner.handles += 1);
        Self { shared: shared.clone() }
    }

    /// Calls under the lock.
    pub fn with<T>(&self, call: impl FnOnce(&mut Inner) -> T) -> T {
        self.shared.with(call)
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Self::new(&self.shared)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.with(|inner| {
            inner.handles -= 1;
            if inner.handles == 0 {
                inner.nudge();
            }
        });
    }
}
