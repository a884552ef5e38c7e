//! Tests that the commands in the README, in `docs/answers.md` and in the pages of `docs/guide` work as shown.
//!
//! Each page is a shell session in a separate directory; `page` defines what a page may contain. A block that is not run (for
//! root, or slow) has its options compared with `--help`, so that a renamed option is found too.

#[path = "../outside/program.rs"]
mod outside;
mod page;
mod shown;

use outside::longhaul;
use page::{Command, Part};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

/// Words after `console` of blocks that are not run: they need root, a long time, or a program that is not ours.
const NOT_RUN: [&str; 3] = ["root", "slow", "tools"];

/// How pages run the program when it is not installed.
const FROM_SOURCE: &str = "cargo run --release -- ";

#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let pages = pages();
    assert!(pages.len() > 10, "the guide has {} pages", pages.len());
    let complaints: Vec<String> = thread::scope(|scope| {
        let sessions: Vec<_> = pages.iter().map(|path| scope.spawn(|| session(path))).collect();
        sessions.into_iter().flat_map(|session| session.join().expect("no page ends a session by force")).collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// The README, the answers and every page of the guide.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).expect("there is a guide");
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.expect("it can be read").path()).collect();
    pages.extend(["README.md", "docs/answers.md"].map(|page| root.join(page)));
    pages
}

/// Runs a page from its top; returns its errors.
fn session(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("pages are text");
    let name = path.file_name().expect("a page has a name").to_string_lossy();
    let directory = tempfile::tempdir().expect("there is room for a directory");
    let mut complaints = Vec::new();
    for part in page::parts(&text) {
        match part {
            Part::File { name, text } => fs::write(directory.path().join(name), text).expect("it can be written"),
            Part::Console { words, commands } => {
                let unknown = words.iter().find(|word| !NOT_RUN.contains(word));
                complaints.extend(unknown.map(|word| format!("{name}: `console {word}` is none of {NOT_RUN:?}")));
                for command in commands {
                    let complaint =
                        if words.is_empty() { run(&command, directory.path()) } else { unknown_options(&command.line) };
                    complaints.extend(complaint.map(|what| format!("{name}:{}: {what}", command.number)));
                }
            }
        }
    }
    complaints
}

/// Runs a command as if a reader had pasted it; reports a wrong exit code or output.
fn run(command: &Command<'_>, directory: &Path) -> Option<String> {
    let line = command.line.replace(FROM_SOURCE, "longhaul ");
    let program = Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().expect("a program lies in a directory");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).current_dir(directory).env("PATH", format!("{}:{path}", program.display()));
    let ended: outside::Ended = shell.stdin(Stdio::null()).output().expect("there is a shell").into();
    if ended.code != Some(0) {
        return Some(format!("`{line}` ends with {:?}:\n{}{}", ended.code, ended.stdout, ended.stderr));
    }
    let printed: Vec<&str> = ended.stdout.lines().map(str::trim_end).collect();
    let differs = !command.shown.is_empty() && !shown::is_of(&command.shown, &printed);
    differs.then(|| format!("`{line}` is shown with\n{}\nand prints\n{}", command.shown.join("\n"), ended.stdout))
}

/// Reports an option of ours that `--help` does not know.
fn unknown_options(line: &str) -> Option<String> {
    let ours = line.strip_prefix(FROM_SOURCE).or_else(|| line.strip_prefix("longhaul "))?;
    let words: Vec<&str> = ours.split_whitespace().collect();
    let command = *words.first()?;
    let mut help = longhaul(&[command, "--help"]);
    let below = words.get(1).filter(|word| !word.starts_with('-') && help.stdout.contains("\nCommands:"));
    if let Some(below) = below {
        help = longhaul(&[command, below, "--help"]);
    }
    if help.code != Some(0) {
        return Some(format!("`longhaul {ours}`: no such command"));
    }
    let known: Vec<&str> = help.stdout.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    let options = words.iter().filter(|word| word.starts_with("--")).map(|word| word.split('=').next().unwrap_or(word));
    let unknown: Vec<&str> = options.filter(|option| !known.contains(option)).collect();
    (!unknown.is_empty()).then(|| format!("`longhaul {ours}`: no option {}", unknown.join(", ")))
}

#[test]
fn an_option_that_is_gone_is_found_though_its_command_is_not_run() {
    assert_eq!(unknown_options("longhaul link set --ab rate=50mbit"), None);
    assert_eq!(unknown_options("ip netns exec wanB iperf3 --server"), None);
    assert!(unknown_options("longhaul ab wan --backend netns --arm linux").expect("it is --arms").ends_with("--arm"));
    assert!(unknown_options("cargo run --release -- abc wan").expect("there is ab").contains("no such command"));
}
