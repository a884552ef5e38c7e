//! What is merged, what is not, and that no byte changes.

use super::*;
use base::SeqNum;
use std::net::IpAddr;
use test_case::test_case;
use wire::{Ecn, Flags, Fragmentation, IpRepr, Options, Parts, TcpRepr, Timestamps, checksum};

const MTU: u16 = 1_500;
/// Payload of a full packet.
const FULL: usize = 1_448;
/// The first packet's sequence number: the second one's begins behind the wrap.
const FIRST: SeqNum = SeqNum(u32::MAX - 700);

fn ip(version: u8) -> IpRepr {
    let (src, dst): (IpAddr, IpAddr) = match version {
        4 => ([10, 0, 0, 1].into(), [10, 0, 0, 2].into()),
        _ => ([0xfd00, 0, 0, 0, 0, 0, 0, 1].into(), [0xfd00, 0, 0, 0, 0, 0, 0, 2].into()),
    };
    IpRepr { src, dst, ttl: 64, dscp: 0, ecn: Ecn::Ect0, fragmentation: Fragmentation::Forbidden }
}

fn tcp(behind_first: usize) -> TcpRepr {
    TcpRepr {
        src_port: 40_000,
        dst_port: 80,
        seq: FIRST + behind_first as u32,
        ack: Some(SeqNum(2)),
        flags: Flags::NONE,
        window: 500,
        urgent: 0,
        options: Options { timestamps: Some(Timestamps { tsval: 3, tsecr: 4 }), ..Options::default() },
    }
}

fn packet(ip: &IpRepr, tcp: &TcpRepr, len: usize) -> Vec<u8> {
    let mut header = [0; MAX_HEADER];
    let header_len = wire::emit(ip, tcp, len as u32, &mut header);
    let payload: Vec<u8> = (0..len).map(|at| (tcp.seq.0.wrapping_add(at as u32) / 3) as u8).collect();
    checksum::fill(&mut header[..header_len], &payload);
    [&header[..header_len], &payload].concat()
}

/// Consecutive packets with these payloads.
fn run_of(ip: &IpRepr, lens: &[usize]) -> Vec<Vec<u8>> {
    let mut at = 0;
    let next = |&len: &usize| {
        at += len;
        packet(ip, &tcp(at - len), len)
    };
    lens.iter().map(next).collect()
}

fn gathered(packets: &[Vec<u8>]) -> Batch {
    let (mut gather, mut batch) = (Gather::new(MTU), Batch::default());
    for packet in packets {
        // A read that brings nothing changes nothing, even if it uses the room.
        gather.room(&mut batch).fill(0xee);
        gather.room(&mut batch)[..packet.len()].copy_from_slice(packet);
        gather.came(&mut batch, packet.len());
    }
    gather.flush(&mut batch);
    batch
}

/// The packets of a batch as they would be without merging.
fn cut(batch: &Batch) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for packet in batch.packets() {
        let Some(size) = packet.gso_size else {
            all.push(packet.bytes().to_vec());
            continue;
        };
        let whole = wire::split(packet.bytes()).unwrap();
        whole.header.parse(whole.payload.len() as u32).unwrap();
        let mut parts = Parts::new(whole.header.bytes(), whole.payload, Some(size));
        let mut part = Vec::new();
        while let Some(payload) = parts.next_into(&mut part) {
            // The identification, which counts: without fragments it means nothing.
            if part[0] >> 4 == 4 {
                part[4..6].fill(0);
                part[10..12].fill(0);
                let sum = checksum::ones_complement_sum(&part[..20]);
                part[10..12].copy_from_slice(&(!sum).to_be_bytes());
            }
            checksum::fill(&mut part, payload);
            part.extend_from_slice(payload);
            all.push(std::mem::take(&mut part));
        }
    }
    all
}

fn shape(batch: &Batch) -> Vec<(usize, Option<u16>, ChecksumState)> {
    batch.packets().iter().map(|packet| (packet.bytes().len(), packet.gso_size, packet.checksum)).collect()
}

#[test_case(4)]
#[test_case(6)]
fn packets_that_continue_each_other_are_one(version: u8) {
    let header = if version == 4 { 52 } else { 72 };
    let packets = run_of(&ip(version), &[1_400, 1_400, 1_400, 99]);
    let batch = gathered(&packets);
    assert_eq!(shape(&batch), [(header + 4_299, Some(1_400), ChecksumState::Device)]);
    assert_eq!(cut(&batch), packets);
}

#[test]
fn a_packet_alone_stays_as_it_is() {
    let packets = run_of(&ip(4), &[FULL]);
    let batch = gathered(&packets);
    assert_eq!(shape(&batch), [(1_500, None, ChecksumState::Device)]);
    assert_eq!(batch.packets()[0].bytes(), packets[0]);
}

#[test]
fn a_super_segment_is_no_longer_than_its_length_field_says() {
    let packets = run_of(&ip(4), &[FULL; 100]);
    let batch = gathered(&packets);
    assert!(batch.packets().iter().all(|packet| packet.bytes().len() <= LONGEST));
    assert_eq!(batch.len(), 3, "two full ones and the rest: {:?}", shape(&batch));
    assert_eq!(cut(&batch), packets);
}

/// What makes the second of three packets one that is not merged with the first.
#[derive(Clone, Copy, Debug)]
enum Odd {
    Gap,
    Repeated,
    OtherFlow,
    OtherAck,
    OtherWindow,
    OtherTimestamp,
    OtherOptions,
    Marked,
    Urgent,
    Reset,
    Longer,
    Empty,
    WrongChecksum,
    WrongIpChecksum,
    NoLength,
    Cut,
    Fragment,
    Datagram,
    Noise,
    Nothing,
}

impl Odd {
    fn packet(self) -> Vec<u8> {
        let (mut ip, mut tcp, mut len) = (ip(4), tcp(1_000), 1_000);
        match self {
            Self::Gap => tcp.seq += 1,
            Self::Repeated => tcp.seq = FIRST,
            Self::OtherFlow => tcp.src_port += 1,
            Self::OtherAck => tcp.ack = Some(SeqNum(3)),
            Self::OtherWindow => tcp.window += 1,
            Self::OtherTimestamp => tcp.options.timestamps = Some(Timestamps { tsval: 4, tsecr: 4 }),
            Self::OtherOptions => tcp.options.timestamps = None,
            Self::Marked => ip.ecn = Ecn::Ce,
            Self::Urgent => (tcp.flags, tcp.urgent) = (Flags::URG, 5),
            Self::Reset => tcp.flags = Flags::RST,
            Self::Longer => len = 1_001,
            Self::Empty => len = 0,
            _ => {}
        }
        let mut packet = packet(&ip, &tcp, len);
        match self {
            Self::WrongChecksum => packet[700] ^= 1,
            Self::WrongIpChecksum => packet[10] ^= 1,
            Self::NoLength => packet[2..4].fill(0),
            Self::Cut => packet.truncate(900),
            Self::Fragment => packet[6] |= 0x20,
            Self::Datagram => packet[9] = 17,
            Self::Noise => packet.fill(0x45),
            Self::Nothing => packet.clear(),
            _ => {}
        }
        packet
    }
}

#[test_case(Odd::Gap)]
#[test_case(Odd::Repeated)]
#[test_case(Odd::OtherFlow)]
#[test_case(Odd::OtherAck)]
#[test_case(Odd::OtherWindow)]
#[test_case(Odd::OtherTimestamp)]
#[test_case(Odd::OtherOptions)]
#[test_case(Odd::Marked)]
#[test_case(Odd::Urgent)]
#[test_case(Odd::Reset)]
#[test_case(Odd::Longer)]
#[test_case(Odd::Empty)]
#[test_case(Odd::WrongChecksum)]
#[test_case(Odd::WrongIpChecksum)]
#[test_case(Odd::NoLength)]
#[test_case(Odd::Cut)]
#[test_case(Odd::Fragment)]
#[test_case(Odd::Datagram)]
#[test_case(Odd::Noise)]
#[test_case(Odd::Nothing)]
fn another_packet_is_passed_on_as_it_came_and_in_its_place(odd: Odd) {
    let behind = packet(&ip(4), &tcp(2_000), 1_000);
    let packets = [packet(&ip(4), &tcp(0), 1_000), odd.packet(), behind];
    let batch = gathered(&packets);
    let bytes: Vec<_> = batch.packets().iter().map(Packet::bytes).collect();
    assert_eq!(bytes, packets);
    assert!(batch.packets().iter().all(|packet| packet.gso_size.is_none()));
}

/// What the stack has to find wrong, and count.
#[test_case(Odd::WrongChecksum)]
#[test_case(Odd::WrongIpChecksum)]
fn a_wrong_checksum_is_left_to_the_stack(odd: Odd) {
    for packets in [vec![odd.packet()], vec![packet(&ip(4), &tcp(0), 1_000), odd.packet()]] {
        let batch = gathered(&packets);
        assert_eq!(batch.packets().last().map(|packet| packet.checksum), Some(ChecksumState::InHeader));
    }
}

#[test_case(Flags::PSH)]
#[test_case(Flags::FIN)]
fn the_end_of_a_burst_is_merged_and_ends_it(flags: Flags) {
    let of = |at, flags| packet(&ip(4), &TcpRepr { flags, ..tcp(at) }, 1_000);
    let packets = [of(0, Flags::NONE), of(1_000, flags), of(2_000, Flags::NONE), of(3_000, Flags::NONE)];
    let batch = gathered(&packets);
    assert_eq!(shape(&batch), [(2_052, Some(1_000), ChecksumState::Device); 2]);
    assert_eq!(cut(&batch), packets);
}

/// RFC 3168 §6.1: CWR answers the echo at its place in the stream.
#[test]
fn a_reduced_window_is_reported_by_the_first_packet_of_a_super_segment() {
    let of = |at, flags| packet(&ip(4), &TcpRepr { flags, ..tcp(at) }, 1_000);
    let packets = [of(0, Flags::NONE), of(1_000, Flags::CWR), of(2_000, Flags::NONE)];
    let batch = gathered(&packets);
    assert_eq!(shape(&batch).iter().map(|(len, ..)| *len).collect::<Vec<_>>(), [1_052, 2_052]);
    assert_eq!(cut(&batch), packets);
}

#[test]
fn nothing_is_merged_with_what_is_shorter_than_a_header() {
    let packets = run_of(&ip(4), &[51, 51, 52, 52]);
    let batch = gathered(&packets);
    assert_eq!(shape(&batch).iter().map(|(len, ..)| *len).collect::<Vec<_>>(), [103, 103, 156]);
    assert_eq!(cut(&batch), packets);
}

#[test]
fn bytes_behind_a_packet_are_cut_off() {
    let mut packets = run_of(&ip(4), &[1_000; 2]);
    let whole = packets.clone();
    packets[1].extend([0xee; 20]);
    let batch = gathered(&packets);
    assert_eq!(shape(&batch), [(2_052, Some(1_000), ChecksumState::Device)]);
    assert_eq!(cut(&batch), whole);
}

/// Two flows whose packets alternate, in trains of any length.
#[test]
fn trains_of_two_flows_stay_in_order() {
    let mut rng = base::Rng::new(5);
    let (mut packets, mut at) = (Vec::new(), [0, 0]);
    while packets.len() < 500 {
        let flow = rng.below(2) as usize;
        for _ in 0..=rng.below(5) {
            let len = if rng.below(8) == 0 { 1 + rng.below(1_448) as usize } else { FULL };
            let mut tcp = TcpRepr { src_port: 1 + flow as u16, ..tcp(at[flow]) };
            if rng.below(6) == 0 {
                tcp.flags = Flags::PSH;
            }
            packets.push(packet(&ip(4), &tcp, len));
            at[flow] += len;
        }
    }
    let batch = gathered(&packets);
    assert!(batch.len() < 350, "{} packets became {}", packets.len(), batch.len());
    assert_eq!(cut(&batch), packets);
}
