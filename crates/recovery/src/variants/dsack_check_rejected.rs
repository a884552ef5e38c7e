//! Does: takes every block that begins below the cumulative ACK for malformed, so that no duplicate is ever recognised.
//! RFC: 2883 §4 reports a duplicate by a first block below the cumulative ACK, or inside the second block.
//! Believed because: a published analysis of one client release, which always counted zero duplicates and which a patch of
//! one byte cured. That the block is discarded whole is one reading of it; the milder one is a variant of its own.
//! Used by: profiles that name `dsack_check_rejected`.
//! Shown by: `parity_wherever_no_duplicate_is_reported`, `bite_no_duplicate_is_recognised`, and the table of all blocks on
//! which the two disagree, a snapshot.
//!
//! It is not known whether the release recognised duplicates of data that is still queued; the variant assumes that it did not.
//! Such a block reports what the second block reports too, so it counts as a report of new data.

use crate::sack::{BlockClass, BlockCx, RejectReason, SackBlock, rfc2883};

/// The check that rejects every duplicate report.
pub fn dsack_check_rejected(block: SackBlock, cx: &BlockCx) -> BlockClass {
    if block.start.before(cx.seg_ack) {
        BlockClass::Reject(RejectReason::BelowAck)
    } else {
        rfc2883(block, &BlockCx { second: None, ..*cx })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sack::every_block::{differences, every_block, kind};

    #[test]
    fn parity_wherever_no_duplicate_is_reported() {
        let mut compared = 0;
        every_block(|block, cx| {
            let class = rfc2883(block, cx);
            if class != BlockClass::Dsack {
                assert_eq!(kind(dsack_check_rejected(block, cx)), kind(class), "{block} with {cx:?}");
                compared += 1;
            }
        });
        assert!(compared > 100_000, "{compared}");
    }

    #[test]
    fn bite_no_duplicate_is_recognised() {
        let mut duplicates = 0;
        every_block(|block, cx| {
            duplicates += u32::from(rfc2883(block, cx) == BlockClass::Dsack);
            assert_ne!(dsack_check_rejected(block, cx), BlockClass::Dsack, "{block} with {cx:?}");
        });
        assert!(duplicates > 10_000, "{duplicates}");
    }

    #[test]
    fn the_table_of_its_mistakes() {
        insta::assert_snapshot!(differences("dsack_check_rejected", dsack_check_rejected));
    }
}
