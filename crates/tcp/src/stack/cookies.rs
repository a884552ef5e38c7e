//! Listeners that answer a SYN with a cookie, and make a connection of the ACK that brings it back: [`super::cookie_jar`] makes and
//! checks cookies.

use super::cookie_jar::{PERIOD, mark, recall};
use super::listener::Listener;
use super::slots::Admission;
use super::{ListenOn, Reply, Stack};
use crate::config::{GuardConfig, SynCookies};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, FourTuple, Segment, State, SynInfo};
use crate::options;
use base::{Instant, SeqNum};
use trace::{ConnId, Observer};
use wire::{Flags, IpRepr, Options, TcpRepr};

impl Stack {
    //= specs/rfc4987.md#cookies
    //# Nothing is kept of a SYN that is answered with a cookie.
    /// Answers a SYN without keeping state.
    #[cold]
    pub(super) fn answer_with_cookie<O: Observer>(
        &mut self,
        on: ListenOn,
        tuple: FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        let Some(listener) = self.listeners.get_mut(&on) else { return };
        listener.cookie_at = Some(at);
        let cfg = listener.cfg.clone();
        let mut repr = segment.repr;
        let timestamps = options::wants_timestamps(&cfg, Some(repr.options.timestamps.is_some()));
        if !timestamps {
            repr.options = Options { mss: repr.options.mss, ..Options::default() };
            repr.flags = Flags::SYN;
        }
        let mss = repr.options.mss.unwrap_or_else(|| options::default_mss(tuple.local));
        let mut numbering = self.isn.numbering(&tuple, at);
        numbering.iss = self.cookies.make(&tuple, repr.seq, mss, at);
        let syn = SynInfo { tuple, numbering, mtu: self.device.mtu, repr, ecn: segment.ecn };
        // A stream that no other code draws from, and a label that no connection has.
        let mut rng = self.rng.clone();
        let mut cx = Cx::new(at, &mut rng, ConnId(u32::MAX), obs);
        let (ip, mut answer) = Endpoint::syn_ack_for(&cfg, &syn, &mut cx);
        if let Some(ts) = &mut answer.options.timestamps {
            ts.tsval = mark(ts.tsval, &repr);
        }
        self.counters.cookies_sent += 1;
        self.reply(Reply::Segment(ip, answer));
    }

    /// Returns the cookie that a segment acknowledges and the segment size in it, if a listener accepts it.
    fn cookie_in(&self, on: ListenOn, tuple: &FourTuple, at: Instant, repr: &TcpRepr) -> Option<(SeqNum, u16)> {
        self.listeners.get(&on).filter(|listener| listener.believes_cookies(&self.guards, at))?;
        let plain = !repr.flags.contains(Flags::SYN) && !repr.flags.contains(Flags::RST);
        let cookie = repr.ack.filter(|_| plain)? - 1;
        let mss = self.cookies.check(tuple, repr.seq - 1, cookie, at)?;
        Some((cookie, mss))
    }

    /// Drops a handshake whose peer acknowledges a cookie instead, and returns its addresses and ports: its SYN arrived twice,
    /// and the queue was full for the first copy only. A reset would end the connection that the peer has made of the cookie.
    #[cold]
    pub(super) fn give_way_to_cookie(&mut self, index: u32, at: Instant, segment: &Segment<'_>) -> Option<FourTuple> {
        let slot = self.slots.at(index)?;
        let (admission, tuple) = (slot.admission, slot.endpoint.tuple());
        let Admission::Embryonic(on) = admission else { return None };
        self.cookie_in(on, &tuple, at, &segment.repr)?;
        self.drop_slot(index);
        Some(tuple)
    }

    //= specs/rfc4987.md#cookies
    //# The connection is made from the acknowledgement of the cookie.
    /// Returns whether an ACK without a connection acknowledges a cookie and has become one.
    #[cold]
    pub(super) fn take_cookie<O: Observer>(
        &mut self,
        on: ListenOn,
        tuple: FourTuple,
        at: Instant,
        ip: &IpRepr,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let repr = &segment.repr;
        let Some((iss, mss)) = self.cookie_in(on, &tuple, at, repr) else { return false };
        if self.listeners.get(&on).is_some_and(Listener::accept_queue_full) {
            // The peer will send its data again, and the cookie with it.
            self.counters.backlog_full += 1;
            return true;
        }
        if !self.has_memory_for_connection(at, obs) {
            return true;
        }
        let Some(listener) = self.listeners.get(&on) else { return false };
        let cfg = listener.cfg.clone();
        let mut numbering = self.isn.numbering(&tuple, at);
        numbering.iss = iss;
        let syn = SynInfo { tuple, numbering, mtu: self.device.mtu, repr: recall(repr, mss), ecn: wire::Ecn::NotEct };
        let (id, mut rng) = self.next_stream();
        let mut endpoint = Endpoint::rebuild(&cfg, &syn, &mut Cx::new(at, &mut rng, id, obs));
        endpoint.equip(&self.host(tuple.remote, at));
        let conn = self.admit(endpoint, rng, id, Admission::Embryonic(on));
        self.counters.cookies_taken += 1;
        self.handle_segment(conn.slot, at, ip, segment, obs);
        if self.slots.get(conn).is_some_and(|slot| slot.endpoint.state() == State::SynReceived) {
            // The rest of the segment was not acceptable; nothing would end this handshake.
            self.drop_slot(conn.slot);
        }
        true
    }
}

impl Listener {
    /// Returns whether a cookie may have been made recently enough to be valid.
    fn believes_cookies(&self, guards: &GuardConfig, now: Instant) -> bool {
        match self.cookies(guards) {
            SynCookies::Off => false,
            SynCookies::WhenFull => self.cookie_at.is_some_and(|made| now.since(made) < PERIOD * 2),
            SynCookies::Always => true,
        }
    }
}
