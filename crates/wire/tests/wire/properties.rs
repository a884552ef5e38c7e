//! What holds for every header: the way there and back, and the totality of the parser.

use crate::support::{emitted, ip, tcp, that_fits};
use longhaul_wire::checksum::{fill, fill_partial, ones_complement_sum, verify};
use longhaul_wire::{Header, MAX_HEADER, parse, split};
use proptest::prelude::*;

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..64)
}

/// Everything a driver does with what it read.
fn exercise(raw: &[u8]) {
    let _ = parse(raw, 0);
    let _ = verify(&Header::read(raw), &[]);
    let Ok(cut) = split(raw) else { return };
    assert!(cut.header.bytes().len() + cut.payload.len() <= raw.len());
    let Ok((ip, tcp)) = cut.header.parse(cut.payload.len() as u32) else { return };
    let again = emitted(&ip, &tcp, cut.payload.len() as u32);
    assert_eq!(parse(&again, cut.payload.len() as u32), Ok((ip, that_fits(tcp))));
    let _ = verify(&cut.header, cut.payload);
    let mut header = cut.header.bytes().to_vec();
    fill(&mut header, cut.payload);
    assert!(verify(&Header::read(&header), cut.payload));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn what_is_emitted_is_parsed_to_the_same_meaning(ip in ip(), tcp in tcp(), payload_len: u32) {
        let header = emitted(&ip, &tcp, payload_len);
        prop_assert!(header.len() <= MAX_HEADER);
        prop_assert_eq!(parse(&header, payload_len), Ok((ip, that_fits(tcp))));
    }

    //= specs/rfc9293.md#options
    //= type=test
    //# The header is filled up with zeros to a multiple of four bytes.
    #[test]
    fn the_encoding_is_canonical(ip in ip(), tcp in tcp()) {
        let once = emitted(&ip, &tcp, 0);
        let (ip, tcp) = parse(&once, 0).unwrap();
        prop_assert_eq!(emitted(&ip, &tcp, 0), once);
    }

    #[test]
    fn a_packet_is_cut_where_it_was_put_together(ip in ip(), tcp in tcp(), payload in payload(), padding in 0usize..20) {
        let header = emitted(&ip, &tcp, payload.len() as u32);
        let mut raw = [header.as_slice(), &payload].concat();
        raw.resize(raw.len() + padding, 0xff);
        let cut = split(&raw).unwrap();
        prop_assert_eq!((cut.header.bytes(), cut.payload), (header.as_slice(), payload.as_slice()));
    }

    #[test]
    fn random_bytes_never_panic(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&raw);
    }

    //= specs/rfc9293.md#options
    //= type=test
    //# No length of an option makes the reader fail or loop.
    #[test]
    fn mutated_packets_never_panic(
        ip in ip(),
        tcp in tcp(),
        payload in payload(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let mut raw = [emitted(&ip, &tcp, payload.len() as u32), payload].concat();
        for (at, byte) in changes {
            let at = at.index(raw.len());
            raw[at] = byte;
        }
        // A wrong IPv4 header checksum would hide what is behind it.
        let ihl = usize::from(raw[0] & 0x0f) * 4;
        if raw[0] >> 4 == 4 && (20..=raw.len()).contains(&ihl) {
            raw[10..12].fill(0);
            let sum = ones_complement_sum(&raw[..ihl]);
            raw[10..12].copy_from_slice(&(!sum).to_be_bytes());
        }
        if let Some(cut) = cut {
            raw.truncate(cut.index(raw.len()));
        }
        exercise(&raw);
    }

    // RFC 9293 MUST-2 and MUST-3.
    #[test]
    fn a_filled_checksum_verifies_and_any_flipped_bit_breaks_it(
        ip in ip(),
        tcp in tcp(),
        payload in payload(),
        flip: prop::sample::Index,
    ) {
        let mut header = emitted(&ip, &tcp, payload.len() as u32);
        fill(&mut header, &payload);
        prop_assert!(verify(&Header::read(&header), &payload));
        let tcp_at = if ip.src.is_ipv4() { 20 } else { 40 };
        let mut damaged = [header.as_slice(), &payload].concat();
        let bit = flip.index((damaged.len() - tcp_at) * 8);
        damaged[tcp_at + bit / 8] ^= 1 << (bit % 8);
        let (header, payload) = damaged.split_at(header.len());
        prop_assert!(!verify(&Header::read(header), payload));
    }

    /// A device finishes a partial checksum by summing the segment, the partial sum standing in its place.
    #[test]
    fn a_partial_checksum_is_finished_to_the_full_one(ip in ip(), tcp in tcp(), payload in payload()) {
        let mut partial = emitted(&ip, &tcp, payload.len() as u32);
        let mut full = partial.clone();
        fill_partial(&mut partial, payload.len() as u32);
        fill(&mut full, &payload);
        let tcp_at = if ip.src.is_ipv4() { 20 } else { 40 };
        let finished = !ones_complement_sum(&[&partial[tcp_at..], payload.as_slice()].concat());
        partial[tcp_at + 16..tcp_at + 18].copy_from_slice(&finished.to_be_bytes());
        prop_assert_eq!(partial, full);
    }
}
