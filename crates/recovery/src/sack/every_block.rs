//! For tests: every block that an ACK can carry in a small sequence space, and on which of them a check disagrees with
//! RFC 2883.
//!
//! The space has twelve numbers with the wrap in its middle; a block's ends, the segment's ACK, `SND.UNA` and `SND.NXT` take all
//! values. Only ACKs that an endpoint would process count: those for sent data, including late ones.

use super::{BlockClass, BlockCx, ClassifyBlock, SackBlock, rfc2883};
use base::SeqNum;
use core::fmt::Write;
use std::collections::BTreeMap;

/// Numbers in the space.
const SPACE: u32 = 12;
const ORIGIN: SeqNum = SeqNum(u32::MAX - SPACE / 2 + 1);

fn numbers() -> impl Iterator<Item = SeqNum> + Clone {
    (0..SPACE).map(|offset| ORIGIN + offset)
}

/// Returns the positions that a block can have in the option.
fn places(block: SackBlock) -> [(usize, Option<SackBlock>); 4] {
    let beside = SackBlock::new(block.end, block.end + 1);
    [(0, None), (0, Some(block)), (0, Some(beside)), (1, None)]
}

/// Calls `check` with every block of every ACK.
pub fn every_block(mut check: impl FnMut(SackBlock, &BlockCx)) {
    let acks = numbers().flat_map(|seg_ack| numbers().map(move |snd_una| (seg_ack, snd_una)));
    for (seg_ack, snd_una) in acks {
        for snd_nxt in numbers().filter(|nxt| nxt.at_or_after(snd_una) && nxt.at_or_after(seg_ack)) {
            for block in numbers().flat_map(|start| numbers().map(move |end| SackBlock::new(start, end))) {
                for (position, second) in places(block) {
                    check(block, &BlockCx { seg_ack, snd_una, snd_nxt, max_window: SPACE, position, second });
                }
            }
        }
    }
}

/// Names a class; all reasons for a rejection count alike.
pub fn kind(class: BlockClass) -> &'static str {
    match class {
        BlockClass::Sack => "SACK",
        BlockClass::Dsack => "D-SACK",
        BlockClass::Reject(_) => "refused",
    }
}

fn place(cx: &BlockCx, block: SackBlock) -> &'static str {
    match (cx.position, cx.second) {
        (0, None) => "first and only",
        (0, Some(second)) if second.covers(block) => "first, inside the second",
        (0, Some(_)) => "first, beside the second",
        _ => "second",
    }
}

fn left(block: SackBlock, cx: &BlockCx) -> &'static str {
    match block.start.distance_from(cx.seg_ack) as i32 {
        ..0 => "below ACK",
        0 => "at ACK",
        1.. => "above ACK",
    }
}

fn right(block: SackBlock, cx: &BlockCx) -> &'static str {
    match block.end.distance_from(cx.seg_ack) as i32 {
        _ if block.is_empty() => "not behind the left",
        _ if block.end.after(cx.snd_nxt) => "beyond what was sent",
        1.. if block.end.at_or_before(cx.snd_una) => "above ACK, acknowledged since",
        ..0 => "below ACK",
        0 => "at ACK",
        1.. => "above ACK",
    }
}

/// Returns the table of disagreements, one line per relation between block and ACK that has one.
pub fn differences(name: &str, check: ClassifyBlock) -> String {
    let mut relations: BTreeMap<_, (u32, BTreeMap<_, u32>)> = BTreeMap::new();
    let (mut all, mut differing) = (0u32, 0u32);
    every_block(|block, cx| {
        let relation = (place(cx, block), left(block, cx), right(block, cx));
        let (rfc, found) = (kind(rfc2883(block, cx)), kind(check(block, cx)));
        let (blocks, classes) = relations.entry(relation).or_default();
        (all, *blocks) = (all + 1, *blocks + 1);
        if rfc != found {
            differing += 1;
            *classes.entry((rfc, found)).or_default() += 1;
        }
    });
    let mut text = format!("{differing} of {all} blocks are classified wrongly by {name}\n\n");
    let head = ["block", "left edge", "right edge", "rfc2883", "found", "blocks", "of"];
    let mut line = |cells: [&str; 7]| {
        let [place, left, right, rfc, found, blocks, of] = cells;
        let _ = writeln!(text, "{place:<24}  {left:<9}  {right:<29}  {rfc:<7}  {found:<7}  {blocks:>6}  {of:>6}");
    };
    line(head);
    for ((place, left, right), (of, classes)) in &relations {
        for ((rfc, found), blocks) in classes {
            line([place, left, right, rfc, found, &blocks.to_string(), &of.to_string()]);
        }
    }
    text
}
