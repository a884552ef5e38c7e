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
use super::{Conn, ConnectError, ListenOn, Stack};
use crate::config::{FastOpenClient, FastOpenConfig, FastOpenServer, ValidConfig};
use crate::cx::StackCx;
use crate::endpoint::{Answers, FastOpenAnswer, FastOpenNews, FourTuple, Segment};
use crate::options;
use base::{Duration, Instant};
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};
use trace::Observer;
use wire::{Cookie, FastOpen, FastOpenKind};

/// Servers that are remembered at most; the one not heard of for longest goes first.
const SERVERS_MAX: usize = 1024;

/// How long a connection that was reset instead of established counts as pending.
const RESET_COUNTS_FOR: Duration = Duration::from_secs(60);

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

/// Why a connection cannot begin with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenError {
    /// The configuration does not allow it.
    Off,
    /// The SYN has left, or the connection does not exist.
    TooLate,
    /// The connection could not be opened at all.
    Connect(ConnectError),
}

impl fmt::Display for FastOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Fast Open is off: `fastopen.client` would have to allow it"),
            Self::TooLate => f.write_str("data can be sent with a SYN only before it has left"),
            Self::Connect(error) => error.fmt(f),
        }
    }
}
impl core::error::Error for FastOpenError {}

/// A stack's part in Fast Open.
#[derive(Debug)]
pub(super) struct FastOpenStack {
    keys: FastOpenKeys,
    servers: BTreeMap<IpAddr, Server>,
    /// Counts what is learnt, for the age of an entry.
    lessons: u64,
    /// No more data in SYNs before this moment, ...
    paused_until: Instant,
    /// ... for so many silences without a success between.
    silences: u32,
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
    keys: Option<FastOpenKeys>,
    /// Connections that went ahead of their handshake, those included that were reset in the last minute.
    pending: u32,
    /// When the latter count no more, oldest first.
    resets: VecDeque<Instant>,
}

impl FastOpenListener {
    //= specs/rfc7413.md#server
    //# No more connections go ahead of their handshake at once than a limit says.
    //= specs/rfc7413.md#server
    //# A connection that was reset counts as pending for a while.
    /// Whether one connection more may go ahead.
    fn has_room(&mut self, now: Instant, pending_max: u32) -> bool {
        if self.pending >= pending_max && self.resets.front().is_some_and(|until| *until <= now) {
            self.resets.pop_front();
            self.pending -= 1;
        }
        self.pending < pending_max
    }
}

impl FastOpenStack {
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
    fn learn(&mut self, from: IpAddr, mss: u16, option: Option<FastOpen>, answers: Answers) {
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
    fn plan(&self, config: &FastOpenConfig, server: IpAddr, own_mss: u16, now: Instant) -> (Option<FastOpen>, u16) {
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
    fn on_silence(&mut self, config: &FastOpenConfig, at: Instant) {
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
fn answer(server: FastOpenServer, keys: &FastOpenKeys, tuple: &FourTuple, offer: Option<FastOpen>) -> FastOpenAnswer {
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

impl Stack {
    /// Makes and checks cookies with these keys from now on, for every listener without keys of its own.
    pub fn set_fast_open_keys(&mut self, keys: FastOpenKeys) {
        self.fast_open.keys = keys;
    }

    /// Gives a listener keys of its own, or takes them back. Without effect where no socket listens.
    pub fn set_fast_open_keys_of(&mut self, on: impl Into<ListenOn>, keys: Option<FastOpenKeys>) {
        if let Some(listener) = self.listeners.get_mut(&on.into()) {
            listener.fast_open.keys = keys;
        }
    }

    /// Forgets every server, and every pause.
    pub fn forget_fast_open_servers(&mut self) {
        let Self { fast_open, .. } = self;
        fast_open.servers.clear();
        (fast_open.paused_until, fast_open.silences) = (Instant::ZERO, 0);
    }

    /// Whether a connection to `remote` could begin with data now: an application that has none yet may as well wait with
    /// the SYN until it has.
    pub fn fast_open_is_ready(&self, cfg: &ValidConfig, remote: IpAddr, now: Instant) -> bool {
        cfg.fastopen.client != FastOpenClient::Off && self.fast_open.plan(&cfg.fastopen, remote, u16::MAX, now).1 > 0
    }

    /// Lets the SYN of a connection that was opened at this very moment, without a turn since, carry data: as much of `data`
    /// as fits, for which a cookie of the server is needed. Without one, the SYN asks for it and carries nothing; an empty
    /// `data` lets it carry the cookie alone.
    ///
    /// Returns how many bytes were taken. The rest is for [`Self::write`]. What was taken arrives also when the peer takes
    /// no data from SYNs, after the handshake. It may arrive twice at an application whose server forgets what it answered
    /// (RFC 7413 §6): it has to bear that.
    ///
    /// # Errors
    /// The configuration does not allow it, or the SYN has left.
    pub fn fast_open<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        data: &[u8],
    ) -> Result<usize, FastOpenError> {
        let slot = self.slots.get_mut(conn).ok_or(FastOpenError::TooLate)?;
        let (cfg, tuple) = (slot.endpoint.config().clone(), slot.endpoint.tuple());
        if cfg.fastopen.client == FastOpenClient::Off {
            return Err(FastOpenError::Off);
        }
        let own_mss = options::own_mss(&cfg, self.device.mtu, tuple.local);
        let (option, room) = self.fast_open.plan(&cfg.fastopen, tuple.remote, own_mss, cx.now);
        slot.endpoint.open_fast(option, data, u32::from(room)).ok_or(FastOpenError::TooLate)
    }

    /// [`Self::connect`] and [`Self::fast_open`] in one.
    ///
    /// # Errors
    /// As for both. When Fast Open is off, no connection is opened.
    pub fn connect_with_data<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        cfg: &ValidConfig,
        remote: SocketAddr,
        data: &[u8],
    ) -> Result<(Conn, usize), FastOpenError> {
        if cfg.fastopen.client == FastOpenClient::Off {
            return Err(FastOpenError::Off);
        }
        let conn = self.connect(cx, cfg, remote).map_err(FastOpenError::Connect)?;
        let taken = self.fast_open(cx, conn, data)?;
        Ok((conn, taken))
    }

    /// What a listener answers a SYN. Counts the connection as pending if it may go ahead.
    pub(super) fn answer_fast_open(
        &mut self,
        on: ListenOn,
        tuple: &FourTuple,
        syn: &Segment<'_>,
        at: Instant,
    ) -> FastOpenAnswer {
        let offer = syn.repr.options.fast_open;
        let asked = offer.is_some() || !syn.payload.is_empty();
        let Some(listener) = self.listeners.get_mut(&on).filter(|_| asked) else { return FastOpenAnswer::Nothing };
        let config = listener.cfg.fastopen;
        let pending = &mut listener.fast_open;
        if config.server == FastOpenServer::Off || !pending.has_room(at, config.pending_max) {
            return FastOpenAnswer::Nothing;
        }
        let answer = answer(config.server, pending.keys.as_ref().unwrap_or(&self.fast_open.keys), tuple, offer);
        pending.pending += u32::from(matches!(answer, FastOpenAnswer::Believe(_)));
        answer
    }

    /// A connection has news of Fast Open.
    #[cold]
    pub(super) fn on_fast_open_news(&mut self, index: u32, news: FastOpenNews) {
        let Some(slot) = self.slots.at(index) else { return };
        let (tuple, config) = (slot.endpoint.tuple(), slot.endpoint.config().fastopen);
        match news {
            FastOpenNews::Learnt { mss, option, answers } => {
                self.fast_open.learn(tuple.remote, mss, option, answers);
                self.fast_open.silences = 0;
            }
            FastOpenNews::Silence(at) => self.fast_open.on_silence(&config, at),
            FastOpenNews::Settled | FastOpenNews::Reset(_) => {
                let on = self.listener_for(&tuple).map(|(on, _)| on);
                let Some(listener) = on.and_then(|on| self.listeners.get_mut(&on)) else { return };
                let pending = &mut listener.fast_open;
                match news {
                    FastOpenNews::Reset(at) => pending.resets.push_back(at + RESET_COUNTS_FOR),
                    _ => pending.pending = pending.pending.saturating_sub(1),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
