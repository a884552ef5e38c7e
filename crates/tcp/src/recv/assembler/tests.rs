//! The assembler against a model of single sequence numbers, and its bounds.

use super::*;
use proptest::prelude::*;

/// Numbers in the model's space; the origin makes the 32-bit space wrap in its middle.
const SPACE: u32 = 400;
const ORIGIN: SeqNum = SeqNum(u32::MAX - SPACE / 2);

fn range(start: u32, end: u32) -> SeqRange {
    SeqRange::new(ORIGIN + start, ORIGIN + end)
}

/// One mark per sequence number, and the blocks in the order of their last touch.
struct Model {
    have: Vec<Option<u8>>,
    touched: Vec<(u32, u32)>,
}

impl Model {
    fn new() -> Self {
        Self { have: vec![None; SPACE as usize], touched: Vec::new() }
    }
    fn run_from(&self, start: u32) -> u32 {
        self.have[start as usize..].iter().take_while(|byte| byte.is_some()).count() as u32
    }
    fn nxt(&self) -> u32 {
        self.run_from(0)
    }
    fn blocks(&self) -> Vec<(u32, u32)> {
        let mut blocks = Vec::new();
        let mut at = self.nxt();
        while at < SPACE {
            let len = self.run_from(at);
            if len > 0 {
                blocks.push((at, at + len));
            }
            at += len.max(1);
        }
        blocks
    }
    fn insert(&mut self, start: u32, end: u32) -> Insertion {
        let (before, waiting) = (self.nxt(), !self.blocks().is_empty());
        let new = (start..end).filter(|&at| self.have[at as usize].is_none()).count();
        let duplicate = (start..end).find(|&at| self.have[at as usize].is_some()).map(|from| {
            let to = (from + self.run_from(from)).min(end);
            range(from, to)
        });
        self.have[start as usize..end as usize].fill(Some(0));
        let advanced = self.nxt() - before;
        let blocks = self.blocks();
        self.touched.retain(|block| blocks.contains(block));
        if let Some(&block) = blocks.iter().find(|block| block.0 <= start && end <= block.1) {
            self.touched.retain(|&other| other != block);
            self.touched.insert(0, block);
        }
        let kind = match (new, advanced, waiting) {
            (0, _, _) => Arrival::Duplicate,
            (_, 0, _) => Arrival::OutOfOrder,
            (_, _, true) => Arrival::FillsGap,
            (_, _, false) => Arrival::InOrder,
        };
        Insertion { advanced, duplicate, kind }
    }
}

fn held(assembler: &Assembler) -> Vec<SeqRange> {
    let blocks = assembler.beyond.iter().flat_map(|beyond| beyond.blocks.up_to(u64::MAX));
    let mut blocks: Vec<_> = blocks.map(|(block, _)| seq_range(block)).collect();
    blocks.reverse();
    blocks
}

fn check(assembler: &Assembler, model: &Model) -> Result<(), TestCaseError> {
    let ranges =
        |list: &[(u32, u32)]| -> Vec<SeqRange> { list.iter().map(|&(start, end)| range(start, end)).collect() };
    prop_assert_eq!(assembler.rcv_nxt(), ORIGIN + model.nxt());
    let blocks = ranges(&model.blocks());
    prop_assert_eq!(&held(assembler), &blocks);
    prop_assert_eq!(assembler.block_count(), blocks.len());
    let touched = ranges(&model.touched);
    prop_assert!(touched.starts_with(assembler.recent()), "{:?} of {:?}", assembler.recent(), touched);
    prop_assert!(assembler.recent().len() >= RECENT_LOW.min(blocks.len()));
    for &(start, end) in &model.blocks() {
        prop_assert_eq!(assembler.block_holding(range(start, start + 1)), Some(range(start, end)));
        prop_assert_eq!(assembler.block_holding(range(end - 1, end)), Some(range(start, end)));
        prop_assert_eq!(assembler.block_holding(range(start - 1, end)), None);
    }
    Ok(())
}

proptest! {
    #[test]
    fn agrees_with_a_map_of_single_numbers(segments in proptest::collection::vec((0..SPACE, 1u32..40), 1..120)) {
        let (mut assembler, mut model) = (Assembler::new(ORIGIN), Model::new());
        for (start, len) in segments {
            let end = (start + len).min(SPACE);
            prop_assert_eq!(assembler.insert(range(start, end)), model.insert(start, end));
            check(&assembler, &model)?;
        }
    }

    /// Single numbers make many blocks, so that the list of recent ones needs refilling.
    #[test]
    fn agrees_with_the_map_when_blocks_abound(order in Just((0..SPACE).collect::<Vec<_>>()).prop_shuffle()) {
        let (mut assembler, mut model) = (Assembler::new(ORIGIN), Model::new());
        for start in order {
            prop_assert_eq!(assembler.insert(range(start, start + 1)), model.insert(start, start + 1));
            check(&assembler, &model)?;
        }
        prop_assert_eq!(assembler.rcv_nxt(), ORIGIN + SPACE);
    }
}

/// Feeds an assembler only what it admits, and the bytes too: rejected data leaves no trace in either.
fn feed_limited(limit: u32, segments: &[(u32, u32)]) -> Result<(), TestCaseError> {
    let (mut assembler, mut model) = (Assembler::new(ORIGIN), Model::new());
    for &(start, len) in segments {
        let end = (start + len).min(SPACE);
        let (first, last) = (start.saturating_sub(1), end.min(SPACE - 1));
        let touches = model.have[first as usize..=last as usize].iter().any(Option::is_some);
        let next = start <= model.nxt();
        let admitted = assembler.admits(range(start, end), limit);
        prop_assert_eq!(admitted, next || touches || model.blocks().len() < limit as usize, "{}..{}", start, end);
        if admitted {
            prop_assert_eq!(assembler.insert(range(start, end)), model.insert(start, end));
        }
        check(&assembler, &model)?;
        prop_assert!(assembler.block_count() <= limit as usize);
    }
    Ok(())
}

proptest! {
    //= specs/rfc2018.md#receiver
    //= type=test
    //# No block reports data that the receiver has thrown away, other than the newest segment.
    #[test]
    fn never_more_blocks_than_allowed_and_only_one_too_many_is_refused(
        limit in 0u32..12,
        segments in proptest::collection::vec((0..SPACE, 1u32..12), 1..200),
    ) {
        feed_limited(limit, &segments)?;
    }
}

/// Fills the default guard's limit with one-byte blocks; then segments join two of them at any position.
#[test]
fn a_segment_visits_few_records_however_many_blocks_there_are() {
    const BLOCKS: u32 = 32_768;
    let mut assembler = Assembler::new(ORIGIN);
    for nth in 1..=BLOCKS {
        assembler.insert(range(nth * 2, nth * 2 + 1));
    }
    assert_eq!(assembler.block_count(), BLOCKS as usize);
    let visited = |assembler: &Assembler| assembler.beyond.as_ref().map_or(0, |beyond| beyond.visited.get());
    let mut worst = 0;
    // An odd step without a common factor with the number of blocks visits each position once.
    for nth in (0..BLOCKS / 2).map(|nth| 1 + nth * 20_011 % (BLOCKS - 1)) {
        let before = visited(&assembler);
        assembler.insert(range(nth * 2 + 1, nth * 2 + 2));
        worst = worst.max(visited(&assembler) - before);
    }
    assert!(worst <= 2 * 3 + RECENT as u64, "{worst} records for one segment");
}

/// A segment over many blocks visits each, and none of them remains for the next segment.
#[test]
fn the_cost_of_merging_is_that_of_having_made_the_blocks() {
    let mut assembler = Assembler::new(ORIGIN);
    for nth in 1..=10_000 {
        assembler.insert(range(nth * 2, nth * 2 + 1));
    }
    let visited = |assembler: &Assembler| assembler.beyond.as_ref().map_or(0, |beyond| beyond.visited.get());
    let before = visited(&assembler);
    assembler.insert(range(1, 20_000));
    assert!(visited(&assembler) - before <= 3 * 10_000 + RECENT as u64);
    let before = visited(&assembler);
    assembler.insert(range(20_000, 20_004));
    assert!(visited(&assembler) - before <= 2 * 3);
}

#[test]
fn only_what_is_missing_is_to_be_kept() {
    let mut assembler = Assembler::new(ORIGIN);
    let missing = |assembler: &Assembler, start, end| {
        let mut parts = Vec::new();
        assembler.for_each_missing(range(start, end), |part| parts.insert(0, part));
        parts
    };
    assembler.insert(range(0, 5));
    assert_eq!(missing(&assembler, 3, 9), [range(5, 9)]);
    assembler.insert(range(10, 20));
    assembler.insert(range(30, 40));
    assert_eq!(missing(&assembler, 0, 50), [range(5, 10), range(20, 30), range(40, 50)]);
    assert_eq!(missing(&assembler, 12, 35), [range(20, 30)]);
    assert_eq!(missing(&assembler, 12, 20), []);
    assert_eq!(missing(&assembler, 0, 5), []);
}

#[test]
fn a_fin_takes_part_as_one_number() {
    let mut assembler = Assembler::new(SeqNum(100));
    let fin = SeqRange::new(SeqNum(200), SeqNum(201));
    assert_eq!(assembler.insert(fin).kind, Arrival::OutOfOrder);
    let data = SeqRange::new(SeqNum(100), SeqNum(200));
    assert_eq!(assembler.insert(data), Insertion { advanced: 101, duplicate: None, kind: Arrival::FillsGap });
}

#[test]
fn an_empty_range_changes_nothing() {
    let mut assembler = Assembler::new(SeqNum(100));
    let nothing = SeqRange::new(SeqNum(100), SeqNum(100));
    assert_eq!(assembler.insert(nothing), Insertion { advanced: 0, duplicate: None, kind: Arrival::Duplicate });
    assert_eq!((assembler.rcv_nxt(), assembler.block_count()), (SeqNum(100), 0));
}

#[test]
fn every_second_segment_of_a_large_flight_is_held_and_then_closed_up() {
    let mut assembler = Assembler::new(ORIGIN);
    for nth in (1..4_000).step_by(2) {
        assembler.insert(range(nth * 1_448, (nth + 1) * 1_448));
    }
    assert_eq!(assembler.block_count(), 2_000);
    for nth in (0..4_000).step_by(2) {
        let insertion = assembler.insert(range(nth * 1_448, (nth + 1) * 1_448));
        assert_eq!((insertion.advanced, insertion.kind), (2 * 1_448, Arrival::FillsGap));
    }
    assert_eq!((assembler.rcv_nxt(), assembler.block_count()), (ORIGIN + 4_000 * 1_448, 0));
}

#[test]
fn nothing_is_allocated_while_segments_come_in_order() {
    let mut assembler = Assembler::new(ORIGIN);
    for nth in 0..1_000 {
        assembler.insert(range(nth * 10, (nth + 1) * 10));
    }
    assert!(assembler.beyond.is_none());
}
