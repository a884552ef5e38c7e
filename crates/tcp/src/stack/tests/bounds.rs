//! What strangers can accumulate, compared with the limits of the stack's guards: bytes and records, never time.

use super::bench::{Bench, IRS, PORT};
use crate::Read;
use crate::config::{Config, GuardConfig, KeepAliveConfig, ReceiveWindowConfig, WindowScaleConfig};
use crate::stack::Conn;
use crate::testing::{quick, valid};
use crate::turn::Sent;
use base::{Duration, SeqNum};
use core::net::{IpAddr, Ipv4Addr};
use test_case::test_case;
use wire::{Flags, TcpRepr};

/// Returns the `n`th of many source addresses.
fn source(n: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x0b00_0000 + n))
}

/// Opens a connection from `port`, accepted by the application; returns the number of our first byte, too.
fn open(bench: &mut Bench, port: u16) -> (Conn, SeqNum) {
    let syn_ack = bench.syn_ack_for(port).expect("answered");
    bench.events.clear();
    bench.finish(&syn_ack);
    let conn = bench.accepted().expect("accepted");
    bench.stack.accept(conn);
    (conn, syn_ack.seq + 1)
}

fn data(port: u16, at: u32, ack: SeqNum) -> TcpRepr {
    Bench::segment(port, Flags::NONE, IRS + 1 + at, Some(ack))
}

fn read(bench: &mut Bench, conn: Conn, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    match bench.cx(|stack, cx| stack.read(cx, conn, &mut bytes)).expect("readable") {
        Read::Data(len) => bytes.truncate(len as usize),
        Read::Fin => bytes.clear(),
    }
    bytes
}

/// A receiver with a fixed window of this many bytes, advertised by the ACK of its first byte.
fn with_window(bytes: u32) -> Config {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes };
    cfg.options.window_scale = WindowScaleConfig::FromBuffer;
    cfg
}

/// Opens a connection that scales windows; the acknowledgement of its first byte offers the whole window.
fn open_wide(bench: &mut Bench, port: u16) -> (Conn, SeqNum) {
    let mut syn = Bench::syn(port);
    syn.options.window_scale = Some(7);
    let syn_ack = bench.deliver(syn, 0)[0];
    bench.events.clear();
    bench.finish(&syn_ack);
    let conn = bench.accepted().expect("accepted");
    bench.stack.accept(conn);
    let ack = syn_ack.seq + 1;
    bench.deliver_bytes(data(port, 0, ack), b"0");
    bench.pass(Duration::from_secs(1));
    (conn, ack)
}

/// Requests that each move the earliest deadline forward, ahead of a keep-alive timer that is two hours away.
#[test]
fn the_deadline_heap_has_one_entry_for_each_connection_however_often_timers_move() {
    let mut cfg = quick();
    let (idle, interval) = (Duration::from_secs(7_200), Duration::from_secs(75));
    cfg.keepalive = KeepAliveConfig::On { idle, interval, count: 9 };
    let mut bench = Bench::listening(8, cfg);
    let (conn, ack) = open(&mut bench, 1001);
    for nth in 0..10_000 {
        bench.deliver(data(1001, nth, ack), 1);
        bench.pass(Duration::from_millis(10));
        assert!(bench.stack.guarded_usage().deadlines <= 1, "request {nth}");
    }
    bench.cx(|stack, cx| stack.abort(cx, conn));
    bench.cx(|stack, cx| stack.release(cx, conn));
    assert_eq!((bench.stack.connections(), bench.stack.guarded_usage().deadlines), (0, 0));
}

#[test]
fn a_byte_at_the_far_edge_of_the_window_costs_a_page() {
    let mut bench = Bench::listening(8, with_window(16 << 20));
    let (_, ack) = open_wide(&mut bench, 1001);
    let before = bench.stack.guarded_usage().memory;
    for (nth, at) in [(16 << 20) - 5_000, 8 << 20, 1 << 20].into_iter().enumerate() {
        bench.deliver_bytes(data(1001, at, ack), b"x");
        let per_byte = 2_048 + crate::recv::BLOCK_BYTES as u64;
        assert_eq!(bench.stack.guarded_usage().memory - before, (nth as u64 + 1) * per_byte);
    }
}

/// A later segment that overlaps selectively acknowledged data brings other bytes: the first copy counts.
#[test]
fn the_first_copy_of_a_byte_stays() {
    let mut bench = Bench::listening(8, quick());
    let (conn, ack) = open(&mut bench, 1001);
    bench.deliver_bytes(data(1001, 2, ack), b"CDE");
    bench.deliver_bytes(data(1001, 7, ack), b"HI");
    bench.deliver_bytes(data(1001, 1, ack), b"xxxxxxxxxx");
    bench.deliver_bytes(data(1001, 0, ack), b"yyyyyyyyyyyyyyyyyyyyyyyy");
    assert_eq!(read(&mut bench, conn, 24), b"yxCDExxHIxxyyyyyyyyyyyyy");
}

/// Single bytes with gaps between them, from a peer that no profile limits.
#[test]
fn blocks_out_of_order_are_bounded_whatever_the_profile_says() {
    let mut cfg = with_window(1 << 20);
    cfg.receive.reassembly_max = None;
    let mut bench = Bench::guarded(GuardConfig { blocks_max: 100, ..GuardConfig::default() }).with_listener(8, cfg);
    let (conn, ack) = open_wide(&mut bench, 1001);
    for nth in 1..=150 {
        bench.deliver_bytes(data(1001, nth * 2, ack), b"x");
    }
    let info = bench.stack.info(conn).expect("exists");
    assert_eq!(info.counters.dropped[crate::DropReason::ReassemblyLimit as usize], 50);
}

/// Closes a connection from `port` from our side, and releases it.
fn close_first(bench: &mut Bench, port: u16) {
    let (conn, ack) = open(bench, port);
    bench.cx(|stack, cx| stack.release(cx, conn));
    bench.deliver(Bench::segment(port, Flags::FIN, IRS + 1, Some(ack + 1)), 0);
}

#[test]
fn time_wait_is_capped_and_its_oldest_makes_room() {
    let guards = GuardConfig { time_wait_max: 10, ..GuardConfig::default() };
    let mut bench = Bench::guarded(guards).with_listener(8, quick());
    for port in 1001..=1015 {
        close_first(&mut bench, port);
    }
    let usage = bench.stack.guarded_usage();
    assert_eq!((usage.time_wait, bench.stack.connections(), usage.deadlines), (10, 10, 10));
    assert_eq!(bench.stack.guard_counters().time_wait_evicted, 5);
    // The latest one still answers its peer's FIN, the oldest one no longer exists.
    let again = |port| Bench::segment(port, Flags::FIN, IRS + 1, Some(SeqNum(1)));
    assert!(bench.deliver(again(1001), 0)[0].flags.contains(Flags::RST));
    assert!(!bench.deliver(again(1015), 0)[0].flags.contains(Flags::RST));
    bench.pass(Duration::from_secs(61));
    assert_eq!(bench.stack.connections(), 0);
}

/// What a connection in TIME-WAIT keeps of the megabytes it has moved.
#[test]
fn a_connection_in_time_wait_keeps_no_buffer() {
    let mut bench = Bench::listening(8, quick());
    let (conn, ack) = open(&mut bench, 1001);
    let bytes = vec![7; 1_000];
    for nth in 0..60 {
        bench.deliver_bytes(data(1001, nth * 1_000, ack), &bytes);
    }
    read(&mut bench, conn, 60_000);
    bench.cx(|stack, cx| stack.write(cx, conn, &[1; 3_000])).expect("may write");
    bench.cx(|stack, cx| stack.release(cx, conn));
    bench.deliver(Bench::segment(1001, Flags::FIN, IRS + 1 + 60_000, Some(ack + 3_001)), 0);
    let usage = bench.stack.guarded_usage();
    assert_eq!((usage.time_wait, usage.memory), (1, crate::stack::budget::CONNECTION_BYTES));
}

/// A released connection whose peer acknowledges every probe of its closed window.
fn orphan_with_closed_window(bench: &mut Bench, port: u16) -> SeqNum {
    let (conn, ack) = open(bench, port);
    bench.deliver(TcpRepr { window: 0, ..data(port, 0, ack) }, 0);
    bench.cx(|stack, cx| stack.write_pattern(cx, conn, 50_000)).expect("may write");
    bench.cx(|stack, cx| stack.release(cx, conn));
    ack
}

#[test]
fn an_orphan_lives_no_longer_than_its_time_although_its_peer_answers_every_probe() {
    let guards = GuardConfig::default();
    let mut bench = Bench::guarded(guards).with_listener(8, quick());
    let ack = orphan_with_closed_window(&mut bench, 1001);
    let began = bench.now;
    let mut reset = false;
    while bench.stack.connections() > 0 {
        let sent = bench.pass(Duration::from_secs(1));
        reset |= sent.iter().any(|out| out.flags.contains(Flags::RST));
        if !sent.is_empty() {
            bench.deliver(TcpRepr { window: 0, ..data(1001, 0, ack) }, 0);
        }
        assert!(bench.now.since(began) <= guards.orphan_time + Duration::from_secs(1));
    }
    assert!(reset, "its peer gets a reset");
    assert_eq!(bench.stack.guard_counters().orphans_reset, 1);
}

/// Acknowledges more bytes of a connection from `port`, up to `len` after `ack`, and closes the window again.
fn acknowledge(bench: &mut Bench, conn: Conn, port: u16, ack: SeqNum, len: u32) {
    let mut done = 0;
    while done < len {
        let flight = bench.stack.info(conn).expect("exists").flight_size;
        done += flight.min(len - done);
        let window = if done < len { 20_000 } else { 0 };
        bench.deliver(TcpRepr { window, ..data(port, 0, ack + done) }, 0);
    }
}

/// The peer accepts 64 KiB in each such period, at its end, and then nothing more.
#[test]
fn an_orphan_lives_on_while_its_peer_acknowledges_64_kib_in_each_orphan_time() {
    let guards = GuardConfig { orphan_time: Duration::from_secs(60), ..GuardConfig::default() };
    for (least, periods) in [(64 << 10, 4), ((64 << 10) - 1, 1)] {
        let mut cfg = quick();
        cfg.send.buffer = 1 << 20;
        let mut bench = Bench::guarded(guards).with_listener(8, cfg);
        let (conn, mut ack) = open(&mut bench, 1001);
        bench.deliver(TcpRepr { window: 0, ..data(1001, 0, ack) }, 0);
        assert_eq!(bench.cx(|stack, cx| stack.write_pattern(cx, conn, 600_000)), Ok(600_000));
        bench.cx(|stack, cx| stack.release(cx, conn));
        let began = bench.now;
        for period in 1..=10 {
            while bench.stack.connections() > 0 && bench.now.since(began) < guards.orphan_time * period {
                if !bench.pass(Duration::from_secs(1)).is_empty() && bench.stack.connections() > 0 {
                    bench.deliver(TcpRepr { window: 0, ..data(1001, 0, ack) }, 0);
                }
                if period < 4 && bench.now.since(began) + Duration::from_secs(1) == guards.orphan_time * period {
                    acknowledge(&mut bench, conn, 1001, ack, least);
                    ack += least;
                }
            }
        }
        assert_eq!(bench.stack.guard_counters().orphans_reset, 1);
        let lived = bench.now.since(began);
        assert_eq!(lived, guards.orphan_time * periods, "with {least} bytes in each period");
    }
}

#[test]
fn orphans_are_capped_and_the_oldest_is_reset() {
    let guards = GuardConfig { orphans_max: 3, ..GuardConfig::default() };
    let mut bench = Bench::guarded(guards).with_listener(8, quick());
    let mut sent = Vec::new();
    for port in 1001..=1005 {
        orphan_with_closed_window(&mut bench, port);
        sent.append(&mut bench.sent);
    }
    let resets = sent.iter().filter(|out| out.flags.contains(Flags::RST));
    assert_eq!(resets.map(|out| out.dst_port).collect::<Vec<_>>(), [1001, 1002]);
    assert_eq!((bench.stack.connections(), bench.stack.guarded_usage().orphans), (3, 3));
}

/// Released connections whose peers never close: they have nothing left to send, but are younger.
#[test]
fn an_orphan_that_still_sends_outlives_those_that_have_nothing_left_to_send() {
    let guards = GuardConfig { orphans_max: 3, ..GuardConfig::default() };
    let mut bench = Bench::guarded(guards).with_listener(8, quick());
    orphan_with_closed_window(&mut bench, 1001);
    let mut sent = Vec::new();
    for port in 1002..=1005 {
        let (conn, ack) = open(&mut bench, port);
        bench.cx(|stack, cx| stack.release(cx, conn));
        sent.append(&mut bench.sent);
        sent.extend(bench.deliver(data(port, 0, ack + 1), 0));
    }
    let resets = sent.iter().filter(|out| out.flags.contains(Flags::RST));
    assert_eq!(resets.map(|out| out.dst_port).collect::<Vec<_>>(), [1002, 1003]);
    assert_eq!((bench.stack.connections(), bench.stack.guarded_usage().orphans), (3, 3));
}

/// Received and unsent data survive a device that rejects packets: a trial send copies neither.
#[test]
fn a_device_that_refuses_costs_a_connection_none_of_its_bytes() {
    let mut cfg = quick();
    cfg.retries.refused = Some(Duration::from_millis(500));
    let mut bench = Bench::listening(8, cfg);
    let (conn, ack) = open(&mut bench, 1001);
    bench.deliver_bytes(data(1001, 0, ack), b"abc");
    bench.stack.set_device_refuses(true);
    bench.cx(|stack, cx| stack.write(cx, conn, &[7; 3_000])).expect("may write");
    bench.deliver_bytes(data(1001, 3, ack), b"def");
    assert_eq!(bench.pass(Duration::from_secs(2)), []);
    assert_eq!(read(&mut bench, conn, 8), b"abcdef");
    bench.stack.set_device_refuses(false);
    bench.pass(Duration::from_secs(2));
    bench.deliver(data(1001, 6, ack + 1_460), 0);
    bench.deliver(data(1001, 6, ack + 3_000), 0);
    let info = bench.stack.info(conn).expect("exists");
    assert_eq!((info.flight_size, info.counters.bytes_acked), (0, 3_000));
}

#[test]
fn the_time_after_the_last_ack_is_not_busy_though_a_full_device_lets_nothing_leave() {
    let mut bench = Bench::listening(8, quick());
    let (conn, ack) = open(&mut bench, 1001);
    bench.cx(|stack, cx| stack.write(cx, conn, &[7; 1_000])).expect("may write");
    bench.device = Sent::Full;
    bench.now += Duration::from_millis(100);
    // A segment behind a gap is acknowledged at once, and that acknowledgement waits for the device.
    bench.deliver_bytes(data(1001, 10, ack), b"abc");
    bench.deliver(data(1001, 0, ack + 1_000), 0);
    bench.now += Duration::from_millis(500);
    let details = bench.stack.details(conn, bench.now).expect("exists");
    assert_eq!((details.info.flight_size, details.busy), (0, Duration::from_millis(100)));
}

#[test]
fn replies_to_strangers_are_bounded_while_the_device_is_full() {
    let mut bench = Bench::new();
    bench.device = Sent::Full;
    for port in 1..=5_000 {
        bench.deliver(Bench::syn(port), 0);
        bench.now += Duration::from_millis(2);
    }
    let (guards, usage) = (GuardConfig::default(), bench.stack.guarded_usage());
    assert_eq!(usage.replies, guards.replies_max as usize);
    assert!(bench.stack.guard_counters().replies_dropped > 3_000);
}

#[test]
fn resets_to_strangers_are_bounded_in_every_second() {
    let mut bench = Bench::new();
    let mut resets = Vec::new();
    for second in 0..3 {
        let before = resets.len();
        for nth in 0..5_000 {
            bench.now += Duration::from_micros(200);
            resets.extend(bench.deliver(Bench::syn(1 + nth), 0));
        }
        let most = if second == 0 { 2_000 } else { 1_001 };
        assert!(resets.len() - before <= most, "{} resets in second {second}", resets.len() - before);
    }
    assert_eq!(bench.stack.guard_counters().resets_withheld, 15_000 - resets.len() as u64);
}

/// A stack that may hold a mebibyte, and an application that does not read.
fn scarce() -> Bench {
    let guards = GuardConfig { memory_max: 1 << 20, ..GuardConfig::default() };
    Bench::guarded(guards).with_listener(64, with_window(4 << 20))
}

#[test]
fn windows_shrink_before_the_memory_is_spent() {
    let mut bench = scarce();
    let (conn, ack) = open_wide(&mut bench, 1001);
    let bytes = vec![1; 1_000];
    for nth in 0..800 {
        bench.deliver_bytes(data(1001, 1 + nth * 1_000, ack), &bytes);
    }
    let usage = bench.stack.guarded_usage();
    assert!(usage.memory > 1 << 19 && u64::from(usage.window_max) < (1 << 20) - usage.memory + 1);
    // Another connection is offered no more than its share of the remaining memory.
    let (_, other) = open_wide(&mut bench, 1002);
    let acks = bench.deliver_bytes(data(1002, 1, other), &bytes);
    let shift = 7;
    let window = acks.last().map_or(0, |out| u32::from(out.window) << shift);
    assert!(window <= 1 << 18, "{window} bytes");
    // When memory is freed, the window opens again.
    read(&mut bench, conn, 1 << 20);
    assert_eq!(bench.stack.guarded_usage().window_max, u32::MAX);
}

/// Fills the budget up to `held` bytes with in-order data that the application leaves unread. Returns the number of bytes.
fn fill(bench: &mut Bench, port: u16, ack: SeqNum, mut at: u32, held: u64) -> u32 {
    let bytes = [1; 1_000];
    while bench.stack.guarded_usage().memory < held && bench.stack.guard_counters().refused_for_memory == 0 {
        bench.deliver_bytes(data(port, at, ack), &bytes);
        at += 1_000;
    }
    at
}

#[test]
fn among_many_connections_16_kib_stay_on_offer_while_there_is_a_multiple_of_that() {
    let mut bench = scarce();
    let connections: Vec<_> = (1001..1041).map(|port| (port, open_wide(&mut bench, port).1)).collect();
    let (filler, ack) = connections[0];
    let at = fill(&mut bench, filler, ack, 1, 600 << 10);
    let free = |bench: &Bench| (1 << 20) - bench.stack.guarded_usage().memory;
    assert!(free(&bench) / 40 < 16 << 10, "an equal share would be less");
    assert_eq!(bench.stack.guarded_usage().window_max, 16 << 10);
    fill(&mut bench, filler, ack, at, 900 << 10);
    let left = free(&bench);
    assert_eq!(u64::from(bench.stack.guarded_usage().window_max), left / 16);
}

/// A segment that acknowledges, and one that probes, reach a connection that has no memory for their data.
#[test]
fn the_header_of_a_segment_counts_when_its_data_finds_no_memory() {
    let mut bench = scarce();
    let (filler, filler_ack) = open_wide(&mut bench, 1001);
    let (conn, ack) = open_wide(&mut bench, 1002);
    bench.cx(|stack, cx| stack.write_pattern(cx, conn, 1_000)).expect("may write");
    fill(&mut bench, 1001, filler_ack, 1, u64::MAX);
    let flight = |bench: &Bench| bench.stack.info(conn).expect("exists").flight_size;
    assert_eq!(flight(&bench), 1_000);
    let acks = bench.deliver_bytes(data(1002, 1, ack + 1_000), &[1; 5_000]);
    assert_eq!(flight(&bench), 0, "its acknowledgement is heard");
    assert_eq!(acks.iter().map(|out| out.ack).collect::<Vec<_>>(), [Some(IRS + 2)], "it is answered");
    assert_eq!(bench.stack.info(conn).map(|info| info.readable), Some(1), "its data is not taken");
    read(&mut bench, filler, 1 << 20);
    bench.deliver_bytes(data(1002, 1, ack + 1_000), &[1; 5_000]);
    assert_eq!(bench.stack.info(conn).map(|info| info.readable), Some(5_001), "it is when it comes again");
}

/// The budget is exhausted when the connection reads, so that before its read it may offer nothing.
#[test]
fn a_window_that_memory_held_back_opens_with_the_read_that_frees_it() {
    let mut bench = scarce();
    let (_, filler_ack) = open_wide(&mut bench, 1001);
    let at = fill(&mut bench, 1001, filler_ack, 1, 600 << 10);
    let (conn, ack) = open_wide(&mut bench, 1002);
    let offered = |bench: &Bench| bench.stack.info(conn).expect("exists").rcv_wnd;
    let mut taken = 1;
    while offered(&bench) > 2_000 {
        bench.deliver_bytes(data(1002, taken, ack), &[1; 1_000]);
        taken += 1_000;
    }
    fill(&mut bench, 1001, filler_ack, at, u64::MAX);
    bench.deliver_bytes(data(1002, taken, ack), &[1; 10]);
    let before = offered(&bench);
    read(&mut bench, conn, 1 << 20);
    let windows: Vec<_> = bench.sent.iter().map(|out| (out.dst_port, u32::from(out.window) << 7)).collect();
    assert!(matches!(windows[..], [(1002, window)] if window > 2 * before && window > 16 << 10), "{windows:?}");
}

#[test_case(1 << 20)]
#[test_case(300_000)]
fn memory_stays_within_the_budget_whatever_strangers_send(memory_max: u64) {
    let guards = GuardConfig { memory_max, ..GuardConfig::default() };
    let mut bench = Bench::guarded(guards).with_listener(64, with_window(4 << 20));
    let connections: Vec<_> = (1001..1011).map(|port| (port, open_wide(&mut bench, port))).collect();
    for nth in 0..400u32 {
        for (port, (_, ack)) in &connections {
            // Each byte occupies a separate page.
            bench.deliver_bytes(data(*port, 5_000 + nth * 4_096, *ack), b"x");
            let usage = bench.stack.guarded_usage();
            assert!(usage.memory <= memory_max + 8_192, "{} bytes", usage.memory);
        }
    }
    assert!(bench.stack.guard_counters().out_of_order_discarded > 0);
    // No connection was lost, and in-order data still gets through.
    for (port, (conn, ack)) in connections {
        bench.deliver_bytes(data(port, 1, ack), b"abc");
        assert_eq!(read(&mut bench, conn, 4), b"0abc");
    }
}

#[test]
fn for_another_page_the_oldest_holder_discards_its_last_blocks_and_keeps_the_others() {
    let mut bench = scarce();
    let (conn, ack) = open_wide(&mut bench, 1001);
    let (_, other) = open_wide(&mut bench, 1002);
    let mut at = 5_000;
    while bench.stack.guarded_usage().memory + 2 * 2_112 <= 1 << 20 {
        bench.deliver_bytes(data(1001, at, ack), b"x");
        at += 2_048;
    }
    for nth in 0..6 {
        bench.deliver_bytes(data(1002, 5_000 + nth * 2_048, other), b"x");
    }
    let discarded = bench.stack.guard_counters().out_of_order_discarded;
    assert!((1..=6).contains(&discarded), "{discarded} blocks");
    // The first block is still there; the peer sends the last one again, like any other.
    bench.deliver_bytes(data(1001, 1, ack), &[1; 4_999]);
    assert_eq!(bench.stack.info(conn).map(|info| info.readable), Some(5_001));
    let sent = bench.deliver_bytes(data(1001, at - 2_048, ack), b"x");
    assert_eq!(sent[0].ack, Some(IRS + 5_002));
}

#[test]
fn memory_is_relieved_in_the_order_time_wait_handshakes_orphans() {
    let mut bench = scarce();
    close_first(&mut bench, 1001);
    bench.syn_ack_for(1002).expect("answered");
    orphan_with_closed_window(&mut bench, 1003);
    let (_, ack) = open_wide(&mut bench, 1004);
    let held = |bench: &Bench| {
        let usage = bench.stack.guarded_usage();
        (usage.time_wait, usage.embryonic, usage.orphans)
    };
    assert_eq!(held(&bench), (1, 1, 1));
    let bytes = vec![1; 500];
    for nth in 0..2_200 {
        bench.deliver_bytes(data(1004, 1 + nth * 500, ack), &bytes);
        let (time_wait, embryonic, orphans) = held(&bench);
        assert!(time_wait <= embryonic && embryonic <= orphans, "after {nth} segments: {:?}", held(&bench));
    }
    assert_eq!(held(&bench), (0, 0, 0));
    assert!(bench.stack.guard_counters().refused_for_memory > 0, "then data is refused");
    assert!(bench.stack.guarded_usage().memory <= (1 << 20) + 8_192);
}

#[test]
fn without_memory_a_syn_is_answered_with_a_cookie() {
    let guards = GuardConfig { memory_max: 8 * 2_048, ..GuardConfig::default() };
    let mut bench = Bench::guarded(guards).with_listener(1_000, quick());
    for n in 0..1_000 {
        bench.peer = source(n);
        assert!(bench.syn_ack_for(999).is_some(), "SYN {n} is answered");
    }
    assert!(bench.stack.connections() <= 8);
    assert!(bench.open(1001).is_some(), "who answers a cookie takes the place of a handshake under way");
}

/// Without cookies a SYN replaces what can be evicted; if nothing can be, it lacks memory.
#[test]
fn without_memory_and_cookies_a_syn_evicts_in_the_usual_order() {
    let guards = GuardConfig { memory_max: 4 * 2_048, ..GuardConfig::default() };
    let mut cfg = quick();
    cfg.handshake.cookies = Some(crate::config::SynCookies::Off);
    let mut bench = Bench::guarded(guards).with_listener(1_000, cfg);
    close_first(&mut bench, 1000);
    let syn_acks: Vec<_> = (1001..=1005).map(|port| bench.syn_ack_for(port).expect("answered")).collect();
    let evicted = bench.stack.guard_counters();
    assert_eq!((evicted.time_wait_evicted, evicted.embryonic_evicted), (1, 1));
    assert_eq!((bench.stack.connections(), bench.stack.counters().backlog_full), (4, 0));
    syn_acks[1..].iter().for_each(|syn_ack| drop(bench.finish(syn_ack)));
    assert_eq!((bench.waiting(), bench.syn_ack_for(1006)), (4, None), "connections of the application stay");
    assert_eq!((bench.stack.guard_counters().refused_for_memory, bench.stack.counters().backlog_full), (1, 0));
}

#[test]
fn a_listener_can_be_configured_to_keep_every_handshake() {
    let mut cfg = quick();
    cfg.handshake.cookies = Some(crate::config::SynCookies::Off);
    let mut bench = Bench::listening(0, cfg.clone());
    bench.syn_ack_for(1001).expect("answered");
    assert_eq!(bench.syn_ack_for(1002), None);
    bench.stack.relisten(PORT, 0, &valid(quick()));
    assert!(bench.syn_ack_for(1002).is_some(), "by the stack's guards");
}
