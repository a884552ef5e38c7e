//! Pages of runs beside a report: of each row the median run, beside the reference's of the same seed.

use crate::failure::Failure;
use crate::progress::{self, note};
use crate::view;
use base::Instant;
use lab::run::observed::{self, Names};
use lab::run::several::{Only, each_flow, meta_of, traced};
use lab::run::simulate;
use lab::{Plan, Row, RunFailure, RunSpec};
use report::model;
use std::path::Path;
use trace::{ConnId, Event, Observer};
use trace_io::{Meta, Record, Trace};

/// Most flows of a run that a page shows.
const FLOWS: usize = 4;

/// Writes the pages into a folder named after the report, and returns the path of each row's page relative to the report.
///
/// # Errors
/// If a run fails or a page cannot be written.
pub fn write(plan: &Plan, rows: &[Row], report: &Path) -> Result<Vec<Option<String>>, Failure> {
    let stem = report.file_stem().unwrap_or_default().to_string_lossy();
    let folder = format!("{stem}-runs");
    let beside = report.with_file_name(&folder);
    std::fs::create_dir_all(&beside)
        .map_err(|error| Failure::usage(format!("--traces: cannot make `{}`: {error}", beside.display())))?;
    let bar = progress::bar(rows.len() as u64, "{pos}/{len} pages of runs, {rate} {eta} left");
    let arms = plan.arms.len();
    let mut pages = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let (cell, arm) = (index / arms, index % arms);
        let run = row.median_run.as_ref().and_then(|run| plan.run(cell, arm, run.iteration()));
        let page = run.map(|run| -> Result<String, Failure> {
            let name = format!("{}-{}.html", cell + 1, arm + 1);
            let title = format!("{}: {}", plan.experiment.name, plan.cells[cell].title());
            view::write_quietly(&title, &shown(plan, run)?, &beside.join(&name))?;
            Ok(format!("{folder}/{name}"))
        });
        pages.push(page.transpose()?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    note!("{}: {} pages of runs, which the report links to", beside.display(), pages.iter().flatten().count());
    Ok(pages)
}

/// Returns what a page shows of a run: the reference's of the same seed, if there is one, and its own; or its flows.
fn shown(plan: &Plan, run: &RunSpec) -> Result<Vec<model::Run>, Failure> {
    let reference = plan.run(run.cell, 0, run.iteration).filter(|_| run.arm > 0 && run.point.company.is_empty());
    let each = reference.into_iter().chain([run]).map(|run| observe(plan, run).map(|trace| report::from_trace(&trace)));
    let failed = |failure: RunFailure| Failure::Failed(format!("--traces: the run failed: {failure}"));
    Ok(each.collect::<Result<Vec<_>, _>>().map_err(failed)?.into_iter().flatten().collect())
}

/// Makes a run again, and keeps its events.
fn observe(plan: &Plan, run: &RunSpec) -> Result<Trace, RunFailure> {
    let arm = &plan.arms[run.arm];
    let names = Names {
        experiment: plan.experiment.name.clone(),
        arm: arm.label.clone(),
        profile: arm.spec.profile().map(|profile| profile.name.clone()),
    };
    if run.point.company.is_empty() {
        let mut events = Events::default();
        simulate(run, &mut events)?;
        return Ok(events.of(observed::meta(&names, run)));
    }
    let flows = each_flow(run)?;
    let chosen = traced(&flows, FLOWS);
    let mut only = Only::new(&chosen, Events::default());
    simulate(run, &mut only)?;
    Ok(only.into_inner().of(meta_of(&names, run, &chosen)))
}

/// All events of a run.
#[derive(Debug, Default)]
struct Events(Vec<Record>);

impl Events {
    fn of(self, meta: Meta) -> Trace {
        Trace { meta, records: self.0 }
    }
}

impl Observer for Events {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.0.push(Record { at, conn, event });
    }
}
