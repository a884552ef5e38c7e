//! Output of a segmenter that keeps chunks, and how much its buffer accepts.

use crate::config::*;
use crate::cx::StackCx;
use crate::endpoint::Boundary;
use crate::event::ConnEvent;
use crate::stack::DeviceCaps;
use crate::testing::{Script, plain_device, tso_device};
use base::Duration;
use cc::{ClassicConfig, CwndValidation, GrowthCount, IdleRestart, InitialWindow, SlowStartConfig};
use proptest::prelude::*;
use test_case::test_case;
use trace::Off;
use wire::Options;

/// Chunks with every related setting, and a sender without other limits.
fn chunked() -> Config {
    let mut cfg = Config::default();
    cfg.cc.initial_window = InitialWindow::plain(10);
    cfg.cc.slow_start = SlowStartConfig::Classic(ClassicConfig { limit_segments: None });
    cfg.cc.validation = CwndValidation::PacketsOut;
    cfg.send.segmenter = SegmenterConfig::Chunks(ChunksConfig::default());
    cfg.send.push = PushConfig::Writes;
    cfg.send.nagle = NagleConfig::Minshall;
    cfg.send.accounting = SendAccounting::Chunks { head: 576, record: 256 };
    cfg.send.buffer = 262_144;
    cfg.rto.min = ms(200);
    cfg
}

fn with_buffer(buffer: u32) -> Config {
    let mut cfg = chunked();
    cfg.send.buffer = buffer;
    cfg
}

fn chunks_of(cfg: &mut Config) -> &mut ChunksConfig {
    match &mut cfg.send.segmenter {
        SegmenterConfig::Chunks(chunks) => chunks,
        SegmenterConfig::Stream => panic!("chunks are kept"),
    }
}

/// A peer with segments of 1000 bytes and a window of `units` times 128, at a round trip of `rtt`.
fn established(cfg: Config, units: u16, rtt: Duration) -> Script {
    established_on(tso_device(), cfg, units, rtt)
}

fn established_on(device: DeviceCaps, cfg: Config, units: u16, rtt: Duration) -> Script {
    let mut script = Script::connecting_on(cfg, device);
    script.pass(rtt);
    script.peer_window = 32_792;
    script.finish_handshake(Options {
        mss: Some(1_000),
        sack_permitted: true,
        window_scale: Some(7),
        ..Options::default()
    });
    script.peer_window = units;
    script.ack(1);
    script.sent();
    script
}

fn near(cfg: Config) -> Script {
    established(cfg, 257, Duration::from_micros(1))
}

/// Twenty milliseconds pass, then an ACK.
fn later(script: &mut Script, ack: u32) {
    script.pass(ms(20));
    script.ack(ack);
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_buffer_takes_whole_chunks_and_each_half_of_a_window_leaves_in_bursts_of_its_own() {
    let mut script = near(with_buffer(50_000));
    assert_eq!(script.write_with(59_000, Boundary::None), 58_000);
    assert_eq!(script.frames(), ["P. 1:5001", "P. 5001:10001"], "half a congestion window in a burst");
    assert_eq!(script.write_with(1, Boundary::None), 0);
    later(&mut script, 10_001);
    assert_eq!(script.frames()[..2], ["P. 10001:20001", "P. 20001:26001"], "a chunk of 16000 bytes ends there");
}

#[test]
fn a_refilled_chunk_leaves_in_bursts_of_full_size() {
    let mut cfg = with_buffer(50_000);
    chunks_of(&mut cfg).refill = ChunkRefill::ToBurst;
    let mut script = near(cfg);
    script.write_with(59_000, Boundary::None);
    script.sent();
    later(&mut script, 10_001);
    assert_eq!(script.frames(), ["P. 10001:20001", "P. 20001:30001"]);
    later(&mut script, 26_001);
    assert_eq!(script.frames(), ["P. 30001:48001"], "half of 36 segments");
}

#[test_case(ChunkRefill::Never, &[". 1001:1501"]; "the second small one waits for the first")]
#[test_case(ChunkRefill::ToSegment, &["P. 1001:2001"]; "they are one")]
#[test_case(ChunkRefill::ToBurst, &["P. 1001:2001"]; "so they are")]
fn chunks_of_half_a_small_window_become_a_segment_when_it_opens(refill: ChunkRefill, expected: &[&str]) {
    let mut cfg = chunked();
    chunks_of(&mut cfg).refill = refill;
    let mut script = Script::connecting_on(cfg, tso_device());
    script.peer_window = 1_000;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    script.write(2_000);
    assert_eq!(script.frames(), [". 1:501", "P. 501:1001"]);
    script.peer_window = 0;
    later(&mut script, 1_001);
    script.peer_window = 5_000;
    later(&mut script, 1_001);
    assert_eq!(script.frames(), expected);
}

#[test]
fn a_far_peer_gets_small_bursts() {
    let mut script = established(chunked(), 257, ms(100));
    script.write(9_500);
    assert_eq!(script.frames(), ["P. 1:2001", "P. 2001:4001", "P. 4001:6001", "P. 6001:8001", "P. 8001:9501"]);
}

/// A peer at such a distance that bursts have two segments.
fn far() -> Script {
    established(chunked(), 257, ms(100))
}

#[test]
fn an_order_for_more_holds_a_small_segment_for_one_timeout() {
    let mut script = far();
    script.write_with(40, Boundary::More);
    script.pass(ms(299));
    assert!(script.frames().is_empty());
    script.pass(ms(2));
    assert_eq!(script.frames(), ["P. 1:41"]);
}

//= specs/rfc9293.md#sending
//= type=test
//# What an application has written leaves without waiting for more, and PSH is on its last segment.
#[test]
fn full_segments_leave_before_more_comes_and_without_push() {
    let mut script = far();
    script.write_with(3_100, Boundary::More);
    assert_eq!(script.frames(), ["P. 1:2001", ". 2001:3001"]);
    script.write_with(50, Boundary::More);
    assert!(script.frames().is_empty());
    later(&mut script, 2_001);
    assert_eq!(script.frames(), [". 3001:3151"], "an ACK releases it by the usual rule");
}

#[test]
fn what_follows_an_order_for_more_pushes_both() {
    let mut script = far();
    script.write_with(100, Boundary::More);
    script.write_with(200, Boundary::None);
    assert_eq!(script.frames(), ["P. 1:301"]);
}

fn reconfigured(script: &mut Script, change: impl FnOnce(&mut SendConfig)) {
    let mut cfg = chunked();
    change(&mut cfg.send);
    script.reconfigure(cfg);
}

#[test]
fn a_cork_holds_what_an_ack_would_release_and_pulling_it_does() {
    let mut script = far();
    reconfigured(&mut script, |send| send.cork = CorkConfig::On);
    script.write(40);
    script.write(1_040);
    assert_eq!(script.frames(), [". 1:1001"]);
    later(&mut script, 1_001);
    assert!(script.frames().is_empty());
    reconfigured(&mut script, |send| send.cork = CorkConfig::Off);
    assert_eq!(script.frames(), ["P. 1001:1081"]);
}

#[test]
fn an_application_that_wants_no_delay_pushes_what_is_corked() {
    let mut script = far();
    reconfigured(&mut script, |send| send.cork = CorkConfig::On);
    script.write(40);
    reconfigured(&mut script, |send| (send.cork, send.nagle) = (CorkConfig::On, NagleConfig::Off));
    assert_eq!(script.frames(), ["P. 1:41"]);
    later(&mut script, 41);
    script.write(40);
    assert!(script.frames().is_empty(), "the cork holds again");
}

#[test]
fn a_cork_that_stays_in_place_holds_though_nagles_rule_is_off() {
    let mut script = far();
    let no_delay = |send: &mut SendConfig| (send.cork, send.nagle) = (CorkConfig::On, NagleConfig::Off);
    reconfigured(&mut script, no_delay);
    script.write(40);
    reconfigured(&mut script, no_delay);
    assert!(script.frames().is_empty());
}

#[test]
fn a_pulled_cork_leaves_nagles_rule_in_force() {
    let mut script = far();
    script.write(100);
    assert_eq!(script.frames(), ["P. 1:101"]);
    reconfigured(&mut script, |send| send.cork = CorkConfig::On);
    script.write(50);
    reconfigured(&mut script, |send| send.cork = CorkConfig::Off);
    assert!(script.frames().is_empty());
}

#[test]
fn a_small_segment_holds_the_next_small_one_but_no_full_one() {
    let mut script = far();
    script.write(100);
    script.write(100);
    assert_eq!(script.frames(), ["P. 1:101"]);
    script.write(1_500);
    assert_eq!(script.frames(), [". 101:1101"]);
    later(&mut script, 101);
    assert_eq!(script.frames(), ["P. 1101:1701"]);
    later(&mut script, 1_701);
    script.write(2_100);
    assert_eq!(script.frames(), ["P. 1701:3701", "P. 3701:3801"]);
    script.write(10);
    assert!(script.frames().is_empty());
    later(&mut script, 3_801);
    assert_eq!(script.frames(), ["P. 3801:3811"]);
}

#[test]
fn a_record_ends_a_segment() {
    let mut script = established(chunked(), 4_112, ms(100));
    script.write(10_400);
    script.write_with(400, Boundary::Record);
    for _ in 0..3 {
        script.write_with(400, Boundary::Record);
    }
    script.write(10_000);
    assert_eq!(script.frames().last().map(String::as_str), Some("P. 8001:10001"));
    later(&mut script, 10_001);
    assert_eq!(
        script.frames(),
        [
            "P. 10001:10801",
            "P. 10801:11201",
            "P. 11201:11601",
            "P. 11601:12001",
            "P. 12001:14001",
            "P. 14001:16001",
            "P. 16001:18001",
            "P. 18001:20001",
            "P. 20001:22001"
        ]
    );
}

#[test]
fn small_segments_are_counted_against_the_congestion_window_and_what_waits_is_joined() {
    let mut script = far();
    reconfigured(&mut script, |send| send.nagle = NagleConfig::Off);
    for _ in 0..14 {
        script.write(100);
    }
    assert_eq!(script.frames().len(), 10);
    later(&mut script, 501);
    assert_eq!(script.frames(), ["P. 1001:1401"]);
}

#[test]
fn a_full_segment_of_an_order_for_more_is_not_pushed_until_bursts_have_several() {
    let mut script = far();
    for _ in 0..20 {
        script.write_with(1_000, Boundary::More);
    }
    let frames = script.frames();
    assert!(frames.len() == 10 && frames.iter().all(|frame| frame.starts_with(". ")), "{frames:?}");
    later(&mut script, 10_001);
    let frames = script.frames();
    assert!(frames.len() == 5 && frames.iter().all(|frame| frame.starts_with("P. ")), "{frames:?}");
}

#[test]
fn half_a_window_without_push_is_pushed() {
    let mut script = established(chunked(), 78, ms(10));
    for _ in 0..9 {
        script.write_with(1_000, Boundary::More);
    }
    // The window of the SYN-ACK was 32792, half of which is 16396: the second write to exceed that is pushed.
    assert!(script.frames().iter().all(|frame| frame.starts_with(". ")));
    later(&mut script, 8_001);
    for _ in 0..9 {
        script.write_with(1_000, Boundary::More);
    }
    let frames = script.frames();
    assert_eq!(frames.iter().filter(|frame| frame.starts_with("P. ")).collect::<Vec<_>>(), ["P. 16001:17001"]);
}

#[test]
fn what_is_sent_again_is_pushed_only_where_the_burst_ended() {
    let mut script = far();
    script.write(2_000);
    assert_eq!(script.frames(), ["P. 1:2001"]);
    script.pass(ms(350));
    assert_eq!(script.frames()[0], ". 1:1001");
    later(&mut script, 1_001);
    assert_eq!(script.frames()[0], "P. 1001:2001");
}

#[test]
fn a_peer_with_a_small_window_gets_segments_of_half_of_it() {
    let mut script = Script::connecting_on(chunked(), tso_device());
    script.peer_window = 1_500;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    script.write(5_000);
    assert_eq!(script.frames(), [". 1:751", "P. 751:1501"]);
    later(&mut script, 751);
    assert_eq!(script.frames(), [". 1501:2251"]);
}

#[test]
fn no_more_is_taken_while_too_much_waits_to_be_sent() {
    let mut cfg = with_buffer(50_000);
    cfg.send.notsent_lowat = Some(32_000);
    chunks_of(&mut cfg).refill = ChunkRefill::ToBurst;
    cfg.send.growth = SendGrowth::WithWindow { max: 4 << 20 };
    let mut script = near(cfg);
    assert_eq!(script.write_with(59_000, Boundary::None), 42_000);
    script.sent();
    later(&mut script, 10_001);
    assert_eq!(script.frames(), ["P. 10001:20001", "P. 20001:30001"]);
    later(&mut script, 26_001);
    assert_eq!(script.frames(), ["P. 30001:42001"]);
    assert_eq!(script.write_with(180_000, Boundary::None), 48_000);
    assert_eq!(script.frames(), ["P. 42001:58001"]);
}

#[test]
fn a_writer_is_woken_when_a_third_of_the_buffer_is_free() {
    let mut cfg = with_buffer(42_000);
    chunks_of(&mut cfg).refill = ChunkRefill::ToBurst;
    chunks_of(&mut cfg).min_segments = 10;
    let mut script = Script::connecting_on(cfg, tso_device());
    script.pass(ms(100));
    script.peer_window = 50_000;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    assert_eq!(script.write_with(61_000, Boundary::None), 60_000);
    assert_eq!(script.frames(), ["P. 1:5001", "P. 5001:10001"]);
    for (ack, frames) in [(10_001, 2), (30_001, 3), (33_001, 0)] {
        later(&mut script, ack);
        assert_eq!(script.frames().len(), frames);
        assert!(!script.saw(ConnEvent::Writable), "at {ack}");
    }
    later(&mut script, 36_001);
    assert!(script.saw(ConnEvent::Writable));
}

#[test]
fn a_buffer_that_held_the_writer_back_grows_with_the_congestion_window() {
    let mut cfg = with_buffer(50_000);
    cfg.send.growth = SendGrowth::WithWindow { max: 4 << 20 };
    chunks_of(&mut cfg).refill = ChunkRefill::ToBurst;
    let mut script = near(cfg);
    let buffer = |script: &Script| script.stack.details(script.conn, script.now).expect("exists").send_buffer;
    script.write_with(59_000, Boundary::None);
    later(&mut script, 1_001);
    assert_eq!(buffer(&script), 50_000, "the congestion window was full at once");
    later(&mut script, 10_001);
    assert_eq!(buffer(&script), 92_160, "a second burst had to follow the first");
}

#[test_case(9_000, 18; "nine of ten")]
#[test_case(10_000, 20; "all of ten")]
#[test_case(5_000, 10; "half of ten")]
fn slow_start_goes_on_while_the_window_is_less_than_twice_what_was_outstanding(bytes: u64, segments: u32) {
    let mut script = established(chunked(), 257, ms(100));
    script.write(bytes);
    script.pass(ms(100));
    for ack in (2_001..bytes as u32).step_by(2_000).chain([bytes as u32 + 1]) {
        script.ack(ack);
    }
    assert_eq!(script.info().cwnd, segments * 1_000);
}

#[test_case(GrowthCount::Acknowledged, 13, tso_device(); "what is acknowledged")]
#[test_case(GrowthCount::Delivered, 11, tso_device(); "what no SACK had reported before")]
#[test_case(GrowthCount::Delivered, 11, plain_device(); "the same on a device that takes single segments")]
fn the_window_grows_by(growth: GrowthCount, segments: u32, device: DeviceCaps) {
    let mut cfg = chunked();
    cfg.cc.growth = growth;
    let mut script = established_on(device, cfg, 257, ms(100));
    script.write(20_000);
    script.pass(ms(100));
    script.sack(1, &[(1_001, 3_001)]);
    assert_eq!(script.info().cwnd, 10_000);
    script.ack(3_001);
    assert_eq!(script.info().cwnd, segments * 1_000);
}

/// Milliseconds until a window too narrow for a segment is used.
#[test_case(WindowProbe::Byte => Some(100); "a probe with bytes when the silly-window rules say so")]
#[test_case(WindowProbe::Empty => Some(200); "an empty probe after the retransmission timeout")]
fn a_window_too_narrow_for_a_segment_is_used_after(probe: WindowProbe) -> Option<u64> {
    let mut cfg = chunked();
    cfg.send.window_probe = probe;
    cfg.send.sws_override = ms(100);
    let mut script = near(cfg);
    script.peer_window = 3;
    script.ack(1);
    script.write(2_000);
    assert!(script.data().is_empty());
    (1..=30).map(|nth| 10 * nth).find(|_| {
        script.pass(ms(10));
        !script.data().is_empty()
    })
}

fn idle_restart() -> Config {
    let mut cfg = chunked();
    cfg.cc.idle_restart = IdleRestart::HalvePerRto;
    chunks_of(&mut cfg).min_segments = 10;
    chunks_of(&mut cfg).refill = ChunkRefill::ToBurst;
    cfg
}

/// RFC 2861: less than all of the window is in use for longer than a timeout.
#[test_case(tso_device(); "bursts")]
#[test_case(plain_device(); "single segments")]
fn a_window_that_is_not_filled_decays(device: DeviceCaps) {
    let mut script = established_on(device, idle_restart(), 511, ms(100));
    script.write(10_000);
    script.pass(ms(100));
    for ack in (2_001..=10_001).step_by(2_000) {
        script.ack(ack);
    }
    assert_eq!(script.info().cwnd, 20_000);
    for nth in 1..=4 {
        script.write(1_000);
        script.pass(ms(100));
        script.ack(10_001 + 1_000 * nth);
    }
    assert_eq!(script.info().cwnd, 15_000, "half of what was not used is gone");
}

#[test_case(false, 15_000; "an application that has no more to say")]
#[test_case(true, 20_000; "not one that a small buffer holds back")]
fn what_is_not_used_is_lost_to(waits: bool, cwnd: u32) {
    let mut script = established_on(plain_device(), idle_restart(), 511, ms(100));
    script.write(10_000);
    script.pass(ms(100));
    for ack in (2_001..=10_001).step_by(2_000) {
        script.ack(ack);
    }
    let mut cfg = idle_restart();
    (cfg.send.buffer, cfg.send.accounting) = (1_000, SendAccounting::Bytes);
    script.reconfigure(cfg);
    for nth in 1..=4 {
        assert_eq!(script.write_with(if waits { 2_000 } else { 1_000 }, Boundary::None), 1_000);
        script.pass(ms(100));
        script.ack(10_001 + 1_000 * nth);
    }
    assert_eq!(script.info().cwnd, cwnd);
}

#[test]
fn a_pause_halves_the_window_for_each_timeout_down_to_the_initial_one() {
    let mut script = established(idle_restart(), 511, ms(100));
    script.write(26_000);
    assert_eq!(script.frames(), ["P. 1:5001", "P. 5001:10001"]);
    script.pass(ms(100));
    later(&mut script, 10_001);
    assert_eq!(script.frames(), ["P. 10001:20001", "P. 20001:26001"]);
    script.pass(ms(100));
    later(&mut script, 26_001);
    assert_eq!(script.info().cwnd, 36_000);
    script.pass(ms(2_000));
    script.write(20_000);
    assert_eq!(script.frames()[0], "P. 26001:31001");
    assert_eq!(script.info().cwnd, 10_000);
}

#[test]
fn a_fin_leaves_with_the_last_burst() {
    let mut script = far();
    script.write_with(1_500, Boundary::More);
    assert_eq!(script.frames(), [". 1:1001"]);
    script.shutdown();
    assert_eq!(script.frames(), ["F. 1001:1501"]);
}

#[test]
fn segments_of_a_burst_that_are_sent_again_together_are_pushed_where_they_end() {
    let mut script = near(chunked());
    script.write(5_000);
    assert_eq!(script.frames(), ["P. 1:5001"]);
    script.pass(ms(250));
    assert_eq!(script.frames(), [". 1:1001"]);
    later(&mut script, 1_001);
    assert_eq!(script.frames(), [". 1001:2001", "P. 2001:3001"]);
    later(&mut script, 3_001);
    assert_eq!(script.frames(), [". 3001:4001", "P. 4001:5001"]);
}

/// Both bursts of a flight of ten are lost, and the peer acknowledges `ack`.
fn after_a_timeout(ack: u32) -> Vec<String> {
    let mut script = near(chunked());
    script.write(10_000);
    assert_eq!(script.frames(), ["P. 1:5001", "P. 5001:10001"]);
    script.pass(ms(250));
    assert_eq!(script.frames(), [". 1:1001"]);
    later(&mut script, ack);
    script.frames()
}

#[test]
fn segments_of_two_bursts_are_no_burst_when_they_are_sent_again() {
    assert_eq!(after_a_timeout(4_001), [". 4001:5001", ". 5001:6001"]);
    assert_eq!(after_a_timeout(3_001), [". 3001:4001", "P. 4001:5001"]);
}

#[test]
fn a_segment_of_a_burst_that_is_sent_again_by_itself_is_not_pushed() {
    let mut script = near(chunked());
    script.write(10_000);
    assert_eq!(script.frames(), ["P. 1:5001", "P. 5001:10001"]);
    let mut again = Vec::new();
    for end in (5_001..=10_001).step_by(1_000) {
        script.pass(ms(1));
        script.sack(1, &[(4_001, end)]);
        again.push(script.frames().join(" and "));
    }
    assert_eq!(again, ["", ". 1:1001 and P. 1001:2001 and . 2001:3001", ". 3001:4001", "", "", ""]);
}

#[test_case(536, 536; "the default segment size")]
#[test_case(537, 268; "a little more")]
fn only_a_window_above_the_default_segment_size_is_halved(window: u16, len: u32) {
    let mut script = Script::connecting_on(chunked(), tso_device());
    script.peer_window = window;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    script.write(5_000);
    assert_eq!(script.data()[0], (1, len));
}

#[test]
fn what_is_written_before_the_peer_has_opened_a_window_leaves_in_full_segments() {
    let mut script = Script::connecting_on(chunked(), tso_device());
    script.peer_window = 0;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    script.write(4_000);
    script.peer_window = 60_000;
    later(&mut script, 1);
    assert_eq!(script.frames().join(" "), "P. 1:4001");
}

#[test]
fn a_small_segment_that_was_acknowledged_holds_no_other() {
    let mut script = far();
    script.write(1_000);
    later(&mut script, 1_001);
    script.write(100);
    later(&mut script, 1_101);
    script.sent();
    script.write(1_000);
    script.write(100);
    assert_eq!(script.frames(), ["P. 1101:2101", "P. 2101:2201"]);
}

#[test]
fn urgent_data_is_not_corked() {
    let mut script = far();
    reconfigured(&mut script, |send| send.cork = CorkConfig::On);
    let now = script.now;
    script.stack.write_urgent(&mut StackCx::new(now, &mut Off), script.conn, &[0; 40]).expect("may write");
    script.pass(ms(1));
    assert_eq!(script.data(), [(1, 40)]);
    later(&mut script, 41);
    let now = script.now;
    script.stack.write(&mut StackCx::new(now, &mut Off), script.conn, &[0; 40]).expect("may write");
    script.pass(ms(1));
    assert!(script.data().is_empty(), "the cork holds again");
}

#[test]
fn what_is_sent_again_together_of_two_bursts_is_pushed_at_both_ends() {
    let mut script = near(chunked());
    script.write(10_000);
    script.sent();
    script.pass(ms(250));
    later(&mut script, 1_001);
    script.sent();
    later(&mut script, 3_001);
    assert_eq!(script.frames(), [". 3001:4001", "P. 4001:5001", ". 5001:6001"]);
    later(&mut script, 6_001);
    assert_eq!(script.frames(), [". 6001:7001", ". 7001:8001", ". 8001:9001", "P. 9001:10001"]);
}

#[test]
fn what_a_tail_probe_takes_of_a_chunk_is_gone_from_it() {
    let mut cfg = chunked();
    cfg.send.nagle = NagleConfig::Rfc896;
    cfg.recovery.probe = Some(Default::default());
    let mut script = established(cfg, 257, ms(20));
    script.write(2_000);
    script.write(40);
    assert_eq!(script.frames(), ["P. 1:2001"]);
    script.pass(ms(60));
    assert_eq!(script.data(), [(2_001, 40)], "the probe is something new");
    script.write(1_000);
    assert_eq!(script.data(), [(2_041, 1_000)]);
}

#[test]
fn new_data_of_a_recovery_leaves_as_the_reduction_lets_it() {
    let mut script = established(chunked(), 257, ms(100));
    script.write(30_000);
    script.pass(ms(100));
    assert_eq!(script.frames().len(), 5);
    let new = (4_001..=10_001).step_by(1_000).map(|end| {
        script.sack(1, &[(1_001, end)]);
        script.data().iter().filter(|(seq, _)| *seq > 10_000).map(|(_, len)| len / 1_000).sum::<u32>()
    });
    let new: Vec<u32> = new.collect();
    let total: u32 = new.iter().sum();
    assert!(new.iter().all(|segments| *segments <= 2) && (1..=6).contains(&total), "{new:?}");
    assert!(script.info().pipe <= script.info().ssthresh + 1_000);
}

#[test]
fn chunks_take_memory_while_something_is_unacknowledged() {
    let size = |segmenter| {
        let mut cfg = chunked();
        cfg.send.segmenter = segmenter;
        let mut script = far_with(cfg);
        script.write(40);
        let size = script.stack.endpoint(script.conn).map(crate::Endpoint::state_size).expect("exists");
        assert_eq!(script.data(), [(1, 40)]);
        size
    };
    let (stream, chunks) = (size(SegmenterConfig::Stream), size(SegmenterConfig::Chunks(ChunksConfig::default())));
    assert!(chunks >= stream + 64, "{chunks} beside {stream} bytes");
}

fn far_with(cfg: Config) -> Script {
    established(cfg, 257, ms(100))
}

#[test]
fn a_write_that_is_cut_short_makes_no_room() {
    let mut cfg = with_buffer(50_000);
    cfg.send.growth = SendGrowth::WithWindow { max: 4 << 20 };
    let mut script = near(cfg);
    script.write(8_000);
    assert_eq!(script.write_with(59_000, Boundary::None), 50_000);
    let details = script.stack.details(script.conn, script.now).expect("exists");
    assert_eq!(details.send_buffer, 50_000);
    later(&mut script, 8_001);
    let details = script.stack.details(script.conn, script.now).expect("exists");
    assert_eq!(details.send_buffer, 82_944, "eighteen segments");
}

const COUNTED: SendAccounting = SendAccounting::Chunks { head: 900, record: 100 };

/// Chunks of 16,000 bytes that count as `accounting` says, for a peer with segments of 1000 bytes.
fn shut(buffer: u32, accounting: SendAccounting) -> Script {
    let mut cfg = with_buffer(buffer);
    cfg.send.accounting = accounting;
    let mut script = Script::connecting_on(cfg, tso_device());
    script.peer_window = 32_792;
    script.finish_handshake(Options { mss: Some(1_000), sack_permitted: true, ..Options::default() });
    script.peer_window = 0;
    script.ack(1);
    script
}

#[test_case(SendAccounting::Bytes, 32_000; "bytes")]
#[test_case(COUNTED, 48_000; "memory")]
fn no_chunk_is_begun_in_a_buffer_that_is_full_to_the_byte(accounting: SendAccounting, memory: u32) {
    // Each of the chunks that fit takes 1000 bytes beside its payload where memory counts.
    let chunks = memory / 16_000;
    let beside = if accounting == COUNTED { 1_000 } else { 0 };
    let mut script = shut(chunks * (16_000 + beside), accounting);
    assert_eq!(script.write_with(100_000, Default::default()), u64::from(memory));
    let mut script = shut(chunks * (16_000 + beside) + 1, accounting);
    assert_eq!(script.write_with(100_000, Default::default()), u64::from(memory) + 16_000);
}

#[test]
fn a_buffer_that_counts_memory_is_worth_a_write_while_a_third_of_it_is_free() {
    // One chunk, of which ten thousand bytes were written.
    let free_third = |capacity: u32| {
        let mut script = shut(capacity, COUNTED);
        script.write(10_000);
        script.stack.poll_writable(&mut StackCx::new(script.now, &mut Off), script.conn)
    };
    assert!(free_third(16_500));
    assert!(!free_third(16_499));
}

/// An event for a sender.
#[derive(Clone, Debug)]
enum Step {
    Write(u64, Boundary),
    /// Everything up to a part of what was sent is acknowledged, in 64ths.
    Ack(u32),
    /// Only the last segment arrived.
    Sack,
    Window(u16),
    Cork(CorkConfig),
    Nagle(NagleConfig),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let boundary = prop_oneof![Just(Boundary::None), Just(Boundary::More), Just(Boundary::Record)];
    prop_oneof![
        4 => (1..40_000_u64, boundary).prop_map(|(len, boundary)| Step::Write(len, boundary)),
        4 => (0..=64_u32).prop_map(Step::Ack),
        1 => Just(Step::Sack),
        1 => (0..300_u16).prop_map(Step::Window),
        1 => prop_oneof![Just(CorkConfig::Off), Just(CorkConfig::On)].prop_map(Step::Cork),
        1 => prop_oneof![Just(NagleConfig::Off), Just(NagleConfig::Minshall), Just(NagleConfig::Rfc896)]
            .prop_map(Step::Nagle),
        2 => (0..2_000_u64).prop_map(Step::Pass),
    ]
}

/// The peer's view of the sent data: checks that nothing is skipped, and tracks the end.
struct Peer {
    acked: u32,
    sent: u32,
}

impl Peer {
    fn look(&mut self, script: &mut Script) {
        for out in script.sent().into_iter().filter(|out| out.len > 0) {
            assert!(out.seq <= self.sent, "{} to {} was skipped", self.sent, out.seq);
            self.sent = self.sent.max(out.seq + out.len);
        }
    }
}

proptest! {
    /// For any order of writes, ACKs, holds and switches: nothing is skipped, the invariants hold after each step, and in the end
    /// everything leaves.
    #[test]
    fn everything_written_leaves_in_order(
        steps in proptest::collection::vec(step(), 1..60),
        refill in prop_oneof![Just(ChunkRefill::Never), Just(ChunkRefill::ToSegment), Just(ChunkRefill::ToBurst)],
    ) {
        let mut cfg = with_buffer(60_000);
        cfg.send.growth = SendGrowth::WithWindow { max: 1 << 20 };
        cfg.cc.idle_restart = IdleRestart::HalvePerRto;
        // The peer may be silent for all of the steps.
        cfg.retries.data = 100;
        chunks_of(&mut cfg).refill = refill;
        let mut script = established(cfg.clone(), 257, ms(20));
        let (mut peer, mut written) = (Peer { acked: 1, sent: 1 }, 0);
        for step in steps {
            match step {
                Step::Write(len, boundary) => written += script.write_with(len, boundary),
                Step::Ack(part) => {
                    peer.acked += (peer.sent - peer.acked) / 64 * part;
                    script.ack(peer.acked);
                }
                Step::Sack if peer.sent > peer.acked + 1 => script.sack(peer.acked, &[(peer.sent - 1, peer.sent)]),
                Step::Sack => {}
                Step::Window(units) => script.peer_window = units,
                Step::Cork(cork) => {
                    cfg.send.cork = cork;
                    script.reconfigure(cfg.clone());
                }
                Step::Nagle(nagle) => {
                    cfg.send.nagle = nagle;
                    script.reconfigure(cfg.clone());
                }
                Step::Pass(span) => script.pass(ms(span)),
            }
            peer.look(&mut script);
        }
        (cfg.send.cork, script.peer_window) = (CorkConfig::Off, 257);
        script.reconfigure(cfg);
        for _ in 0..400 {
            peer.look(&mut script);
            peer.acked = peer.sent;
            script.ack(peer.acked);
            script.pass(ms(200));
        }
        peer.look(&mut script);
        prop_assert_eq!(u64::from(peer.sent), 1 + written);
        let details = script.stack.details(script.conn, script.now).expect("exists");
        prop_assert_eq!((details.send_memory, details.unsent), (0, 0));
    }
}
