//! Path MTU reports of routers: which ones are accepted, their effect on the flight, their lifetime, and DF.

use crate::StackCx;
use crate::config::{Config, Discovery, UnsaidMtu};
use crate::testing::{MSS, PEER, PEER_PORT, Script, peer_options, quick, valid};
use base::{Duration, SeqNum};
use core::net::SocketAddr;
use test_case::test_case;
use trace::Off;
use wire::{Flags, Fragmentation, IcmpKind, Options, Timestamps};

/// The lowest MTU accepted by default.
const LEAST: u16 = 552;

fn too_big(mtu: u32) -> IcmpKind {
    IcmpKind::TooBig { mtu, packet_len: 0 }
}

fn path_mtu(script: &Script) -> u16 {
    script.stack.path_mtu(script.conn).expect("exists")
}

fn smss(script: &Script) -> u32 {
    script.info().smss
}

//= specs/rfc1191.md#a-smaller-path-mtu
//= type=test
//# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
//= specs/rfc1191.md#a-smaller-path-mtu
//= type=test
//# The congestion window is not reduced.
//= specs/rfc1191.md#the-path-mtu
//= type=test
//# A message about a packet that was too large lowers the path MTU to what it names.
#[test]
fn what_was_too_large_is_cut_and_sent_again_at_once_under_the_same_window() {
    let mut script = Script::established(quick());
    script.write(u64::from(3 * MSS) + 100);
    assert_eq!(script.data().len(), 4);
    let before = script.info();
    script.pass(Duration::from_millis(10));
    script.icmp(too_big(1200), 1);
    let expected = [(1, 1160), (1161, 1160), (2321, 1160), (3481, 900)];
    assert_eq!(script.data(), expected);
    let info = script.info();
    assert_eq!((info.smss, path_mtu(&script)), (1160, 1200));
    assert_eq!((info.cwnd, info.ssthresh), (before.cwnd, before.ssthresh));
    assert_eq!((info.counters.fast_retransmits, info.counters.timeouts, info.counters.bytes_lost), (0, 0, 0));
    script.pass(Duration::from_millis(10));
    // The small segment arrived although earlier ones did not.
    script.sack(1, &[(4381, 4481)]);
    script.ack(4481);
    assert_eq!(script.data(), []);
    assert_eq!((script.info().episode.name(), script.info().counters.episodes), ("open", 0));
    script.write(2000);
    assert_eq!(script.data(), [(4481, 1160), (5641, 840)]);
}

#[test]
fn duplicate_acks_for_what_was_dropped_are_no_sign_of_congestion() {
    let mut script = Script::established_with(quick(), Options { sack_permitted: false, ..peer_options() });
    script.write(u64::from(5 * MSS));
    let before = script.info().cwnd;
    script.icmp(too_big(1000), 1);
    script.data();
    for _ in 0..5 {
        script.ack(1);
    }
    script.ack(1 + 5 * MSS);
    assert!(script.info().cwnd >= before);
    assert_eq!(script.info().counters.fast_retransmits, 0);
}

#[test]
fn a_fin_behind_cut_data_goes_with_the_last_piece() {
    let mut script = Script::established(quick());
    script.write(u64::from(MSS));
    script.shutdown();
    script.data();
    script.icmp(too_big(1200), 1);
    let pieces: Vec<_> = script.sent().iter().map(|out| (out.seq, out.len, out.flags.contains(Flags::FIN))).collect();
    assert_eq!(pieces, [(1, 1160, false), (1161, 300, false)], "the FIN was small enough");
    let mut script = Script::established(quick());
    script.write(u64::from(MSS) - 1);
    script.pass(Duration::from_millis(1));
    script.shutdown();
    script.ack(1);
    script.data();
    script.icmp(too_big(MSS + 39), 1);
    assert_eq!(script.data(), [], "it fits to the byte");
}

//= specs/rfc1191.md#a-smaller-path-mtu
//= type=test
//# A message that does not make the path MTU smaller causes no retransmission.
//= specs/rfc1191.md#the-path-mtu
//= type=test
//# A message that would make the path MTU larger changes nothing.
#[test]
fn a_burst_of_messages_about_one_flight_causes_one_retransmission() {
    let mut script = Script::established(quick());
    script.write(u64::from(2 * MSS));
    script.data();
    script.icmp(too_big(1200), 1);
    assert_eq!(script.data(), [(1, 1160), (1161, 1160), (2321, 600)]);
    script.icmp(too_big(1200), 1461);
    script.icmp(too_big(1400), 1461);
    script.icmp(too_big(9000), 1461);
    assert_eq!((script.data(), smss(&script)), (vec![], 1160));
    script.icmp(too_big(1199), 1461);
    assert_eq!(script.data().first(), Some(&(1, 1159)));
}

/// The peer has acknowledged full-sized packets, and three more are in flight.
fn proven() -> Script {
    let mut script = Script::established(quick());
    script.write(u64::from(MSS));
    script.pass(Duration::from_millis(10));
    script.ack(1 + MSS);
    script.write(u64::from(3 * MSS));
    assert_eq!(script.data().len(), 4);
    script
}

/// What a message could change: segment size, path MTU, bytes in flight, and the cached path of the host.
fn beliefs(script: &mut Script) -> (u32, u16, u32, Option<u16>) {
    let remote = SocketAddr::new(PEER, PEER_PORT);
    let next =
        script.stack.connect(&mut StackCx::new(script.now, &mut Off), &valid(quick()), remote).expect("connects");
    let known = script.stack.path_mtu(next).filter(|mtu| *mtu < 1500);
    script.stack.abort(&mut StackCx::new(script.now, &mut Off), next);
    script.stack.release(&mut StackCx::new(script.now, &mut Off), next);
    (smss(script), path_mtu(script), script.info().pipe, known)
}

//= specs/rfc5927.md#path-mtu
//= type=test
//# Any other message changes nothing until its segment times out, and is dropped when that is acknowledged.
#[test]
fn a_message_about_a_size_that_arrived_before_waits_and_is_dropped_when_its_segment_is_acknowledged() {
    let mut script = proven();
    let before = beliefs(&mut script);
    for seq in [1 + MSS, 1 + 2 * MSS, 1 + 3 * MSS] {
        script.icmp(too_big(600), seq);
        script.icmp(too_big(599), seq);
    }
    assert_eq!(script.data(), [], "no byte leaves for a message");
    assert_eq!(beliefs(&mut script), before);
    script.pass(Duration::from_millis(10));
    script.ack(1 + 2 * MSS);
    script.data();
    // The segment that times out is not the one in the message.
    script.pass(Duration::from_secs(2));
    assert_eq!(script.data(), [(1 + 2 * MSS, MSS)]);
    assert_eq!((smss(&script), path_mtu(&script)), (MSS, 1500));
}

//= specs/rfc5927.md#path-mtu
//= type=test
//# Any other message changes nothing until its segment times out, and is dropped when that is acknowledged.
#[test]
fn a_message_whose_segment_times_out_is_true() {
    let mut script = proven();
    // The later message does not replace the one about the segment that times out first.
    script.icmp(too_big(1200), 1 + MSS);
    script.icmp(too_big(600), 1 + 3 * MSS);
    script.pass(Duration::from_millis(999));
    assert_eq!(script.data(), []);
    script.pass(Duration::from_millis(1));
    assert_eq!(script.data(), [(1 + MSS, 1160)]);
    assert_eq!(beliefs(&mut script), (1160, 1200, 1160, Some(1200)));
    script.pass(Duration::from_millis(10));
    script.ack(1 + MSS + 1160);
    assert_eq!(script.data(), [(1 + MSS + 1160, 1160), (1 + MSS + 2320, 1160)], "slow start");
    // The segments delivered since are smaller than the size that the next router reports.
    script.icmp(too_big(1199), 1 + MSS + 1160);
    assert_eq!(smss(&script), 1160);
}

//= specs/rfc1191.md#a-smaller-path-mtu
//= type=test
//# Segments that are larger than the path takes now are cut, and no more than an initial window of them is sent again at once.
//= specs/rfc5927.md#path-mtu
//= type=test
//# A message that names a size which no delivered segment exceeds lowers the path MTU at once.
#[test]
fn messages_about_a_large_flight_release_one_initial_window_between_two_acknowledgements() {
    let mut cfg = quick();
    cfg.options.window_scale = crate::config::WindowScaleConfig::Shift(7);
    cfg.cc.avoidance = cc::AvoidanceConfig::Reno(Default::default());
    let mut script = Script::established_with(cfg, Options { window_scale: Some(7), ..peer_options() });
    // Small segments open the window, so that no large one has arrived yet.
    let mut end = 1;
    while script.info().cwnd < 100 * MSS {
        let segments = script.info().cwnd / 500;
        (0..segments).for_each(|_| script.write(500));
        script.pass(Duration::from_millis(10));
        for _ in 0..segments {
            end += 500;
            script.ack(end);
        }
    }
    script.data();
    script.write(u64::from(100 * MSS));
    assert_eq!(script.data().len(), 100);
    let bytes = |script: &mut Script| script.data().iter().map(|(_, len)| len).sum::<u32>();
    script.icmp(too_big(1200), end);
    let window = 10 * 1160;
    assert_eq!((smss(&script), bytes(&mut script)), (1160, window));
    for mtu in [1199, 1100, 1000, 900] {
        script.icmp(too_big(mtu), end);
        assert_eq!((smss(&script), bytes(&mut script)), (mtu - 40, 0), "the window has been spent");
    }
    // A timeout slows the sender down; the next message may then cause as many retransmissions again, if the window permits.
    while bytes(&mut script) == 0 {
        script.pass(Duration::from_millis(10));
    }
    script.icmp(too_big(800), end);
    assert_eq!((smss(&script), bytes(&mut script)), (760, 860), "the one segment, in two pieces");
}

//= specs/rfc1191.md#the-path-mtu
//= type=test
//# The path MTU is never taken for less than 68 bytes.
//= specs/rfc1191.md#the-path-mtu
//= type=test
//# A router that says nothing of its MTU is answered by the next smaller common size.
#[test_case(1400, 68, UnsaidMtu::Plateau => (1400, true); "said")]
#[test_case(0, 68, UnsaidMtu::Plateau => (1492, true); "unsaid")]
#[test_case(0, 552, UnsaidMtu::Least => (552, false); "unsaid and taken for the least")]
#[test_case(500, LEAST, UnsaidMtu::Plateau => (552, false); "below the least that is believed")]
#[test_case(67, 68, UnsaidMtu::Plateau => (100, false); "impossible")]
#[test_case(1, 68, UnsaidMtu::Plateau => (100, false); "absurd")]
#[test_case(65_536, 68, UnsaidMtu::Plateau => (1500, true); "beyond a field of sixteen bits, which is read as unsaid")]
fn a_router_is_believed(mtu: u32, min_v4: u16, unsaid: UnsaidMtu) -> (u16, bool) {
    let mut cfg = quick();
    assert_eq!(cfg.path_mtu.min_v4, LEAST);
    (cfg.path_mtu.min_v4, cfg.path_mtu.unsaid) = (min_v4, unsaid);
    let mut script = Script::established(cfg);
    script.write(u64::from(MSS));
    script.data();
    if mtu <= u32::from(u16::MAX) {
        script.icmp(too_big(mtu), 1);
    }
    script.ack(1);
    script.ack(1 + MSS);
    script.data();
    script.write(1);
    let uncut = script.sent()[0].ip.fragmentation == Fragmentation::Forbidden;
    (path_mtu(&script), uncut)
}

//= specs/rfc9293.md#segment-size
//= type=test
//# A segment with its options is no larger than the peer and the path take.
#[test]
fn timestamps_are_deducted_from_what_the_path_takes() {
    let mut cfg = quick();
    cfg.options.timestamps = crate::config::TimestampConfig::Offer;
    let stamps = Some(Timestamps { tsval: 7, tsecr: 0 });
    let mut script = Script::established_with(cfg, Options { timestamps: stamps, ..peer_options() });
    script.write(u64::from(MSS));
    script.data();
    script.icmp(too_big(1200), 1);
    assert_eq!(smss(&script), 1148);
    assert_eq!(script.data(), [(1, 1148), (1149, 300)]);
}

//= specs/rfc8201.md#the-path-mtu
//= type=test
//# A larger path MTU is not tried within five minutes of the message that named the present one.
//= specs/rfc1191.md#the-path-mtu
//= type=test
//# A path MTU is kept for ten minutes after a router named it; then a larger one is tried.
#[test]
fn after_ten_minutes_a_larger_size_is_tried() {
    let mut script = Script::established(quick());
    script.write(u64::from(MSS));
    script.icmp(too_big(1200), 1);
    script.ack(1 + MSS);
    script.data();
    script.pass(Duration::from_secs(599));
    script.write(1160);
    assert_eq!(script.data(), [(1461, 1160)]);
    script.ack(2621);
    script.pass(Duration::from_secs(1));
    script.write(u64::from(MSS));
    assert_eq!((script.data(), path_mtu(&script)), (vec![(2621, MSS)], 1500));
}

//= specs/rfc1191.md#the-path-mtu
//= type=test
//# A connection to a host whose path is known begins with segments that fit, and announces its own size as ever.
#[test]
fn the_next_connection_to_the_host_knows_the_path() {
    let mut script = Script::established(quick());
    script.write(u64::from(MSS));
    script.icmp(too_big(1200), 1);
    script.out.clear();
    let remote = SocketAddr::new(PEER, PEER_PORT);
    let cfg = valid(quick());
    let conn = script.stack.connect(&mut StackCx::new(script.now, &mut Off), &cfg, remote).expect("connects");
    script.conn = conn;
    script.local_port = script.stack.endpoint(conn).expect("exists").tuple().local_port;
    script.pass(Duration::ZERO);
    assert_eq!(script.sent()[0].options.mss, Some(1460));
    script.finish_handshake(peer_options());
    script.write(2000);
    assert_eq!(script.data(), [(1, 1160), (1161, 840)]);
    assert_eq!(script.info().cwnd, 11_600, "the initial window is one of such segments");
    assert_eq!(script.stack.path_mtu(conn), Some(1200));
}

#[test]
fn an_accepted_connection_knows_the_path_too() {
    let mut script = Script::established(quick());
    script.write(u64::from(MSS));
    script.icmp(too_big(1200), 1);
    script.stack.listen(PEER_PORT, 8, &valid(quick())).expect("listens");
    script.local_port = PEER_PORT;
    script.out.clear();
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    assert_eq!(script.sent()[0].options.mss, Some(1460));
    let ack = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(ack, 0);
    assert_eq!((smss(&script), script.info().cwnd), (1160, 11_600));
}

/// The packets of a connection with these settings.
fn packets(change: impl Fn(&mut Config)) -> Vec<crate::testing::Out> {
    let mut cfg = quick();
    change(&mut cfg);
    let mut script = Script::connecting(cfg);
    let mut all = script.sent();
    script.finish_handshake(peer_options());
    script.write(u64::from(2 * MSS));
    all.extend(script.sent());
    script.icmp(too_big(1200), 1);
    all.extend(script.sent());
    all
}

//= specs/rfc1191.md#the-path-mtu
//= type=test
//# Packets leave with DF set.
#[test_case(Discovery::On, true, 6; "believed")]
#[test_case(Discovery::Deaf, true, 3; "not believed")]
#[test_case(Discovery::Off, false, 3; "routers may cut")]
fn df_and_what_a_message_does(discovery: Discovery, df: bool, sent: usize) {
    let packets = packets(|cfg| cfg.path_mtu.discovery = discovery);
    assert_eq!(packets.len(), sent);
    assert!(packets.iter().all(|out| (out.ip.fragmentation == Fragmentation::Forbidden) == df));
    let mut ids: Vec<u16> = packets
        .iter()
        .filter_map(|out| match out.ip.fragmentation {
            Fragmentation::Allowed { id } => Some(id),
            Fragmentation::Forbidden => None,
        })
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), if df { 0 } else { sent }, "each has a number of its own");
}

//= specs/rfc9293.md#network-layer
//= type=test
//# The time to live can be configured.
//= specs/rfc9293.md#network-layer
//= type=test
//# The application can choose the differentiated-services field.
#[test]
fn fields_of_the_ip_header_are_as_configured_and_may_change() {
    let change = |cfg: &mut Config| cfg.ip = crate::config::IpConfig { ttl: 7, dscp: 46 };
    assert!(packets(change).iter().all(|out| (out.ip.ttl, out.ip.dscp) == (7, 46)));
    let mut script = Script::established(quick());
    let mut cfg = quick();
    change(&mut cfg);
    script.reconfigure(cfg);
    script.write(1);
    let ip = script.sent()[0].ip;
    assert_eq!((ip.ttl, ip.dscp), (7, 46));
    assert!(script.iss != SeqNum(0));
}
