//! Packets that the network dropped: counted by flow, kept until an observer can receive the report, and answered by routers that find
//! them too large.

use crate::access::{FIRST_PORT, flow_of};
use crate::packet::{PacketPool, Parcel};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use netem::{DropCause, HopKind, Packet};
use tcp::{ChecksumState, Payload, TxFrame};
use trace::Observer;
use wire::IcmpKind;

/// What a router quotes of a packet behind its IP header: ports and sequence number (RFC 792).
const QUOTED: usize = 8;

/// A packet that the network lost.
pub(crate) struct Lost {
    pub(crate) link: usize,
    pub(crate) hop: HopKind,
    pub(crate) cause: DropCause,
    pub(crate) packet: Parcel,
}

/// What is known of dropped packets.
pub(crate) struct Gone {
    /// For the observer.
    pub(crate) lost: Vec<Lost>,
    /// Packets by flow; those of datagrams follow.
    pub(crate) of_flow: Vec<u64>,
    /// What routers report to senders: the link that dropped the packet, and the report.
    pub(crate) reports: Vec<(usize, Parcel)>,
}

impl Gone {
    pub(crate) fn new(flows: usize) -> Self {
        Self { lost: Vec::new(), of_flow: vec![0; flows], reports: Vec::new() }
    }

    /// Counts a lost packet, and returns it to the pool, at once or after the observer has seen it.
    #[inline]
    pub(crate) fn discard<O: Observer>(&mut self, pool: &mut PacketPool, lost: Lost) {
        if lost.cause != DropCause::Thinned && !lost.packet.is_report() {
            self.of_flow[flow_of(&lost.packet, FIRST_PORT)] += 1;
        }
        if let DropCause::TooBig { said: Some(mtu) } = lost.cause {
            self.report(pool, &lost, mtu);
        }
        if O::ENABLED {
            self.lost.push(lost);
        } else {
            pool.put_back(lost.packet);
        }
    }

    /// Writes the report of a router that can forward `mtu` bytes. No one reads one about a datagram.
    #[cold]
    fn report(&mut self, pool: &mut PacketPool, lost: &Lost, mtu: u16) {
        if lost.packet.is_datagram() || lost.packet.is_report() {
            return;
        }
        let header = lost.packet.header();
        let (router, ip): (IpAddr, usize) = match header[0] >> 4 {
            4 => (Ipv4Addr::new(10, 0, 0, 254).into(), 20),
            _ => (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0xfe).into(), 40),
        };
        let kind = IcmpKind::TooBig { mtu: mtu.into(), packet_len: lost.packet.wire_len() as u16 };
        let mut message = Vec::new();
        wire::icmp::emit(kind, router, &header[..ip + QUOTED], &mut message);
        let payload = Payload::Pattern { offset: 0, len: 0 };
        let frame = TxFrame { header: &message, payload, gso_size: None, checksum: ChecksumState::Unneeded };
        self.reports.push((lost.link, pool.packet(&frame)));
    }
}
