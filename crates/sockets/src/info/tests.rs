//! The layout, number by number.

use super::*;
use base::Rate;
use tcp::{Counters, EcnInfo, FlightSegments, TcpInfo};
use test_case::test_case;

fn counters() -> Counters {
    Counters {
        segments_sent: 101,
        segments_received: 102,
        bytes_sent: 103_000,
        bytes_retransmitted: 4_000,
        bytes_acked: 105_000,
        bytes_received: 106_000,
        data_segments_sent: 107,
        data_segments_received: 108,
        segments_delivered: 109,
        segments_retransmitted: 10,
        segments_out_of_order: 11,
        timeouts: 3,
        dsacks_received: 12,
        ..Counters::default()
    }
}

fn info() -> TcpInfo {
    TcpInfo {
        state: State::Established,
        closed: None,
        smss: 1_448,
        cwnd: 20 * 1_448,
        ssthresh: 30 * 1_448 + 700,
        pipe: 0,
        flight_size: 0,
        snd_wnd: 65_000,
        rcv_wnd: 64_000,
        srtt: Some(Duration::from_millis(20)),
        rttvar: Some(Duration::from_millis(5)),
        min_rtt: Some(Duration::from_millis(18)),
        reo_wnd_mult: None,
        rto: Duration::from_millis(220),
        episode: trace::Episode::Open,
        readable: 0,
        mismatches: 0,
        negotiated: (true, true, true),
        ecn: EcnInfo { negotiated: true, delivered_ce: 13, received_ce: 14, reductions: 1, received_capable: 20 },
        syn_data_taken: true,
        resumption: None,
        counters: counters(),
    }
}

/// A connection in which every number is different.
fn details() -> Details {
    Details {
        info: info(),
        origin: Origin::Active,
        congestion: CongestionState::Recovery,
        window: 17 * 1_448,
        consecutive_timeouts: 2,
        window_probes: 300,
        back_off: 4,
        shifts: Some((7, 8)),
        ack_delay: Duration::from_millis(40),
        rmss: 1_400,
        advertised_mss: 1_460,
        timestamp: 77,
        path_mtu: 1_500,
        flight: FlightSegments { outstanding: 15, sacked: 6, lost: 5, retransmitted: 4 },
        unsent: 12_345,
        send_buffer: 87_040,
        send_memory: 0,
        since_data_sent: Duration::from_millis(21),
        since_data_received: Duration::from_millis(22),
        since_ack_received: Duration::from_millis(23),
        receive_limit: 65_535,
        receive_memory: None,
        receiver_rtt: Some(Duration::from_millis(19)),
        receiver_space: 20_000,
        reordering_extent: 7 * 1_448 + 1,
        reorderings: 24,
        pacing: None,
        delivery_rate: Rate::from_bits_per_sec(8_000_000),
        rate_limit: RateLimit::Path,
        busy: Duration::from_micros(31_000),
        window_limited: Duration::from_micros(32_000),
        buffer_limited: Duration::from_micros(33_000),
        all_timeouts: 5,
        timeout_recoveries: 4,
        timeout_time: Duration::from_millis(900),
    }
}

fn number(image: &[u8], offset: usize, bytes: usize) -> u64 {
    let mut value = [0; 8];
    value[..bytes].copy_from_slice(&image[offset..offset + bytes]);
    u64::from_ne_bytes(value)
}

// Offsets are those of the kernel's include/uapi/linux/tcp.h.
#[test_case(0, 1 => 1; "state")]
#[test_case(1, 1 => 3; "ca_state")]
#[test_case(2, 1 => 2; "retransmits")]
#[test_case(3, 1 => 255; "probes saturate")]
#[test_case(4, 1 => 4; "backoff")]
#[test_case(5, 1 => 0x3f; "options: timestamps, SACK, window scale, ECN, marks seen, data in a SYN taken")]
#[test_case(6, 1 => 0x87; "the peer's shift in the low half, ours in the high one")]
#[test_case(7, 1 => 0; "the rate measured the path")]
#[test_case(8, 4 => 220_000; "rto")]
#[test_case(12, 4 => 40_000; "ato")]
#[test_case(16, 4 => 1_448; "snd_mss")]
#[test_case(20, 4 => 1_400; "rcv_mss")]
#[test_case(24, 4 => 15; "unacked")]
#[test_case(28, 4 => 6; "sacked")]
#[test_case(32, 4 => 5; "lost")]
#[test_case(36, 4 => 4; "retrans")]
#[test_case(40, 4 => 0; "fackets")]
#[test_case(44, 4 => 21; "last_data_sent")]
#[test_case(48, 4 => 0; "last_ack_sent")]
#[test_case(52, 4 => 22; "last_data_recv")]
#[test_case(56, 4 => 23; "last_ack_recv")]
#[test_case(60, 4 => 1_500; "pmtu")]
#[test_case(64, 4 => 65_535; "rcv_ssthresh")]
#[test_case(68, 4 => 20_000; "rtt")]
#[test_case(72, 4 => 5_000; "rttvar")]
#[test_case(76, 4 => 30; "snd_ssthresh")]
#[test_case(80, 4 => 17; "snd_cwnd")]
#[test_case(84, 4 => 1_448; "advmss, less what timestamps take")]
#[test_case(88, 4 => 8; "reordering")]
#[test_case(92, 4 => 19_000; "rcv_rtt")]
#[test_case(96, 4 => 20_000; "rcv_space")]
#[test_case(100, 4 => 12; "total_retrans, two SYNs among them")]
#[test_case(104, 8 => 1_737_600; "pacing_rate: 1.2 windows a round trip")]
#[test_case(112, 8 => u64::MAX; "max_pacing_rate")]
#[test_case(120, 8 => 105_001; "bytes_acked, and the SYN")]
#[test_case(128, 8 => 106_000; "bytes_received")]
#[test_case(136, 4 => 101; "segs_out")]
#[test_case(140, 4 => 102; "segs_in")]
#[test_case(144, 4 => 12_345; "notsent_bytes")]
#[test_case(148, 4 => 18_000; "min_rtt")]
#[test_case(152, 4 => 108; "data_segs_in")]
#[test_case(156, 4 => 107; "data_segs_out")]
#[test_case(160, 8 => 1_000_000; "delivery_rate")]
#[test_case(168, 8 => 31_000; "busy_time")]
#[test_case(176, 8 => 32_000; "rwnd_limited")]
#[test_case(184, 8 => 33_000; "sndbuf_limited")]
#[test_case(192, 4 => 110; "delivered, and the SYN")]
#[test_case(196, 4 => 13; "delivered_ce")]
#[test_case(200, 8 => 103_000; "bytes_sent")]
#[test_case(208, 8 => 4_000; "bytes_retrans")]
#[test_case(216, 4 => 12; "dsack_dups")]
#[test_case(220, 4 => 24; "reord_seen")]
#[test_case(224, 4 => 11; "rcv_ooopack")]
#[test_case(228, 4 => 65_000; "snd_wnd")]
#[test_case(232, 4 => 64_000; "rcv_wnd")]
#[test_case(236, 4 => 0; "rehash")]
#[test_case(240, 2 => 5; "total_rto")]
#[test_case(242, 2 => 4; "total_rto_recoveries")]
#[test_case(244, 4 => 900; "total_rto_time")]
fn a_connection_shows_at(offset: usize, bytes: usize) -> u64 {
    number(&connection(&details(), &SocketSide::default()), offset, bytes)
}

#[test]
fn nothing_measured_shows_as_the_kernel_shows_it() {
    let mut young = details();
    young.info.srtt = None;
    young.info.rttvar = None;
    young.info.min_rtt = None;
    young.info.ssthresh = u32::MAX;
    young.info.rto = Duration::from_secs(1);
    young.rmss = 0;
    young.info.counters.data_segments_received = 0;
    young.reordering_extent = 0;
    young.rate_limit = RateLimit::Application;
    let image = connection(&young, &SocketSide::default());
    let at = |offset| number(&image, offset, 4);
    assert_eq!((at(68), at(72), at(76), at(148)), (0, 250_000, 0x7fff_ffff, 0xffff_ffff));
    assert_eq!((at(12), at(20), at(88), image[7]), (0, 536, 3, 1));
    assert_eq!(number(&image, 104, 8), u64::MAX);
}

#[test]
fn a_server_counts_the_syn_that_arrived_and_not_the_syn_ack() {
    let server = Details { origin: Origin::Passive, ..details() };
    let image = connection(&server, &SocketSide::default());
    assert_eq!((number(&image, 136, 4), number(&image, 140, 4)), (98, 103));
    assert_eq!((number(&image, 120, 8), number(&image, 192, 4)), (105_000, 110));
}

#[test_case(State::FinWait2, None => (105_002, 106_000); "our FIN is acknowledged")]
#[test_case(State::CloseWait, None => (105_001, 106_001); "the peer's was received")]
#[test_case(State::Closed, Some(CloseReason::Normal) => (105_002, 106_001); "both")]
#[test_case(State::Closed, Some(CloseReason::Refused) => (105_000, 106_000); "never connected")]
fn a_fin_counts_as_a_byte(state: State, closed: Option<CloseReason>) -> (u64, u64) {
    let mut over = details();
    (over.info.state, over.info.closed) = (state, closed);
    let image = connection(&over, &SocketSide::default());
    (number(&image, 120, 8), number(&image, 128, 8))
}

#[test]
fn the_pacing_rate_is_cut_to_what_the_socket_allows() {
    let side = SocketSide { max_pacing_rate: 5_000, ..SocketSide::default() };
    let image = connection(&details(), &side);
    assert_eq!((number(&image, 104, 8), number(&image, 112, 8)), (5_000, 5_000));
}

#[test]
fn sockets_without_a_connection_show_what_the_kernels_do() {
    let closed = unconnected(&SocketSide::default(), Duration::from_secs(1), 536);
    let at = |offset| number(&closed, offset, 4);
    assert_eq!((closed[0], closed[7], at(8), at(16), at(72)), (7, 1, 1_000_000, 536, 250_000));
    assert_eq!((at(76), at(80), at(88), at(148)), (0x7fff_ffff, 10, 3, 0xffff_ffff));
    let image = listener(&SocketSide::default(), 2, 7);
    assert_eq!((image[0], number(&image, 24, 4), number(&image, 28, 4), number(&image, 80, 4)), (10, 2, 7, 10));
    assert_eq!(number(&image, 8, 4), 0);
}

#[test]
fn memory_is_nine_counts() {
    let image = memory(1, 2, 3, 4);
    let counts: Vec<u64> = (0..9).map(|index| number(&image, index * 4, 4)).collect();
    assert_eq!(counts, [1, 2, 0, 4, 0, 3, 0, 0, 0]);
}
