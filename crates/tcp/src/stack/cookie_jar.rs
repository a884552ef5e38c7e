//! SYN cookies (RFC 4987 §3.6): the stack answers a SYN and keeps no state of it. The sequence number of the SYN-ACK encodes what
//! the connection needs, and the ACK that ends the handshake brings it back.
//!
//! The number holds five bits of a clock, three for the class of the peer's segment size, and 24 of a keyed hash over both, the
//! peer's sequence number, the addresses and the ports. A cookie is valid for one to two periods of the clock. A forger has a
//! chance of one in 2^24 per class and period; to limit the attempts, a listener that makes cookies only under load accepts them
//! only for a while after it has made one.
//!
//! They have no room for the SYN's window scale, SACK and ECN. These are in the low bits of the timestamp that the peer echoes,
//! and peers without timestamps lose them. Data in the SYN is also lost, and the peer sends it again.

use super::isn::{sip_hash, words};
use crate::endpoint::FourTuple;
use base::{Duration, Instant, SeqNum};
use wire::{Flags, Options, TcpRepr};

/// Period of the cookie's clock.
pub(super) const PERIOD: Duration = Duration::from_secs(64);

/// Segment sizes that a cookie can encode, ascending: those of common links, with and without tunnels.
const CLASSES: [u16; 8] = [64, 536, 1220, 1300, 1400, 1440, 1460, 8940];

/// Bits of a timestamp that encode the SYN's options.
const OPTION_BITS: u32 = 6;
const SACK: u32 = 1 << 4;
const ECN: u32 = 1 << 5;
/// The four bits of the window scale if there is none.
const NO_SCALE: u32 = 15;

/// Makes and checks cookies.
#[derive(Clone, Copy, Debug)]
pub(super) struct CookieJar {
    key: [u64; 2],
}

impl CookieJar {
    /// `secret` must be unpredictable on a real host.
    pub fn new(secret: [u64; 2]) -> Self {
        // Not the key of the sequence numbers, or either would reveal something about the other.
        Self { key: [0xc00c, 0xc00d].map(|label| sip_hash(secret, &[label])) }
    }

    //= specs/rfc4987.md#cookies
    //# A cookie holds a clock, the class of the segment size, and a keyed hash over these, the SYN's number, addresses and ports.
    /// The sequence number of the SYN-ACK.
    pub fn make(&self, tuple: &FourTuple, irs: SeqNum, mss: u16, now: Instant) -> SeqNum {
        // The first class is below any useful segment size.
        let class = CLASSES.iter().rposition(|size| *size <= mss).unwrap_or(0) as u32;
        let period = period(now);
        SeqNum((period as u32 & 31) << 27 | class << 24 | self.hash(tuple, irs, class, period))
    }

    //= specs/rfc4987.md#cookies
    //# An acknowledgement is believed only if the cookie in it is genuine and recent.
    /// Returns the segment size in a cookie, if it is genuine and recent.
    pub fn check(&self, tuple: &FourTuple, irs: SeqNum, cookie: SeqNum, now: Instant) -> Option<u16> {
        let (clock, class, hash) = (cookie.0 >> 27, cookie.0 >> 24 & 7, cookie.0 & 0x00ff_ffff);
        let periods = [Some(period(now)), period(now).checked_sub(1)];
        let genuine = |period: u64| period as u32 & 31 == clock && self.hash(tuple, irs, class, period) == hash;
        periods.into_iter().flatten().any(genuine).then(|| CLASSES[class as usize])
    }

    fn hash(&self, tuple: &FourTuple, irs: SeqNum, class: u32, period: u64) -> u32 {
        let [a, b, c, d, e] = words(tuple);
        let own = u64::from(irs.0) << 32 | u64::from(class);
        sip_hash(self.key, &[a, b, c, d, e, own, period]) as u32 & 0x00ff_ffff
    }
}

fn period(now: Instant) -> u64 {
    now.as_nanos() / PERIOD.as_nanos()
}

//= specs/rfc4987.md#cookies
//# Window scale, SACK and ECN survive in the timestamp, and are given up without it.
/// Encodes a SYN's options in the timestamp of the answer. This sets the clock back by a few ticks at most, never ahead.
pub(super) fn mark(tsval: u32, syn: &TcpRepr) -> u32 {
    let scale = syn.options.window_scale.map_or(NO_SCALE, |shift| u32::from(shift.min(14)));
    let sack = if syn.options.sack_permitted { SACK } else { 0 };
    let ecn = if syn.flags.contains(Flags::ECE.with(Flags::CWR)) { ECN } else { 0 };
    let marked = (tsval >> OPTION_BITS << OPTION_BITS) | scale | sack | ecn;
    if (marked.wrapping_sub(tsval) as i32) > 0 { marked.wrapping_sub(1 << OPTION_BITS) } else { marked }
}

/// Reconstructs the SYN of a peer that acknowledges a cookie with this segment.
pub(super) fn recall(ack: &TcpRepr, mss: u16) -> TcpRepr {
    let mut syn = TcpRepr { seq: ack.seq - 1, ack: None, flags: Flags::SYN, urgent: 0, ..*ack };
    syn.options = Options { mss: Some(mss), timestamps: ack.options.timestamps, ..Options::default() };
    if let Some(echoed) = ack.options.timestamps.map(|ts| ts.tsecr) {
        syn.options.window_scale = Some((echoed & NO_SCALE) as u8).filter(|shift| u32::from(*shift) != NO_SCALE);
        syn.options.sack_permitted = echoed & SACK != 0;
        if echoed & ECN != 0 {
            syn.flags = syn.flags.with(Flags::ECE).with(Flags::CWR);
        }
    }
    syn
}
