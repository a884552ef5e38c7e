//! Flow control: Nagle, silly windows, zero windows, scaling.

use crate::config::{NagleConfig, ReceiveWindowConfig, WindowScaleConfig};
use crate::testing::{MSS, Script, peer_options, quick};
use base::Duration;
use wire::{Flags, Options};

#[test]
fn nagle_holds_a_small_segment_until_everything_is_acknowledged() {
    let mut cfg = quick();
    cfg.send.nagle = NagleConfig::Rfc896;
    let mut script = Script::established(cfg);
    script.write(10);
    script.write(10);
    script.write(10);
    assert_eq!(script.data(), [(1, 10)]);
    script.ack(11);
    assert_eq!(script.data(), [(11, 20)]);
}

#[test]
fn minshall_holds_it_only_behind_another_small_one() {
    let mut cfg = quick();
    cfg.send.nagle = NagleConfig::Minshall;
    let mut script = Script::established(cfg);
    script.write(u64::from(MSS) + 10);
    assert_eq!(script.data(), [(1, MSS), (1 + MSS, 10)]);
    script.write(10);
    assert!(script.data().is_empty());
}

#[test]
fn a_small_window_is_not_used_for_small_segments() {
    let mut script = Script::established(quick());
    script.peer_window = 2 * MSS as u16 + 100;
    script.ack(1);
    script.write(10_000);
    assert_eq!(script.data(), [(1, MSS), (1 + MSS, MSS)], "the 100 octets that are left stay unused");
}

#[test]
fn a_closed_window_is_probed_with_one_octet_ever_more_slowly_and_for_ever() {
    let mut script = Script::established(quick());
    script.peer_window = 0;
    script.ack(1);
    script.write(10_000);
    assert!(script.data().is_empty());
    let mut gaps = Vec::new();
    let (mut last, mut probes) = (script.now, 0);
    for _ in 0..600 {
        script.pass(Duration::from_secs(1));
        let data = script.data();
        if !data.is_empty() {
            assert!(data.iter().all(|&d| d == (1, 1)), "{data:?}");
            gaps.push(script.now.since(last).as_millis() / 1000);
            last = script.now;
            probes += 1;
            // The peer answers, still closed.
            script.ack(1);
        }
    }
    assert!(probes >= 8 && gaps.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{gaps:?}");
    assert!(gaps.iter().all(|&gap| gap <= 61), "{gaps:?}");
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn when_the_window_opens_the_probed_octet_goes_out_again_at_once_and_without_blame() {
    let mut script = Script::established(quick());
    script.peer_window = 0;
    script.ack(1);
    script.write(4000);
    script.pass(Duration::from_secs(2));
    script.out.clear();
    let before = script.info().cwnd;
    script.peer_window = 60_000;
    script.ack(1);
    assert_eq!(script.data(), [(1, 1), (2, MSS), (2 + MSS, MSS), (2 + 2 * MSS, 4000 - 1 - 2 * MSS)]);
    script.pass(Duration::from_millis(100));
    assert_eq!((script.info().cwnd, script.info().episode, script.info().counters.timeouts), (before, "open", 0));
}

#[test]
fn an_accepted_probe_goes_on_from_the_next_octet() {
    let mut script = Script::established(quick());
    script.peer_window = 0;
    script.ack(1);
    script.write(100);
    script.pass(Duration::from_secs(2));
    script.out.clear();
    script.ack(2);
    script.peer_window = 1000;
    script.ack(2);
    assert_eq!(script.data(), [(2, 99)]);
}

#[test]
fn a_reader_that_takes_single_octets_does_not_announce_single_octets() {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 4 * MSS };
    let mut script = Script::established(cfg);
    for i in 0..4 {
        let repr = script.segment(Flags::NONE, 1 + i * MSS, Some(1));
        script.deliver(repr, MSS);
    }
    assert_eq!(script.sent().last().map(|out| out.window), Some(0));
    for _ in 0..MSS - 1 {
        script.read(1).expect("readable");
    }
    assert!(script.sent().is_empty());
    script.read(u64::from(2 * MSS)).expect("readable");
    let update = script.sent();
    assert!(update.len() == 1 && u32::from(update[0].window) >= 2 * MSS, "{update:?}");
}

//= specs/rfc7323.md#window-scale
//= type=test
//# The window of a SYN or SYN-ACK is not scaled.
//= specs/rfc7323.md#window-scale
//= type=test
//# In all other segments the window field is shifted, to the right when sent and to the left when received.
#[test]
fn windows_are_scaled_in_both_directions_after_the_handshake() {
    let mut cfg = quick();
    cfg.options.window_scale = WindowScaleConfig::Shift(3);
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 400_000 };
    let options = Options { window_scale: Some(2), ..peer_options() };
    let mut script = Script::established_with(cfg, options);
    assert_eq!(script.info().snd_wnd, 65_535, "the window of a SYN is not scaled");
    script.peer_window = 1000;
    script.ack(1);
    assert_eq!(script.info().snd_wnd, 4000);
    let repr = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(repr, MSS);
    script.pass(Duration::from_millis(300));
    let window = script.sent().last().map(|out| u32::from(out.window) << 3).expect("an ACK");
    assert!(window > 65_535 && window <= 400_000, "{window}");
}

#[test]
fn old_segments_do_not_move_the_send_window() {
    let mut script = Script::established(quick());
    let fresh = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(fresh, 100);
    let mut stale = script.segment(Flags::NONE, 1, Some(1));
    stale.window = 5;
    script.deliver(stale, 50);
    assert_eq!(script.info().snd_wnd, 65_535);
}

#[test]
fn data_beyond_the_promised_window_is_cut_off() {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 1000 };
    let mut script = Script::established(cfg);
    let repr = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(repr, MSS);
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(1001));
    assert_eq!(script.read(10_000), Ok(crate::Read::Data(1000)));
}

#[test]
fn a_window_that_closes_and_opens_again_over_a_flight_repeats_nothing() {
    let mut script = Script::established(quick());
    script.write(100_000);
    script.out.clear();
    script.peer_window = 0;
    script.ack(1);
    script.peer_window = 60_000;
    script.ack(1);
    assert!(script.data().is_empty(), "the flight is on its way, nothing of it is due again");
}

#[test]
fn a_window_that_grows_while_a_small_segment_was_held_repeats_nothing() {
    let mut script = Script::established(quick());
    script.peer_window = 80;
    script.ack(1);
    script.peer_window = 80;
    script.write(u64::from(3 * MSS));
    script.out.clear();
    script.peer_window = 60_000;
    script.ack(1);
    assert_eq!(script.data().len(), 3);
    // The persist timer of the small window must not take the flight for a probe.
    script.pass(Duration::from_millis(500));
    assert!(script.data().is_empty());
}
