//! Listeners that answer a SYN with a cookie, and make a connection of the ACK that brings it back: [`super::cookie_jar`] makes and
//! checks cookies.

use super::cookie_jar::{PERIOD, mark, recall};
use super::listener::Listener;
use super::slots::Admission;
use super::{Conn, ListenOn, Reply, Stack};
use crate::config::{GuardConfig, SynCookies, ValidConfig};
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
        self.send_cookie(&cfg, tuple, at, segment, obs);
    }

    /// Sends a SYN-ACK with a cookie.
    pub(super) fn send_cookie<O: Observer>(
        &mut self,
        cfg: &ValidConfig,
        tuple: FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        let mut repr = segment.repr;
        let timestamps = options::wants_timestamps(cfg, Some(repr.options.timestamps.is_some()));
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
        let (ip, mut answer) = Endpoint::syn_ack_for(cfg, &syn, &mut cx);
        if let Some(ts) = &mut answer.options.timestamps {
            ts.tsval = mark(ts.tsval, &repr);
        }
        self.counters.cookies_sent += 1;
        self.reply(Reply::Segment(ip, answer));
    }

    /// Returns the cookie that a segment acknowledges, if a listener accepts it.
    fn cookie_in(&self, on: ListenOn, tuple: &FourTuple, at: Instant, repr: &TcpRepr) -> Option<Cookie> {
        self.listeners.get(&on).filter(|listener| listener.believes_cookies(&self.guards, at))?;
        self.genuine_cookie(tuple, at, repr)
    }

    /// Returns the cookie that a segment acknowledges, if it is genuine and recent.
    pub(super) fn genuine_cookie(&self, tuple: &FourTuple, at: Instant, repr: &TcpRepr) -> Option<Cookie> {
        let plain = !repr.flags.contains(Flags::SYN) && !repr.flags.contains(Flags::RST);
        let iss = repr.ack.filter(|_| plain)? - 1;
        let mss = self.cookies.check(tuple, repr.seq - 1, iss, at)?;
        Some(Cookie { iss, mss })
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
        let Some(cookie) = self.cookie_in(on, &tuple, at, repr) else { return false };
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
        let rebuilt = Rebuilt { tuple, at, cookie, admission: Admission::Embryonic(on) };
        self.open_by_cookie(&cfg, rebuilt, ip, segment, obs);
        true
    }

    /// Makes a connection of the ACK that brings back a cookie. Returns it if its handshake is over.
    pub(super) fn open_by_cookie<O: Observer>(
        &mut self,
        cfg: &ValidConfig,
        Rebuilt { tuple, at, cookie, admission }: Rebuilt,
        ip: &IpRepr,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> Option<Conn> {
        let mut numbering = self.isn.numbering(&tuple, at);
        numbering.iss = cookie.iss;
        let repr = recall(&segment.repr, cookie.mss);
        let syn = SynInfo { tuple, numbering, mtu: self.device.mtu, repr, ecn: wire::Ecn::NotEct };
        let (id, mut rng) = self.next_stream();
        let mut endpoint = Endpoint::rebuild(cfg, &syn, &mut Cx::new(at, &mut rng, id, obs));
        endpoint.equip(&self.host(tuple.remote, at));
        let conn = self.admit(endpoint, rng, id, admission);
        self.counters.cookies_taken += 1;
        self.handle_segment(conn.slot, at, ip, segment, obs);
        if self.slots.get(conn)?.endpoint.state() == State::SynReceived {
            // The rest of the segment was not acceptable; nothing would end this handshake.
            self.drop_slot(conn.slot);
            return None;
        }
        Some(conn)
    }
}

/// What a peer that acknowledges a cookie brings back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cookie {
    /// The sequence number of our SYN-ACK.
    iss: SeqNum,
    /// The peer's segment size, in bytes.
    mss: u16,
}

/// A connection that is made of a cookie.
pub(super) struct Rebuilt {
    pub tuple: FourTuple,
    pub at: Instant,
    pub cookie: Cookie,
    pub admission: Admission,
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
