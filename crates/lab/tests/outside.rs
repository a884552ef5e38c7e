//! A program's own congestion control as an arm, through the seam that every program has.

use cc::OutsideConfig;
use cc::outside::{Advisor, Advisors, Cause, Report, Rule};
use longhaul_lab::spec::{self, Overrides};
use longhaul_lab::{Experiment, Plan, RunFailure, SimBackend, execute};
use std::panic::resume_unwind;
use std::sync::Arc;

/// Reno by a rule that grows the window with each ACK, or by a window that is set each round; or one that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reno {
    ByRule,
    ByRound,
    Broken,
}

impl Advisors for Reno {
    fn name(&self) -> &str {
        "reno"
    }
    fn digest(&self) -> &str {
        match self {
            Self::ByRule => "1",
            Self::ByRound => "2",
            Self::Broken => "3",
        }
    }
    fn advisor(&self) -> Box<dyn Advisor> {
        Box::new(*self)
    }
}

impl Advisor for Reno {
    fn advise(&mut self, report: &Report<'_>) -> Option<Rule> {
        let window = report.window;
        let (cwnd, smss) = (window.cwnd(), window.smss());
        match (self, report.cause) {
            (Self::Broken, Cause::Round) => resume_unwind(Box::new(RunFailure("reno is broken".to_owned()))),
            (Self::ByRule, Cause::Start) => {
                let limit = Some(2 * smss);
                Some(Rule {
                    slow_start_ppm: Some(1_000_000),
                    avoidance: Some(smss),
                    most_per_ack: limit,
                    ..Rule::default()
                })
            }
            (Self::ByRound, Cause::Start) => Some(Rule { window: Some(2 * cwnd), ..Rule::default() }),
            (Self::ByRound, Cause::Round) => {
                let next = if window.in_slow_start() { (2 * cwnd).min(window.ssthresh()) } else { cwnd + smss };
                Some(Rule { window: Some(next), ..Rule::default() })
            }
            _ => None,
        }
    }
    fn clone_box(&self) -> Box<dyn Advisor> {
        Box::new(*self)
    }
}

fn experiment(reno: Reno, set: &[&str]) -> Experiment {
    let mut experiment = spec::builtin("wan").unwrap();
    let own = [
        "rfc.cc.slow_start.kind=classic",
        "rfc.cc.avoidance.kind=reno",
        "path.rtt=25ms,50ms,100ms,200ms",
        "flow.bytes=32MB,128MB",
    ];
    let set = own.iter().chain(set).map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { arms: vec!["rfc".to_owned()], set, iterations: Some(1), ..Overrides::default() };
    experiment.apply(&overrides).unwrap();
    experiment.bring("own", "rfc", &OutsideConfig::new(Arc::new(reno))).unwrap();
    experiment
}

/// The worst cell: how far the own arm's goodput is from the built-in one's, in per cent.
fn worst(reno: Reno, set: &[&str]) -> f64 {
    let plan = Plan::new(experiment(reno, set)).unwrap();
    let finished = execute(&plan, &SimBackend, 1, None, &mut |_| ()).unwrap();
    assert_eq!(finished.failures, []);
    let goodputs: Vec<f64> = finished.measured.iter().flatten().map(longhaul_lab::Measured::goodput_mbps).collect();
    let apart = |pair: &[f64]| (pair[1] / pair[0] - 1.0).abs() * 100.0;
    goodputs.chunks(2).map(apart).fold(0.0, f64::max)
}

#[test]
fn reno_by_a_rule_is_the_built_in_one_within_one_per_cent() {
    let apart = worst(Reno::ByRule, &[]);
    assert!(apart < 1.0, "{apart} %");
}

#[test]
fn reno_by_rounds_is_the_built_in_one_within_five_per_cent() {
    let apart = worst(Reno::ByRound, &[]);
    assert!(apart < 5.0, "{apart} %");
}

#[test]
fn an_algorithm_is_part_of_the_digest_of_its_runs_and_not_of_their_seeds() {
    let of = |reno| Plan::new(experiment(reno, &[])).unwrap().runs;
    let (one, other) = (of(Reno::ByRule), of(Reno::ByRound));
    assert_eq!(one, of(Reno::ByRule));
    assert_eq!((one[0].digest.as_str(), one[1].seed), (other[0].digest.as_str(), other[1].seed));
    assert_ne!(one[1].digest, other[1].digest);
    assert_ne!(one[1].digest, one[0].digest);
}

#[test]
fn an_algorithm_that_cannot_go_on_ends_its_run_with_its_reason() {
    let plan = Plan::new(experiment(Reno::Broken, &[])).unwrap();
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).unwrap();
    assert_eq!(finished.failures.len(), plan.runs.len() / 2);
    assert!(finished.failures.iter().all(|(_, failure)| failure.0 == "reno is broken"));
}

#[test]
fn an_arm_that_is_no_profile_takes_no_algorithm() {
    let reno = OutsideConfig::new(Arc::new(Reno::ByRule));
    let mut experiment = spec::builtin("wan").unwrap();
    let error = experiment.bring("a b", "rfc", &reno).unwrap_err().to_string();
    assert!(error.starts_with("arm a b: `a b` cannot be the name of an arm; use letters"), "{error}");
    let error = experiment.bring("own", "linus", &reno).unwrap_err().to_string();
    assert!(error.contains("unknown arm or profile `linus`"), "{error}");
    let arms = vec!["kernel:bbr".to_owned()];
    experiment.apply(&Overrides { arms, ..Overrides::default() }).unwrap();
    let error = experiment.bring("kernel:bbr", "rfc", &reno).unwrap_err().to_string();
    assert_eq!(error, "arm kernel:bbr: only a profile takes a controller; give it to an arm that is a profile");
}
