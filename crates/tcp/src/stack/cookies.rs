//! SYN cookies (RFC 4987 §3.6): a SYN is answered, and nothing is kept of it. What the connection needs stands in the sequence
//! number of the SYN-ACK and comes back with the ACK that ends the handshake.
//!
//! The number holds five bits of a clock, three for the class of the peer's segment size, and 24 of a keyed hash over
//! both, the peer's sequence number, the addresses and the ports. A cookie is good for one to two periods of the clock. A
//! forger guesses one in 2^24 within a class and a period; so that he cannot try at leisure, a listener that makes cookies
//! only in need believes them only for a while after it has made one.
//!
//! Window scale, SACK and ECN of the SYN have no room there. They stand in the low bits of the timestamp that the peer echoes,
//! and are given up by peers without timestamps. So is data in the SYN, which the peer sends again.

use super::isn::{sip_hash, words};
use super::listener::Listener;
use super::slots::Admission;
use super::{ListenOn, Stack};
use crate::config::{GuardConfig, SynCookies};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, FourTuple, Segment, State, SynInfo};
use crate::options;
use base::{Duration, Instant, SeqNum};
use trace::{ConnId, Observer};
use wire::{Flags, IpRepr, Options, TcpRepr};

/// How long the cookie's clock stands still.
const PERIOD: Duration = Duration::from_secs(64);

/// Segment sizes that a cookie can encode, ascending: what is left of common links, and of those with tunnels.
const CLASSES: [u16; 8] = [64, 536, 1220, 1300, 1400, 1440, 1460, 8940];

/// Bits of a timestamp that encode what the SYN offered.
const OPTION_BITS: u32 = 6;
const SACK: u32 = 1 << 4;
const ECN: u32 = 1 << 5;
/// The four bits of the window scale when there is none.
const NO_SCALE: u32 = 15;

/// Makes and checks cookies.
#[derive(Clone, Copy, Debug)]
pub(super) struct CookieJar {
    key: [u64; 2],
}

impl CookieJar {
    /// `secret` must be unpredictable on a real host.
    pub fn new(secret: [u64; 2]) -> Self {
        // Not the key of the sequence numbers, or either would reveal something about the other.
        Self { key: [0xc00c, 0xc00d].map(|label| sip_hash(secret, &[label])) }
    }

    //= specs/rfc4987.md#cookies
    //# A cookie holds a clock, the class of the segment size, and a keyed hash over these, the SYN's number, addresses and ports.
    /// The sequence number of the SYN-ACK.
    fn make(&self, tuple: &FourTuple, irs: SeqNum, mss: u16, now: Instant) -> SeqNum {
        // The first class is below any segment size that is of use.
        let class = CLASSES.iter().rposition(|size| *size <= mss).unwrap_or(0) as u32;
        let period = period(now);
        SeqNum((period as u32 & 31) << 27 | class << 24 | self.hash(tuple, irs, class, period))
    }

    //= specs/rfc4987.md#cookies
    //# An acknowledgement is believed only if the cookie in it is genuine and recent.
    /// The segment size in a cookie, if it is genuine and recent.
    fn check(&self, tuple: &FourTuple, irs: SeqNum, cookie: SeqNum, now: Instant) -> Option<u16> {
        let (clock, class, hash) = (cookie.0 >> 27, cookie.0 >> 24 & 7, cookie.0 & 0x00ff_ffff);
        let periods = [Some(period(now)), period(now).checked_sub(1)];
        let genuine = |period: u64| period as u32 & 31 == clock && self.hash(tuple, irs, class, period) == hash;
        periods.into_iter().flatten().any(genuine).then(|| CLASSES[class as usize])
    }

    fn hash(&self, tuple: &FourTuple, irs: SeqNum, class: u32, period: u64) -> u32 {
        let [a, b, c, d, e] = words(tuple);
        let own = u64::from(irs.0) << 32 | u64::from(class);
        sip_hash(self.key, &[a, b, c, d, e, own, period]) as u32 & 0x00ff_ffff
    }
}

fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

//= specs/rfc4987.md#cookies
//# Window scale, SACK and ECN survive in the timestamp, and are given up without it.
/// Puts what a SYN offered into the timestamp of its answer. The clock goes back by some ticks at most, never ahead.
fn mark(tsval: u32, syn: &TcpRepr) -> u32 {
    let scale = syn.options.window_scale.map_or(NO_SCALE, |shift| u32::from(shift.min(14)));
    let sack = if syn.options.sack_permitted { SACK } else { 0 };
    let ecn = if syn.flags.contains(Flags::ECE.with(Flags::CWR)) { ECN } else { 0 };
    let marked = (tsval >> OPTION_BITS << OPTION_BITS) | scale | sack | ecn;
    if (marked.wrapping_sub(tsval) as i32) > 0 { marked.wrapping_sub(1 << OPTION_BITS) } else { marked }
}

/// The SYN of a peer that acknowledges a cookie with this segment.
fn recall(ack: &TcpRepr, mss: u16) -> TcpRepr {
    let mut syn = TcpRepr { seq: ack.seq - 1, ack: None, flags: Flags::SYN, urgent: 0, ..*ack };
    syn.options = Options { mss: Some(mss), timestamps: ack.options.timestamps, ..Options::default() };
    if let Some(echoed) = ack.options.timestamps.map(|ts| ts.tsecr) {
        syn.options.window_scale = Some((echoed & NO_SCALE) as u8).filter(|shift| u32::from(*shift) != NO_SCALE);
        syn.options.sack_permitted = echoed & SACK != 0;
        if echoed & ECN != 0 {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
    }
    syn
}

impl Stack {
    //= specs/rfc4987.md#cookies
    //# Nothing is kept of a SYN that is answered with a cookie.
    /// Answers a SYN and forgets it.
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
        // A stream that no other code draws from, and a name that no connection has.
        let mut rng = self.rng.clone();
        let mut cx = Cx::new(at, &mut rng, ConnId(u32::MAX), obs);
        let (ip, mut answer) = Endpoint::syn_ack_for(&cfg, &syn, &mut cx);
        if let Some(ts) = &mut answer.options.timestamps {
            ts.tsval = mark(ts.tsval, &repr);
        }
        self.counters.cookies_sent += 1;
        self.reply(ip, answer);
    }

    /// Returns the cookie that a segment acknowledges and the segment size in it, if a listener believes it.
    fn cookie_in(&self, on: ListenOn, tuple: &FourTuple, at: Instant, repr: &TcpRepr) -> Option<(SeqNum, u16)> {
        self.listeners.get(&on).filter(|listener| listener.believes_cookies(&self.guards, at))?;
        let plain = !repr.flags.contains(Flags::SYN) && !repr.flags.contains(Flags::RST);
        let cookie = repr.ack.filter(|_| plain)? - 1;
        let mss = self.cookies.check(tuple, repr.seq - 1, cookie, at)?;
        Some((cookie, mss))
    }

    /// Forgets a handshake whose peer acknowledges a cookie instead, and returns its addresses and ports: its SYN came twice, and
    /// the queue was full for the first copy only. A reset would end the connection that the peer has made of the cookie.
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
    /// An ACK without a connection: whether it acknowledges a cookie and has become one.
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
            // Its data will come again, and the cookie with it.
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
    /// Whether a cookie may have been made so short a time ago that it is still good.
    fn believes_cookies(&self, guards: &GuardConfig, now: Instant) -> bool {
        match self.cookies(guards) {
            SynCookies::Off => false,
            SynCookies::WhenFull => self.cookie_at.is_some_and(|made| now.since(made) < PERIOD * 2),
            SynCookies::Always => true,
        }
    }
}
