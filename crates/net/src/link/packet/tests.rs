//! Super-segments become packets whose headers and checksums are correct; congestion marks keep header checksums correct.

use super::*;
use test_case::test_case;
use wire::checksum::ones_complement_sum;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A frame as a kernel passes it to its device: IP header, transport header, payload, the checksum still to be computed.
fn frame(version: u8, protocol: u8, payload: &[u8], gso_size: u16) -> Vec<u8> {
    let transport_len = if protocol == TCP { 32 } else { 8 };
    let segment = transport_len + payload.len();
    let (ip_len, gso_type) = match (version, protocol) {
        (4, TCP) => (20, VIRTIO_NET_HDR_GSO_TCPV4 | GSO_ECN),
        (6, TCP) => (40, VIRTIO_NET_HDR_GSO_TCPV6),
        (4, _) => (20, GSO_UDP_L4),
        (_, _) => (40, GSO_UDP_L4),
    };
    let mut packet = vec![0; ip_len + transport_len];
    if version == 4 {
        packet[..20]
            .copy_from_slice(&[0x45, 2, 0, 0, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
        put(&mut packet, 2, (ip_len + segment) as u16);
        let sum = ones_complement_sum(&packet[..20]);
        put(&mut packet, 10, !sum);
    } else {
        packet[..8].copy_from_slice(&[0x60, 0x20, 0, 0, 0, 0, protocol, 64]);
        put(&mut packet, 4, segment as u16);
        packet[8..40].copy_from_slice(&[0xfd; 32]);
    }
    let pseudo = pseudo_sum(version, protocol, &packet_addresses(&packet), segment);
    let transport = &mut packet[ip_len..];
    let csum_offset = if protocol == TCP { 16 } else { 6 };
    put(transport, 0, 40_000);
    put(transport, 2, 9);
    if protocol == TCP {
        put(transport, 6, 0xff00); // The sequence number is about to carry.
        transport[12] = 8 << 4;
    } else {
        put(transport, 4, segment as u16);
    }
    put(transport, csum_offset, pseudo);
    let virtio = VirtioNetHdr {
        flags: NEEDS_CSUM,
        gso_type: if gso_size > 0 { gso_type } else { GSO_NONE },
        hdr_len: 1, // No reader may rely on it.
        gso_size,
        csum_start: ip_len as u16,
        csum_offset: csum_offset as u16,
    };
    let mut frame = vec![0; VIRTIO_NET_HDR_LEN];
    virtio.encode(&mut frame).unwrap();
    frame.extend(packet);
    frame.extend_from_slice(payload);
    frame
}

fn packet_addresses(packet: &[u8]) -> Vec<u8> {
    if packet[0] >> 4 == 4 { packet[12..20].to_vec() } else { packet[8..40].to_vec() }
}

fn pseudo_sum(version: u8, protocol: u8, addresses: &[u8], segment: usize) -> u16 {
    assert!(version == 4 || addresses.len() == 32);
    add(add(ones_complement_sum(addresses), u16::from(protocol)), segment as u16)
}

fn cut(frame: &[u8]) -> Result<Vec<Parcel>, Unreadable> {
    let mut parts = Vec::new();
    packets(frame, &mut Pool::default(), |_, part| parts.push(part)).map(|()| parts)
}

/// Acts like the device at the other end: computes what is still to be computed, then verifies everything.
fn verified_payload(part: &Parcel, protocol: u8) -> Vec<u8> {
    let (virtio, packet) = part.frame().split_at(VIRTIO_NET_HDR_LEN);
    let virtio = VirtioNetHdr::decode(virtio).unwrap();
    assert_eq!((virtio.flags, virtio.gso_type, virtio.gso_size), (NEEDS_CSUM, GSO_NONE, 0));
    assert!(!packet.is_empty());
    let mut packet = Vec::new();
    finish_into(part.frame(), &mut packet);
    let segment = &packet[usize::from(virtio.csum_start)..];
    let pseudo = pseudo_sum(packet[0] >> 4, protocol, &packet_addresses(&packet), segment.len());
    assert_eq!(add(pseudo, ones_complement_sum(segment)), 0xffff, "the transport checksum is wrong");
    if packet[0] >> 4 == 4 {
        assert_eq!(ones_complement_sum(&packet[..20]), 0xffff, "the header checksum is wrong");
        assert_eq!(usize::from(get(&packet, 2)), packet.len());
    } else {
        assert_eq!(usize::from(get(&packet, 4)), packet.len() - 40);
    }
    let header_len = if protocol == TCP {
        usize::from(segment[12] >> 4) * 4
    } else {
        assert_eq!(usize::from(get(segment, 4)), segment.len(), "the length of the datagram");
        8
    };
    segment[header_len..].to_vec()
}

#[test_case(4, TCP)]
#[test_case(6, TCP)]
#[test_case(4, UDP)]
#[test_case(6, UDP)]
fn a_super_segment_is_cut_into_valid_packets(version: u8, protocol: u8) {
    let payload: Vec<u8> = (0..3_333u32).map(|i| (i * 7) as u8).collect();
    let parts = cut(&frame(version, protocol, &payload, 1_000)).unwrap();
    let payloads: Vec<Vec<u8>> = parts.iter().map(|part| verified_payload(part, protocol)).collect();
    assert_eq!(payloads.iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1_000, 1_000, 333]);
    assert_eq!(payloads.concat(), payload);
}

#[test_case(4, TCP)]
#[test_case(6, UDP)]
fn a_plain_packet_passes_as_it_is(version: u8, protocol: u8) {
    let frame = frame(version, protocol, b"hello", 0);
    let parts = cut(&frame).unwrap();
    assert_eq!(parts.len(), 1);
    assert_eq!(parts[0].frame(), frame);
    assert_eq!(parts[0].wire_len() as usize, frame.len() - VIRTIO_NET_HDR_LEN);
}

#[test]
fn frames_that_stand_for_no_packet_are_refused() {
    let good = frame(4, TCP, &[0; 3_000], 1_000);
    let with = |at: usize, bytes: &[u8]| {
        let mut frame = good.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    let bad = [
        vec![],
        good[..9].to_vec(),
        good[..29].to_vec(),
        good[..45].to_vec(),
        with(0, &[0]),          // a super-segment with its checksums computed
        with(1, &[99]),         // of an unknown kind
        with(4, &[0, 0]),       // of parts without bytes
        with(6, &[0xff, 0xff]), // with a header beyond its end
        with(6, &[0, 0]),       // with no IP header
        with(8, &[31, 0]),      // with its checksum among the payload
    ];
    for frame in bad {
        assert_eq!(cut(&frame).map(|parts| parts.len()), Err(Unreadable), "{:?}", frame.get(..10));
    }
}

#[test]
fn boxes_are_used_again() {
    let (frame, mut pool) = (frame(4, TCP, &[0; 3_000], 1_000), Pool::default());
    let mut parts = Vec::new();
    packets(&frame, &mut pool, |_, part| parts.push(part)).unwrap();
    let places: Vec<*const Datagram> = parts.iter().map(|part| std::ptr::from_ref(&**part)).collect();
    parts.drain(..).for_each(|part| pool.put_back(part));
    packets(&frame, &mut pool, |_, part| parts.push(part)).unwrap();
    assert!(parts.iter().all(|part| places.contains(&std::ptr::from_ref(&**part))));
}

#[test_case(4, 0b00, None; "not capable")]
#[test_case(4, 0b01, Some(0b11))]
#[test_case(4, 0b10, Some(0b11))]
#[test_case(4, 0b11, Some(0b11); "marked already")]
#[test_case(6, 0b00, None; "version six, not capable")]
#[test_case(6, 0b10, Some(0b11); "version six")]
fn congestion_is_marked_in_the_ip_header(version: u8, before: u8, after: Option<u8>) {
    let mut part = cut(&frame(version, UDP, b"x", 0)).unwrap().remove(0);
    let shift = if version == 4 { 0 } else { 4 };
    let traffic_class = 0b1010_1000; // whatever stands beside the two bits stays
    let packet = &mut part.bytes[VIRTIO_NET_HDR_LEN..];
    packet[1] = if version == 4 { traffic_class | before } else { 0x80 | before << 4 | 0x0f };
    if version == 4 {
        put(packet, 10, 0);
        let sum = ones_complement_sum(&packet[..20]);
        put(packet, 10, !sum);
    }
    let rest = packet[1] & !(0b11 << shift);
    assert_eq!(part.mark_ce(), after.is_some());
    let packet = &part.bytes[VIRTIO_NET_HDR_LEN..];
    assert_eq!(packet[1] >> shift & 0b11, after.unwrap_or(before));
    assert_eq!(packet[1] & !(0b11 << shift), rest);
    assert!(version == 6 || ones_complement_sum(&packet[..20]) == 0xffff);
}
