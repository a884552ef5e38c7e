//! Fast Open for a whole stack (RFC 7413): cookies issued and checked, cookies received, and when not to try.
//!
//! A server's cookie is a keyed hash of both addresses (§4.1.2), so that it stores nothing per client; cookies of a replaced key
//! are still accepted, and answered with a new cookie. A listener counts the connections with early data; one that was reset
//! meanwhile counts for another minute, or a forger could reset its forged connections and continue (§5.1).
//!
//! A client keeps one cookie per server address, with the server's segment size (§4.1.3). If a server does not answer the
//! request, the client asks once with the experimental option, then with the assigned one again.
//!
//! Deviations:
//! * The cache does not distinguish ports, and a server that does not accept data is tried again (§4.1.3.1 would store that per
//!   port): a failed attempt costs no more than a normal handshake.

use super::isn::sip_hash;
use crate::config::{FastOpenClient, FastOpenConfig, FastOpenServer};
use crate::endpoint::{Answers, FastOpenAnswer, FourTuple};
use base::Instant;
use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};
use wire::{Cookie, FastOpen, FastOpenKind};

/// Maximum number of cached servers; the one not heard of for longest is evicted first.
const SERVERS_MAX: usize = 1024;

/// Bytes of a SYN reserved for options: the maximum of a header, because middleboxes may add some.
const OPTION_SPACE: u16 = 40;

/// The keys of server cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenKeys {
    /// The key new cookies are made with; unpredictable on a real host.
    pub current: [u8; 16],
    /// The previous key, whose cookies are still accepted.
    pub previous: Option<[u8; 16]>,
}

/// A stack's Fast Open state.
#[derive(Debug)]
pub(super) struct FastOpenStack {
    pub keys: FastOpenKeys,
    servers: BTreeMap<IpAddr, Server>,
    /// Counts updates, for the age of an entry.
    lessons: u64,
    /// No more data in SYNs before this moment, ...
    paused_until: Instant,
    /// ... after this many silences without a success between them.
    pub silences: u32,
}

/// What is cached about a server.
#[derive(Clone, Copy, Debug)]
struct Server {
    cookie: Option<FastOpen>,
    mss: u16,
    asked: Asked,
    lesson: u64,
}

/// How a server without a cookie was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Asked {
    /// As usual, or not at all.
    Usual,
    /// Without success: next time with the experimental option.
    InVain,
    /// Without success, with the experimental option too.
    TwiceInVain,
}

/// A listener's part.
#[derive(Debug, Default)]
pub(super) struct FastOpenListener {
    pub keys: Option<FastOpenKeys>,
    /// Connections with early data, including those that were reset in the last minute.
    pub pending: u32,
    /// When the latter stop counting, oldest first.
    pub resets: VecDeque<Instant>,
}

impl FastOpenListener {
    //= specs/rfc7413.md#server
    //# No more connections go ahead of their handshake at once than a limit says.
    //= specs/rfc7413.md#server
    //# A connection that was reset counts as pending for a while.
    /// Returns whether one more connection may send early.
    pub fn has_room(&mut self, now: Instant, pending_max: u32) -> bool {
        if self.pending >= pending_max && self.resets.front().is_some_and(|until| *until <= now) {
            self.resets.pop_front();
            self.pending -= 1;
        }
        self.pending < pending_max
    }
}

impl FastOpenStack {
    /// Clears the cache of servers, and every pause.
    pub fn forget(&mut self) {
        self.servers.clear();
        (self.paused_until, self.silences) = (Instant::ZERO, 0);
    }

    /// Creates the state; `secret` keys the cookies until another key is set.
    pub fn new(secret: [u64; 2]) -> Self {
        // A different key from that of the sequence numbers, or either would reveal something about the other.
        let half = |label| sip_hash(secret, &[label]);
        let mut current = [0; 16];
        current[..8].copy_from_slice(&half(0x0f05).to_le_bytes());
        current[8..].copy_from_slice(&half(0x0f06).to_le_bytes());
        Self {
            keys: FastOpenKeys { current, previous: None },
            servers: BTreeMap::new(),
            lessons: 0,
            paused_until: Instant::ZERO,
            silences: 0,
        }
    }

    //= specs/rfc7413.md#cookies
    //# The client keeps the newest cookie of a server, and the segment size that came with it.
    //= specs/rfc7413.md#client
    //# A cookie that was not requested is not kept.
    /// Learns from a server's SYN-ACK.
    pub fn learn(&mut self, from: IpAddr, mss: u16, option: Option<FastOpen>, answers: Answers) {
        self.lessons += 1;
        if !self.servers.contains_key(&from) && self.servers.len() >= SERVERS_MAX {
            let oldest = self.servers.iter().min_by_key(|(_, server)| server.lesson).map(|(ip, _)| *ip);
            oldest.and_then(|ip| self.servers.remove(&ip));
        }
        let blank = Server { cookie: None, mss, asked: Asked::Usual, lesson: 0 };
        let server = self.servers.entry(from).or_insert(blank);
        (server.mss, server.lesson) = (mss, self.lessons);
        let cookie = option.filter(|option| option.cookie.is_some() && answers != Answers::Nothing);
        if cookie.is_some() {
            server.cookie = cookie;
        } else if let (Answers::Request(request), None) = (answers, server.cookie) {
            let in_vain = if request.kind == FastOpenKind::Experimental { Asked::TwiceInVain } else { Asked::InVain };
            server.asked = server.asked.max(in_vain);
        }
    }

    //= specs/rfc7413.md#client
    //# A client without a cookie asks for one, and sends no data with the SYN.
    //= specs/rfc7413.md#client
    //# With a cookie, the SYN carries it, and no more data than the server's segment size allows.
    /// Returns what a SYN to `server` carries: the option, and the limit of data for an own segment size of `own_mss`.
    pub fn plan(&self, config: &FastOpenConfig, server: IpAddr, own_mss: u16, now: Instant) -> (Option<FastOpen>, u16) {
        let known = self.servers.get(&server);
        let room = known.map_or(own_mss, |known| known.mss.min(own_mss)).saturating_sub(OPTION_SPACE);
        if now < self.paused_until {
            return (None, 0);
        }
        match (config.client, known.and_then(|known| known.cookie)) {
            (FastOpenClient::WithoutCookie, _) => (None, room),
            (_, Some(cookie)) => (Some(cookie), room),
            (_, None) => {
                let experimental = known.is_some_and(|known| known.asked == Asked::InVain);
                let kind = if experimental { FastOpenKind::Experimental } else { FastOpenKind::Assigned };
                (Some(FastOpen { kind, cookie: None }), 0)
            }
        }
    }

    //= specs/rfc7413.md#client
    //# Fast Open is not tried for a while on a path on which it failed.
    /// Handles silence after an attempt: the path may drop segments with an unknown option.
    pub fn on_silence(&mut self, config: &FastOpenConfig, at: Instant) {
        if let Some(first) = config.pause {
            self.paused_until = at + first.scale(1 << self.silences.min(6), 1);
            self.silences = self.silences.saturating_add(1);
        }
    }
}

//= specs/rfc7413.md#cookies
//# A cookie depends on both addresses and a secret, so that only its server can make or check it.
/// The cookie of a client at `remote` for a server at `local`.
fn cookie_for(key: [u8; 16], remote: IpAddr, local: IpAddr) -> Cookie {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word: u64, byte| word << 8 | u64::from(*byte));
    let key = [word(&key[..8]), word(&key[8..])];
    let hash = match (remote, local) {
        (IpAddr::V4(remote), IpAddr::V4(local)) => {
            sip_hash(key, &[word(&remote.octets()) | word(&local.octets()) << 32])
        }
        (remote, local) => {
            let (remote, local) = (v6_bytes(remote), v6_bytes(local));
            sip_hash(key, &[word(&remote[..8]), word(&remote[8..]), word(&local[..8]), word(&local[8..])])
        }
    };
    Cookie::new(&hash.to_le_bytes()).expect("eight bytes make a cookie")
}

fn v6_bytes(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

//= specs/rfc7413.md#cookies
//# Cookies of a secret that was replaced are believed for a while, and replaced.
//= specs/rfc7413.md#server
//# A request for a cookie, and a cookie that is not valid, are answered with a valid one, and the data is left.
/// Returns the answer to a SYN that carries `offer` to a listener that allows Fast Open.
pub(super) fn answer(
    server: FastOpenServer,
    keys: &FastOpenKeys,
    tuple: &FourTuple,
    offer: Option<FastOpen>,
) -> FastOpenAnswer {
    if server == FastOpenServer::WithoutCookie {
        return FastOpenAnswer::Believe(None);
    }
    let Some(offer) = offer else { return FastOpenAnswer::Nothing };
    let valid = cookie_for(keys.current, tuple.remote, tuple.local);
    let fresh = FastOpen { kind: offer.kind, cookie: Some(valid) };
    let former = keys.previous.map(|key| cookie_for(key, tuple.remote, tuple.local));
    match offer.cookie {
        Some(cookie) if cookie == valid => FastOpenAnswer::Believe(None),
        Some(cookie) if Some(cookie) == former => FastOpenAnswer::Believe(Some(fresh)),
        _ => FastOpenAnswer::Cookie(fresh),
    }
}

#[cfg(test)]
mod tests;
