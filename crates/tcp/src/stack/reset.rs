//! Resets for segments that belong to no connection (RFC 9293 §3.10.7.1).

use base::SeqNum;
use wire::{Flags, IpRepr, Options, TcpRepr};

//= specs/rfc9293.md#resets
//# A segment for no connection is answered with a reset, unless it is one.
//= specs/rfc5961.md#syns
//# A peer that has restarted answers the challenge ACK with a reset that ends the old connection.
/// The reset that answers `tcp`, or `None` when `tcp` is one itself.
pub(crate) fn answer(ip: &IpRepr, tcp: &TcpRepr, payload_len: u32) -> Option<(IpRepr, TcpRepr)> {
    if tcp.flags.contains(Flags::RST) {
        return None;
    }
    let occupies = payload_len + u32::from(tcp.flags.contains(Flags::SYN)) + u32::from(tcp.flags.contains(Flags::FIN));
    let (seq, ack) = match tcp.ack {
        Some(ack) => (ack, None),
        None => (SeqNum(0), Some(tcp.seq + occupies)),
    };
    let reply_ip = IpRepr {
        src: ip.dst,
        dst: ip.src,
        ttl: 64,
        dscp: 0,
        ecn: wire::Ecn::NotEct,
        fragmentation: wire::Fragmentation::Forbidden,
    };
    let reply = TcpRepr {
        src_port: tcp.dst_port,
        dst_port: tcp.src_port,
        seq,
        ack,
        flags: Flags::RST,
        window: 0,
        urgent: 0,
        options: Options::default(),
    };
    Some((reply_ip, reply))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{IpAddr, Ipv4Addr};
    use test_case::test_case;

    //= specs/rfc9293.md#resets
    //# A side that has forgotten the connection lets the other find out.
    #[test_case(Flags::SYN, None, 0 => Some((SeqNum(0), Some(SeqNum(101)))); "a syn is acknowledged")]
    #[test_case(Flags::NONE, Some(SeqNum(7)), 10 => Some((SeqNum(7), None)); "an ack gives the sequence number")]
    #[test_case(Flags::RST, None, 0 => None; "a reset is never answered")]
    fn reset_for(flags: Flags, ack: Option<SeqNum>, len: u32) -> Option<(SeqNum, Option<SeqNum>)> {
        let home = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let ip = IpRepr {
            src: home,
            dst: home,
            ttl: 1,
            dscp: 0,
            ecn: wire::Ecn::NotEct,
            fragmentation: wire::Fragmentation::Forbidden,
        };
        let seq = SeqNum(100);
        let tcp =
            TcpRepr { src_port: 1, dst_port: 2, seq, ack, flags, window: 0, urgent: 0, options: Options::default() };
        answer(&ip, &tcp, len).map(|(_, reply)| (reply.seq, reply.ack))
    }
}
