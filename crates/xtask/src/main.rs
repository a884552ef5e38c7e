//! The project's own tasks: `cargo xtask test` is what a newcomer runs and what CI runs.
//!
//! Built from the standard library, `tidy` and a reader of JSON, so that the first command of a fresh clone starts in
//! seconds.
//! Exit codes: 0 done, 1 a step failed, 2 wrong usage or something missing on this machine.
#![forbid(unsafe_code)]

mod advisories;
mod against;
mod api;
mod args;
mod attacks;
mod bench;
mod compliance;
mod deny;
mod determinism;
mod guide;
mod miri;
mod mirror;
mod mutants;
mod needs;
mod negations;
mod python;
mod quirks;
mod runner;
mod snapshots;
mod stamp;
mod steps;
mod tool;
mod traces;
mod variants;
mod web;

use args::{Command, HELP, parse};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Ok(Command::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Command::Test(options)) => runner::finish(steps::test(options)),
        Ok(Command::Docs(mode)) => runner::finish(quirks::docs(mode)),
        Ok(Command::Api(mode)) => runner::finish(api::list(mode)),
        Ok(Command::Compliance(mode)) => runner::finish(compliance::run(mode, tool::WhenAbsent::Install)),
        Ok(Command::Web(mode)) => runner::finish(web::build_or_check(mode)),
        Ok(Command::Python) => runner::finish(python::test()),
        Ok(Command::Guide(pages)) => runner::finish(guide::whole(&pages)),
        Ok(Command::Attacks) => runner::finish(attacks::run()),
        Ok(Command::Bench) => runner::finish(bench::run()),
        Ok(Command::BenchAgainst(against)) => runner::finish(against::compare(&against)),
        Ok(Command::Stamp(what)) => runner::finish(stamp::run(&what)),
        Ok(Command::Traces(mode)) => runner::finish(traces::run(mode)),
        Ok(Command::Mutants(mutants)) => runner::finish(mutants::check(&mutants)),
        Ok(Command::Negations) => runner::finish(negations::check()),
        Ok(Command::Advisories) => runner::finish(advisories::check()),
        Ok(Command::Miri) => runner::finish(miri::check()),
        Ok(Command::Snapshots) => runner::finish(snapshots::update()),
        Ok(Command::Variants(chosen)) => runner::finish(variants::check(&chosen)),
        Err(message) => {
            eprintln!("error: {message}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}
