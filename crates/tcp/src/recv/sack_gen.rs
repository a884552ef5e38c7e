//! What an ACK reports about data beyond `RCV.NXT`, and about duplicates (RFC 2018 §4, RFC 2883 §4).
//!
//! Owns nothing: the assembler knows the blocks and their recency, the endpoint holds the one duplicate still to be reported and
//! passes it on once.

use super::Assembler;
use base::SeqRange;
use wire::SackBlocks;

//= specs/rfc2018.md#receiver
//# The first block holds the segment that caused the ACK, unless that segment advanced RCV.NXT.
//= specs/rfc2018.md#receiver
//# As many blocks are sent as the option space takes.
//= specs/rfc2883.md#receiver
//# The block of a duplicate stands first.
//= specs/rfc2883.md#receiver
//# When the duplicate lies inside data that waits out of order, the block around it stands second.
//= specs/rfc2883.md#receiver
//# The blocks behind are those that RFC 2018 asks for.
/// Returns the blocks of the next ACK, at most `most` of them: 4, or 3 beside timestamps.
///
/// A duplicate range comes first, as a D-SACK block; if it lies in a block beyond `RCV.NXT`, that block comes second, so that the
/// peer recognises the D-SACK. Then come the blocks in the order in which segments last touched them: the block of the segment
/// that caused this ACK comes first, and the others are repeated as RFC 2018 asks.
pub(crate) fn sack_blocks(assembler: &Assembler, duplicate: Option<SeqRange>, most: usize) -> SackBlocks {
    let mut blocks = SackBlocks::NONE;
    let mut around = None;
    if let Some(duplicate) = duplicate {
        blocks.push(duplicate);
        around = assembler.block_holding(duplicate);
    }
    let others = assembler.recent().iter().copied().filter(|&block| Some(block) != around);
    for block in around.into_iter().chain(others) {
        if blocks.as_slice().len() >= most {
            break;
        }
        blocks.push(block);
    }
    blocks.truncated(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SeqNum;
    use test_case::test_case;

    /// What arrived, as `start..end`, from the initial `RCV.NXT` on.
    type Ranges = &'static [(u32, u32)];

    fn range((start, end): (u32, u32)) -> SeqRange {
        SeqRange::new(SeqNum(start), SeqNum(end))
    }

    /// Feeds `arrived`, then the segment `last`; returns the ACK that `last` causes.
    fn ack_after(first: u32, arrived: Ranges, last: (u32, u32), most: usize) -> (u32, Vec<(u32, u32)>) {
        let mut assembler = Assembler::new(SeqNum(first));
        for &segment in arrived {
            assembler.insert(range(segment));
        }
        let duplicate = assembler.insert(range(last)).duplicate;
        let blocks = sack_blocks(&assembler, duplicate, most);
        (assembler.rcv_nxt().0, blocks.as_slice().iter().map(|block| (block.start.0, block.end.0)).collect())
    }

    //= specs/rfc2883.md#receiver
    //= type=test
    //# The block of a duplicate stands first.
    //= specs/rfc2883.md#receiver
    //= type=test
    //# The block of a duplicate spans the first contiguous stretch of bytes that came twice.
    //= specs/rfc2883.md#receiver
    //= type=test
    //# When the duplicate lies inside data that waits out of order, the block around it stands second.
    //= specs/rfc2883.md#receiver
    //= type=test
    //# The blocks behind are those that RFC 2018 asks for.
    // The situations of RFC 2883 §4 and §5.
    #[test_case(&[(500, 4000)], (3000, 3500), 4000, &[(3000, 3500)]; "a duplicate below")]
    #[test_case(&[(500, 4000), (4500, 5000)], (3000, 3500), 4000, &[(3000, 3500), (4500, 5000)]; "a duplicate below and a hole")]
    #[test_case(&[(500, 4000), (4500, 5000), (5000, 5500)], (5000, 5500), 4000, &[(5000, 5500), (4500, 5500)]; "a duplicate of what waits out of order")]
    #[test_case(&[(500, 1500), (2000, 2500)], (1000, 2000), 2500, &[(1000, 1500)]; "a partial duplicate")]
    #[test_case(&[(500, 1500), (2000, 2500), (3000, 3500)], (1000, 2500), 2500, &[(1000, 1500), (3000, 3500)]; "two partial duplicates below")]
    #[test_case(&[(500, 1000), (1500, 2000), (2000, 2500), (3500, 4000)], (1500, 3000), 1000, &[(1500, 2500), (1500, 3000), (3500, 4000)]; "two adjoining partial duplicates above, merged into one")]
    #[test_case(&[(500, 3000)], (1000, 1500), 3000, &[(1000, 1500)]; "an original behind its copy")]
    fn duplicates_are_reported(arrived: Ranges, last: (u32, u32), ack: u32, blocks: Ranges) {
        assert_eq!(ack_after(500, arrived, last, 4), (ack, blocks.to_vec()));
    }

    //= specs/rfc2018.md#receiver
    //= type=test
    //# The first block holds the segment that caused the ACK, unless that segment advanced RCV.NXT.
    //= specs/rfc2018.md#receiver
    //= type=test
    //# After the first come the blocks reported most recently, so that each is reported in at least three ACKs.
    //= specs/rfc2018.md#receiver
    //= type=test
    //# The acknowledgement number stays the cumulative one.
    // RFC 2018 §7: eight segments of 500 bytes from 5000 on; the ACK after the last one.
    #[test_case(&[(5000, 7000)], (7000, 7500), 7500, &[]; "nothing is missing")]
    #[test_case(&[(5500, 8500)], (8500, 9000), 5000, &[(5500, 9000)]; "the first is missing")]
    #[test_case(&[(5500, 6000), (6500, 7000), (7500, 8000)], (8500, 9000), 5000, &[(8500, 9000), (7500, 8000), (6500, 7000), (5500, 6000)]; "every second is missing")]
    #[test_case(&[(5500, 6000), (6500, 7000), (7500, 8000), (8500, 9000)], (7000, 7500), 5000, &[(6500, 8000), (8500, 9000), (5500, 6000)]; "a hole is closed and its block comes first")]
    #[test_case(&[(5500, 6000), (6500, 7000), (7500, 8000), (8500, 9000)], (5000, 5500), 6000, &[(8500, 9000), (7500, 8000), (6500, 7000)]; "the cumulative acknowledgement takes a block away")]
    fn blocks_are_listed_latest_first(arrived: Ranges, last: (u32, u32), ack: u32, blocks: Ranges) {
        assert_eq!(ack_after(5000, arrived, last, 4), (ack, blocks.to_vec()));
    }

    //= specs/rfc2018.md#receiver
    //= type=test
    //# As many blocks are sent as the option space takes.
    #[test]
    fn no_more_blocks_are_listed_than_fit() {
        let arrived = &[(20, 21), (30, 31), (40, 41), (50, 51)];
        assert_eq!(ack_after(0, arrived, (60, 61), 3).1, [(60, 61), (50, 51), (40, 41)]);
        assert_eq!(ack_after(0, arrived, (20, 21), 3).1, [(20, 21), (20, 21), (50, 51)]);
        assert_eq!(ack_after(0, arrived, (20, 21), 1).1, [(20, 21)]);
    }

    #[test]
    fn a_duplicate_that_was_overtaken_by_the_cumulative_acknowledgement_stands_alone() {
        let mut assembler = Assembler::new(SeqNum(100));
        assembler.insert(range((200, 300)));
        let duplicate = assembler.insert(range((200, 250))).duplicate;
        assembler.insert(range((100, 200)));
        assert_eq!(sack_blocks(&assembler, duplicate, 4).as_slice(), [range((200, 250))]);
    }

    //= specs/rfc2018.md#receiver
    //= type=test
    //# After the first come the blocks reported most recently, so that each is reported in at least three ACKs.
    #[test]
    fn block_is_repeated_in_at_least_three_acks() {
        let mut assembler = Assembler::new(SeqNum(0));
        let mut seen = 0;
        for nth in 1..=10 {
            assembler.insert(range((nth * 100, nth * 100 + 50)));
            seen += usize::from(sack_blocks(&assembler, None, 3).as_slice().contains(&range((400, 450))));
        }
        assert_eq!(seen, 3);
    }
}
