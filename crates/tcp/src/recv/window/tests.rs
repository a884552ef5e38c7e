//! The window against its invariants and the RFC's tables.

use super::*;
use proptest::prelude::*;
use test_case::test_case;

const RMSS: Bytes = 1460;
const NXT: SeqNum = SeqNum(u32::MAX - 10_000);

//= specs/rfc7323.md#window-scale
//= type=test
//# A shift is at most 14, and a larger one that a peer sends is taken for 14.
#[test_case(1 => 0)]
#[test_case(65_535 => 0)]
#[test_case(65_536 => 1)]
#[test_case(131_400 => 2; "just more than twice the field")]
#[test_case(6 << 20 => 7)]
#[test_case(16 << 20 => 9)]
#[test_case(269_000_000 => 13)]
#[test_case(1 << 30 => 14)]
fn shift_for(largest: Bytes) -> u8 {
    ReceiveWindow::shift_for(largest)
}

//= specs/rfc7323.md#window-scale
//= type=test
//# The window of a SYN or SYN-ACK is not scaled.
#[test]
fn a_syn_shows_at_most_the_field_and_the_first_ack_all() {
    let mut window = ReceiveWindow::new(NXT, 1 << 20, 5);
    assert_eq!((window.syn_window(NXT), window.offered(NXT)), (65_535, 65_535));
    assert_eq!(window.advertise(NXT, 0, RMSS), (1 << 20 >> 5) as u16);
    assert_eq!(window.offered(NXT), 1 << 20);
}

#[test]
fn reading_single_bytes_does_not_open_the_window_by_single_bytes() {
    let mut window = ReceiveWindow::new(NXT, 10 * RMSS, 0);
    let nxt = NXT + 10 * RMSS;
    assert_eq!(window.advertise(nxt, 10 * RMSS, RMSS), 0);
    for read in 1..RMSS {
        assert!(!window.update_due(nxt, 10 * RMSS - read, RMSS), "after {read} bytes");
        assert_eq!(window.advertise(nxt, 10 * RMSS - read, RMSS), 0, "after {read} bytes");
    }
    assert!(window.update_due(nxt, 9 * RMSS, RMSS));
    assert_eq!(window.advertise(nxt, 9 * RMSS, RMSS), RMSS as u16);
}

#[test]
fn a_small_buffer_opens_in_halves() {
    let mut window = ReceiveWindow::new(NXT, 1_000, 0);
    let nxt = NXT + 1_000;
    assert_eq!(window.advertise(nxt, 1_000, RMSS), 0);
    assert!(!window.update_due(nxt, 501, RMSS));
    assert!(window.update_due(nxt, 500, RMSS));
    assert_eq!(window.advertise(nxt, 500, RMSS), 500);
}

#[test]
fn an_update_is_due_when_the_window_doubles_by_two_segments() {
    let mut window = ReceiveWindow::new(NXT, 20 * RMSS, 0);
    let nxt = NXT + 12 * RMSS;
    window.advertise(nxt, 12 * RMSS, RMSS);
    assert_eq!(window.offered(nxt), 8 * RMSS);
    assert!(!window.update_due(nxt, 5 * RMSS, RMSS));
    assert!(window.update_due(nxt, 4 * RMSS, RMSS));
    window.advertise(nxt, 4 * RMSS, RMSS);
    assert!(!window.update_due(nxt, 0, RMSS), "the peer still sees sixteen of twenty");
}

#[test]
fn a_reader_that_keeps_up_causes_no_updates() {
    let mut window = ReceiveWindow::new(NXT, 64 << 10, 0);
    let mut nxt = NXT;
    for segment in 0..100 {
        nxt += RMSS;
        assert!(!window.update_due(nxt, 0, RMSS), "segment {segment}");
        if segment % 2 == 1 {
            window.advertise(nxt, 0, RMSS);
        }
    }
}

#[test]
fn an_update_is_due_when_rounding_hides_a_window_from_the_peer() {
    let mut window = ReceiveWindow::new(NXT, 64 << 10, 14);
    window.advertise(NXT, 0, RMSS);
    let nxt = NXT + ((64 << 10) - 10_000);
    assert_eq!((window.advertise(nxt, (64 << 10) - 10_000, RMSS), window.offered(nxt)), (0, 0));
    assert!(window.update_due(nxt, 0, RMSS));
}

#[test]
fn the_buffer_only_grows() {
    let mut window = ReceiveWindow::new(NXT, 10_000, 1);
    window.set_limit(5_000);
    assert_eq!(window.limit(), 10_000);
    window.set_limit(20_000);
    assert_eq!(window.advertise(NXT, 0, RMSS), 10_000);
}

// Offsets from RCV.NXT; the window is `wnd` bytes. RFC 9293 §3.10.7.4, table 6.
#[test_case(0, 0, 0 => true; "empty segment, closed window, in place")]
#[test_case(1, 0, 0 => false; "empty segment, closed window, ahead")]
#[test_case(-1, 0, 0 => false; "empty segment, closed window, behind")]
#[test_case(0, 0, 100 => true; "empty segment in place")]
#[test_case(99, 0, 100 => true; "empty segment at the last byte")]
#[test_case(100, 0, 100 => true; "empty segment at the edge, our deviation")]
#[test_case(101, 0, 100 => false; "empty segment beyond the edge")]
#[test_case(-1, 0, 100 => false; "empty segment behind")]
#[test_case(0, 1, 0 => false; "byte, closed window")]
#[test_case(0, 1, 100 => true; "byte in place")]
#[test_case(99, 50, 100 => true; "first byte inside")]
#[test_case(100, 1, 100 => false; "just beyond")]
#[test_case(-50, 51, 100 => true; "last byte inside")]
#[test_case(-50, 50, 100 => false; "just behind")]
#[test_case(-50, 500, 100 => true; "covers the whole window")]
#[test_case(-50, 500, 0 => false; "covers a closed window")]
fn acceptable(start: i32, len: u32, wnd: Bytes) -> bool {
    let verdicts = [1_000_000, u32::MAX, u32::MAX - 99, 20].map(|nxt| {
        let nxt = SeqNum(nxt);
        let window = ReceiveWindow::new(nxt, wnd, 0);
        let start = SeqNum(nxt.0.wrapping_add_signed(start));
        window.accepts(SeqRange::new(start, start + len), nxt)
    });
    assert!(verdicts.iter().all(|&verdict| verdict == verdicts[0]), "the wrap makes a difference: {verdicts:?}");
    verdicts[0]
}

proptest! {
    //= specs/rfc7323.md#window-scale
    //= type=test
    //# A segment inside a window that was ever offered is accepted, even when a later field shows a smaller one.
    /// Random arrivals inside the window and random reads, with any shift.
    #[test]
    fn promises_are_kept_and_bounded(
        limit in 1u32..2_000_000,
        shift in 0u8..=14,
        rmss in 1u32..9_000,
        steps in proptest::collection::vec((0u32..20_000, 0u32..20_000, 0u32..3), 1..100),
    ) {
        let mut window = ReceiveWindow::new(NXT, limit, shift);
        let (mut nxt, mut used) = (NXT, 0);
        for (arrive, read, grow) in steps {
            let before = window.right_edge();
            let arrive = arrive.min(SeqRange::new(nxt, before).len());
            nxt += arrive;
            used += arrive;
            used -= read.min(used);
            if grow == 0 {
                window.set_limit(window.limit().saturating_add(1_000));
            }
            let (due, seen) = (window.update_due(nxt, used, rmss), window.offered(nxt));
            let field = window.advertise(nxt, used, rmss);
            let shown = u32::from(field) << shift;
            prop_assert_eq!(window.offered(nxt), shown);
            prop_assert!(!due || shown > seen, "an update that tells nothing new");
            prop_assert!(window.right_edge().at_or_after(before), "the edge moved left");
            prop_assert!(used + shown <= window.limit(), "{} + {} of {}", used, shown, window.limit());
            let moved = window.right_edge().distance_from(before);
            let was_closed = SeqRange::new(nxt, before).len() >> shift == 0;
            let worth_it = was_closed || moved >= rmss.min(window.limit() / 2);
            prop_assert!(moved == 0 || worth_it, "the edge moved by {} only", moved);
            // The edge that the peer last saw is at most one unit of the field below the largest one offered.
            prop_assert!(window.right_edge().distance_from(nxt) - shown < 1 << shift);
        }
    }

    /// For any reading pattern, a closed window opens again for a full segment or half the buffer.
    #[test]
    fn a_closed_window_opens_when_everything_was_read(limit in 2u32..2_000_000, rmss in 1u32..9_000) {
        let mut window = ReceiveWindow::new(NXT, limit, ReceiveWindow::shift_for(limit));
        window.advertise(NXT, 0, rmss);
        let nxt = window.right_edge();
        window.advertise(nxt, limit, rmss);
        prop_assert_eq!(window.offered(nxt), 0);
        prop_assert!(window.update_due(nxt, 0, rmss));
    }
}
