//! The `longhaul` command: arguments in, calls into the crates below, tables and progress out.
//!
//! Exit codes: 0 for success, 1 for a failed run or an expectation that was not met, 2 for wrong usage or a missing
//! privilege.
#![forbid(unsafe_code)]

mod ab;
mod activity;
mod analyze;
mod answer;
mod backend;
mod check;
mod connections;
mod device;
mod experiments;
mod failure;
mod fidelity;
mod headlines;
mod host;
mod init;
mod interruption;
mod link;
mod machine;
mod model;
mod monitor;
mod observe;
mod output;
mod page;
mod profiles;
mod progress;
mod proxy;
mod replay;
mod report;
mod run;
mod schema;
mod send;
mod serve;
mod several;
mod shell;
mod summary;
mod table;
mod tracer;
mod transfer;
mod tune;
mod unit;
mod view;
mod whole_file;
mod window;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

/// TCP experiments over virtual and real wide-area paths.
#[derive(Debug, Parser)]
#[command(name = "longhaul", version, max_term_width = 100)]
struct Cli {
    /// No progress, notes and summaries on stderr; errors and warnings stay.
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare TCPs over an emulated path, in virtual or in real time.
    Ab(Box<ab::args::AbArgs>),
    /// Report what limited the connections of a capture.
    Analyze(analyze::AnalyzeArgs),
    /// Make one part of an experiment, for batch systems that number their tasks.
    Unit(unit::UnitArgs),
    /// Make one run, and show what limited its flows.
    Run(Box<run::RunArgs>),
    /// Repeat a run of an earlier comparison, with a trace.
    Replay(replay::ReplayArgs),
    /// Show kept results in a page that opens in any browser.
    Report(crate::report::ReportArgs),
    /// Compare the simulator with real time, cell by cell.
    Fidelity(fidelity::FidelityArgs),
    /// Measure every published result again.
    Headlines(headlines::HeadlinesArgs),
    /// Search a profile's leaves for better settings, or report what each leaf does.
    Tune(Box<tune::TuneArgs>),
    /// List the built-in experiments, or show one.
    Experiments(experiments::ExperimentsArgs),
    /// List the TCP profiles, show one in full, or compare two.
    Profiles(crate::profiles::ProfilesArgs),
    /// Serve on a TUN device.
    Serve(serve::ServeArgs),
    /// Proxy for other programs, over a TUN device.
    Proxy(Box<proxy::ProxyArgs>),
    /// List the connections of a running `serve` or `proxy`.
    Connections(connections::ConnectionsArgs),
    /// Send to any TCP from a TUN device.
    Send(send::SendArgs),
    /// Receive from any TCP on a TUN device.
    Recv(send::RecvArgs),
    /// Emulate a wide-area path between two devices.
    Link(Box<link::LinkArgs>),
    /// Write what a model of a link passes as a mahimahi trace.
    Model(model::ModelArgs),
    /// Show traces in a page that opens in any browser.
    View(view::ViewArgs),
    /// Show which receive window a path needs, and how systems are configured.
    Window(window::WindowArgs),
    /// Write a commented experiment to begin with.
    Init(init::InitArgs),
    /// Check files of experiments and profiles.
    Check(check::CheckArgs),
    /// Write the JSON Schema of a file, for editors.
    Schema(schema::SchemaArgs),
    /// Write what a shell completes words with.
    Completions(shell::CompletionsArgs),
    /// Write the man page.
    Man,
    /// A process of `fidelity --path second`.
    #[command(hide = true)]
    Yardstick {
        /// Its command and options.
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.quiet {
        progress::be_quiet();
    }
    let done = match cli.command {
        Command::Ab(args) => ab::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Unit(args) => unit::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Report(args) => crate::report::run(&args),
        Command::Fidelity(args) => fidelity::run(&args),
        Command::Headlines(args) => headlines::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Experiments(args) => experiments::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => shell::completions(&args, &mut Cli::command()),
        Command::Man => shell::man(&Cli::command()),
        Command::Profiles(args) => crate::profiles::run(&args),
        Command::Serve(args) => serve::run(&args).map_err(Failure::from),
        Command::Proxy(args) => proxy::run(&args).map_err(Failure::from),
        Command::Connections(args) => connections::run(&args),
        Command::Send(args) => send::send(&args).map_err(Failure::from),
        Command::Link(args) => link::run(&args),
        Command::Model(args) => model::run(&args),
        Command::View(args) => view::run(&args),
        Command::Window(args) => window::run(&args),
        Command::Yardstick { arguments } => yardstick::run(&arguments).map_err(Failure::Failed),
        Command::Recv(args) => send::recv(&args).map_err(Failure::from),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
