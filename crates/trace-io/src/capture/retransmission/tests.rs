//! Circumstances and causes, a case a line.

use super::*;
use crate::capture::testing::MS;
use test_case::test_case;

/// A round trip of 100 ms that varies by 10; nothing has happened for some time.
fn after(silence: u64) -> Circumstances {
    let smoothed = Some(100 * MS);
    Circumstances {
        silence,
        since_sent: silence.max(110 * MS),
        smoothed,
        variation: 40 * MS,
        sack: true,
        ..Circumstances::default()
    }
}

#[test_case(Circumstances { evidence: true, since_sent: 105 * MS, ..after(0) }, Episode::None => Cause::Fast; "later ones arrived")]
#[test_case(Circumstances { evidence: true, since_sent: 150 * MS, ..after(90 * MS) }, Episode::None => Cause::Fast; "a reordering window later")]
#[test_case(after(0), Episode::Fast { point: 9 } => Cause::Fast; "in the same recovery")]
#[test_case(Circumstances { start: 9, ..after(0) }, Episode::Fast { point: 9 } => Cause::Unexplained; "behind it")]
#[test_case(Circumstances { is_last: true, ..after(200 * MS) }, Episode::None => Cause::TailProbe; "the last of several")]
#[test_case(Circumstances { is_last: true, is_first: true, ..after(400 * MS) }, Episode::None => Cause::TailProbe; "the only one, soon")]
#[test_case(Circumstances { is_last: true, is_first: true, ..after(1_000 * MS) }, Episode::None => Cause::Timeout; "the only one, late")]
#[test_case(Circumstances { is_last: true, sack: false, ..after(300 * MS) }, Episode::None => Cause::Timeout; "without SACK there are no probes")]
#[test_case(Circumstances { is_last: true, has_probed: true, ..after(300 * MS) }, Episode::None => Cause::Timeout; "a probe went before")]
#[test_case(Circumstances { is_first: true, ..after(300 * MS) }, Episode::None => Cause::Timeout; "the first of several")]
#[test_case(Circumstances { evidence: true, is_first: true, ..after(300 * MS) }, Episode::Fast { point: 9 } => Cause::Timeout; "in a recovery that got stuck")]
#[test_case(after(0), Episode::Timeout { point: 9 } => Cause::AfterTimeout; "behind a timeout")]
#[test_case(Circumstances { window_closed: true, ..after(300 * MS) }, Episode::None => Cause::WindowProbe; "into a closed window")]
#[test_case(after(0), Episode::None => Cause::Unexplained; "for no visible reason")]
fn why(now: Circumstances, episode: Episode) -> Cause {
    cause(&now, episode)
}

#[test]
fn a_d_sack_proves_one_retransmission() {
    let mut repeats = Repeats::default();
    repeats.sent(10, 20);
    repeats.sent(10, 20);
    assert!(repeats.prove(10, 20) && repeats.prove(15, 20));
    assert!(!repeats.prove(10, 20) && !repeats.prove(20, 30));
}
