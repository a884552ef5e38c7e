//! TIME-WAIT and the connection that may follow (RFC 9293 §3.6.1, RFC 6191, RFC 1337).
//!
//! The wait lasts twice the lifetime of a segment, so that old segments expire. A new connection between the same addresses and
//! ports need not wait if its numbers distinguish its segments from the old ones: the peer's SYN by timestamp or sequence number,
//! ours by both.
//!
//! Deviations: a SYN that is too old is answered with a challenge ACK, as RFC 9293 §3.10.7.4 asks, and not silently dropped (RFC
//! 6191 §2). And once a SYN was accepted, TIME-WAIT cannot resume, although RFC 9293 asks for that where only sequence numbers
//! decide: the peer that sent the old SYN resets the new connection, and the wait is over.

use base::SeqNum;

/// What the next connection between the same addresses and ports must know about the last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predecessor {
    /// The first sequence number that the last connection did not use.
    pub snd_nxt: SeqNum,
    /// The peer's last timestamp.
    pub recent: Option<u32>,
}

impl Predecessor {
    /// Distance between the last connection's sequence numbers and the next one's, larger than any window without scaling.
    const GAP: u32 = 1 << 16;

    //= specs/rfc9293.md#time-wait
    //# The connection that follows begins beyond the sequence numbers of the last.
    /// Returns the initial sequence number, given the `proposed` one from clock and hash. It has nearly always passed the old
    /// connection; only a connection that sent faster than the clock ticks is ahead of it.
    pub fn iss(&self, proposed: SeqNum) -> SeqNum {
        if proposed.after(self.snd_nxt) { proposed } else { self.snd_nxt + Self::GAP }
    }
}

//= specs/rfc6191.md#table
//# With timestamps on both, a SYN with a later timestamp is taken.
//= specs/rfc6191.md#table
//# With timestamps on both, a SYN with the same timestamp is taken if its sequence number is beyond the last one seen.
//= specs/rfc6191.md#table
//# A SYN without timestamps is taken if its sequence number is beyond the last one seen.
//= specs/rfc6191.md#table
//# After a connection without timestamps, a SYN with them is taken.
//= specs/rfc6191.md#table
//# Any other SYN leaves the connection in TIME-WAIT.
/// Returns whether a SYN may end the wait (RFC 6191 §2). `recent` is the last timestamp of the old connection, `offered` that of
/// the SYN if the new connection would use timestamps; `beyond` says whether the SYN's sequence number is beyond the last one
/// seen.
pub(in crate::endpoint) fn syn_may_follow(recent: Option<u32>, offered: Option<u32>, beyond: bool) -> bool {
    match (recent, offered) {
        (Some(recent), Some(offered)) => match offered.wrapping_sub(recent) as i32 {
            later if later > 0 => true,
            same => same == 0 && beyond,
        },
        (None, Some(_)) => true,
        (_, None) => beyond,
    }
}
