//! A digest of a trace, computed as its observer. Frozen: another function would give another stamp for the same behaviour.

use crate::{ConnId, Event, Observer, PacketPayload, PacketSent, Value};
use base::{Instant, SeqRange};

/// The events so far, in 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds a number. Each step is a permutation of the state, so a later number cancels an earlier one only by
    /// chance.
    #[inline]
    pub fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        self.0 = mixed ^ (mixed >> 27);
    }

    /// Takes bytes in, their number before them.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, tail) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..tail.len()].copy_from_slice(tail);
        self.word(u64::from_le_bytes(last));
    }

    /// Returns the digest.
    #[must_use]
    pub fn finish(mut self) -> u64 {
        self.word(0);
        self.0
    }

    #[inline]
    fn value(&mut self, value: Value<'_>) {
        let range = |SeqRange { start, end }: SeqRange| u64::from(start.0) << 32 | u64::from(end.0);
        self.word(match value {
            Value::Number(number) => number,
            Value::Flag(flag) => u64::from(flag),
            // A name may change without a change of behaviour.
            Value::Word(_) => return,
            Value::Seq(seq) => u64::from(seq.0),
            Value::Range(covered) => range(covered),
            Value::Span(span) => span.as_nanos(),
            Value::Moment(at) => at.as_nanos(),
            // No field has this value.
            Value::Absent => u64::MAX ^ 0xab5e,
        });
    }
}

impl Observer for Digest {
    const PACKETS: bool = true;

    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.word(at.as_nanos());
        self.word(conn.0.into());
        event.tell(&mut |value| self.value(value));
    }

    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        self.word(at.as_nanos());
        self.word(packet.host.into());
        self.bytes(packet.header);
        match packet.payload {
            PacketPayload::Bytes(bytes) => self.bytes(bytes),
            PacketPayload::Stream { offset, len } => {
                self.word(offset);
                self.word(len.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimerKind;

    fn of(feed: impl FnOnce(&mut Digest)) -> u64 {
        let mut digest = Digest::default();
        feed(&mut digest);
        digest.finish()
    }

    #[test]
    fn what_a_thing_is_called_is_not_seen_and_what_happens_is() {
        let at = Instant::from_nanos(5);
        let fired = |at, conn, kind| of(|digest| digest.record(at, ConnId(conn), Event::TimerFired { kind }));
        let (one, other) = (TimerKind::Retransmit, TimerKind::Pace);
        assert_eq!(fired(at, 1, one), fired(at, 1, other));
        assert_ne!(fired(at, 1, one), fired(at, 2, one));
        assert_ne!(fired(at, 1, one), fired(Instant::from_nanos(6), 1, one));
        let bytes = |bytes| of(|digest| digest.record(at, ConnId(1), Event::ReceiveBuffer { bytes }));
        assert_ne!(bytes(1), bytes(2));
    }

    #[test]
    fn order_and_number_matter() {
        let words = |words: &[u64]| of(|digest| words.iter().for_each(|word| digest.word(*word)));
        assert_ne!(words(&[1, 2]), words(&[2, 1]));
        assert_ne!(words(&[0]), words(&[]));
        assert_ne!(of(|digest| digest.bytes(b"a\0")), of(|digest| digest.bytes(b"a")));
    }

    /// Stamps are compared across years and machines.
    #[test]
    fn the_function_is_frozen() {
        assert_eq!(of(|digest| digest.bytes(b"longhaul")), 18195278760511438950);
    }
}
