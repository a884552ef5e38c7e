//! One shard of a host: endpoints, listeners, demultiplexing, and the driver's interface through [`crate::turn`].
//!
//! A stack has one driver and shares nothing. Several run side by side, with flows spread by a hash of their addresses.

mod api;
mod budget;
mod checksums;
mod configs;
mod cookie_jar;
mod cookies;
mod drive;
mod fast_connect;
mod fastopen;
mod icmp;
mod inspect;
mod isn;
mod late_requests;
mod listen;
mod listener;
mod paths;
mod planted;
mod relief;
mod request_table;
mod requests;
mod reset;
mod shards;
mod slots;
mod socket;
#[cfg(test)]
mod tests;
mod timers;

pub use budget::{GuardCounters, GuardedUsage};
pub use fast_connect::FastOpenError;
pub use fastopen::FastOpenKeys;
pub use listener::ListenOn;
pub use request_table::{Destinations, LateRequests, Request, RequestConfig, RequestCounters, RequestError};
pub use shards::Shards;
pub use slots::Conn;

use crate::config::GuardConfig;
use crate::endpoint::TxBuf;
use crate::event::ConnEvent;
use crate::recv::PagePool;
use base::{Instant, Rng};
use budget::Budget;
use configs::Configs;
use cookie_jar::CookieJar;
use core::fmt;
use core::net::IpAddr;
use core::ops::{AddAssign, RangeInclusive};
use fastopen::FastOpenStack;
use isn::IsnGenerator;
use listener::Listener;
use paths::PathCache;
use request_table::Requests;
use shards::Shard;
use slots::Slots;
use std::collections::{BTreeMap, VecDeque};
use timers::DeadlineHeap;
use wire::{IpRepr, MAX_HEADER, Malformed, TcpRepr, Unreachable};

/// The settings of a stack.
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// Its own addresses, of either version.
    pub addresses: Vec<IpAddr>,
    /// What the device below can do.
    pub device: DeviceCaps,
    /// Key of the initial sequence numbers (RFC 6528); unpredictable on a real host.
    pub isn_secret: [u64; 2],
    /// Bounds on what strangers can cause.
    pub guards: GuardConfig,
}

/// What a device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceCaps {
    /// Largest IP packet, bytes.
    pub mtu: u16,
    /// Whether stack or device fills in the TCP checksum.
    pub checksum: TxChecksum,
    /// Whether stack or device cuts a large frame into segments.
    pub segmentation: Segmentation,
}

/// Which part fills in the TCP checksum of outgoing frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxChecksum {
    /// The stack.
    Compute,
    /// The device; the stack puts the sum of the pseudo-header into the field.
    Device,
    /// Neither: the path cannot corrupt bytes, and no receiver checks.
    Unneeded,
}

/// Who cuts a large frame into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segmentation {
    /// The stack: every frame is one segment.
    Off,
    /// The device, frames with up to this many payload bytes.
    Tso {
        /// Most payload bytes of one frame.
        max_bytes: u32,
    },
}

/// An event that the application may want to handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackEvent {
    /// A listener has a new, established connection; its own events follow. It waits in the accept queue until [`Stack::accept`]
    /// is called.
    Accepted {
        /// The connection.
        conn: Conn,
        /// The listener's port.
        port: u16,
    },
    /// An event of a connection.
    Conn {
        /// The connection.
        conn: Conn,
        /// What happened.
        event: ConnEvent,
    },
}

/// Why a stack cannot listen on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenError {
    /// Port zero.
    ZeroPort,
    /// The address and port already have a listener.
    InUse,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroPort => "port 0 cannot be listened on",
            Self::InUse => "the port is already listened on",
        })
    }
}
impl core::error::Error for ListenError {}

/// Why no connection can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// The stack has no address of the remote address's version.
    NoLocalAddress,
    /// The remote port is zero, or the address is multicast, broadcast or unspecified (RFC 9293 MUST-46).
    InvalidRemote,
    /// Every local port that may be used towards this destination is taken.
    PortsExhausted,
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoLocalAddress => "no local address of the remote address's IP version",
            Self::InvalidRemote => "the remote address cannot be connected to",
            Self::PortsExhausted => "all local ports towards this destination are in use",
        })
    }
}
impl core::error::Error for ConnectError {}

/// Counts of frames that reached no connection, and other totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackCounters {
    /// Frames received.
    pub frames_received: u64,
    /// Frames handed to the device and accepted by it.
    pub frames_sent: u64,
    /// Payload bytes of the segments received, repeated ones too.
    pub payload_received: u64,
    /// Payload bytes of the segments that were given to the device, or wait for its room; retransmissions too.
    pub payload_sent: u64,
    /// Frames that were not valid packets.
    pub malformed: u64,
    /// The last reason.
    pub last_malformed: Option<Malformed>,
    /// Frames with a wrong TCP checksum (RFC 9293 MUST-3: silently dropped).
    pub bad_checksum: u64,
    /// Frames for other addresses, or from invalid ones.
    pub not_ours: u64,
    /// Segments for ports without a connection or listener; answered with a reset unless they are resets.
    pub no_connection: u64,
    /// SYNs, and ACKs that would have ended a handshake, ignored because a listener's queue was full.
    pub backlog_full: u64,
    /// SYNs that a listener dropped because they carried a FIN.
    pub syn_fin: u64,
    /// SYNs that were answered with a cookie.
    pub cookies_sent: u64,
    /// Cookies that came back and became connections.
    pub cookies_taken: u64,
    /// ICMP errors about our segments that were accepted.
    pub icmp: u64,
    /// ICMP errors about segments that were not in flight (RFC 5927 §4).
    pub icmp_out_of_window: u64,
    /// ICMP messages that concern no connection, or are malformed.
    pub icmp_ignored: u64,
}

impl AddAssign for StackCounters {
    fn add_assign(&mut self, other: Self) {
        self.frames_received += other.frames_received;
        self.frames_sent += other.frames_sent;
        self.payload_received += other.payload_received;
        self.payload_sent += other.payload_sent;
        self.malformed += other.malformed;
        self.last_malformed = other.last_malformed.or(self.last_malformed);
        self.bad_checksum += other.bad_checksum;
        self.not_ours += other.not_ours;
        self.no_connection += other.no_connection;
        self.backlog_full += other.backlog_full;
        self.syn_fin += other.syn_fin;
        self.cookies_sent += other.cookies_sent;
        self.cookies_taken += other.cookies_taken;
        self.icmp += other.icmp;
        self.icmp_out_of_window += other.icmp_out_of_window;
        self.icmp_ignored += other.icmp_ignored;
    }
}

/// An answer to a segment without a connection.
#[derive(Clone, Copy, Debug)]
enum Reply {
    /// A reset, or a SYN-ACK with a cookie.
    Segment(IpRepr, TcpRepr),
    /// The report that this segment cannot be delivered.
    Unreachable(Unreachable, IpRepr, TcpRepr),
}

/// A frame that the device had no room for, kept with its bytes: the data it refers to may be gone by the next turn.
#[derive(Debug)]
struct Held {
    header: [u8; MAX_HEADER],
    header_len: usize,
    payload: HeldPayload,
    gso_size: Option<u16>,
    /// Its checksum is complete, whatever the device can do.
    is_complete: bool,
}

#[derive(Debug)]
enum HeldPayload {
    Bytes(Vec<u8>),
    Pattern { offset: u64, len: u32 },
}

type Listeners = BTreeMap<ListenOn, Listener>;

/// A host's TCP: a shard that one driver owns.
#[derive(Debug)]
pub struct Stack {
    addresses: Vec<IpAddr>,
    device: DeviceCaps,
    guards: GuardConfig,
    isn: IsnGenerator,
    cookies: CookieJar,
    rng: Rng,
    slots: Slots,
    configs: Configs,
    listeners: Listeners,
    requests: Requests,
    /// Which of several stacks it is.
    shard: Option<Shard>,
    deadlines: DeadlineHeap,
    /// Endpoints that may have something to transmit, in order of arrival.
    ready: VecDeque<u32>,
    /// Endpoints that keep memory for their next flight, and until when at least.
    keepers: VecDeque<(Instant, u32)>,
    /// Endpoints with events, in order of arrival.
    eventful: VecDeque<u32>,
    /// What answers segments without a connection.
    replies: VecDeque<Reply>,
    /// Until when the allowance for resets is used up.
    resets_until: Instant,
    budget: Budget,
    /// Empty pages for received bytes.
    pages: PagePool,
    guarded: GuardCounters,
    held: Option<Held>,
    /// The device rejects packets.
    refuses: bool,
    tx: TxBuf,
    scratch: Vec<u8>,
    paths: PathCache,
    /// Where the search for a local port starts, from the front of the range.
    next_port: u32,
    fast_open: FastOpenStack,
    counters: StackCounters,
}

impl Stack {
    /// Creates a stack without connections. `rng` feeds the choice of ports and every connection's own stream.
    pub fn new(cfg: StackConfig, rng: Rng) -> Self {
        let tso_max_bytes = match cfg.device.segmentation {
            Segmentation::Off => 0,
            Segmentation::Tso { max_bytes } => max_bytes,
        };
        let mut port_rng = rng.fork("ports");
        Self {
            addresses: cfg.addresses,
            device: cfg.device,
            guards: cfg.guards,
            budget: Budget::new(&cfg.guards),
            pages: PagePool::new(cfg.guards.memory_max / PAGES_PART),
            guarded: GuardCounters::default(),
            resets_until: Instant::ZERO,
            cookies: CookieJar::new(cfg.isn_secret),
            isn: IsnGenerator::new(cfg.isn_secret),
            fast_open: FastOpenStack::new(cfg.isn_secret),
            next_port: port_rng.below(1 << 14) as u32,
            rng,
            slots: Slots::default(),
            configs: Configs::default(),
            listeners: BTreeMap::new(),
            requests: Requests::default(),
            shard: None,
            deadlines: DeadlineHeap::default(),
            ready: VecDeque::new(),
            keepers: VecDeque::new(),
            eventful: VecDeque::new(),
            replies: VecDeque::new(),
            held: None,
            refuses: false,
            tx: TxBuf::new(tso_max_bytes),
            scratch: Vec::new(),
            paths: PathCache::default(),
            counters: StackCounters::default(),
        }
    }
}

/// The pool of empty pages is at most this part of the memory budget, beside which it is: eight mebibytes by default.
const PAGES_PART: u64 = 32;

/// Maximum steps between the local ports of successive connections: RFC 6056 §3.3.5 proposes this number.
const PORT_STEPS_MAX: u64 = 500;

/// The local addresses and ports from which a stack may open a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalEnd {
    /// The address; `None` for the first of the remote address's version.
    pub address: Option<IpAddr>,
    /// The ports to choose from; a port that the application has chosen is a range of one.
    pub ports: RangeInclusive<u16>,
}

//= specs/rfc6056.md#selection
//# Ports are chosen from the whole dynamic range.
impl Default for LocalEnd {
    /// Any address, and the dynamic ports (RFC 6335 §6).
    fn default() -> Self {
        Self { address: None, ports: 49_152..=u16::MAX }
    }
}
