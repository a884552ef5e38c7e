//! The command line. A dozen commands and a few flags need no library.

use crate::against::{Against, Named};
use crate::mutants::Mutants;
use crate::stamp;
use crate::variants::Chosen;

/// Printed by `cargo xtask` alone, and after a wrong argument.
pub const HELP: &str = "\
cargo xtask test [--ci] [--deny] [--keep-going]
    Everything a change has to pass, cheapest first; `cargo test` comes last. As root it installs what the tests need
    (apt); otherwise it names what is missing.
      --deny        also install the tools that take minutes to build (cargo-deny, duvet; once) and run their checks
      --ci          what CI adds: --deny, and Cargo.lock must be up to date
      --keep-going  run the remaining steps after a failure
cargo xtask docs [--check]
    Writes the generated pages under docs/; with --check only says which are out of date.
cargo xtask api [--check]
    Writes docs/api.txt, the public interface of the library's crates; with --check names the lines that differ and fails.
cargo xtask compliance [--check]
    Writes docs/compliance.md from specs/ and the annotations in code and tests, and lists what is open; with --check fails
    when the page is out of date or a binding requirement is open. Installs duvet (some minutes, once).
cargo xtask web [--check]
    Builds the pages of web/ into crates/report/assets; with --check says whether they are up to date, and tries them in a
    browser.
cargo xtask python
    Builds the package for Python as a wheel, installs it below target/python, and runs its tests there.
cargo xtask guide [PAGE...]
    Runs the commands of the guide, or of these pages, as they are shown, slow ones too, and compares what they print. Needs root;
    takes long; outside CI.
cargo xtask bench
    Counts instructions: of headers, whole simulated transfers, traces and captures, and of an unobserved transfer with and without
    the code of events, which may not differ. Installs valgrind (apt, as root) and gungraun-runner (a minute or two, once).
cargo xtask bench --against COMMIT [--named ROW=REASON]…
    Counts the same rows of another commit and of this tree, both built at one place, and prints their ratios. Fails when a row
    takes over 2 % more, or is gone, and is not named with its reason.
cargo xtask stamp [--check | --page FILE[:N]…]
    Writes docs/stamps.txt, a digest of what each profile does, and says which moved; with --check only says whether the file is
    up to date. With --page also writes today's stamps into the marks of these pages, or into the Nth mark alone: only when the
    numbers of that table were measured again.
cargo xtask traces [--check]
    Writes docs/traces.txt, digests of canonical traces of all profiles in all built-in experiments, of all scripts and of 10,000
    swarm worlds, and says which moved; with --check fails when any did. Takes minutes; outside CI.
cargo xtask mutants PACKAGE… [-- ARGUMENT…]
    Plants small defects one at a time; fails when the package's own tests miss one that crates/xtask/survivors.txt does not
    accept, or when that list names one without need. Further arguments are cargo-mutants',
    which is installed (some minutes, once). Takes minutes to hours; outside CI.
cargo xtask negations
    Negates each condition of the decision about what leaves, one at a time, and says whether a row of its table of tests fails.
    Takes minutes; outside CI.
cargo xtask advisories
    Checks the dependencies against RustSec's database. Needs a network, and says so where there is none; outside CI.
cargo xtask miri
    Runs the tests of the crates with unsafe code under Miri, as far as it can run them. Needs a nightly toolchain; outside CI.
cargo xtask attacks
    Counts the instructions of packets that strangers send, plays honest peers beside a flood, and writes the table in
    docs/SECURITY.md. Installs valgrind (apt, as root).
cargo xtask snapshots
    Runs the tests, accepts every changed snapshot and deletes those no test refers to. Then read `git diff`.
cargo xtask variants [NAME | --algorithm NAME]
    Deletes the variant, or the algorithm, from a copy of the workspace, says which profiles lose a leaf, builds what is left and
    runs its tests; without a name each variant and algorithm in turn. Takes minutes for each.
";

/// A parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Say what there is.
    Help,
    /// Run all steps.
    Test(TestOptions),
    /// Write or check generated pages.
    Docs(DocsMode),
    /// Write or check the listing of the library's interface.
    Api(DocsMode),
    /// Write or check the page about the RFCs' requirements.
    Compliance(DocsMode),
    /// Build the pages, or check and try them.
    Web(DocsMode),
    /// Build the package for Python and run its tests.
    Python,
    /// Run the commands of the guide as they are shown: of these pages, or of all.
    Guide(Vec<String>),
    /// Count instructions.
    Bench,
    /// Count instructions of this tree and of another commit.
    BenchAgainst(Against),
    /// Write or check the stamps of behaviour.
    Stamp(stamp::What),
    /// Write or check the digests of traces.
    Traces(DocsMode),
    /// Report planted defects that no test finds.
    Mutants(Mutants),
    /// Negate the conditions of the decision about what leaves.
    Negations,
    /// Check the dependencies for known vulnerabilities.
    Advisories,
    /// Run tests under Miri.
    Miri,
    /// Measure the cost of strangers' packets.
    Attacks,
    /// Accept snapshots.
    Snapshots,
    /// Delete one variant or algorithm, or each in turn.
    Variants(Chosen),
}

/// How the steps are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestOptions {
    /// What CI adds.
    pub ci: bool,
    /// Install the tools that take minutes to build.
    pub deny: bool,
    /// Go on after a failure.
    pub keep_going: bool,
}

/// How to treat generated pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocsMode {
    /// Write them.
    Write,
    /// Fail when they are out of date.
    Check,
}

/// Reads the arguments; the error is a sentence.
pub fn parse(arguments: &[String]) -> Result<Command, String> {
    let Some((command, flags)) = arguments.split_first() else { return Ok(Command::Help) };
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(Command::Help),
        "test" => test_options(flags).map(Command::Test),
        "docs" => docs_mode(command, flags).map(Command::Docs),
        "api" => docs_mode(command, flags).map(Command::Api),
        "compliance" => docs_mode(command, flags).map(Command::Compliance),
        "web" => docs_mode(command, flags).map(Command::Web),
        "bench" if flags.is_empty() => Ok(Command::Bench),
        "bench" => against(flags).map(Command::BenchAgainst),
        "stamp" => stamp(flags).map(Command::Stamp),
        "traces" => docs_mode(command, flags).map(Command::Traces),
        "mutants" => mutants(flags).map(Command::Mutants),
        "attacks" if flags.is_empty() => Ok(Command::Attacks),
        "python" if flags.is_empty() => Ok(Command::Python),
        "guide" => Ok(Command::Guide(flags.to_vec())),
        "advisories" if flags.is_empty() => Ok(Command::Advisories),
        "miri" if flags.is_empty() => Ok(Command::Miri),
        "negations" if flags.is_empty() => Ok(Command::Negations),
        "snapshots" if flags.is_empty() => Ok(Command::Snapshots),
        "advisories" | "attacks" | "miri" | "negations" | "python" | "snapshots" => {
            Err(format!("`{command}` takes no arguments, not `{}`", flags.join(" ")))
        }
        "variants" => variants(flags).map(Command::Variants),
        unknown => Err(format!(
            "unknown command `{unknown}`; the commands are test, docs, api, compliance, web, python, guide, bench, stamp, traces, \
             mutants, negations, attacks, advisories, miri, snapshots or variants"
        )),
    }
}

fn against(flags: &[String]) -> Result<Against, String> {
    let usage =
        || format!("`bench` knows --against COMMIT and, behind it, --named ROW=REASON, not `{}`", flags.join(" "));
    let [flag, commit, rest @ ..] = flags else { return Err(usage()) };
    if flag != "--against" || commit.starts_with('-') {
        return Err(usage());
    }
    let (pairs, odd) = rest.as_chunks::<2>();
    let named = pairs.iter().map(|[flag, row]| {
        let (row, reason) = row.split_once('=').filter(|(row, reason)| !row.is_empty() && !reason.trim().is_empty())?;
        (flag == "--named").then(|| Named { row: row.to_owned(), reason: reason.trim().to_owned() })
    });
    let named: Option<Vec<Named>> = named.collect();
    named.filter(|_| odd.is_empty()).map(|named| Against { commit: commit.clone(), named }).ok_or_else(usage)
}

fn mutants(flags: &[String]) -> Result<Mutants, String> {
    let end = flags.iter().position(|flag| flag == "--").unwrap_or(flags.len());
    let (packages, rest) = flags.split_at(end);
    if packages.is_empty() || packages.iter().any(|name| name.starts_with('-')) {
        let given = flags.join(" ");
        return Err(format!("`mutants` needs packages, such as `cc`, and `--` before arguments, not `{given}`"));
    }
    Ok(Mutants { packages: packages.to_vec(), arguments: rest.iter().skip(1).cloned().collect() })
}

fn variants(flags: &[String]) -> Result<Chosen, String> {
    match flags {
        [] => Ok(Chosen::All),
        [name] if !name.starts_with('-') => Ok(Chosen::Variant(name.clone())),
        [flag, name] if flag == "--algorithm" && !name.starts_with('-') => Ok(Chosen::Algorithm(name.clone())),
        _ => Err(format!("`variants` takes no name, one, or --algorithm with one, not `{}`", flags.join(" "))),
    }
}

fn stamp(flags: &[String]) -> Result<stamp::What, String> {
    match flags {
        [] => Ok(stamp::What::Write),
        [flag] if flag == "--check" => Ok(stamp::What::Check),
        [flag, pages @ ..] if flag == "--page" && !pages.is_empty() => Ok(stamp::What::Pages(pages.to_vec())),
        _ => Err(format!("`stamp` knows --check, or --page with files, not `{}`", flags.join(" "))),
    }
}

fn docs_mode(command: &str, flags: &[String]) -> Result<DocsMode, String> {
    match flags {
        [] => Ok(DocsMode::Write),
        [flag] if flag == "--check" => Ok(DocsMode::Check),
        _ => Err(format!("`{command}` knows only --check, not `{}`", flags.join(" "))),
    }
}

fn test_options(flags: &[String]) -> Result<TestOptions, String> {
    let mut options = TestOptions::default();
    for flag in flags {
        match flag.as_str() {
            "--ci" => (options.ci, options.deny) = (true, true),
            "--deny" => options.deny = true,
            "--keep-going" => options.keep_going = true,
            unknown => {
                return Err(format!("`test` has no flag `{unknown}`; its flags are --ci, --deny and --keep-going"));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_asks_for_help() {
        assert_eq!(parsed(""), Ok(Command::Help));
        assert_eq!(parsed("--help"), Ok(Command::Help));
    }

    #[test]
    fn ci_implies_the_dependency_check() {
        assert_eq!(parsed("test"), Ok(Command::Test(TestOptions::default())));
        let ci = TestOptions { ci: true, deny: true, keep_going: true };
        assert_eq!(parsed("test --keep-going --ci"), Ok(Command::Test(ci)));
    }

    #[test]
    fn variants_and_algorithms_may_be_chosen_by_name() {
        assert_eq!(parsed("variants"), Ok(Command::Variants(Chosen::All)));
        let name = "old_ring".to_owned();
        assert_eq!(parsed("variants old_ring"), Ok(Command::Variants(Chosen::Variant(name.clone()))));
        assert_eq!(parsed("variants --algorithm old_ring"), Ok(Command::Variants(Chosen::Algorithm(name))));
        for wrong in ["--all", "--algorithm", "--algorithm --all", "old_ring other", "--algorithm old_ring other"] {
            let message = parsed(&format!("variants {wrong}")).unwrap_err();
            assert!(message.ends_with(&format!("not `{wrong}`")), "{message}");
        }
    }

    #[test]
    fn a_comparison_names_a_commit_and_rows_with_their_reasons() {
        let named = vec![Named { row: "emit".to_owned(), reason: "a guard".to_owned() }];
        let words = ["bench", "--against", "HEAD~3", "--named", "emit=a guard"].map(str::to_owned);
        assert_eq!(parse(&words), Ok(Command::BenchAgainst(Against { commit: "HEAD~3".to_owned(), named })));
        for wrong in
            ["", " --named emit=x", " HEAD --named", " HEAD --named emit", " HEAD --named emit=", " HEAD x y=z"]
        {
            assert!(parsed(&format!("bench --against{wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn stamps_are_written_checked_or_put_into_pages() {
        assert_eq!(parsed("stamp"), Ok(Command::Stamp(stamp::What::Write)));
        assert_eq!(parsed("stamp --check"), Ok(Command::Stamp(stamp::What::Check)));
        let pages = stamp::What::Pages(vec!["README.md".to_owned(), "docs/longhaul.md".to_owned()]);
        assert_eq!(parsed("stamp --page README.md docs/longhaul.md"), Ok(Command::Stamp(pages)));
    }

    #[test]
    fn traces_are_written_or_checked() {
        assert_eq!(parsed("traces"), Ok(Command::Traces(DocsMode::Write)));
        assert_eq!(parsed("traces --check"), Ok(Command::Traces(DocsMode::Check)));
        assert!(parsed("traces now").unwrap_err().contains("`traces` knows only --check"));
    }

    #[test]
    fn mutants_are_planted_in_packages() {
        let arguments = vec!["--shard".to_owned(), "1/9".to_owned()];
        let asked = Mutants { packages: vec!["cc".to_owned(), "tcp".to_owned()], arguments };
        assert_eq!(parsed("mutants cc tcp -- --shard 1/9"), Ok(Command::Mutants(asked)));
        for wrong in ["mutants", "mutants --list", "mutants -- --list"] {
            assert!(parsed(wrong).unwrap_err().contains("needs packages"), "{wrong}");
        }
    }

    #[test]
    fn unknown_words_are_named_beside_the_known_ones() {
        assert!(parsed("tset").unwrap_err().contains("`tset`; the commands are test"));
        assert!(parsed("test --fast").unwrap_err().contains("`--fast`"));
        assert!(parsed("docs --write").unwrap_err().contains("`--write`"));
        assert!(parsed("compliance now").unwrap_err().contains("`compliance` knows only --check"));
        assert!(parsed("web now").unwrap_err().contains("`web` knows only --check"));
        assert!(parsed("snapshots now").unwrap_err().contains("`snapshots` takes no arguments, not `now`"));
        assert!(parsed("bench all").unwrap_err().contains("--against COMMIT"));
        assert!(parsed("stamp --page").unwrap_err().contains("--page with files, not `--page`"));
        assert!(parsed("miri all").unwrap_err().contains("`miri` takes no arguments, not `all`"));
        assert!(parsed("python now").unwrap_err().contains("`python` takes no arguments, not `now`"));
        assert_eq!(parsed("guide tuning.md"), Ok(Command::Guide(vec!["tuning.md".to_owned()])));
    }
}
