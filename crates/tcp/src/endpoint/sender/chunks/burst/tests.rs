//! Bursts as functions of their input.

use super::super::store::Push;
use super::*;
use test_case::test_case;

const CFG: ChunksConfig = ChunksConfig {
    bytes_max: 65_000,
    win_divisor: 3,
    min_segments: 2,
    rtt_halving: Duration::from_micros(512),
    refill: crate::config::ChunkRefill::Never,
};
const MS: Duration = Duration::from_millis(1);

/// A free window of ten segments, a peer that accepts anything, and a chunk of `len` bytes with others behind it.
fn view(len: Bytes) -> View {
    View {
        head: Chunk { len, push: Push::No, tail: Tail::Open },
        place: Place::Middle,
        size: 1_000,
        cwnd_segments: 10,
        free_segments: 10,
        max_segments: 65,
        snd_wnd: 100_000,
        usable: 100_000,
        rule: SmallRule::Leave,
        outstanding: Outstanding::Nothing,
        scope: Scope::All,
        wait: Wait::Never,
    }
}

#[test_case(view(16_000), Verdict::Send(5_000); "half the congestion window in one burst")]
#[test_case(View { max_segments: 2, ..view(16_000) }, Verdict::Send(2_000); "no more than autosizing asks for")]
#[test_case(View { free_segments: 3, ..view(16_000) }, Verdict::Send(3_000); "no more than is free")]
#[test_case(View { free_segments: 0, ..view(16_000) }, Verdict::Hold(Hold::Cwnd); "a full congestion window")]
#[test_case(View { cwnd_segments: 1, free_segments: 1, ..view(16_000) }, Verdict::Send(1_000); "a window of one")]
#[test_case(View { usable: 999, ..view(16_000) }, Verdict::Hold(Hold::PeerWindow); "a window that takes no full segment")]
#[test_case(View { usable: 2_500, ..view(16_000) }, Verdict::Send(2_500); "a window that cuts a segment")]
#[test_case(View { usable: 2_500, rule: SmallRule::Hold, ..view(16_000) }, Verdict::Send(2_000); "corked")]
#[test_case(View { usable: 300, ..view(300) }, Verdict::Send(300); "a small chunk that fits")]
#[test_case(View { usable: 300, place: Place::BeforeFin, ..view(300) }, Verdict::Hold(Hold::PeerWindow); "no room for the FIN")]
fn leaves(view: View, expected: Verdict) {
    assert_eq!(view.decide(&CFG), expected);
}

#[test_case(SmallRule::Hold, Outstanding::Nothing => false; "corked")]
#[test_case(SmallRule::Minshall, Outstanding::Full => true; "full segments do not hold it")]
#[test_case(SmallRule::Minshall, Outstanding::Small => false; "a small one does")]
#[test_case(SmallRule::Rfc896, Outstanding::Full => false; "anything does")]
#[test_case(SmallRule::Rfc896, Outstanding::Nothing => true; "an idle connection")]
#[test_case(SmallRule::Leave, Outstanding::Small => true; "switched off")]
fn a_small_chunk_at_the_end_leaves(rule: SmallRule, outstanding: Outstanding) -> bool {
    let small = View { place: Place::Last, rule, outstanding, ..view(100) };
    assert_eq!(View { place: Place::Middle, ..small }.decide(&CFG), Verdict::Send(100), "not in the middle");
    assert_eq!(View { place: Place::BeforeFin, ..small }.decide(&CFG), Verdict::Send(100), "nor before a FIN");
    small.decide(&CFG) == Verdict::Send(100)
}

#[test]
fn what_is_beyond_full_segments_waits_as_a_small_segment_does() {
    let last = View { place: Place::Last, rule: SmallRule::Minshall, ..view(2_100) };
    assert_eq!(last.decide(&CFG), Verdict::Send(2_100));
    assert_eq!(View { outstanding: Outstanding::Small, ..last }.decide(&CFG), Verdict::Send(2_000));
}

/// A window with two of ten segments free, and an ACK that is due at once.
fn nearly_full(len: Bytes) -> View {
    View { free_segments: 2, wait: Wait::Ack { expected_in: Duration::ZERO, srtt: MS * 100 }, ..view(len) }
}

#[test_case(nearly_full(16_000), Verdict::Hold(Hold::Deferred(By::Cwnd)); "the next ACK makes it larger")]
#[test_case(View { free_segments: 4, ..nearly_full(16_000) }, Verdict::Send(4_000); "a third of the window is free")]
#[test_case(View { max_segments: 2, ..nearly_full(16_000) }, Verdict::Send(2_000); "it will never be larger")]
#[test_case(nearly_full(2_000), Verdict::Send(2_000); "the chunk ends, and others follow")]
#[test_case(View { place: Place::Last, ..nearly_full(1_500) }, Verdict::Hold(Hold::Deferred(By::Writes)); "more may be written")]
#[test_case(View { place: Place::BeforeFin, ..nearly_full(1_500) }, Verdict::Send(1_500); "nothing will be written")]
#[test_case(View { scope: Scope::One, ..nearly_full(16_000) }, Verdict::Send(2_000); "a full chunk that was just written")]
#[test_case(View { usable: 2_000, free_segments: 10, snd_wnd: 10_000, ..nearly_full(16_000) },
    Verdict::Hold(Hold::Deferred(By::PeerWindow)); "the peer's window")]
fn waits(view: View, expected: Verdict) {
    assert_eq!(view.decide(&CFG), expected);
}

#[test_case(MS, MS * 100 => true; "within a millisecond")]
#[test_case(MS * 2, MS * 100 => false; "later")]
#[test_case(Duration::from_micros(60), Duration::from_micros(100) => false; "more than half a short round trip")]
fn waits_for_an_ack_that_comes(expected_in: Duration, srtt: Duration) -> bool {
    let view = View { wait: Wait::Ack { expected_in, srtt }, ..nearly_full(16_000) };
    view.decide(&CFG) == Verdict::Hold(Hold::Deferred(By::Cwnd))
}

#[test_case(None, None => 65; "nothing is known")]
#[test_case(Some(MS * 100), Some(MS * 100) => 2; "200 kB a second leave the least")]
#[test_case(Some(MS), Some(MS) => 52; "a millisecond's worth, and half of the most for the short way")]
#[test_case(Some(Duration::from_micros(50)), Some(Duration::from_micros(50)) => 65; "a near peer")]
fn segments_of_the_largest_burst(srtt: Option<Duration>, min_rtt: Option<Duration>) -> u32 {
    max_segments(&CFG, 10_000, 200, 1_000, srtt, min_rtt)
}

#[test]
fn a_burst_of_all_that_the_windows_take_has_only_later_writes_to_wait_for() {
    let last = View { place: Place::Last, ..nearly_full(2_000) };
    assert_eq!(last.decide(&CFG), Verdict::Hold(Hold::Deferred(By::Cwnd)), "the windows take no more than this");
    assert_eq!(
        View { place: Place::Last, ..nearly_full(1_999) }.decide(&CFG),
        Verdict::Hold(Hold::Deferred(By::Writes))
    );
}

#[test]
fn what_both_windows_take_alike_waits_for_the_peer() {
    let view = View { usable: 2_000, snd_wnd: 10_000, ..nearly_full(16_000) };
    assert_eq!(view.decide(&CFG), Verdict::Hold(Hold::Deferred(By::PeerWindow)));
}

#[test]
fn a_third_of_the_window_is_worth_a_burst() {
    let view = |free_segments| View { cwnd_segments: 9, free_segments, ..nearly_full(16_000) };
    assert_eq!(view(3).decide(&CFG), Verdict::Send(3_000));
    assert_eq!(view(2).decide(&CFG), Verdict::Hold(Hold::Deferred(By::Cwnd)));
}
