//! Which ICMP message a packet carries, for who handles more than TCP (RFC 792, RFC 4443).

use super::{HEADER, IcmpKind, Ignored, QUOTED, is_intact, quoted_v4, quoted_v6};
use crate::ip::{self, PROTOCOL_TCP, PROTOCOL_UDP, Version};
use crate::{Carries, IpView, Malformed};
use core::net::{IpAddr, SocketAddr};

const V4_ECHO_REQUEST: u8 = 8;
const V6_ECHO_REQUEST: u8 = 128;

/// What an ICMP message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpMessage {
    /// It asks for an answer ([`super::emit_echo_reply`]).
    EchoRequest,
    /// An error about a TCP segment; [`super::parse`] reads it.
    AboutTcp,
    /// An error about a UDP datagram.
    AboutUdp(UdpNotice),
    /// An echo reply, neighbour discovery, an error about another protocol or about a later fragment.
    Other,
}

/// An ICMP error about a UDP datagram, seen from the sender of that datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpNotice {
    /// Source of the datagram.
    pub src: SocketAddr,
    /// Whom it was for.
    pub dst: SocketAddr,
    /// What happened to it.
    pub kind: IcmpKind,
}

/// Says what the message in `packet` is about. The checksum of an echo request and of an error about a datagram is verified, and that
/// the error went to the datagram's source.
///
/// # Errors
/// Names the first reason why the message is of no use.
pub fn classify(packet: &IpView<'_>) -> Result<IcmpMessage, Ignored> {
    if packet.carries() != Carries::Icmp || packet.fragment.is_some() {
        return Ok(IcmpMessage::Other);
    }
    let (version, message) = (packet.version(), packet.payload());
    let (header, quote) = message.split_first_chunk::<HEADER>().ok_or(Malformed::Truncated)?;
    let intact =
        || if is_intact(version, packet.packet(), packet.header().len()) { Ok(()) } else { Err(Ignored::Checksum) };
    let rest = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    let (kind, quoted) = match (version, header[0]) {
        (Version::V4, V4_ECHO_REQUEST) | (Version::V6, V6_ECHO_REQUEST) => {
            return intact().map(|()| IcmpMessage::EchoRequest);
        }
        (Version::V4, kind) => (IcmpKind::from_v4(kind, header[1], rest, quote), quoted_v4(quote)),
        (Version::V6, kind) => (IcmpKind::from_v6(kind, header[1], rest), quoted_v6(quote)),
    };
    let Some(kind) = kind else { return Ok(IcmpMessage::Other) };
    match quoted {
        Ok((PROTOCOL_TCP, _)) => Ok(IcmpMessage::AboutTcp),
        Ok((PROTOCOL_UDP, at)) => {
            intact()?;
            let (src, dst) = addresses(version, quote, at)?;
            let is_to_sender = src.ip() == packet.dst;
            if is_to_sender {
                Ok(IcmpMessage::AboutUdp(UdpNotice { src, dst, kind }))
            } else {
                Err(Ignored::NotTheSender)
            }
        }
        Ok(_) | Err(Ignored::NotTcp) => Ok(IcmpMessage::Other),
        Err(reason) => Err(reason),
    }
}

/// Reads the addresses and ports in a quote whose UDP header begins at `at`; a quote is long enough for the whole header.
fn addresses(version: Version, quote: &[u8], at: usize) -> Result<(SocketAddr, SocketAddr), Ignored> {
    let quoted = quote.get(at..).and_then(|udp| udp.first_chunk::<QUOTED>()).ok_or(Malformed::Truncated)?;
    let port = |at: usize| u16::from_be_bytes([quoted[at], quoted[at + 1]]);
    let (src, dst): (IpAddr, IpAddr) = (ip::source(version, quote), ip::destination(version, quote));
    Ok((SocketAddr::new(src, port(0)), SocketAddr::new(dst, port(2))))
}
