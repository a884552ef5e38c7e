//! Another engine than the threads of this process: a Ray cluster, whose driver is the package for Python.
//!
//! The package makes what the folder lacks and writes its shards; this program then opens the folder and finds every run, as after any
//! interruption. So there is one implementation of the cluster, and one of tables and reports.

use super::args::{AbArgs, Engine};
use crate::backend::BackendChoice;
use crate::failure::Failure;
use std::process::Command;

/// What to do if the package is not there.
const REMEDY: &str =
    "run `pip install .` in a clone of this version and `pip install ray`, or name another interpreter with `--python`";

/// Lets a cluster make what the folder of results lacks, if that is asked for.
///
/// # Errors
/// If an option does not fit, the package or Ray is missing or of another version, or the cluster fails.
pub fn make(args: &AbArgs) -> Result<(), Failure> {
    if args.engine == Engine::Threads {
        return Ok(());
    }
    let Some(out) = &args.out else {
        return Err(Failure::usage(
            "--engine ray: Ray's machines have no place for results; name a folder that all of them reach with `--out`",
        ));
    };
    if out.to_string_lossy().contains("://") {
        let remedy = "name a folder, or use `run(out=URL)` of the package for Python";
        return Err(Failure::usage(format!("--out {}: it is a URL; {remedy}", out.display())));
    }
    let unfit = [
        (args.backend != BackendChoice::Sim, "--backend"),
        (args.hold_out, "--hold-out"),
        (args.draw.is_some(), "--draw"),
        (args.until_decided.is_some(), "--until-decided"),
    ];
    if let Some((_, option)) = unfit.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!("--engine ray: it does not go with `{option}`; leave one of them out")));
    }
    check(&args.python)?;
    let mut command = Command::new(&args.python);
    command.args(["-m", "longhaul", "make", &args.experiment]).arg(out).args(["--engine", "ray"]);
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            command.args([name, &value]);
        }
    };
    option("--address", args.address.clone());
    option("--arms", Some(args.arms.join(",")).filter(|arms| !arms.is_empty()));
    option("--iterations", args.iterations.map(|number| number.to_string()));
    option("--seed", args.seed.map(|number| number.to_string()));
    option("--jobs", args.jobs.map(|number| number.to_string()));
    args.set.iter().for_each(|set| option("--set", Some(set.clone())));
    if args.series {
        command.arg("--series");
    }
    let status = command.status().map_err(|error| Failure::usage(format!("`{}`: {error}; {REMEDY}", args.python)))?;
    // It has said why.
    if status.success() { Ok(()) } else { Err(Failure::Reported) }
}

/// Checks that the interpreter has the package of this version, and Ray.
fn check(python: &str) -> Result<(), Failure> {
    let program = "import longhaul, importlib.util as u; print(longhaul.__version__, u.find_spec('ray') is not None)";
    let found = Command::new(python).args(["-c", program]).output();
    let found = found.map_err(|error| Failure::usage(format!("--engine ray: `{python}`: {error}; {REMEDY}")))?;
    let said = String::from_utf8_lossy(&found.stdout);
    let problem = match said.split_whitespace().collect::<Vec<_>>()[..] {
        [version, _] if version != env!("CARGO_PKG_VERSION") => {
            format!(
                "the package `longhaul` of `{python}` is version {version}, and this program {}",
                env!("CARGO_PKG_VERSION")
            )
        }
        [_, "True"] => return Ok(()),
        [_, _] => format!("`{python}` has no package `ray`"),
        _ => format!("`{python}` has no package `longhaul`"),
    };
    Err(Failure::usage(format!("--engine ray: {problem}; {REMEDY}")))
}
