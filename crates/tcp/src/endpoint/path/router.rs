//! What routers report about the path MTU (RFC 1191, RFC 8201): what a message means, and when it is believed.
//!
//! Any host that guesses a sequence number in flight can send such a message, so it is accepted in two stages (RFC 5927 §7.2): at
//! once while no packet of that size is known to have arrived, otherwise only if its segment times out as well.
//!
//! Deviation: routers may fragment packets below 100 bytes, so that there is always room for options and some data.

use super::cx::PathCx;
use crate::config::UnsaidMtu;
use base::{Instant, SeqNum};

/// The minimum MTU of IPv6 links (RFC 8200 §5).
pub(super) const LEAST_V6: u32 = 1280;
/// Packets smaller than this have no room for TCP's options and data.
const LEAST_USEFUL: u16 = 100;

/// A message about a size that the path carried before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    /// First sequence number of the segment that it refers to.
    pub seq: SeqNum,
    pub mtu: u16,
    pub cut: MayCut,
}

impl Pending {
    /// Returns whether to keep this message rather than `new`: the one about the earlier segment, which is the first to time out,
    /// and among two about the same segment the one with the smaller size.
    pub fn outranks(&self, new: &Self) -> bool {
        self.seq.before(new.seq) || (self.seq == new.seq && self.mtu < new.mtu)
    }
}

/// What a router reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LearnedMtu {
    /// Packet size in bytes.
    pub mtu: u16,
    /// Whether routers may fragment packets of even that size.
    pub cut: MayCut,
    /// When to try a larger size.
    pub until: Instant,
    /// Whose segment the report is about.
    pub about: About,
}

/// Whose segment a router could not forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum About {
    /// A segment of this connection.
    This,
    /// A segment of an earlier connection to the same host.
    Earlier,
}

/// Whether routers may fragment outgoing packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MayCut {
    No,
    Yes,
}

/// A router's message that a segment of ours was too large.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct TooBig {
    /// First number of the segment.
    pub seq: SeqNum,
    /// Packet size that the router forwards, in bytes; zero if it does not say.
    pub said: u32,
    /// Size of the rejected packet in bytes; zero if the message does not say.
    pub packet_len: u16,
}

/// Common packet sizes of links (RFC 1191 §7), largest first.
const PLATEAUS: [u16; 11] = [65_535, 32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296, 68];

/// Returns the largest common size below `len`.
fn plateau_below(len: u16) -> u16 {
    PLATEAUS.into_iter().find(|&size| size < len).unwrap_or(PLATEAUS[PLATEAUS.len() - 1])
}

impl TooBig {
    //= specs/rfc1191.md#the-path-mtu
    //# A router that says nothing of its MTU is answered by the next smaller common size.
    //= specs/rfc1191.md#the-path-mtu
    //# A message that would make the path MTU larger changes nothing.
    //= specs/rfc8201.md#the-path-mtu
    //# A message that names less than 1280 bytes, or more than the present path MTU, changes nothing.
    /// Returns what the message means, if it is valid, while packets have up to `present` bytes: RFC 1191 §3 to §5, RFC 8201 §4.
    pub fn believed(&self, at: &PathCx, present: u16) -> Option<(u16, MayCut)> {
        let size = match (self.said, at.config.unsaid) {
            (said, _) if !at.local.is_ipv4() => (said >= LEAST_V6).then_some(said)?,
            (0, UnsaidMtu::Least) => 0,
            (0, UnsaidMtu::Plateau) => {
                let too_large = if self.packet_len == 0 { present } else { self.packet_len.min(present) };
                u32::from(plateau_below(too_large))
            }
            (said, _) => said,
        };
        let size = u16::try_from(size).ok().filter(|&size| size < present)?;
        let least = if at.local.is_ipv4() { at.config.min_v4.max(LEAST_USEFUL).min(present) } else { size };
        Some(if size < least { (least, MayCut::Yes) } else { (size, MayCut::No) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{IpAddr, Ipv6Addr};
    use test_case::test_case;

    #[test_case(1500, 1492)]
    #[test_case(1492, 1006; "a common size itself is too large")]
    #[test_case(u16::MAX, 32_000)]
    #[test_case(69, 68)]
    #[test_case(68, 68; "never below")]
    #[test_case(0, 68)]
    fn the_next_smaller_common_size(len: u16, expected: u16) {
        assert_eq!(plateau_below(len), expected);
    }

    //= specs/rfc8201.md#the-path-mtu
    //= type=test
    //# A message that names less than 1280 bytes, or more than the present path MTU, changes nothing.
    #[test_case(1279, None; "less than any path of this version takes")]
    #[test_case(1280, Some(1280))]
    #[test_case(1499, Some(1499))]
    #[test_case(1501, None; "more than what is sent")]
    fn over_ipv6_a_router_is_believed(said: u32, expected: Option<u16>) {
        let (config, local) = (Default::default(), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let at = PathCx { config, link: 1500, local, options: 0, smss: 1440 };
        let message = TooBig { seq: SeqNum(1), said, packet_len: 0 };
        assert_eq!(message.believed(&at, 1500).map(|(mtu, _)| mtu), expected);
    }
}
