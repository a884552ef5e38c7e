//! What arms are compared by.

use crate::spec::metrics::METRICS;
use crate::spec::{GOODPUT, Refusal};

/// A number of each run whose ratio between arm and reference is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primary {
    /// `goodput`, or a metric's name.
    pub name: &'static str,
    /// Whether an arm with less of it is better.
    pub less_is_better: bool,
}

/// Metrics of which more is better.
const MORE: [&str; 9] = [
    GOODPUT,
    "efficiency",
    "of_twin",
    "recovery_success_pct",
    "share_pct",
    "early_share_pct",
    "jain",
    "worst_flow",
    "utilisation",
];

/// How the names of metrics end of which less is better.
const LESS_ENDS: [&str; 10] = [
    "_ms",
    "slowdown_p50",
    "slowdown_p90",
    "slowdown_p99",
    "retransmitted_pct",
    "lost_pct",
    "harm_pct",
    "harm_done_pct",
    "delay_pct",
    "ping_pct",
];

/// Ends like those, but is a property of the cell.
const OF_THE_CELL: &str = "removed_ms";

impl Default for Primary {
    fn default() -> Self {
        Self { name: GOODPUT, less_is_better: false }
    }
}

impl Primary {
    /// Finds a metric that says whether an arm is better.
    ///
    /// # Errors
    /// Lists those that do.
    pub fn find(name: &str) -> Result<Self, Refusal> {
        all().find(|primary| primary.name == name).ok_or_else(|| {
            let known: Vec<&str> = all().map(|primary| primary.name).collect();
            Refusal::of_value(
                format!("`{name}` does not say which arm is better"),
                format!("these do: {}", known.join(", ")),
            )
        })
    }
}

fn all() -> impl Iterator<Item = Primary> {
    let known = core::iter::once(GOODPUT).chain(METRICS.iter().map(|metric| metric.name));
    known.filter_map(|name| {
        let less_is_better = name != OF_THE_CELL && LESS_ENDS.iter().any(|end| name.ends_with(end));
        (less_is_better || MORE.contains(&name)).then_some(Primary { name, less_is_better })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("goodput", false)]
    #[test_case("utilisation", false)]
    #[test_case("elapsed_ms", true)]
    #[test_case("completion_p99_ms", true)]
    #[test_case("retransmitted_pct", true)]
    #[test_case("harm_delay_pct", true)]
    fn a_metric_says_which_way_is_better(name: &str, less_is_better: bool) {
        assert_eq!(Primary::find(name).unwrap(), Primary { less_is_better, ..Primary::find(name).unwrap() });
        assert_eq!(Primary::find(name).unwrap().name, name);
    }

    #[test_case("reo_wnd_mult"; "neither more nor less is better")]
    #[test_case("speed"; "unknown")]
    #[test_case("removed_ms"; "a property of the cell")]
    fn what_says_nothing_is_refused_with_what_does(name: &str) {
        let refusal = Primary::find(name).unwrap_err();
        assert!(refusal.remedy.contains("these do: goodput, elapsed_ms, efficiency"), "{refusal:?}");
    }

    #[test]
    fn every_name_of_which_more_is_better_is_a_metric() {
        assert_eq!(all().filter(|primary| !primary.less_is_better).count(), MORE.len());
    }
}
