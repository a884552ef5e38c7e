//! Against independent implementations: `etherparse` for headers, `internet-checksum` for sums.

use crate::support::{emitted, ip, tcp, that_fits};
use core::net::IpAddr;
use etherparse::{IpHeaders, IpNumber, Ipv4Header, Ipv6Header, PacketBuilder, TcpHeader, TcpOptionElement as Element};
use longhaul_wire::{Flags, Fragmentation, IpRepr, Options, TcpRepr, checksum, split};
use proptest::prelude::*;

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..64)
}

/// Any TCP header without the option that the oracle does not know.
fn known() -> impl Strategy<Value = TcpRepr> {
    tcp().prop_map(|tcp| TcpRepr { options: Options { fast_open: None, ..tcp.options }, ..tcp })
}

/// The options in canonical order; `etherparse` packs them without padding in between.
fn elements(options: &Options) -> Vec<Element> {
    let blocks = options.sack.as_slice();
    let block = |i: usize| blocks.get(i).map(|block| (block.start.0, block.end.0));
    let sack = block(0).map(|first| Element::SelectiveAcknowledgement(first, [block(1), block(2), block(3)]));
    let all = [
        options.mss.map(Element::MaximumSegmentSize),
        options.sack_permitted.then_some(Element::SelectiveAcknowledgementPermitted),
        options.timestamps.map(|stamps| Element::Timestamp(stamps.tsval, stamps.tsecr)),
        options.window_scale.map(Element::WindowScale),
        sack,
    ];
    all.into_iter().flatten().collect()
}

/// The same TCP header in the oracle's words, its options left to the caller.
fn their_tcp(tcp: &TcpRepr) -> TcpHeader {
    let has = |flag| tcp.flags.contains(flag);
    let mut header = TcpHeader::new(tcp.src_port, tcp.dst_port, tcp.seq.0, tcp.window);
    header.acknowledgment_number = tcp.ack.map_or(0, |ack| ack.0);
    header.urgent_pointer = tcp.urgent;
    (header.ack, header.fin, header.syn, header.rst) =
        (tcp.ack.is_some(), has(Flags::FIN), has(Flags::SYN), has(Flags::RST));
    (header.psh, header.urg, header.ece, header.cwr) =
        (has(Flags::PSH), has(Flags::URG), has(Flags::ECE), has(Flags::CWR));
    header
}

/// The same IP header in the oracle's words, in front of `carried` bytes.
fn their_ip(ip: &IpRepr, carried: u16) -> IpHeaders {
    let traffic_class = ip.dscp << 2 | ip.ecn as u8;
    match (ip.src, ip.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut header = Ipv4Header::new(carried, ip.ttl, IpNumber::TCP, src.octets(), dst.octets()).unwrap();
            header.dscp = ip.dscp.try_into().unwrap();
            header.ecn = (ip.ecn as u8).try_into().unwrap();
            header.dont_fragment = ip.fragmentation == Fragmentation::Forbidden;
            if let Fragmentation::Allowed { id } = ip.fragmentation {
                header.identification = id;
            }
            header.header_checksum = header.calc_header_checksum();
            IpHeaders::Ipv4(header, Default::default())
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let header = Ipv6Header {
                traffic_class,
                flow_label: Default::default(),
                payload_length: carried,
                next_header: IpNumber::TCP,
                hop_limit: ip.ttl,
                source: src.octets(),
                destination: dst.octets(),
            };
            IpHeaders::Ipv6(header, Default::default())
        }
        _ => unreachable!("the strategy makes pairs of one version"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    //= specs/rfc9293.md#segments
    //= type=test
    //# Every segment leaves with the checksum over pseudo-header, header and payload.
    #[test]
    fn the_oracle_reads_what_we_write(ip in ip(), tcp in known(), payload in payload()) {
        let mut header = emitted(&ip, &tcp, payload.len() as u32);
        checksum::fill(&mut header, &payload);
        let raw = [header.as_slice(), &payload].concat();

        let (read_ip, segment) = IpHeaders::from_slice(&raw).unwrap();
        let (mut read_tcp, read_payload) = TcpHeader::from_slice(segment.payload).unwrap();
        prop_assert_eq!(&read_ip, &their_ip(&ip, segment.payload.len() as u16));
        prop_assert_eq!(read_payload, payload.as_slice());

        let options: Vec<Element> = read_tcp.options_iterator().map(Result::unwrap).collect();
        let options: Vec<Element> = options.into_iter().filter(|element| *element != Element::Noop).collect();
        prop_assert_eq!(options, elements(&that_fits(tcp).options));

        let expected = match &read_ip {
            IpHeaders::Ipv4(ip, _) => read_tcp.calc_checksum_ipv4(ip, &payload).unwrap(),
            IpHeaders::Ipv6(ip, _) => read_tcp.calc_checksum_ipv6(ip, &payload).unwrap(),
        };
        prop_assert_eq!(read_tcp.checksum, expected);
        read_tcp.checksum = 0;
        read_tcp.options = Default::default();
        prop_assert_eq!(read_tcp, their_tcp(&tcp));
    }

    //= specs/rfc9293.md#options
    //= type=test
    //# Options are understood at any alignment.
    //= specs/rfc9293.md#options
    //= type=test
    //# An option of unknown kind is passed over by the length it states.
    //= specs/rfc9293.md#options
    //= type=test
    //# The end of the list, the empty option and the maximum segment size are understood in any segment.
    //= specs/rfc9293.md#segments
    //= type=test
    //# The window field is an unsigned number of 16 bits.
    #[test]
    fn we_read_what_the_oracle_writes(ip in ip(), tcp in known(), payload in payload()) {
        // What fits padded fits packed.
        let tcp = that_fits(tcp);
        let mut header = their_tcp(&tcp);
        header.set_options(&elements(&tcp.options)).unwrap();
        let mut raw = Vec::new();
        PacketBuilder::ip(their_ip(&ip, 0)).tcp_header(header).write(&mut raw, &payload).unwrap();

        let cut = split(&raw).unwrap();
        prop_assert_eq!(cut.payload, payload.as_slice());
        prop_assert_eq!(cut.header.parse(payload.len() as u32), Ok((ip, tcp)));
        prop_assert!(checksum::verify(&cut.header, cut.payload));
    }

    #[test]
    fn sums_agree_with_the_oracle(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        let sum = checksum::ones_complement_sum(&bytes);
        prop_assert_eq!((!sum).to_be_bytes(), internet_checksum::checksum(&bytes));
    }
}
