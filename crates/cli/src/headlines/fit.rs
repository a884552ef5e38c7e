//! `longhaul headlines --fit`: whether any setting of the unknowns reproduces more rows together.

use super::{fit_table, page};
use crate::ab::{open_store, threads};
use crate::backend::BackendChoice;
use crate::failure::Failure;
use crate::interruption;
use crate::output::{self, RowFormat};
use crate::progress;
use crate::progress::note;
use clap::Args;
use lab::headlines::fit::{Error, Fit, Found, Maker, Space, search};
use lab::headlines::{Claim, claims};
use lab::run::stamp;
use lab::{Backend, MockBackend, RunSpec, SimBackend};
use std::path::Path;
use std::time::Instant;

/// How far to search.
#[derive(Args, Clone, Debug)]
pub(super) struct FitArgs {
    /// Settings of all experiments (jitter, reading of the reordering) to draw, of which the first is the present one.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000), requires = "fit")]
    pub(super) worlds: u16,
    /// Settings of each profile and its own experiments to draw for each of them; all combinations are judged.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=30), requires = "fit")]
    pub(super) settings: u16,
    /// Refinements near the best combinations, each as large as a world.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(..=1000), requires = "fit")]
    pub(super) rounds: u16,
    /// Origin of what is drawn.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "fit")]
    pub(super) seed: u64,
}

/// A fit and what the command's other options say.
pub(super) struct Job<'a> {
    pub(super) rows: Vec<&'static Claim>,
    pub(super) fitting: &'a FitArgs,
    pub(super) backend: BackendChoice,
    pub(super) jobs: Option<u16>,
    pub(super) out: Option<&'a Path>,
    pub(super) write: Option<&'a Path>,
    pub(super) format: RowFormat,
}

/// Searches, and reports what was found.
pub(super) fn run(job: &Job<'_>) -> Result<(), Failure> {
    let page = job.write.map(read_page).transpose()?;
    let of = job.fitting;
    let [worlds, settings, rounds] = [of.worlds, of.settings, of.rounds].map(usize::from);
    let fit = Fit { space: Space::servers(), worlds, settings, rounds, seed: of.seed };
    let backend: &dyn Backend = match job.backend {
        BackendChoice::Sim => &SimBackend,
        BackendChoice::Mock => &MockBackend,
        BackendChoice::Netns => return Err(Failure::usage("--backend netns: a fit comes from the simulator")),
    };
    let mut store = open_store(job.out)?;
    interruption::end_with(interruption::message(job.out))
        .map_err(|errno| Failure::Failed(format!("signals: {errno}")))?;
    let began = Instant::now();
    let bar = progress::bar(0, "{pos}/{len} runs {rate} {eta} left");
    let mut begins = |runs: usize| bar.inc_length(runs as u64);
    let mut done = |_: &RunSpec| bar.inc(1);
    let jobs = threads(job.jobs);
    let mut maker = Maker { backend, jobs, store: store.as_mut(), begins: &mut begins, done: &mut done };
    let found = search(&fit, &job.rows, &mut maker);
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        Error::Usage(error) => Failure::usage(error),
        Error::Store(error) => Failure::Failed(format!("{error}; what was written before is kept")),
    })?;
    report(job, &fit, &found, page.as_deref())?;
    note!(
        "done: {} runs, {} combinations in {:.1} s",
        found.runs,
        found.candidates.len(),
        began.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Reads the page whose last part the fit becomes.
fn read_page(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let path = path.display();
        Failure::usage(format!("--write {path}: {error}; make the page first with `longhaul headlines --write {path}`"))
    })
}

fn report(job: &Job<'_>, fit: &Fit, found: &Found, page: Option<&str>) -> Result<(), Failure> {
    let written = output::write(&match job.format {
        RowFormat::Table => fit_table::for_people(fit, found),
        RowFormat::Jsonl => fit_table::jsonl(fit, found),
    });
    found.failure.iter().for_each(|failure| anstream::eprintln!("warning: {failure}"));
    if let Some((path, known)) = job.write.zip(page) {
        let mark = stamp::mark(claims::profiles(), stamp::Devices::Plain);
        let text = page::with_fit(known, &fit_table::for_page(fit, found, &mark, &command(fit)));
        crate::whole_file::write(path, &text)
            .map_err(|error| Failure::Failed(format!("--write {}: {error}", path.display())))?;
    }
    written
}

/// The command that makes the page's part.
fn command(fit: &Fit) -> String {
    let Fit { worlds, settings, rounds, seed, .. } = fit;
    format!(
        "longhaul headlines --fit --worlds {worlds} --settings {settings} --rounds {rounds} --seed {seed} --write docs/headlines.md"
    )
}
