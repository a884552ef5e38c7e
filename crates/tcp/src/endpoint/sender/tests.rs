//! What the sender answers, each question in a situation made by hand: how timers, pauses, losses and ACKs are judged.

use super::*;
use crate::config::{Config, WindowProbe};
use crate::endpoint::Probing;
use crate::options::Negotiated;
use crate::testing::{quick, valid};
use crate::timestamps::TimestampState;
use base::{Bytes, Duration, SeqRange};
use cc::{
    AckSample, AvoidanceConfig, CcNote, CongestionEvent, CwndValidation, IdleRestart, InitialWindow, PacingConfig,
    RenoConfig, Snapshot, Window,
};
use recovery::frto::Frto;
use recovery::rtt::RttGains;
use recovery::{Arrival, Delivered, Episode, ReductionConfig, SegmentId, Undo};
use test_case::test_case;

/// Payload bytes of a segment.
pub(super) const SIZE: Bytes = 100;
pub(super) const NOW: Instant = Instant::from_nanos(1_000_000_000);
pub(super) const MS: Duration = Duration::from_millis(1);

/// A sender with a congestion window of ten segments that has written nothing, to a peer whose window takes `window` bytes.
pub(super) fn opened(cfg: &ValidConfig, window: Bytes) -> Sender {
    let mut snd = Sender::new(cfg, SeqNum(0), SIZE as u16, SIZE, NOW);
    snd.space.on_syn_sent(0);
    snd.space.on_syn_acked();
    snd.space.on_window(window);
    snd
}

/// A sender with a congestion window of ten segments, to a peer with a window of twenty.
struct Case {
    cfg: ValidConfig,
    snd: Sender,
}

fn case() -> Case {
    case_with(|_| {})
}

fn case_with(change: impl FnOnce(&mut Config)) -> Case {
    let mut cfg = quick();
    change(&mut cfg);
    let cfg = valid(cfg);
    let snd = opened(&cfg, 20 * SIZE);
    Case { cfg, snd }
}

impl Case {
    /// `bytes` were written and leave at `now`, in segments with this timestamp.
    fn send(&mut self, now: Instant, tsval: u32, bytes: Bytes) {
        self.snd.buffer.append_pattern(bytes);
        self.snd.on_new_data(now, tsval, NewData { len: bytes, fin: false }, SIZE);
    }
    fn lose(&mut self, segment: u64) {
        assert!(self.snd.rec.board.mark_lost(SegmentId(segment)) > 0);
    }
    /// Everything before `una` arrived, and what `block` reports. Returns what that delivers.
    fn deliver(&mut self, una: u32, block: Option<(u32, u32)>) -> Delivered {
        let mut delivered = Delivered::default();
        let block = block.map(|(from, to)| SeqRange::new(SeqNum(from), SeqNum(to)));
        self.snd.rec.board.apply(SeqNum(una), block.as_slice(), &mut delivered);
        delivered
    }
    /// The handshake took this long.
    fn round_trip(&mut self, rtt: Duration) {
        let flight = SeqRange::new(self.snd.space.una(), self.snd.space.nxt());
        self.snd.rec.rtt.on_handshake(&self.cfg.rtt, NOW, rtt, flight);
    }
    fn react(&mut self, now: Instant) -> Reaction {
        let (sacked_before, newly_acked) = (0, 0);
        let losses = Losses { cfg: &self.cfg, now, sack: true, sacked_before, newly_acked, prompt_rtt: None };
        self.snd.on_losses(&losses)
    }
    fn cwnd(&self) -> Bytes {
        self.snd.cc.window().cwnd()
    }
}

/// An odd number of bytes does not lose the odd one.
#[test]
fn a_window_that_is_used_as_far_as_it_reaches_stays() {
    let mut case = case_with(|cfg| {
        cfg.cc.initial_window = InitialWindow { segments: 10, bytes_max: Some(303) };
        (cfg.cc.validation, cfg.cc.idle_restart) = (CwndValidation::PacketsOut, IdleRestart::HalvePerRto);
    });
    assert_eq!(case.cwnd(), 303);
    case.snd.usage.on_sent(0);
    case.snd.on_held(&case.cfg, NOW + Duration::from_secs(100));
    assert_eq!(case.cwnd(), 303, "the initial window counts as used");
}

/// Where the window is taken down, `ssthresh` remembers three quarters of it (RFC 2861 §3.2); else it says what the last loss did.
#[test_case(IdleRestart::InitialWindow; "not above the initial window")]
#[test_case(IdleRestart::HalvePerFiveMinutes; "used within the last five minutes")]
fn a_window_that_a_pause_leaves_alone_keeps_ssthresh(restart: IdleRestart) {
    let mut case = case_with(|cfg| {
        cfg.cc.avoidance = AvoidanceConfig::Reno(RenoConfig::default());
        cfg.cc.idle_restart = restart;
    });
    case.snd.cc.on_congestion(&CongestionEvent::Loss { flight_size: 1_000 }, NOW);
    case.snd.cc.on_unused(1_000);
    case.snd.restart_if_idle(&case.cfg, NOW, Duration::from_secs(100));
    assert_eq!((case.cwnd(), case.snd.cc.window().ssthresh()), (1_000, 500));
}

#[test_case(0, 1 => true; "nothing is in flight, and the peer takes something")]
#[test_case(100, 200 => false; "something is in flight")]
#[test_case(0, 0 => false; "nothing can leave")]
fn a_pause_is_over_when(in_flight: Bytes, window: Bytes) -> bool {
    let mut case = case();
    if in_flight > 0 {
        case.send(NOW, 0, in_flight);
    }
    case.snd.space.on_window(window);
    case.snd.must_prepare_new()
}

/// One megabyte a second: a byte takes a microsecond.
#[test_case(0, 1 => 100; "for the only segment")]
#[test_case(0, 2 => 200; "for both segments that wait")]
#[test_case(1, 1 => 200; "for a lost one and a new one")]
#[test_case(0, 12 => 1_000; "for a millisecond's worth at most")]
fn a_pacer_waits_until_what_is_ready_has_its_time(lost: u32, unsent: u32) -> u64 {
    let mut case = case_with(|cfg| {
        cfg.cc.initial_window = InitialWindow::plain(100);
        cfg.cc.pacing = PacingConfig::Window { slow_start_percent: 100, avoidance_percent: 100, quantum_segments: 10 };
    });
    case.round_trip(MS * 10);
    case.snd.inform_controller(&case.cfg, NOW, 0, &Progress::default());
    assert_eq!(case.snd.paced_until(&case.cfg, NOW), None);
    case.snd.pacer.as_mut().expect("it paces").on_sent(10 * SIZE);
    for segment in 0..lost {
        case.send(NOW, 0, SIZE);
        case.lose(u64::from(segment));
    }
    case.snd.buffer.append_pattern(unsent * SIZE);
    case.snd.paced_until(&case.cfg, NOW).expect("nothing may leave").since(NOW).as_nanos() / 1_000
}

//= specs/rfc3168.md#sender
//= type=test
//# A loss and a mark in one window of data reduce the window once.
#[test_case(0, Reaction::RecoversAfterMark, 700; "before the answer")]
#[test_case(9, Reaction::Recovers, 490; "after the answer")]
fn after_a_mark_the_loss_of_a_segment_sent(segment: u64, reaction: Reaction, ssthresh: Bytes) {
    let mut case = case();
    case.send(NOW, 0, 9 * SIZE);
    case.snd.on_mark(&case.cfg, NOW + MS, 0, SIZE);
    case.snd.rec.enter(Episode::Cwr { point: case.snd.space.nxt() });
    case.send(NOW + MS * 2, 0, SIZE);
    case.lose(segment);
    assert_eq!(case.react(NOW + MS * 3), reaction);
    assert_eq!(case.snd.cc.window().ssthresh(), ssthresh);
}

//= specs/rfc5681.md#fast-retransmit-and-fast-recovery
//= type=test
//# The loss of a retransmission is a second sign of congestion, and reduces the window again.
/// ... and that of another segment of the same flight is not.
#[test_case(ReductionConfig::Pipe, false => Reaction::None; "by pipe, and another one")]
#[test_case(ReductionConfig::Pipe, true => Reaction::Answered; "by pipe, and the same again")]
#[test_case(ReductionConfig::Prr(Default::default()), false => Reaction::None; "in proportion, and another one")]
#[test_case(ReductionConfig::Prr(Default::default()), true => Reaction::None; "in proportion, which answers it by itself")]
fn in_an_episode_a_segment_is_lost(reduction: ReductionConfig, again: bool) -> Reaction {
    let mut case = case_with(|cfg| cfg.recovery.reduction = reduction);
    case.send(NOW, 0, 10 * SIZE);
    case.lose(0);
    assert_eq!(case.react(NOW + MS), Reaction::Recovers);
    case.snd.rec.enter(Episode::Recovery { point: case.snd.space.nxt() });
    let first = case.snd.rec.board.first().expect("it is in flight");
    case.snd.on_sent_again(NOW + MS, 0, &first);
    case.lose(if again { 0 } else { 1 });
    case.react(NOW + MS * 2)
}

/// The window is 700 bytes, so the reduction admits nothing before the flight is smaller.
#[test_case(9 => 0; "nothing, while others are in flight")]
#[test_case(10 => SIZE + 1; "a segment and the FIN behind it, for the next ACK, when nothing is in flight")]
fn congestion_control_admits_after_the_loss_of(segments: u64) -> Bytes {
    let mut case = case_with(|cfg| cfg.recovery.reduction = ReductionConfig::Pipe);
    case.send(NOW, 0, 10 * SIZE);
    (0..segments).for_each(|segment| case.lose(segment));
    case.react(NOW + MS);
    case.snd.allowance(&case.cfg)
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# A duplicate ACK as the first one after the timeout ends the test, and recovery is conventional.
#[test_case(0 => None; "nothing")]
#[test_case(SIZE => Some(2); "a segment")]
fn after_a_timeout_new_data_may_leave_if_the_first_ack_acknowledges(acked: Bytes) -> Option<u8> {
    let mut case = case();
    case.send(NOW, 0, 3 * SIZE);
    case.snd.rec.enter(Episode::Loss { point: case.snd.space.nxt() });
    case.snd.rec.undo = Some(Box::new(Undo::new(Frto::on_timeout(), None)));
    let delivered = case.deliver(1 + acked, None);
    case.snd.space.on_acked(SeqNum(1 + acked));
    let at = case.snd.detect_cx(NOW, None);
    case.snd.proof_of_spurious(&case.cfg.recovery.undo, None, acked, &delivered, &at);
    case.snd.examining()
}

//= specs/rfc5682.md#basic-algorithm
//= type=test
//# Without new data, or without room in the peer's window, the test ends and recovery is conventional.
#[test_case(false => None; "when new data is due")]
#[test_case(true => Some(2); "not before the first retransmission has left")]
fn without_new_data_the_examination_of_a_timeout_ends(forced: bool) -> Option<u8> {
    let mut case = case();
    case.send(NOW, 0, 3 * SIZE);
    case.snd.rec.undo = Some(Box::new(Undo::new(Frto::SecondAck(2), None)));
    case.snd.rec.force(forced);
    case.snd.end_examination_without_data(SIZE);
    case.snd.rec.force(false);
    case.snd.examining()
}

#[test]
fn probes_that_have_nothing_to_send_are_due_no_more() {
    let mut case = case();
    case.snd.rec.tail.on_timeout();
    case.snd.rec.set_probing(Probing::Due(3));
    case.snd.forget_empty_probes();
    assert_eq!((case.snd.rec.tail.is_due(), case.snd.rec.probing()), (false, Probing::Idle));
    case.snd.rec.set_probing(Probing::Waiting(3));
    case.snd.forget_empty_probes();
    assert_eq!(case.snd.rec.probing(), Probing::Waiting(3), "its time has not come");
}

/// Milliseconds, with a retransmission timeout of a second, after one probe.
#[test_case(WindowProbe::Byte, 0, 500 => 2_000; "a closed window")]
#[test_case(WindowProbe::Byte, 40, 500 => 200; "a window too narrow for a segment")]
#[test_case(WindowProbe::Byte, 40, 0 => 200; "a window too narrow for a segment, of which probes have taken all data")]
#[test_case(WindowProbe::Byte, 40, 40 => 2_000; "a window that takes all that waits")]
#[test_case(WindowProbe::Byte, 100, 500 => 2_000; "a window that takes a segment")]
#[test_case(WindowProbe::Empty, 40, 500 => 2_000; "an empty probe of a narrow window")]
fn a_probe_of_the_window_waits_for(probe: WindowProbe, window: Bytes, unsent: Bytes) -> u64 {
    let mut case = case_with(|cfg| cfg.send.window_probe = probe);
    case.snd.buffer.append_pattern(unsent);
    case.snd.space.on_window(window);
    case.snd.persist_interval(&case.cfg, 1).as_millis()
}

#[test_case(WindowProbe::Byte, 1 => true; "a byte for a probe of a byte")]
#[test_case(WindowProbe::Empty, 1 => false; "not a byte for an empty probe")]
#[test_case(WindowProbe::Empty, 99 => false; "nor less than a segment")]
#[test_case(WindowProbe::Empty, 100 => true; "but a segment")]
fn probes_end_when_the_window_takes(probe: WindowProbe, window: Bytes) -> bool {
    let mut case = case_with(|cfg| cfg.send.window_probe = probe);
    case.snd.buffer.append_pattern(3 * SIZE);
    case.snd.rec.set_probing(Probing::Waiting(2));
    case.snd.space.on_window(window);
    case.snd.stop_probing_if_opened(NOW, 0, SIZE)
}

/// A controller that reports for how long the connection was idle.
#[derive(Clone, Debug)]
struct Idleness {
    window: Window,
    idle: Duration,
}

impl CongestionControl for Idleness {
    fn on_ack(&mut self, _ack: &AckSample) -> Option<CcNote> {
        None
    }
    fn on_congestion(&mut self, _event: &CongestionEvent, _now: Instant) {}
    fn on_idle_restart(&mut self, idle: Duration) {
        self.idle = idle;
    }
    fn on_smss_change(&mut self, _smss: Bytes) {}
    fn undo(&mut self) -> bool {
        false
    }
    fn window(&self) -> &Window {
        &self.window
    }
    fn snapshot(&self) -> Snapshot {
        let values = [("idle", self.idle.as_millis()), ("", 0), ("", 0), ("", 0)];
        Snapshot { phase: cc::CcPhase::Reno, cwnd: self.window.cwnd(), ssthresh: self.window.ssthresh(), values }
    }
    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        0
    }
}

#[test_case(999 => 0; "less than a timeout")]
#[test_case(1_000 => 0; "a timeout")]
#[test_case(1_001 => 1_001; "more than a timeout")]
fn the_controller_learns_of_a_pause_of(idle_ms: u32) -> u64 {
    let mut case = case();
    let window = case.snd.cc.window().clone();
    case.snd.cc = Box::new(Idleness { window, idle: Duration::ZERO });
    case.send(NOW + MS * idle_ms, 0, SIZE);
    case.snd.cc.snapshot().values[0].1
}

fn about<'a>(cfg: &'a Config, clock: &'a TimestampState, now: Instant, tsecr: u32, prior_pipe: Bytes) -> RttCx<'a> {
    let (tsecr, arrival) = (Some(tsecr), Arrival::InTurn);
    RttCx { cfg, now, clock, tsecr, resolution: Duration::ZERO, arrival, prior_pipe }
}

//= specs/rfc7323.md#round-trips
//= type=test
//# An echoed timestamp gives an RTT sample only in an ACK that advances SND.UNA.
#[test_case(101, None => Some(1); "advances")]
#[test_case(1, Some((1, 101)) => None; "reports the segment as arrived behind a hole")]
fn the_echo_of_a_retransmission_is_measured_in_an_ack_that(una: u32, block: Option<(u32, u32)>) -> Option<u64> {
    let mut case = case();
    let clock = TimestampState::new(0);
    case.send(NOW, clock.tsval(NOW), 2 * SIZE);
    case.lose(0);
    let first = case.snd.rec.board.first().expect("it is in flight");
    let again = NOW + MS * 99;
    case.snd.on_sent_again(again, clock.tsval(again), &first);
    let delivered = case.deliver(una, block);
    let about = about(&case.cfg, &clock, NOW + MS * 100, clock.tsval(again), 2 * SIZE);
    case.snd.sample_rtt(&about, &delivered).map(|(sample, _)| sample.as_millis())
}

//= specs/rfc7323.md#round-trips
//= type=test
//# With several samples in a round trip, each weighs so much less in SRTT and RTTVAR.
/// Appendix G: as many as there are pairs of segments in flight, and one.
#[test_case(0 => 108_000; "nothing was in flight before")]
#[test_case(6 * SIZE => 102_000; "four samples in a round trip")]
fn a_sample_that_is_64_ms_longer_than_the_mean_moves_it_to(prior_pipe: Bytes) -> u64 {
    let mut case = case_with(|cfg| cfg.rtt.gains = RttGains::PerRoundTrip);
    let clock = TimestampState::new(0);
    case.round_trip(MS * 100);
    case.send(NOW, 0, SIZE);
    let delivered = case.deliver(1 + SIZE, None);
    let about = about(&case.cfg, &clock, NOW + MS * 164, 0, prior_pipe);
    case.snd.sample_rtt(&about, &delivered);
    case.snd.rec.rtt.srtt().map_or(0, |srtt| srtt.as_micros())
}

#[test]
fn a_narrower_path_has_not_been_shown_to_take_larger_segments() {
    let mut case = case();
    case.snd.space.on_delivered(SIZE);
    case.snd.space.set_smss(60);
    case.snd.space.forget_larger();
    assert_eq!(case.snd.space.largest_delivered(), 60);
}

#[test_case(false => 1; "a byte too many")]
#[test_case(true => 0; "but not a FIN")]
fn a_segment_is_cut_that_exceeds_the_path_by(fin: bool) -> Bytes {
    let mut case = case();
    let size = SIZE + u32::from(!fin);
    case.snd.buffer.append_pattern(size);
    if fin {
        case.snd.space.queue_fin();
    }
    case.snd.on_new_data(NOW, 0, NewData { len: size, fin }, size);
    case.snd.recut(Bytes::MAX);
    case.snd.rec.board.len() as Bytes - 1
}

//= specs/rfc3168.md#sender
//= type=test
//# An ACK that echoes a mark does not open the window.
#[test_case(false, false => 1_100; "opens the window again")]
#[test_case(true, false => 1_000; "does not if it echoes a mark")]
#[test_case(false, true => 1_000; "does not if the reduction has not ended")]
fn after_the_answer_to_a_mark_an_ack(echo: bool, reduces: bool) -> Bytes {
    let mut case = case();
    case.send(NOW, 0, 10 * SIZE);
    case.snd.rec.enter(Episode::Cwr { point: case.snd.space.nxt() });
    case.snd.rec.reduction = reduces.then(|| recovery::build_reduction(&case.cfg.recovery.reduction));
    let progress = Progress { acked: SIZE, delivered: SIZE, cwnd_limited: true, echo, ..Progress::default() };
    case.snd.inform_controller(&case.cfg, NOW, 0, &progress);
    case.cwnd()
}

#[test]
fn a_source_of_no_bytes_is_empty() {
    assert!(Source::Pattern(0).is_empty() && Source::Bytes(&[]).is_empty());
    assert!(!Source::Pattern(1).is_empty() && !Source::Bytes(&[0]).is_empty());
}

/// RFC 8985 §8: one timer covers the flight.
#[test]
fn a_timeout_goes_before_the_end_of_a_reordering_window_at_the_same_moment() {
    let mut case = case();
    case.send(NOW, 0, SIZE);
    let neg = Negotiated::default();
    let timer = |case: &Case| {
        let at = TimerCx { cfg: &case.cfg, neg: &neg, now: NOW, user_timeout: None };
        case.snd.loss_timer(&at).expect("a segment is in flight")
    };
    let (kind, timeout) = timer(&case);
    case.snd.rec.set_recheck(Some(timeout));
    assert_eq!(timer(&case), (kind, timeout));
    case.snd.rec.set_recheck(Some(timeout - MS));
    assert_ne!(timer(&case), (kind, timeout));
}
