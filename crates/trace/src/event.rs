//! The events, and their canonical text.

use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use core::fmt;

/// Version of the vocabulary; rises with every change of a name, a field or a meaning.
pub const VERSION: u32 = 2;

/// How one field is written in canonical text.
trait Field {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}
macro_rules! plain { ($($t:ty),*) => { $(impl Field for $t {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
})* } }
plain!(u8, u32, u64, bool, &'static str, SeqNum, SeqRange);
impl Field for Duration {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_nanos(), f)
    }
}
impl Field for Instant {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.as_nanos(), f)
    }
}
impl<T: Field> Field for Option<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => value.write(f),
            None => f.write_str("-"),
        }
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident : $type:ty),* $(,)? })*) => {
        /// Something that happened to a connection. Times are spans or moments in nanoseconds, sizes are octets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event { $($(#[$doc])* $name { $($(#[$fdoc])* $field: $type),* }),* }

        impl Event {
            /// The event's name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$name { .. } => stringify!($name)),* }
            }
        }

        impl fmt::Display for Event {
            /// `Name{field=value,…}` in declaration order; times in nanoseconds, absent values as `-`.
            #[allow(unused_assignments)]
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$name { $($field),* } => {
                    f.write_str(concat!(stringify!($name), "{"))?;
                    let mut separator = "";
                    $(f.write_str(separator)?; separator = ",";
                      f.write_str(concat!(stringify!($field), "="))?; Field::write($field, f)?;)*
                    f.write_str("}")
                }),* }
            }
        }
    };
}

events! {
    /// The connection changed its RFC 9293 state.
    StateChanged { /// From.
        from: &'static str, /// To.
        to: &'static str }
    /// A segment left the endpoint.
    SegmentSent { /// First sequence number.
        seq: SeqNum, /// Sequence numbers occupied, FIN included.
        len: Bytes, /// Flags as letters, e.g. `PA`.
        flags: &'static str, /// Acknowledgement number, if any.
        ack: Option<SeqNum>, /// Window as advertised, octets.
        window: Bytes, /// Times this range was sent before.
        retransmit: u8, /// Number of SACK blocks carried.
        blocks: u8 }
    /// A segment arrived.
    SegmentReceived { /// First sequence number.
        seq: SeqNum, /// Payload octets.
        len: Bytes, /// Flags as letters.
        flags: &'static str, /// Acknowledgement number, if any.
        ack: Option<SeqNum>, /// Window after scaling, octets.
        window: Bytes, /// Number of SACK blocks carried.
        blocks: u8 }
    /// The ten steps of ACK processing are done.
    AckProcessed { /// Cumulative acknowledgement.
        ack: SeqNum, /// Octets newly acknowledged.
        acked: Bytes, /// Octets newly selectively acknowledged.
        sacked: Bytes, /// Octets newly marked lost.
        lost: Bytes, /// Duplicate range the receiver reported.
        dsack: Option<SeqRange>, /// RTT sample.
        rtt: Option<Duration>, /// Octets in flight afterwards.
        pipe: Bytes, /// Congestion window afterwards.
        cwnd: Bytes }
    /// The sender gave a segment up for lost.
    SegmentLost { /// Which.
        range: SeqRange, /// What it was sent for the last time.
        sent_at: Instant, /// Times it had been retransmitted.
        retransmits: u8, /// The detector.
        by: &'static str }
    /// A timer was set.
    TimerArmed { /// Which.
        kind: &'static str, /// When it fires.
        at: Instant }
    /// A timer fired.
    TimerFired { /// Which.
        kind: &'static str }
    /// A recovery episode began or ended.
    EpisodeChanged { /// From.
        from: &'static str, /// To.
        to: &'static str, /// Why.
        cause: &'static str, /// The recovery point, if inside an episode.
        point: Option<SeqNum> }
    /// A tail loss probe was answered.
    ProbeAnswered { /// Whether it repaired a loss.
        repaired: bool }
    /// An episode was proven spurious, and its reduction undone.
    Undone { /// By what: `dsack`, `eifel` or `frto`.
        proof: &'static str, /// Congestion window afterwards.
        cwnd: Bytes, /// Slow-start threshold afterwards.
        ssthresh: Bytes }
    /// The controller's numbers, when they differ from the last ones emitted.
    CcSnapshot { /// Phase.
        phase: &'static str, /// Congestion window.
        cwnd: Bytes, /// Slow-start threshold.
        ssthresh: Bytes, /// Octets in flight.
        pipe: Bytes, /// The peer's window.
        snd_wnd: Bytes }
    /// Slow start entered a phase: a careful one, or, after that, its first one again.
    SlowStartPhase { /// Which, as in `CcSnapshot`.
        phase: &'static str, /// Window at that time.
        cwnd: Bytes }
    /// Slow start ended.
    SlowStartExited { /// Why.
        cause: &'static str, /// Window at that time.
        cwnd: Bytes }
    /// The reordering window of a time-based detector changed.
    ReorderingWindow { /// The window.
        reo_wnd: Duration, /// Its multiplier.
        multiplier: u32, /// Whether reordering has been seen.
        seen: bool }
    /// RTT state after a sample.
    RttUpdated { /// The sample.
        sample: Duration, /// Smoothed.
        srtt: Duration, /// Variation.
        rttvar: Duration, /// Retransmission timeout.
        rto: Duration, /// Windowed minimum.
        min_rtt: Duration }
    /// The receiver moved its buffer limit.
    ReceiveBuffer { /// New limit.
        bytes: Bytes }
    /// An arriving segment was not accepted.
    Dropped { /// Why.
        reason: &'static str, /// Its first sequence number.
        seq: SeqNum, /// Its payload octets.
        len: Bytes }
    /// The network dropped one of the connection's packets (known only to an emulator).
    HopDropped { /// Which hop.
        hop: &'static str, /// Queue, loss or queue manager.
        cause: &'static str, /// Octets of the packet.
        len: Bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_lists_fields_in_declaration_order_and_dashes_for_nothing() {
        let event = Event::AckProcessed {
            ack: SeqNum(7),
            acked: 6,
            sacked: 0,
            lost: 0,
            dsack: None,
            rtt: Some(Duration::from_millis(1)),
            pipe: 3,
            cwnd: 14_600,
        };
        assert_eq!(
            event.to_string(),
            "AckProcessed{ack=7,acked=6,sacked=0,lost=0,dsack=-,rtt=1000000,pipe=3,cwnd=14600}"
        );
        assert_eq!(event.name(), "AckProcessed");
    }
}
