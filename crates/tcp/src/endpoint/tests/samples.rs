//! Which round-trip samples the estimator accepts, and what a rejected one must not change.

use crate::Config;
use crate::config::GuardConfig;
use crate::stack::{Stack, StackConfig};
use crate::testing::{MSS, PEER_PORT, Script, US, peer_options, plain_device, quick};
use ::recovery::UndoConfig;
use ::recovery::undo::{DsackUndo, Eifel, FrtoDetection};
use base::{Duration, Rng};
use test_case::test_case;
use wire::Flags;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A connection whose handshake took `rtt`.
fn after_handshake_of(cfg: Config, rtt: Duration) -> Script {
    let mut script = Script::connecting(cfg);
    script.pass(rtt);
    script.finish_handshake(peer_options());
    script
}

/// Sends a segment that is acknowledged after `rtt`.
fn round_trip(script: &mut Script, end: &mut u32, rtt: Duration) {
    script.write(u64::from(MSS));
    script.pass(rtt);
    *end += MSS;
    script.ack(*end);
}

#[test]
fn after_a_slow_handshake_the_minimum_is_right_after_two_round_trips() {
    let (mut script, mut end) = (after_handshake_of(quick(), ms(400)), 1);
    round_trip(&mut script, &mut end, ms(20));
    assert_eq!(script.info().min_rtt, Some(ms(400)), "one sample may be a forged ACK's");
    round_trip(&mut script, &mut end, ms(20));
    assert_eq!(script.info().min_rtt, Some(ms(20)));
}

/// The peer, or an attacker in its place, acknowledges a flight long before it can have arrived.
#[test]
fn one_early_ack_changes_neither_the_minimum_nor_the_controller() {
    let mut cfg = quick();
    cfg.cc.slow_start = cc::SlowStartConfig::HystartPpCss(Default::default());
    let mut script = after_handshake_of(cfg, ms(100));
    script.write(20_000_000);
    let mut end = 1 + script.data().len() as u32 * MSS;
    script.pass(Duration::from_micros(5));
    script.ack(1 + 2 * MSS);
    let mut una = 1 + 2 * MSS;
    for _ in 0..3 {
        end += script.data().iter().map(|(_, len)| len).sum::<u32>();
        script.pass(ms(100));
        while una < end {
            una = end.min(una + 2 * MSS);
            script.ack(una);
        }
    }
    assert_eq!(script.info().min_rtt, Some(ms(100)));
    // All round trips except the early one are equal, so slow start goes on and doubles the window each time.
    assert_eq!(script.info().ssthresh, cc::Window::UNKNOWN);
    assert!(script.info().cwnd > 60 * MSS, "{}", script.info().cwnd);
}

#[test_case(ms(0), false; "in no time")]
#[test_case(Duration::from_micros(30), true; "a short path")]
fn a_round_trip_of_nothing_is_not_a_sample(rtt: Duration, sample: bool) {
    let (mut script, mut end) = (after_handshake_of(quick(), rtt), 1);
    round_trip(&mut script, &mut end, rtt);
    let expected = sample.then_some(rtt);
    assert_eq!((script.info().srtt, script.info().min_rtt), (expected, expected));
    assert!(script.info().rto >= Duration::from_secs(1));
}

#[test_case(999, false; "below it")]
#[test_case(1_000, true; "as long as it")]
fn what_the_clock_cannot_tell_from_nothing_is_not_a_sample(us: u64, sample: bool) {
    let mut script = Script::connecting(quick());
    let guards = GuardConfig { clock_resolution: ms(1), ..GuardConfig::default() };
    let config = StackConfig { addresses: vec![US], device: plain_device(), isn_secret: [1, 2], guards };
    script.stack = Stack::new(config, Rng::new(1));
    let remote = core::net::SocketAddr::new(crate::testing::PEER, PEER_PORT);
    let mut off = trace::Off;
    let mut cx = crate::StackCx::new(script.now, &mut off);
    script.conn = script.stack.connect(&mut cx, &crate::testing::valid(quick()), remote).expect("connects");
    script.local_port = script.stack.endpoint(script.conn).expect("exists").tuple().local_port;
    script.pass(Duration::ZERO);
    script.pass(Duration::from_micros(us));
    script.finish_handshake(peer_options());
    assert_eq!(script.info().srtt.is_some(), sample);
}

/// After a lost SYN without time stamps.
#[test]
fn without_a_handshake_sample_the_minimum_takes_two() {
    let mut script = Script::connecting(quick());
    script.pass(Duration::from_secs(1));
    script.pass(ms(20));
    script.finish_handshake(peer_options());
    assert_eq!(script.info().srtt, None);
    let mut end = 1;
    round_trip(&mut script, &mut end, ms(20));
    assert_eq!((script.info().srtt, script.info().min_rtt), (Some(ms(20)), None));
    round_trip(&mut script, &mut end, ms(20));
    assert_eq!(script.info().min_rtt, Some(ms(20)));
}

//= specs/rfc9293.md#retransmission
//= type=test
//# SYNs have thresholds, too, and are not given up before three minutes.
/// A duplicated SYN triggers two SYN-ACKs, and gives no sample; but no timer has expired.
#[test]
fn a_doubled_syn_does_not_shorten_the_time_for_which_its_ack_is_waited_for() {
    let mut script = Script::listening(quick());
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    script.pass(ms(1));
    script.deliver(syn, 0);
    script.pass(Duration::from_secs(180));
    assert_eq!(script.stack.connections(), 1, "the connection is still being opened");
    script.pass(Duration::from_secs(120));
    assert_eq!(script.stack.connections(), 0);
}

#[test]
fn a_syn_ack_that_left_twice_gives_no_sample() {
    let mut script = Script::listening(quick());
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    script.pass(ms(400));
    script.deliver(syn, 0);
    script.pass(ms(20));
    let ack = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(ack, 0);
    assert_eq!((script.state(), script.info().srtt), ("ESTABLISHED", None));
}

/// Each of the peer's ACKs waits for its timer, so the path seems long. A segment that fills a hole is acknowledged at once.
#[test]
fn an_answer_that_was_not_delayed_is_not_an_early_one() {
    let mut cfg = quick();
    cfg.rto.min = ms(200);
    cfg.recovery.undo = UndoConfig { dsack: DsackUndo::Off, eifel: Eifel::TimestampsOrRtt, frto: FrtoDetection::Off };
    let mut script = Script::connecting(cfg);
    // The SYN is lost, so that its answer gives no sample.
    script.pass(Duration::from_secs(1));
    script.pass(ms(10));
    script.finish_handshake(peer_options());
    let mut end = 1;
    for _ in 0..10 {
        round_trip(&mut script, &mut end, ms(410));
    }
    assert_eq!(script.info().min_rtt, Some(ms(410)));
    script.write(u64::from(2 * MSS));
    script.data();
    while script.info().counters.timeouts == 0 {
        script.pass(ms(1));
    }
    assert_eq!(script.data(), [(end, MSS)]);
    script.pass(ms(10));
    script.ack(end + MSS);
    assert_eq!(script.info().counters.undone, 0, "the first segment was lost indeed");
}
