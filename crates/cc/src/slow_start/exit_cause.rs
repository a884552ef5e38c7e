//! Why slow start ended, in the terms of policies and controllers.

/// Why slow start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// `cwnd` reached `ssthresh`.
    Threshold,
    /// A congestion signal.
    Congestion,
    /// The round-trip time rose (HyStart's delay test).
    DelayIncrease,
    /// ACKs of one flight spanned half a round trip (HyStart's train test).
    AckTrain,
    /// The rounds of conservative slow start are over (RFC 9406 §4.2).
    CssRounds,
    /// Less arrived than had been sent a round trip before (SEARCH).
    Shortfall,
    /// The delivery rate stopped growing (BBR's Startup rule).
    Plateau,
    /// Chirps end to end would fill a round trip (Paced Chirping).
    Chirps,
}
