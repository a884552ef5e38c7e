//! `longhaul-drill`: runs conformance scripts and reports which failed, where, and how.
#![forbid(unsafe_code)]

use longhaul_drill::run::{Backend, Error, Options, run};
use longhaul_drill::script::ScriptOption;
use longhaul_drill::suite::{Ended, FAILED, IMPOSSIBLE, Report, Suite, scripts_below};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::Digest;

const USAGE: &str = "\
usage: longhaul-drill [options] SCRIPT|FOLDER...
  --kernel            run against this machine's kernel, in real time
  --so PATH           run against a shared object with packetdrill's interface
  --so_flags=TEXT     hand TEXT to the stack behind the interface
  --verbose, -v       print every packet
  --digests           print a digest of each script's packets instead: scripts/NAME=NUMBER
  --jobs N            run N scripts at a time (1 with --kernel)
  -D NAME=VALUE       define a symbol for scripts
  --mtu=N, --ip_version=ipv6, ...   override the scripts' own options";

/// The parsed command line.
#[derive(Default)]
struct Arguments {
    options: Options,
    /// The arguments as given, for child processes.
    given: Vec<OsString>,
    scripts: Vec<PathBuf>,
    verbose: bool,
    digests: bool,
    jobs: Option<usize>,
    child: bool,
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            return ExitCode::from(IMPOSSIBLE);
        }
    };
    match arguments.scripts.as_slice() {
        [script] if arguments.child => one(script, &arguments),
        _ => many(&arguments),
    }
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::default();
        while let Some(word) = words.next() {
            let mut value = |name: &str| words.next().ok_or_else(|| format!("{name} needs a value"));
            let mut keep = vec![word.clone()];
            match word.as_str() {
                "--child" => {
                    parsed.child = true;
                    continue;
                }
                "--kernel" => parsed.options.backend = Backend::Kernel,
                "--verbose" | "-v" => parsed.verbose = true,
                "--digests" => {
                    parsed.digests = true;
                    parsed.given.push("--verbose".into());
                    continue;
                }
                "--so" => {
                    keep.push(value("--so")?);
                    parsed.options.backend = Backend::SharedObject(PathBuf::from(&keep[1]));
                }
                "--jobs" => {
                    let jobs = value("--jobs")?;
                    parsed.jobs = Some(jobs.parse().map_err(|_| format!("--jobs {jobs}: a number is needed"))?);
                    continue;
                }
                "-D" => {
                    keep.push(value("-D")?);
                    parsed.define(&keep[1])?;
                }
                "--help" | "-h" => return Err("longhaul-drill runs packetdrill-style scripts".into()),
                _ if word.starts_with("--") => parsed.option(&word[2..])?,
                _ if word.starts_with('-') => return Err(format!("unknown option {word}")),
                _ => {
                    parsed.scripts.push(PathBuf::from(word));
                    continue;
                }
            }
            parsed.given.extend(keep.into_iter().map(OsString::from));
        }
        if parsed.scripts.is_empty() { Err("no script is given".into()) } else { Ok(parsed) }
    }

    fn option(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        match (name, value) {
            ("so_flags", Some(flags)) => self.options.so_flags = Some(flags),
            ("so_filename", Some(path)) => self.options.backend = Backend::SharedObject(path.into()),
            ("define", Some(definition)) => self.define(&definition)?,
            (name, value) => self.options.overrides.push(ScriptOption { name: name.to_owned(), value, line: 0 }),
        }
        Ok(())
    }

    fn define(&mut self, text: &str) -> Result<(), String> {
        let (name, value) = text.split_once('=').ok_or_else(|| format!("-D {text}: NAME=VALUE is needed"))?;
        self.options.defines.insert(name.to_owned(), value.to_owned());
        Ok(())
    }
}

/// A child process: runs one script.
fn one(script: &Path, arguments: &Arguments) -> ExitCode {
    let mut log = |line: String| {
        if arguments.verbose {
            println!("{line}");
        }
    };
    match run(script, &arguments.options, &mut log) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(if matches!(error, Error::Failed(_)) { FAILED } else { IMPOSSIBLE })
        }
    }
}

/// The parent: starts a child for each script.
fn many(arguments: &Arguments) -> ExitCode {
    let mut scripts = Vec::new();
    for path in &arguments.scripts {
        let below = if path.is_dir() { scripts_below(path) } else { Ok(vec![path.clone()]) };
        match below {
            Ok(found) => scripts.extend(found),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(IMPOSSIBLE);
            }
        }
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("this program's own path: {error}");
            return ExitCode::from(IMPOSSIBLE);
        }
    };
    let mut suite = Suite::new(program, arguments.given.clone());
    if arguments.options.backend == Backend::Kernel {
        // Runs in real time need an idle machine.
        suite.jobs = 1;
        suite.limit *= 10;
    }
    suite.jobs = arguments.jobs.unwrap_or(suite.jobs);
    let reports = suite.run(&scripts, |report| {
        if !arguments.digests {
            print(report);
        }
    });
    if arguments.digests {
        reports.iter().for_each(|report| println!("{}", digest(report)));
        return ExitCode::SUCCESS;
    }
    let count = |ended| reports.iter().filter(|report| report.ended == ended).count();
    let (failed, impossible) = (count(Ended::Failed), count(Ended::Impossible));
    println!("{} passed, {failed} failed, {impossible} could not run", count(Ended::Passed));
    ExitCode::from(if impossible > 0 {
        IMPOSSIBLE
    } else if failed > 0 {
        FAILED
    } else {
        0
    })
}

/// A script's packets and its result; the script's name includes only the folder of its group.
fn digest(report: &Report) -> String {
    let mut digest = Digest::default();
    digest.bytes(report.log.as_bytes());
    digest.word(u64::from(report.ended == Ended::Passed));
    let name: PathBuf = report.script.iter().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
    format!("scripts/{}={:016x}", name.with_extension("").display(), digest.finish())
}

fn print(report: &Report) {
    let word = match report.ended {
        Ended::Passed => "pass",
        Ended::Failed => "FAIL",
        Ended::Impossible => "CANNOT RUN",
    };
    let message = report.message.trim_end();
    let indented: String = message.lines().map(|line| format!("  {line}\n")).collect();
    print!("{}{word} {} ({} ms)\n{indented}", report.log, report.script.display(), report.took.as_millis());
}
