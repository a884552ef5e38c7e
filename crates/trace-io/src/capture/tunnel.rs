//! Finds the IP packet that a tunnel carries: GRE (RFC 2784, RFC 2890) with IP or Ethernet in it, VXLAN (RFC 7348), and IP in IP
//! (RFC 2003, RFC 4213).
//!
//! A packet in a tunnel is analysed as if it had been captured without it. A fragment of an outer packet is returned as it is:
//! nothing here reassembles.

use super::link::{self, Carried};

const IPV4_IN_IP: u8 = 4;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
/// VXLAN's port, and the one that Linux used before it was assigned, still its default.
const VXLAN: [u16; 2] = [4_789, 8_472];
/// GRE's protocol type of Ethernet frames (transparent Ethernet bridging).
const ETHERNET: u16 = 0x6558;
/// Tunnels within tunnels that are opened; no network has more of them.
const DEPTH: usize = 4;

/// An IP packet, out of its tunnels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inner<'a> {
    pub packet: &'a [u8],
    /// The VXLAN network identifier: two networks may use the same addresses.
    pub network: Option<u32>,
}

/// Returns the innermost IP packet that can be found in an IP packet.
#[inline]
pub(super) fn inner(packet: &[u8]) -> Inner<'_> {
    let mut found = Inner { packet, network: None };
    for _ in 0..DEPTH {
        let Some((protocol, body)) = body(found.packet) else { break };
        let carried = match protocol {
            IPV4_IN_IP | IPV6_IN_IP => Carried::Ip(body),
            GRE => gre(body),
            UDP => match vxlan(body) {
                Some((network, frame)) => {
                    let carried = link::ethernet(frame);
                    found.network = if matches!(carried, Carried::Ip(_)) { Some(network) } else { found.network };
                    carried
                }
                None => break,
            },
            _ => break,
        };
        let Carried::Ip(packet) = carried else { break };
        found.packet = packet;
    }
    found
}

/// Returns what an IP header says comes next, and that. Tunnels behind extension headers of IPv6 are not looked for.
#[inline]
fn body(packet: &[u8]) -> Option<(u8, &[u8])> {
    match packet.first()? >> 4 {
        4 => {
            let (head, at) = (packet.first_chunk::<20>()?, usize::from(packet[0] & 15) * 4);
            let is_fragment = u16::from_be_bytes([head[6], head[7]]) & 0x3fff != 0;
            let tunnel = at >= 20 && !is_fragment;
            tunnel.then(|| packet.get(at..).map(|body| (head[9], body))).flatten()
        }
        6 => packet.get(40..).map(|body| (packet[6], body)),
        _ => None,
    }
}

/// RFC 2784 §2.1 with the key and the sequence number of RFC 2890 §2. Version 1 is PPTP's and carries PPP.
fn gre(body: &[u8]) -> Carried<'_> {
    let Some(head) = body.first_chunk::<4>() else { return Carried::Short };
    if head[1] & 7 != 0 || head[0] & 0x40 != 0 {
        return Carried::Other;
    }
    let options = [0x80, 0x20, 0x10].iter().filter(|bit| head[0] & **bit != 0).count();
    let Some(carried) = body.get(4 + 4 * options..) else { return Carried::Short };
    match u16::from_be_bytes([head[2], head[3]]) {
        ETHERNET => link::ethernet(carried),
        kind => link::of_type(kind, carried),
    }
}

/// Returns the network and the frame behind the UDP header, if the datagram is VXLAN's (RFC 7348 §5).
fn vxlan(body: &[u8]) -> Option<(u32, &[u8])> {
    let head = body.first_chunk::<16>()?;
    let port = u16::from_be_bytes([head[2], head[3]]);
    let has_network = head[8] & 0x08 != 0;
    let network = u32::from_be_bytes([0, head[12], head[13], head[14]]);
    (VXLAN.contains(&port) && has_network).then_some((network, &body[16..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;
    use test_case::test_case;

    fn tcp() -> Vec<u8> {
        let mut bytes = Vec::new();
        PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(1, 80, 1, 9)
            .ack(1)
            .write(&mut bytes, b"data")
            .unwrap();
        bytes
    }

    fn ethernet(packet: &[u8]) -> Vec<u8> {
        [&[2; 12][..], &[8, 0], packet].concat()
    }

    /// An outer packet around some bytes, by an independent library.
    fn around(v6: bool, protocol: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let number = etherparse::IpNumber(protocol);
        if v6 {
            PacketBuilder::ipv6([1; 16], [2; 16], 64).write(&mut bytes, number, body).unwrap();
        } else {
            PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).write(&mut bytes, number, body).unwrap();
        }
        bytes
    }

    fn in_gre(flags: u8, kind: u16, carried: &[u8]) -> Vec<u8> {
        let options = [0x80_u8, 0x20, 0x10].iter().filter(|bit| flags & **bit != 0).count() * 4;
        [&[flags, 0], &kind.to_be_bytes()[..], &vec![7; options], carried].concat()
    }

    fn in_vxlan(port: u16, flags: u8, carried: &[u8]) -> Vec<u8> {
        let body = [&[flags, 0, 0, 0, 0, 1, 2, 0], carried].concat();
        let mut bytes = Vec::new();
        let outer = PacketBuilder::ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64).udp(50_000, port);
        outer.write(&mut bytes, &body).unwrap();
        bytes
    }

    #[test_case(&around(false, GRE, &in_gre(0, 0x0800, &tcp())), None; "GRE")]
    #[test_case(&around(true, GRE, &in_gre(0, 0x0800, &tcp())), None; "GRE over the sixth version")]
    #[test_case(&around(false, GRE, &in_gre(0xb0, 0x0800, &tcp())), None; "GRE with checksum, key and sequence number")]
    #[test_case(&around(false, GRE, &in_gre(0x20, 0x6558, &ethernet(&tcp()))), None; "Ethernet in GRE with a key")]
    #[test_case(&around(false, 4, &tcp()), None; "IP in IP")]
    #[test_case(&in_vxlan(4_789, 8, &ethernet(&tcp())), Some(0x102); "VXLAN")]
    #[test_case(&in_vxlan(8_472, 8, &ethernet(&tcp())), Some(0x102); "VXLAN at the former port")]
    #[test_case(&around(false, GRE, &in_gre(0, 0x0800, &in_vxlan(4_789, 8, &ethernet(&tcp())))), Some(0x102); "VXLAN in GRE")]
    fn the_packet_in_a_tunnel_is_found(outer: &[u8], network: Option<u32>) {
        assert_eq!(inner(outer), Inner { packet: &tcp(), network });
        for kept in 0..outer.len() - tcp().len() {
            let cut = inner(&outer[..kept]);
            assert!(cut.packet.len() <= kept && cut.network.is_none_or(|found| Some(found) == network), "{kept}");
        }
    }

    #[test_case(tcp(); "no tunnel")]
    #[test_case(around(false, GRE, &in_gre(0, 0x88be, &tcp())); "GRE with something else")]
    #[test_case(around(false, GRE, &[&[0x30, 1, 0x88, 0x0b], &tcp()[..]].concat()); "GRE of PPTP")]
    #[test_case(in_vxlan(53, 8, &ethernet(&tcp())); "another port")]
    #[test_case(in_vxlan(4_789, 0, &ethernet(&tcp())); "a VXLAN header without a network")]
    #[test_case({ let mut outer = around(false, GRE, &in_gre(0, 0x0800, &tcp())); outer[6] = 0x20; outer }; "a fragment of a tunnel's packet")]
    fn what_is_no_tunnel_stays_as_it_is(outer: Vec<u8>) {
        assert_eq!(inner(&outer), Inner { packet: &outer, network: None });
    }

    #[test]
    fn tunnels_in_tunnels_are_opened_to_a_limit() {
        let layers = |count| (0..count).fold(tcp(), |packet, _| around(false, 4, &packet));
        assert_eq!(inner(&layers(DEPTH)).packet, tcp());
        assert_eq!(inner(&layers(DEPTH + 2)).packet, layers(2));
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..120), at in 0_usize..60, byte: u8) {
            inner(&bytes);
            let mut changed = around(false, GRE, &in_gre(0xb0, 0x6558, &ethernet(&in_vxlan(4_789, 8, &ethernet(&tcp())))));
            changed[at] = byte;
            inner(&changed);
        }
    }
}
