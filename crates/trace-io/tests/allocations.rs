//! Captures are read without allocating: four times the packets cost no more allocations, with losses or without.

#[path = "../../sim/tests/counting/mod.rs"]
mod counting;

use counting::allocations;
use etherparse::PacketBuilder;
use etherparse::TcpOptionElement::{Noop, SelectiveAcknowledgement, Timestamp};
use longhaul_trace_io::capture::analyze;
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use std::time::Duration;

const PAYLOAD: u32 = 100;
/// Segments of a round; in each the first is reported missing and retransmitted.
const ROUND: u32 = 50;

/// Rounds of a transfer, each 50 ms long.
fn capture(rounds: u32) -> Vec<u8> {
    let header = PcapHeader { datalink: DataLink::RAW, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    let mut packet = Vec::new();
    let mut write = |at_us: u64, builder: etherparse::PacketBuilderStep<etherparse::TcpHeader>, payload: &[u8]| {
        packet.clear();
        builder.write(&mut packet, payload).unwrap();
        let at = Duration::from_micros(at_us);
        writer.write_packet(&PcapPacket::new(at, packet.len() as u32, &packet)).unwrap();
    };
    let there = || PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    let back = || PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64);
    for round in 0..rounds {
        let (at, first) = (u64::from(round) * 50_000, 1 + round * ROUND * PAYLOAD);
        let stamp = round * 50;
        let data = |nth: u32| {
            let tcp = there().tcp(5_000, 80, first + nth * PAYLOAD, 60_000).ack(1);
            tcp.options(&[Noop, Noop, Timestamp(stamp, stamp)]).unwrap()
        };
        let ack = |ack: u32| back().tcp(80, 5_000, 1, 60_000).ack(ack);
        for nth in 0..ROUND {
            write(at, data(nth), &[0; PAYLOAD as usize]);
        }
        for nth in 2..=ROUND {
            let block = SelectiveAcknowledgement((first + PAYLOAD, first + nth * PAYLOAD), [None; 3]);
            write(at + 20_000, ack(first).options(&[block]).unwrap(), &[]);
        }
        write(at + 20_000, data(0), &[0; PAYLOAD as usize]);
        write(at + 40_000, ack(first + ROUND * PAYLOAD), &[]);
    }
    writer.into_writer()
}

/// Allocations and retransmissions.
fn cost(rounds: u32) -> (u64, u64) {
    let capture = capture(rounds);
    let before = allocations();
    let analysis = analyze(&capture[..]).unwrap();
    (allocations() - before, analysis.flows[0].directions[0].retransmissions)
}

#[test]
fn more_packets_need_no_more_allocations() {
    cost(10);
    let (short, long) = (cost(100), cost(400));
    assert_eq!((short.1, long.1), (100, 400));
    let more = long.0.saturating_sub(short.0);
    // Lists that have not reached their bounds double a few times more.
    assert!(more < 20, "{more} allocations more for 30,600 packets more");
}
