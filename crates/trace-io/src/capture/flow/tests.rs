//! What the handshake says.

use super::*;
use crate::capture::testing::{MS, from, opened};
use test_case::test_case;

#[test_case([Some(7), Some(3)] => [Scale::Known(3), Scale::Known(7)]; "each end's own")]
#[test_case([Some(7), None] => [Scale::Known(0), Scale::Known(0)]; "the server does not take it")]
#[test_case([None, Some(7)] => [Scale::Known(0), Scale::Known(0)]; "the client does not offer it")]
fn windows_are_scaled_when_both_agree(shifts: [Option<u8>; 2]) -> [Scale; 2] {
    opened(shifts).streams.map(|stream| stream.window.scale)
}

#[test]
fn a_lone_answer_says_that_the_question_had_the_option() {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(1).syn_ack(Some(4)));
    assert_eq!(flow.ends[0], from(0).src, "the answer goes to the client");
    flow.on_segment(0, &from(1).syn_ack(Some(4)));
    assert_eq!(flow.streams[0].window.scale, Scale::Known(4));
    assert_eq!(flow.streams[1].window.scale, Scale::AtLeast(0));
}

#[test]
fn options_that_were_cut_off_say_nothing() {
    let cut = |mut segment: Segment| {
        (segment.tcp.options, segment.options_whole) = (wire::Options::default(), false);
        segment
    };
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0));
    flow.on_segment(0, &cut(from(0).syn(Some(7))));
    flow.on_segment(100 * MS, &cut(from(1).syn_ack(Some(7))));
    assert_eq!((flow.streams[0].window.scale, flow.half(1)), (Scale::AtLeast(0), Some(100 * MS)));
}

#[test]
fn a_capture_that_starts_in_the_middle_knows_no_scale() {
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0).full(3));
    flow.on_segment(0, &from(0).full(3));
    assert_eq!((flow.streams[0].window.scale, flow.shakes), (Scale::AtLeast(0), [None; 2]));
}

#[test]
fn the_handshake_measures_both_halves_unless_it_was_repeated() {
    assert_eq!((opened([None; 2]).half(0), opened([None; 2]).half(1)), (Some(0), Some(100 * MS)));
    let mut flow = Flow::new(1, Interface::default(), 0, &from(0).syn(None));
    flow.on_segment(0, &from(0).syn(None));
    flow.on_segment(1_000 * MS, &from(0).syn(None));
    flow.on_segment(1_100 * MS, &from(1).syn_ack(None));
    assert_eq!((flow.half(1), flow.shakes[0].unwrap().repeats), (None, 1));
}

#[test]
fn a_syn_of_another_number_opens_another_connection() {
    let flow = opened([None; 2]);
    assert!(!flow.is_another(&from(0).syn(None)), "sent again");
    assert!(flow.is_another(&from(0).syn(None).seq(77)));
    let mut middle = Flow::new(1, Interface::default(), 0, &from(0).full(3));
    middle.on_segment(0, &from(0).full(3));
    assert!(middle.is_another(&from(0).syn(None)));
}
