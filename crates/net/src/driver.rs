//! The loop: frames in, timers, frames out, readiness to the application, frames out, wait for the device or the next
//! deadline.
//!
//! Events are stamped when they happen: the clock is read for each frame, for each call of the application, and again before
//! frames leave, so that an application's work between two frames does not count as time on the path. Timers are served after the
//! frames, and only up to the time at which the device was known to be empty: an ACK that waits in the device while the thread is
//! suspended acknowledges its segment before a timer marks it lost.
//!
//! The loop is the same for a TUN device with the machine's clock and for a scripted device with a scripted clock. A step never
//! waits; [`Driver::run`] consists only of steps and waits.

mod callbacks;

use crate::apps::{App, AppCx, StartError};
use crate::clock::{Clock, Interest, Wake};
use crate::device::Device;
use crate::impair::Impairment;
use crate::inlet::Inlet;
use crate::outlet::{Outlet, Room};
use base::{Instant, Rng};
use callbacks::Callbacks;
use netem::PathStats;
use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use tcp::config::GuardConfig;
use tcp::{Budget, RxFrame, Segmentation, Stack, StackConfig, StackCx, Timers};
use trace::Observer;

/// The settings of a driver, besides its device and clock.
#[derive(Clone, Debug)]
pub struct DriverConfig {
    /// The stack's addresses.
    pub addresses: Vec<IpAddr>,
    /// Key of the initial sequence numbers (RFC 6528); unpredictable on a real host.
    pub isn_secret: [u64; 2],
    /// Feeds the choice of ports and the connections' own streams.
    pub rng: Rng,
    /// Emulated paths between device and stack.
    pub impairment: Impairment,
    /// Bytes that the application may write and read in one step, all connections together; [`crate::ALLOWANCE`] unless time stands
    /// still meanwhile.
    pub allowance: usize,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The application has nothing left to do.
    Done,
    /// The program was asked to end, and connections were reset.
    Stopped,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The application could not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The device cannot be read.
    #[error("cannot read from the device: {0}")]
    Read(#[source] io::Error),
    /// The device cannot be written.
    #[error("cannot write to the device: {0}")]
    Write(#[source] io::Error),
    /// Waiting failed.
    #[error("cannot wait for the device: {0}")]
    Wait(#[source] io::Error),
}

/// Frames passed to the device before the clock and the device are read again: ACKs must not wait for a whole window to leave,
/// and a frame must leave soon after its timestamp.
const TURN_FRAMES: usize = 32;

/// Drives one stack over one device.
pub struct Driver<D, C> {
    stack: Stack,
    clock: C,
    inlet: Inlet,
    outlet: Outlet<D>,
    callbacks: Callbacks,
    allowance: usize,
    /// The last time that was passed to the stack.
    seen: Instant,
}

impl<D: Device, C: Clock> Driver<D, C> {
    /// Creates a stack without connections on `device`.
    pub fn new(device: D, clock: C, config: DriverConfig) -> Self {
        let caps = device.caps();
        let mut stack_caps = caps;
        if config.impairment.egress.is_some() {
            // Hops carry single packets.
            stack_caps.segmentation = Segmentation::Off;
        }
        let guards = GuardConfig::default();
        let stack_config =
            StackConfig { addresses: config.addresses, device: stack_caps, isn_secret: config.isn_secret, guards };
        Self {
            stack: Stack::new(stack_config, config.rng),
            clock,
            inlet: Inlet::new(caps, &config.impairment),
            outlet: Outlet::new(device, &config.impairment),
            callbacks: Callbacks::default(),
            allowance: config.allowance,
            seen: Instant::ZERO,
        }
    }

    /// The stack, for its counters and connections.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// Returns the number of frames from the device that were neither TCP segments nor ICMP messages, and were dropped.
    pub fn refused(&self) -> u64 {
        self.inlet.refused()
    }

    /// Returns the statistics of the emulated paths: towards the stack and away from it.
    pub fn path_stats(&self) -> [Option<PathStats>; 2] {
        [self.inlet.path_stats(), self.outlet.path_stats()]
    }

    /// Starts the application: it listens, or its SYN leaves with the next step.
    ///
    /// # Errors
    /// When the application cannot listen or connect.
    pub fn start<A: App, O: Observer>(&mut self, app: &mut A, obs: &mut O) -> Result<(), StartError> {
        self.with_app(obs, |cx| app.start(cx))
    }

    /// Serves the application until it has finished, or the program is asked to end.
    ///
    /// # Errors
    /// If the device fails; the connections are then lost.
    pub fn run<A: App, O: Observer>(&mut self, app: &mut A, obs: &mut O) -> Result<Ended, DriverError> {
        loop {
            let until = self.step(app, obs)?;
            if app.is_done() && !self.stack.has_ready() && self.outlet.is_empty() {
                return Ok(Ended::Done);
            }
            let interest = match self.outlet.room() {
                Room::Some => Interest::Readable,
                Room::None => Interest::ReadableOrWritable,
            };
            let fd = self.outlet.device.fd();
            if self.clock.wait(fd, interest, until).map_err(DriverError::Wait)? == Wake::Stop {
                self.with_app(obs, |cx| app.on_stop(cx));
                // The resets leave, and the application receives all final events. It also accepts connections that were on their
                // way to it, because their peers know that they are open.
                self.step(app, obs)?;
                self.with_app(obs, |cx| app.on_stop(cx));
                while self.outlet.room() == Room::Some && self.transmit(obs)? {}
                self.call_app(&mut { usize::MAX }, app, obs);
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Calls the application out of turn, with no bound: it moves no data then.
    fn with_app<O: Observer, T>(&mut self, obs: &mut O, call: impl FnOnce(&mut AppCx<'_, O>) -> T) -> T {
        self.seen = self.clock.now();
        let (cx, mut allowance) = (StackCx::new(self.seen, obs), usize::MAX);
        call(&mut AppCx::new(&mut self.stack, cx, &mut allowance, &mut VecDeque::new()))
    }

    /// Does everything that is possible without waiting, within the allowance; returns when there will be more to do, unless the
    /// device becomes ready earlier.
    ///
    /// # Errors
    /// If the device fails.
    pub fn step<A: App, O: Observer>(&mut self, app: &mut A, obs: &mut O) -> Result<Option<Instant>, DriverError> {
        self.outlet.begin();
        self.receive(obs)?;
        let mut more = self.transmit(obs)?;
        if app.due().is_some_and(|due| due <= self.seen) {
            self.with_app(obs, |cx| app.on_time(cx));
        }
        let mut allowance = self.allowance;
        loop {
            self.call_app(&mut allowance, app, obs);
            if more || !self.stack.has_ready() {
                break;
            }
            more = self.transmit(obs)?;
        }
        if more && self.outlet.room() == Room::Some || self.callbacks.is_pending(&self.stack) {
            return Ok(Some(self.seen));
        }
        let deadlines =
            [self.stack.next_deadline(), self.inlet.next_deadline(), self.outlet.next_deadline(), app.due()];
        Ok(deadlines.into_iter().flatten().min())
    }

    /// Reads a batch from the device, and passes it and the timers that are due to the stack.
    fn receive<O: Observer>(&mut self, obs: &mut O) -> Result<(), DriverError> {
        let known = self.inlet.fill(&mut self.outlet.device, &mut self.clock).map_err(DriverError::Read)?;
        let now = self.clock.now();
        self.inlet.advance(now);
        let budget = Budget { frames: 0, timers: Timers::BehindFrames { due_by: known } };
        turn(&mut self.stack, StackCx::new(now, obs), self.inlet.frames(self.seen), &mut self.outlet, budget);
        self.inlet.clear();
        self.seen = now;
        Ok(())
    }

    /// Calls the application for what there is to report, at the present moment each time, until `allowance`, in bytes, is
    /// spent.
    fn call_app<A: App, O: Observer>(&mut self, allowance: &mut usize, app: &mut A, obs: &mut O) {
        while *allowance > 0 {
            let Some(event) = self.callbacks.take(&mut self.stack) else { return };
            self.seen = self.clock.now();
            let cx = StackCx::new(self.seen, obs);
            self.callbacks.observe(event, |resumed| {
                app.on_event(&mut AppCx::new(&mut self.stack, cx, allowance, resumed), event);
            });
        }
    }

    /// Transmits frames at the current time. Returns whether some are left.
    fn transmit<O: Observer>(&mut self, obs: &mut O) -> Result<bool, DriverError> {
        self.seen = self.clock.now();
        let budget = Budget { frames: TURN_FRAMES, timers: Timers::BehindFrames { due_by: Instant::ZERO } };
        let more = turn(&mut self.stack, StackCx::new(self.seen, obs), [], &mut self.outlet, budget);
        self.outlet.flush(self.seen).map_err(DriverError::Write)?;
        Ok(more)
    }
}

/// Runs one turn; returns whether data is left to send.
fn turn<'a, D: Device, O: Observer>(
    stack: &mut Stack,
    mut cx: StackCx<'_, O>,
    frames: impl IntoIterator<Item = RxFrame<'a>>,
    outlet: &mut Outlet<D>,
    budget: Budget,
) -> bool {
    let now = cx.now;
    let mut send = |frame: tcp::TxFrame<'_>| outlet.send(now, frame);
    tcp::turn(stack, &mut cx, frames, &mut send, budget).more_to_send
}

#[cfg(test)]
mod tests;
