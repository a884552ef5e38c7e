//! The packet that fragments make (RFC 791 §3.2, RFC 8200 §4.5): headers only; who keeps fragments decides which belong together.

use crate::ip::Ecn;
use crate::parts::{put, put_ipv4_checksum};
use crate::{ipv4, ipv6};

/// Largest number that the length field of either version holds.
const LENGTH_MAX: usize = u16::MAX as usize;

/// Writes the packet that has the headers of the fragment at offset zero (`first`: [`crate::IpView::header`]), the protocol or next
/// header that this one names, `ecn`, and the payloads of all fragments in their order. Clears `out` first; IPv6's fragment header goes.
///
/// Returns whether the packet's length can be written; if not, `out` is empty.
///
/// # Panics
/// If `first` is no such header.
pub fn put_together<'a>(
    first: &[u8],
    protocol: u8,
    ecn: Ecn,
    payloads: impl Iterator<Item = &'a [u8]>,
    out: &mut Vec<u8>,
) -> bool {
    out.clear();
    let is_v4 = first[0] >> 4 == 4;
    let header_len = if is_v4 { first.len() } else { ipv6::HEADER };
    out.extend_from_slice(&first[..header_len]);
    payloads.for_each(|payload| out.extend_from_slice(payload));
    let counted = if is_v4 { out.len() } else { out.len() - header_len };
    if counted > LENGTH_MAX {
        out.clear();
        return false;
    }
    let ecn = ecn as u8;
    if is_v4 {
        assert!(header_len >= ipv4::HEADER, "a whole header");
        put(out, 2, counted as u16);
        put(out, 6, 0);
        (out[1], out[9]) = (out[1] & !0b11 | ecn, protocol);
        put_ipv4_checksum(&mut out[..header_len]);
    } else {
        put(out, 4, counted as u16);
        (out[1], out[6]) = (out[1] & !0b11_0000 | ecn << 4, protocol);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IpView;
    use core::iter;

    /// Any field that the packet does not take over from its first fragment would show.
    const FIRST_V4: [u8; 24] =
        [0x46, 0xfd, 9, 9, 0x12, 0x34, 0x20, 0, 64, 17, 9, 9, 192, 0, 2, 1, 198, 51, 100, 2, 1, 1, 1, 0];

    #[test]
    fn an_ipv4_packet_keeps_identification_and_options() {
        let mut out = vec![7; 3];
        assert!(put_together(&FIRST_V4, 6, Ecn::Ce, [&[1, 2][..], &[3]].into_iter(), &mut out));
        let view = IpView::read(&out).expect("it is well-formed");
        assert_eq!((view.fragment, view.ecn, view.protocol, view.payload()), (None, Ecn::Ce, 6, &[1, 2, 3][..]));
        assert_eq!((&out[..2], &out[4..9]), (&[0x46, 0xff][..], &[0x12, 0x34, 0, 0, 64][..]));
        assert_eq!(out[12..24], FIRST_V4[12..]);
    }

    #[test]
    fn an_ipv6_packet_loses_its_fragment_header() {
        let mut first = vec![0x6a, 0xbc, 0xde, 0xf0, 9, 9, 44, 64];
        first.extend([0x20; 32]);
        first.extend([17, 0, 0, 1, 1, 2, 3, 4]);
        let mut out = Vec::new();
        assert!(put_together(&first, 58, Ecn::Ect1, iter::once(&[1, 2, 3][..]), &mut out));
        let view = IpView::read(&out).expect("it is well-formed");
        assert_eq!((view.fragment, view.ecn, view.protocol, view.payload()), (None, Ecn::Ect1, 58, &[1, 2, 3][..]));
        assert_eq!((&out[..4], out[7]), (&[0x6a, 0x9c, 0xde, 0xf0][..], 64));
    }

    #[test]
    fn what_no_length_field_can_say_is_not_written() {
        let (all, first) = ([0; 65_536], [0x60; 48]);
        for (header, most) in [(&FIRST_V4[..], 65_511), (&first, 65_535)] {
            let mut out = Vec::new();
            assert!(put_together(header, 17, Ecn::NotEct, iter::once(&all[..most]), &mut out));
            assert!(!put_together(header, 17, Ecn::NotEct, iter::once(&all[..=most]), &mut out));
            assert!(out.is_empty());
        }
    }
}
