//! Windows, and time spent.

use super::*;
use crate::capture::testing::MS;

const MSS: u64 = 1_000;

fn sender(max_end: u64, delay: u64) -> Sender {
    Sender { max_end, mss: MSS, has_begun: true, is_recovering: false, delay }
}

#[test]
fn time_is_limited_by_the_window_while_less_than_a_segment_fits() {
    let mut window = Window { scale: Scale::Known(0), ..Window::default() };
    window.announced(0, 0, 4_000, true);
    window.advance(0, &sender(0, 0));
    for nth in 1..=4 {
        window.used(nth * MSS, 0);
        window.sent(nth * MS, &sender(nth * MSS, 0), None);
    }
    window.advance(100 * MS, &sender(4_000, 0));
    window.announced(100 * MS, 4_000, 4_000, true);
    window.advance(100 * MS, &sender(4_000, 0));
    window.finish(150 * MS);
    assert_eq!((window.filled, window.most_in_flight), (1, 4_000));
    let spent = [Doing::WindowLimited, Doing::Sending, Doing::Idle].map(|doing| window.shares.of(doing) / MS);
    // Idle before the first segment; nothing behind the last acknowledgement.
    assert_eq!(spent, [96, 3, 1]);
}

#[test]
fn acknowledgements_take_effect_when_they_have_reached_the_sender() {
    let mut window = Window { scale: Scale::Known(0), ..Window::default() };
    window.announced(0, 0, 2_000, true);
    window.advance(50 * MS, &sender(0, 50 * MS));
    window.sent(50 * MS, &sender(2_000, 50 * MS), None);
    window.announced(51 * MS, 2_000, 2_000, true);
    window.advance(100 * MS, &sender(2_000, 50 * MS));
    assert_eq!(window.shares.of(Doing::Idle), 0);
    window.advance(110 * MS, &sender(2_000, 50 * MS));
    window.sent(110 * MS, &sender(4_000, 50 * MS), None);
    assert_eq!(window.shares.of(Doing::WindowLimited), 51 * MS);
    assert_eq!(window.shares.of(Doing::Idle), 9 * MS);
}

#[test]
fn a_closed_window_is_counted_and_timed() {
    let mut window = Window { scale: Scale::Known(7), ..Window::default() };
    for (at, field) in [(0, 10), (10, 0), (20, 0), (40, 5), (50, 0)] {
        window.announced(at * MS, 0, field, true);
    }
    assert!(window.is_closed());
    window.finish(70 * MS);
    assert_eq!((window.closed, window.closed_time / MS, window.closed_longest / MS), (2, 50, 30));
    assert_eq!((window.largest, window.smallest), (1_280, 640));
}

#[test]
fn an_unknown_scale_grows_with_what_is_in_flight() {
    let mut window = Window::default();
    window.announced(0, 0, 1_000, true);
    window.used(1_000, 0);
    assert_eq!(window.scale, Scale::AtLeast(0));
    window.used(5_000, 0);
    assert_eq!((window.scale, window.now, window.edge), (Scale::AtLeast(3), 8_000, 8_000));
    window.used(5_000_000_000, 0);
    assert_eq!(window.scale, Scale::AtLeast(14));
}

#[test]
fn silence_before_a_timer_is_time_of_its_own() {
    let mut window = Window { scale: Scale::Known(0), ..Window::default() };
    window.announced(0, 0, 60_000, true);
    window.advance(0, &sender(0, 0));
    window.sent(0, &sender(1_000, 0), None);
    window.sent(300 * MS, &sender(1_000, 0), Some(290 * MS));
    assert_eq!(window.shares.of(Doing::WaitingForTimer), 290 * MS);
    assert_eq!(window.shares.of(Doing::Sending), 10 * MS);
}
