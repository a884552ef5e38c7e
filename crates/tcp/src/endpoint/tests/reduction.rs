//! What leaves during fast recovery under proportional rate reduction (RFC 9937), as a peer sees it.

use crate::Endpoint;
use crate::testing::{MSS, Script, peer_options, quick};
use ::recovery::{PrrBound, PrrConfig, ReductionConfig};
use base::Duration;
use cc::{AvoidanceConfig, RenoConfig};
use test_case::test_case;

const RTT: Duration = Duration::from_millis(100);

fn prr(bound: PrrBound) -> ReductionConfig {
    ReductionConfig::Prr(PrrConfig { bound })
}

fn at(n: u32) -> u32 {
    1 + n * MSS
}

/// Twenty segments in flight for one round trip, and more to send. A reduction leaves a window of ten.
fn twenty_in_flight(reduction: ReductionConfig, options: wire::Options) -> Script {
    in_flight(twenty(reduction), options)
}

fn twenty(reduction: ReductionConfig) -> crate::Config {
    let mut cfg = quick();
    cfg.recovery.reduction = reduction;
    cfg.cc.initial_window = cc::InitialWindow::plain(20);
    cfg.cc.avoidance = AvoidanceConfig::Reno(RenoConfig::default());
    cfg
}

fn in_flight(cfg: crate::Config, options: wire::Options) -> Script {
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(options);
    script.write(1_000_000);
    script.pass(RTT);
    assert_eq!(script.data().len(), 20);
    script
}

/// Returns what each ACK triggers: `R` for a segment of the first flight, `N` for new data, `-` for nothing.
fn answers(script: &mut Script, mut acks: impl FnMut(&mut Script, u32), count: u32) -> String {
    let mut log = Vec::new();
    for index in 0..count {
        acks(script, index);
        let letters = script.data().iter().map(|&(seq, _)| if seq < at(20) { 'R' } else { 'N' }).collect::<String>();
        log.push(if letters.is_empty() { "-".to_owned() } else { letters });
    }
    log.join(" ")
}

//= specs/rfc9937.md#beginning-of-an-episode
//= type=test
//# `ssthresh` is the congestion control's, and nothing counts as delivered or sent yet.
//= specs/rfc9937.md#each-ack
//= type=test
//# The ACK that begins an episode and each later one inside it are processed, but not the one that ends it.
//= specs/rfc9937.md#each-ack
//= type=test
//# What an ACK delivered is the advance of SND.UNA plus the change of what is SACKed.
//= specs/rfc9937.md#each-ack
//= type=test
//# The window is what is in flight plus what may be sent.
//= specs/rfc9937.md#each-transmission
//= type=test
//# Every byte sent in the episode counts towards prr_out, whether new or retransmitted.
//= specs/rfc8985.md#other-algorithms
//= type=test
//# Proportional rate reduction decides what is sent after losses that RACK detects.
#[test_case(PrrBound::SafeAck, "N N R - N - N - N - N - N - N - N - -")]
#[test_case(PrrBound::Crb, "N N R - N - N - N - N - - N - N - - N")]
fn a_single_loss_among_twenty_is_repaired_with_every_other_ack(bound: PrrBound, sends: &str) {
    let mut script = twenty_in_flight(prr(bound), peer_options());
    let found = answers(&mut script, |script, n| script.sack(at(0), &[(at(1), at(n + 2))]), 19);
    assert_eq!(found, sends);
    assert_eq!(script.info().ssthresh, 10 * MSS);
}

#[test_case(PrrBound::SafeAck, "N N R R R")]
#[test_case(PrrBound::Crb, "N N R R R")]
#[test_case(PrrBound::Ssrb, "N N RR RR RR")]
fn a_burst_of_fifteen_losses_is_repaired_as_fast_as_the_bound_allows(bound: PrrBound, sends: &str) {
    let mut script = twenty_in_flight(prr(bound), peer_options());
    let found = answers(&mut script, |script, n| script.sack(at(0), &[(at(15), at(n + 16))]), 5);
    assert_eq!(found, sends);
}

//= specs/rfc9937.md#each-ack
//= type=test
//# Without SACK, a duplicate ACK delivers one SMSS, and a later advance is less by what duplicates announced.
#[test]
fn duplicate_acks_without_sack_deliver_a_segment_each() {
    let options = wire::Options { mss: Some(MSS as u16), ..Default::default() };
    let mut script = twenty_in_flight(prr(PrrBound::SafeAck), options);
    let found = answers(&mut script, |script, _| script.ack(at(0)), 19);
    assert_eq!(found, "N N R - N - N - N - N - N - N - N - -");
}

//= specs/rfc9937.md#each-ack
//= type=test
//# Without SACK, a duplicate ACK delivers one SMSS, and a later advance is less by what duplicates announced.
#[test]
fn what_duplicate_acks_announced_is_not_delivered_again_by_the_ack_that_covers_it() {
    let options = wire::Options { mss: Some(MSS as u16), ..Default::default() };
    let mut script = twenty_in_flight(prr(PrrBound::SafeAck), options);
    assert_eq!(answers(&mut script, |script, _| script.ack(at(0)), 10), "N N R - N - N - N -");
    // Of ten segments covered, nine were announced. A partial ACK triggers only the next retransmission (RFC 6582).
    script.ack(at(10));
    assert_eq!(script.data(), [(at(10), MSS)]);
}

#[test_case(PrrBound::SafeAck, 1)]
#[test_case(PrrBound::Crb, 1)]
#[test_case(PrrBound::Ssrb, 2)]
fn recovery_gets_going_although_a_timer_found_the_losses(bound: PrrBound, at_once: usize) {
    let mut script = twenty_in_flight(prr(bound), peer_options());
    script.sack(at(0), &[(at(18), at(20))]);
    script.out.clear();
    script.pass(RTT / 2);
    let mut again = script.data();
    assert_eq!(again.len(), at_once);
    // Each acknowledged retransmission triggers the next one, without a timeout.
    for n in 1..18 {
        script.pass(RTT);
        script.ack(at(n));
        again.extend(script.data().into_iter().filter(|&(seq, _)| seq < at(18)));
    }
    assert_eq!(script.info().counters.timeouts, 0);
    assert_eq!(again, (0..18).map(|n| (at(n), MSS)).collect::<Vec<_>>());
}

#[test_case(ReductionConfig::Pipe, 2; "by pipe each lost retransmission is one more signal")]
#[test_case(prr(PrrBound::SafeAck), 1; "in proportion it is answered already")]
fn a_lost_retransmission_reduces_the_window_again_unless_the_reduction_answers_it(
    reduction: ReductionConfig,
    reductions: u32,
) {
    let mut script = in_flight(twenty(reduction), peer_options());
    script.sack(at(0), &[(at(1), at(4))]);
    script.sack(at(0), &[(at(1), at(20))]);
    let end = script.data().iter().map(|(seq, len)| seq + len).max().expect("sent");
    let first = script.info().ssthresh;
    script.pass(RTT);
    // The retransmission was lost, segments sent after it arrive.
    script.sack(at(0), &[(at(1), end)]);
    script.pass(RTT / 2);
    assert!(script.data().contains(&(at(0), MSS)), "it is sent again");
    let info = script.info();
    assert_eq!((info.counters.timeouts, info.counters.episodes), (0, 1));
    assert_eq!(info.ssthresh < first, reductions == 2, "{} after {first}", info.ssthresh);
}

//= specs/rfc9937.md#each-ack
//= type=test
//# While nothing was sent in the episode, at least one SMSS may be sent.
#[test]
fn the_first_retransmission_leaves_although_the_flight_fills_the_window() {
    let mut script = twenty_in_flight(prr(PrrBound::SafeAck), peer_options());
    // Three arrived, seven are lost: ten in flight, for a window of ten.
    script.sack(at(0), &[(at(7), at(10))]);
    let info = script.info();
    assert_eq!((info.episode.name(), info.ssthresh), ("recovery", 10 * MSS));
    assert_eq!(script.data(), [(at(0), MSS)]);
}

//= specs/rfc9937.md#end-of-an-episode
//= type=test
//# An episode that begins inside another one ends that first.
#[test]
fn a_timeout_ends_the_reduction_and_slow_start_decides() {
    let mut script = twenty_in_flight(prr(PrrBound::SafeAck), peer_options());
    script.sack(at(0), &[(at(1), at(4))]);
    script.pass(RTT * 10);
    assert_eq!((script.info().counters.timeouts, script.info().episode.name()), (1, "loss"));
    script.sent();
    let mut sent = Vec::new();
    for una in [4, 5, 7, 11] {
        script.ack(at(una));
        sent.push(script.data().len());
    }
    assert_eq!(sent, [2, 2, 3, 5], "one more for every ACK than it covers of what left after the timeout");
}

//= specs/rfc9937.md#end-of-an-episode
//= type=test
//# Pacing spreads the burst that the end of an episode may allow.
#[test]
fn the_burst_at_the_end_of_an_episode_is_paced() {
    let pacing = cc::PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 100, quantum_segments: 2 };
    let mut cfg = twenty(prr(PrrBound::SafeAck));
    cfg.cc.pacing = pacing;
    let mut script = in_flight(cfg, peer_options());
    script.sack(at(0), &[(at(1), at(20))]);
    script.pass(RTT);
    let end = script.data().iter().map(|(seq, len)| seq + len).max().expect("sent");
    script.ack(end);
    assert_eq!(script.info().episode.name(), "open");
    assert_eq!(script.data().len(), 2, "of a window of ten");
    script.pass(RTT);
    assert!(script.data().len() >= 8);
}

//= specs/rfc9937.md#each-ack
//= type=test
//# The ACK that begins an episode and each later one inside it are processed, but not the one that ends it.
//= specs/rfc9937.md#end-of-an-episode
//= type=test
//# At the end of an episode the window is `ssthresh`.
//= specs/rfc9937.md#relations
//= type=test
//# Outside episodes nothing changes.
#[test]
fn the_window_rules_again_when_the_episode_is_over() {
    let mut script = twenty_in_flight(prr(PrrBound::SafeAck), peer_options());
    let size = |script: &Script| script.stack.endpoint(script.conn).map(Endpoint::state_size).expect("exists");
    script.sack(at(0), &[(at(1), at(20))]);
    let during = size(&script);
    let end = script.data().iter().map(|(seq, len)| seq + len).max().expect("sent");
    script.pass(RTT);
    script.ack(end);
    let info = script.info();
    // The ACK that ended the episode may have grown the window by a segment already.
    assert_eq!((info.episode.name(), (info.cwnd - info.ssthresh) / MSS), ("open", 1));
    assert_eq!(script.data().len() as u32, info.cwnd / MSS);
    assert!(size(&script) < during, "the reduction is given back");
}

#[test]
fn the_number_of_a_fin_keeps_no_full_segment_from_leaving() {
    let mut cfg = quick();
    cfg.recovery.reduction = prr(PrrBound::SafeAck);
    cfg.cc.initial_window = cc::InitialWindow::plain(11);
    let mut script = Script::connecting(cfg);
    script.pass(RTT);
    script.finish_handshake(peer_options());
    script.write(12 * u64::from(MSS));
    script.shutdown();
    script.pass(RTT);
    // The eighth segment is lost, and so is the last one, which the first SACK triggers, with the FIN.
    for n in 9..12 {
        script.sack(at(7), &[(at(8), at(n))]);
        script.pass(Duration::from_millis(1));
    }
    assert_eq!(script.sent().last().map(|out| (out.data(), out.flags)), Some(((at(7), MSS), wire::Flags::NONE)));
    script.pass(RTT);
    script.ack(at(11));
    let last = script.sent().last().map(|out| (out.data(), out.flags.contains(wire::Flags::FIN)));
    assert_eq!(last, Some(((at(11), MSS), true)));
    assert_eq!(script.info().counters.timeouts, 0);
}
