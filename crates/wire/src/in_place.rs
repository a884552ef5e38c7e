//! Cuts a super-segment into packets in the buffer that it lies in, for devices that take single packets.

use crate::checksum::Ends;
use crate::{Cuts, MAX_HEADER, Malformed, split};
use core::ops::Range;

/// Cuts one super-segment, packet by packet.
///
/// The header of each packet is written in front of its payload, over the payload of the packet before, which must have left by then.
/// So a header moves for each packet, and no payload.
#[derive(Clone, Debug)]
pub struct CutInPlace {
    /// The super-segment's header.
    header: [u8; MAX_HEADER],
    header_len: usize,
    ends: Ends,
    cuts: Cuts,
}

impl CutInPlace {
    /// Begins with the super-segment `packet`, whose packets carry `gso_size` bytes each; without a size, the packet is the only one.
    ///
    /// # Errors
    /// Names the reason why it is not one, or [`Malformed::NotTcp`].
    pub fn new(packet: &[u8], gso_size: Option<u16>) -> Result<Self, Malformed> {
        let split = split(packet)?;
        split.header.tcp_at()?;
        let bytes = split.header.bytes();
        let mut header = [0; MAX_HEADER];
        header.get_mut(..bytes.len()).ok_or(Malformed::IpHeaderLength)?.copy_from_slice(bytes);
        let cuts = Cuts::new(bytes, split.payload.len(), gso_size);
        Ok(Self { header, header_len: bytes.len(), ends: Ends::of(bytes), cuts })
    }

    /// Completes the next packet, checksums included, and returns its place in `packet`; `None` after the last.
    ///
    /// # Panics
    /// If `packet` is shorter than the super-segment was.
    pub fn next_in(&mut self, packet: &mut [u8]) -> Option<Range<usize>> {
        let mut header = self.header;
        let header = &mut header[..self.header_len];
        let payload = self.cuts.next_into(header)?;
        let place = payload.start..payload.end + self.header_len;
        let (front, payload) = packet[place.clone()].split_at_mut(self.header_len);
        self.ends.fill(header, payload);
        front.copy_from_slice(header);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::{emitted, segment, v4, v6};
    use crate::{Flags, Parts, TcpRepr, checksum};
    use base::SeqNum;
    use test_case::test_case;

    fn super_segment(version: u8, flags: Flags, len: usize) -> Vec<u8> {
        let tcp = TcpRepr { seq: SeqNum(u32::MAX - 700), flags, ..segment() };
        let mut packet = emitted(&if version == 4 { v4() } else { v6() }, &tcp, len as u32);
        packet.extend((0..len).map(|at| (at * 7 / 3) as u8));
        packet
    }

    #[test_case(4, Flags::NONE, 3_000, Some(1_000))]
    #[test_case(4, Flags::PSH, 2_501, Some(1_000); "an odd rest")]
    #[test_case(6, Flags::PSH.with(Flags::FIN), 2_001, Some(1_000))]
    #[test_case(6, Flags::CWR, 64_000, Some(1_448))]
    #[test_case(4, Flags::NONE, 400, Some(10); "parts that are shorter than a header")]
    #[test_case(4, Flags::PSH, 900, None; "a plain packet")]
    #[test_case(4, Flags::FIN, 0, None; "no payload")]
    fn the_packets_are_those_of_a_copying_cut(version: u8, flags: Flags, len: usize, gso_size: Option<u16>) {
        let mut packet = super_segment(version, flags, len);
        let whole = packet.clone();
        let whole = split(&whole).unwrap();
        let mut copies = Parts::new(whole.header.bytes(), whole.payload, gso_size);
        let mut packets = copies.clone();
        let mut out = vec![0; 66_000];
        let mut cut = CutInPlace::new(&packet, gso_size).unwrap();
        let mut expected = Vec::new();
        while let Some(payload) = copies.next_into(&mut expected) {
            checksum::fill(&mut expected, payload);
            expected.extend_from_slice(payload);
            let place = cut.next_in(&mut packet).expect("as many packets");
            assert_eq!(packet[place.clone()], expected);
            let copied = packets.next_packet_in(&mut out).expect("as many packets");
            assert_eq!((&out[..copied.end], &out[copied]), (&expected[..], payload));
            let part = split(&packet[place]).unwrap();
            part.header.parse(part.payload.len() as u32).unwrap();
            assert!(checksum::verify(&part.header, part.payload));
            expected.clear();
        }
        assert_eq!((cut.next_in(&mut packet), packets.next_packet_in(&mut out)), (None, None));
    }

    #[test]
    fn what_is_not_tcp_is_not_cut() {
        let mut packet = super_segment(4, Flags::NONE, 100);
        packet[9] = 17;
        assert_eq!(CutInPlace::new(&packet, Some(10)).err(), Some(Malformed::NotTcp));
        assert_eq!(CutInPlace::new(&[], Some(10)).err(), Some(Malformed::Truncated));
    }
}
