//! Which evidence undoes an episode, and which does not.

use super::*;
use crate::episode::Episode;
use crate::scoreboard::{Mark, SegmentId, Xmit};
use base::{Duration, Instant};
use test_case::test_case;

const ALL: UndoConfig = UndoConfig { dsack: DsackUndo::On, eifel: Eifel::TimestampsOrRtt, frto: FrtoDetection::On };
const BY_TIMESTAMPS: UndoConfig = UndoConfig { eifel: Eifel::Timestamps, ..ALL };
const BY_DSACK: UndoConfig = UndoConfig { eifel: Eifel::Off, ..ALL };
const MIN_RTT_MS: u64 = 40;
/// When the copies of the tests left.
const COPY_MS: u64 = 1_000;
const COPY_TSVAL: u32 = 70;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}
fn range(start: u32, end: u32) -> SeqRange {
    SeqRange::new(SeqNum(start), SeqNum(end))
}
fn cx(now_ms: u64, tsecr: Option<u32>) -> DetectCx {
    DetectCx {
        now: at(now_ms),
        smss: 10,
        snd_una: SeqNum(110),
        snd_nxt: SeqNum(300),
        srtt: Some(Duration::from_millis(50)),
        min_rtt: Some(Duration::from_millis(MIN_RTT_MS)),
        tsecr,
        arrival: crate::Arrival::InTurn,
        episode: Episode::Recovery { point: SeqNum(200) },
    }
}
fn segment(start: u32, end: u32, retransmits: u8) -> SentSegment {
    SentSegment {
        id: SegmentId(0),
        start: SeqNum(start),
        xmit: Xmit { at: at(COPY_MS), end: SeqNum(end) },
        first_sent: at(900),
        tsval: COPY_TSVAL,
        retransmits,
        mark: Mark::Outstanding,
    }
}
/// An episode in which these ranges were retransmitted.
fn episode(copies: &[SeqRange]) -> Undo {
    let mut undo = Undo::new(Frto::Idle, Some(Duration::from_millis(MIN_RTT_MS)));
    copies.iter().for_each(|copy| undo.on_retransmitted(*copy));
    undo
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# Spurious fast retransmits are detected.
#[test]
fn one_report_for_every_retransmission_undoes_and_one_less_does_not() {
    let mut undo = episode(&[range(100, 110), range(120, 130)]);
    assert_eq!(undo.on_ack(&ALL, Some(range(120, 130)), &[], &cx(1_050, None)), None);
    assert_eq!(undo.on_ack(&ALL, Some(range(120, 130)), &[], &cx(1_051, None)), None, "reported twice");
    assert_eq!(undo.on_ack(&ALL, Some(range(100, 110)), &[], &cx(1_052, None)), Some(Proof::Dsack));
}

#[test]
fn a_report_of_what_was_never_sent_again_proves_nothing() {
    let mut undo = episode(&[range(100, 110)]);
    assert_eq!(undo.on_ack(&ALL, Some(range(110, 120)), &[], &cx(1_050, None)), None);
    assert_eq!(
        Undo::new(Frto::Idle, Some(Duration::from_millis(MIN_RTT_MS))).on_ack(
            &ALL,
            Some(range(110, 120)),
            &[],
            &cx(1_050, None)
        ),
        None
    );
}

#[test_case(Eifel::Timestamps, Some(Proof::Eifel))]
#[test_case(Eifel::Off, None)]
fn an_episode_that_ended_before_any_copy_left_was_spurious(eifel: Eifel, expected: Option<Proof>) {
    let config = UndoConfig { eifel, dsack: DsackUndo::On, ..UndoConfig::default() };
    let mut undo = Undo::new(Frto::Idle, None);
    assert_eq!(undo.on_ack(&config, None, &[], &cx(1, None)), None, "it goes on");
    undo.on_exit(SeqNum(100));
    assert_eq!(undo.on_ack(&config, None, &[], &cx(2, None)), expected);
}

#[test]
fn what_went_out_twice_again_needs_two_reports() {
    let mut undo = episode(&[range(100, 110), range(100, 110)]);
    assert_eq!(undo.on_ack(&ALL, Some(range(100, 110)), &[], &cx(1_050, None)), None);
    assert_eq!(undo.on_ack(&ALL, Some(range(100, 110)), &[], &cx(1_060, None)), Some(Proof::Dsack));
}

#[test]
fn one_report_may_speak_of_several_segments() {
    let mut undo = episode(&[range(100, 110), range(110, 120), range(120, 130)]);
    assert_eq!(undo.on_ack(&ALL, Some(range(100, 130)), &[], &cx(1_050, None)), Some(Proof::Dsack));
}

//= specs/rfc9438.md#spurious-congestion-events
//= type=test
//# Spurious fast retransmits are detected.
#[test_case(BY_TIMESTAMPS, 1, 1_039, Some(COPY_TSVAL - 1) => Some(Proof::Eifel); "the echo is of the original")]
#[test_case(BY_TIMESTAMPS, 1, 1_039, Some(COPY_TSVAL) => None; "the echo is of the copy")]
#[test_case(BY_TIMESTAMPS, 2, 1_039, Some(COPY_TSVAL - 1) => None; "which of two earlier copies is unknown")]
#[test_case(BY_TIMESTAMPS, 1, 1_001, None => None; "without timestamps no echo")]
#[test_case(ALL, 1, 1_019, None => Some(Proof::Eifel); "before half the least round trip")]
#[test_case(ALL, 1, 1_020, None => None; "after it")]
#[test_case(ALL, 1, 1_001, Some(COPY_TSVAL) => None; "an echo knows better than a clock")]
#[test_case(ALL, 2, 1_001, None => None; "a second copy may be early for the first")]
#[test_case(BY_DSACK, 1, 1_001, Some(COPY_TSVAL - 1) => None; "not asked for")]
fn an_answer_to_the_original_undoes(
    config: UndoConfig,
    retransmits: u8,
    now_ms: u64,
    tsecr: Option<u32>,
) -> Option<Proof> {
    let mut undo = episode(&[range(100, 110)]);
    undo.on_ack(&config, None, &[segment(100, 110, retransmits)], &cx(now_ms, tsecr))
}

/// Data above a gap is answered with the timestamp of the last segment in order, which is older than any copy.
#[test_case(range(120, 130), &[segment(120, 130, 1)]; "selectively acknowledged")]
#[test_case(range(105, 110), &[segment(100, 105, 0), segment(105, 110, 1)]; "behind the segment that the echo speaks of")]
fn an_old_echo_proves_nothing_about_a_segment_that_is_not_at_the_left_edge(copy: SeqRange, delivered: &[SentSegment]) {
    let mut undo = episode(&[copy]);
    assert_eq!(undo.on_ack(&BY_TIMESTAMPS, None, delivered, &cx(1_040, Some(COPY_TSVAL - 9))), None);
}

#[test]
fn a_loss_beside_a_delay_keeps_its_consequence() {
    let mut undo = episode(&[range(100, 110), range(150, 160)]);
    assert_eq!(undo.on_ack(&ALL, None, &[segment(150, 160, 1)], &cx(1_005, None)), None);
    // The other's copy arrives after a round trip, as it should.
    assert_eq!(undo.on_ack(&ALL, None, &[segment(100, 110, 1)], &cx(1_045, None)), None);
    assert_eq!(undo.on_ack(&ALL, Some(range(150, 160)), &[], &cx(1_046, None)), None, "no proof for the other");
    assert_eq!(undo.on_ack(&ALL, Some(range(100, 110)), &[], &cx(1_047, None)), Some(Proof::Dsack));
}

#[test]
fn too_many_retransmissions_are_not_followed() {
    let mut undo = Undo::new(Frto::Idle, Some(Duration::from_millis(MIN_RTT_MS)));
    (0..=CAPACITY as u32).for_each(|n| undo.on_retransmitted(range(1_000 + n, 1_001 + n)));
    assert_eq!(undo.on_ack(&ALL, Some(range(1_000, 2_000)), &[], &cx(1_050, None)), None);
    assert_eq!(undo.heap_size(), 0);
}

#[test]
fn a_record_is_stale_once_data_sent_after_the_episode_is_acknowledged() {
    let mut undo = episode(&[range(100, 110)]);
    assert!(!undo.is_stale(SeqNum(500)), "the episode lasts");
    undo.on_exit(SeqNum(300));
    assert!(!undo.is_stale(SeqNum(300)) && undo.is_stale(SeqNum(301)));
}

#[test]
fn a_record_is_worth_keeping_where_any_evidence_is_taken() {
    let off = UndoConfig::default();
    assert!(off.is_off());
    assert!(!UndoConfig { dsack: DsackUndo::On, ..off }.is_off());
    assert!(!UndoConfig { eifel: Eifel::Timestamps, ..off }.is_off());
    assert!(!UndoConfig { frto: FrtoDetection::On, ..off }.is_off());
}

/// Undelayed answers have taken 30 ms, and no round trip less than 40.
#[test_case(1_014, Some(Proof::Eifel); "sooner than half an undelayed round trip")]
#[test_case(1_015, None; "after just that")]
#[test_case(1_016, None; "between that and half the least round trip")]
fn an_answer_is_early_by_the_least_undelayed_round_trip_too(now_ms: u64, proof: Option<Proof>) {
    let mut undo = Undo::new(Frto::Idle, Some(Duration::from_millis(30)));
    undo.on_retransmitted(range(100, 110));
    assert_eq!(undo.on_ack(&ALL, None, &[segment(100, 110, 1)], &cx(now_ms, None)), proof);
}

#[test]
fn memory_grows_with_what_is_in_doubt() {
    let copies: Vec<SeqRange> = (0..100).map(|n| range(n * 10, n * 10 + 10)).collect();
    let taken = episode(&copies).heap_size();
    assert!((100..=200).contains(&(taken / size_of::<SeqRange>())), "{taken} bytes");
}
