//! One connection: RFC 9293's transmission control block with everything it owns.
//!
//! [`sender`] and [`receiver`] own the two directions, [`life`] the state from the handshake to the end: their methods take
//! values and return effects on other parts, and none knows the endpoint. The files here determine the order of steps and apply
//! these effects: this file the connection's state, `handshake` its beginning, `input` segments in the order of RFC 9293
//! §3.10.7.4, `ack` the ten steps of ACK processing with the begin and end of recovery, `output` and `build` departures,
//! `refused` a device that rejects packets, `network` reports of the network, from which [`path`] learns, `timeout` every
//! deadline, `app` the application's calls. [`books`] counts, reports and reads the others.

mod ack;
mod app;
mod books;
mod build;
mod challenge;
mod ecn;
mod extras;
mod handshake;
mod input;
mod life;
mod network;
mod outlet;
mod output;
mod path;
mod receiver;
mod refused;
mod resume;
mod segment;
mod sender;
mod state;
#[cfg(test)]
mod tests;
mod timeout;
mod urgent;

pub use books::{FinProgress, Queues};
pub(crate) use handshake::SynInfo;
pub(crate) use life::{Answers, FastOpenAnswer, FastOpenReport, Predecessor};
pub(crate) use output::Then;
pub use output::{Transmit, TxBuf};
pub(crate) use path::LearnedMtu;
#[cfg(test)]
pub(crate) use path::{About, MayCut};
pub(crate) use segment::Numbering;
pub use segment::{FourTuple, Segment};
pub use sender::{Boundary, Source};
pub use state::{Origin, State};

use crate::config::{Discovery, GuardConfig, TimeWaitReuse, ValidConfig};
use crate::cx::Cx;
use crate::event::{CloseReason, ConnEvent};
use crate::info::{Counters, Details, TcpInfo};
use crate::options::{self, Negotiated};
use crate::timers::{TimerKind, TimerTable};
use crate::timestamps::TimestampState;
use base::{Bytes, Duration, Instant};
use books::{Account, Around, PendingEvents, Readiness, Statistics, labels};
use ecn::EcnState;
use extras::Extras;
use life::{Application, FastOpenState, Life, UserTimeout};
use outlet::Outlet;
use receiver::Receiver;
use recovery::Episode;
use sender::{Held, Sender};
use state::{Probing, SendSide};
use trace::{EpisodeCause, Event, Observer};
use wire::TcpRepr;

/// The properties of a host for each of its connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub guards: GuardConfig,
    /// The device takes several segments at once.
    pub bursts: bool,
    /// The device rejects packets.
    pub refuses: bool,
    /// What an earlier connection to the same peer has learned of the path.
    pub path: Option<LearnedMtu>,
}

/// One TCP connection, sans I/O.
///
/// Call order: any number of `handle_*` and application calls, then `poll_transmit` until `None`, then `poll_event` until `None`,
/// then `next_deadline`. Calls at one instant may interleave; `now` never decreases.
#[derive(Clone, Debug)]
pub struct Endpoint {
    cfg: ValidConfig,
    tuple: FourTuple,
    mtu: u16,
    life: Life,
    timers: TimerTable,
    neg: Negotiated,
    ts: TimestampState,
    snd: Sender,
    rcv: Receiver,
    ecn: EcnState,
    outlet: Outlet,
    pending: PendingEvents,
    stats: Statistics,
    /// State that most connections never need.
    extras: Option<Box<Extras>>,
}

impl Endpoint {
    /// Returns the RFC 9293 state.
    pub fn state(&self) -> State {
        self.life.state()
    }
    /// Returns its configuration.
    pub(crate) fn config(&self) -> &ValidConfig {
        &self.cfg
    }
    /// Returns the connection's addresses and ports.
    pub fn tuple(&self) -> FourTuple {
        self.tuple
    }
    /// Returns the deadline of the earliest armed timer.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next()
    }
    /// Returns the next event for the application; call until `None`.
    #[inline]
    pub fn poll_event(&mut self) -> Option<ConnEvent> {
        let p = &mut self.pending;
        if p.take(Readiness::Connected) {
            return Some(ConnEvent::Connected);
        }
        if p.take(Readiness::Urgent) {
            return Some(ConnEvent::Urgent);
        }
        if p.take(Readiness::Readable) {
            return Some(ConnEvent::Readable);
        }
        if p.take(Readiness::Writable) {
            return Some(ConnEvent::Writable);
        }
        if p.take(Readiness::Unresponsive) {
            return Some(ConnEvent::Unresponsive);
        }
        if let Some(error) = self.extras.as_mut().and_then(|extras| extras.path.reports_mut().poll()) {
            return Some(ConnEvent::Icmp(error));
        }
        if p.take(Readiness::FinAcknowledged) {
            return Some(ConnEvent::FinAcknowledged);
        }
        if p.take(Readiness::Closed) {
            return self.life.closed().map(ConnEvent::Closed);
        }
        None
    }
    /// Returns whether `poll_event` has an event.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        !self.pending.is_empty() || self.path().reports().is_unpolled()
    }
    /// Returns a snapshot for people and checkers.
    pub fn info(&self) -> TcpInfo {
        self.account().info()
    }
    /// Returns totals since the connection began.
    #[inline]
    pub fn counters(&self) -> Counters {
        self.account().counters()
    }
    /// Returns all statistics of the connection. Iterates over the flight: call it occasionally, not for each ACK.
    pub fn details(&self, now: Instant) -> Details {
        let advertised_mss = options::own_mss(&self.cfg, self.mtu, self.tuple.local);
        let around = Around { path_mtu: self.path_mtu(), advertised_mss, timestamp: self.ts.tsval(now) };
        self.account().details(now, &around)
    }
    /// Returns the bytes that wait in the buffers.
    pub fn queues(&self) -> Queues {
        self.account().queues()
    }
    /// Returns the bytes this endpoint occupies without the application's data: the struct, its boxes, and the records of the
    /// flight, which an idle one does not have.
    pub fn state_size(&self) -> usize {
        size_of::<Self>() + self.extras.as_deref().map_or(0, size_of_val) + self.account().heap_size()
    }
    /// Returns the scoreboard records touched since the connection began; tests bound its growth per ACK.
    #[cfg(test)]
    pub fn records_visited(&self) -> u64 {
        self.snd.rec.board.visited()
    }
    /// Checks the connection's invariants.
    ///
    /// # Errors
    /// Names the violated invariant and its numbers.
    pub fn audit(&self) -> Result<(), String> {
        self.account().audit(self.timers.next().is_some())
    }
    /// Returns the parts that the books read.
    #[inline]
    fn account(&self) -> Account<'_> {
        Account {
            cfg: &self.cfg,
            life: &self.life,
            neg: &self.neg,
            snd: &self.snd,
            rcv: &self.rcv,
            stats: &self.stats,
            syn_data_taken: self.fast_open().data_taken(),
        }
    }
    /// Returns how the connection ended.
    pub fn closed(&self) -> Option<CloseReason> {
        self.life.closed()
    }

    /// Returns the receive half, whose limits and settings the stack changes.
    #[inline]
    pub(crate) fn receiver(&mut self) -> &mut Receiver {
        &mut self.rcv
    }

    /// Returns the send half, whose settings the stack changes.
    #[inline]
    pub(crate) fn sender(&mut self) -> &mut Sender {
        &mut self.snd
    }

    /// Applies the properties of the host on which the connection begins.
    pub(crate) fn equip(&mut self, host: &Host) {
        self.rcv.guard(&host.guards);
        if host.bursts {
            self.snd.send_bursts(&self.cfg);
        }
        self.outlet.set(host.refuses);
        // Time is counted in nanoseconds, so only a coarser clock needs storage.
        if host.guards.clock_resolution > Duration::from_nanos(1) {
            self.extras.get_or_insert_default().clock_resolution = host.guards.clock_resolution;
        }
        if let Some(learned) = host.path.filter(|_| self.cfg.path_mtu.discovery == Discovery::On) {
            let at = self.path_cx();
            self.extras.get_or_insert_default().path.know(&at, learned);
            self.fit_path();
        }
    }

    //= specs/rfc9293.md#closing
    //# Who closes first waits in TIME-WAIT for twice the maximum segment lifetime.
    /// Enters another state and performs the actions of its beginning, such as arming its timer. FIN-WAIT-2 is bounded only once
    /// the application has released the connection; until then the peer may send indefinitely. If its duration is zero, the
    /// segment that acknowledged our FIN ends the connection, and a reset answers it.
    fn set_state<O: Observer>(&mut self, cx: &mut Cx<'_, O>, to: State) {
        if to == State::Closed {
            return self.finish(cx, CloseReason::Normal);
        }
        let from = self.life.enter(to);
        cx.emit(|| Event::StateChanged { from: from.into(), to: to.into() });
        match to {
            State::Established => self.snd.grow_buffer(&self.cfg),
            State::FinWait2 if self.life.is_orphaned() => match self.cfg.timers.fin_wait_2 {
                Duration::ZERO => self.finish(cx, CloseReason::Aborted),
                wait => self.arm(cx, TimerKind::FinWait2, cx.now + wait),
            },
            State::TimeWait => {
                self.timers.stop_all();
                self.life.close(CloseReason::Normal);
                self.pending.add(Readiness::Closed);
                self.arm(cx, TimerKind::TimeWait, cx.now + self.cfg.timers.time_wait);
            }
            _ => {}
        }
    }

    /// Ends the connection for `reason`; drops everything that waited.
    pub(crate) fn finish<O: Observer>(&mut self, cx: &mut Cx<'_, O>, reason: CloseReason) {
        if self.life.state() == State::Closed {
            return;
        }
        if self.is_early() {
            self.extras.get_or_insert_default().fast_open.on_early_end(cx.now, reason);
        }
        let reason = self.path().reports().cause(reason);
        let from = self.life.enter(State::Closed);
        cx.emit(|| Event::StateChanged { from: from.into(), to: trace::State::Closed });
        self.timers.stop_all();
        self.life.take_syn();
        self.rcv.forget_due_ack();
        // A connection that ended in TIME-WAIT was reported on entry.
        if self.life.close(reason) {
            self.pending.add(Readiness::Closed);
            if reason != CloseReason::Normal {
                self.pending.add(Readiness::Readable);
            }
        }
    }

    /// Returns the limit that accounts for the time until something leaves, when nothing more can leave for now.
    #[inline]
    fn held(&self) -> Held {
        let works = self.snd.has_work() && self.may_send();
        if works { self.snd.held(self.segment_size()) } else { Held::Nothing }
    }

    //= specs/rfc9937.md#end-of-an-episode
    //# An episode that begins inside another one ends that first.
    fn set_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, to: Episode, cause: EpisodeCause) {
        let from = self.snd.rec.enter(to);
        cx.emit(|| {
            let [from, new] = [from, to].map(labels::episode);
            Event::EpisodeChanged { from, to: new, cause, point: to.point() }
        });
    }

    /// Arms a timer on this endpoint's clock, and reports it.
    #[inline]
    fn arm<O: Observer>(&mut self, cx: &mut Cx<'_, O>, kind: TimerKind, at: Instant) {
        let at = self.timers.arm(kind, at, self.cfg.timers.granularity);
        cx.emit(|| Event::TimerArmed { kind, fires_at: at });
    }

    /// Returns the connection's Fast Open state.
    #[inline]
    fn fast_open(&self) -> &FastOpenState {
        self.extras.as_deref().map_or(&FastOpenState::NONE, |extras| &extras.fast_open)
    }

    //= specs/rfc7413.md#server
    //# Before the handshake is over the server may send as much as the initial window allows.
    /// Returns whether data flows although our SYN-ACK is not acknowledged.
    #[inline]
    fn is_early(&self) -> bool {
        self.life.state() == State::SynReceived && self.fast_open().early_since().is_some()
    }

    /// Returns whether the application still waits for the connection to open; it may already use an early one.
    fn is_opening(&self) -> bool {
        matches!(self.life.state(), State::SynSent | State::SynReceived) && !self.fast_open().is_in_use()
    }

    /// Returns whether segments with data or a FIN may leave.
    #[inline]
    fn may_send(&self) -> bool {
        (self.life.state().may_send() || self.is_early()) && self.outlet != Outlet::Reopened
    }

    /// Returns whether our SYN or SYN-ACK left several times, because a timer expired or the peer repeated its SYN.
    fn syn_left_again(&self) -> bool {
        self.snd.rec.retries() > 0 || self.extras.as_ref().is_some_and(|extras| extras.opening.is_repeated())
    }

    /// Returns the user timeout of the current silence, if there is one.
    #[inline]
    fn user_timeout(&self) -> Option<UserTimeout> {
        UserTimeout::new(&self.cfg.retries, self.extras.as_deref().and_then(|extras| extras.silence.since()))
    }

    /// Returns how long neither data nor an acknowledgement has arrived.
    fn idle_for(&self, now: Instant) -> Duration {
        self.stats.since_data_received(now).min(self.stats.since_ack_received(now))
    }

    /// Returns what the stack should learn about Fast Open, once.
    #[inline]
    pub(crate) fn take_fast_open_report(&mut self) -> Option<FastOpenReport> {
        self.extras.as_mut().and_then(|extras| extras.fast_open.take_report())
    }

    /// Returns the memory of received data, in bytes: unread bytes, pages out of order and the records of their blocks.
    #[inline]
    pub(crate) fn received_memory(&self) -> usize {
        self.rcv.data_memory()
    }

    /// Returns the memory of unsent and unacknowledged data, in bytes.
    pub(crate) fn send_memory(&self) -> usize {
        let kept = self.snd.rec.delivered.as_deref().map_or(0, |kept| kept.heap_size());
        self.snd.buffer.memory() + self.snd.rec.board.heap_size() + kept
    }

    /// Returns the bytes that were written and not yet acknowledged.
    pub(crate) fn unacknowledged(&self) -> Bytes {
        self.snd.buffer.len()
    }

    /// Returns whether data waits out of order.
    pub(crate) fn has_out_of_order(&self) -> bool {
        self.rcv.has_out_of_order()
    }

    /// Returns whether a SYN may end TIME-WAIT (RFC 6191 §2). `timestamps` says whether the new connection would use those that
    /// the SYN offers.
    pub(crate) fn yields_to(&self, syn: &TcpRepr, timestamps: bool) -> bool {
        let offered = syn.options.timestamps.filter(|_| timestamps).map(|offered| offered.tsval);
        let recent = self.ts.recent().filter(|_| self.neg.timestamps).map(|(tsval, _)| tsval);
        self.life.state() == State::TimeWait
            && life::syn_may_follow(recent, offered, syn.seq.at_or_after(self.rcv.rcv_nxt()))
    }

    /// Returns whether a connection opened locally may end TIME-WAIT now.
    pub(crate) fn yields_to_active_open(&self, reuse: TimeWaitReuse, now: Instant) -> bool {
        match (reuse, self.timers.deadline(TimerKind::TimeWait)) {
            (TimeWaitReuse::After(wait), Some(end)) => {
                // The wait ends `time_wait` after its start.
                self.neg.timestamps && now + self.cfg.timers.time_wait >= end + wait
            }
            _ => false,
        }
    }

    /// Returns what the next connection between the same ends must know about this one.
    pub(crate) fn predecessor(&self) -> Predecessor {
        Predecessor { snd_nxt: self.snd.space.nxt(), recent: self.ts.recent().map(|(tsval, _)| tsval) }
    }
}
