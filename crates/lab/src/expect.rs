//! What has to come out of an experiment: `"a.goodput / b.goodput" = { at_least = 5.0 }`.

use crate::results::Row;

/// A condition on every cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written.
    pub text: String,
    value: Term,
    divided_by: Option<Term>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
}

/// `ARM.METRIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    arm: String,
    metric: Metric,
}

/// A column of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    Goodput,
    Efficiency,
    RetransmittedPct,
    FastRetransmits,
    Rtos,
    RecoverySuccessPct,
}

const METRICS: [(&str, Metric); 6] = [
    ("goodput", Metric::Goodput),
    ("efficiency", Metric::Efficiency),
    ("retransmitted_pct", Metric::RetransmittedPct),
    ("fast_retransmits", Metric::FastRetransmits),
    ("rtos", Metric::Rtos),
    ("recovery_success_pct", Metric::RecoverySuccessPct),
];

impl Expectation {
    /// Reads `ARM.METRIC` or `ARM.METRIC / ARM.METRIC`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (value, divisor) = match text.split_once('/') {
            Some((value, divisor)) => (value, Some(divisor)),
            None => (text, None),
        };
        Ok(Self {
            text: text.to_owned(),
            value: Term::parse(value)?,
            divided_by: divisor.map(Term::parse).transpose()?,
            at_least: None,
            at_most: None,
        })
    }

    /// The arms it speaks of.
    pub fn arms(&self) -> impl Iterator<Item = &str> {
        core::iter::once(&self.value).chain(&self.divided_by).map(|term| term.arm.as_str())
    }

    /// What is wrong with the rows of one cell; `None` when nothing is, or when an arm does not take part.
    ///
    /// A ratio of goodputs is the paired one, seed by seed.
    pub fn complaint(&self, rows: &[&Row]) -> Option<String> {
        let row = |arm: &str| rows.iter().copied().find(|row| row.arm == arm);
        if self.arms().any(|arm| row(arm).is_none()) {
            return None;
        }
        let found = match &self.divided_by {
            None => row(&self.value.arm)?.metric(self.value.metric),
            Some(divisor) if self.value.metric == Metric::Goodput && divisor.metric == Metric::Goodput => {
                row(&self.value.arm)?.goodput_ratio_to(row(&divisor.arm)?)
            }
            Some(divisor) => {
                let (a, b) =
                    (row(&self.value.arm)?.metric(self.value.metric), row(&divisor.arm)?.metric(divisor.metric));
                a.zip(b).filter(|(_, b)| *b != 0.0).map(|(a, b)| a / b)
            }
        };
        let Some(found) = found else { return Some(format!("`{}` has no value here", self.text)) };
        let too_small = self.at_least.filter(|bound| found < *bound).map(|bound| format!("at least {bound}"));
        let too_large = self.at_most.filter(|bound| found > *bound).map(|bound| format!("at most {bound}"));
        let bound = too_small.or(too_large)?;
        Some(format!("`{}` is {found:.3}, {bound} was expected", self.text))
    }
}

impl Term {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let parts = text.rsplit_once('.').and_then(|(arm, metric)| {
            let (_, metric) = METRICS.iter().find(|(name, _)| *name == metric)?;
            Some(Self { arm: arm.to_owned(), metric: *metric })
        });
        let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
        parts.ok_or_else(|| format!("`{text}` is no ARM.METRIC: the metrics are {}", names.join(", ")))
    }
}

impl Row {
    fn metric(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Goodput => self.goodput_mbps.median,
            Metric::Efficiency => self.efficiency,
            Metric::RetransmittedPct => self.retransmitted_pct,
            Metric::FastRetransmits => self.fast_retransmits,
            Metric::Rtos => self.rtos,
            Metric::RecoverySuccessPct => self.recovery_success_pct,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("a.goodput", "a", None)]
    #[test_case("server-2022.goodput / server-2016.goodput", "server-2022", Some("server-2016"))]
    #[test_case("a.rtos/b.rtos", "a", Some("b"))]
    fn a_condition_names_its_arms(text: &str, first: &str, second: Option<&str>) {
        let expectation = Expectation::parse(text).unwrap();
        assert_eq!(expectation.arms().collect::<Vec<_>>(), core::iter::once(first).chain(second).collect::<Vec<_>>());
    }

    #[test_case("goodput"; "no arm")]
    #[test_case("a.speed"; "no metric")]
    #[test_case("a.goodput / "; "no divisor")]
    fn what_is_no_condition_is_refused(text: &str) {
        assert!(Expectation::parse(text).unwrap_err().contains("the metrics are goodput, efficiency"));
    }
}
