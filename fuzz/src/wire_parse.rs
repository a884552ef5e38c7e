//! Any bytes as a packet: no panic, a cut that loses nothing, and a canonical encoding that is a fixed point.

use wire::{Header, IpRepr, IpView, MAX_HEADER, TcpRepr, checksum, emit, icmp, parse, split, udp};

/// Cuts, parses, emits and parses again, and verifies every checksum along the way.
pub fn wire_parse(bytes: &[u8]) {
    // The parser and the verifier must also accept any bytes without the cut before them.
    let _ = parse(bytes, 0);
    let _ = checksum::verify(&Header::read(bytes), &[]);
    let _ = icmp::parse(&Header::read(bytes));
    if let Ok(view) = IpView::read(bytes) {
        assert!(bytes.starts_with(view.packet()), "reading moves nothing");
        let _ = (udp::parse(&view), icmp::classify(&view));
    }
    let Ok(cut) = split(bytes) else { return };
    if let Ok(notice) = icmp::parse(&cut.header) {
        assert!(cut.payload.is_empty(), "a message is all header");
        assert!(notice.src_port != 0 && notice.dst_port != 0 && notice.src.is_ipv4() == notice.dst.is_ipv4());
    }
    let header_and_payload = [cut.header.bytes(), cut.payload].concat();
    assert!(bytes.starts_with(&header_and_payload), "the cut moves nothing");
    let payload_len = u32::try_from(cut.payload.len()).expect("inputs are small");
    let Ok((ip, tcp)) = cut.header.parse(payload_len) else { return };
    refills_its_checksum(cut.header.bytes(), cut.payload);
    reaches_a_fixed_point(&ip, &tcp, cut.payload);
}

fn refills_its_checksum(header: &[u8], payload: &[u8]) {
    let mut filled = header.to_vec();
    checksum::fill(&mut filled, payload);
    assert!(checksum::verify(&Header::read(&filled), payload));
    // A correct checksum has at most one other encoding: zero may also be written as all ones.
    if checksum::verify(&Header::read(header), payload) && filled != header {
        let differing = header.iter().zip(&filled).filter(|(before, after)| before != after).count();
        assert_eq!(differing, 2, "only the two spellings of zero");
    }
}

fn reaches_a_fixed_point(ip: &IpRepr, tcp: &TcpRepr, payload: &[u8]) {
    let payload_len = payload.len() as u32;
    let mut once = [0; MAX_HEADER];
    let len = emit(ip, tcp, payload_len, &mut once);
    let (ip_again, tcp_again) = parse(&once[..len], payload_len).expect("what is emitted is well-formed");
    let mut expected = *tcp;
    // Packed options may contain one SACK block more than padded ones.
    expected.options.sack = tcp.options.sack.truncated(tcp_again.options.sack.as_slice().len());
    assert_eq!((ip_again, tcp_again), (*ip, expected));
    assert!(tcp.options.sack.as_slice().len() - expected.options.sack.as_slice().len() <= 1);

    let mut twice = [0; MAX_HEADER];
    let len_again = emit(&ip_again, &tcp_again, payload_len, &mut twice);
    assert_eq!(once[..len], twice[..len_again]);

    checksum::fill(&mut once[..len], payload);
    assert!(checksum::verify(&Header::read(&once[..len]), payload));
    checksum::fill_partial(&mut once[..len], payload_len);
}
