//! What happened: totals, and for every dropped packet the reason.

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DropReason {
    /// Its IP header is malformed.
    Malformed,
    /// Its source is no single host (RFC 1122 §4.1.3.6).
    Source,
    /// The UDP length is wrong.
    UdpLength,
    /// The UDP checksum is wrong.
    UdpChecksum,
    /// The UDP checksum over IPv6 is zero (RFC 8200 §8.1).
    NoUdpChecksum,
    /// A datagram from or to port zero cannot begin a flow.
    ZeroPort,
    /// No socket has the datagram's destination; an answer leaves as far as the allowance reaches.
    NoSocket,
    /// The table of flows is full, and none has been idle for long enough.
    FlowsFull,
    /// The queue of its socket is full.
    QueueFull,
    /// All queues together are full.
    MemoryFull,
    /// The ICMP message, or the quote in it, is malformed.
    IcmpMalformed,
    /// The ICMP checksum is wrong.
    IcmpChecksum,
    /// An ICMP error about a datagram that is not ours.
    IcmpUnmatched,
    /// An ICMP error about a datagram of ours that changes nothing.
    IcmpUnused,
    /// Too many echo requests in a second.
    EchoRate,
    /// The answer to an echo request would exceed the MTU.
    EchoTooLarge,
    /// Too many answers wait to leave.
    RepliesFull,
    /// A fragment without payload, or one of odd length before the last (RFC 791 §3.2, RFC 8200 §4.5).
    FragmentLength,
    /// A fragment beyond the largest packet (RFC 8200 §4.5).
    FragmentTooLong,
    /// A first fragment that does not hold the transport's header (RFC 1858, RFC 7112, RFC 8200 §4.5).
    FragmentTiny,
    /// A fragment that overlaps another, or contradicts it on the packet's length, and the others of that packet (RFC 5722).
    FragmentOverlap,
    /// A fragment of a packet in too many.
    FragmentCount,
    /// A fragment beyond the memory for fragments.
    FragmentMemory,
    /// Congestion was experienced by a fragment while another was not capable of it (RFC 3168 §5.3).
    FragmentEcn,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 24] = [
        Self::Malformed,
        Self::Source,
        Self::UdpLength,
        Self::UdpChecksum,
        Self::NoUdpChecksum,
        Self::ZeroPort,
        Self::NoSocket,
        Self::FlowsFull,
        Self::QueueFull,
        Self::MemoryFull,
        Self::IcmpMalformed,
        Self::IcmpChecksum,
        Self::IcmpUnmatched,
        Self::IcmpUnused,
        Self::EchoRate,
        Self::EchoTooLarge,
        Self::RepliesFull,
        Self::FragmentLength,
        Self::FragmentTooLong,
        Self::FragmentTiny,
        Self::FragmentOverlap,
        Self::FragmentCount,
        Self::FragmentMemory,
        Self::FragmentEcn,
    ];

    /// The reason as one lower-case word for counters and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Source => "source",
            Self::UdpLength => "udp_length",
            Self::UdpChecksum => "udp_checksum",
            Self::NoUdpChecksum => "no_udp_checksum",
            Self::ZeroPort => "zero_port",
            Self::NoSocket => "no_socket",
            Self::FlowsFull => "flows_full",
            Self::QueueFull => "queue_full",
            Self::MemoryFull => "memory_full",
            Self::IcmpMalformed => "icmp_malformed",
            Self::IcmpChecksum => "icmp_checksum",
            Self::IcmpUnmatched => "icmp_unmatched",
            Self::IcmpUnused => "icmp_unused",
            Self::EchoRate => "echo_rate",
            Self::EchoTooLarge => "echo_too_large",
            Self::RepliesFull => "replies_full",
            Self::FragmentLength => "fragment_length",
            Self::FragmentTooLong => "fragment_too_long",
            Self::FragmentTiny => "fragment_tiny",
            Self::FragmentOverlap => "fragment_overlap",
            Self::FragmentCount => "fragment_count",
            Self::FragmentMemory => "fragment_memory",
            Self::FragmentEcn => "fragment_ecn",
        }
    }
}

/// Totals since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounters {
    /// Datagrams put into a socket's queue.
    pub received: u64,
    /// Datagrams that [`crate::Datagrams::send`] accepted.
    pub sent: u64,
    /// Received datagrams that were discarded because their socket was closed, or ended, before they were read.
    pub unread: u64,
    /// Flows that a stranger's datagram began.
    pub flows: u64,
    /// Flows that ended because they were idle.
    pub flows_idle: u64,
    /// Flows that ended to make room for another.
    pub flows_evicted: u64,
    /// Echo requests answered.
    pub echoes: u64,
    /// Port unreachable messages sent.
    pub unreachables: u64,
    /// Port unreachable messages withheld, by the allowance or because too many answers wait.
    pub unreachables_withheld: u64,
    /// Errors about a datagram of ours that became an event.
    pub icmp: u64,
    /// Packets put together from fragments.
    pub reassembled: u64,
    /// Fragments that repeated one that is kept.
    pub fragments_repeated: u64,
    /// Incomplete packets that were dropped because their time was over; one whose fragments overlapped is not among them.
    pub reassembly_expired: u64,
    /// Incomplete packets that were dropped for another.
    pub reassembly_evicted: u64,
    /// Packets for [`crate::Datagrams::take_whole`] that were replaced by the next one.
    pub whole_untaken: u64,
    dropped: [u64; DropReason::ALL.len()],
}

impl DatagramCounters {
    /// Packets dropped for this reason.
    pub const fn dropped(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets dropped.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        self.dropped[reason as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_counter_and_a_name_of_its_own() {
        let mut counters = DatagramCounters::default();
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            counters.count(reason);
            assert_eq!((counters.dropped(reason), counters.dropped_total()), (1, index as u64 + 1));
            assert!(DropReason::ALL.iter().all(|other| *other == reason || other.name() != reason.name()));
        }
    }
}
