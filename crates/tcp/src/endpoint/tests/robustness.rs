//! Segments that are not acceptable (RFC 9293 §3.10.7.4, RFC 5961, RFC 7323 §5).

use crate::config::TimestampConfig;
use crate::event::DropReason;
use crate::testing::{MSS, Script, peer_options, quick};
use base::{Duration, SeqRange};
use proptest::prelude::*;
use wire::{Flags, Options, Timestamps};

fn dropped(script: &Script, reason: DropReason) -> u16 {
    script.info().counters.dropped[reason as usize]
}

#[test]
fn a_reset_in_the_window_but_not_next_is_challenged() {
    let mut script = Script::established(quick());
    script.out.clear();
    let reset = script.segment(Flags::RST, 5, None);
    script.deliver(reset, 0);
    assert_eq!(script.state(), "ESTABLISHED");
    assert_eq!(script.sent()[0].ack, Some(1));
    assert_eq!(dropped(&script, DropReason::InexactReset), 1);
}

#[test]
fn a_reset_outside_the_window_is_silently_dropped() {
    let mut script = Script::established(quick());
    script.out.clear();
    let reset = script.segment(Flags::RST, 1 << 30, None);
    script.deliver(reset, 0);
    assert!(script.sent().is_empty());
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn a_syn_in_an_open_connection_is_challenged() {
    let mut script = Script::established(quick());
    script.out.clear();
    let syn = script.segment(Flags::SYN, 9, None);
    script.deliver(syn, 0);
    assert_eq!(script.state(), "ESTABLISHED");
    assert_eq!(script.sent()[0].ack, Some(1));
}

#[test]
fn an_ack_of_the_future_is_challenged_and_changes_nothing() {
    let mut script = Script::established(quick());
    script.write(100);
    script.out.clear();
    script.ack(5000);
    assert_eq!(dropped(&script, DropReason::BadAck), 1);
    assert_eq!(script.info().flight_size, 100);
    assert_eq!(script.sent()[0].ack, Some(1));
}

//= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
//= type=test
//# A segment whose timestamp is older than the one kept is dropped and answered with an ACK.
//= specs/rfc7323.md#protection-against-wrapped-sequence-numbers
//= type=test
//# A reset is not judged by its timestamp.
#[test]
fn paws_drops_an_old_segment_and_acknowledges() {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    let ts = |tsval| Some(Timestamps { tsval, tsecr: 0 });
    let mut script = Script::established_with(cfg, Options { timestamps: ts(1000), ..peer_options() });
    script.out.clear();
    let mut old = script.segment(Flags::NONE, 1, Some(1));
    old.options.timestamps = ts(999);
    script.deliver(old, 10);
    assert_eq!(dropped(&script, DropReason::OldTimestamp), 1);
    assert_eq!(script.info().counters.bytes_received, 0);
    assert_eq!(script.sent().len(), 1);
    let mut reset = script.segment(Flags::RST, 1, None);
    reset.options.timestamps = ts(1);
    script.deliver(reset, 0);
    assert_eq!(script.state(), "CLOSED", "resets are exempt");
}

#[test]
fn sack_blocks_for_data_never_sent_are_ignored() {
    let mut script = Script::established(quick());
    script.write(u64::from(4 * MSS));
    let mut repr = script.segment(Flags::NONE, 1, Some(1));
    repr.options.sack.push(SeqRange::new(script.iss + 100_000, script.iss + 200_000));
    repr.options.sack.push(SeqRange::new(script.iss + 3 * MSS, script.iss + 2 * MSS));
    script.deliver(repr, 0);
    assert_eq!(script.info().pipe, 4 * MSS);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Random segments around the window: no panic, the invariants hold (the script checks them), and the delivered bytes match
    /// the stream.
    #[test]
    fn any_segments_leave_the_books_balanced(
        segments in prop::collection::vec(
            (any::<u8>(), -3000i64..80_000, prop::option::of(-3000i64..80_000), 0u32..3000, any::<u16>(),
             prop::collection::vec((-3000i64..80_000, -3000i64..80_000), 0..4), 0u64..2_000), 1..40),
        timestamps: bool,
    ) {
        let mut cfg = quick();
        cfg.options.timestamps = TimestampConfig::Answer;
        let mut script = Script::connecting(cfg);
        if timestamps {
            script.finish_handshake(Options { timestamps: Some(Timestamps::default()), ..peer_options() });
        } else {
            script.finish_handshake(peer_options());
        }
        let relative = |base: base::SeqNum, offset: i64| base + (offset as u32);
        for (flags, seq, ack, len, window, blocks, wait) in segments {
            // Resets and SYNs would end most runs early, so only one in sixteen stays.
            let flags = if flags & 0xf0 == 0 { Flags::from_bits(flags) } else { Flags::from_bits(flags & 0x09) };
            let mut repr = script.segment(flags, 0, None);
            repr.seq = relative(crate::testing::PEER_ISS, seq);
            repr.ack = ack.map(|ack| relative(script.iss, ack));
            repr.window = window;
            for (start, end) in blocks {
                repr.options.sack.push(SeqRange::new(relative(script.iss, start), relative(script.iss, end)));
            }
            if timestamps {
                repr.options.timestamps = Some(Timestamps { tsval: wait as u32, tsecr: 0 });
            }
            // The pattern has no bytes before its first.
            script.deliver(repr, if seq < 1 { 0 } else { len.min(1460) });
            if script.stack.endpoint(script.conn).is_some_and(|e| e.state().is_synchronized()) {
                let _ = script.stack.write_pattern(
                    &mut crate::StackCx::new(script.now, &mut trace::Off), script.conn, u64::from(len) * 3);
                let _ = script.read(u64::from(window));
            }
            script.pass(Duration::from_millis(wait));
            if script.stack.endpoint(script.conn).is_some() {
                prop_assert_eq!(script.info().mismatches, 0);
            }
        }
    }
}
