//! Out-of-order segments under a limit of blocks.

use crate::Read;
use crate::config::{Config, ReceiveWindowConfig, WindowScaleConfig};
use crate::event::DropReason;
use crate::testing::{MSS, Out, PEER_ISS, Script, peer_options, quick};
use base::Duration;
use test_case::test_case;
use wire::{Flags, Options};

const SEGMENTS: u32 = 2_000;

/// A receiver with a window for the whole flight, and a limit of `blocks` out-of-order blocks.
fn limited(blocks: Option<u32>) -> Script {
    let mut cfg: Config = quick();
    cfg.receive.reassembly_max = blocks;
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 2 * SEGMENTS * MSS };
    cfg.options.window_scale = WindowScaleConfig::FromBuffer;
    let mut script = Script::established_with(cfg, Options { window_scale: Some(0), ..peer_options() });
    // The first ACK offers the part of the window that a SYN cannot express.
    segment(&mut script, 0, Flags::NONE);
    script.out.clear();
    script
}

/// Delivers the `nth` full segment; the first has already arrived.
fn segment(script: &mut Script, nth: u32, flags: Flags) {
    let repr = script.segment(flags, 1 + nth * MSS, Some(1));
    script.deliver(repr, MSS);
}

/// Returns the blocks of an ACK, as segment numbers.
fn blocks(out: &Out) -> Vec<(u32, u32)> {
    let nth = |seq: base::SeqNum| (seq.distance_from(PEER_ISS) - 1) / MSS;
    out.options.sack.as_slice().iter().map(|block| (nth(block.start), nth(block.end))).collect()
}

fn refused(script: &Script) -> u16 {
    script.info().counters.dropped[DropReason::ReassemblyLimit as usize]
}

fn acknowledged(script: &mut Script) -> u32 {
    (script.sent().last().and_then(|out| out.ack).expect("an ACK") - 1) / MSS
}

//= specs/rfc2018.md#receiver
//= type=test
//# No block reports data that the receiver has thrown away, other than the newest segment.
#[test]
fn one_block_too_many_is_dropped_counted_and_answered_with_the_blocks_that_are_held() {
    let mut script = limited(Some(2));
    segment(&mut script, 2, Flags::NONE);
    segment(&mut script, 4, Flags::NONE);
    script.out.clear();
    segment(&mut script, 6, Flags::NONE);
    let sent = script.sent();
    assert_eq!((sent.len(), sent[0].ack, refused(&script)), (1, Some(1 + MSS), 1));
    assert_eq!(blocks(&sent[0]), [(4, 5), (2, 3)]);
}

#[test]
fn what_continues_extends_or_joins_is_taken_at_the_limit() {
    let mut script = limited(Some(2));
    for nth in [3, 6, 2, 7, 5] {
        segment(&mut script, nth, Flags::NONE);
    }
    assert_eq!((refused(&script), blocks(&script.sent()[4])), (0, vec![(5, 8), (2, 4)]));
    segment(&mut script, 4, Flags::NONE);
    assert_eq!(blocks(&script.sent()[0]), [(2, 8)]);
    // Joining two blocks made room for one.
    segment(&mut script, 10, Flags::NONE);
    segment(&mut script, 1, Flags::NONE);
    assert_eq!((refused(&script), acknowledged(&mut script)), (0, 8));
}

//= specs/rfc2883.md#receiver
//= type=test
//# A segment that brings bytes a second time is reported by a block, in the next ACK and in no later one.
#[test]
fn a_duplicate_is_reported_at_the_limit_too() {
    let mut script = limited(Some(1));
    segment(&mut script, 3, Flags::NONE);
    script.out.clear();
    segment(&mut script, 3, Flags::NONE);
    assert_eq!(blocks(&script.sent()[0]), [(3, 4), (3, 4)]);
    segment(&mut script, 0, Flags::NONE);
    assert_eq!(blocks(&script.sent()[0]), [(0, 1), (3, 4)]);
    // A rejected segment was never stored, so its return is not a duplicate.
    segment(&mut script, 5, Flags::NONE);
    segment(&mut script, 5, Flags::NONE);
    assert_eq!(script.sent().iter().map(blocks).collect::<Vec<_>>(), [[(3, 4)], [(3, 4)]]);
    assert_eq!((refused(&script), script.info().counters.dsacks_sent), (2, 2));
}

#[test]
fn a_receiver_without_reassembly_takes_segments_in_order_only() {
    let mut script = limited(Some(0));
    segment(&mut script, 2, Flags::NONE);
    assert!(script.sent()[0].options.sack.is_empty());
    segment(&mut script, 1, Flags::NONE);
    assert_eq!((acknowledged(&mut script), refused(&script)), (2, 1));
}

#[test]
fn a_fin_that_was_dropped_with_its_segment_ends_nothing() {
    let mut script = limited(Some(1));
    segment(&mut script, 2, Flags::NONE);
    segment(&mut script, 4, Flags::FIN);
    // The same bytes arrive again, now without the FIN: the receiver must not act on the dropped FIN.
    for nth in [1, 3, 4, 5] {
        segment(&mut script, nth, Flags::NONE);
    }
    assert_eq!((script.state(), acknowledged(&mut script)), ("ESTABLISHED", 6));
    segment(&mut script, 6, Flags::FIN);
    assert_eq!(script.state(), "CLOSE-WAIT");
    assert_eq!(script.read(1 << 30), Ok(Read::Data(u64::from(7 * MSS))));
    assert_eq!(script.read(1), Ok(Read::Fin));
}

/// Every second segment of a long flight is lost, then all unacknowledged data arrives again.
fn every_second_segment(limit: Option<u32>) -> (Script, u32) {
    let mut script = limited(limit);
    for nth in (2..SEGMENTS).step_by(2) {
        segment(&mut script, nth, Flags::NONE);
    }
    let sent = script.sent();
    assert_eq!(sent.len(), SEGMENTS as usize / 2 - 1, "each is answered at once");
    let reported = sent.iter().flat_map(blocks).map(|(_, end)| end).max().expect("blocks");
    (script, reported)
}

//= specs/rfc2018.md#receiver
//= type=test
//# No block reports data that the receiver has thrown away, other than the newest segment.
#[test]
fn of_every_second_segment_of_a_long_flight_as_many_are_held_as_there_may_be() {
    let (mut script, reported) = every_second_segment(Some(64));
    let held = 64;
    assert_eq!((u32::from(refused(&script)), reported), (SEGMENTS / 2 - 1 - held, 2 * held + 1));
    // Fills the gaps below, then repeats all data never reported as received.
    for nth in 1..=SEGMENTS {
        let known = nth % 2 == 0 && nth <= 2 * held;
        if !known {
            segment(&mut script, nth, Flags::NONE);
        }
    }
    assert_eq!(acknowledged(&mut script), SEGMENTS + 1);
    script.pass(Duration::from_millis(500));
    assert_eq!(script.read(1 << 30), Ok(Read::Data(u64::from((SEGMENTS + 1) * MSS))));
    assert_eq!((script.info().mismatches, script.info().counters.dsacks_sent), (0, 0));
}

#[test]
fn without_a_limit_all_of_them_are_held() {
    let (mut script, reported) = every_second_segment(None);
    assert_eq!((refused(&script), reported), (0, SEGMENTS - 1));
    for nth in (1..SEGMENTS).step_by(2) {
        segment(&mut script, nth, Flags::NONE);
    }
    script.pass(Duration::from_millis(500));
    assert_eq!(acknowledged(&mut script), SEGMENTS);
}

/// A FIN that contradicts earlier arrivals: behind waiting data, at another place than an earlier FIN, or in the past.
#[test_case(&[(2, Flags::NONE), (1, Flags::FIN)], 3; "before data that waits")]
#[test_case(&[(2, Flags::FIN), (1, Flags::FIN)], 3; "before a FIN that waits")]
#[test_case(&[(1, Flags::FIN), (2, Flags::NONE)], 2; "data behind a FIN that waits")]
#[test_case(&[(1, Flags::FIN), (2, Flags::FIN)], 2; "two ends out of order")]
fn a_stream_has_one_end_and_loses_no_byte_to_a_second_one(arrivals: &[(u32, Flags)], segments: u32) {
    let mut script = limited(None);
    for (nth, flags) in arrivals {
        segment(&mut script, *nth, *flags);
    }
    // The gap before them closes last.
    let repr = script.segment(Flags::NONE, 1 + MSS - 7, Some(1));
    script.deliver(repr, 7);
    let read = |script: &mut Script| script.read(u64::from(10 * MSS));
    assert_eq!(read(&mut script), Ok(Read::Data(u64::from((segments - 1) * MSS + MSS))));
    assert_eq!(script.info().mismatches, 0);
}

#[test]
fn a_fin_in_the_past_takes_no_byte_away() {
    let mut script = limited(None);
    segment(&mut script, 1, Flags::NONE);
    let repr = script.segment(Flags::FIN, 1, Some(1));
    script.deliver(repr, MSS / 2);
    assert_eq!(script.state(), "ESTABLISHED");
    segment(&mut script, 2, Flags::NONE);
    assert_eq!(script.read(u64::from(10 * MSS)), Ok(Read::Data(u64::from(3 * MSS))));
}
