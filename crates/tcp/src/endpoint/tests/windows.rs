//! Flow control: Nagle, silly windows, zero windows, scaling.

use crate::config::{
    DrsConfig, NagleConfig, ReceiveWindowConfig, SteppedConfig, TimestampConfig, WindowLevel, WindowProbe,
    WindowRounding, WindowScaleConfig, WindowShrinking,
};
use crate::testing::{MSS, Script, peer_options, quick};
use base::Duration;
use test_case::test_case;
use wire::{Flags, Options};

//= specs/rfc9293.md#sending
//= type=test
//# Small segments wait while something is unacknowledged.
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

//= specs/rfc9293.md#sending
//= type=test
//# An application may turn the Nagle algorithm off for its connection.
#[test]
fn a_setting_changed_on_an_open_connection_takes_effect_at_once() {
    let mut cfg = quick();
    cfg.send.nagle = NagleConfig::Rfc896;
    let mut script = Script::established(cfg.clone());
    script.write(10);
    script.write(20);
    assert_eq!(script.data(), [(1, 10)]);
    cfg.send.nagle = NagleConfig::Off;
    script.reconfigure(cfg);
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

//= specs/rfc9293.md#sending
//= type=test
//# A small part of a window is not used.
#[test]
fn a_small_window_is_not_used_for_small_segments() {
    let mut script = Script::established(quick());
    script.peer_window = 2 * MSS as u16 + 100;
    script.ack(1);
    script.write(10_000);
    assert_eq!(script.data(), [(1, MSS), (1 + MSS, MSS)], "the 100 bytes that are left stay unused");
}

//= specs/rfc9293.md#windows
//= type=test
//# The first probe leaves after one timeout, and the interval grows exponentially.
//= specs/rfc9293.md#windows
//= type=test
//# A closed window is probed.
#[test]
fn a_closed_window_is_probed_with_one_byte_ever_more_slowly_and_without_end() {
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
            // The peer answers; its window is still closed.
            script.ack(1);
        }
    }
    assert!(probes >= 8 && gaps.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{gaps:?}");
    assert!(gaps.iter().all(|&gap| gap <= 61), "{gaps:?}");
    assert_eq!(script.state(), "ESTABLISHED");
}

#[test]
fn when_the_window_opens_the_probed_byte_goes_out_again_at_once_and_without_blame() {
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
    assert_eq!(
        (script.info().cwnd, script.info().episode.name(), script.info().counters.timeouts),
        (before, "open", 0)
    );
}

/// Milliseconds after an ACK that leaves the window closed, 600 ms after the window closed; the timeout is a second.
#[test_case(WindowProbe::Byte => Some(400); "a byte for the window, at its time")]
#[test_case(WindowProbe::Empty => Some(1_000); "an empty segment for an answer, a timeout after the last one")]
fn a_probe_asks(probe: WindowProbe) -> Option<u64> {
    let mut cfg = quick();
    cfg.send.window_probe = probe;
    let mut script = Script::established(cfg);
    script.peer_window = 0;
    script.ack(1);
    script.write(10_000);
    script.pass(Duration::from_millis(600));
    script.ack(1);
    assert!(script.sent().is_empty());
    (1..=2_000).find(|_| {
        script.pass(Duration::from_millis(1));
        !script.sent().is_empty()
    })
}

#[test]
fn an_accepted_probe_goes_on_from_the_next_byte() {
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

//= specs/rfc9293.md#windows
//= type=test
//# A reader of single bytes does not open the window by single bytes.
#[test]
fn a_reader_that_takes_single_bytes_does_not_announce_single_bytes() {
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

//= specs/rfc9293.md#acceptance
//= type=test
//# The send window is updated by no older segment than the last that did.
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
    // The persist timer of the small window must not treat the flight as a probe.
    script.pass(Duration::from_millis(500));
    assert!(script.data().is_empty());
}

const fn level(level: WindowLevel) -> ReceiveWindowConfig {
    let share = base::Ratio::new(1, 2).expect("a half");
    ReceiveWindowConfig::Stepped(SteppedConfig { initial: 64_240, level, share, factor_percent: 200 })
}
const MEGABYTE: ReceiveWindowConfig = ReceiveWindowConfig::Fixed { bytes: 1 << 20 };

#[test_case(ReceiveWindowConfig::Fixed { bytes: 17_520 }, Some(0), 17_520; "fixed")]
#[test_case(MEGABYTE, Some(5), 65_535; "fixed and large")]
#[test_case(ReceiveWindowConfig::default(), Some(9), 65_535; "auto-tuned")]
#[test_case(ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED), Some(7), 14_600; "right-sized")]
#[test_case(level(WindowLevel::Disabled), None, 64_240; "disabled")]
#[test_case(level(WindowLevel::HighlyRestricted), Some(2), 64_240; "highly restricted")]
#[test_case(level(WindowLevel::Restricted), Some(4), 64_240; "restricted")]
#[test_case(level(WindowLevel::Normal), Some(8), 64_240; "normal")]
#[test_case(level(WindowLevel::Experimental), Some(14), 64_240; "experimental")]
fn a_syn_offers_the_shift_and_its_window_is_not_scaled(window: ReceiveWindowConfig, shift: Option<u8>, field: u16) {
    let mut cfg = quick();
    cfg.options.window_scale = WindowScaleConfig::FromBuffer;
    cfg.receive.window = window;
    let syn = Script::connecting(cfg.clone()).sent()[0];
    assert_eq!((syn.options.window_scale, syn.window), (shift, field));
    // The scripted peer's SYN lacks the option, so the answer lacks it too.
    let syn_ack = Script::accepted_after(cfg, 1).out[0];
    assert_eq!((syn_ack.options.window_scale, syn_ack.window), (None, field));
}

/// Unless both SYNs carry the option, neither direction is scaled, so this level limits the peer's window too.
#[test]
fn a_disabled_level_ignores_the_shift_of_the_peer() {
    let mut cfg = quick();
    cfg.options.window_scale = WindowScaleConfig::FromBuffer;
    cfg.receive.window = level(WindowLevel::Disabled);
    let mut script = Script::established_with(cfg, Options { window_scale: Some(8), ..peer_options() });
    script.peer_window = 1_000;
    script.ack(1);
    assert_eq!((script.info().snd_wnd, script.info().negotiated.2), (1_000, false));
}

/// Delivers full segments that are read at once, `each` every 10 ms; returns the right edges advertised to the peer.
fn edges(window: ReceiveWindowConfig, each: u32, rounds: u32) -> (Script, Vec<u32>) {
    let mut cfg = quick();
    cfg.options.window_scale = WindowScaleConfig::FromBuffer;
    cfg.receive.window = window;
    let mut script = Script::connecting(cfg);
    script.pass(Duration::from_millis(10));
    script.finish_handshake(Options { window_scale: Some(0), ..peer_options() });
    let shift = window.shift().unwrap_or(0);
    let mut edges = Vec::new();
    for nth in 0..rounds * each {
        let repr = script.segment(Flags::NONE, 1 + nth * MSS, Some(1));
        script.deliver(repr, MSS);
        script.read(u64::from(MSS)).expect("readable");
        edges.extend(script.sent().iter().map(|out| out.ack.expect("an ACK") + (u32::from(out.window) << shift)));
        if nth % each == each - 1 {
            script.pass(Duration::from_millis(10));
        }
    }
    (script, edges)
}

//= specs/rfc9293.md#windows
//= type=test
//# The right edge of the window that is offered does not move left.
#[test_case(level(WindowLevel::Disabled); "disabled")]
#[test_case(level(WindowLevel::Normal); "normal")]
#[test_case(level(WindowLevel::Experimental); "units of 16 KiB")]
#[test_case(ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED); "right-sized")]
#[test_case(ReceiveWindowConfig::default(); "auto-tuned")]
#[test_case(MEGABYTE; "fixed")]
fn the_right_edge_never_moves_left_by_more_than_rounding(window: ReceiveWindowConfig) {
    let (_, edges) = edges(window, 40, 8);
    let unit = 1 << window.shift().unwrap_or(0);
    assert!(edges.len() > 100 && edges.windows(2).all(|pair| pair[1] + unit > pair[0]), "{edges:?}");
}

#[test]
fn a_stepped_window_follows_what_round_trips_deliver() {
    let (script, _) = edges(level(WindowLevel::Normal), 40, 8);
    // 40 segments every 10 ms, the duration of the handshake, and one that ends the period: twice that, and no more.
    assert!((114_000..=120_000).contains(&script.info().rcv_wnd), "{}", script.info().rcv_wnd);
    let (script, _) = edges(level(WindowLevel::Normal), 20, 8);
    assert!(script.info().rcv_wnd <= 64_240, "less than half of the window in a round trip");
    let (script, _) = edges(level(WindowLevel::Disabled), 40, 8);
    assert!(script.info().rcv_wnd <= 65_535, "{}", script.info().rcv_wnd);
}

#[test]
fn a_right_sized_window_opens_with_the_segments_that_arrive() {
    let (_, edges) = edges(ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED), 10, 1);
    let windows: Vec<u32> = (1..).zip(&edges).map(|(nth, edge)| (edge - 1 - nth * MSS) / MSS).collect();
    // Two more segments for each one, except for the unread one; rounded down to a unit of the field.
    assert_eq!(windows, [10, 12, 14, 16, 18, 20, 22, 24, 26, 28]);
}

#[test_case(1460 => 17_520; "twelve segments of Ethernet")]
#[test_case(1000 => 17_000; "seventeen smaller ones")]
fn a_window_is_rounded_up_once_the_size_of_segments_is_known(mss: u16) -> u32 {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 16_384 };
    cfg.receive.rounding = WindowRounding::Segments;
    cfg.receive.spare_segments = 1;
    let mut script = Script::connecting(cfg.clone());
    assert_eq!(script.sent()[0].window, 16_384);
    script.finish_handshake(Options { mss: Some(mss), ..peer_options() });
    let repr = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(repr, u32::from(mss));
    assert_eq!(Script::accepted_after(cfg, 1).out[0].window, 16_384, "of a SYN-ACK");
    script.info().rcv_wnd
}

#[test_case(65_536 => (64_240, 65_160); "as many as fit, a timestamp each in the answer")]
#[test_case(20_000 => (18_980, 18_824); "a smaller window")]
#[test_case(1_000 => (1_000, 1_000); "less than a segment stays as it is")]
fn a_window_is_rounded_down_from_the_syn_on(bytes: u32) -> (u16, u16) {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes };
    cfg.receive.rounding = WindowRounding::SegmentsFromSyn;
    cfg.options.timestamps = TimestampConfig::Offer;
    let mut script = Script::connecting(cfg.clone());
    let shown = script.sent()[0].window;
    script.finish_handshake(peer_options());
    assert_eq!(script.info().rcv_wnd, u32::from(shown), "what the SYN has shown holds");
    let mut server = Script::accepted_after(cfg, 0);
    server.sent();
    let mut syn = server.segment(Flags::SYN, 0, None);
    syn.options = Options { timestamps: Some(wire::Timestamps { tsval: 1, tsecr: 0 }), ..peer_options() };
    server.deliver(syn, 0);
    (shown, server.sent()[0].window)
}

#[test]
fn spare_segments_are_held_beside_the_window_and_no_more() {
    let mut cfg = quick();
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 4 * MSS };
    cfg.receive.spare_segments = 2;
    let mut script = Script::established(cfg);
    for nth in 0..7 {
        let repr = script.segment(Flags::NONE, 1 + nth * MSS, Some(1));
        script.deliver(repr, MSS);
    }
    let windows: Vec<u32> = script.sent().iter().map(|out| u32::from(out.window) / MSS).collect();
    assert_eq!(windows, [4, 4, 3, 2, 1, 0, 0]);
    assert_eq!(script.read(1 << 20), Ok(crate::Read::Data(u64::from(6 * MSS))));
}

/// Three ACKs that narrow the window: one without news, one that closes it, one that acknowledges data.
#[test_case(WindowShrinking::Taken, [1000, 0, 500])]
#[test_case(WindowShrinking::WithProgress, [65_535, 0, 500])]
fn a_narrower_window_counts(shrinking: WindowShrinking, windows: [u32; 3]) {
    let mut cfg = quick();
    cfg.send.shrinking = shrinking;
    let mut script = Script::established(cfg);
    script.ack(1);
    script.write(100);
    let seen = [(1000, 1), (0, 1), (500, 101)].map(|(window, ack)| {
        script.peer_window = window;
        script.ack(ack);
        script.info().snd_wnd
    });
    assert_eq!(seen, windows);
    script.peer_window = 60_000;
    script.ack(101);
    assert_eq!(script.info().snd_wnd, 60_000, "a wider one always does");
}

/// A peer that has closed its window in a segment far ahead of its stream: the gap before it will never be filled.
fn closed_from_ahead() -> Script {
    let mut script = Script::established(quick());
    script.write(2 * u64::from(MSS));
    assert_eq!(script.data(), [(1, MSS), (1 + MSS, MSS)]);
    script.peer_window = 0;
    let ahead = script.segment(Flags::PSH, script.peer_seq + 20_000, Some(1));
    script.deliver(ahead, 10);
    script.write(2 * u64::from(MSS));
    assert!(script.data().is_empty());
    script
}

#[test]
fn an_ack_of_something_new_brings_its_window_though_another_segment_was_ahead_of_it() {
    let mut script = closed_from_ahead();
    script.peer_window = 20_000;
    script.ack(1 + 2 * MSS);
    assert_eq!(script.data().iter().map(|sent| sent.1).sum::<u32>(), 2 * MSS);
}

#[test]
fn the_answer_to_a_probe_brings_its_window_though_another_segment_was_ahead_of_it() {
    let mut cfg = quick();
    cfg.send.window_probe = crate::config::WindowProbe::Empty;
    let mut script = Script::established(cfg);
    script.peer_window = 0;
    let ahead = script.segment(Flags::PSH, script.peer_seq + 20_000, Some(1));
    script.deliver(ahead, 10);
    script.write(u64::from(MSS));
    assert!(script.data().is_empty());
    script.peer_window = 20_000;
    script.ack(1);
    assert!(script.data().is_empty(), "it may be older than the one that closed the window");
    script.pass(Duration::from_secs(2));
    script.ack(1);
    assert_eq!(script.data().iter().map(|sent| sent.1).sum::<u32>(), MSS);
}

#[test_case(0, 1; "a closed window is probed ever more slowly although it takes the probes")]
#[test_case(40, 0; "a narrow one begins anew")]
fn after_an_accepted_probe(window: u16, probes: u32) {
    let mut script = Script::established(quick());
    script.peer_window = window;
    script.ack(1);
    script.write(u64::from(2 * MSS));
    while script.info().counters.bytes_sent == 0 {
        script.pass(Duration::from_millis(10));
    }
    let sent = script.data()[0].1;
    assert_eq!(sent, u32::from(window).max(1));
    script.ack(1 + sent);
    assert_eq!(script.stack.details(script.conn, script.now).expect("exists").window_probes, probes);
}

#[test]
fn the_window_of_a_syn_does_not_make_those_that_follow_it_small() {
    let mut script = Script::listening(quick());
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = peer_options();
    script.deliver(syn, 0);
    script.peer_window = 1_000;
    script.ack(1);
    script.out.clear();
    script.write(3_000);
    assert_eq!(script.data(), [(1, 1_000)]);
}
