//! The advisor by which what applies the rules of a program's own congestion control is stamped: Reno (RFC 5681 §3.1), with a window that it
//! sets each round and a growth that it installs in turns, so that both ways are covered.

use cc::outside::{Advisor, Advisors, Cause, Report, Rule};
use cc::{ControllerConfig, OutsideConfig};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
struct Reference;

impl Advisors for Reference {
    fn name(&self) -> &str {
        "reference"
    }
    fn digest(&self) -> &str {
        ""
    }
    fn advisor(&self) -> Box<dyn Advisor> {
        Box::new(*self)
    }
}

impl Advisor for Reference {
    fn advise(&mut self, report: &Report<'_>) -> Option<Rule> {
        let window = report.window;
        let (cwnd, smss) = (window.cwnd(), window.smss());
        Some(match report.cause {
            Cause::Start | Cause::Undone => {
                Rule { slow_start_ppm: Some(1_000_000), avoidance: Some(smss), ..Rule::default() }
            }
            Cause::Round if report.rounds.is_multiple_of(2) => {
                Rule { window: Some(cwnd + smss), avoidance: Some(0), ..Rule::default() }
            }
            Cause::Round => Rule { avoidance: Some(smss), most_per_ack: Some(smss), ..Rule::default() },
            Cause::Loss { flight_size } | Cause::Mark { flight_size } => {
                Rule { window: Some(flight_size / 2), ..Rule::default() }
            }
            Cause::Timeout { .. } => return None,
        })
    }

    fn clone_box(&self) -> Box<dyn Advisor> {
        Box::new(*self)
    }
}

/// Returns the controller with this advisor.
pub(super) fn reference() -> ControllerConfig {
    ControllerConfig::Outside(OutsideConfig::new(Arc::new(Reference)))
}
