//! Urgent data, both directions (RFC 9293 §3.8.5, RFC 6093).

use crate::config::SegmenterConfig; // variant: chunks
use crate::config::{Config, NagleConfig, ReceiveWindowConfig, UrgentDelivery, UrgentPointer, WindowProbe};
use crate::event::UrgentError;
use crate::testing::{MSS, Out, Script, peer_options, plain_device, quick};
use crate::{ConnEvent, DeviceCaps, Read, Segmentation, StackCx, pattern_byte};
use base::Duration;
use test_case::{test_case, test_matrix};
use trace::Off;
use wire::Flags;

fn out_of_band() -> Config {
    let mut cfg = quick();
    cfg.receive.urgent = UrgentDelivery::OutOfBand;
    cfg
}

fn write(script: &mut Script, len: usize, urgent: bool) {
    let data = vec![b'x'; len];
    let mut off = Off;
    let cx = &mut StackCx::new(script.now, &mut off);
    let taken = if urgent {
        script.stack.write_urgent(cx, script.conn, &data)
    } else {
        script.stack.write(cx, script.conn, &data)
    };
    assert_eq!(taken, Ok(len));
    script.pass(Duration::ZERO);
}

/// Returns sequence numbers, lengths and urgent pointers of the sent segments.
fn pointers(sent: &[Out]) -> Vec<(u32, u32, Option<u16>)> {
    sent.iter().map(|out| (out.seq, out.len, out.flags.contains(Flags::URG).then_some(out.urgent))).collect()
}

/// The peer's segment with `len` bytes from number `seq` on, and this urgent pointer.
fn deliver(script: &mut Script, seq: u32, len: u32, pointer: Option<u16>) {
    let flags = if pointer.is_some() { Flags::URG } else { Flags::NONE };
    let mut repr = script.segment(flags, seq, Some(1));
    repr.urgent = pointer.unwrap_or(0);
    script.deliver(repr, len);
}

/// One read of up to `max` bytes: returns their number, and the stream offset of the first one.
fn read(script: &mut Script, max: usize) -> Vec<u8> {
    let mut buf = vec![0; max];
    let taken = script.stack.read(&mut StackCx::new(script.now, &mut Off), script.conn, &mut buf).expect("readable");
    let Read::Data(taken) = taken else { panic!("the end of the stream") };
    buf.truncate(taken as usize);
    buf
}

fn stream(from: u64, to: u64) -> Vec<u8> {
    (from..to).map(pattern_byte).collect()
}

fn ahead(script: &Script) -> Option<u64> {
    script.stack.endpoint(script.conn).expect("exists").urgent_ahead()
}

fn fetch(script: &mut Script) -> Result<u8, UrgentError> {
    script.stack.take_urgent_byte(&mut StackCx::new(script.now, &mut Off), script.conn)
}

fn notices(script: &mut Script) -> usize {
    let urgent = |event: &crate::StackEvent| matches!(event, crate::StackEvent::Conn { event: ConnEvent::Urgent, .. });
    core::mem::take(&mut script.events).iter().filter(|event| urgent(event)).count()
}

//= specs/rfc9293.md#urgent-data
//= type=test
//# The pointer that is sent names the byte behind the last urgent one.
//= specs/rfc9293.md#urgent-data
//= type=test
//# Urgent data is supported in both directions.
#[test_case(UrgentPointer::Following, 10)]
#[test_case(UrgentPointer::Last, 9)]
fn the_segment_with_urgent_data_points_to_its_end(pointer: UrgentPointer, field: u16) {
    let mut cfg = quick();
    cfg.receive.urgent_pointer = pointer;
    let mut script = Script::established(cfg);
    write(&mut script, 10, true);
    assert_eq!(pointers(&script.sent()), [(1, 10, Some(field))]);
    write(&mut script, 10, false);
    assert_eq!(pointers(&script.sent()), [(11, 10, None)], "what follows it is not urgent");
}

//= specs/rfc9293.md#urgent-data
//= type=test
//# Urgent data may have any length.
#[test]
fn urgent_data_may_have_any_length_and_every_segment_before_its_end_says_where_that_is() {
    let mut script = Script::established(quick());
    write(&mut script, 100_000, true);
    let mut seen = pointers(&script.sent());
    for _ in 0..20 {
        let acked = seen.last().map_or(1, |(seq, len, _)| seq + len);
        script.ack(acked);
        seen.extend(pointers(&script.sent()));
    }
    assert_eq!(seen.iter().map(|sent| sent.1).sum::<u32>(), 100_000);
    for (seq, _, pointer) in seen {
        assert_eq!(pointer, Some(u16::try_from(100_001 - seq).unwrap_or(u16::MAX)), "at {seq}");
    }
}

#[test]
fn a_retransmission_points_to_urgent_data_that_was_written_after_it_first_left() {
    let mut script = Script::established(quick());
    write(&mut script, 10, false);
    write(&mut script, 5, true);
    script.out.clear();
    script.pass(Duration::from_secs(1));
    assert_eq!(pointers(&script.sent()).first(), Some(&(1, 10, Some(15))));
}

#[test]
fn acknowledgements_do_not_speak_of_urgent_data_that_was_acknowledged() {
    let mut script = Script::established(quick());
    write(&mut script, 10, true);
    script.ack(11);
    script.out.clear();
    deliver(&mut script, 1, 10, None);
    assert!(script.sent().iter().all(|out| !out.flags.contains(Flags::URG)));
}

#[test_matrix([WindowProbe::Byte, WindowProbe::Empty])]
fn a_closed_window_does_not_hold_the_pointer_back(probe: WindowProbe) {
    let mut cfg = quick();
    cfg.send.window_probe = probe;
    let mut script = Script::established(cfg);
    script.peer_window = 0;
    script.ack(1);
    write(&mut script, 10, true);
    deliver(&mut script, 1, 10, None);
    script.pass(Duration::from_secs(1));
    let sent = script.sent();
    assert!(sent.len() >= 2 && sent.iter().all(|out| out.flags.contains(Flags::URG)), "{sent:?}");
    assert!(sent.iter().all(|out| out.seq + u32::from(out.urgent) == 11), "{sent:?}");
}

// variant: chunks {
fn in_chunks() -> Config {
    let mut cfg = quick();
    cfg.send.segmenter = SegmenterConfig::Chunks(Default::default());
    cfg
}
// variant: chunks }

#[test_case(quick(); "stream")]
#[test_case(in_chunks(); "chunks")] // variant: chunks
fn urgent_data_waits_for_no_acknowledgement_of_small_segments(mut cfg: Config) {
    cfg.send.nagle = NagleConfig::Rfc896;
    let mut script = Script::established(cfg);
    write(&mut script, 10, false);
    write(&mut script, 10, false);
    assert_eq!(pointers(&script.sent()).len(), 1);
    write(&mut script, 1, true);
    assert_eq!(pointers(&script.sent()), [(11, 11, Some(11))]);
}

#[test_case(quick(); "stream")]
#[test_case(in_chunks(); "chunks")] // variant: chunks
fn urgent_data_leaves_in_frames_of_one_segment(cfg: Config) {
    let device = DeviceCaps { segmentation: Segmentation::Tso { max_bytes: 65_535 }, ..plain_device() };
    let mut script = Script::connecting_on(cfg, device);
    script.finish_handshake(peer_options());
    write(&mut script, 4 * MSS as usize, true);
    let sent = script.sent();
    assert!(sent.len() >= 4 && sent.iter().all(|out| out.len <= MSS && out.flags.contains(Flags::URG)));
}

//= specs/rfc9293.md#urgent-data
//= type=test
//# The application is notified when urgent data is announced.
#[test]
fn the_application_is_notified_of_a_mark_before_its_bytes_have_come_and_once() {
    let mut script = Script::established(quick());
    deliver(&mut script, 1, 10, Some(25));
    assert_eq!((notices(&mut script), ahead(&script)), (1, Some(24)));
    deliver(&mut script, 11, 10, Some(15));
    assert_eq!((notices(&mut script), ahead(&script)), (0, Some(24)), "the same mark");
    deliver(&mut script, 21, 10, Some(30));
    assert_eq!((notices(&mut script), ahead(&script)), (1, Some(49)), "a mark further on");
    deliver(&mut script, 31, 10, Some(5));
    assert_eq!((notices(&mut script), ahead(&script)), (0, Some(49)), "marks do not go back");
}

//= specs/rfc9293.md#urgent-data
//= type=test
//# The application can learn how much urgent data remains.
#[test_case(UrgentPointer::Following, 10)]
#[test_case(UrgentPointer::Last, 9)]
fn in_the_stream_a_read_ends_before_the_last_urgent_byte_and_the_next_begins_with_it(
    pointer: UrgentPointer,
    field: u16,
) {
    let mut cfg = quick();
    cfg.receive.urgent_pointer = pointer;
    let mut script = Script::established(cfg);
    deliver(&mut script, 1, 30, Some(field));
    assert_eq!(read(&mut script, 100), stream(0, 9));
    assert_eq!((ahead(&script), fetch(&mut script)), (Some(0), Err(UrgentError::NoneAhead)));
    assert_eq!(read(&mut script, 100), stream(9, 30));
    assert_eq!(ahead(&script), None);
}

#[test]
fn out_of_band_the_last_urgent_byte_is_fetched_by_itself_and_missing_from_the_stream() {
    let mut script = Script::established(out_of_band());
    assert_eq!(fetch(&mut script), Err(UrgentError::NoneAhead));
    deliver(&mut script, 1, 5, Some(10));
    assert_eq!(fetch(&mut script), Err(UrgentError::NotYet));
    deliver(&mut script, 6, 25, Some(5));
    assert_eq!(script.stack.endpoint(script.conn).expect("exists").urgent_byte(), Ok(pattern_byte(9)));
    assert_eq!(fetch(&mut script), Ok(pattern_byte(9)));
    assert_eq!(fetch(&mut script), Err(UrgentError::NoneAhead), "once");
    assert_eq!((read(&mut script, 100), ahead(&script)), (stream(0, 9), Some(0)), "the mark is where it was");
    let mut peeked = [0; 30];
    let taken = script.stack.endpoint(script.conn).expect("exists").peek(&mut peeked);
    assert_eq!(peeked[..taken], stream(10, 30));
    assert_eq!(read(&mut script, 100), stream(10, 30));
    assert_eq!((ahead(&script), script.info().readable), (None, 0));
}

#[test]
fn an_urgent_byte_that_is_passed_over_is_lost_and_one_that_is_overtaken_is_in_the_stream() {
    let mut script = Script::established(out_of_band());
    deliver(&mut script, 1, 10, Some(5));
    read(&mut script, 100);
    assert_eq!(read(&mut script, 100), stream(5, 10));
    assert_eq!(fetch(&mut script), Err(UrgentError::NoneAhead));
    deliver(&mut script, 11, 5, Some(5));
    deliver(&mut script, 16, 5, Some(5));
    assert_eq!(read(&mut script, 100), stream(10, 19));
    assert_eq!(fetch(&mut script), Ok(pattern_byte(19)));
}

#[test]
fn a_peek_ends_where_a_read_would() {
    let mut script = Script::established(quick());
    deliver(&mut script, 1, 30, Some(10));
    let mut peeked = [0; 30];
    assert_eq!(script.stack.endpoint(script.conn).expect("exists").peek(&mut peeked), 9);
}

#[test]
fn a_mark_on_bytes_that_wait_to_be_read_counts_and_one_on_bytes_that_were_read_does_not() {
    let mut script = Script::established(quick());
    deliver(&mut script, 1, 20, None);
    read(&mut script, 10);
    deliver(&mut script, 16, 10, Some(2));
    assert_eq!((notices(&mut script), ahead(&script)), (1, Some(6)));
    read(&mut script, 100);
    read(&mut script, 100);
    deliver(&mut script, 20, 10, Some(1));
    assert_eq!((notices(&mut script), ahead(&script)), (0, None));
}

#[test]
fn a_closed_window_takes_the_pointer_though_not_the_bytes() {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 1000 };
    let mut script = Script::established(cfg);
    deliver(&mut script, 1, 1000, None);
    deliver(&mut script, 1001, 1, Some(1));
    assert_eq!((notices(&mut script), ahead(&script), script.info().readable), (1, Some(1000), 1000));
}

#[test]
fn a_pointer_to_nothing_means_the_first_byte_and_is_harmless() {
    let mut script = Script::established(out_of_band());
    deliver(&mut script, 1, 10, Some(0));
    assert_eq!(fetch(&mut script), Ok(pattern_byte(0)));
    assert_eq!(read(&mut script, 100), stream(1, 10));
}

#[test]
fn after_the_peers_fin_no_mark_is_taken() {
    let mut script = Script::established(quick());
    let fin = script.segment(Flags::FIN, 1, Some(1));
    script.deliver(fin, 0);
    deliver(&mut script, 2, 0, Some(9));
    assert_eq!((notices(&mut script), ahead(&script)), (0, None));
}
