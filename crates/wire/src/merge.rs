//! Merges packets into a super-segment, as receiving devices do before a host sees them. The reverse of
//! [`Cuts`](crate::Cuts), and as careful: splitting the result restores the packets, except for identifications and
//! checksums.

use crate::checksum::offset_of_segment;
use crate::parts::{CWR, FIN, FLAGS_AT, IPV6_HEADER, PSH, get, put, put_ipv4_checksum};

/// A super-segment that may still grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Where the TCP header begins.
    tcp_at: usize,
    /// Payload bytes of the first packet: no later one has more.
    size: u32,
    /// Payload bytes so far.
    len: u32,
    /// Whether another packet may follow.
    growth: Growth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Open,
    /// The last packet was shorter than the first, or carried PSH.
    Ended,
}

/// Flags with which a packet may be the first one: ACK, and marks that concern congestion control (RFC 3168 §6.1).
const FIRST_FLAGS: u8 = 0x10 | 0x40 | 0x80;
/// Where the acknowledgement number stands in a TCP header; what follows it — flags, window, options — is compared whole.
const ACK_AT: usize = 8;
/// The checksum of a TCP header: comparisons skip these bytes.
const CHECKSUM: core::ops::Range<usize> = 16..18;

impl Merge {
    /// Begins with a packet, if another one may follow it: it carries data, and no flag that is tied to its position.
    ///
    /// `header` must come from [`crate::split`] or [`crate::emit`].
    pub fn begin(header: &[u8], payload_len: u32) -> Option<Self> {
        let tcp_at = offset_of_segment(header);
        let plain = header[tcp_at + FLAGS_AT] & !FIRST_FLAGS == 0;
        let merge = Self { tcp_at, size: payload_len, len: payload_len, growth: Growth::Open };
        (plain && payload_len > 0).then_some(merge)
    }

    /// Returns the payload of each packet except the last, in bytes, if there are several.
    pub fn gso_size(&self) -> Option<u16> {
        if self.len > self.size { u16::try_from(self.size).ok() } else { None }
    }

    /// Absorbs the next packet if it continues the merged ones; `first` is then the header of all.
    pub fn absorb(&mut self, first: &mut [u8], next: &[u8], payload_len: u32) -> bool {
        let absorbed = self.join(first, next, payload_len);
        if absorbed {
            self.finish(first);
        }
        absorbed
    }

    /// Absorbs the next packet like [`Self::absorb`], and leaves `first` without its new length until [`Self::finish`].
    pub fn join(&mut self, first: &mut [u8], next: &[u8], payload_len: u32) -> bool {
        let len = self.len + payload_len;
        let fits = payload_len > 0 && payload_len <= self.size && first.len() + len as usize <= usize::from(u16::MAX);
        if self.growth == Growth::Ended || !fits || !self.continues(first, next) {
            return false;
        }
        self.len = len;
        let ends = next[self.tcp_at + FLAGS_AT] & (FIN | PSH);
        first[self.tcp_at + FLAGS_AT] |= ends;
        if ends != 0 || payload_len < self.size {
            self.growth = Growth::Ended;
        }
        true
    }

    /// Writes the length of the merged packets into `first`, and what depends on it.
    pub fn finish(&self, first: &mut [u8]) {
        let len = first.len() + self.len as usize;
        if first[0] >> 4 == 4 {
            put(first, 2, len as u16);
            put_ipv4_checksum(first);
        } else {
            put(first, 4, (len - IPV6_HEADER) as u16);
        }
    }

    /// Returns whether the headers differ only where [`Cuts`](crate::Cuts) makes them differ.
    fn continues(&self, first: &[u8], next: &[u8]) -> bool {
        if first.len() != next.len() || !same_ip(first, next, self.tcp_at) {
            return false;
        }
        let (before, behind) = (&first[self.tcp_at..], &next[self.tcp_at..]);
        let seq = |tcp: &[u8]| u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let flags = |tcp: &[u8]| tcp[FLAGS_AT] & !(FIN | PSH);
        // CWR belongs to the first packet only, so another one with CWR starts a new super-segment.
        let same_flags = flags(before) & !CWR == flags(behind);
        seq(behind) == seq(before).wrapping_add(self.len)
            && before[..4] == behind[..4]
            && before[ACK_AT..FLAGS_AT] == behind[ACK_AT..FLAGS_AT]
            && same_flags
            && before[FLAGS_AT + 1..CHECKSUM.start] == behind[FLAGS_AT + 1..CHECKSUM.start]
            && before[CHECKSUM.end..] == behind[CHECKSUM.end..]
    }
}

/// Returns whether two IP headers belong to one flow with the same marks: all but length, identification and checksum match.
fn same_ip(first: &[u8], next: &[u8], tcp_at: usize) -> bool {
    if first[0] >> 4 == 4 {
        get(first, 0) == get(next, 0) && first[6..10] == next[6..10] && first[12..tcp_at] == next[12..tcp_at]
    } else {
        first[..4] == next[..4] && first[6..tcp_at] == next[6..tcp_at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::{emitted, segment, v4, v6};
    use crate::{Cuts, Ecn, Flags, IpRepr, TcpRepr};
    use base::SeqNum;
    use test_case::test_case;

    const SIZE: u16 = 1_000;

    fn header(version: u8, flags: Flags, payload_len: u32) -> Vec<u8> {
        let tcp = TcpRepr { seq: SeqNum(u32::MAX - 500), flags, ..segment() };
        emitted(&if version == 4 { v4() } else { v6() }, &tcp, payload_len)
    }

    fn parts(whole: &[u8], len: u32) -> Vec<(Vec<u8>, u32)> {
        let mut cuts = Cuts::new(whole, len as usize, Some(SIZE));
        let mut part = || {
            let mut header = whole.to_vec();
            let place = cuts.next_into(&mut header)?;
            Some((header, place.len() as u32))
        };
        core::iter::from_fn(&mut part).collect()
    }

    #[test_case(4, Flags::NONE, 3_000)]
    #[test_case(4, Flags::PSH, 2_500)]
    #[test_case(6, Flags::PSH.with(Flags::FIN), 2_001)]
    #[test_case(4, Flags::CWR.with(Flags::PSH), 1_001)]
    #[test_case(6, Flags::CWR, 64_000)]
    fn what_was_cut_is_merged_to_what_it_was(version: u8, flags: Flags, len: u32) {
        let whole = header(version, flags, len);
        let parts = parts(&whole, len);
        let (mut merged, first_len) = parts[0].clone();
        let mut merge = Merge::begin(&merged, first_len).unwrap();
        assert_eq!(merge.gso_size(), None);
        for (part, part_len) in &parts[1..] {
            assert!(merge.absorb(&mut merged, part, *part_len), "{part_len} bytes");
        }
        assert_eq!(merged, whole);
        assert_eq!(merge.gso_size(), Some(SIZE));
    }

    #[test]
    fn the_end_of_a_super_segment_ends_it() {
        for flags in [Flags::PSH, Flags::FIN, Flags::NONE] {
            let whole = header(4, flags, 1_500);
            let (mut merged, len) = parts(&whole, 1_500)[0].clone();
            let mut merge = Merge::begin(&merged, len).unwrap();
            let [_, (last, last_len)] = &parts(&whole, 1_500)[..] else { panic!("two parts") };
            assert!(merge.absorb(&mut merged, last, *last_len));
            let tcp = TcpRepr { seq: SeqNum(u32::MAX - 500) + 1_500, flags: Flags::NONE, ..segment() };
            assert!(!merge.absorb(&mut merged, &emitted(&v4(), &tcp, 10), 10), "behind {flags:?}");
        }
    }

    #[test_case(Flags::SYN)]
    #[test_case(Flags::RST)]
    #[test_case(Flags::URG)]
    #[test_case(Flags::FIN)]
    #[test_case(Flags::PSH)]
    fn a_flag_that_means_something_at_its_place_stays_there(flags: Flags) {
        assert_eq!(Merge::begin(&header(4, flags, 1_000), 1_000), None);
    }

    #[test]
    fn no_packet_joins_another_with_which_it_is_not_one() {
        let next = || TcpRepr { seq: SeqNum(u32::MAX - 500) + 1_000, flags: Flags::NONE, ..segment() };
        let joins = |ip: &IpRepr, tcp: &TcpRepr, len: u32| {
            let mut first = header(4, Flags::NONE, 1_000);
            Merge::begin(&first, 1_000).unwrap().absorb(&mut first, &emitted(ip, tcp, len), len)
        };
        assert!(joins(&v4(), &next(), 1_000) && joins(&v4(), &next(), 1));
        assert!(!joins(&v4(), &next(), 0), "no data");
        assert!(!joins(&v4(), &next(), 1_001), "more than the first");
        assert!(!joins(&v4(), &TcpRepr { seq: next().seq + 1, ..next() }, 1_000), "a gap");
        assert!(!joins(&v4(), &TcpRepr { src_port: 9, ..next() }, 1_000), "another flow");
        assert!(!joins(&v4(), &TcpRepr { ack: next().ack.map(|ack| ack + 1), ..next() }, 1_000), "another ACK");
        assert!(!joins(&v4(), &TcpRepr { window: next().window ^ 1, ..next() }, 1_000), "another window");
        assert!(!joins(&v4(), &TcpRepr { flags: Flags::CWR, ..next() }, 1_000), "an answer to congestion");
        assert!(!joins(&IpRepr { ecn: Ecn::Ce, ..v4() }, &next(), 1_000), "a mark");
        assert!(!joins(&v6(), &next(), 1_000), "another version");
    }

    #[test]
    fn a_super_segment_fits_its_length_field() {
        let mut first = header(4, Flags::NONE, 60_000);
        let mut merge = Merge::begin(&first, 60_000).unwrap();
        let tcp = TcpRepr { seq: SeqNum(u32::MAX - 500) + 60_000, flags: Flags::NONE, ..segment() };
        assert!(!merge.absorb(&mut first, &emitted(&v4(), &tcp, 6_000), 6_000));
    }
}
