//! What a profile may choose about the path: fields of the IP header, the path MTU and how it is found, and what ICMP
//! errors may do.

use base::Duration;

/// Fields of the IP header of everything that a connection sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpConfig {
    /// Time to live, or hop limit (RFC 9293 MUST-49).
    pub ttl: u8,
    /// Differentiated-services code point, 0 to 63 (RFC 9293 SHLD-22).
    pub dscp: u8,
}

/// The path MTU (RFC 1191, RFC 8201, RFC 4821).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathMtuConfig {
    /// Whether to rely on routers' reports.
    pub discovery: Discovery,
    /// IPv4: lowest MTU accepted from a router, in bytes of a packet. Below it packets keep this size, and routers may fragment
    /// them: a forged message cannot make segments smaller than this.
    pub min_v4: u16,
    /// The MTU to assume when an IPv4 router reports none (RFC 1191 §5).
    pub unsaid: UnsaidMtu,
    /// What the MSS option announces to the peer.
    pub announced: AnnouncedMss,
    /// How long to keep a smaller path MTU before trying a larger one (RFC 1191 §6.3, RFC 8201 §4).
    pub raise_after: Duration,
    /// Whether the sender searches by itself (RFC 4821).
    pub probing: MtuProbing,
    /// Initial size of the search in bytes of TCP payload and options, on every path (RFC 4821 §7.2).
    pub base_mss: u16,
    /// The search ends when its bounds are closer together than this, in bytes.
    pub search_end: u16,
    /// How long after its end the search starts again (RFC 4821 §7.3).
    pub search_again: Duration,
    /// Consecutive timeouts after which the sender assumes that large segments vanish without a report (RFC 4821 §7.7).
    pub black_hole_timeouts: u32,
}

/// Path MTU discovery by ICMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// DF is clear: IPv4 routers fragment packets that are too large, and their reports are ignored.
    Off,
    /// DF is set, and a router's report reduces the segment size.
    On,
    /// DF is set, but segments keep the size that the interface allows, whatever routers report.
    Deaf,
}

/// What to assume for an MTU that a router does not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsaidMtu {
    /// The next smaller of the common link MTUs (RFC 1191 §7).
    Plateau,
    /// The lowest MTU accepted from a router.
    Least,
}

/// The size of segments that SYNs announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnnouncedMss {
    /// The interface's size, however narrow the path is (RFC 1191 §6.2, RFC 9293 §3.7.1).
    Interface,
    /// The path's size as reported by a router in answer to a SYN of this connection, so that the peer need not discover it; at
    /// least 256 bytes, and over IPv6 the minimum MTU of every link. Reports to earlier connections are not reused.
    Path,
}

/// Path MTU search with TCP segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MtuProbing {
    /// None.
    Off,
    /// Once timeouts indicate a black hole.
    AfterBlackHole,
    /// From the beginning.
    Always,
}

/// What ICMP errors may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpConfig {
    /// Effect on a connection during its handshake. Established connections only record the error (RFC 5927 §5.2).
    pub opening: OpeningErrors,
}

/// Which errors end the attempt to open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningErrors {
    /// Permanent ones: no such protocol or port (RFC 1122 §4.2.3.9).
    Hard,
    /// Any (RFC 5461 §4.1).
    Any,
}

/// The lowest IPv4 path MTU that RFC 1191 §3 permits.
pub(super) const LEAST_MTU_V4: u16 = 68;

impl Default for IpConfig {
    fn default() -> Self {
        Self { ttl: 64, dscp: 0 }
    }
}
impl Default for PathMtuConfig {
    fn default() -> Self {
        Self {
            discovery: Discovery::On,
            min_v4: 552,
            unsaid: UnsaidMtu::Plateau,
            announced: AnnouncedMss::Interface,
            raise_after: Duration::from_secs(600),
            probing: MtuProbing::Off,
            base_mss: 1024,
            search_end: 8,
            search_again: Duration::from_secs(600),
            black_hole_timeouts: 3,
        }
    }
}
impl Default for IcmpConfig {
    fn default() -> Self {
        Self { opening: OpeningErrors::Hard }
    }
}

impl IpConfig {
    pub(super) fn problems(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        need(self.ttl >= 1, "ip.ttl", "must be at least 1");
        need(self.dscp < 64, "ip.dscp", "must be below 64 (RFC 2474 §3)");
    }
}

impl PathMtuConfig {
    pub(super) fn problems(&self, need: &mut impl FnMut(bool, &'static str, &str)) {
        need(self.min_v4 >= LEAST_MTU_V4, "path_mtu.min_v4", "must be at least 68 (RFC 1191 §3)");
        need(!self.raise_after.is_zero(), "path_mtu.raise_after", "must not be zero");
        need(self.base_mss >= 48, "path_mtu.base_mss", "must be at least 48");
        need(self.search_end >= 1, "path_mtu.search_end", "must be at least 1");
        need(self.black_hole_timeouts >= 1, "path_mtu.black_hole_timeouts", "must be at least 1");
    }
}
