//! Expected results of an experiment: `"a.goodput / b.goodput" = { at_least = 5.0 }`.

use crate::spec::metrics::METRICS;
use crate::spec::refusal::Refusal;

/// A condition on every cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As written.
    pub text: String,
    /// What is bounded, or the dividend.
    pub value: Term,
    /// The divisor, if it is a ratio.
    pub divided_by: Option<Term>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
}

/// `ARM.METRIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The arm's name.
    pub arm: String,
    /// `goodput`, or the name of a metric.
    pub metric: &'static str,
}

/// Ratios of these are paired, seed by seed.
pub(crate) const GOODPUT: &str = "goodput";

impl Expectation {
    /// Reads `ARM.METRIC` or `ARM.METRIC / ARM.METRIC`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
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
}

/// What an expectation may speak of.
fn names() -> impl Iterator<Item = &'static str> {
    core::iter::once(GOODPUT).chain(METRICS.iter().map(|metric| metric.name))
}

impl Term {
    fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let parts = text.rsplit_once('.').and_then(|(arm, metric)| {
            let metric = names().find(|name| *name == metric)?;
            Some(Self { arm: arm.to_owned(), metric })
        });
        parts.ok_or_else(|| {
            Refusal::of_key(
                format!("`{text}` is not ARM.METRIC"),
                format!("the metrics are {}", names().collect::<Vec<_>>().join(", ")),
            )
        })
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
    fn what_is_not_a_condition_is_refused(text: &str) {
        assert!(
            Expectation::parse(text).unwrap_err().remedy.contains("the metrics are goodput, elapsed_ms, efficiency")
        );
    }
}
