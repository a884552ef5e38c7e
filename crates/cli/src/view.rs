//! `longhaul view`: writes traces as one self-contained HTML file.

use crate::failure::Failure;
use crate::progress::note;
use crate::whole_file::WholeFile;
use clap::Args;
use report::model::Run;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use trace_io::{Trace, TraceError};

/// Maximum number of traces: more axes do not make a comparison.
const MOST: usize = 6;

/// Arguments of `longhaul view`.
#[derive(Args, Clone, Debug)]
pub struct ViewArgs {
    /// Trace directories, as `--trace` writes them; several share the axes as A, B and so on.
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The file to write, `-` for stdout; otherwise `view.html` beside the first trace.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If a trace cannot be read or the page cannot be written.
pub fn run(args: &ViewArgs) -> Result<(), Failure> {
    if args.traces.len() > MOST {
        let given = args.traces.len();
        return Err(Failure::Usage(format!("{given} traces do not fit one set of axes: give {MOST} at most")));
    }
    let traces: Vec<Trace> = args.traces.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    let each: Vec<(Run, PathBuf)> = traces
        .iter()
        .zip(&args.traces)
        .flat_map(|(trace, path)| report::from_trace(trace).into_iter().map(|run| (run, path.clone())))
        .collect();
    let (mut runs, mut paths): (Vec<Run>, Vec<PathBuf>) = each.into_iter().unzip();
    if runs.len() > MOST {
        note!("note: the page shows the first {MOST} of {} flows", runs.len());
        runs.truncate(MOST);
        paths.truncate(MOST);
    }
    distinguish(&mut runs, &paths);
    let output = args.output.clone().unwrap_or_else(|| beside(&args.traces[0]));
    write(&title(&traces), &runs, &output)
}

fn read(path: &Path) -> Result<Trace, Failure> {
    trace_io::dir::read(path).map_err(|error| match error {
        TraceError::Io { .. } => {
            Failure::Usage(format!("{error}; `longhaul run EXPERIMENT --trace DIR` makes a trace"))
        }
        other => Failure::usage(other),
    })
}

/// Writes the page, to stdout for `-`, and reports where it is.
///
/// # Errors
/// When it cannot be written.
pub fn write(title: &str, runs: &[Run], output: &Path) -> Result<(), Failure> {
    if output.as_os_str() == "-" {
        let mut out = BufWriter::new(io::stdout().lock());
        let written = report::view(title, runs, &mut out).and_then(|()| out.flush());
        return written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::Unread,
            _ => Failure::Failed(format!("cannot write to stdout: {error}")),
        });
    }
    write_quietly(title, runs, output)?;
    note!("{}: open it in a browser; it needs nothing else", output.display());
    Ok(())
}

/// Writes the page to a file.
///
/// # Errors
/// When it cannot be written.
pub fn write_quietly(title: &str, runs: &[Run], output: &Path) -> Result<(), Failure> {
    let written = WholeFile::create(output).and_then(|mut out| {
        report::view(title, runs, &mut out)?;
        out.finish()
    });
    written.map_err(|error| Failure::Usage(format!("cannot write `{}`: {error}", output.display())))
}

/// Distinguishes arms of one name by their files.
fn distinguish(runs: &mut [Run], paths: &[PathBuf]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (run, path) in runs.iter_mut().zip(paths) {
        if names.iter().filter(|name| **name == run.name).count() > 1 {
            run.name = format!("{} ({})", run.name, path.display());
        }
    }
}

/// The experiments, each once.
fn title(traces: &[Trace]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for trace in traces {
        let name = trace.meta.experiment.as_str();
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "trace".to_owned() } else { names.join(", ") }
}

fn beside(trace: &Path) -> PathBuf {
    if trace.is_dir() { trace.join("view.html") } else { trace.with_file_name("view.html") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_of_one_name_are_distinguished_by_their_files() {
        let mut runs = ["a", "b", "a"].map(|name| Run { name: name.to_owned(), ..Run::default() });
        distinguish(&mut runs, &["x", "y", "z"].map(PathBuf::from));
        assert_eq!(runs.map(|run| run.name), ["a (x)", "b", "a (z)"]);
    }

    #[test]
    fn the_title_names_each_experiment_once() {
        let of = |name: &str| {
            let mut trace = Trace::default();
            trace.meta.experiment = name.to_owned();
            trace
        };
        assert_eq!(title(&[of("dsack"), of("dsack"), of("reorder")]), "dsack, reorder");
        assert_eq!(title(&[of("")]), "trace");
    }
}
