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
}

impl ExitCause {
    /// Name for traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Congestion => "congestion",
            Self::DelayIncrease => "delay_increase",
            Self::AckTrain => "ack_train",
            Self::CssRounds => "css_rounds",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_the_name_that_traces_know() {
        let all = [
            ExitCause::Threshold,
            ExitCause::Congestion,
            ExitCause::DelayIncrease,
            ExitCause::AckTrain,
            ExitCause::CssRounds,
        ];
        let names = ["threshold", "congestion", "delay_increase", "ack_train", "css_rounds"];
        assert_eq!(all.map(ExitCause::name), names);
    }
}
