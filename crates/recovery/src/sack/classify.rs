//! Separates selective acknowledgements from duplicate reports and from invalid blocks (RFC 2883 §4, §5).
//!
//! One pure function behind one function pointer, so that the faulty check of a shipped TCP is another function.
//! Deviation: a duplicate report that reaches further back than the largest window the peer ever offered is rejected; data that
//! old cannot be a copy from this flight.

use base::{Bytes, SeqNum, SeqRange};

/// A block as the option carries it: first number inside, first number behind.
pub type SackBlock = SeqRange;

/// The inputs of the check of one block.
#[derive(Clone, Copy, Debug)]
pub struct BlockCx {
    /// The acknowledgement number of the segment that carries the block.
    pub seg_ack: SeqNum,
    /// First byte not cumulatively acknowledged, before this segment.
    pub snd_una: SeqNum,
    /// One past the highest byte sent.
    pub snd_nxt: SeqNum,
    /// The largest window the peer ever offered.
    pub max_window: Bytes,
    /// Place of the block in the option; zero is the first.
    pub position: usize,
    /// The second block, when this is the first and there is one.
    pub second: Option<SackBlock>,
}

/// What a block means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockClass {
    /// Data above the cumulative ACK has arrived.
    Sack,
    /// Data arrived twice.
    Dsack,
    /// Invalid, or reports nothing new.
    Reject(RejectReason),
}

/// Why a block is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectReason {
    /// Its end is not behind its start.
    Empty,
    /// It reports data that was never sent.
    BeyondSent,
    /// Below the cumulative ACK, but not at the position of a duplicate report, or partly above it.
    BelowAck,
    /// An earlier segment, which overtook this one, acknowledged all of it.
    Stale,
    /// A duplicate report that reaches back further than the largest window.
    TooOld,
}

/// The seam: how a block is classified.
pub type ClassifyBlock = fn(SackBlock, &BlockCx) -> BlockClass;

//= specs/rfc2883.md#sender
//# A first block below the acknowledgement number of its own segment is a duplicate report.
//= specs/rfc2883.md#sender
//# A first block inside the second one is a duplicate report.
//= specs/rfc2883.md#sender
//# An overtaken segment's blocks are judged by its own acknowledgement number, not by SND.UNA.
/// The check of RFC 2883 §4: a first block is a duplicate report if it lies below the segment's own acknowledgement, its end
/// included, or inside the second block.
pub fn rfc2883(block: SackBlock, cx: &BlockCx) -> BlockClass {
    if block.is_empty() {
        return BlockClass::Reject(RejectReason::Empty);
    }
    if block.end.after(cx.snd_nxt) {
        return BlockClass::Reject(RejectReason::BeyondSent);
    }
    // Compares with the segment's own ACK: an overtaken segment reports duplicates relative to its own acknowledgement, and its
    // genuine blocks may lie below SND.UNA by now.
    if block.start.before(cx.seg_ack) {
        if cx.position > 0 || block.end.after(cx.seg_ack) {
            return BlockClass::Reject(RejectReason::BelowAck);
        }
        if cx.seg_ack.distance_from(block.start) > cx.max_window {
            return BlockClass::Reject(RejectReason::TooOld);
        }
        return BlockClass::Dsack;
    }
    if cx.position == 0 && cx.second.is_some_and(|second| !second.is_empty() && second.covers(block)) {
        return BlockClass::Dsack;
    }
    if block.end.at_or_before(cx.snd_una) {
        return BlockClass::Reject(RejectReason::Stale);
    }
    BlockClass::Sack
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock::new(SeqNum(start), SeqNum(end))
    }

    /// Classifies all blocks of one ACK, with every number moved up by `offset`; everything up to 9000 was sent.
    fn classes(ack: u32, blocks: &[(u32, u32)], offset: u32) -> Vec<BlockClass> {
        let moved: Vec<SackBlock> =
            blocks.iter().map(|&(s, e)| SackBlock::new(SeqNum(s) + offset, SeqNum(e) + offset)).collect();
        let cx = |position: usize| BlockCx {
            seg_ack: SeqNum(ack) + offset,
            snd_una: SeqNum(ack) + offset,
            snd_nxt: SeqNum(9000) + offset,
            max_window: 65_535,
            position,
            second: if position == 0 { moved.get(1).copied() } else { None },
        };
        moved.iter().enumerate().map(|(position, &block)| rfc2883(block, &cx(position))).collect()
    }

    const D: BlockClass = BlockClass::Dsack;
    const S: BlockClass = BlockClass::Sack;

    //= specs/rfc2883.md#sender
    //= type=test
    //# A first block below the acknowledgement number of its own segment is a duplicate report.
    //= specs/rfc2883.md#sender
    //= type=test
    //# A first block inside the second one is a duplicate report.
    // The situations of RFC 2883 §4 and §5.
    #[test_case(4000, &[(3000, 3500)] => vec![D]; "duplicate below the ACK")]
    #[test_case(4000, &[(3000, 3500), (4500, 5000)] => vec![D, S]; "duplicate below the ACK beside a hole")]
    #[test_case(4000, &[(5000, 5500), (4500, 5500)] => vec![D, S]; "duplicate of queued data")]
    #[test_case(4000, &[(5000, 5500), (5000, 5500)] => vec![D, S]; "duplicate of all that is queued")]
    #[test_case(2500, &[(1000, 1500)] => vec![D]; "partly duplicate")]
    #[test_case(2500, &[(1000, 1500), (3000, 3500)] => vec![D, S]; "two partial duplicates below")]
    #[test_case(1000, &[(1500, 2000), (1500, 3000), (3500, 4000)] => vec![D, S, S]; "two partial duplicates above")]
    #[test_case(3000, &[(1000, 1500)] => vec![D]; "late original after its copy")]
    #[test_case(1500, &[(1000, 1500)] => vec![D]; "its end is the ACK itself")]
    #[test_case(1000, &[(2000, 2500), (3000, 3500)] => vec![S, S]; "no duplicate at all")]
    fn rfc_2883_by_example(ack: u32, blocks: &[(u32, u32)]) -> Vec<BlockClass> {
        let plain = classes(ack, blocks, 0);
        assert_eq!(plain, classes(ack, blocks, u32::MAX - 3200), "across the wrap");
        plain
    }

    #[test_case(1000, 1000, 0 => RejectReason::Empty)]
    #[test_case(2000, 1500, 0 => RejectReason::Empty; "backwards")]
    #[test_case(8500, 9001, 0 => RejectReason::BeyondSent)]
    #[test_case(3500, 4500, 0 => RejectReason::BelowAck; "both sides of the ACK")]
    #[test_case(3000, 3500, 1 => RejectReason::BelowAck; "duplicate report in second place")]
    #[test_case(4500, 5000, 0 => RejectReason::Stale; "acknowledged since")]
    #[test_case(2900, 3000, 0 => RejectReason::TooOld)]
    fn refuses(start: u32, end: u32, position: usize) -> RejectReason {
        let cx = BlockCx {
            seg_ack: SeqNum(4000),
            snd_una: SeqNum(6000),
            snd_nxt: SeqNum(9000),
            max_window: 1000,
            position,
            second: None,
        };
        match rfc2883(block(start, end), &cx) {
            BlockClass::Reject(reason) => reason,
            class => panic!("classified as {class:?}"),
        }
    }

    //= specs/rfc2883.md#sender
    //= type=test
    //# An overtaken segment's blocks are judged by its own acknowledgement number, not by SND.UNA.
    #[test]
    fn an_overtaken_ack_is_judged_by_its_own_number() {
        // SND.UNA has moved to 6000 since; the block lies below it but is not a duplicate report.
        let cx = BlockCx {
            seg_ack: SeqNum(4000),
            snd_una: SeqNum(6000),
            snd_nxt: SeqNum(9000),
            max_window: 65_535,
            position: 0,
            second: None,
        };
        assert_eq!(rfc2883(block(5000, 7000), &cx), S);
        assert_ne!(rfc2883(block(4500, 5500), &cx), D);
    }

    #[test]
    fn a_duplicate_report_reaches_back_as_far_as_the_largest_window() {
        let report = |start: u32| BlockCx {
            seg_ack: SeqNum(5000),
            snd_una: SeqNum(5000),
            snd_nxt: SeqNum(9000),
            max_window: 5000 - start,
            position: 0,
            second: None,
        };
        assert_eq!(rfc2883(block(1000, 2000), &report(1000)), BlockClass::Dsack);
        assert_eq!(rfc2883(block(1000, 2000), &report(1001)), BlockClass::Reject(RejectReason::TooOld));
    }
}
