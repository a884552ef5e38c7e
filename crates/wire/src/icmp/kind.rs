//! The meaning of an ICMP error, independent of the IP version: conversion of types and codes, both ways.

use core::fmt;

/// What happened to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpKind {
    /// It cannot be delivered.
    Unreachable(Unreachable),
    /// It was larger than a link on its path permits, and may not be fragmented (RFC 1191 §4, RFC 4443 §3.2).
    TooBig {
        /// MTU of that link, IP header included; zero if the router is too old to report it (RFC 1191 §5).
        mtu: u32,
        /// Size of the segment's packet on arrival there, for that case; zero for IPv6, whose routers always report the MTU.
        packet_len: u16,
    },
    /// It, or its fragments, exceeded the lifetime in transit.
    TimeExceeded,
    /// A router or the peer's host did not understand its IP header.
    ParameterProblem,
    /// A request to send less, which must be ignored (RFC 6633 §3).
    SourceQuench,
}

/// Why something cannot be delivered (RFC 792, RFC 1122 §3.2.2.1, RFC 1812 §5.2.7.1, RFC 4443 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// No route to the network; of IPv6, no route.
    Network,
    /// The host does not answer address resolution.
    Host,
    /// The host does not support TCP.
    Protocol,
    /// No socket listens.
    Port,
    /// The source route cannot be followed.
    SourceRouteFailed,
    /// No such network.
    NetworkUnknown,
    /// No such host.
    HostUnknown,
    /// The source is isolated (obsolete).
    SourceIsolated,
    /// Access to the network is prohibited.
    NetworkProhibited,
    /// Access to the host is prohibited.
    HostProhibited,
    /// The network is not reachable with this kind of service.
    NetworkForService,
    /// The host is not reachable with this kind of service.
    HostForService,
    /// A filter forbids it.
    Prohibited,
    /// The precedence is not allowed.
    PrecedenceViolation,
    /// The precedence is too low for this network.
    PrecedenceCutoff,
    /// The destination lies beyond the scope of the source address (IPv6).
    BeyondScope,
    /// The source address is not allowed to leave (IPv6).
    SourcePolicy,
    /// The route to the destination rejects traffic (IPv6).
    RouteRejected,
}

use Unreachable::{
    BeyondScope, Host, HostForService, HostProhibited, HostUnknown, Network, NetworkForService, NetworkProhibited,
    NetworkUnknown, Port, PrecedenceCutoff, PrecedenceViolation, Prohibited, Protocol, RouteRejected, SourceIsolated,
    SourcePolicy, SourceRouteFailed,
};

/// IPv4 codes in order; code 4 is [`IcmpKind::TooBig`].
const V4: [Option<Unreachable>; 16] = [
    Some(Network),
    Some(Host),
    Some(Protocol),
    Some(Port),
    None,
    Some(SourceRouteFailed),
    Some(NetworkUnknown),
    Some(HostUnknown),
    Some(SourceIsolated),
    Some(NetworkProhibited),
    Some(HostProhibited),
    Some(NetworkForService),
    Some(HostForService),
    Some(Prohibited),
    Some(PrecedenceViolation),
    Some(PrecedenceCutoff),
];

/// IPv6 codes in order.
const V6: [Unreachable; 7] = [Network, Prohibited, BeyondScope, Host, Port, SourcePolicy, RouteRejected];

const V4_UNREACHABLE: u8 = 3;
const V4_FRAGMENTATION_NEEDED: u8 = 4;
const V4_SOURCE_QUENCH: u8 = 4;
const V4_TIME_EXCEEDED: u8 = 11;
const V4_PARAMETER_PROBLEM: u8 = 12;
const V6_UNREACHABLE: u8 = 1;
const V6_TOO_BIG: u8 = 2;
const V6_TIME_EXCEEDED: u8 = 3;
const V6_PARAMETER_PROBLEM: u8 = 4;

/// Type, code and the rest of the ICMP header.
pub(super) type Encoding = (u8, u8, u32);

impl Unreachable {
    /// Returns this reason, or that the host is unreachable where the IP version has no code for it.
    pub fn or_host(self, is_ipv4: bool) -> Self {
        let has_code = if is_ipv4 { V4.contains(&Some(self)) } else { V6.contains(&self) };
        if has_code { self } else { Host }
    }

    /// The reason in words.
    pub const fn name(self) -> &'static str {
        match self {
            Network => "network unreachable",
            Host => "host unreachable",
            Protocol => "protocol unreachable",
            Port => "port unreachable",
            SourceRouteFailed => "source route failed",
            NetworkUnknown => "network unknown",
            HostUnknown => "host unknown",
            SourceIsolated => "source isolated",
            NetworkProhibited => "network prohibited",
            HostProhibited => "host prohibited",
            NetworkForService => "network unreachable for this service",
            HostForService => "host unreachable for this service",
            Prohibited => "prohibited by a filter",
            PrecedenceViolation => "precedence violation",
            PrecedenceCutoff => "precedence too low",
            BeyondScope => "beyond the scope of the source address",
            SourcePolicy => "source address refused",
            RouteRejected => "route rejected",
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl IcmpKind {
    pub(super) fn from_v4(kind: u8, code: u8, rest: u32, quote: &[u8]) -> Option<Self> {
        match (kind, code) {
            (V4_UNREACHABLE, V4_FRAGMENTATION_NEEDED) => {
                let packet_len = quote.get(2..4).map_or(0, |len| u16::from_be_bytes([len[0], len[1]]));
                Some(Self::TooBig { mtu: rest & 0xffff, packet_len })
            }
            (V4_UNREACHABLE, code) => V4.get(usize::from(code)).copied().flatten().map(Self::Unreachable),
            (V4_SOURCE_QUENCH, _) => Some(Self::SourceQuench),
            (V4_TIME_EXCEEDED, _) => Some(Self::TimeExceeded),
            (V4_PARAMETER_PROBLEM, _) => Some(Self::ParameterProblem),
            _ => None,
        }
    }

    pub(super) fn from_v6(kind: u8, code: u8, rest: u32) -> Option<Self> {
        match kind {
            V6_UNREACHABLE => V6.get(usize::from(code)).copied().map(Self::Unreachable),
            // The code is to be ignored (RFC 4443 §3.2).
            V6_TOO_BIG => Some(Self::TooBig { mtu: rest, packet_len: 0 }),
            V6_TIME_EXCEEDED => Some(Self::TimeExceeded),
            V6_PARAMETER_PROBLEM => Some(Self::ParameterProblem),
            _ => None,
        }
    }

    pub(super) fn to_v4(self) -> Option<Encoding> {
        Some(match self {
            Self::Unreachable(why) => {
                let code = V4.iter().position(|known| *known == Some(why))?;
                (V4_UNREACHABLE, code as u8, 0)
            }
            Self::TooBig { mtu, .. } => (V4_UNREACHABLE, V4_FRAGMENTATION_NEEDED, u32::from(u16::try_from(mtu).ok()?)),
            Self::TimeExceeded => (V4_TIME_EXCEEDED, 0, 0),
            Self::ParameterProblem => (V4_PARAMETER_PROBLEM, 0, 0),
            Self::SourceQuench => (V4_SOURCE_QUENCH, 0, 0),
        })
    }

    pub(super) fn to_v6(self) -> Option<Encoding> {
        Some(match self {
            Self::Unreachable(why) => (V6_UNREACHABLE, V6.iter().position(|known| *known == why)? as u8, 0),
            Self::TooBig { mtu, .. } => (V6_TOO_BIG, 0, mtu),
            Self::TimeExceeded => (V6_TIME_EXCEEDED, 0, 0),
            Self::ParameterProblem => (V6_PARAMETER_PROBLEM, 0, 0),
            Self::SourceQuench => return None,
        })
    }
}
