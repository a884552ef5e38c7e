//! The stack's end of a pipe: takes packets in, runs turns, puts packets out.

use crate::beside::{Beside, Sorted};
use crate::leaving::Leaving;
use crate::outlet::Outlet;
use crate::packet::{Batch, Buffers, Packet};
use crate::queue::{Bounds, Direction, PipeCounters, Room, Shared};
use base::Instant;
use datagram::Datagrams;
use std::task::{Context, Poll};
use tcp::{Budget, Payload, RxFrame, Stack, StackCx, Timers, turn};
use trace::Observer;
use wire::Malformed;

/// Packets that one turn takes in, and frames that it sends at most: enough to share a turn's cost, few enough for the caches.
const BATCH: usize = 64;

/// Bytes of the largest super-segment.
const SUPER_SEGMENT: usize = 1 << 16;

/// The limits of a pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunnerConfig {
    /// Packets on their way to the stack.
    pub inbound: Bounds,
    /// Packets on their way to the tunnel.
    pub outbound: Bounds,
    /// Packets that wait to be taken ([`Runner::take_other`]), because they are not handled here; zero drops and counts all of them.
    pub others: usize,
}

/// When to run the next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once: packets or data are left.
    Now,
    /// When the tunnel moves packets, and at this time at the latest. `None`: no timer runs, and nothing is to be done until the tunnel
    /// or the application calls.
    At(Option<Instant>),
}

/// A stack behind a pipe. The application's calls go to [`Self::stack`], each followed by a [`Self::run`].
#[derive(Debug)]
pub struct Runner {
    stack: Stack,
    shared: Shared,
    /// What the current turn takes in.
    rx: Batch,
    /// What it sends.
    tx: Vec<Packet>,
    /// Buffers for that.
    spare: Buffers,
    /// Takes frames straight out of the stack.
    outlet: Option<Box<dyn Outlet>>,
    /// Most large ones among them.
    large_max: usize,
    pub(crate) beside: Beside,
    /// Everything that had come by this time was taken in.
    known_until: Instant,
    /// A later time, and how many of the packets that had come by then still wait.
    waiting: (Instant, usize),
    /// A timer is due, and is served once the tunnel has read its device.
    waits_for_device: bool,
}

impl Runner {
    pub(crate) fn new(stack: Stack, cfg: RunnerConfig, shared: Shared) -> Self {
        Self {
            stack,
            shared,
            rx: Batch::default(),
            tx: Vec::new(),
            spare: Buffers::default(),
            outlet: None,
            large_max: BATCH.min(cfg.outbound.bytes / SUPER_SEGMENT + 1),
            beside: Beside::new(cfg.others),
            known_until: Instant::ZERO,
            waiting: (Instant::ZERO, 0),
            waits_for_device: false,
        }
    }

    /// The stack.
    pub fn stack(&mut self) -> &mut Stack {
        &mut self.stack
    }

    /// Takes in what the tunnel has sent, serves the timers that are due, and sends: one turn. `now` is not before that of the last
    /// call.
    ///
    /// Packets are taken to have come at `now`. A timer is served once all packets that had come by its time are taken in.
    pub fn run<O: Observer>(&mut self, now: Instant, obs: &mut O) -> Next {
        self.waits_for_device = false;
        let (room, straight) = self.take_in(now);
        let Self { stack, rx, tx, spare, beside, outlet, .. } = self;
        beside.sort(now, &mut rx.packets);
        let bytes = beside.send(now, &room, spare, tx);
        let budget = Budget { frames: BATCH - tx.len(), timers: Timers::BehindFrames { due_by: self.known_until } };
        let malformed = &mut beside.sorted.malformed;
        let frames = rx.packets.iter().filter(|packet| !packet.bytes().is_empty()).filter_map(|packet| {
            let frame = as_frame(packet, now);
            *malformed += u64::from(frame.is_err());
            frame.ok()
        });
        let outlet = outlet.as_mut().map(|outlet| &mut **outlet as &mut dyn Outlet);
        let mut leaving = Leaving { room, packets: tx, bytes, spare, outlet, straight, frames: 0 };
        let result = turn(stack, &mut StackCx::new(now, obs), frames, &mut |frame| leaving.send(&frame), budget);
        let Leaving { straight, frames, .. } = leaving;
        let waits_beside = self.beside.has_ready();
        let found_full = (result.more_to_send || waits_beside) && frames + self.tx.len() < BATCH;
        let (more_came, is_full) = self.put_out(found_full, frames, straight);
        if more_came || (result.more_to_send || waits_beside) && !is_full {
            return Next::Now;
        }
        // A timer that is due and was not served waits for what the device may hold.
        let is_overdue = result.next_deadline.is_some_and(|due| due <= now);
        if is_overdue { self.ask() } else { Next::At(self.next_deadline()) }
    }

    /// Returns when the next timer is due. May be early, never late.
    pub fn next_deadline(&self) -> Option<Instant> {
        [self.stack.next_deadline(), self.beside.next_deadline()].into_iter().flatten().min()
    }

    /// Returns whether a timer is due and waits for the tunnel to read its device. Until then no run serves a timer.
    pub fn waits_for_device(&self) -> bool {
        self.waits_for_device
    }

    /// Returns whether a run would find something to send.
    pub fn has_ready(&self) -> bool {
        self.stack.has_ready() || self.beside.has_ready()
    }

    /// From now on UDP datagrams, echo requests and fragments are handled here; what is left goes to [`Self::take_other`].
    pub fn set_datagrams(&mut self, datagrams: Datagrams) {
        self.beside.datagrams = Some(Box::new(datagrams));
    }

    /// UDP, if there is any. Each call that sends is followed by a [`Self::run`].
    pub fn datagrams(&mut self) -> Option<&mut Datagrams> {
        self.beside.datagrams.as_deref_mut()
    }

    /// Asks the tunnel to read its device.
    fn ask(&mut self) -> Next {
        self.waits_for_device = self.shared.with(|state| {
            let asks = state.reads_device && !state.device_is_empty;
            if asks {
                state.runner_asks = true;
                state.wake_reader();
            }
            asks
        });
        if self.waits_for_device { Next::At(None) } else { Next::Now }
    }

    /// Moves packets from the tunnel into `self.rx`. Returns the room towards it, and what may go straight out.
    fn take_in(&mut self, now: Instant) -> (Room, Option<usize>) {
        let Self { rx, spare, outlet, known_until, waiting, large_max, .. } = self;
        self.shared.with(|state| {
            let came = state.fill(rx, BATCH, Direction::Inbound);
            if came > 0 {
                state.wake_sender();
            }
            // First in, first out: a tunnel that never lets the queue run empty does not hold timers back.
            waiting.1 = waiting.1.saturating_sub(came);
            if waiting.1 == 0 {
                *known_until = waiting.0.max(*known_until);
                // A device that was not read may hold packets.
                if std::mem::take(&mut state.device_is_empty) || !state.reads_device {
                    *waiting = (now, state.inbound.len());
                    *known_until = if state.inbound.is_empty() { now } else { *known_until };
                }
            }
            let (small, large) = spare.counts();
            for (have, want, len) in [(small, BATCH, 0), (large, *large_max, SUPER_SEGMENT)] {
                let more = std::iter::from_fn(|| state.pool.take(len));
                more.take(want.saturating_sub(have)).for_each(|packet| spare.put(packet));
            }
            if state.tunnel_is_gone {
                *outlet = None;
                return (Room::UNLIMITED, None);
            }
            if let Some(new) = state.straight.outlet.take() {
                *outlet = Some(new);
            }
            (state.outbound.room(), state.straight.take())
        })
    }

    /// Moves what the turn has sent to the tunnel, and hands up what it did not take in. `found_full` says that the turn found no
    /// room; so many frames went straight out, and so many bytes may still do so. Returns whether more has come in, and whether the
    /// stack has to wait for the tunnel.
    fn put_out(&mut self, found_full: bool, frames: usize, straight: Option<usize>) -> (bool, bool) {
        let Self { tx, beside, outlet, .. } = self;
        self.shared.with(|state| {
            let Sorted { others, others_dropped, malformed } = std::mem::take(&mut beside.sorted);
            state.counters.others += others;
            state.counters.others_dropped += others_dropped;
            state.counters.malformed += malformed;
            state.counters.outbound += frames as u64;
            straight.into_iter().for_each(|bytes| state.straight.give_back(bytes));
            if state.tunnel_is_gone {
                tx.drain(..).for_each(|packet| state.pool.put_back(packet));
            } else if !tx.is_empty() {
                state.counters.outbound += tx.len() as u64;
                tx.drain(..).for_each(|packet| state.outbound.push(packet));
                state.straight.close();
                state.wake_receiver();
            }
            let waits_for_turn = found_full && outlet.is_some() && state.straight.is_used_up();
            if waits_for_turn {
                state.wake_receiver();
            }
            state.counters.outbound_full += u64::from(found_full && !waits_for_turn);
            // The tunnel may have emptied the queue during the turn. It wakes the runner when it takes a packet, and finds none then.
            state.runner_wants_room = waits_for_turn || found_full && !state.outbound.is_empty();
            (!state.inbound.is_empty(), state.runner_wants_room)
        })
    }

    /// Waits until a run is worthwhile before its deadline: the tunnel has sent packets, or has made room that the stack waits for.
    pub fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let has_ready = self.has_ready();
        self.shared.with(|state| {
            let is_answered = self.waits_for_device && state.device_is_empty;
            if !state.inbound.is_empty() || has_ready && !state.runner_wants_room || is_answered {
                return Poll::Ready(());
            }
            state.runner = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Returns whether the tunnel's end was dropped: no packet will come, and none that is sent will arrive.
    pub fn is_cut_off(&self) -> bool {
        self.shared.with(|state| state.tunnel_is_gone)
    }

    /// Returns whether [`Self::take_other`] has a packet.
    pub fn has_others(&self) -> bool {
        self.beside.has_others()
    }

    /// Returns the oldest packet that is for the program, as it came: of a protocol, or to a destination, that is not handled here.
    pub fn take_other(&mut self) -> Option<Packet> {
        self.beside.take_other()
    }

    /// Totals of the pipe.
    pub fn counters(&self) -> PipeCounters {
        self.shared.with(|state| state.counters)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.shared.with(|state| {
            state.runner_is_gone = true;
            state.wake_sender();
            state.wake_receiver();
        });
    }
}

fn as_frame(packet: &Packet, at: Instant) -> Result<RxFrame<'_>, Malformed> {
    let wire::Split { header, payload } = wire::split(packet.bytes())?;
    let (gso_size, checksum) = (packet.gso_size, packet.checksum);
    Ok(RxFrame { at, header, payload: Payload::Bytes(payload), gso_size, checksum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::config::GuardConfig;
    use tcp::{DeviceCaps, Segmentation, StackConfig, TxChecksum};

    fn joined() -> (Runner, crate::Tunnel) {
        let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        let guards = GuardConfig::default();
        let cfg = StackConfig { addresses: Vec::new(), device, isn_secret: [1, 2], guards };
        crate::pipe(Stack::new(cfg, base::Rng::new(1)), RunnerConfig::default())
    }

    /// The order of events when the tunnel runs in another thread: it empties the queue while a turn finds that queue full.
    #[test]
    fn a_queue_that_was_emptied_during_the_turn_is_not_waited_for() {
        let (mut runner, tunnel) = joined();
        let full = |runner: &mut Runner| {
            let mut batch = Batch::default();
            batch.push(&[0; 20]);
            runner.tx.append(&mut batch.packets);
            runner.put_out(true, 0, None)
        };
        assert_eq!(full(&mut runner), (false, true), "a packet waits, and with it the tunnel's call");
        assert_eq!(tunnel.try_recv(&mut Batch::default(), 8), Ok(1));
        assert_eq!(runner.put_out(true, 0, None), (false, false), "nothing waits: no call would wake the runner");
    }
}
