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
