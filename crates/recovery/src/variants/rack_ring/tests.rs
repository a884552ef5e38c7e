//! The ring against the same rules over the board, on random losses and random lateness.

use super::*;
use crate::config::DetectorConfig;
use crate::config::build_detector;
use crate::detect::rack::rules::sent_after;
use crate::rate_sample::RateStamp;
use crate::scoreboard::{Delivered, SegmentId};
use base::{Ratio, Rng};
use std::collections::BTreeSet;

const MSS: u32 = 1000;
const SEGMENTS: u32 = 80;
const RTT: Duration = Duration::from_millis(10);

/// The rules of the variant with the board's own send times instead of a ring.
#[derive(Clone, Debug)]
struct OverTheBoard {
    beside: DupThresh,
    newest: Newest,
}

impl LossDetector for OverTheBoard {
    fn kind(&self) -> DetectorKind {
        DetectorKind::RackRing
    }
    fn on_delivered(&mut self, batch: &[SentSegment], cx: &DetectCx) {
        self.beside.on_delivered(batch, cx);
        if let Some(segment) = batch.iter().rfind(|segment| segment.retransmits == 0) {
            self.newest.take(segment.xmit, cx.now);
        }
    }
    fn on_recovery_exit(&mut self) {
        self.beside.on_recovery_exit();
    }
    fn on_timeout(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        self.beside.on_timeout(board, cx)
    }
    fn detect(&mut self, board: &mut Scoreboard, cx: &DetectCx) -> Verdict {
        let mut verdict = self.beside.detect(board, cx);
        if cx.episode != Episode::Open {
            return verdict;
        }
        let mut originals = Vec::new();
        let mut next = board.oldest_sent();
        while let Some(segment) = next {
            next = board.next_sent(segment.id);
            originals.extend(Some(segment).filter(|segment| segment.retransmits == 0));
        }
        for segment in originals {
            if !self.newest.xmit.is_some_and(|newest| sent_after(newest, segment.xmit)) {
                continue;
            }
            let deadline = rules::deadline(segment.xmit.at, self.newest.rtt, RTT / 4);
            if deadline > cx.now {
                verdict.recheck_at = Some(verdict.recheck_at.map_or(deadline, |earliest| earliest.min(deadline)));
            } else {
                verdict.newly_lost += board.mark_lost(segment.id);
            }
        }
        verdict
    }
    fn clone_box(&self) -> Box<dyn LossDetector> {
        Box::new(self.clone())
    }
    fn state_size(&self) -> usize {
        size_of::<Self>()
    }
}

/// Events, processed at equal times in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrives(u32),
    Leaves(u32),
    Recheck,
}

/// A flow whose data is always SACKed at once; losses are retransmitted as soon as they are marked.
struct Flow {
    board: Scoreboard,
    detector: Box<dyn LossDetector>,
    events: BTreeSet<(Instant, What)>,
    arrived: BTreeSet<u32>,
    sent: u32,
    una: u32,
    episode: Episode,
    marked: Vec<(Instant, u64)>,
}

impl Flow {
    /// Returns every mark with its time. The random conditions depend only on the seed.
    fn run(detector: Box<dyn LossDetector>, seed: u64) -> Vec<(Instant, u64)> {
        let mut rng = Rng::new(seed);
        let mut flow = Self {
            board: Scoreboard::new(SeqNum(0)),
            detector,
            events: BTreeSet::new(),
            arrived: BTreeSet::new(),
            sent: 0,
            una: 0,
            episode: Episode::Open,
            marked: Vec::new(),
        };
        let mut leaves = Instant::ZERO;
        for index in 0..SEGMENTS {
            leaves += Duration::from_micros(rng.below(400));
            flow.events.insert((leaves, What::Leaves(index)));
            let late = Duration::from_micros(rng.below(3_500));
            let delay = if rng.chance(Ratio::new(1, 5).unwrap()) { late } else { Duration::ZERO };
            if !rng.chance(Ratio::new(1, 12).unwrap()) {
                flow.events.insert((leaves + RTT + delay, What::Arrives(index)));
            }
        }
        while let Some((now, what)) = flow.events.pop_first() {
            flow.step(now, what);
        }
        flow.marked
    }

    fn step(&mut self, now: Instant, what: What) {
        match what {
            What::Leaves(index) => {
                let range = SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS));
                let id = self.board.on_sent(range, 0, RateStamp::default(), now);
                self.sent = index + 1;
                self.detector.on_sent(&self.board.get(id).unwrap());
            }
            What::Arrives(index) => self.arrives(now, index),
            What::Recheck => self.judge(now),
        }
    }

    fn arrives(&mut self, now: Instant, index: u32) {
        self.arrived.insert(index);
        while self.arrived.contains(&self.una) {
            self.una += 1;
        }
        let block = SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS));
        let mut out = Delivered::default();
        self.board.apply(SeqNum(self.una * MSS), &[block], &mut out);
        self.detector.on_delivered(&out.batch, &self.cx(now));
        if self.episode.point().is_some_and(|point| SeqNum(self.una * MSS).at_or_after(point)) {
            self.detector.on_recovery_exit();
            self.episode = Episode::Open;
        }
        self.judge(now);
    }

    fn judge(&mut self, now: Instant) {
        let cx = self.cx(now);
        let verdict = self.detector.detect(&mut self.board, &cx);
        if verdict.newly_lost > 0 && self.episode == Episode::Open {
            self.episode = Episode::Recovery { point: SeqNum(self.sent * MSS) };
        }
        if let Some(at) = verdict.recheck_at {
            self.events.insert((at, What::Recheck));
        }
        let mut lost: Vec<u64> = self.board.lost_log().iter().map(|(segment, _)| segment.id.0).collect();
        self.board.clear_lost_log();
        lost.sort_unstable();
        for id in lost {
            self.marked.push((now, id));
            self.board.on_retransmitted(SegmentId(id), 0, RateStamp::default(), now);
            self.detector.on_sent(&self.board.get(SegmentId(id)).unwrap());
            self.events.insert((now + RTT, What::Arrives(id as u32)));
        }
    }

    fn cx(&self, now: Instant) -> DetectCx {
        DetectCx {
            now,
            smss: MSS,
            snd_una: SeqNum(self.una * MSS),
            snd_nxt: SeqNum(self.sent * MSS),
            srtt: Some(RTT),
            min_rtt: Some(RTT),
            tsecr: None,
            arrival: crate::Arrival::InTurn,
            episode: self.episode,
        }
    }
}

fn ring(capacity: Option<u32>) -> Box<dyn LossDetector> {
    build_detector(&DetectorConfig::RackRing(RackRingConfig { capacity, dup_thresh: 3 }))
}

#[test]
fn parity_without_a_limit_the_ring_judges_as_the_rules_over_the_board() {
    let mut marks = 0;
    for seed in 0..300 {
        let reference =
            OverTheBoard { beside: DupThresh::new(&DupThreshConfig { dup_thresh: 3 }), newest: Newest::default() };
        let expected = Flow::run(Box::new(reference), seed);
        assert_eq!(Flow::run(ring(None), seed), expected, "seed {seed}");
        marks += expected.len();
    }
    assert!(marks > 300, "only {marks} losses were found in all");
}

#[test]
fn bite_a_small_ring_judges_differently() {
    let differing = (0..300).filter(|&seed| Flow::run(ring(Some(4)), seed) != Flow::run(ring(None), seed)).count();
    println!("a ring of 4 differs on {differing} of 300 seeds");
    assert!(differing > 0);
}

#[test]
fn its_blocks_share_the_flight_among_them_and_carry_their_last_segments_time() {
    let mut ring = RackRing::new(&RackRingConfig { capacity: Some(4), dup_thresh: 3 });
    let mut board = Scoreboard::new(SeqNum(0));
    let cx = DetectCx {
        now: Instant::ZERO,
        smss: MSS,
        snd_una: SeqNum(0),
        snd_nxt: SeqNum(16 * MSS),
        srtt: None,
        min_rtt: None,
        tsecr: None,
        arrival: crate::Arrival::InTurn,
        episode: Episode::Open,
    };
    ring.on_delivered(&[], &cx);
    for index in 0..16u32 {
        let range = SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS));
        let id = board.on_sent(range, 0, RateStamp::default(), Instant::from_nanos(u64::from(index)));
        ring.on_sent(&board.get(id).unwrap());
    }
    let slot = |index: u32| Slot {
        range: SeqRange::new(SeqNum(4 * index * MSS), SeqNum(4 * (index + 1) * MSS)),
        at: Instant::from_nanos(u64::from(4 * index + 3)),
    };
    assert_eq!(ring.slots, (0..4).map(slot).collect::<Vec<_>>());
}

#[test]
fn it_hurries_the_first_detection_before_three_are_sacked() {
    // Two SACKed segments never satisfy RFC 6675; time does.
    let mut flow = Flow {
        board: Scoreboard::new(SeqNum(0)),
        detector: ring(Some(64)),
        events: BTreeSet::new(),
        arrived: BTreeSet::new(),
        sent: 0,
        una: 0,
        episode: Episode::Open,
        marked: Vec::new(),
    };
    let at = |us| Instant::ZERO + Duration::from_micros(us);
    flow.step(at(0), What::Leaves(0));
    flow.step(at(100), What::Leaves(1));
    flow.step(at(10_100), What::Arrives(1));
    assert_eq!(flow.events.pop_first(), Some((at(12_500), What::Recheck)));
    flow.step(at(12_500), What::Recheck);
    assert_eq!(flow.marked, [(at(12_500), 0)]);
}

#[test]
fn a_lost_retransmission_is_never_seen() {
    let mut board = Scoreboard::new(SeqNum(0));
    let mut detector = ring(Some(64));
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let mut out = Delivered::default();
    for index in 0..8 {
        let range = SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS));
        let id = board.on_sent(range, 0, RateStamp::default(), at(u64::from(index)));
        detector.on_sent(&board.get(id).unwrap());
    }
    let mut episode = Episode::Open;
    for index in 1..8u32 {
        let now = at(u64::from(index) + 20 * u64::from(index));
        board.apply(SeqNum(0), &[SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS))], &mut out);
        let cx = DetectCx {
            now,
            smss: MSS,
            snd_una: SeqNum(0),
            snd_nxt: SeqNum(8 * MSS),
            srtt: Some(RTT),
            min_rtt: Some(RTT),
            tsecr: None,
            arrival: crate::Arrival::InTurn,
            episode,
        };
        detector.on_delivered(&out.batch, &cx);
        detector.detect(&mut board, &cx);
        if let Some(lost) = board.next_lost() {
            board.on_retransmitted(lost.id, 0, RateStamp::default(), now);
            episode = Episode::Recovery { point: SeqNum(8 * MSS) };
        }
    }
    assert_eq!(board.lost_log().iter().map(|(segment, _)| segment.id.0).collect::<Vec<_>>(), [0]);
}

#[test]
fn the_ring_keeps_what_is_in_flight_and_what_was_acknowledged_leaves_it() {
    let mut ring = RackRing::new(&RackRingConfig { capacity: None, dup_thresh: 3 });
    let mut board = Scoreboard::new(SeqNum(0));
    for index in 0..SEGMENTS {
        let range = SeqRange::new(SeqNum(index * MSS), SeqNum((index + 1) * MSS));
        let id = board.on_sent(range, 0, RateStamp::default(), Instant::ZERO);
        ring.on_sent(&board.get(id).unwrap());
    }
    let slots = (ring.state_size() - size_of::<RackRing>()) / size_of::<Slot>();
    assert!((SEGMENTS as usize..=2 * SEGMENTS as usize).contains(&slots), "room for {slots}");
    let mut out = Delivered::default();
    board.apply(SeqNum(79 * MSS), &[], &mut out);
    let cx = an_rtt_later(79 * MSS, 80 * MSS);
    ring.on_delivered(&out.batch, &cx);
    assert_eq!(ring.slots.len(), 1);
    assert_eq!(ring.on_timeout(&mut board, &cx).newly_lost, MSS, "go-back-N, as beside RFC 6675");
    assert!(ring.fills_unmarked_holes(), "as RFC 6675 does");
}

fn an_rtt_later(snd_una: u32, snd_nxt: u32) -> DetectCx {
    DetectCx {
        now: Instant::ZERO + RTT,
        smss: MSS,
        snd_una: SeqNum(snd_una),
        snd_nxt: SeqNum(snd_nxt),
        srtt: Some(RTT),
        min_rtt: Some(RTT),
        tsecr: None,
        arrival: crate::Arrival::InTurn,
        episode: Episode::Open,
    }
}

#[test]
fn the_ack_that_ends_an_episode_is_not_a_duplicate() {
    let mut ring = RackRing::new(&RackRingConfig::default());
    let (mut board, mut out) = (Scoreboard::new(SeqNum(0)), Delivered::default());
    for index in 0..9 {
        let range = SeqRange::new(SeqNum(index), SeqNum(index + 1));
        board.on_sent(range, 0, RateStamp::default(), Instant::ZERO);
    }
    // It reports new data above the cumulative ACK, too. Two duplicates follow, of bytes that prove nothing by their number.
    for sacked in [3, 4, 5] {
        board.apply(SeqNum(1), &[SeqRange::new(SeqNum(2), SeqNum(sacked))], &mut out);
        ring.on_delivered(&out.batch, &an_rtt_later(1, 9));
        if sacked == 3 {
            ring.on_recovery_exit();
        }
    }
    assert_eq!(ring.detect(&mut board, &an_rtt_later(1, 9)).newly_lost, 0);
}
