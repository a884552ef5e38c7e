//! Fast Open for a whole stack (RFC 7413): cookies that are given and checked, cookies that were got, and when not to try.
//!
//! A server's cookie is a keyed hash of both addresses (§4.1.2), so that nothing is kept per client; a key that was replaced
//! is still believed, and answered with a new cookie. A listener counts the connections that went ahead of their handshake;
//! one that was reset meanwhile counts for another minute, or a forger could reset what it forged and go on (§5.1).
//!
//! A client keeps one cookie for each server address, with the server's segment size (§4.1.3). A server that does not answer
//! the request is asked once by the experimental option, then by the assigned one again.
//!
//! Deviations:
//! * The cache does not distinguish ports, and a server that does not take data is tried again (§4.1.3.1 would remember
//!   that for each port): what is lost by trying is what a handshake costs anyway.

use super::isn::sip_hash;
use crate::config::{FastOpenClient, FastOpenConfig, FastOpenServer};
use crate::endpoint::{Answers, FastOpenAnswer, FourTuple};
use base::Instant;
use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};
use wire::{Cookie, FastOpen, FastOpenKind};

/// Servers that are remembered at most; the one not heard of for longest goes first.
const SERVERS_MAX: usize = 1024;

/// Bytes of a SYN that data leaves to options: as many as a header can hold, since boxes on the path may add some.
const OPTION_SPACE: u16 = 40;

/// What server cookies are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenKeys {
    /// The key new cookies are made with; unpredictable on a real host.
    pub current: [u8; 16],
    /// The key before it, whose cookies are still believed.
    pub previous: Option<[u8; 16]>,
}

/// A stack's part in Fast Open.
#[derive(Debug)]
pub(super) struct FastOpenStack {
    pub keys: FastOpenKeys,
    servers: BTreeMap<IpAddr, Server>,
    /// Counts what is learnt, for the age of an entry.
    lessons: u64,
    /// No more data in SYNs before this moment, ...
    paused_until: Instant,
    /// ... for so many silences without a success between.
    pub silences: u32,
}

/// What is remembered of a server.
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
    /// In vain: the next time by the experimental option.
    InVain,
    /// In vain by that, too.
    TwiceInVain,
}

/// A listener's part.
#[derive(Debug, Default)]
pub(super) struct FastOpenListener {
    pub keys: Option<FastOpenKeys>,
    /// Connections that went ahead of their handshake, those included that were reset in the last minute.
    pub pending: u32,
    /// When the latter count no more, oldest first.
    pub resets: VecDeque<Instant>,
}

impl FastOpenListener {
    //= specs/rfc7413.md#server
    //# No more connections go ahead of their handshake at once than a limit says.
    //= specs/rfc7413.md#server
    //# A connection that was reset counts as pending for a while.
    /// Whether one connection more may go ahead.
    pub fn has_room(&mut self, now: Instant, pending_max: u32) -> bool {
        if self.pending >= pending_max && self.resets.front().is_some_and(|until| *until <= now) {
            self.resets.pop_front();
            self.pending -= 1;
        }
        self.pending < pending_max
    }
}

impl FastOpenStack {
    /// Forgets every server, and every pause.
    pub fn forget(&mut self) {
        self.servers.clear();
        (self.paused_until, self.silences) = (Instant::ZERO, 0);
    }

    /// `secret` keys the cookies until another key is set.
    pub fn new(secret: [u64; 2]) -> Self {
        // Not the key of the sequence numbers, or either would reveal something about the other.
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
    //# A cookie that nobody asked for is not kept.
    /// A server's SYN-ACK has arrived.
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
    /// What a SYN to `server` carries: the option, and how much data at most for an own segment size of `own_mss`.
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
    /// A connection that tried was answered by silence: the path may swallow what it does not know.
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
/// What to answer a SYN that carries `offer` to a listener that allows Fast Open.
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
