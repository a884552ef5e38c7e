//! One connection: RFC 9293's transmission control block with everything it owns.
//!
//! [`sender`] and [`receiver`] own the two directions, [`life`] the state: their methods take values and return what crosses to
//! other parts, and none knows the endpoint. The files here give the order of things and apply what crosses: `input` takes segments in the order of RFC 9293 §3.10.7.4, `ack` holds the ten steps of ACK processing, `episode`
//! begins and ends recovery, `output` says what leaves, `probe` what leaves to ask, `patience` how long a silent peer is borne with,
//! `network` applies what [`path`] learns of the way between the hosts, `timeout` serves every
//! deadline, `handshake` and `close` the two ends of life, `app` and `write` the application's calls. `account` only reads.

mod account;
mod ack;
mod app;
mod build;
mod challenge;
mod close;
mod deferred;
mod ecn;
mod episode;
mod extras;
mod fastopen;
mod guards;
mod handshake;
mod input;
mod life;
mod network;
mod news;
mod output;
mod path;
mod patience;
mod probe;
mod queues;
mod rebuild;
mod receiver;
mod refused;
mod sender;
mod state;
mod tally;
#[cfg(test)]
mod tests;
mod time_wait;
mod timeout;
mod urgent;
mod watch;
mod write;

pub(crate) use fastopen::{Answers, FastOpenAnswer, FastOpenNews};
pub(crate) use handshake::SynInfo;
pub use output::{Transmit, TxBuf};
pub(crate) use path::LearnedMtu;
#[cfg(test)]
pub(crate) use path::{About, MayCut};
pub use queues::{FinProgress, Queues};
pub use state::State;
pub(crate) use time_wait::Predecessor;
pub use write::{Boundary, Source};

use crate::config::ValidConfig;
use crate::cx::Cx;
use crate::event::ConnEvent;
use crate::info::TcpInfo;
use crate::options::Negotiated;
use crate::pattern::Payload;
use crate::timers::TimerTable;
use crate::timestamps::TimestampState;
use base::{Instant, SeqNum};
use core::net::IpAddr;
use ecn::EcnState;
use extras::Extras;
use life::{Application, Life};
use news::{News, PendingEvents};
use receiver::Receiver;
use recovery::Episode;
use refused::Outlet;
use sender::Sender;
use tally::Tally;
use trace::{Event, Observer};
use wire::{Ecn, TcpRepr};

/// A connection's addresses and ports. Ports come first: they differ most, so lookups decide early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FourTuple {
    /// Port of the other side.
    pub remote_port: u16,
    /// Our port.
    pub local_port: u16,
    /// Address of the other side.
    pub remote: IpAddr,
    /// Our address.
    pub local: IpAddr,
}

/// A segment addressed to an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The header's meaning.
    pub repr: TcpRepr,
    /// Its bytes, or their description.
    pub payload: Payload<'a>,
    /// The mark of the packet it came in.
    pub ecn: Ecn,
}

impl Segment<'_> {
    /// Sequence numbers the segment occupies: payload, SYN and FIN.
    pub fn seq_len(&self) -> u32 {
        let flags = self.repr.flags;
        self.payload.len() + u32::from(flags.contains(wire::Flags::SYN)) + u32::from(flags.contains(wire::Flags::FIN))
    }
}

/// The numbers that a connection counts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// The initial sequence number.
    pub iss: SeqNum,
    /// What our timestamps count from.
    pub ts_offset: u32,
}

/// Which side opened the connection (RFC 9293 MUST-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This one.
    Active,
    /// The other one.
    Passive,
}

/// How far our direction is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendSide {
    /// The application may write.
    Open,
    /// The application closed; a FIN follows the last byte.
    FinQueued,
    /// The FIN has a sequence number and is on the scoreboard.
    FinSent,
}

/// Zero-window probing (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probing {
    /// The window is open, or nothing waits.
    Idle,
    /// The persist timer runs; this many probes were sent.
    Waiting(u32),
    /// The persist timer fired: one probe is due.
    Due(u32),
}

/// One TCP connection, sans I/O.
///
/// Call order: any number of `handle_*` and application calls, then `poll_transmit` until `None`, then `poll_event` until
/// `None`, then `next_deadline`. Calls at one instant may interleave; `now` never goes back.
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
    tally: Tally,
    /// What most connections never need.
    extras: Option<Box<Extras>>,
}

impl Endpoint {
    /// The RFC 9293 state.
    pub fn state(&self) -> State {
        self.life.state()
    }
    /// What it was configured with.
    pub(crate) fn config(&self) -> &ValidConfig {
        &self.cfg
    }
    /// The connection's addresses and ports.
    pub fn tuple(&self) -> FourTuple {
        self.tuple
    }
    /// The earliest armed timer.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.timers.next()
    }
    /// Readiness for the application; call until `None`.
    #[inline]
    pub fn poll_event(&mut self) -> Option<ConnEvent> {
        let p = &mut self.pending;
        if p.take(News::Connected) {
            return Some(ConnEvent::Connected);
        }
        if p.take(News::Urgent) {
            return Some(ConnEvent::Urgent);
        }
        if p.take(News::Readable) {
            return Some(ConnEvent::Readable);
        }
        if p.take(News::Writable) {
            return Some(ConnEvent::Writable);
        }
        if p.take(News::Unresponsive) {
            return Some(ConnEvent::Unresponsive);
        }
        if let Some(error) = self.extras.as_mut().and_then(|extras| extras.path.reports_mut().poll()) {
            return Some(ConnEvent::Icmp(error));
        }
        if p.take(News::Closed) {
            return self.life.closed().map(ConnEvent::Closed);
        }
        None
    }
    /// Whether `poll_event` has something.
    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        !self.pending.is_empty() || self.path().reports().is_unpolled()
    }
    /// A snapshot for people and checkers.
    pub fn info(&self) -> TcpInfo {
        let window = self.snd.cc.window();
        TcpInfo {
            state: self.life.state(),
            closed: self.life.closed(),
            smss: self.snd.space.smss(),
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            pipe: self.snd.rec.board.pipe(),
            flight_size: self.snd.space.flight_size(),
            snd_wnd: self.snd.space.wnd(),
            rcv_wnd: self.rcv.shown_window(),
            srtt: self.snd.rec.rtt.srtt(),
            rttvar: self.snd.rec.rtt.rttvar(),
            min_rtt: self.snd.rec.rtt.min_rtt(),
            reo_wnd_mult: self.snd.rec.detector.reordering().map(|state| state.multiplier),
            rto: self.snd.rec.rto.current().duration(),
            episode: self.snd.rec.episode().name(),
            readable: self.rcv.readable(),
            mismatches: self.rcv.mismatches(),
            negotiated: (self.neg.sack, self.neg.timestamps, self.neg.scaling),
            ecn: self.tally.ecn(self.neg.ecn),
            syn_data_taken: self.syn_data_taken(),
            counters: self.counters(),
        }
    }
    fn set_state<O: Observer>(&mut self, cx: &mut Cx<'_, O>, to: State) {
        let from = self.life.enter(to);
        if to == State::Established {
            self.snd.grow_buffer(&self.cfg);
        }
        cx.emit(|| Event::StateChanged { from: from.name(), to: to.name() });
    }
    //= specs/rfc9937.md#end-of-an-episode
    //# An episode that begins inside another one ends that first.
    fn set_episode<O: Observer>(&mut self, cx: &mut Cx<'_, O>, to: Episode, cause: &'static str) {
        let from = self.snd.rec.enter(to);
        cx.emit(|| Event::EpisodeChanged { from: from.name(), to: to.name(), cause, point: to.point() });
    }

    /// The box, made on first use.
    #[inline]
    fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}
