//! Tests that the commands in the README, in `docs/answers.md` and in the pages of `docs/guide` work as shown.
//!
//! Each page is a shell session in a separate directory; `page` defines what a page may contain. Pages with commands for root are played in
//! a namespace (`stage`). Long commands run as small as their page says, and with `LONGHAUL_GUIDE=whole`, as `cargo xtask guide` sets it, as
//! they are shown, one page after the other. A block that needs more has its options compared with `--help`, so that a renamed option
//! is found, too.

#[path = "../outside/machine.rs"]
mod machine;
#[path = "../outside/program.rs"]
mod outside;
mod page;
mod service;
mod shown;
mod stage;

use outside::longhaul;
use page::{Command, Part};
use service::Service;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Instant;

/// A word behind `console`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// For root: the page is played in a namespace.
    Root,
    /// Takes long: made small, unless all is to be whole.
    Slow,
    /// Only run when all is to be whole.
    Whole,
    /// Not run here: it needs what this test does not have.
    Elsewhere,
}

/// The words, as `docs/guide/README.md` explains them.
const WORDS: [(&str, Word); 7] = [
    ("root", Word::Root),
    ("slow", Word::Slow),
    ("whole", Word::Whole),
    ("python", Word::Elsewhere),
    ("ray", Word::Elsewhere),
    ("drill", Word::Elsewhere),
    ("packetdrill", Word::Elsewhere),
];

/// How pages run the program when it is not installed.
const FROM_SOURCE: &str = "cargo run --release -- ";

#[test]
fn the_commands_of_the_guide_print_what_it_shows() {
    let pages = pages();
    assert!(pages.len() > 10, "the guide has {} pages", pages.len());
    let pages = chosen(pages);
    let whole = std::env::var("LONGHAUL_GUIDE").is_ok_and(|what| what == "whole");
    let complaints: Vec<String> = thread::scope(|scope| {
        let start = |path: &PathBuf| {
            let path = path.clone();
            scope.spawn(move || Session::new(&path, whole).play())
        };
        let end = |session: thread::ScopedJoinHandle<'_, _>| session.join().expect("no page ends a session by force");
        if whole {
            return pages.iter().flat_map(|path| end(start(path))).collect();
        }
        let sessions: Vec<_> = pages.iter().map(start).collect();
        sessions.into_iter().flat_map(end).collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// The README, the answers and every page of the guide.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).expect("there is a guide");
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.expect("it can be read").path()).collect();
    pages.extend(["README.md", "docs/answers.md"].map(|page| root.join(page)));
    pages.sort();
    pages
}

/// Leaves only the pages that `LONGHAUL_PAGES` names, if it names any.
fn chosen(mut pages: Vec<PathBuf>) -> Vec<PathBuf> {
    let names = std::env::var("LONGHAUL_PAGES").unwrap_or_default();
    let names: Vec<&str> = names.split(',').filter(|name| !name.is_empty()).collect();
    let is_named = |path: &PathBuf, name: &str| path.file_name().is_some_and(|file| file == name);
    if let Some(unknown) = names.iter().find(|name| !pages.iter().any(|path| is_named(path, name))) {
        panic!("the guide has no page `{unknown}`; name README.md, answers.md or a file of docs/guide");
    }
    pages.retain(|path| names.is_empty() || names.iter().any(|name| is_named(path, name)));
    pages
}

/// A page that is played from its top.
struct Session {
    name: String,
    text: String,
    /// Whether long commands run as shown.
    whole: bool,
    directory: tempfile::TempDir,
    services: Vec<Service>,
    complaints: Vec<String>,
}

impl Session {
    fn new(path: &Path, whole: bool) -> Self {
        Self {
            name: path.file_name().expect("a page has a name").to_string_lossy().into_owned(),
            text: fs::read_to_string(path).expect("pages are text"),
            whole,
            directory: tempfile::tempdir().expect("there is room for a directory"),
            services: Vec::new(),
            complaints: Vec::new(),
        }
    }

    /// Runs the page; returns its errors.
    fn play(mut self) -> Vec<String> {
        let (text, began) = (std::mem::take(&mut self.text), Instant::now());
        let parts = page::parts(&text);
        if parts.iter().any(|part| matches!(part, Part::Console { words, .. } if words.contains(&"root"))) {
            stage::enter();
        }
        for part in parts {
            match part {
                Part::File { name, text } => {
                    fs::write(self.directory.path().join(name), text).expect("it can be written");
                }
                Part::Console { words, smaller, commands } => self.block(&words, &smaller, commands),
            }
        }
        let ended: Vec<String> = self.services.drain(..).filter_map(Service::end).collect();
        self.complaints.extend(ended.into_iter().map(|what| format!("{}: {what}", self.name)));
        println!("{}: {:.1} s", self.name, began.elapsed().as_secs_f64());
        // All pages as they are shown take hours.
        self.complaints.iter().filter(|_| self.whole).for_each(|complaint| println!("{complaint}\n"));
        self.complaints
    }

    fn block(&mut self, words: &[&str], smaller: &[(&str, &str)], mut commands: Vec<Command<'_>>) {
        let meaning = |word: &&str| WORDS.iter().find(|(known, _)| known == word).map(|(_, meaning)| *meaning);
        let name = self.name.clone();
        for word in words.iter().filter(|word| meaning(word).is_none()) {
            let known = WORDS.map(|(known, _)| known);
            self.complaints.push(format!("{name}: `console {word}` is none of {known:?}"));
        }
        let is = |wanted: Word| words.iter().any(|word| meaning(word) == Some(wanted));
        if is(Word::Slow) && smaller.is_empty() {
            return self.complaints.push(format!("{name}: no comment says what makes a `console slow` small"));
        }
        let elsewhere = is(Word::Elsewhere);
        let small = !self.whole && !smaller.is_empty() && !elsewhere;
        if small {
            self.complaints.extend(shrink(&mut commands, smaller).into_iter().map(|what| format!("{name}: {what}")));
        }
        for command in commands {
            let here = !elsewhere && (self.whole || !is(Word::Whole));
            let complaint = if here { self.run(&command, small) } else { unknown_options(&command.line) };
            self.complaints.extend(complaint.map(|what| format!("{name}:{}: {what}", command.number)));
        }
    }

    /// Runs a command as if a reader had pasted it; reports a wrong exit code or output.
    fn run(&mut self, command: &Command<'_>, small: bool) -> Option<String> {
        let line = command.line.replace(FROM_SOURCE, "longhaul ");
        let program = Path::new(env!("CARGO_BIN_EXE_longhaul")).parent().expect("a program lies in a directory");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        let directory = self.directory.path();
        if service::goes_on(&line, &command.shown) {
            let of_device = self.services.iter().position(|service| service.holds_device_of(&line));
            let ended = of_device.and_then(|place| self.services.remove(place).end());
            return ended.or_else(|| match Service::start(&line, &command.shown, directory, &path) {
                Ok(service) => {
                    self.services.push(service);
                    None
                }
                Err(what) => Some(what),
            });
        }
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line]).current_dir(directory).env("PATH", path);
        let ended: outside::Ended = shell.stdin(Stdio::null()).output().expect("there is a shell").into();
        if ended.code != Some(0) {
            return Some(format!("`{line}` ends with {:?}:\n{}{}", ended.code, ended.stdout, ended.stderr));
        }
        let printed: Vec<&str> = ended.stdout.lines().map(str::trim_end).collect();
        let agrees = match small {
            _ if command.shown.is_empty() => true,
            true => shown::missing_head(&command.shown, &printed).is_none(),
            false => shown::is_of(&command.shown, &printed),
        };
        (!agrees).then(|| format!("`{line}` is shown with\n{}\nand prints\n{}", command.shown.join("\n"), ended.stdout))
    }
}

/// Makes commands small; returns what could not be.
fn shrink(commands: &mut [Command<'_>], smaller: &[(&str, &str)]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (old, new) in smaller {
        let mut of_block = commands.iter_mut().filter(|command| command.line.contains(old)).peekable();
        if of_block.peek().is_none() {
            complaints.push(format!("`{old}`, which is to be small, is in no command of its block"));
        }
        of_block.for_each(|command| command.line = command.line.replace(old, new));
    }
    complaints
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

#[test]
fn a_block_whose_comment_names_what_it_lacks_is_reported() {
    let command = |line: &str| Command { number: 1, line: line.to_owned(), shown: Vec::new() };
    let mut commands = [command("longhaul ab wan"), command("longhaul ab dsack")];
    assert_eq!(shrink(&mut commands, &[("ab", "ab --iterations 1")]), [""; 0]);
    assert_eq!(
        commands.map(|command| command.line),
        ["longhaul ab --iterations 1 wan", "longhaul ab --iterations 1 dsack"]
    );
    assert!(shrink(&mut [command("longhaul ab wan")], &[("32MB", "1MB")])[0].contains("`32MB`"));
}
