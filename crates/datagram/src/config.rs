//! Which addresses the program stands for, and the bounds of what others can make it keep.

use base::Duration;
use core::net::IpAddr;

/// The configuration of a [`crate::Datagrams`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatagramConfig {
    /// Our own addresses. The first one of a version is the source of datagrams whose socket is bound to the unspecified address.
    pub addresses: Vec<IpAddr>,
    /// The addresses whose datagrams and fragments are handled here.
    pub destinations: Destinations,
    /// What becomes of a datagram that belongs to no socket and no flow.
    pub strangers: Strangers,
    /// Which echo requests are answered.
    pub echo: Echo,
    /// Largest packet that is sent, in bytes with the IP header.
    pub mtu: u16,
    /// After this time without a datagram in either direction a flow ends.
    pub flow_idle: Duration,
    /// Maximum number of flows, those included that have ended and whose [`crate::DatagramEvent::Ended`] was not taken.
    pub flows_max: usize,
    /// The bound of each queue: one of received and one of unsent datagrams for every socket and flow.
    pub queue: QueueConfig,
    /// Bytes of all queues together, [`crate::DATAGRAM_BYTES`] for each datagram included. Each direction has half of it, so that a
    /// flood of received datagrams does not keep ours from leaving.
    pub memory_max: usize,
    /// The bounds of what is kept of fragments.
    pub reassembly: ReassemblyConfig,
    /// The bounds of ICMP answers.
    pub replies: ReplyConfig,
}

/// The addresses that the program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// Its own.
    Own,
    /// Every unicast address, as a transparent proxy's.
    Any,
}

/// What becomes of a datagram from a stranger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangers {
    /// It is answered by ICMP's port unreachable (RFC 1122 §4.1.3.1, RFC 4443 §3.1).
    Refuse,
    /// It begins a flow, which [`crate::Datagrams::poll_flow`] returns.
    Offer,
}

/// Which echo requests are answered (RFC 1122 §3.2.2.6, RFC 4443 §4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Those to our own addresses.
    #[default]
    Own,
    /// Those to any unicast address.
    Any,
    /// None: the caller gets all of them.
    None,
}

/// The bound of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Number of datagrams.
    pub datagrams: usize,
    /// Bytes, with [`crate::DATAGRAM_BYTES`] for each datagram.
    pub bytes: usize,
}

/// The bounds of what is kept of fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReassemblyConfig {
    /// Bytes of all fragments together, with a fixed number for each fragment and for each packet. The packet whose first fragment came
    /// the earliest is dropped for a new fragment.
    pub bytes_max: usize,
    /// Number of packets that are incomplete; the oldest is dropped for a new one.
    pub packets_max: usize,
    /// Number of fragments of one packet; a packet of more is dropped.
    pub fragments_max: usize,
    /// How long an incomplete packet is kept after its first fragment. A change concerns later packets.
    pub patience: Duration,
}

/// The bounds of ICMP answers. A second's allowance may leave in one burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyConfig {
    /// Echo replies in a second.
    pub echoes_per_second: u32,
    /// Port unreachable messages in a second (RFC 1812 §4.3.2.8, RFC 4443 §2.4 (f)).
    pub unreachables_per_second: u32,
    /// Answers that wait to leave.
    pub waiting_max: usize,
    /// Bytes of the answers that wait to leave.
    pub bytes_max: usize,
}

impl DatagramConfig {
    /// The defaults behind `mtu` bytes: only `addresses`, strangers refused, flows of 60 seconds, 4,096 of them, 4 MiB.
    ///
    /// 60 seconds are less than the two minutes that RFC 4787 §4.3 asks of a NAT: a flow that is needed again begins anew with its next
    /// datagram, and nothing is lost with the old one.
    pub fn new(addresses: Vec<IpAddr>, mtu: u16) -> Self {
        Self {
            addresses,
            destinations: Destinations::Own,
            strangers: Strangers::Refuse,
            echo: Echo::Own,
            mtu,
            flow_idle: Duration::from_secs(60),
            flows_max: 4_096,
            queue: QueueConfig::default(),
            memory_max: 4 << 20,
            reassembly: ReassemblyConfig::default(),
            replies: ReplyConfig::default(),
        }
    }
}

impl Default for QueueConfig {
    /// 128 datagrams, 224 KiB: as many as an MTU of 1,500 bytes makes in 15 ms at 100 Mbit/s.
    fn default() -> Self {
        Self { datagrams: 128, bytes: 224 << 10 }
    }
}

impl Default for ReassemblyConfig {
    /// 256 KiB, 64 packets, 64 fragments a packet, 15 seconds.
    ///
    /// 64 fragments of an MTU of 1,280 hold the largest packet. 15 seconds is the time that RFC 791 §3.2 proposes; RFC 1122 §3.3.2 and
    /// RFC 8200 §4.5 say 60. Fragments of a packet leave their sender together, and a shorter time leaves less to a stranger who sends
    /// first fragments alone; it also narrows the time in which identifications repeat (RFC 4963).
    fn default() -> Self {
        Self { bytes_max: 256 << 10, packets_max: 64, fragments_max: 64, patience: Duration::from_secs(15) }
    }
}

impl Default for ReplyConfig {
    /// 100 echoes and 100 unreachable ports a second, 64 answers of 128 KiB together.
    fn default() -> Self {
        Self { echoes_per_second: 100, unreachables_per_second: 100, waiting_max: 64, bytes_max: 128 << 10 }
    }
}
