//! The loop: frames in, one `turn`, readiness to the application, frames out, wait for the device or the next deadline.
//!
//! It is the same for a TUN device with the machine's clock and for a scripted device with a scripted clock. A step never
//! waits; [`Driver::run`] is nothing but steps and waits.

use crate::apps::App;
use crate::clock::{Clock, Interest, Wake};
use crate::device::Device;
use crate::impair::Impairment;
use crate::inlet::Inlet;
use crate::outlet::{Outlet, Room};
use base::{Instant, Rng};
use netem::PathStats;
use std::io;
use std::net::IpAddr;
use tcp::config::GuardConfig;
use tcp::{Budget, ConnectError, ListenError, RxFrame, Segmentation, Stack, StackConfig, StackCx};
use trace::Observer;

/// What a driver is made from, besides its device and clock.
#[derive(Clone, Debug)]
pub struct DriverConfig {
    /// The stack's addresses.
    pub addresses: Vec<IpAddr>,
    /// Key of the initial sequence numbers (RFC 6528); unpredictable on a real host.
    pub isn_secret: [u64; 2],
    /// Feeds port choice and the connections' own streams.
    pub rng: Rng,
    /// Emulated paths between device and stack.
    pub impairment: Impairment,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The application has nothing left to do.
    Done,
    /// The program was asked to end; connections were reset.
    Stopped,
}

/// Why an application could not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Its port cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Its connection cannot be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// The application could not begin.
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

/// Frames handed to the device before the device is read again: ACKs must not wait for a whole window to leave.
const TURN_FRAMES: usize = 256;

/// Drives one stack over one device.
pub struct Driver<D, C> {
    stack: Stack,
    clock: C,
    inlet: Inlet,
    outlet: Outlet<D>,
}

impl<D: Device, C: Clock> Driver<D, C> {
    /// A stack without connections on `device`.
    pub fn new(device: D, clock: C, config: DriverConfig) -> Self {
        let caps = device.caps();
        let mut stack_caps = caps;
        if config.impairment.egress.is_some() {
            // Hops carry packets one by one.
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
        }
    }

    /// The stack, for its counters and connections.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// Frames from the device that were neither TCP segments nor ICMP messages, and went no further.
    pub fn refused(&self) -> u64 {
        self.inlet.refused()
    }

    /// What went through the emulated paths: towards the stack and away from it.
    pub fn path_stats(&self) -> [Option<PathStats>; 2] {
        [self.inlet.path_stats(), self.outlet.path_stats()]
    }

    /// Lets the application begin: it listens, or its SYN leaves with the next step.
    ///
    /// # Errors
    /// When the application cannot listen or connect.
    pub fn start<A: App, O: Observer>(&mut self, app: &mut A, obs: &mut O) -> Result<(), StartError> {
        let now = self.clock.now();
        app.start(&mut self.stack, &mut StackCx::new(now, obs))
    }

    /// Serves the application until it has nothing left to do, or the program is asked to end.
    ///
    /// # Errors
    /// When the device fails; the connections are lost then.
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
                let now = self.clock.now();
                app.on_stop(&mut self.stack, &mut StackCx::new(now, obs));
                // The resets leave.
                self.step(app, obs)?;
                return Ok(Ended::Stopped);
            }
        }
    }

    /// Everything that can be done at this moment without waiting; when there will be more to do, unless the device
    /// becomes ready before.
    ///
    /// # Errors
    /// When the device fails.
    pub fn step<A: App, O: Observer>(&mut self, app: &mut A, obs: &mut O) -> Result<Option<Instant>, DriverError> {
        self.inlet.fill(&mut self.outlet.device, &mut self.clock).map_err(DriverError::Read)?;
        let now = self.clock.now();
        self.outlet.begin();
        self.outlet.flush(now).map_err(DriverError::Write)?;
        self.inlet.advance(now);
        let mut cx = StackCx::new(now, obs);
        let Self { stack, inlet, outlet, .. } = self;
        let mut more = turn(stack, &mut cx, inlet.frames(), outlet);
        inlet.clear();
        loop {
            while let Some(event) = stack.poll_event() {
                app.on_event(stack, &mut cx, event);
            }
            if more || !stack.has_ready() {
                break;
            }
            more = turn(stack, &mut cx, [], outlet);
        }
        outlet.flush(now).map_err(DriverError::Write)?;
        if more && outlet.room() == Room::Some {
            return Ok(Some(now));
        }
        let deadlines = [stack.next_deadline(), inlet.next_deadline(), outlet.next_deadline()];
        Ok(deadlines.into_iter().flatten().min())
    }
}

/// One turn; whether it left something to send.
fn turn<'a, D: Device, O: Observer>(
    stack: &mut Stack,
    cx: &mut StackCx<'_, O>,
    frames: impl IntoIterator<Item = RxFrame<'a>>,
    outlet: &mut Outlet<D>,
) -> bool {
    let now = cx.now;
    let mut send = |frame: tcp::TxFrame<'_>| outlet.send(now, frame);
    tcp::turn(stack, cx, frames, &mut send, Budget { frames: TURN_FRAMES }).more_to_send
}

#[cfg(test)]
mod tests;
