//! A live packet in the script's notation, for messages and the packet log.

use super::{Live, icmp_names};
use crate::script::{Direction, EchoedSegment, Icmp, IpFields, PacketSpec, Tcp, TosCheck, Transport};

/// `packet` in script notation. IP fields are shown where `like`, the expected packet, has them; ECN marks are always shown.
pub fn spec(packet: &Live, direction: Direction, like: Option<&PacketSpec>) -> PacketSpec {
    let ip = packet.ip();
    let shown = like.map_or(IpFields::default(), |like| like.ip);
    let tos = match shown.tos {
        TosCheck::Whole(_) => TosCheck::Whole(ip.tos),
        TosCheck::Ecn(_) | TosCheck::Ect01 => TosCheck::Ecn(ip.tos & 3),
        TosCheck::None if ip.tos & 3 != 0 => TosCheck::Ecn(ip.tos & 3),
        TosCheck::None => TosCheck::None,
    };
    let fields = IpFields { tos, flow_label: shown.flow_label.map(|_| ip.flow_label), ttl: shown.ttl.map(|_| ip.ttl) };
    let transport = if packet.is_tcp() { Transport::Tcp(tcp(packet)) } else { Transport::Icmp(icmp(packet)) };
    PacketSpec { direction, ip: fields, transport }
}

fn tcp(packet: &Live) -> Tcp {
    Tcp {
        ports: None,
        flags: packet.flags(),
        seq: packet.seq(),
        payload: u16::try_from(packet.payload().len()).unwrap_or(u16::MAX),
        ack: packet.ack(),
        window: Some(packet.window()),
        urgent: packet.urgent(),
        options: Some(packet.options()),
    }
}

fn icmp(packet: &Live) -> Icmp {
    let (kind, code) = icmp_names(packet.ip().version == 6, packet.transport_byte(0), packet.transport_byte(1));
    Icmp { kind, code, mtu: None, id: None, echoed: EchoedSegment::default() }
}
