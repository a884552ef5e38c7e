//! `longhaul model`: writes what a model of a link passes as a trace in mahimahi's format.

use crate::failure::Failure;
use crate::output;
use base::Duration;
use clap::Args;
use lab::spec::{LinkModel, Refusal};
use netem::{Course, DeliveryTrace};
use std::fmt::Write;

/// Arguments of `longhaul model`.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The model and what differs from its defaults, as in `path.model`: "lte mean=20Mbit" or leo/every=10s.
    #[arg(value_name = "MODEL")]
    model: String,
    /// Length of the trace.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// What it draws from: the seed of a run makes the trace of that run.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Runs the command.
///
/// # Errors
/// If the model is wrong, or stdout is closed.
pub fn run(args: &ModelArgs) -> Result<(), Failure> {
    output::write(&text(args).map_err(|refusal| Failure::usage(refusal.at(format!("MODEL {}", args.model))))?)
}

/// Returns the trace: a number of milliseconds a line.
fn text(args: &ModelArgs) -> Result<String, Refusal> {
    let none = || Refusal::of_value("that names no model", "write for example `leo` or `lte mean=20Mbit`");
    let model = LinkModel::parse(&args.model)?.ok_or_else(none)?;
    let course = Course::Drawn(model.model, args.seed);
    let trace = DeliveryTrace::of_course(&course, Duration::from_secs(args.seconds)).ok_or_else(|| {
        let problem = format!("it passes no packet in {} s", args.seconds);
        Refusal::of_value(problem, "use a faster model, or a larger `--seconds`")
    })?;
    let mut text = String::new();
    for time in trace.times_ms() {
        let _ = writeln!(text, "{time}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn args(model: &str, seconds: u64, seed: u64) -> ModelArgs {
        ModelArgs { model: model.to_owned(), seconds, seed }
    }

    #[test_case("lte mean=20Mbit", 20)]
    #[test_case("5g mean=100Mbit", 100)]
    #[test_case("leo/rate=80Mbit", 80)]
    #[test_case("wifi rate=50Mbit", 50)]
    fn a_trace_has_the_models_rate_and_is_the_seeds(model: &str, mbit: u64) {
        let trace = text(&args(model, 120, 1)).unwrap();
        let mean = DeliveryTrace::parse(&trace).unwrap().mean_rate().bits_per_sec();
        assert!(mean.abs_diff(mbit * 1_000_000) < mbit * 250_000, "{mean} bit/s");
        assert_eq!(text(&args(model, 120, 1)).unwrap(), trace);
        assert!(text(&args(model, 60, 1)).is_ok_and(|half| trace.starts_with(&half)));
    }

    #[test_case("geo", 1, "`geo` is not a known model")]
    #[test_case("none", 1, "that names no model: write")]
    #[test_case("lte mean=1kbit", 1, "it passes no packet in 1 s: use a faster model")]
    fn what_makes_no_trace_is_refused(model: &str, seconds: u64, message: &str) {
        let problem = text(&args(model, seconds, 1)).unwrap_err().to_string();
        assert!(problem.starts_with(message), "{problem}");
    }
}
