//! Fast Open on one connection (RFC 7413 §4.2): data in our SYN, or data in the peer's.
//!
//! Owns what a SYN or SYN-ACK carries for it and what becomes of it. Which cookie is sent, and which is believed, is the
//! stack's to say; what a connection learns for later ones it leaves as [`FastOpenNews`] for the stack to fetch.
//!
//! Data of our SYN is not on the scoreboard: the SYN's own timer watches over it, and a SYN that is sent again leaves without
//! it. What the SYN-ACK does not acknowledge becomes, cut to the peer's segment size, a flight that is lost, without blame.
//!
//! A passive open whose SYN brought data that is believed is in SYN-RECEIVED like any other, but its application is notified
//! at once, reads and writes. What it sends before the handshake is over is not sent again before: the SYN-ACK is.
//!
//! Deviations:
//! * A FIN in the peer's SYN is not taken; the peer sends it again.
//! * A connection that was opened from both sides at once takes data from the peer's SYN only as one without Fast Open does.

use super::refused::Outlet;
use super::{Endpoint, News, Segment, State};
use crate::cx::Cx;
use crate::event::CloseReason;
use crate::options::default_mss;
use base::{Bytes, Instant, SeqNum, SeqRange};
use recovery::Scoreboard;
use trace::Observer;
use wire::{FastOpen, Flags, TcpRepr};

/// A connection's part in Fast Open.
#[derive(Clone, Debug, Default)]
pub(super) struct FastOpenState {
    role: Role,
    /// For the stack to fetch.
    news: Option<FastOpenNews>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Role {
    #[default]
    None,
    /// Our first SYN carries, or carried, this option and so many bytes.
    Client { option: Option<FastOpen>, bytes: Bytes, taken: Taken },
    /// The peer's SYN brought so many bytes that were believed, or none; our first SYN-ACK carries this option.
    Server { option: Option<FastOpen>, bytes: Bytes, early: Early },
}

/// Whether the peer took the data of our SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Unknown,
    All,
    NotAll,
}

/// Whether a passive open goes ahead of its handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Early {
    No,
    /// Since its SYN-ACK left, at this moment; no application has accepted it.
    Waiting(Instant),
    /// The same, and an application uses it.
    InUse(Instant),
}

impl Early {
    /// Since when.
    const fn since(self) -> Option<Instant> {
        match self {
            Self::No => None,
            Self::Waiting(at) | Self::InUse(at) => Some(at),
        }
    }
}

/// What a stack answers to a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastOpenAnswer {
    /// As if it knew nothing of Fast Open.
    Nothing,
    /// The handshake has to end first; here is a cookie for the next time.
    Cookie(FastOpen),
    /// The peer is who it says: the connection goes ahead. Perhaps it gets a newer cookie.
    Believe(Option<FastOpen>),
}

/// What a connection has for its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastOpenNews {
    /// The peer's SYN-ACK: its segment size, its option, and whether that is an answer to ours.
    Learnt { mss: u16, option: Option<FastOpen>, answers: Answers },
    /// Three timeouts in a row, or silence until the end, on a connection that tried.
    Silence(Instant),
    /// A passive connection that went ahead has ended its handshake, or has ended.
    Settled,
    /// It was reset instead.
    Reset(Instant),
}

/// What a SYN-ACK is an answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// A SYN without the option: an unsolicited cookie is not kept.
    Nothing,
    /// A request, which left with this option.
    Request(FastOpen),
    /// A cookie, or a request that may have been lost with the first SYN.
    Offer,
}

/// How often a SYN left before it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    One,
    Several,
}

impl Endpoint {
    /// Puts `option` and the first bytes of `data` into the SYN, which has not left: as many as `room` takes. Returns how
    /// many; `None` when it is too late.
    pub(crate) fn open_fast(&mut self, option: Option<FastOpen>, data: &[u8], room: Bytes) -> Option<usize> {
        let waits = self.life.state() == State::SynSent && self.life.syn_due() && self.snd.rec.retries() == 0;
        if !waits || self.snd.buffer.len() > 0 || !matches!(self.fast_open_role(), Role::None) {
            return None;
        }
        let bytes = self.snd.buffer.write(&data[..data.len().min(room as usize)]);
        self.extras_mut().fast_open.role = Role::Client { option, bytes: bytes as Bytes, taken: Taken::Unknown };
        Some(bytes)
    }

    //= specs/rfc7413.md#server
    //# Data in a SYN with a valid cookie is given to the application before the handshake is over.
    //= specs/rfc7413.md#server
    //# The SYN-ACK acknowledges the data that was taken.
    /// A passive open that was just made is to answer its SYN like this.
    pub(crate) fn answer_fast<O: Observer>(&mut self, cx: &mut Cx<'_, O>, syn: &Segment<'_>, answer: FastOpenAnswer) {
        let (option, early) = match answer {
            FastOpenAnswer::Nothing => return,
            FastOpenAnswer::Cookie(option) => (Some(option), Early::No),
            FastOpenAnswer::Believe(option) => (option, Early::Waiting(cx.now)),
        };
        let mut bytes = 0;
        if early != Early::No {
            // From here on the SYN is behind us as far as sequence numbers go; that it is not acknowledged, the state says.
            self.snd.space.on_syn_acked();
            self.pending.add(News::Connected);
            bytes = self.take_syn_data(syn);
        }
        self.extras_mut().fast_open.role = Role::Server { option, bytes, early };
    }

    /// Takes the data of the peer's SYN, which the SYN-ACK acknowledges. Returns how many bytes.
    fn take_syn_data(&mut self, syn: &Segment<'_>) -> Bytes {
        let range = self.rcv.take_early(&self.cfg, syn);
        if !range.is_empty() {
            self.pending.add(News::Readable);
            self.ts.on_ack_sent(range.end);
        }
        range.len()
    }

    #[inline]
    fn fast_open_role(&self) -> Role {
        self.extras.as_ref().map_or(Role::None, |extras| extras.fast_open.role)
    }

    //= specs/rfc7413.md#server
    //# Before the handshake is over the server may send as much as the initial window allows.
    /// Whether data flows although our SYN-ACK is not acknowledged.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        let Role::Server { early, .. } = self.fast_open_role() else { return false };
        self.life.state() == State::SynReceived && early.since().is_some()
    }

    /// The application has accepted the connection.
    pub(crate) fn note_accepted(&mut self) {
        if let Role::Server { option, bytes, early: Early::Waiting(since) } = self.fast_open_role() {
            self.extras_mut().fast_open.role = Role::Server { option, bytes, early: Early::InUse(since) };
        }
    }

    /// Whether the connection is still to be opened as far as its application is concerned: one that it uses already is not.
    pub(super) fn is_opening(&self) -> bool {
        let in_use = matches!(self.fast_open_role(), Role::Server { early: Early::InUse(_), .. });
        matches!(self.life.state(), State::SynSent | State::SynReceived) && !in_use
    }

    /// Whether segments with data or a FIN may leave.
    #[inline]
    pub(super) fn may_send(&self) -> bool {
        (self.life.state().may_send() || self.is_early()) && self.outlet != Outlet::Reopened
    }

    //= specs/rfc7413.md#client
    //# A SYN that is sent again leaves without data and without the option.
    //= specs/rfc7413.md#server
    //# A SYN-ACK that is sent again leaves without the option.
    /// What the SYN or SYN-ACK that leaves now carries.
    pub(super) fn fast_open_of_syn(&self) -> (Option<FastOpen>, Bytes) {
        match (self.fast_open_role(), self.life.state()) {
            _ if self.syn_left_again() => (None, 0),
            (Role::Client { option, bytes, taken: Taken::Unknown }, State::SynSent) => (option, bytes),
            (Role::Server { option, .. }, State::SynReceived) => (option, 0),
            _ => (None, 0),
        }
    }

    /// The path does not take our SYN with its data: it leaves at once without.
    pub(super) fn take_data_out_of_syn(&mut self) {
        let Role::Client { option, bytes: 1.., taken: Taken::Unknown } = self.fast_open_role() else { return };
        if let (State::SynSent, Role::Client { bytes, .. }) = (self.life.state(), self.fast_open_role()) {
            self.extras_mut().fast_open.role = Role::Client { option, bytes, taken: Taken::NotAll };
            self.life.require_syn();
        }
    }

    /// When the SYN or SYN-ACK left that a round trip is counted from. Data that went ahead has started the timer anew.
    pub(super) fn syn_sent_at(&self) -> Instant {
        let early = match self.fast_open_role() {
            Role::Server { early, .. } => early.since(),
            _ => None,
        };
        early.unwrap_or(self.snd.rec.rto_base())
    }

    //= specs/rfc7413.md#client
    //# Data of the SYN that the SYN-ACK does not acknowledge is sent again at once.
    /// The peer has acknowledged our SYN with `ack`, perhaps some data of it, and said what it says in `repr`.
    /// `syn` is how often ours had left.
    pub(super) fn settle_fast_open<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        repr: &TcpRepr,
        ack: SeqNum,
        syn: Copies,
    ) {
        match self.fast_open_role() {
            Role::None => {}
            Role::Server { early: Early::No, .. } => {}
            Role::Server { .. } => {
                self.extras_mut().fast_open.news = Some(FastOpenNews::Settled);
                // What went ahead is watched over from now on.
                self.snd.rec.restart_rto(cx.now);
                self.arm_loss_timer(cx);
            }
            Role::Client { option, bytes, .. } => {
                let news = self.lesson(option, repr, syn);
                let all = self.settle_syn_data(cx, bytes, ack);
                let taken = if all { Taken::All } else { Taken::NotAll };
                let state = &mut self.extras_mut().fast_open;
                state.role = Role::Client { option, bytes, taken };
                state.news = news;
            }
        }
    }

    /// What a SYN-ACK teaches. The end of a simultaneous open may come without options, and teaches nothing.
    fn lesson(&self, option: Option<FastOpen>, repr: &TcpRepr, syn: Copies) -> Option<FastOpenNews> {
        let answers = match (option, syn) {
            (None, _) => Answers::Nothing,
            (Some(request), Copies::One) if request.cookie.is_none() => Answers::Request(request),
            (Some(_), _) => Answers::Offer,
        };
        repr.flags.contains(Flags::SYN).then(|| FastOpenNews::Learnt {
            mss: repr.options.mss.unwrap_or_else(|| default_mss(self.tuple.local)),
            option: repr.options.fast_open,
            answers,
        })
    }

    /// `bytes` of data left with the SYN; what lies beyond `ack` becomes a lost flight. Returns whether nothing does.
    fn settle_syn_data<O: Observer>(&mut self, cx: &mut Cx<'_, O>, bytes: Bytes, ack: SeqNum) -> bool {
        let end = self.snd.space.una() + bytes;
        let una = ack.max(self.snd.space.una()).min(end);
        self.snd.on_bytes_acked(una.distance_from(self.snd.space.una()));
        self.snd.space.on_acked(una);
        self.snd.space.on_sent(end.max(una));
        if bytes == 0 {
            return true;
        }
        self.snd.rec.board = Scoreboard::new(una);
        self.snd.rec.restart_rto(cx.now);
        let (tsval, size) = (self.ts.tsval(cx.now), self.snd.space.smss());
        let mut at = una;
        while at != end {
            let part = size.min(end.distance_from(at));
            let stamp = self.snd.rec.sampler.stamp(cx.now, self.snd.rec.board.pipe());
            let id = self.snd.rec.board.on_sent(SeqRange::new(at, at + part), tsval, stamp, cx.now);
            if let Some(segment) = self.snd.rec.board.get(id) {
                self.snd.rec.detector.on_sent(&segment);
            }
            self.snd.rec.board.mark_lost(id);
            at += part;
        }
        self.snd.rec.board.clear_lost_log();
        una == end
    }

    /// Whether `end` is where the data of our SYN ended. It was written, and pushed, as a whole.
    #[inline]
    pub(super) fn ends_syn_data(&self, end: SeqNum) -> bool {
        match self.fast_open_role() {
            Role::Client { bytes, .. } => bytes > 0 && end == self.snd.space.iss() + 1 + bytes,
            _ => false,
        }
    }

    /// Whether data in a SYN was taken, on either side.
    pub(super) fn syn_data_taken(&self) -> bool {
        match self.fast_open_role() {
            Role::None => false,
            Role::Client { bytes, taken, .. } => bytes > 0 && taken == Taken::All,
            Role::Server { bytes, .. } => bytes > 0,
        }
    }

    /// A timeout; `last` says that the connection is given up.
    pub(super) fn note_unanswered(&mut self, now: Instant, last: bool) {
        let retries = self.snd.rec.retries();
        let tried = match self.fast_open_role() {
            Role::Client { option, bytes, .. } => option.is_some() || bytes > 0,
            _ => false,
        };
        if tried && (retries == 3 || last && retries < 3) {
            self.extras_mut().fast_open.news = Some(FastOpenNews::Silence(now));
        }
    }

    /// The connection ends, before its handshake did.
    pub(super) fn note_early_end(&mut self, now: Instant, reason: CloseReason) {
        if self.is_early() {
            let reset = reason == CloseReason::Reset;
            let news = if reset { FastOpenNews::Reset(now) } else { FastOpenNews::Settled };
            self.extras_mut().fast_open.news = Some(news);
        }
    }

    /// What the stack should know, once.
    #[inline]
    pub(crate) fn take_fast_open_news(&mut self) -> Option<FastOpenNews> {
        self.extras.as_mut().and_then(|extras| extras.fast_open.news.take())
    }
}
