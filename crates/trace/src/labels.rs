//! The labels that events carry: one enum for each set of names. A label is written as its name and read from it, so a reader
//! keeps no text, and a misspelt label does not compile.

use crate::schema::{Field, Kind, Value};
use core::cmp::Ordering;
use core::fmt;

macro_rules! labels {
    ($($(#[$attr:meta])* $label:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)? })*) => { $(
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $label { $($(#[$doc])* $variant),* }

        impl $label {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// Number of them, for counters.
            pub const COUNT: usize = Self::ALL.len();

            /// Returns the name in traces.
            #[inline]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the label of this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $label {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        /// By name, as lists of them are shown.
        impl Ord for $label {
            fn cmp(&self, other: &Self) -> Ordering {
                self.name().cmp(other.name())
            }
        }

        impl PartialOrd for $label {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Field for $label {
            const KIND: Kind = Kind::Word;
            const NAMES: &'static [&'static str] = &[$($name),*];
            #[inline]
            fn value(self) -> Value<'static> {
                Value::Word(self.name())
            }
            fn from_value(value: Value<'_>) -> Option<Self> {
                if let Value::Word(word) = value { Self::from_name(word) } else { None }
            }
        }
    )* };
}

mod path;

pub use path::{DropCause, Hop, Moved};

labels! {
    /// A state of RFC 9293 §3.3.2.
    State {
        /// Our SYN is out.
        SynSent = "SYN-SENT",
        /// Both SYNs were sent, ours is not acknowledged.
        SynReceived = "SYN-RECEIVED",
        /// Data flows both ways.
        Established = "ESTABLISHED",
        /// We closed; our FIN is not acknowledged.
        FinWait1 = "FIN-WAIT-1",
        /// Our FIN is acknowledged; the peer may still send.
        FinWait2 = "FIN-WAIT-2",
        /// The peer closed; we may still send.
        CloseWait = "CLOSE-WAIT",
        /// Both closed at once; our FIN is not acknowledged.
        Closing = "CLOSING",
        /// The peer closed first, then we; our FIN is not acknowledged.
        LastAck = "LAST-ACK",
        /// Both FINs are acknowledged; waiting until old segments have expired.
        TimeWait = "TIME-WAIT",
        /// Over.
        Closed = "CLOSED",
    }

    /// The control bits of a segment as letters, in the usual order. URG and the bits of ECN have none, and a SYN or a reset
    /// stands alone or with ACK.
    FlagLetters {
        /// SYN.
        Syn = "S",
        /// SYN and ACK.
        SynAck = "SA",
        /// RST.
        Rst = "R",
        /// RST and ACK.
        RstAck = "RA",
        /// FIN.
        Fin = "F",
        /// FIN and ACK.
        FinAck = "FA",
        /// FIN, PSH and ACK.
        FinPshAck = "FPA",
        /// PSH.
        Psh = "P",
        /// PSH and ACK.
        PshAck = "PA",
        /// ACK.
        Ack = "A",
        /// None of these.
        None = "-",
    }

    /// Why a segment leaves.
    SendCause {
        /// New data.
        New = "new",
        /// New data beyond what cumulative acknowledgements permit (RFC 3042).
        LimitedTransmit = "limited_transmit",
        /// A retransmission in recovery that leaves whatever the window says, such as the first one.
        FastRetransmit = "fast_retransmit",
        /// Any other one.
        SackRetransmit = "sack_retransmit",
        /// A segment that nothing marks lost (RFC 6675 §4, NextSeg rules 3 and 4).
        Additional = "additional",
        /// Retransmissions after a timeout.
        Timeout = "timeout",
        /// A tail loss probe (RFC 8985 §7).
        TailProbe = "tail_probe",
        /// New data instead of retransmissions, while a timeout is examined.
        Frto = "frto",
        /// A probe of a closed window.
        WindowProbe = "window_probe",
        /// A probe of the path MTU.
        MtuProbe = "mtu_probe",
        /// A keep-alive.
        KeepAlive = "keep_alive",
        /// A SYN, with or without ACK.
        Syn = "syn",
        /// An acknowledgement without data.
        Ack = "ack",
        /// A reset.
        Reset = "reset",
    }

    /// What a SACK block means, or why it is rejected.
    BlockClass {
        /// Data above the cumulative ACK has arrived.
        Sack = "sack",
        /// Data arrived twice.
        Dsack = "dsack",
        /// Its end is not behind its start.
        Empty = "empty",
        /// It reports data that was never sent.
        BeyondSent = "beyond_sent",
        /// Below the cumulative ACK, but not at the position of a duplicate report, or partly above it.
        BelowAck = "below_ack",
        /// An earlier segment, which overtook this one, acknowledged all of it.
        Stale = "stale",
        /// A duplicate report that reaches back further than the largest window.
        TooOld = "too_old",
    }

    /// A loss detector.
    Detector {
        /// By SACKed data above a hole (RFC 6675).
        DupThresh = "dup_thresh",
        /// By time (RFC 8985).
        Rack = "rack",
        // variant: rack_ring {
        /// By time over a ring of blocks, beside RFC 6675.
        RackRing = "rack_ring",
        // variant: rack_ring }
    }

    /// A timer of an endpoint.
    TimerKind {
        /// The oldest outstanding data, or a SYN, was not acknowledged in time.
        Retransmit = "retransmit",
        /// A segment becomes overdue for the loss detector.
        Reorder = "reorder",
        /// No ACK arrived from a flight for about two round trips.
        TailProbe = "tail_probe",
        /// The peer's window is closed, or the silly-window rules hold the last bytes back.
        Persist = "persist",
        /// An acknowledgement was delayed for its maximum time.
        DelayedAck = "delayed_ack",
        /// Nothing was heard for long.
        KeepAlive = "keep_alive",
        /// The peer did not close its direction.
        FinWait2 = "fin_wait_2",
        /// Twice the maximum segment lifetime is over.
        TimeWait = "time_wait",
        /// The pacer releases the next segment.
        Pace = "pace",
    }

    /// A connection's state of loss recovery.
    Episode {
        /// No episode.
        Open = "open",
        /// The window was reduced for a congestion mark.
        Cwr = "cwr",
        /// Fast recovery.
        Recovery = "recovery",
        /// After a retransmission timeout.
        Loss = "loss",
    }

    /// Why an episode began or ended.
    EpisodeCause {
        /// The recovery point was acknowledged.
        Acknowledged = "acknowledged",
        /// A retransmission timeout.
        Timeout = "timeout",
        /// A congestion mark.
        Ecn = "ecn",
        /// Segments in flight do not fit the path any more.
        PathMtu = "path_mtu",
        /// [`Detector::DupThresh`] marked a segment lost.
        DupThresh = "dup_thresh",
        /// [`Detector::Rack`] marked a segment lost.
        Rack = "rack",
        // variant: rack_ring {
        /// [`Detector::RackRing`] marked a segment lost.
        RackRing = "rack_ring",
        // variant: rack_ring }
        /// [`Proof::Dsack`] showed that it was spurious.
        Dsack = "dsack",
        /// [`Proof::Eifel`] showed that it was spurious.
        Eifel = "eifel",
        /// [`Proof::Frto`] showed that it was spurious.
        Frto = "frto",
    }

    /// What proves an episode spurious.
    Proof {
        /// Duplicate reports (RFC 3708).
        Dsack = "dsack",
        /// An answer to an original (RFC 3522).
        Eifel = "eifel",
        /// The original flight arrived after a timeout (RFC 5682).
        Frto = "frto",
    }

    /// The phase of a congestion controller.
    Phase {
        /// Slow start at full speed.
        SlowStart = "slow_start",
        /// Conservative slow start (RFC 9406).
        Css = "css",
        /// Limited slow start beside congestion avoidance.
        Lss = "lss",
        /// Half of the window that an earlier connection had leaves, and is not yet confirmed (RFC 9959).
        Jump = "jump",
        /// The window comes down after slow start has found the path full.
        Draining = "draining",
        /// Congestion avoidance of RFC 5681.
        Reno = "reno",
        /// Congestion avoidance of RFC 9438.
        Cubic = "cubic",
        /// Compound TCP's congestion avoidance.
        Compound = "compound",
        /// BBR doubles its rate until the pipe is full.
        Startup = "startup",
        /// BBR removes the queue that this left.
        Drain = "drain",
        /// BBR sends less than the bandwidth, at the beginning of a cycle.
        ProbeDown = "probe_down",
        /// BBR sends the bandwidth, with room for others.
        ProbeCruise = "probe_cruise",
        /// BBR sends the bandwidth, with all that may be in flight.
        ProbeRefill = "probe_refill",
        /// BBR sends more than the bandwidth.
        ProbeUp = "probe_up",
        /// BBR sends little, to see the round trip without a queue.
        ProbeRtt = "probe_rtt",
        /// A program's own congestion control, beyond its slow start.
        Outside = "outside",
    }

    /// Why slow start ended.
    ExitCause {
        /// `cwnd` reached `ssthresh`.
        Threshold = "threshold",
        /// A congestion signal.
        Congestion = "congestion",
        /// The round-trip time rose (HyStart's delay test).
        DelayIncrease = "delay_increase",
        /// ACKs of one flight spanned half a round trip (HyStart's train test).
        AckTrain = "ack_train",
        /// The rounds of conservative slow start are over (RFC 9406 §4.2).
        CssRounds = "css_rounds",
        /// Less arrived than had been sent a round trip before (SEARCH).
        Shortfall = "shortfall",
        /// The delivery rate stopped growing.
        Plateau = "plateau",
        /// Chirps end to end would fill a round trip.
        Chirps = "chirps",
    }

    /// What prevents the next segment from leaving.
    #[derive(Default)]
    Limit {
        /// None of the others: the connection is not open, or a small segment waits for more data.
        #[default]
        Nothing = "nothing",
        /// There is nothing to send.
        Application = "application",
        /// The send buffer is full of data in flight, and the application would write more.
        Buffer = "buffer",
        /// The congestion window.
        Cwnd = "cwnd",
        /// The peer's window.
        Rwnd = "rwnd",
        /// The limit that recovery sets.
        Recovery = "recovery",
        /// The pacer.
        Pacing = "pacing",
        /// The congestion window, the path or the application: the packets of a capture do not show which.
        Undetermined = "undetermined",
    }

    /// Why a segment was not processed.
    DropReason {
        /// Outside the receive window (RFC 9293 §3.10.7.4, first).
        OutOfWindow = "out_of_window",
        /// Its timestamp is older than the last one accepted (PAWS, RFC 7323 §5).
        OldTimestamp = "old_timestamp",
        /// A SYN in a synchronized state (RFC 5961 §4).
        UnexpectedSyn = "unexpected_syn",
        /// A reset whose sequence number is in the window but not the next (RFC 5961 §3).
        InexactReset = "inexact_reset",
        /// The ACK bit is missing where it is required.
        NoAck = "no_ack",
        /// An acknowledgement of data never sent, or too old (RFC 5961 §5).
        BadAck = "bad_ack",
        /// The connection is closed.
        Closed = "closed",
        /// It would exceed the limit of out-of-order blocks. Its acknowledgement counted; its bytes are not stored, so they are
        /// not selectively acknowledged either (RFC 2018 §4), and an ACK says so at once.
        ReassemblyLimit = "reassembly_limit",
    }
}

impl From<Detector> for EpisodeCause {
    fn from(detector: Detector) -> Self {
        match detector {
            Detector::DupThresh => Self::DupThresh,
            Detector::Rack => Self::Rack,
            Detector::RackRing => Self::RackRing, // variant: rack_ring
        }
    }
}

impl From<Proof> for EpisodeCause {
    fn from(proof: Proof) -> Self {
        match proof {
            Proof::Dsack => Self::Dsack,
            Proof::Eifel => Self::Eifel,
            Proof::Frto => Self::Frto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test]
    fn a_label_is_read_from_its_name_and_from_nothing_else() {
        for cause in SendCause::ALL {
            assert_eq!(SendCause::from_name(cause.name()), Some(*cause));
            assert_eq!(SendCause::from_value(cause.value()), Some(*cause));
        }
        for foreign in ["", "New", "new ", "dup_thresh"] {
            assert_eq!(SendCause::from_name(foreign), None, "{foreign:?}");
        }
        assert_eq!(SendCause::from_value(Value::Number(0)), None);
    }

    #[test_case(0x00, "-")]
    #[test_case(0x10, "A")]
    #[test_case(0x18, "PA")]
    #[test_case(0x08, "P")]
    #[test_case(0x01, "F"; "a FIN alone")]
    #[test_case(0x09, "F"; "PSH beside a bare FIN has no letter")]
    #[test_case(0x11, "FA")]
    #[test_case(0x19, "FPA")]
    #[test_case(0x0f, "S"; "a SYN comes first")]
    #[test_case(0x1b, "SA")]
    #[test_case(0x0d, "R"; "then a reset")]
    #[test_case(0x14, "RA")]
    #[test_case(0xf0, "A"; "URG and the bits of ECN have no letter")]
    fn control_bits_have_letters(bits: u8, letters: &str) {
        assert_eq!(FlagLetters::of(bits).name(), letters);
    }

    #[test]
    fn an_episode_is_named_after_what_began_or_ended_it() {
        for detector in Detector::ALL {
            assert_eq!(EpisodeCause::from(*detector).name(), detector.name());
        }
        for proof in Proof::ALL {
            assert_eq!(EpisodeCause::from(*proof).name(), proof.name());
        }
    }

    #[test]
    fn labels_are_in_the_order_of_their_names() {
        let mut limits = Limit::ALL.to_vec();
        limits.sort_unstable();
        assert!(limits.is_sorted_by_key(|limit| limit.name()));
        assert_ne!(limits, Limit::ALL);
    }
}
