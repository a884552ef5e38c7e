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
    /// A name from [`METRICS`].
    metric: &'static str,
}

/// A column of the results: its name, and its value in a row.
type Metric = (&'static str, fn(&Row) -> Option<f64>);

/// Ratios of these are paired, seed by seed.
const GOODPUT: &str = "goodput";

const METRICS: &[Metric] = &[
    (GOODPUT, |row| row.goodput_mbps.median),
    ("elapsed_ms", |row| row.elapsed_ms),
    ("efficiency", |row| row.efficiency),
    ("repair_rtts", |row| row.repair_rtts),
    ("retransmitted_pct", |row| row.retransmitted_pct),
    ("fast_retransmits", |row| row.fast_retransmits),
    ("rtos", |row| row.rtos),
    ("runs_with_rto_pct", |row| row.runs_with_rto_pct),
    ("recovery_success_pct", |row| row.recovery_success_pct),
    ("lost_retransmissions", |row| row.lost_retransmissions),
    ("probes", |row| row.probes),
    ("undone", |row| row.undone),
    ("dsacks_sent", |row| row.dsacks_sent),
    ("dsacks_received", |row| row.dsacks_received),
    ("stale_sack_pct", |row| row.stale_sack_pct),
    ("reo_wnd_mult", |row| row.reo_wnd_mult),
    ("dropped", |row| row.dropped),
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
            None => self.value.of(row(&self.value.arm)?),
            Some(divisor) if self.value.metric == GOODPUT && divisor.metric == GOODPUT => {
                row(&self.value.arm)?.goodput_ratio_to(row(&divisor.arm)?)
            }
            Some(divisor) => {
                let (a, b) = (self.value.of(row(&self.value.arm)?), divisor.of(row(&divisor.arm)?));
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
            let (metric, _) = METRICS.iter().find(|(name, _)| *name == metric)?;
            Some(Self { arm: arm.to_owned(), metric })
        });
        let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
        parts.ok_or_else(|| format!("`{text}` is no ARM.METRIC: the metrics are {}", names.join(", ")))
    }

    fn of(&self, row: &Row) -> Option<f64> {
        let (_, of) = METRICS.iter().find(|(name, _)| *name == self.metric)?;
        of(row)
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
        assert!(Expectation::parse(text).unwrap_err().contains("the metrics are goodput, elapsed_ms, efficiency"));
    }
}
