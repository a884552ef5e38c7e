//! RFC 5961: blind attacks inside the window, and how often the endpoint answers them.

use crate::config::{ChallengeConfig, Config, MissingTimestamps, TimestampConfig, UnsentAck};
use crate::event::DropReason;
use crate::testing::{PEER_ISS, Script, peer_options, quick};
use base::Duration;
use test_case::test_case;
use wire::{Flags, Options, TcpRepr, Timestamps};

/// The peer's window, and our initial one, in bytes.
const WINDOW: u32 = 65_535;

/// A connection whose challenge ACKs are not limited.
fn eager() -> Config {
    let mut cfg = quick();
    cfg.challenge = ChallengeConfig { limit: 1_000_000, ..ChallengeConfig::default() };
    cfg
}

/// The peer has sent 1000 bytes, and we have sent 2000 that are acknowledged.
fn in_use(cfg: Config) -> Script {
    let mut script = Script::established(cfg);
    script.write(2000);
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 1000);
    script.peer_seq = 1001;
    script.ack(2001);
    assert!(matches!(script.read(1000), Ok(crate::Read::Data(1000))));
    script.out.clear();
    script
}

/// Returns the `(seq, ack)` of each ACK that answers a segment.
fn answers(script: &mut Script, repr: TcpRepr, len: u32) -> Vec<(u32, Option<u32>)> {
    script.deliver(repr, len);
    script.sent().iter().map(|out| (out.seq, out.ack)).collect()
}

//= specs/rfc5961.md#resets
//= type=test
//# A reset outside the receive window is dropped without an answer.
//= specs/rfc5961.md#resets
//= type=test
//# A reset whose sequence number is RCV.NXT ends the connection.
//= specs/rfc5961.md#resets
//= type=test
//# A reset inside the window but not at RCV.NXT is answered with a challenge ACK and has no other effect.
//= specs/rfc5961.md#resets
//= type=test
//# A challenge ACK stands at SND.NXT and acknowledges RCV.NXT.
#[test_case(1001, 0 => ("CLOSED", 0); "exactly the next number")]
#[test_case(1001, 9 => ("CLOSED", 0); "exactly the next number, with bytes that say why")]
#[test_case(1002, 0 => ("ESTABLISHED", 1); "one ahead")]
#[test_case(WINDOW, 0 => ("ESTABLISHED", 1); "the last number of the window")]
#[test_case(1 + WINDOW, 0 => ("ESTABLISHED", 0); "one beyond the window")]
#[test_case(1000, 0 => ("ESTABLISHED", 0); "one behind")]
#[test_case(1000, 9 => ("ESTABLISHED", 0); "one behind, with bytes that reach into the window")]
#[test_case(1001 + (1 << 31), 0 => ("ESTABLISHED", 0); "half the numbers away")]
fn a_reset_at(seq: u32, len: u32) -> (&'static str, usize) {
    let mut script = in_use(eager());
    let reset = script.segment(Flags::RST, seq, None);
    let sent = answers(&mut script, reset, len);
    assert!(sent.iter().all(|answer| *answer == (2001, Some(1001))), "{sent:?}");
    (script.state(), sent.len())
}

//= specs/rfc5961.md#syns
//= type=test
//# A SYN in a synchronized state is answered with a challenge ACK, whatever its sequence number.
//= specs/rfc5961.md#syns
//= type=test
//# After the challenge ACK the SYN is dropped and has no other effect.
#[test]
fn a_syn_anywhere_is_only_challenged() {
    let mut script = in_use(eager());
    for seq in [0, 1, 1000, 1001, 5000, 1001 + WINDOW, 1 << 31] {
        for ack in [None, Some(1), Some(2001), Some(9_999)] {
            let syn = script.segment(Flags::SYN, seq, ack);
            assert_eq!(answers(&mut script, syn, 20), [(2001, Some(1001))], "SYN {seq}, ack {ack:?}");
        }
    }
    let info = script.info();
    assert_eq!((script.state(), info.counters.bytes_received, info.readable), ("ESTABLISHED", 1000, 0));
    script.write(10);
    assert_eq!(script.data(), [(2001, 10)]);
}

//= specs/rfc5961.md#acknowledgements
//= type=test
//# An acknowledgement is acceptable from the largest window ever seen below SND.UNA up to SND.NXT.
//= specs/rfc5961.md#acknowledgements
//= type=test
//# A segment with any other acknowledgement is dropped and answered with an ACK.
#[test_case(0, true; "of all that was sent")]
#[test_case(1, false; "of one byte more")]
#[test_case(-(WINDOW as i64), true; "as old as the window allows")]
#[test_case(-(WINDOW as i64) - 1, false; "one older")]
#[test_case(1 << 31, false; "half the numbers away")]
fn data_with_an_acknowledgement(offset: i64, taken: bool) {
    let mut script = in_use(eager());
    let mut data = script.segment(Flags::NONE, 1001, Some(2001));
    data.ack = data.ack.map(|ack| ack + offset as u32);
    script.deliver(data, 100);
    script.pass(Duration::from_secs(1));
    let expected = if taken { (1101, 0) } else { (1001, 1) };
    let sent = script.sent();
    assert_eq!(sent.iter().map(|out| (out.seq, out.ack)).collect::<Vec<_>>(), [(2001, Some(expected.0))]);
    assert_eq!(script.info().counters.dropped[DropReason::BadAck as usize], expected.1);
}

#[test]
fn an_acknowledgement_of_nothing_sent_is_ignored_in_established_where_the_configuration_says_so() {
    let mut cfg = eager();
    cfg.challenge.unsent_ack = UnsentAck::IgnoredInEstablished;
    let mut script = in_use(cfg);
    let future = script.segment(Flags::NONE, 1001, Some(9_999));
    assert_eq!(answers(&mut script, future, 100), []);
    let past = script.segment(Flags::NONE, 1001, Some(0x8000_0000));
    assert_eq!(answers(&mut script, past, 100).len(), 1);
    script.shutdown();
    script.out.clear();
    assert_eq!(answers(&mut script, future, 100).len(), 1, "in FIN-WAIT-1");
}

/// A forged segment must not teach us a timestamp that makes the peer's own look old.
#[test]
fn an_unacceptable_acknowledgement_brings_no_timestamp() {
    let mut cfg = eager();
    cfg.options.timestamps = TimestampConfig::Offer;
    let ts = |tsval| Some(Timestamps { tsval, tsecr: 0 });
    let mut script = Script::established_with(cfg, Options { timestamps: ts(100), ..peer_options() });
    let mut forged = script.segment(Flags::FIN, 1, Some(9_999));
    forged.options.timestamps = ts(200_000);
    script.deliver(forged, 0);
    let mut data = script.segment(Flags::NONE, 1, Some(1));
    data.options.timestamps = ts(101);
    script.deliver(data, 100);
    assert_eq!((script.state(), script.info().counters.bytes_received), ("ESTABLISHED", 100));
}

//= specs/rfc5961.md#throttling
//= type=test
//# The number of challenge ACKs in an interval is bounded.
//= specs/rfc5961.md#throttling
//= type=test
//# The bound and the interval can be configured.
#[test_case(10, 5_000; "ten in five seconds")]
#[test_case(1, 500; "one in half a second")]
fn a_flood_is_answered_at_most(limit: u32, interval_ms: u64) {
    let interval = Duration::from_millis(interval_ms);
    let mut cfg = quick();
    cfg.challenge = ChallengeConfig { limit, interval, ..ChallengeConfig::default() };
    let mut script = in_use(cfg);
    let mut counts = Vec::new();
    for _ in 0..20 {
        for n in 0..50 {
            let forged = [Flags::RST, Flags::SYN][n % 2];
            let repr = script.segment(forged, 5_000 + n as u32, None);
            script.deliver(repr, 0);
            let old = script.segment(Flags::NONE, 900, Some(2001));
            script.deliver(old, 0);
        }
        counts.push(script.sent().len() as u32);
        script.pass(interval);
    }
    assert!(counts.iter().all(|count| (limit.div_ceil(2)..=limit).contains(count)), "{counts:?}");
    assert_eq!(
        counts.iter().any(|count| *count != counts[0]),
        limit > 1,
        "how many is not known beforehand: {counts:?}"
    );
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn data_that_comes_again_is_acknowledged_however_often() {
    let mut cfg = quick();
    cfg.challenge.limit = 1;
    let mut script = in_use(cfg);
    for _ in 0..20 {
        let again = script.segment(Flags::NONE, 1, Some(2001));
        assert_eq!(answers(&mut script, again, 1000), [(2001, Some(1001))]);
    }
}

/// Each side sees the other's ACKs as belonging to another connection: without a limit, they would answer indefinitely.
#[test]
fn a_peer_that_answers_each_of_our_acks_gets_few() {
    let mut script = in_use(quick());
    let mut wrong = script.segment(Flags::NONE, 400_000, Some(2001));
    let mut sent = 0;
    for _ in 0..1000 {
        script.deliver(wrong, 0);
        sent += script.sent().len();
        script.pass(Duration::from_millis(10));
        wrong.seq = PEER_ISS + 400_000;
    }
    assert!((10..=20).contains(&sent), "{sent} ACKs in ten seconds");
}

//= specs/rfc9293.md#acceptance
//= type=test
//# While the receive window is closed, acknowledgements, urgent pointers and resets still count.
#[test]
fn a_reset_and_an_acknowledgement_count_while_our_window_is_closed() {
    let mut cfg = eager();
    cfg.receive.window = crate::config::ReceiveWindowConfig::Fixed { bytes: 1000 };
    let mut script = Script::established(cfg);
    script.write(500);
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 1000);
    assert_eq!(script.info().rcv_wnd, 0);
    script.out.clear();
    // The peer's window probe also carries an ACK.
    let probe = script.segment(Flags::NONE, 1001, Some(501));
    assert_eq!(answers(&mut script, probe, 1), [(501, Some(1001))]);
    assert_eq!((script.info().flight_size, script.info().counters.bytes_received), (0, 1000));
    let ahead = script.segment(Flags::RST, 1002, None);
    script.deliver(ahead, 0);
    assert_eq!(script.state(), "ESTABLISHED");
    let reset = script.segment(Flags::RST, 1001, None);
    script.deliver(reset, 0);
    assert_eq!(script.state(), "CLOSED");
}

#[test_case(MissingTimestamps::Dropped => 0)]
#[test_case(MissingTimestamps::Accepted => 100)]
fn bytes_taken_from_a_segment_that_lost_its_timestamps(missing: MissingTimestamps) -> u64 {
    let mut cfg = eager();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg.options.timestamps_missing = missing;
    let ts = Some(Timestamps { tsval: 100, tsecr: 0 });
    let mut script = Script::established_with(cfg, Options { timestamps: ts, ..peer_options() });
    script.out.clear();
    let syn = script.segment(Flags::SYN, 77, None);
    assert_eq!(answers(&mut script, syn, 0), [(1, Some(1))], "a SYN is challenged anyway");
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 100);
    script.info().counters.bytes_received
}

//= specs/rfc5961.md#syns
//= type=test
//# After the challenge ACK the SYN is dropped and has no other effect.
#[test_case(1, 50; "over what was received")]
#[test_case(1, 0; "before it")]
#[test_case(61, 100; "partly beyond it")]
fn a_challenge_to_a_syn_reports_no_duplicate(seq: u32, len: u32) {
    let mut script = Script::established(eager());
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 100);
    script.pass(Duration::from_secs(1));
    script.sent();
    let syn = script.segment(Flags::SYN, seq, Some(1));
    script.deliver(syn, len);
    let sent = script.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].ack, sent[0].options.sack.as_slice()), (Some(101), &[][..]));
}
