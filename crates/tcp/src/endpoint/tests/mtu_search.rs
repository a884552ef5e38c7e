//! The search for the path MTU with TCP segments: probes that arrive or are lost, and black holes.

use crate::Endpoint;
use crate::config::{ChunksConfig, SegmenterConfig}; // variant: chunks
use crate::config::{Config, Discovery, MtuProbing};
use crate::testing::{MSS, Script, peer_options, plain_device, quick, tso_device};
use base::Duration;
use test_case::test_case;
use wire::{IcmpKind, Options};

fn searching(probing: MtuProbing) -> Config {
    let mut cfg = quick();
    cfg.path_mtu.probing = probing;
    cfg.cc.initial_window = cc::InitialWindow::plain(40);
    cfg
}

fn mtu_probes(script: &Script) -> u16 {
    script.stack.endpoint(script.conn).map(Endpoint::mtu_probes).expect("exists")
}

fn smss(script: &Script) -> u32 {
    script.info().smss
}

/// A search from 1064 to 1500: the first probe is a packet of 1282 bytes.
const FIRST: u32 = 1242;

/// Writes until a probe leaves, with a full window behind it; returns its start, and what else left.
fn probe(script: &mut Script, size: u32) -> (u32, Vec<(u32, u32)>) {
    script.write(20_000);
    let mut sent = script.data();
    let at = sent.iter().position(|&(_, len)| len == size).unwrap_or_else(|| panic!("no probe of {size} in {sent:?}"));
    let (seq, _) = sent.remove(at);
    (seq, sent)
}

fn end(script: &Script) -> u32 {
    1 + script.info().counters.bytes_sent as u32 - script.info().counters.bytes_retransmitted as u32
}

//= specs/rfc4821.md#the-search
//= type=test
//# The search begins with a size of about 1024 bytes, whatever the first link takes, and ends with what the peer takes.
//= specs/rfc4821.md#the-search
//= type=test
//# A probe has a size between the largest that is known to arrive and the smallest that is known to fail.
//= specs/rfc4821.md#probes
//= type=test
//# A probe that arrives raises the segment size to its own.
//= specs/rfc4821.md#probes
//= type=test
//# There is never more than one probe in flight.
#[test_case(false; "segment by segment")]
#[test_case(true; "in bursts of chunks")] // variant: chunks
fn probes_that_arrive_raise_the_size_step_by_step_to_what_the_peer_takes(in_bursts: bool) {
    let mut cfg = searching(MtuProbing::Always);
    let mut device = plain_device();
    if in_bursts {
        cfg.send.segmenter = SegmenterConfig::Chunks(ChunksConfig::default()); // variant: chunks
        device = tso_device();
    }
    let mut script = Script::connecting_on(cfg, device);
    script.pass(Duration::from_millis(10));
    script.finish_handshake(peer_options());
    assert_eq!(smss(&script), 1024);
    let mut sizes = Vec::new();
    for _ in 0..12 {
        script.write(20_000);
        let usual = smss(&script);
        // A burst is a whole number of segments.
        let odd = |&len: &u32| len > usual && (!in_bursts || len < 2 * usual && len != usual);
        let larger: Vec<u32> = script.data().iter().map(|&(_, len)| len).filter(odd).collect();
        assert!(larger.len() <= 1, "{larger:?} at once");
        sizes.extend(larger);
        script.pass(Duration::from_millis(10));
        script.ack(end(&script));
    }
    assert_eq!(sizes, [FIRST, 1351, 1405, 1432, 1446, 1453]);
    assert_eq!((smss(&script), mtu_probes(&script)), (1453, 6));
    assert_eq!(script.info().counters.bytes_retransmitted, 0);
}

//= specs/rfc4821.md#probes
//= type=test
//# The loss of a probe alone lowers the upper bound, and is not answered as congestion.
#[test]
fn a_lost_probe_is_repaired_in_usual_sizes_and_not_answered_as_congestion() {
    let mut script = Script::established(searching(MtuProbing::Always));
    let (seq, _) = probe(&mut script, FIRST);
    assert_eq!(seq, 1);
    let before = script.info();
    script.pass(Duration::from_millis(10));
    let behind = seq + FIRST;
    script.sack(1, &[(behind, behind + 4 * 1024)]);
    script.pass(Duration::from_millis(10));
    let again: Vec<_> = script.data().into_iter().filter(|&(seq, _)| seq < behind).collect();
    assert_eq!(again, [(1, 1024), (1025, 218)]);
    let info = script.info();
    assert_eq!((info.ssthresh, info.counters.fast_retransmits, info.counters.timeouts), (before.ssthresh, 0, 0));
    assert!(info.cwnd >= before.cwnd);
    script.ack(end(&script));
    assert_eq!((smss(&script), script.info().episode.name()), (1024, "open"));
    probe(&mut script, 1132);
}

//= specs/rfc4821.md#probes
//= type=test
//# The loss of a probe among other losses says nothing of its size.
#[test]
fn a_probe_lost_among_others_is_congestion_and_may_be_tried_again() {
    let mut script = Script::established(searching(MtuProbing::Always));
    let (seq, _) = probe(&mut script, FIRST);
    let before = script.info().cwnd;
    script.pass(Duration::from_millis(10));
    let behind = seq + FIRST + 1024;
    script.sack(1, &[(behind, behind + 4 * 1024)]);
    script.pass(Duration::from_millis(100));
    assert_eq!(script.info().counters.fast_retransmits, 1);
    assert!(script.info().ssthresh < before);
    assert!(script.data().iter().all(|&(_, len)| len <= 1024), "the lost probe is not repeated as it was");
    script.ack(end(&script));
    probe(&mut script, FIRST);
}

#[test]
fn a_probe_that_a_router_refuses_by_word_is_cut_at_once() {
    let mut script = Script::established(searching(MtuProbing::Always));
    probe(&mut script, FIRST);
    script.icmp(IcmpKind::TooBig { mtu: 1200, packet_len: 0 }, 1);
    assert_eq!(script.data()[..2], [(1, 1024), (1025, 218)]);
    script.ack(end(&script));
    probe(&mut script, 1092);
}

//= specs/rfc4821.md#probes
//= type=test
//# A probe is sent only outside recovery, with enough data behind it for its loss to be noticed without a timeout.
#[test_case(searching(MtuProbing::Always), 5_000 => false; "too little data")]
#[test_case(searching(MtuProbing::Always), 20_000 => true; "enough")]
#[test_case(searching(MtuProbing::AfterBlackHole), 20_000 => false; "no black hole")]
#[test_case(searching(MtuProbing::Off), 20_000 => false; "not at all")]
#[test_case(small_window(), 20_000 => false; "a window of ten segments")]
#[test_case(cut_by_routers(), 20_000 => false; "routers may cut")]
fn a_probe_leaves(cfg: Config, bytes: u64) -> bool {
    let mut script = Script::established(cfg);
    script.write(bytes);
    let usual = smss(&script);
    script.data().iter().any(|&(_, len)| len > usual)
}

fn small_window() -> Config {
    let mut cfg = searching(MtuProbing::Always);
    cfg.cc.initial_window = cc::InitialWindow::plain(10);
    cfg
}

fn cut_by_routers() -> Config {
    let mut cfg = searching(MtuProbing::Always);
    cfg.path_mtu.discovery = Discovery::Off;
    cfg
}

#[test]
fn a_flight_too_large_for_a_probe_drains_first() {
    let mut cfg = searching(MtuProbing::Always);
    cfg.cc.initial_window = cc::InitialWindow::plain(12);
    let mut script = Script::established(cfg);
    for _ in 0..3 {
        script.write(4_000);
    }
    let first = script.data();
    script.write(20_000);
    assert_eq!(script.data(), [], "waits");
    assert!(first.iter().all(|&(_, len)| len != FIRST), "{first:?}");
    script.pass(Duration::from_millis(10));
    script.ack(1 + 4 * 1024);
    assert_eq!(script.data().first().map(|&(_, len)| len), Some(FIRST));
}

//= specs/rfc4821.md#the-search
//= type=test
//# A search that has ended begins anew after a while, for paths that have become wider.
#[test]
fn a_search_that_has_ended_begins_anew_after_ten_minutes() {
    let mut cfg = searching(MtuProbing::Always);
    cfg.path_mtu.search_end = 300;
    let mut script = Script::established(cfg);
    probe(&mut script, FIRST);
    script.pass(Duration::from_millis(10));
    script.ack(end(&script));
    script.write(20_000);
    assert!(script.data().iter().all(|&(_, len)| len <= FIRST));
    script.ack(end(&script));
    assert_eq!(mtu_probes(&script), 1);
    let mut cfg = searching(MtuProbing::Always);
    cfg.path_mtu.search_end = 8;
    script.reconfigure(cfg);
    script.pass(Duration::from_secs(600));
    probe(&mut script, 1351);
}

//= specs/rfc4821.md#black-holes
//= type=test
//# After repeated timeouts the segment size falls to the one that the search begins with, and with more of them further.
#[test]
fn large_segments_that_vanish_without_a_word_are_replaced_by_small_ones() {
    let mut cfg = searching(MtuProbing::AfterBlackHole);
    cfg.recovery.probe = None;
    let mut script = Script::established(cfg);
    script.write(3 * u64::from(MSS));
    script.data();
    let mut heads = Vec::new();
    for _ in 0..6 {
        let rto = script.info().rto;
        script.pass(rto);
        heads.push(script.data().first().copied().expect("the head is sent again"));
    }
    assert_eq!(heads, [(1, MSS), (1, MSS), (1, 1024), (1, 512), (1, 256), (1, 128)]);
    // Segments as small as this arrive.
    script.ack(129);
    let size = smss(&script);
    assert!(script.data().iter().all(|&(_, len)| len <= size), "in segments of {size}");
    assert_eq!(size, 128);
}

#[test]
fn without_timeouts_that_speak_of_it_there_is_no_black_hole() {
    let mut script = Script::established(quick());
    script.write(3 * u64::from(MSS));
    for _ in 0..6 {
        let rto = script.info().rto;
        script.pass(rto);
    }
    assert_eq!(smss(&script), MSS);
}

#[test]
fn a_peer_without_sack_shows_a_lost_probe_by_duplicate_acks() {
    let mut script =
        Script::established_with(searching(MtuProbing::Always), Options { sack_permitted: false, ..peer_options() });
    probe(&mut script, FIRST);
    let before = script.info().cwnd;
    script.pass(Duration::from_millis(10));
    for _ in 0..3 {
        script.ack(1);
    }
    assert_eq!(script.data()[..2], [(1, 1024), (1025, 218)]);
    assert!(script.info().cwnd >= before && script.info().counters.fast_retransmits == 0);
}

#[test]
fn a_probe_at_the_end_of_a_flight_is_repaired_and_not_repeated_by_a_tail_probe() {
    let mut script = Script::established(searching(MtuProbing::Always));
    let (_, rest) = probe(&mut script, FIRST);
    assert!(rest.len() > 4);
    script.pass(Duration::from_millis(10));
    script.pass(Duration::from_secs(1));
    let again = script.data();
    assert!(again.iter().all(|&(_, len)| len <= 1024), "{again:?}");
    assert_eq!(again.first(), Some(&(1, 1024)));
    assert!(script.stack.endpoint(script.conn).is_some_and(|endpoint: &Endpoint| endpoint.audit().is_ok()));
}
