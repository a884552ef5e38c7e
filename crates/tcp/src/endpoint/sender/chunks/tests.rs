//! Which chunks are released, in situations made by hand: what is in flight, and what the windows take.

use super::*;
use crate::config::{ChunkRefill, SegmenterConfig, ValidConfig};
use crate::endpoint::sender::tests::{MS, NOW, SIZE, opened};
use crate::endpoint::sender::{Boundary, Losses, NewData, Source};
use crate::send::nagle::Outstanding;
use crate::testing::{quick, valid};
use base::SeqRange;
use cc::{CongestionEvent, IdleRestart, PacingConfig};
use recovery::{Delivered, ReductionConfig};
use test_case::test_case;

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
    cfg.send.segmenter = SegmenterConfig::Chunks(ChunksConfig::default());
    cfg.send.push = PushConfig::Writes;
    change(&mut cfg);
    let cfg = valid(cfg);
    let mut snd = opened(&cfg, 20 * SIZE);
    snd.send_bursts(&cfg);
    Case { cfg, snd }
}

fn chunks_of(cfg: &mut Config, change: impl FnOnce(&mut ChunksConfig)) {
    if let SegmenterConfig::Chunks(chunks) = &mut cfg.send.segmenter {
        change(chunks);
    }
}

fn turn(cfg: &Config) -> TurnCx<'_> {
    TurnCx { cfg, size: SIZE, now: NOW, idle: Duration::ZERO, open: true, urgent: false, probes_path: &|_| false }
}

impl Case {
    /// A chunk of `bytes` was written.
    fn chunk(&mut self, bytes: Bytes) {
        self.snd.keep_chunk(bytes);
        self.snd.buffer.append_pattern(bytes);
    }
    /// `bytes` were written and are in flight.
    fn send(&mut self, bytes: Bytes) {
        self.snd.buffer.append_pattern(bytes);
        self.leave(bytes);
    }
    /// `bytes` that were written leave.
    fn leave(&mut self, bytes: Bytes) {
        self.snd.on_new_data(NOW, 0, NewData { len: bytes, fin: false }, SIZE);
    }
    fn ack(&mut self, bytes: Bytes) {
        let una = self.snd.space.una() + bytes;
        self.snd.rec.board.apply(una, &[], &mut Delivered::default());
        self.snd.space.on_acked(una);
        self.snd.on_bytes_acked(bytes);
    }
    fn cwnd(&mut self, bytes: Bytes) {
        self.snd.cc.on_unused(bytes);
    }
    fn release(&mut self, rule: SmallRule) -> Released {
        self.snd.look_by(rule);
        self.snd.release_due_chunks(&turn(&self.cfg))
    }
    fn write(&mut self, bytes: u64, boundary: Boundary) -> u64 {
        self.snd.write_chunks(&turn(&self.cfg), Source::Pattern(bytes), boundary).0
    }
    /// The handshake took this long.
    fn round_trip(&mut self, rtt: Duration) {
        let flight = SeqRange::new(self.snd.space.una(), self.snd.space.nxt());
        self.snd.rec.rtt.on_handshake(&self.cfg.rtt, NOW, rtt, flight);
    }
}

#[test]
fn a_chunk_fills_only_its_last_segment_from_the_next_one() {
    let mut case = case_with(|cfg| chunks_of(cfg, |chunks| chunks.refill = ChunkRefill::ToSegment));
    case.chunk(50);
    case.chunk(300);
    case.release(SmallRule::Leave);
    assert_eq!(case.snd.burst_of(SeqNum(1)), Some(100));
}

#[test_case(false, 100, None; "the data fits")]
#[test_case(true, 0, Some(HeldBy::PeerWindow); "the FIN behind it does not")]
fn a_window_of_one_segment_takes_the_last_chunk_if(fin: bool, planned: Bytes, held: Option<HeldBy>) {
    let mut case = case();
    case.chunk(SIZE);
    case.snd.space.on_window(SIZE);
    if fin {
        case.snd.space.queue_fin();
    }
    let released = case.release(SmallRule::Leave);
    assert_eq!((case.snd.planned_chunks(), released.held), (planned, held));
}

/// RFC 896 holds a small segment while anything is unacknowledged.
#[test]
fn data_that_was_released_and_has_not_left_is_outstanding_too() {
    let mut case = case();
    case.send(SIZE);
    case.chunk(SIZE);
    case.chunk(50);
    case.release(SmallRule::Rfc896);
    assert_eq!(case.snd.planned_chunks(), SIZE);
}

/// Deployed senders pace by 200 % of the window per round trip while it is below half of `ssthresh`, then by 120 %. In a
/// millisecond of a round trip of ten, 3500 bytes make six segments or four.
#[test_case(3_499 => Some(600); "below half of ssthresh")]
#[test_case(3_500 => Some(400); "at half of it")]
fn a_burst_is_larger_while_slow_start_has_far_to_go(cwnd: Bytes) -> Option<u64> {
    let mut case = case_with(|cfg| {
        cfg.cc.initial_window = cc::InitialWindow::plain(100);
        chunks_of(cfg, |chunks| chunks.rtt_halving = Duration::from_micros(1));
    });
    case.round_trip(MS * 10);
    case.snd.cc.on_congestion(&CongestionEvent::Loss { flight_size: 10_000 }, NOW);
    assert_eq!(case.snd.cc.window().ssthresh(), 7_000);
    case.cwnd(cwnd);
    case.chunk(20 * SIZE);
    case.release(SmallRule::Leave);
    case.snd.burst_of(SeqNum(1))
}

/// RFC 6675 §5, step C: what leaves is the window less what is in flight.
#[test]
fn an_episode_releases_as_many_segments_as_the_reduction_takes() {
    let mut case = case_with(|cfg| cfg.recovery.reduction = ReductionConfig::Pipe);
    case.send(10 * SIZE);
    assert!(case.snd.rec.board.mark_lost(SegmentId(0)) > 0);
    let (sacked_before, newly_acked) = (0, 0);
    let losses = Losses { cfg: &case.cfg, now: NOW, sack: true, sacked_before, newly_acked, prompt_rtt: None };
    case.snd.on_losses(&losses);
    case.snd.rec.enter(Episode::Recovery { point: case.snd.space.nxt() });
    // The window is 700 bytes. A small segment arrives, and 150 of them are free.
    case.snd.rec.board.apply(SeqNum(1), &[SeqRange::new(SeqNum(101), SeqNum(401))], &mut Delivered::default());
    case.snd.inform_reduction(300, 0, 0);
    case.chunk(500);
    let released = case.release(SmallRule::Leave);
    assert_eq!((case.snd.planned_chunks(), released.held), (SIZE, Some(HeldBy::Cwnd)));
}

#[test]
fn an_ack_is_expected_a_round_trip_after_the_oldest_segment_left() {
    let mut case = case();
    case.round_trip(MS * 100);
    case.send(SIZE);
    assert_eq!(case.snd.wait(NOW + MS, 0), Wait::Ack { expected_in: MS * 99, srtt: MS * 100 });
    assert_eq!(case.snd.wait(NOW + MS * 2, 0), Wait::Never, "no train of bursts is in progress");
}

#[test_case(0, 40 => 40; "releases what it carries")]
#[test_case(0, 0 => 0; "releases nothing if it carries nothing")]
#[test_case(100, 40 => 100; "carries what was released before")]
fn a_probe_of_the_window(released: Bytes, len: Bytes) -> Bytes {
    let mut case = case();
    case.chunk(200);
    if released > 0 {
        case.snd.commit(released, Push::No, SIZE);
    }
    case.snd.commit_probe(len, SIZE);
    case.snd.planned_chunks()
}

#[test]
fn a_small_segment_is_outstanding_until_it_is_acknowledged() {
    let mut case = case();
    case.send(SIZE);
    case.ack(SIZE);
    case.chunk(250);
    case.release(SmallRule::Leave);
    case.leave(250);
    let outstanding = |case: &Case| case.snd.space.outstanding(case.snd.space.nxt());
    case.ack(249);
    assert_eq!(outstanding(&case), Outstanding::Small);
    case.ack(1);
    case.send(SIZE);
    assert_eq!(outstanding(&case), Outstanding::Full);
}

#[test]
fn a_small_segment_of_gigabytes_ago_is_not_outstanding() {
    let mut case = case();
    case.chunk(250);
    case.release(SmallRule::Leave);
    case.leave(250);
    case.ack(250);
    for _ in 0..24 {
        let una = case.snd.space.nxt() + (1 << 27);
        case.snd.space.on_sent(una);
        case.snd.space.on_acked(una);
    }
    case.snd.space.on_sent(case.snd.space.nxt() + SIZE);
    assert_eq!(case.snd.space.outstanding(case.snd.space.nxt()), Outstanding::Full);
}

/// A writer waits because of the limit for unsent data, and goes on when less than half of it is left.
#[test_case(500, true; "all of it leaves")]
#[test_case(700, false; "half of the limit stays")]
fn a_writer_is_woken_when_enough_is_released(bytes: Bytes, woken: bool) {
    let mut case = case_with(|cfg| cfg.send.notsent_lowat = Some(400));
    case.snd.space.on_window(500);
    case.chunk(bytes);
    case.snd.on_write(true);
    assert_eq!((case.release(SmallRule::Leave).woken, case.snd.planned_chunks()), (woken, 500));
}

/// RFC 5681 §4.1 speaks of a connection that is idle: what is in flight keeps it from being so.
#[test_case(0, 1_000; "nothing is in flight")]
#[test_case(SIZE, 2_000; "something is in flight")]
fn a_pause_closes_the_window_if(in_flight: Bytes, cwnd: Bytes) {
    let mut case = case_with(|cfg| cfg.cc.idle_restart = IdleRestart::InitialWindow);
    case.cwnd(2_000);
    if in_flight > 0 {
        case.send(in_flight);
    }
    case.chunk(SIZE);
    case.snd.look_by(SmallRule::Leave);
    case.snd.release_due_chunks(&TurnCx { idle: Duration::from_secs(100), ..turn(&case.cfg) });
    assert_eq!(case.snd.cc.window().cwnd(), cwnd);
}

#[test_case(0, true; "nothing leaves")]
#[test_case(300, false; "a part leaves, whose ACK brings news")]
fn the_window_is_probed_if(window: Bytes, probes: bool) {
    let mut case = case();
    case.snd.space.on_window(window);
    case.chunk(500);
    let released = case.release(SmallRule::Leave);
    assert_eq!((released.held, released.waits_for_window), (Some(HeldBy::PeerWindow), probes));
}

#[test]
fn a_write_takes_no_more_than_it_is_given() {
    let mut case = case();
    assert_eq!(case.write(1_500, Boundary::None), 1_500);
    assert_eq!(case.snd.buffer.len(), 1_500);
}

#[test]
fn a_write_of_nothing_releases_nothing() {
    let mut case = case();
    case.write(40, Boundary::More);
    case.write(0, Boundary::None);
    assert_eq!(case.snd.planned_chunks(), 0);
}

/// Half of the window, 1000 bytes, was written without a push; an order for more holds the small segment all the same.
#[test]
fn an_order_for_more_holds_a_small_segment_behind_full_chunks() {
    let mut case = case();
    case.cwnd(4_000);
    case.write(1_250, Boundary::More);
    assert_eq!(case.snd.planned_chunks(), 1_200);
}

/// A writer that waits for room announces nothing.
#[test]
fn a_write_that_was_cut_short_is_pushed_in_spite_of_an_order_for_more() {
    let mut case = case_with(|cfg| cfg.send.buffer = 3_000);
    case.cwnd(6_000);
    case.snd.space.on_window(0);
    assert_eq!(case.write(5_000, Boundary::More), 3_000);
    case.snd.space.on_window(6_000);
    case.release(SmallRule::Leave);
    let pushes = |end| case.snd.chunks().map(|chunks| chunks.push(end));
    assert_eq!((pushes(1_000), pushes(3_000)), (Some(Push::First), Some(Push::Yes)));
}

#[test_case(1_000, 200; "an order for more")]
#[test_case(1_001, 250; "but not if it was cut short")]
fn the_part_of_a_segment_that_a_window_takes_waits_after(bytes: u64, planned: Bytes) {
    let mut case = case_with(|cfg| cfg.send.buffer = 2_000);
    case.snd.space.on_window(0);
    case.write(1_000, Boundary::None);
    case.snd.space.on_window(250);
    assert_eq!(case.write(bytes, Boundary::More), 1_000);
    assert_eq!(case.snd.planned_chunks(), planned);
}

#[test_case(|_| {} => 300; "if nothing is in the way")]
#[test_case(|case| { case.snd.rec.enter(Episode::Recovery { point: SeqNum(1) }); } => 0; "not in an episode")]
#[test_case(|case| { case.send(SIZE); case.snd.rec.board.mark_lost(SegmentId(0)); } => 0; "not before what was lost")]
#[test_case(|case| case.snd.rec.tail.on_timeout() => 0; "not before a tail loss probe")]
fn a_write_releases_at_once(given: fn(&mut Case)) -> Bytes {
    let mut case = case();
    given(&mut case);
    case.write(300, Boundary::None);
    case.snd.planned_chunks()
}

#[test]
fn a_write_releases_nothing_that_is_paced_or_before_the_connection_is_open() {
    let pacing = PacingConfig::Window { slow_start_percent: 200, avoidance_percent: 120, quantum_segments: 10 };
    let mut case = case_with(|cfg| cfg.cc.pacing = pacing);
    case.round_trip(MS);
    case.snd.inform_controller(&case.cfg, NOW, 0, &Default::default());
    case.write(300, Boundary::None);
    assert_eq!(case.snd.planned_chunks(), 0);
    let mut case = self::case();
    let closed = TurnCx { open: false, ..turn(&case.cfg) };
    case.snd.write_chunks(&closed, Source::Pattern(300), Boundary::None);
    assert_eq!(case.snd.planned_chunks(), 0);
}

#[test]
fn a_syn_has_no_place_in_the_stream() {
    let cfg = valid(quick());
    let mut snd = Sender::new(&cfg, SeqNum(0), SIZE as u16, SIZE, NOW);
    snd.space.on_syn_sent(0);
    snd.buffer.append_pattern(300);
    assert_eq!(snd.sent_offset(), 0);
}

#[test]
fn what_duplicate_acks_announce_is_not_in_flight() {
    let mut case = case();
    case.send(5 * SIZE);
    assert_eq!(case.snd.segments_in_flight(), 5);
    case.snd.rec.board.set_departed(2 * SIZE);
    assert_eq!(case.snd.segments_in_flight(), 3);
}

#[test]
fn a_writer_that_was_woken_stays_so_and_so_does_the_need_to_ask_for_the_window() {
    let all = Released { held: None, waits_for_window: true, woken: true };
    for (mut first, later) in [(all, all), (all, Released::default()), (Released::default(), all)] {
        first.add(later);
        assert_eq!((first.waits_for_window, first.woken), (true, true));
    }
}
