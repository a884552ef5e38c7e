//! Counts the instructions of writing a trace, per event, and of reading a foreign capture, per packet.
//!
//! `cargo xtask bench` runs it.
#![expect(missing_docs, reason = "the macros make public items")]

use base::{Duration, Instant, SeqNum, SeqRange};
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use longhaul_trace_io::capture::{Analysis, analyze};
use longhaul_trace_io::table::TableWriter;
use longhaul_trace_io::{ConnId, Event, Meta, Record};
use pcap_file::DataLink;
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use std::net::Ipv4Addr;
use trace::{FlagLetters, Phase, SendCause};
use wire::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, SackBlocks, TcpRepr, Timestamps};

const PAYLOAD: u32 = 1_448;

fn ip(src: Ipv4Addr, dst: Ipv4Addr) -> IpRepr {
    let fragmentation = Fragmentation::Forbidden;
    IpRepr { src: src.into(), dst: dst.into(), ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation }
}

/// A sender's events in a transfer, in the usual proportion: two segments leave, one ACK arrives and moves the window.
fn records(count: u32) -> Vec<Record> {
    let record = |nth: u32| {
        let (round, acked) = (nth / 4, nth / 4 * 2 * PAYLOAD);
        let sent = |seq: u32| Event::SegmentSent {
            seq: SeqNum(seq),
            len: PAYLOAD,
            flags: FlagLetters::Ack,
            ack: Some(SeqNum(1)),
            window: 65_535,
            cause: SendCause::New,
            retransmit: 0,
            blocks: 0,
            dsack: None,
        };
        let event = match nth % 4 {
            0 => Event::AckProcessed {
                ack: SeqNum(acked),
                acked: 2 * PAYLOAD,
                sacked: 0,
                lost: 0,
                dsack: None,
                rtt: Some(Duration::from_micros(25_000 + u64::from(round % 100))),
                pipe: 40 * PAYLOAD,
                cwnd: 42 * PAYLOAD + round,
            },
            1 => Event::CcSnapshot {
                phase: Phase::Cubic,
                cwnd: 42 * PAYLOAD + round,
                ssthresh: 42 * PAYLOAD,
                pipe: 40 * PAYLOAD,
                snd_wnd: 1 << 20,
                pacing: None,
            },
            _ => sent(acked + nth % 2 * PAYLOAD),
        };
        Record { at: Instant::from_nanos(u64::from(nth) * 60_000), conn: ConnId(0), event }
    };
    (0..count).map(record).collect()
}

/// Segments in rounds of fifty, each with an ACK; the first of a round is reported missing and retransmitted at its end.
fn capture(packets: u32) -> Vec<u8> {
    const ROUND: u32 = 50;
    let header = PcapHeader { datalink: DataLink::RAW, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).expect("memory takes it");
    let mut write = |nth: u32, from: usize, seq: u32, ack: u32, sack: SackBlocks, len: u32| {
        let ends: [(Ipv4Addr, u16); 2] = [([10, 0, 0, 1].into(), 5_000), ([10, 0, 0, 2].into(), 80)];
        let ((src, src_port), (dst, dst_port)) = (ends[from], ends[1 - from]);
        let (timestamps, window) = (Some(Timestamps { tsval: nth, tsecr: nth }), 60_000);
        let options = Options { timestamps, sack, ..Options::default() };
        let (seq, ack) = (SeqNum(seq), Some(SeqNum(ack)));
        let tcp = TcpRepr { src_port, dst_port, seq, ack, flags: Flags::NONE, window, urgent: 0, options };
        let mut out = [0; MAX_HEADER];
        let header_len = wire::emit(&ip(src, dst), &tcp, len, &mut out);
        let at = std::time::Duration::from_micros(u64::from(nth) * 60);
        let packet = PcapPacket::new(at, header_len as u32 + len, &out[..header_len]);
        writer.write_packet(&packet).expect("memory takes it");
    };
    for pair in 0..packets / 2 {
        let (base, place) = (1 + pair / ROUND * ROUND * PAYLOAD, pair % ROUND);
        let last = place == ROUND - 1;
        // The segment at the end of a round repeats the one at its beginning; the others are consecutive.
        let seq = if last { base } else { base + (place + 1) * PAYLOAD };
        let mut sack = SackBlocks::NONE;
        if !last {
            sack.push(SeqRange::new(SeqNum(base + PAYLOAD), SeqNum(seq + PAYLOAD)));
        }
        write(2 * pair, 0, seq, 1, SackBlocks::NONE, PAYLOAD);
        write(2 * pair + 1, 1, 1, if last { base + ROUND * PAYLOAD } else { base }, sack, 0);
    }
    writer.into_writer()
}

/// Checks that the analysis found the capture's content.
fn judge(analysis: Analysis) {
    assert_eq!((analysis.packets, analysis.flows.len(), analysis.first_bad()), (4_000, 1, None));
}

// Limits the cost of a trace in a run that writes one.
#[library_benchmark]
#[bench::events_20000(args = (20_000), setup = records)]
fn write_table(records: Vec<Record>) {
    let mut writer = TableWriter::new(std::io::sink(), &Meta::default()).expect("nothing can go wrong");
    records.chunks(1_024).for_each(|chunk| writer.write(chunk).expect("nothing can go wrong"));
    writer.finish().expect("nothing can go wrong");
}

// Limits the analysis time of large captures.
#[library_benchmark]
#[bench::packets_4000(args = (4_000), setup = capture, teardown = judge)]
fn read_capture(capture: Vec<u8>) -> Analysis {
    analyze(&capture[..]).expect("it is a capture")
}

library_benchmark_group!(name = files, benchmarks = [write_table, read_capture]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = files
);
