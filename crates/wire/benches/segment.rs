//! Counts the instructions for the headers of data segments, as in every packet of every run: IPv4, TCP, timestamps.
//!
//! `cargo xtask bench` runs it.
#![expect(missing_docs, reason = "the macros make public items")]

use base::SeqNum;
use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use longhaul_wire::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, TcpRepr, Timestamps};
use std::hint::black_box;
use std::net::Ipv4Addr;

const PAYLOAD: u32 = 1_448;

fn ip(src: Ipv4Addr, dst: Ipv4Addr) -> IpRepr {
    let fragmentation = Fragmentation::Forbidden;
    IpRepr { src: src.into(), dst: dst.into(), ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation }
}

fn segments(count: u32) -> Vec<(IpRepr, TcpRepr)> {
    let ends = [[10, 0, 0, 1], [10, 0, 0, 2]].map(Ipv4Addr::from);
    let segment = |nth: u32| {
        let tcp = TcpRepr {
            src_port: 5_000,
            dst_port: 80,
            seq: SeqNum(nth * PAYLOAD),
            ack: Some(SeqNum(1)),
            flags: Flags::PSH,
            window: 60_000,
            urgent: 0,
            options: Options { timestamps: Some(Timestamps { tsval: nth, tsecr: nth }), ..Options::default() },
        };
        (ip(ends[0], ends[1]), tcp)
    };
    (0..count).map(segment).collect()
}

fn headers(count: u32) -> Vec<Vec<u8>> {
    let header = |(ip, tcp): &(IpRepr, TcpRepr)| {
        let mut out = [0; MAX_HEADER];
        let len = longhaul_wire::emit(ip, tcp, PAYLOAD, &mut out);
        out[..len].to_vec()
    };
    segments(count).iter().map(header).collect()
}

// Limits the cost of writing a header in a sender.
#[library_benchmark]
#[bench::segments_1000(args = (1_000), setup = segments)]
fn emit(segments: Vec<(IpRepr, TcpRepr)>) {
    let mut out = [0; MAX_HEADER];
    for (ip, tcp) in &segments {
        black_box(longhaul_wire::emit(black_box(ip), black_box(tcp), PAYLOAD, &mut out));
        black_box(&out);
    }
}

// Limits the cost of reading one in a receiver, including the checksum of the IP header.
#[library_benchmark]
#[bench::segments_1000(args = (1_000), setup = headers)]
fn parse(headers: Vec<Vec<u8>>) {
    for header in &headers {
        black_box(longhaul_wire::parse(black_box(header), PAYLOAD)).expect("it was emitted");
    }
}

library_benchmark_group!(name = segment, benchmarks = [emit, parse]);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = segment
);
