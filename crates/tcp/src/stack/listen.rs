//! The passive OPEN (RFC 9293 §3.10.1): listeners come and go, and what they answer a stranger's SYN. A [`Listener`] says how many
//! connections may wait.

use super::budget::CONNECTION_BYTES;
use super::fastopen::FastOpenListener;
use super::listener::{AnswerToSyn, ListenOn, Listener, is_syn};
use super::slots::Admission;
use super::{Conn, ListenError, Stack};
use crate::config::ValidConfig;
use crate::cx::{Cx, StackCx};
use crate::endpoint::{Endpoint, FastOpenAnswer, FourTuple, Predecessor, Segment, SynInfo};
use crate::event::CloseReason;
use crate::options;
use base::Instant;
use trace::Observer;
use wire::IpRepr;

/// A SYN for a listener: between which ends, when, and after which connection that its TIME-WAIT kept.
struct Arrival {
    tuple: FourTuple,
    at: Instant,
    last: Option<Predecessor>,
}

/// How a connection begins that a peer asked for.
pub(super) struct Opening {
    pub tuple: FourTuple,
    pub at: Instant,
    /// The connection whose TIME-WAIT it ended.
    pub last: Option<Predecessor>,
    pub answer: FastOpenAnswer,
    pub admission: Admission,
}

impl Stack {
    //= specs/rfc9293.md#opening
    //# A passive open does not disturb connections that stand, those on its own port included.
    /// Accepts connections on a port, at one address or at all, configured by `cfg`. Of two listeners on a port, the one with an
    /// address takes precedence. `backlog` is the number of connections that may wait for [`Self::accept`], minus one.
    ///
    /// # Errors
    /// For port zero, or an address and port with a listener.
    pub fn listen(&mut self, on: impl Into<ListenOn>, backlog: u32, cfg: &ValidConfig) -> Result<(), ListenError> {
        let on = on.into();
        if on.port == 0 {
            return Err(ListenError::ZeroPort);
        }
        if self.listeners.contains_key(&on) {
            return Err(ListenError::InUse);
        }
        let fast_open = FastOpenListener::default();
        let listener = Listener { cfg: cfg.clone(), backlog, embryonic: 0, waiting: 0, cookie_at: None, fast_open };
        self.listeners.insert(on, listener);
        Ok(())
    }

    /// Changes a listener's backlog and the configuration of connections that are yet to come. Without effect where no
    /// socket listens.
    pub fn relisten(&mut self, on: impl Into<ListenOn>, backlog: u32, cfg: &ValidConfig) {
        if let Some(listener) = self.listeners.get_mut(&on.into()) {
            (listener.backlog, listener.cfg) = (backlog, cfg.clone());
        }
    }

    /// Ends a listener. Its connections that the application has not accepted are reset; accepted ones continue. Pending
    /// handshakes are dropped: later segments for them get a reset like any for a port without a listener.
    pub fn unlisten<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, on: impl Into<ListenOn>) {
        let on = on.into();
        self.listeners.remove(&on);
        for (conn, admission) in self.slots.admitted_by(on) {
            if matches!(admission, Admission::Embryonic(_)) {
                self.drop_slot(conn.slot);
            } else {
                self.abort(cx, conn);
                self.release(cx, conn);
            }
        }
    }

    /// The application takes a connection that [`super::StackEvent::Accepted`] has reported: its place in the accept queue
    /// is free again.
    pub fn accept(&mut self, conn: Conn) {
        let Some(slot) = self.slots.get_mut(conn) else { return };
        slot.endpoint.note_accepted();
        if slot.admission == Admission::Undecided && slot.has_events {
            // They have waited for the decision.
            self.eventful.push_back(conn.slot);
        }
        if matches!(slot.admission, Admission::Waiting(_) | Admission::Undecided) {
            self.set_admission(conn.slot, Admission::Owned);
        }
    }

    /// Returns how many connections wait to be accepted.
    pub fn waiting(&self, on: impl Into<ListenOn>) -> u32 {
        self.listeners.get(&on.into()).map_or(0, |listener| listener.waiting)
    }

    /// Returns which listener answers a SYN to this address and port.
    pub(super) fn listener_for(&self, tuple: &FourTuple) -> Option<(ListenOn, &Listener)> {
        let on = ListenOn { port: tuple.local_port, address: Some(tuple.local) };
        let mut places = [on, ListenOn { address: None, ..on }].into_iter();
        places.find_map(|on| Some((on, self.listeners.get(&on)?)))
    }

    //= specs/rfc9293.md#resets
    //# In LISTEN an ACK is answered with a reset, and what has neither SYN nor RST is dropped.
    /// Handles a segment without a connection: a SYN for a listener, or one to reject.
    #[cold]
    pub(super) fn handle_stranger<O: Observer>(
        &mut self,
        tuple: FourTuple,
        at: Instant,
        ip: &IpRepr,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        let repr = &segment.repr;
        let Some((on, listener)) = self.listener_for(&tuple) else {
            if self.offer_request(&tuple, at, segment, obs) || self.take_late_request(tuple, at, ip, segment, obs) {
                return;
            }
            self.counters.no_connection += 1;
            return self.refuse(at, ip, repr, segment.payload.len());
        };
        if !is_syn(repr) {
            if self.take_cookie(on, tuple, at, ip, segment, obs) {
                return;
            }
            // RFC 9293 §3.10.7.2: in LISTEN a reset answers an ACK, and other segments without SYN are dropped.
            self.counters.no_connection += 1;
            if repr.ack.is_some() {
                self.refuse(at, ip, repr, segment.payload.len());
            }
            return;
        }
        if listener.drops(repr) {
            self.counters.syn_fin += 1;
            return;
        }
        match listener.answer_to_syn(&self.guards, self.budget.refuses(CONNECTION_BYTES)) {
            AnswerToSyn::Connection => {
                let cfg = listener.cfg.clone();
                if self.has_memory_for_connection(at, obs) {
                    self.open_from_listener(on, &cfg, Arrival { tuple, at, last: None }, segment, obs);
                }
            }
            AnswerToSyn::Cookie => self.answer_with_cookie(on, tuple, at, segment, obs),
            AnswerToSyn::Nothing => self.counters.backlog_full += 1,
        }
    }

    /// Handles a SYN for a connection in TIME-WAIT: returns whether it began the next one.
    #[cold]
    pub(super) fn begin_next<O: Observer>(
        &mut self,
        index: u32,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let Some(tuple) = self.slots.at(index).map(|slot| slot.endpoint.tuple()) else { return false };
        if self.listener_for(&tuple).is_none() {
            return self.request_next(index, &tuple, at, segment, obs);
        }
        // The ending connection frees the memory for it.
        let opens = |own: &Listener| own.answer_to_syn(&self.guards, false) == AnswerToSyn::Connection;
        let Some((on, listener)) = self.listener_for(&tuple).filter(|(_, own)| opens(own)) else { return false };
        let cfg = listener.cfg.clone();
        let timestamps = options::wants_timestamps(&cfg, Some(true));
        let drops = listener.drops(&segment.repr);
        let Some(last) = self.end_time_wait(index, at, obs, |old| old.yields_to(&segment.repr, timestamps)) else {
            return false;
        };
        if drops {
            self.counters.syn_fin += 1;
            return true;
        }
        self.open_from_listener(on, &cfg, Arrival { tuple, at, last: Some(last) }, segment, obs);
        true
    }

    //= specs/rfc9293.md#time-wait
    //# A SYN may begin the next connection in TIME-WAIT, which its timestamp decides where both have timestamps.
    /// Ends a connection's TIME-WAIT in favour of the next one, if it may.
    pub(super) fn end_time_wait<O: Observer>(
        &mut self,
        index: u32,
        at: Instant,
        obs: &mut O,
        may: impl FnOnce(&Endpoint) -> bool,
    ) -> Option<Predecessor> {
        let slot = self.slots.at(index).filter(|slot| may(&slot.endpoint))?;
        slot.endpoint.finish(&mut Cx::new(at, &mut slot.rng, slot.conn.id, obs), CloseReason::Normal);
        let last = slot.endpoint.predecessor();
        self.slots.detach(index);
        self.after_call(index);
        Some(last)
    }

    //= specs/rfc9293.md#opening
    //# A connection remembers which side opened it: a listener forgets an attempt that is reset, and goes on.
    fn open_from_listener<O: Observer>(
        &mut self,
        on: ListenOn,
        cfg: &ValidConfig,
        Arrival { tuple, at, last }: Arrival,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        let answer = self.answer_fast_open(on, &tuple, segment, at);
        let goes_ahead = matches!(answer, FastOpenAnswer::Believe(_));
        let admission = if goes_ahead { Admission::Waiting(on) } else { Admission::Embryonic(on) };
        self.open_passively(cfg, Opening { tuple, at, last, answer, admission }, segment, obs);
    }

    /// Makes a connection of a SYN; its SYN-ACK leaves with the next turn.
    pub(super) fn open_passively<O: Observer>(
        &mut self,
        cfg: &ValidConfig,
        Opening { tuple, at, last, answer, admission }: Opening,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> Conn {
        let mut numbering = self.isn.numbering(&tuple, at);
        if let Some(last) = last {
            numbering.iss = last.iss(numbering.iss);
        }
        let (id, mut rng) = self.next_stream();
        let syn = SynInfo { tuple, numbering, mtu: self.device.mtu, repr: segment.repr, ecn: segment.ecn };
        let mut cx = Cx::new(at, &mut rng, id, obs);
        let cfg = self.configs.shared(cfg);
        let mut endpoint = Endpoint::accept(&cfg, &syn, &mut cx);
        endpoint.equip(&self.host(tuple.remote, at));
        endpoint.answer_syn(&mut cx, segment, answer);
        let conn = self.admit(endpoint, rng, id, admission);
        self.mark_ready(conn.slot);
        conn
    }

    /// Moves a connection from one queue to another.
    pub(super) fn set_admission(&mut self, index: u32, to: Admission) {
        let Some(slot) = self.slots.at(index) else { return };
        let from = core::mem::replace(&mut slot.admission, to);
        self.count_admission(from, -1);
        self.count_admission(to, 1);
        self.recount(index);
    }

    /// Counts one connection more, or less, in a listener's queue, if the listener still exists.
    pub(super) fn count_admission(&mut self, admission: Admission, more: i32) {
        let (Admission::Embryonic(on) | Admission::Waiting(on)) = admission else { return };
        if let Some(listener) = self.listeners.get_mut(&on) {
            let embryonic = matches!(admission, Admission::Embryonic(_));
            let count = if embryonic { &mut listener.embryonic } else { &mut listener.waiting };
            *count = count.saturating_add_signed(more);
        }
    }
}
