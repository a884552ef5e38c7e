//! Tail loss probes (RFC 8985 §7).
//!
//! When a flight's last segments are lost, no later segment can reveal it. A probe, sent after about two round trips of silence,
//! is answered at once, and the answer lets the detector judge. Owns which probe is out and whether another may leave. Owns no
//! deadline: [`TlpConfig::pto`] returns how long to wait, the endpoint arms the timer.
//!
//! Deviations: no probe timeout is scheduled while no probe could be sent (one is out, or no sample came since the last), where
//! the RFC lets it expire only to restart the retransmission timer. [`TlpConfig::pto_min`] is a lower limit that the RFC does not
//! have; its default is zero. [`AfterAck::OneSrtt`] is optional.

use base::{Duration, Instant, SeqNum, SeqRange};

/// Waiting time before the first RTT sample (RFC 8985 §7.2).
const WITHOUT_SAMPLE: Duration = Duration::from_secs(1);

/// Parameters of the probe timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlpConfig {
    /// How long the peer may delay the acknowledgement of a single segment (RFC 8985 §7.2, `TLP.max_ack_delay`).
    pub max_ack_delay: Duration,
    /// Minimum waiting time.
    pub pto_min: Duration,
    /// How long to wait after an acknowledgement.
    pub after_ack: AfterAck,
}

/// How much silence after an acknowledgement triggers a probe; after a transmission it is two round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterAck {
    /// As much (RFC 8985 §7.2).
    #[default]
    TwoSrtt,
    /// One round trip: answers to segments sent before the acknowledged one are due with it, and answers to later ones arrive
    /// within the time in which they were sent.
    OneSrtt,
}

impl Default for TlpConfig {
    fn default() -> Self {
        Self { max_ack_delay: Duration::from_millis(200), pto_min: Duration::ZERO, after_ack: AfterAck::TwoSrtt }
    }
}

/// The amount of outstanding data, as far as the waiting time depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlightOf {
    /// One segment, whose acknowledgement the peer may delay.
    OneSegment,
    /// More.
    Several,
}

impl TlpConfig {
    //= specs/rfc8985.md#scheduling-a-probe
    //# The probe timeout is twice the smoothed RTT.
    //= specs/rfc8985.md#scheduling-a-probe
    //# While there is no RTT estimate, the probe timeout is one second.
    //= specs/rfc8985.md#scheduling-a-probe
    //# While one segment is in flight, the probe timeout is longer by a budget for a delayed ACK.
    /// Returns how long after the last new data or acknowledgement a probe leaves; the retransmission timeout limits it.
    #[inline]
    pub fn pto(&self, srtt: Option<Duration>, flight: FlightOf) -> Duration {
        let Some(srtt) = srtt else { return WITHOUT_SAMPLE };
        let delay = match flight {
            FlightOf::OneSegment => self.max_ack_delay,
            FlightOf::Several => Duration::ZERO,
        };
        (srtt * 2 + delay).max(self.pto_min)
    }

    /// When a probe is due after a last transmission and a last acknowledgement.
    #[inline]
    pub fn due(&self, sent: Instant, acked: Instant, srtt: Option<Duration>, flight: FlightOf) -> Instant {
        let pto = self.pto(srtt, flight);
        let after_ack = match (self.after_ack, srtt) {
            (AfterAck::OneSrtt, Some(srtt)) => Duration::from_nanos(pto.as_nanos().saturating_sub(srtt.as_nanos())),
            _ => pto,
        };
        (sent + pto).max(acked + after_ack)
    }
}

/// What a probe carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Data not sent before.
    New,
    /// The highest segment again.
    Retransmission,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    None,
    Due,
    Out(ProbeKind),
}

/// Whether an RTT sample was taken since the last probe (RFC 8985 §7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    Missing,
    Taken,
}

/// What an acknowledgement means for the outstanding probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// No probe is out, or it has not been answered.
    Pending,
    /// It was answered without consequences: it carried new data, or repeated data that had arrived.
    Done,
    /// It repaired a loss: one congestion response is due.
    Repaired,
}

/// An acknowledgement, as input about a probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbeAck {
    /// Its acknowledgement number.
    pub ack: SeqNum,
    /// The duplicate it reports.
    pub dsack: Option<SeqRange>,
    /// Whether it repeats an acknowledgement and brings nothing else, not even a SACK block.
    pub repeated: Repeated,
}

/// Whether an acknowledgement is a plain repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// A duplicate acknowledgement without SACK.
    Yes,
    /// Anything else.
    No,
}

/// The one probe of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// `TLP.end_seq`: `SND.NXT` after the outstanding probe.
    end: SeqNum,
    phase: Phase,
    sample: Sample,
}

impl Default for Probe {
    fn default() -> Self {
        // The start of the connection counts as a sample (RFC 8985 §7.3).
        Self { end: SeqNum(0), phase: Phase::None, sample: Sample::Taken }
    }
}

impl Probe {
    //= specs/rfc8985.md#sending-a-probe
    //# A probe is sent only when no earlier probe is outstanding.
    //= specs/rfc8985.md#sending-a-probe
    //# A probe is sent only when an RTT sample was taken since the last probe, or since the connection began.
    /// Returns whether a probe may be sent: none is out, and an RTT sample was taken since the last.
    #[inline]
    pub fn is_possible(&self) -> bool {
        self.phase == Phase::None && self.sample == Sample::Taken
    }
    /// Handles the probe timeout: a probe is to leave.
    pub fn on_timeout(&mut self) {
        self.phase = Phase::Due;
    }
    /// Whether a probe is to leave.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.phase == Phase::Due
    }
    /// A probe left; `end` is `SND.NXT` after it.
    pub fn on_sent(&mut self, kind: ProbeKind, end: SeqNum) {
        *self = Self { end, phase: Phase::Out(kind), sample: Sample::Missing };
    }
    /// An RTT sample was taken.
    #[inline]
    pub fn on_rtt_sample(&mut self) {
        self.sample = Sample::Taken;
    }
    //= specs/rfc8985.md#scheduling-a-probe
    //# What is known of a probe is forgotten when a connection, a fast recovery or a timeout recovery begins.
    /// Handles the start of an episode, which takes over the outstanding data (RFC 8985 §7.1).
    pub fn reset(&mut self) {
        self.phase = Phase::None;
    }

    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# An ACK that covers a probe of new data ends the probe.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# A D-SACK for the probe shows that it was needless, and ends it without a reduction.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# A duplicate ACK without SACK that covers the probe ends it without a reduction.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //# Without a sign that both copies arrived, one of them is taken for lost.
    /// Applies RFC 8985 §7.4.2 to an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, answer: &ProbeAck) -> ProbeOutcome {
        let Phase::Out(kind) = self.phase else { return ProbeOutcome::Pending };
        if answer.ack.before(self.end) {
            return ProbeOutcome::Pending;
        }
        let needless = answer.dsack.is_some_and(|range| range.end == self.end) || answer.repeated == Repeated::Yes;
        let outcome = match kind {
            ProbeKind::New => ProbeOutcome::Done,
            ProbeKind::Retransmission if needless => ProbeOutcome::Done,
            ProbeKind::Retransmission if answer.ack.after(self.end) => ProbeOutcome::Repaired,
            // The original may have been late, and a duplicate report may follow.
            ProbeKind::Retransmission => return ProbeOutcome::Pending,
        };
        self.phase = Phase::None;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
    const WITH_FLOOR: TlpConfig = TlpConfig { max_ack_delay: ms(200), pto_min: ms(10), after_ack: AfterAck::TwoSrtt };
    const SOON: TlpConfig =
        TlpConfig { max_ack_delay: Duration::ZERO, pto_min: Duration::ZERO, after_ack: AfterAck::OneSrtt };

    //= specs/rfc8985.md#scheduling-a-probe
    //= type=test
    //# The probe timeout is twice the smoothed RTT.
    //= specs/rfc8985.md#scheduling-a-probe
    //= type=test
    //# While there is no RTT estimate, the probe timeout is one second.
    //= specs/rfc8985.md#scheduling-a-probe
    //= type=test
    //# While one segment is in flight, the probe timeout is longer by a budget for a delayed ACK.
    #[test_case(TlpConfig::default(), Some(ms(100)), FlightOf::Several => ms(200); "two round trips")]
    #[test_case(TlpConfig::default(), Some(ms(100)), FlightOf::OneSegment => ms(400); "and the delay of a lone acknowledgement")]
    #[test_case(TlpConfig::default(), None, FlightOf::OneSegment => ms(1_000); "a second before the first sample")]
    #[test_case(WITH_FLOOR, Some(ms(1)), FlightOf::Several => ms(10); "the floor")]
    fn the_waiting_time_is(config: TlpConfig, srtt: Option<Duration>, flight: FlightOf) -> Duration {
        config.pto(srtt, flight)
    }

    #[test_case(TlpConfig::default(), 0, 100 => 300; "two round trips after the acknowledgement")]
    #[test_case(SOON, 0, 100 => 200; "one after it, and two after the transmission")]
    #[test_case(SOON, 0, 150 => 250; "a late acknowledgement moves it")]
    #[test_case(SOON, 120, 100 => 320; "a later transmission, too")]
    fn a_probe_is_due(config: TlpConfig, sent_ms: u64, acked_ms: u64) -> u64 {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        config.due(at(sent_ms), at(acked_ms), Some(ms(100)), FlightOf::Several).since(Instant::ZERO).as_millis()
    }

    fn ack(ack: u32) -> ProbeAck {
        ProbeAck { ack: SeqNum(ack), dsack: None, repeated: Repeated::No }
    }
    fn dsack(number: u32, from: u32, to: u32) -> ProbeAck {
        ProbeAck { dsack: Some(SeqRange::new(SeqNum(from), SeqNum(to))), ..ack(number) }
    }
    fn repeated(number: u32) -> ProbeAck {
        ProbeAck { repeated: Repeated::Yes, ..ack(number) }
    }

    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //= type=test
    //# An ACK that covers a probe of new data ends the probe.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //= type=test
    //# A D-SACK for the probe shows that it was needless, and ends it without a reduction.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //= type=test
    //# A duplicate ACK without SACK that covers the probe ends it without a reduction.
    //= specs/rfc8985.md#acknowledgement-of-a-probe
    //= type=test
    //# Without a sign that both copies arrived, one of them is taken for lost.
    #[test_case(ProbeKind::New, ack(100) => ProbeOutcome::Done; "new data was acknowledged")]
    #[test_case(ProbeKind::New, ack(99) => ProbeOutcome::Pending; "an earlier segment was acknowledged")]
    #[test_case(ProbeKind::Retransmission, ack(99) => ProbeOutcome::Pending; "it is still out")]
    #[test_case(ProbeKind::Retransmission, ack(100) => ProbeOutcome::Pending; "the original may have come late")]
    #[test_case(ProbeKind::Retransmission, dsack(100, 90, 100) => ProbeOutcome::Done; "both copies came")]
    #[test_case(ProbeKind::Retransmission, dsack(110, 90, 100) => ProbeOutcome::Done; "both came and new data too")]
    #[test_case(ProbeKind::Retransmission, dsack(110, 80, 90) => ProbeOutcome::Repaired; "another duplicate")]
    #[test_case(ProbeKind::Retransmission, ack(101) => ProbeOutcome::Repaired; "later data came and no duplicate")]
    #[test_case(ProbeKind::Retransmission, repeated(100) => ProbeOutcome::Done; "a peer that does not report duplicates")]
    fn an_answer_means(kind: ProbeKind, answer: ProbeAck) -> ProbeOutcome {
        let mut probe = Probe::default();
        probe.on_sent(kind, SeqNum(100));
        probe.on_ack(&answer)
    }

    #[test]
    fn the_end_is_compared_serially() {
        let mut probe = Probe::default();
        probe.on_sent(ProbeKind::Retransmission, SeqNum(5));
        assert_eq!(probe.on_ack(&ack(u32::MAX - 3)), ProbeOutcome::Pending);
        assert_eq!(probe.on_ack(&ack(6)), ProbeOutcome::Repaired);
    }

    //= specs/rfc8985.md#sending-a-probe
    //= type=test
    //# A probe is sent only when no earlier probe is outstanding.
    //= specs/rfc8985.md#sending-a-probe
    //= type=test
    //# A probe is sent only when an RTT sample was taken since the last probe, or since the connection began.
    #[test]
    fn one_probe_at_a_time_and_none_without_a_new_sample() {
        let mut probe = Probe::default();
        assert!(probe.is_possible(), "the first needs no sample");
        probe.on_timeout();
        assert!(probe.is_due() && !probe.is_possible());
        probe.on_sent(ProbeKind::New, SeqNum(100));
        probe.on_rtt_sample();
        assert!(!probe.is_possible(), "one is out");
        assert_eq!(probe.on_ack(&ack(100)), ProbeOutcome::Done);
        assert!(probe.is_possible());
        probe.on_sent(ProbeKind::New, SeqNum(110));
        assert_eq!(probe.on_ack(&ack(110)), ProbeOutcome::Done);
        assert!(!probe.is_possible(), "the path was not measured since");
        probe.on_rtt_sample();
        assert!(probe.is_possible());
    }

    //= specs/rfc8985.md#scheduling-a-probe
    //= type=test
    //# What is known of a probe is forgotten when a connection, a fast recovery or a timeout recovery begins.
    #[test]
    fn an_episode_takes_over_what_is_out() {
        let mut probe = Probe::default();
        probe.on_sent(ProbeKind::Retransmission, SeqNum(100));
        probe.reset();
        assert_eq!(probe.on_ack(&ack(200)), ProbeOutcome::Pending);
    }

    #[test]
    fn a_probe_is_due_between_its_timeout_and_its_departure() {
        let mut probe = Probe::default();
        assert!(!probe.is_due());
        probe.on_timeout();
        assert!(probe.is_due());
        probe.on_sent(ProbeKind::New, SeqNum(1));
        assert!(!probe.is_due());
    }
}
