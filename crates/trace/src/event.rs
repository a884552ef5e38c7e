//! The events. Their canonical text, their values with names and the conversion back are generated from the list.

use crate::labels::{
    BlockClass, Detector, DropCause, DropReason, Episode, EpisodeCause, ExitCause, FlagLetters, Hop, Limit, Moved,
    Phase, Proof, SendCause, State, TimerKind,
};
use crate::schema::{EventInfo, Field, FieldInfo, Kind, Value};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use core::fmt;

/// Version of the vocabulary; raised with every change of a name, a field or a meaning.
pub const VERSION: u32 = 5;

macro_rules! events {
    ($($(#[doc = $doc:literal])* $name:ident {
        $($(#[doc = $fdoc:literal])* $field:ident : $type:ty),* $(,)?
    })*) => {
        /// An event of a connection. Times are spans or moments in nanoseconds, sizes are bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event { $($(#[doc = $doc])* $name { $($(#[doc = $fdoc])* $field: $type),* }),* }

        /// The places of events in the vocabulary.
        #[repr(u8)]
        enum Place { $($name),* }

        /// Every event with its fields, in the order of their declaration.
        pub const VOCABULARY: &[EventInfo] = &[$(EventInfo {
            name: stringify!($name),
            doc: concat!($($doc),*),
            fields: &[$(FieldInfo {
                name: stringify!($field),
                kind: <$type as Field>::KIND,
                optional: <$type as Field>::OPTIONAL,
                names: <$type as Field>::NAMES,
                doc: concat!($($fdoc),*),
            }),*],
        }),*];

        impl Event {
            /// The event's name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$name { .. } => stringify!($name)),* }
            }

            /// Its place in [`VOCABULARY`].
            #[inline]
            pub const fn place(&self) -> usize {
                match self { $(Self::$name { .. } => Place::$name as usize),* }
            }

            /// Passes each field's value to `listener`, in the order of their declaration.
            #[inline]
            pub fn tell(&self, listener: &mut impl Listener) {
                match *self { $(Self::$name { $($field),* } => { $(listener.hear(<$type as Field>::KIND, <$type as Field>::OPTIONAL, Field::value($field));)* }),* }
            }

            /// Returns the event at this place of the vocabulary with these values, requested in the order of the fields; `None`
            /// if a value does not fit its field, or the place does not exist.
            pub fn from_values<'w>(place: usize, mut ask: impl FnMut(&'static FieldInfo) -> Value<'w>) -> Option<Self> {
                let mut fields = VOCABULARY.get(place)?.fields.iter();
                $(if place == Place::$name as usize {
                    return Some(Self::$name { $($field: Field::from_value(ask(fields.next()?))?),* });
                })*
                None
            }
        }
    };
}

impl Event {
    /// Returns its meaning and its fields.
    pub const fn info(&self) -> &'static EventInfo {
        &VOCABULARY[self.place()]
    }
}

/// Receives the values of an event's fields.
pub trait Listener {
    /// Receives the next value: the field's kind, whether it is optional, and the value. The first two are constants at every
    /// call, so a listener that needs speed is inlined.
    fn hear(&mut self, kind: Kind, optional: bool, value: Value<'static>);
}

impl<F: FnMut(Value<'static>)> Listener for F {
    #[inline]
    fn hear(&mut self, _kind: Kind, _optional: bool, value: Value<'static>) {
        self(value);
    }
}

impl fmt::Display for Event {
    /// `Name{field=value,…}` in declaration order; times in nanoseconds, absent values as `-`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.info();
        write!(f, "{}{{", info.name)?;
        let (mut fields, mut result) = (info.fields.iter(), Ok(()));
        self.tell(&mut |value| {
            let separator = if fields.len() == info.fields.len() { "" } else { "," };
            if let Some(field) = fields.next() {
                result = result.and_then(|()| write!(f, "{separator}{}={value}", field.name));
            }
        });
        result?;
        f.write_str("}")
    }
}

events! {
    /// The connection changed its RFC 9293 state.
    StateChanged { /// From.
        from: State, /// To.
        to: State }
    /// A segment left the endpoint.
    SegmentSent { /// First sequence number.
        seq: SeqNum, /// Sequence numbers occupied, FIN included.
        len: Bytes, /// Flags as letters, e.g. `PA`.
        flags: FlagLetters, /// Acknowledgement number, if any.
        ack: Option<SeqNum>, /// Window as advertised, bytes.
        window: Bytes, /// What made it leave: `new`; `limited_transmit`, new data that only a selective or duplicate acknowledgement made room for; `fast_retransmit`, the first retransmission of a recovery; `sack_retransmit`, the others; `additional`, a hole that nothing marks lost; `timeout`; `tail_probe`; `frto`, new data instead of retransmissions; `window_probe`; `mtu_probe`; `keep_alive`; `syn`; `ack`; `reset`.
        cause: SendCause, /// Times this range was sent before.
        retransmit: u8, /// Number of SACK blocks carried.
        blocks: u8, /// Duplicate range that it reports.
        dsack: Option<SeqRange> }
    /// A segment arrived.
    SegmentReceived { /// First sequence number.
        seq: SeqNum, /// Payload bytes.
        len: Bytes, /// Flags as letters.
        flags: FlagLetters, /// Acknowledgement number, if any.
        ack: Option<SeqNum>, /// Window after scaling, bytes.
        window: Bytes, /// Number of SACK blocks carried.
        blocks: u8 }
    /// A SACK block arrived, in the order of the option.
    BlockReceived { /// As it stands in the option.
        range: SeqRange, /// What it is taken for: `sack`, `dsack`, or why it is refused: `empty`, `beyond_sent`, `below_ack`, `stale`, `too_old`.
        class: BlockClass }
    /// An acknowledgement with SACK blocks is done with.
    SackReceived { /// Cumulative acknowledgement.
        ack: SeqNum, /// First byte not acknowledged, afterwards.
        snd_una: SeqNum, /// First byte not sent.
        snd_nxt: SeqNum, /// Number of blocks.
        blocks: u8, /// Blocks recognised as duplicate reports.
        dsacks: u8, /// Whether it brought news.
        news: bool, /// Bytes selectively acknowledged, afterwards.
        sacked: Bytes, /// Of these, newly.
        newly_sacked: Bytes, /// Bytes newly marked lost.
        lost: Bytes, /// Whether a recovery is under way, afterwards.
        in_recovery: bool, /// The recovery point, if inside an episode.
        point: Option<SeqNum> }
    /// The ten steps of ACK processing are done.
    AckProcessed { /// Cumulative acknowledgement.
        ack: SeqNum, /// Bytes newly acknowledged.
        acked: Bytes, /// Bytes newly selectively acknowledged.
        sacked: Bytes, /// Bytes newly marked lost.
        lost: Bytes, /// Duplicate range the receiver reported.
        dsack: Option<SeqRange>, /// RTT sample.
        rtt: Option<Duration>, /// Bytes in flight afterwards.
        pipe: Bytes, /// Congestion window afterwards.
        cwnd: Bytes }
    /// A sample of the delivery rate.
    RateSampled { /// Bytes delivered in the interval.
        delivered: u64, /// The interval.
        interval: Duration, /// Their quotient, bits per second.
        rate: u64, /// Whether it measured the application rather than the path.
        app_limited: bool }
    /// The sender gave a segment up for lost.
    SegmentLost { /// Which.
        range: SeqRange, /// When it was sent for the last time.
        sent_at: Instant, /// Times it had been retransmitted.
        retransmits: u8, /// The detector.
        by: Detector }
    /// Something that was never sent again was delivered behind something sent after it.
    ReorderingSeen { /// Bytes by which it was overtaken.
        extent: Bytes, /// The largest extent so far.
        max_extent: Bytes, /// Highest number selectively acknowledged.
        fack: SeqNum, /// First number behind the segment that was late.
        end: SeqNum }
    /// A timer was set.
    TimerArmed { /// Which.
        kind: TimerKind, /// When it fires.
        fires_at: Instant }
    /// A timer fired.
    TimerFired { /// Which.
        kind: TimerKind }
    /// A recovery episode began or ended.
    EpisodeChanged { /// From.
        from: Episode, /// To.
        to: Episode, /// Why.
        cause: EpisodeCause, /// The recovery point, if inside an episode.
        point: Option<SeqNum> }
    /// A tail loss probe was answered.
    ProbeAnswered { /// Whether it repaired a loss.
        repaired: bool }
    /// An episode was proven spurious, and its reduction undone.
    Undone { /// By what: `dsack`, `eifel` or `frto`.
        proof: Proof, /// Congestion window afterwards.
        cwnd: Bytes, /// Slow-start threshold afterwards.
        ssthresh: Bytes }
    /// The controller's numbers, when they differ from the last ones emitted.
    CcSnapshot { /// Phase.
        phase: Phase, /// Congestion window.
        cwnd: Bytes, /// Slow-start threshold.
        ssthresh: Bytes, /// Bytes in flight.
        pipe: Bytes, /// The peer's window.
        snd_wnd: Bytes, /// Rate at which the sender spaces segments, bits per second; none where it does not.
        pacing: Option<u64> }
    /// Slow start entered a phase: a careful one, or, after that, its first one again.
    SlowStartPhase { /// Which, as in `CcSnapshot`.
        phase: Phase, /// Window at that time.
        cwnd: Bytes }
    /// Slow start ended.
    SlowStartExited { /// Why.
        cause: ExitCause, /// Window at that time.
        cwnd: Bytes }
    /// The reordering window of a time-based detector changed, or a duplicate was reported to it.
    ReorderingWindow { /// The window.
        reo_wnd: Duration, /// Its multiplier.
        multiplier: u32, /// Recoveries without a duplicate report until the multiplier returns to one.
        persist: u8, /// Whether reordering has been seen.
        seen: bool, /// Whether the latest ACK reported a duplicate.
        dsack: bool, /// Whether a recovery is under way.
        in_recovery: bool, /// End of the round trip in which no further duplicate widens the window.
        round: Option<SeqNum> }
    /// RTT state after a sample.
    RttUpdated { /// The sample.
        sample: Duration, /// Smoothed.
        srtt: Duration, /// Variation.
        rttvar: Duration, /// Retransmission timeout.
        rto: Duration, /// Windowed minimum.
        min_rtt: Duration }
    /// Nothing more can leave for now, for another reason than the last time.
    Limited { /// `cwnd`, `rwnd`, `recovery`, `application`, `buffer` (the send buffer is full of what is in flight), `pacing`, `undetermined` (a capture does not tell the congestion window from the path and the application), or `nothing`: none of them, as before the connection is open.
        by: Limit }
    /// The receiver moved its buffer limit.
    ReceiveBuffer { /// New limit.
        bytes: Bytes }
    /// An arriving segment was not accepted.
    Dropped { /// Why.
        reason: DropReason, /// Its first sequence number.
        seq: SeqNum, /// Its payload bytes.
        len: Bytes }
    /// A packet entered the network (known only to an emulator).
    HopQueued { /// Bytes that wait in the network's queues afterwards, the packet in service counted whole.
        backlog: u64 }
    /// The network moved a packet out of the order (known only to an emulator).
    HopReordered { /// Which hop.
        hop: Hop, /// `late` or `early`.
        how: Moved, /// First sequence number of the segment.
        seq: SeqNum, /// Bytes of the packet.
        len: Bytes }
    /// The network dropped one of the connection's packets (known only to an emulator).
    HopDropped { /// Which hop.
        hop: Hop, /// Queue, loss or queue manager.
        cause: DropCause, /// First sequence number of the segment.
        seq: SeqNum, /// Bytes of the packet.
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
        assert_eq!((event.name(), event.info().name), ("AckProcessed", "AckProcessed"));
    }

    /// Some value of a field.
    fn some(field: &FieldInfo) -> Value<'static> {
        match field.kind {
            Kind::Number => Value::Number(7),
            Kind::Flag => Value::Flag(true),
            Kind::Word => Value::Word(field.names[0]),
            Kind::Seq => Value::Seq(SeqNum(9)),
            Kind::Range => Value::Range(SeqRange::new(SeqNum(1), SeqNum(2))),
            Kind::Span => Value::Span(Duration::from_nanos(3)),
            Kind::Moment => Value::Moment(Instant::from_nanos(4)),
        }
    }

    #[test]
    fn every_event_is_made_of_its_values_and_gives_them_back() {
        for (place, info) in VOCABULARY.iter().enumerate() {
            for absent in [false, true] {
                let give = |field: &FieldInfo| if absent && field.optional { Value::Absent } else { some(field) };
                let event = Event::from_values(place, give).unwrap();
                assert_eq!((event.place(), event.name()), (place, info.name));
                let mut values = Vec::new();
                event.tell(&mut |value| values.push(value));
                assert_eq!(values, info.fields.iter().map(give).collect::<Vec<_>>(), "{}", info.name);
            }
            assert!(!info.doc.is_empty() && info.fields.iter().all(|field| !field.doc.is_empty()), "{}", info.name);
        }
        assert_eq!(Event::from_values(VOCABULARY.len(), |_| Value::Absent), None);
    }

    #[test]
    fn a_value_that_is_not_the_fields_is_refused() {
        let dropped = VOCABULARY.iter().position(|info| info.name == "ReceiveBuffer").unwrap();
        assert_eq!(Event::from_values(dropped, |_| Value::Number(1)), Some(Event::ReceiveBuffer { bytes: 1 }));
        for wrong in [Value::Number(u64::MAX), Value::Absent, Value::Flag(true)] {
            assert_eq!(Event::from_values(dropped, |_| wrong), None, "{wrong}");
        }
        let limited = VOCABULARY.iter().position(|info| info.name == "Limited").unwrap();
        let limited = |by| Event::from_values(limited, |_| Value::Word(by));
        assert_eq!((limited("cwnd"), limited("moon")), (Some(Event::Limited { by: Limit::Cwnd }), None));
    }
}
