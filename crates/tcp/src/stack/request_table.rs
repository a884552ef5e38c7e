//! The table of undecided requests: what is kept of a SYN until the application has decided, for how long, and what was counted.
//! [`super::requests`] fills and empties it.

use super::Conn;
use super::slots::Key;
use crate::config::ValidConfig;
use crate::endpoint::{FourTuple, Predecessor, Segment};
use base::{Duration, Instant};
use core::fmt;
use core::ops::AddAssign;
use std::collections::BTreeMap;
use wire::{Ecn, Fragmentation, IpRepr, TcpRepr};

/// Which SYNs become requests, and how long they wait for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestConfig {
    /// The addresses whose SYNs become requests.
    pub destinations: Destinations,
    /// Maximum number of undecided requests. A SYN beyond them is dropped and counted: the peer tries again. A stack with
    /// [`LateRequests`] answers it with a cookie.
    pub undecided_max: u32,
    /// How long a request may stay undecided; then it is forgotten, as if it had been ignored. A change concerns later requests, and
    /// requests expire in the order of their arrival.
    pub patience: Duration,
}

/// The addresses that a stack stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Its own.
    Own,
    /// Every unicast address: the stack is a transparent proxy, and a connection's local end is the destination that its peer asked
    /// for.
    Any,
}

impl Default for RequestConfig {
    /// Any destination, 1,024 undecided requests, 60 seconds: a SYN's repetitions last about as long (RFC 6298, 1 s doubled six
    /// times).
    fn default() -> Self {
        Self { destinations: Destinations::Any, undecided_max: 1_024, patience: Duration::from_secs(60) }
    }
}

/// How SYNs beyond [`RequestConfig::undecided_max`] are answered.
#[derive(Clone, Debug)]
pub struct LateRequests {
    /// The configuration of their connections until the decision.
    pub cfg: ValidConfig,
    /// Maximum number of undecided requests whose handshake is over, beside those that were not answered. Beyond them SYNs are dropped,
    /// and so are ACKs that bring a cookie back.
    pub undecided_max: u32,
}

/// Identifies a request of one stack; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request(pub(super) u64);

/// Why a request cannot become a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestError {
    /// It was decided before, or waited too long.
    Gone,
    /// A connection with these addresses and ports was opened meanwhile.
    InUse,
    /// The stack's memory budget is exhausted.
    NoMemory,
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "the request was decided before, or waited too long",
            Self::InUse => "a connection with these addresses and ports exists",
            Self::NoMemory => "the stack's memory budget is exhausted",
        })
    }
}
impl core::error::Error for RequestError {}

/// What became of the SYNs that may be requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestCounters {
    /// Requests that were kept for a decision.
    pub offered: u64,
    /// Requests among them whose handshake was over: their SYNs were answered with a cookie.
    pub late: u64,
    /// SYNs that repeated an undecided request.
    pub repeated: u64,
    /// SYNs, and ACKs that brought a cookie back, dropped because too many requests were undecided.
    pub over_limit: u64,
    /// SYNs dropped because the memory budget was exhausted.
    pub no_memory: u64,
    /// Requests that were forgotten because no decision came in time.
    pub expired: u64,
}

impl AddAssign for RequestCounters {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.late += other.late;
        self.repeated += other.repeated;
        self.over_limit += other.over_limit;
        self.no_memory += other.no_memory;
        self.expired += other.expired;
    }
}

/// What the stack keeps of a SYN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub syn: TcpRepr,
    pub tuple: FourTuple,
    pub ecn: Ecn,
    /// When it expires.
    pub until: Instant,
    /// The connection whose TIME-WAIT it ended.
    pub last: Option<Predecessor>,
    /// The connection that it is already.
    pub conn: Option<Conn>,
}

impl Held {
    /// The IP header of the SYN, as far as it was kept.
    pub fn ip(&self) -> IpRepr {
        let (src, dst, fragmentation) = (self.tuple.remote, self.tuple.local, Fragmentation::Forbidden);
        IpRepr { src, dst, ttl: 64, dscp: 0, ecn: self.ecn, fragmentation }
    }
}

/// The undecided requests.
#[derive(Debug)]
pub(super) struct Requests {
    pub cfg: Option<RequestConfig>,
    pub late: Option<LateRequests>,
    /// When a SYN was last answered with a cookie.
    pub cookie_at: Option<Instant>,
    pub counters: RequestCounters,
    /// Requests whose handshake is over.
    late_len: usize,
    /// By number, so that the oldest comes first.
    held: BTreeMap<u64, Held>,
    by_tuple: BTreeMap<Key, u64>,
    /// The number of the next request.
    next: u64,
    /// Lower numbers have been handed to the application.
    polled: u64,
    /// When the oldest request expires; `Instant::MAX` without one.
    expiry: Instant,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            cfg: None,
            late: None,
            cookie_at: None,
            late_len: 0,
            counters: RequestCounters::default(),
            held: BTreeMap::new(),
            by_tuple: BTreeMap::new(),
            next: 0,
            polled: 0,
            expiry: Instant::MAX,
        }
    }
}

impl Requests {
    /// Returns whether the stack stands for every address.
    #[inline]
    pub fn any_destination(&self) -> bool {
        self.cfg.is_some_and(|cfg| cfg.destinations == Destinations::Any)
    }

    /// Returns when the oldest request expires; `Instant::MAX` without one.
    #[inline]
    pub fn expiry(&self) -> Instant {
        self.expiry
    }

    /// Returns the number of undecided requests.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns the number of undecided requests whose handshake is over.
    pub fn late_len(&self) -> usize {
        self.late_len
    }

    /// Returns what is kept of a request.
    pub fn get(&self, request: Request) -> Option<&Held> {
        self.held.get(&request.0)
    }

    /// Returns the oldest request.
    pub fn oldest(&self) -> Option<Request> {
        self.held.first_key_value().map(|(number, _)| Request(*number))
    }

    /// Returns whether there is a request that the application has not seen.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.held.last_key_value().is_some_and(|(last, _)| *last >= self.polled)
    }

    /// Returns the next request that the application has not seen.
    pub fn poll(&mut self) -> Option<(Request, FourTuple)> {
        let (number, held) = self.held.range(self.polled..).next()?;
        self.polled = number + 1;
        Some((Request(*number), held.tuple))
    }

    /// Absorbs the repetition of an undecided request. A SYN with another sequence number takes its place: the peer has restarted.
    pub fn absorb(&mut self, tuple: &FourTuple, segment: &Segment<'_>) -> bool {
        let number = self.by_tuple.get(&Key::from(tuple));
        let Some(held) = number.and_then(|number| self.held.get_mut(number)) else { return false };
        (held.syn, held.ecn) = (segment.repr, segment.ecn);
        self.counters.repeated += 1;
        true
    }

    /// Keeps a SYN.
    pub fn hold(&mut self, held: Held) {
        self.counters.offered += 1;
        if held.conn.is_some() {
            self.counters.late += 1;
            self.late_len += 1;
        }
        self.by_tuple.insert(Key::from(&held.tuple), self.next);
        self.held.insert(self.next, held);
        self.next += 1;
        self.schedule();
    }

    /// Notes that an undecided request with these addresses and ports has become this connection. Returns whether there is one.
    pub fn connect(&mut self, tuple: &FourTuple, conn: Conn) -> bool {
        let number = self.by_tuple.get(&Key::from(tuple));
        let Some(held) = number.and_then(|number| self.held.get_mut(number)) else { return false };
        if held.conn.replace(conn).is_none() {
            self.counters.late += 1;
            self.late_len += 1;
        }
        true
    }

    /// Forgets a request and returns what was kept of it.
    pub fn take(&mut self, request: Request) -> Option<Held> {
        let held = self.held.remove(&request.0)?;
        self.late_len -= usize::from(held.conn.is_some());
        self.by_tuple.remove(&Key::from(&held.tuple));
        self.schedule();
        Some(held)
    }

    fn schedule(&mut self) {
        self.expiry = self.held.first_key_value().map_or(Instant::MAX, |(_, oldest)| oldest.until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::budget::REQUEST_BYTES;

    #[test]
    fn an_undecided_request_is_within_its_bound() {
        let size = size_of::<(u64, Held)>() + size_of::<(Key, u64)>();
        assert!(size as u64 <= REQUEST_BYTES, "{size} bytes");
    }
}
