//! Does: takes a block that begins below the cumulative ACK and ends exactly at it for malformed.
//! RFC: 2883 §4 has duplicate reports that end at the cumulative ACK: the copy of a late segment makes one.
//! Believed because: a published analysis of one client release, whose check of duplicate reports a patch of one byte cured.
//! That the comparison is merely strict where it should admit equality is the milder of two readings.
//! Used by: profiles that name `dsack_check_strict_right`.
//! Shown by: `parity_unless_a_duplicate_ends_at_the_ack`, `bite_the_copy_of_a_late_segment_goes_unrecognised`, and the table
//! of all blocks on which the two disagree, a snapshot.

use crate::sack::{BlockClass, BlockCx, RejectReason, SackBlock, rfc2883};

/// The check that requires a duplicate to end below the cumulative ACK.
pub fn dsack_check_strict_right(block: SackBlock, cx: &BlockCx) -> BlockClass {
    if block.start.before(cx.seg_ack) && block.end == cx.seg_ack {
        BlockClass::Reject(RejectReason::BelowAck)
    } else {
        rfc2883(block, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sack::every_block::{differences, every_block};
    use base::SeqNum;

    #[test]
    fn parity_unless_a_duplicate_ends_at_the_ack() {
        let mut compared = 0;
        every_block(|block, cx| {
            if block.end != cx.seg_ack {
                assert_eq!(dsack_check_strict_right(block, cx), rfc2883(block, cx), "{block} with {cx:?}");
                compared += 1;
            }
        });
        assert!(compared > 100_000, "{compared}");
    }

    /// The last situation of RFC 2883 §5: the original arrives, the ACK moves to its end, then its copy arrives.
    #[test]
    fn bite_the_copy_of_a_late_segment_goes_unrecognised() {
        let cx = BlockCx {
            seg_ack: SeqNum(1500),
            snd_una: SeqNum(1500),
            snd_nxt: SeqNum(9000),
            max_window: 65_535,
            position: 0,
            second: None,
        };
        let block = SackBlock::new(SeqNum(1000), SeqNum(1500));
        assert_eq!(rfc2883(block, &cx), BlockClass::Dsack);
        assert_eq!(dsack_check_strict_right(block, &cx), BlockClass::Reject(RejectReason::BelowAck));
        let further = BlockCx { seg_ack: SeqNum(2000), ..cx };
        assert_eq!(dsack_check_strict_right(block, &further), BlockClass::Dsack);
    }

    #[test]
    fn the_table_of_its_mistakes() {
        insta::assert_snapshot!(differences("dsack_check_strict_right", dsack_check_strict_right));
    }
}
