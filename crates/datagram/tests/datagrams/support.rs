//! Addresses, packets of others and the independent judge of ours.

use base::{Duration, Instant, Rng};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use etherparse::{
    Icmpv4Type, Icmpv6Type, IpNumber, Ipv4Header, Ipv6Header, NetSlice, PacketBuilder, SlicedPacket, TransportSlice,
    UdpHeader,
};
use longhaul_datagram::{DatagramConfig, Datagrams};

pub const MTU: u16 = 1500;

/// The first own address of a version.
pub fn own(six: bool) -> IpAddr {
    if six { IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)) } else { IpAddr::from([192, 0, 2, 1]) }
}

/// An address of somebody else.
pub fn other(six: bool, last: u8) -> IpAddr {
    match six {
        true => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, last.into())),
        false => IpAddr::from([198, 51, 100, last]),
    }
}

pub fn at(ip: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(ip, port)
}

pub fn seconds(s: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(s)
}

pub fn config() -> DatagramConfig {
    DatagramConfig::new(vec![own(false), own(true)], MTU)
}

pub fn datagrams(change: impl FnOnce(&mut DatagramConfig)) -> Datagrams {
    let mut cfg = config();
    change(&mut cfg);
    Datagrams::new(cfg, Rng::new(7))
}

/// A packet of `protocol` in the library's words.
pub fn ip_packet(src: IpAddr, dst: IpAddr, protocol: IpNumber, payload: &[u8]) -> Vec<u8> {
    let mut packet = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut header = Ipv4Header::new(payload.len() as u16, 64, protocol, src.octets(), dst.octets()).unwrap();
            header.header_checksum = header.calc_header_checksum();
            header.to_bytes().to_vec()
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let header = Ipv6Header {
                payload_length: payload.len() as u16,
                next_header: protocol,
                hop_limit: 64,
                source: src.octets(),
                destination: dst.octets(),
                ..Default::default()
            };
            header.to_bytes().to_vec()
        }
        _ => panic!("two versions"),
    };
    packet.extend_from_slice(payload);
    packet
}

/// A datagram of somebody, with its checksum.
pub fn udp(src: SocketAddr, dst: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let builder = match (src.ip(), dst.ip()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PacketBuilder::ipv4(src.octets(), dst.octets(), 64),
        (IpAddr::V6(src), IpAddr::V6(dst)) => PacketBuilder::ipv6(src.octets(), dst.octets(), 64),
        _ => panic!("two versions"),
    };
    let mut packet = Vec::new();
    builder.udp(src.port(), dst.port()).write(&mut packet, payload).unwrap();
    packet
}

pub fn echo_request(src: IpAddr, dst: IpAddr, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PacketBuilder::ipv4(src.octets(), dst.octets(), 64)
            .icmpv4_echo_request(77, 3)
            .write(&mut packet, payload)
            .unwrap(),
        (IpAddr::V6(src), IpAddr::V6(dst)) => PacketBuilder::ipv6(src.octets(), dst.octets(), 64)
            .icmpv6_echo_request(77, 3)
            .write(&mut packet, payload)
            .unwrap(),
        _ => panic!("two versions"),
    }
    packet
}

/// What the judge reads in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    Udp { src: SocketAddr, dst: SocketAddr, payload: Vec<u8> },
    Icmp4 { src: Ipv4Addr, dst: Ipv4Addr, kind: Icmpv4Type, payload: Vec<u8> },
    Icmp6 { src: Ipv6Addr, dst: Ipv6Addr, kind: Icmpv6Type, payload: Vec<u8> },
}

/// Reads a packet with the independent library, and computes every checksum again with it.
pub fn judge(packet: &[u8]) -> Seen {
    let sliced = SlicedPacket::from_ip(packet).expect("a well-formed packet");
    let (src, dst): (IpAddr, IpAddr) = match sliced.net.as_ref().expect("an IP header") {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum(), "the header's checksum");
            assert_eq!(usize::from(header.total_len), packet.len(), "the total length");
            (header.source.into(), header.destination.into())
        }
        NetSlice::Ipv6(ip) => {
            assert_eq!(usize::from(ip.header().payload_length()) + 40, packet.len(), "the payload length");
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        NetSlice::Arp(_) => panic!("an IP packet"),
    };
    match (sliced.transport.expect("a transport"), src, dst) {
        (TransportSlice::Udp(udp), ..) => {
            let (header, payload) = (udp.to_header(), udp.payload());
            assert_ne!(header.checksum, 0, "a checksum is always sent");
            assert_eq!(header.checksum, udp_checksum(&header, src, dst, payload), "the datagram's checksum");
            let (src, dst) = (at(src, header.source_port), at(dst, header.destination_port));
            Seen::Udp { src, dst, payload: payload.to_vec() }
        }
        (TransportSlice::Icmpv4(icmp), IpAddr::V4(src), IpAddr::V4(dst)) => {
            let (kind, payload) = (icmp.icmp_type(), icmp.payload().to_vec());
            assert_eq!(icmp.checksum(), kind.calc_checksum(&payload), "the message's checksum");
            Seen::Icmp4 { src, dst, kind, payload }
        }
        (TransportSlice::Icmpv6(icmp), IpAddr::V6(src), IpAddr::V6(dst)) => {
            let (kind, payload) = (icmp.icmp_type(), icmp.payload().to_vec());
            let sum = kind.calc_checksum(src.octets(), dst.octets(), &payload).unwrap();
            assert_eq!(icmp.checksum(), sum, "the message's checksum");
            Seen::Icmp6 { src, dst, kind, payload }
        }
        (transport, ..) => panic!("{transport:?}"),
    }
}

fn udp_checksum(header: &UdpHeader, src: IpAddr, dst: IpAddr, payload: &[u8]) -> u16 {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => header.calc_checksum_ipv4_raw(src.octets(), dst.octets(), payload),
        (IpAddr::V6(src), IpAddr::V6(dst)) => header.calc_checksum_ipv6_raw(src.octets(), dst.octets(), payload),
        _ => panic!("two versions"),
    }
    .unwrap()
}

/// The packets that leave.
pub fn leaving(datagrams: &mut Datagrams) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| datagrams.pop_transmit()).collect()
}

/// Cuts a packet's payload behind these offsets, which are multiples of 8, into fragments in order.
pub fn fragments(packet: &[u8], cuts: &[usize], id: u32) -> Vec<Vec<u8>> {
    let is_v4 = packet[0] >> 4 == 4;
    let header = if is_v4 { 20 } else { 40 };
    let (header, payload) = packet.split_at(header);
    let mut ends: Vec<usize> = cuts.iter().copied().filter(|cut| *cut > 0 && *cut < payload.len()).collect();
    ends.push(payload.len());
    ends.sort_unstable();
    ends.dedup();
    let mut from = 0;
    let mut all = Vec::new();
    for end in ends {
        all.push(fragment(header, &payload[from..end], id, from, end < payload.len()));
        from = end;
    }
    all
}

/// One fragment behind the header of a whole packet.
pub fn fragment(header: &[u8], payload: &[u8], id: u32, offset: usize, more: bool) -> Vec<u8> {
    let mut packet = header.to_vec();
    if header[0] >> 4 == 4 {
        packet[2..4].copy_from_slice(&((header.len() + payload.len()) as u16).to_be_bytes());
        packet[4..6].copy_from_slice(&(id as u16).to_be_bytes());
        packet[6..8].copy_from_slice(&(u16::from(more) << 13 | (offset / 8) as u16).to_be_bytes());
        mend(&mut packet);
    } else {
        let [.., high, low] = ((offset as u32) | u32::from(more)).to_be_bytes();
        packet[4..6].copy_from_slice(&((payload.len() + 8) as u16).to_be_bytes());
        let next = std::mem::replace(&mut packet[6], 44);
        packet.extend_from_slice(&[next, 0, high, low]);
        packet.extend_from_slice(&id.to_be_bytes());
    }
    packet.extend_from_slice(payload);
    packet
}

/// Corrects an IPv4 header's checksum.
pub fn mend(packet: &mut [u8]) {
    let (mut header, _) = Ipv4Header::from_slice(packet).unwrap();
    header.header_checksum = header.calc_header_checksum();
    packet[10..12].copy_from_slice(&header.header_checksum.to_be_bytes());
}
