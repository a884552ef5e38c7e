//! Runs steps one after the other with their times, and calls programs.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Why a step did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// What was checked is wrong: exit code 1.
    Failed(String),
    /// The machine lacks something: exit code 2.
    Missing(String),
}

/// Result of a step.
pub type Outcome = Result<(), Failure>;

/// A named piece of work.
pub struct Step<'a> {
    /// One word or two.
    pub name: &'static str,
    /// What it does.
    pub run: Box<dyn FnOnce() -> Outcome + 'a>,
}

impl<'a> Step<'a> {
    /// Puts the parts together.
    pub fn new(name: &'static str, run: impl FnOnce() -> Outcome + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// What happens after a failed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Nothing more.
    Stop,
    /// The other steps.
    KeepGoing,
}

/// Runs the steps in order and reports the time of each but the last.
///
/// The last one's own output closes the run, so that what a reader (or a program) sees at the end are the lines of
/// `cargo test` itself.
pub fn run_all(steps: Vec<Step<'_>>, after_failure: AfterFailure) -> Outcome {
    let count = steps.len();
    let mut failures: Vec<(&str, Failure)> = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        eprintln!("── {}/{count} {}", index + 1, step.name);
        let began = Instant::now();
        let outcome = (step.run)();
        let seconds = began.elapsed().as_secs_f64();
        match outcome {
            Ok(()) if index + 1 == count => {}
            Ok(()) => eprintln!("── {}/{count} {}: ok in {seconds:.1} s", index + 1, step.name),
            Err(failure) => {
                eprintln!("── {}/{count} {}: FAILED after {seconds:.1} s", index + 1, step.name);
                failures.push((step.name, failure));
                if after_failure == AfterFailure::Stop {
                    break;
                }
            }
        }
    }
    summary(failures)
}

fn summary(mut failures: Vec<(&str, Failure)>) -> Outcome {
    if failures.len() <= 1 {
        return failures.pop().map_or(Ok(()), |(name, failure)| Err(failure.of(name)));
    }
    let lines: Vec<String> = failures.iter().map(|(name, failure)| format!("{name}: {}", failure.text())).collect();
    Err(Failure::Failed(format!("{} steps failed\n{}", lines.len(), lines.join("\n"))))
}

impl Failure {
    /// What went wrong.
    pub fn text(&self) -> &str {
        let (Self::Failed(text) | Self::Missing(text)) = self;
        text
    }
    /// The same, with where it happened.
    pub fn of(self, step: &str) -> Self {
        match self {
            Self::Failed(text) => Self::Failed(format!("{step}: {text}")),
            Self::Missing(text) => Self::Missing(format!("{step}: {text}")),
        }
    }
}

/// Reports why a command failed, and turns that into an exit code.
pub fn finish(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {}", failure.text());
            ExitCode::from(if matches!(failure, Failure::Failed(_)) { 1 } else { 2 })
        }
    }
}

/// Where the repository begins.
pub fn root() -> PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lives two levels below the root").to_owned()
}

/// The cargo that runs us, started at the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Builds all tests, and with them `target/debug/longhaul`: a build of that program alone has other features and takes as long again.
pub fn build_tests(locked: &[&str]) -> Outcome {
    run(cargo(&["test", "--workspace", "--no-run", "--quiet"]).args(locked))
}

/// Runs a command with its output on the terminal.
pub fn run(command: &mut Command) -> Outcome {
    let line = text_of(command);
    eprintln!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Failed(format!("`{line}`: {status}"))),
        Err(error) => Err(Failure::Missing(format!("`{line}` cannot be started: {error}"))),
    }
}

/// The same for `cargo test`: on failure the reports of the failed tests are repeated at the end, so that a long log names them
/// where people look first.
pub fn run_tests(command: &mut Command) -> Outcome {
    let line = text_of(command);
    eprintln!("$ {line}");
    let missing = |error: io::Error| Failure::Missing(format!("`{line}` cannot be started: {error}"));
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(missing)?;
    let mut reports = Reports::default();
    let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
    for line in output.split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        reports.line(&line);
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            eprintln!("{}", reports.text());
            Err(Failure::Failed(format!("`{line}`: {status}")))
        }
        Err(error) => Err(missing(error)),
    }
}

/// What `cargo test` prints about failed tests.
#[derive(Default)]
struct Reports {
    lines: Vec<String>,
    is_inside: bool,
}

impl Reports {
    /// The reports stand between a line `failures:` and the result of the test binary.
    fn line(&mut self, line: &str) {
        self.is_inside |= line == "failures:";
        if self.is_inside {
            self.lines.push(line.to_owned());
        }
        self.is_inside &= !line.starts_with("test result:");
    }

    /// Returns the last [`Self::KEPT`] lines.
    fn text(&self) -> String {
        self.lines[self.lines.len().saturating_sub(Self::KEPT)..].join("\n")
    }

    /// As many as people read.
    const KEPT: usize = 120;
}

/// Runs a command and returns what it wrote to its standard output, which is shown when it fails; its messages go to the
/// terminal.
pub fn capture(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let line = text_of(command);
    eprintln!("$ {line}");
    match command.stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => {
            eprint!("{}", String::from_utf8_lossy(&output.stdout));
            Err(Failure::Failed(format!("`{line}`: {}", output.status)))
        }
        Err(error) => Err(Failure::Missing(format!("`{line}` cannot be started: {error}"))),
    }
}

/// The command as a user would type it, without the directory of the program.
fn text_of(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program).chain(arguments).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn failing(name: &'static str) -> Step<'static> {
        Step::new(name, move || Err(Failure::Failed("no".into())))
    }

    #[test]
    fn the_first_failure_stops_the_run_and_names_its_step() {
        let ran = RefCell::new(Vec::new());
        let passing = |name| {
            let ran = &ran;
            Step::new(name, move || {
                ran.borrow_mut().push(name);
                Ok(())
            })
        };
        let steps = vec![passing("a"), failing("b"), passing("c")];
        assert_eq!(run_all(steps, AfterFailure::Stop), Err(Failure::Failed("b: no".into())));
        assert_eq!(*ran.borrow(), ["a"]);
    }

    #[test]
    fn keep_going_runs_the_rest_and_names_every_failure() {
        let steps = vec![failing("a"), Step::new("b", || Ok(())), failing("c")];
        let outcome = run_all(steps, AfterFailure::KeepGoing);
        assert_eq!(outcome, Err(Failure::Failed("2 steps failed\na: no\nc: no".into())));
    }

    #[test]
    fn only_the_reports_of_failed_tests_are_repeated() {
        let mut reports = Reports::default();
        let failed =
            "failures:\n\n---- a stdout ----\nleft: 1\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed";
        let output = format!(
            "running 1 test\ntest a ... FAILED\n\n{failed}\n\nrunning 1 test\ntest b ... ok\n\ntest result: ok."
        );
        output.lines().for_each(|line| reports.line(line));
        assert_eq!(reports.text(), failed);
        (0..2 * Reports::KEPT).for_each(|_| reports.line("failures:"));
        assert_eq!(reports.text().lines().count(), Reports::KEPT);
    }

    #[test]
    fn a_program_that_does_not_exist_is_missing_and_one_that_fails_is_not() {
        assert!(matches!(run(&mut Command::new("longhaul-no-such-program")), Err(Failure::Missing(_))));
        assert!(matches!(run(&mut Command::new("false")), Err(Failure::Failed(_))));
        assert!(matches!(run_tests(&mut Command::new("longhaul-no-such-program")), Err(Failure::Missing(_))));
        assert!(matches!(run_tests(&mut Command::new("false")), Err(Failure::Failed(_))));
        assert_eq!(run_tests(&mut Command::new("true")), Ok(()));
        assert_eq!(capture(Command::new("echo").arg("x")), Ok(b"x\n".to_vec()));
    }
}
