//! Which ACK makes an older one of the same flow needless, read from IP packets in bytes.
//!
//! A pure ACK is a TCP segment without data whose only flag is ACK, beside those of ECN (RFC 9293 §3.1, RFC 3168 §6.1). A newer one
//! supersedes an older one if it acknowledges more, has the same flags, and repeats or acknowledges every SACK block of the older one
//! (RFC 2018). A block that reports a duplicate (RFC 2883 §4) is not repeated, so its ACK is never superseded; nor is a duplicate ACK
//! by another.
//!
//! Accepts any bytes: what cannot be read is not a pure ACK.

use crate::ip;
use base::SeqNum;

const ACK: u8 = 0x10;
/// Flags that a pure ACK has clear: URG, PSH, RST, SYN, FIN.
const NOT_PURE: u8 = 0x2f;
/// Bytes of a TCP header without options.
const HEADER: usize = 20;
const KIND_SACK: u8 = 5;
/// As many as the options hold.
const MOST_BLOCKS: usize = 4;

/// What a pure ACK says.
struct PureAck {
    ack: SeqNum,
    /// Bytes 12 and 13 without the length: reserved bits and flags.
    flags: (u8, u8),
    blocks: [Option<Block>; MOST_BLOCKS],
}

type Block = (SeqNum, SeqNum);

/// Returns whether a packet is a pure ACK.
pub fn is_pure(packet: &[u8]) -> bool {
    read(packet).is_some()
}

/// Returns whether `newer` makes `older`, of the same flow and earlier, needless.
pub fn supersedes(newer: &[u8], older: &[u8]) -> bool {
    let Some((newer, older)) = read(newer).zip(read(older)) else { return false };
    newer.flags == older.flags
        && older.ack.before(newer.ack)
        && !older.reports_duplicate()
        && older.blocks.iter().flatten().all(|block| newer.covers(block))
}

impl PureAck {
    /// The first block is a D-SACK if it lies below the acknowledgement or inside the second (RFC 2883 §4).
    fn reports_duplicate(&self) -> bool {
        let [Some((left, right)), second, ..] = self.blocks else { return false };
        let inside = |(outer_left, outer_right): Block| !left.before(outer_left) && !outer_right.before(right);
        left.before(self.ack) || second.is_some_and(inside)
    }

    fn covers(&self, (left, right): &Block) -> bool {
        let inside = |(outer_left, outer_right): &Block| !left.before(*outer_left) && !outer_right.before(*right);
        !self.ack.before(*right) || self.blocks.iter().flatten().any(inside)
    }
}

fn read(packet: &[u8]) -> Option<PureAck> {
    let tcp = ip::tcp(packet)?;
    let header = usize::from(*tcp.get(12)? >> 4) * 4;
    let flags = *tcp.get(13)?;
    if header < HEADER || header != tcp.len() || flags & ACK == 0 || flags & NOT_PURE != 0 {
        return None;
    }
    let mut found = PureAck { ack: number(tcp, 8)?, flags: (tcp[12] & 0xf, flags), blocks: [None; MOST_BLOCKS] };
    let mut options = &tcp[HEADER..];
    while let [kind, rest @ ..] = options {
        options = match (kind, rest) {
            (0, _) => break,
            (1, rest) => rest,
            (kind, [len, ..]) => {
                let option = options.get(..usize::from(*len)).filter(|option| option.len() >= 2)?;
                if *kind == KIND_SACK {
                    for (place, at) in found.blocks.iter_mut().zip((2..option.len()).step_by(8)) {
                        *place = Some((number(option, at)?, number(option, at + 4)?));
                    }
                }
                &options[option.len()..]
            }
            _ => return None,
        };
    }
    Some(found)
}

fn number(bytes: &[u8], at: usize) -> Option<SeqNum> {
    let bytes: &[u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(SeqNum(u32::from_be_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const ECE: u8 = 0x40;

    /// An IPv4 or IPv6 packet with this TCP segment.
    fn packet(version: u8, ack: u32, flags: u8, blocks: &[(u32, u32)], payload: usize) -> Vec<u8> {
        let mut tcp = vec![0; 20];
        tcp[8..12].copy_from_slice(&ack.to_be_bytes());
        tcp[13] = flags;
        tcp.extend([1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8]);
        if !blocks.is_empty() {
            tcp.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            blocks.iter().for_each(|(left, right)| tcp.extend([left.to_be_bytes(), right.to_be_bytes()].concat()));
        }
        tcp[12] = (tcp.len() as u8 / 4) << 4;
        tcp.extend(vec![7; payload]);
        let mut ip = match version {
            4 => vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6],
            _ => vec![0x60, 0, 0, 0, 0, 0, 6, 64],
        };
        ip.resize(if version == 4 { 20 } else { 40 }, 1);
        if version == 4 {
            let len = (ip.len() + tcp.len()) as u16;
            ip[2..4].copy_from_slice(&len.to_be_bytes());
        } else {
            ip[4..6].copy_from_slice(&(tcp.len() as u16).to_be_bytes());
        }
        [ip, tcp].concat()
    }

    #[test_case(ACK, 0 => true; "nothing else")]
    #[test_case(ACK | ECE, 0 => true; "an echo of a mark")]
    #[test_case(ACK | 0x01, 0 => false; "the end")]
    #[test_case(ACK | 0x02, 0 => false; "the beginning")]
    #[test_case(ACK | 0x04, 0 => false; "a reset")]
    #[test_case(ACK | 0x08, 0 => false; "a push")]
    #[test_case(0, 0 => false; "no acknowledgement")]
    #[test_case(ACK, 1 => false; "a byte of data")]
    fn a_pure_ack_has_no_data_and_no_other_flag(flags: u8, payload: usize) -> bool {
        let [four, six] = [4, 6].map(|version| is_pure(&packet(version, 5, flags, &[(7, 9)], payload)));
        assert_eq!(four, six);
        four
    }

    type Said<'a> = (u32, u8, &'a [(u32, u32)]);

    #[test_case((200, ACK, &[]), (100, ACK, &[]) => true; "acknowledges more")]
    #[test_case((5, ACK, &[]), (u32::MAX, ACK, &[]) => true; "across the end of the numbers")]
    #[test_case((100, ACK, &[]), (100, ACK, &[]) => false; "a duplicate")]
    #[test_case((100, ACK, &[(300, 400)]), (100, ACK, &[(300, 350)]) => false; "a duplicate that reports more")]
    #[test_case((100, ACK, &[]), (200, ACK, &[]) => false; "an older one")]
    #[test_case((200, ACK, &[]), (100, ACK | ECE, &[]) => false; "an echo of a mark that the newer lacks")]
    #[test_case((200, ACK, &[(300, 500)]), (100, ACK, &[(300, 400)]) => true; "a block that grew")]
    #[test_case((400, ACK, &[]), (100, ACK, &[(300, 400)]) => true; "a block that is acknowledged")]
    #[test_case((399, ACK, &[]), (100, ACK, &[(300, 400)]) => false; "a block that is acknowledged but for a byte")]
    #[test_case((200, ACK, &[(600, 700)]), (100, ACK, &[(300, 400)]) => false; "a block that the newer has no room for")]
    #[test_case((200, ACK, &[(500, 600), (300, 400)]), (100, ACK, &[(300, 400), (520, 530)]) => true; "blocks in another order")]
    #[test_case((200, ACK, &[]), (100, ACK, &[(50, 60)]) => false; "a duplicate below")]
    #[test_case((900, ACK, &[]), (100, ACK, &[(300, 400), (200, 500)]) => false; "a duplicate above")]
    fn newer_over_older(newer: Said<'_>, older: Said<'_>) -> bool {
        let [four, six] = [4, 6].map(|version| {
            let [newer, older] = [newer, older].map(|(ack, flags, blocks)| packet(version, ack, flags, blocks, 0));
            supersedes(&newer, &older)
        });
        assert_eq!(four, six);
        four
    }

    #[test]
    fn any_bytes_are_read_without_harm() {
        let whole = packet(4, 5, ACK, &[(7, 9), (11, 13)], 0);
        for len in 0..whole.len() {
            assert!(!is_pure(&whole[..len]));
            let mut changed = whole.clone();
            (0..=255).for_each(|byte| {
                changed[len] = byte;
                supersedes(&changed, &whole);
            });
        }
        let [mut udp, mut fragment] = [whole.clone(), whole];
        udp[9] = 17;
        fragment[6] = 0x20;
        assert!(!is_pure(&udp) && !is_pure(&fragment));
    }
}
