//! What the two SYNs agreed on (RFC 9293 §3.7.1, RFC 2018 §2, RFC 7323 §2 and §3).

use crate::config::{Config, SackConfig, TimestampConfig, WindowScaleConfig};
use crate::endpoint::Origin;
use core::net::IpAddr;
use wire::Options;

/// Bytes that a timestamps option occupies in every segment, padding included.
pub(crate) const TIMESTAMP_BYTES: u32 = 12;

/// The features in use on a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Negotiated {
    pub sack: bool,
    pub timestamps: bool,
    pub scaling: bool,
    /// Explicit congestion notification; flags negotiate it, not an option.
    pub ecn: bool,
    /// Shift of the windows the peer sends.
    pub snd_shift: u8,
    /// Shift of the windows we send.
    pub rcv_shift: u8,
}

//= specs/rfc9293.md#segment-size
//# The size that is announced is the largest packet less the fixed headers, whatever options follow.
/// Returns the largest segment that our side accepts: the value of the MSS option (RFC 6691: options are not deducted).
pub(crate) fn own_mss(cfg: &Config, mtu: u16, local: IpAddr) -> u16 {
    let headers = if local.is_ipv4() { 40 } else { 60 };
    let mss = mtu.saturating_sub(headers).max(1);
    cfg.options.mss_max.map_or(mss, |limit| mss.min(limit))
}

//= specs/rfc9293.md#segment-size
//# Without that option the peer is taken to receive 536 bytes over IPv4 and 1220 over IPv6.
/// Returns the largest segment that a peer without the MSS option accepts (RFC 9293 MUST-15).
pub(crate) fn default_mss(local: IpAddr) -> u16 {
    if local.is_ipv4() { 536 } else { 1220 }
}

/// Returns the shift that our SYN offers, or our SYN-ACK answers with, if any.
fn own_shift(cfg: &Config, origin: Origin) -> Option<u8> {
    match (cfg.options.window_scale, origin) {
        (WindowScaleConfig::FromBuffer, _) | (WindowScaleConfig::Answer, Origin::Passive) => cfg.receive.window.shift(),
        (WindowScaleConfig::Shift(shift), _) => Some(shift),
        (WindowScaleConfig::Answer, Origin::Active) | (WindowScaleConfig::Off, _) => None,
    }
}

/// Returns whether we report duplicate data to the peer (RFC 2883).
#[inline]
pub(crate) fn reports_duplicates(cfg: &Config, neg: &Negotiated) -> bool {
    neg.sack && cfg.options.sack != SackConfig::WithoutDuplicates
}

//= specs/rfc2018.md#negotiation
//# The SACK-permitted option is sent in SYNs only.
/// Returns the options of our SYN, without timestamps.
pub(crate) fn offer(cfg: &Config, mss: u16) -> Options {
    Options {
        mss: Some(mss),
        window_scale: own_shift(cfg, Origin::Active),
        sack_permitted: cfg.options.sack != SackConfig::Off,
        ..Options::default()
    }
}

/// Returns whether our SYN offers timestamps, or our SYN-ACK answers an offer.
pub(crate) fn wants_timestamps(cfg: &Config, peer_offered: Option<bool>) -> bool {
    match (cfg.options.timestamps, peer_offered) {
        (TimestampConfig::Offer, None) => true,
        (TimestampConfig::Offer | TimestampConfig::Answer, Some(offered)) => offered,
        (TimestampConfig::Answer, None) | (TimestampConfig::Off, _) => false,
    }
}

//= specs/rfc7323.md#window-scale
//# Scaling is in use only if both SYNs carried the option.
//= specs/rfc7323.md#window-scale
//# A shift is at most 14, and a larger one that a peer sends is taken for 14.
//= specs/rfc7323.md#timestamps
//# Timestamps are in use only if both SYNs carried the option.
/// Returns what the peer's SYN settles for our side.
pub(crate) fn agree(cfg: &Config, peer: &Options, origin: Origin, timestamps_possible: bool) -> Negotiated {
    let shifts = own_shift(cfg, origin).zip(peer.window_scale);
    Negotiated {
        sack: cfg.options.sack != SackConfig::Off && peer.sack_permitted,
        timestamps: timestamps_possible && peer.timestamps.is_some(),
        scaling: shifts.is_some(),
        // RFC 7323 §2.3: a larger shift counts as 14.
        snd_shift: shifts.map_or(0, |(_, theirs)| theirs.min(14)),
        rcv_shift: shifts.map_or(0, |(ours, _)| ours),
        ecn: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use test_case::test_case;
    use wire::Timestamps;

    const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

    #[test_case(V4, 1500, None => 1460)]
    #[test_case(V6, 1500, None => 1440)]
    #[test_case(V4, 1500, Some(1000) => 1000)]
    #[test_case(V4, 9000, Some(u16::MAX) => 8960)]
    fn mss_of(local: IpAddr, mtu: u16, limit: Option<u16>) -> u16 {
        let mut cfg = Config::default();
        cfg.options.mss_max = limit;
        own_mss(&cfg, mtu, local)
    }

    //= specs/rfc7323.md#window-scale
    //= type=test
    //# Scaling is in use only if both SYNs carried the option.
    //= specs/rfc7323.md#window-scale
    //= type=test
    //# A shift is at most 14, and a larger one that a peer sends is taken for 14.
    #[test_case(Some(7), 7, true; "both sides")]
    #[test_case(Some(200), 14, true; "an impossible shift is taken as fourteen")]
    #[test_case(None, 0, false; "only ours")]
    fn scaling_needs_both_sides(theirs: Option<u8>, shift: u8, scaling: bool) {
        let peer = Options { window_scale: theirs, ..Options::default() };
        let agreed = agree(&Config::default(), &peer, Origin::Active, false);
        assert_eq!((agreed.snd_shift, agreed.scaling), (shift, scaling));
        assert_eq!(agreed.rcv_shift == 0, !scaling);
    }

    #[test]
    fn scaling_is_answered_but_not_offered_when_configured_so() {
        let mut cfg = Config::default();
        cfg.options.window_scale = WindowScaleConfig::Answer;
        assert_eq!(offer(&cfg, 1460).window_scale, None);
        let peer = Options { window_scale: Some(7), ..Options::default() };
        let agreed = agree(&cfg, &peer, Origin::Passive, false);
        assert_eq!((agreed.scaling, agreed.snd_shift, agreed.rcv_shift), (true, 7, 9));
        assert!(!agree(&cfg, &peer, Origin::Active, false).scaling, "an unsolicited answer");
    }

    //= specs/rfc7323.md#timestamps
    //= type=test
    //# Timestamps are in use only if both SYNs carried the option.
    #[test]
    fn timestamps_are_answered_but_not_offered_when_configured_so() {
        let mut cfg = Config::default();
        cfg.options.timestamps = TimestampConfig::Answer;
        assert!(!wants_timestamps(&cfg, None));
        assert!(wants_timestamps(&cfg, Some(true)));
        cfg.options.timestamps = TimestampConfig::Off;
        assert!(!wants_timestamps(&cfg, Some(true)));
        let peer = Options { timestamps: Some(Timestamps::default()), ..Options::default() };
        assert!(!agree(&cfg, &peer, Origin::Passive, false).timestamps);
        assert!(agree(&cfg, &peer, Origin::Passive, true).timestamps);
    }
}
