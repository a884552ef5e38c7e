//! Words that may not occur: operating systems and floats below the purity line; anywhere unfinished work, machine paths, a second
//! word for bytes, and prose for which the field has a term.
//!
//! The core cannot name an operating system, not even in a comment: a deviation is named by its symptom, and the profile says
//! which system shows it. Words are built with `concat!` here, since this file is checked too.

use crate::shape::{line_of, test_module_spans, words};
use crate::{Problem, Source};

const SYSTEMS_ANY_CASE: [&str; 7] = ["linux", "freebsd", "openbsd", "netbsd", "macos", "darwin", "solaris"];
const SYSTEMS_EXACT_CASE: [&str; 2] = ["Windows", "BSD"];
const SERVER_YEARS: [&str; 8] = ["2003", "2008", "2012", "2016", "2019", "2022", "2025", "20xx"];
const UNFINISHED_CODE: [&str; 4] = ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"];
const UNFINISHED_TEXT: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];
const MACHINE_PATHS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("../sha", "red")];
/// Each with what stands in its place. The words of a phrase may be joined by a space, an underscore or a line break.
const PROSE: [(&[&str], &str); 5] = [
    (&[concat!("to", "ld")], "`reported`, `notified`, `shown`, or a name for the value"),
    (&[concat!("no", "body")], "the subject that is missing: `no listener`, `no application`"),
    (&["for", concat!("ev", "er")], "`indefinitely`, `without limit`"),
    (&["let", concat!("g", "o")], "`release`"),
    (&["lets", concat!("g", "o")], "`releases`"),
];
const OUTSIDE_WORLD: [&str; 6] = ["std::fs", "std::io", "std::net", "std::thread", "std::process", "std::env"];

/// Everything this file forbids in one Rust source.
pub fn check(source: &Source) -> Vec<Problem> {
    let mut problems = unfinished(source);
    if source.is_pure() {
        problems.extend(systems(source));
        problems.extend(floats(source));
        problems.extend(outside_world(source));
    }
    problems
}

/// Paths of a particular machine in any text file.
pub fn machine_paths(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for needle in MACHINE_PATHS {
        for (at, _) in text.match_indices(needle) {
            let what = format!("a path of one machine (`{needle}`)");
            problems.push(Problem::new(
                path,
                line_of(text, at),
                what,
                "a path inside the repository, or a public source",
            ));
        }
    }
    problems
}

/// The word that RFCs use for bytes, in any text file: this project has one word for one thing. The method of the standard library's
/// addresses keeps its name.
pub fn second_word_for_bytes(path: &str, text: &str) -> Vec<Problem> {
    const WORD: &str = concat!("oct", "et");
    let lower = text.to_ascii_lowercase();
    let found = lower.match_indices(WORD).filter(|&(at, _)| !is_method_of_an_address(&lower, at, WORD));
    let problem = |(at, _)| Problem::new(path, line_of(text, at), format!("`{WORD}`"), "`byte`");
    found.map(problem).collect()
}

fn is_method_of_an_address(text: &str, at: usize, word: &str) -> bool {
    text[..at].ends_with('.') && text[at + word.len()..].starts_with("s()")
}

/// Words that leave open who does what, or stand for a standard term, in the name or the text of any file. A part of an identifier
/// counts as a word.
pub fn translated_prose(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (phrase, right) in PROSE {
        let what = format!("`{}`", phrase.join(" "));
        if !places(path, phrase).is_empty() {
            problems.push(Problem::new(path, 1, format!("{what} in the file's name"), right));
        }
        for at in places(text, phrase) {
            problems.push(Problem::new(path, line_of(text, at), what.clone(), right));
        }
    }
    problems
}

/// Offsets of a phrase in any case.
fn places(text: &str, phrase: &[&str]) -> Vec<usize> {
    let lower = text.to_ascii_lowercase();
    let [first, rest @ ..] = phrase else { return Vec::new() };
    let begins = |at: usize| {
        let (before, here) = (text[..at].chars().next_back(), text[at..].chars().next());
        let is_hump = here.is_some_and(|c| c.is_ascii_uppercase()) && before.is_some_and(|c| c.is_ascii_lowercase());
        is_hump || !before.is_some_and(char::is_alphabetic)
    };
    let ends = |at: usize| !text[at..].starts_with(|c: char| c.is_lowercase());
    let follows = |mut at: usize| {
        for word in rest {
            let gap = lower[at..].len() - lower[at..].trim_start_matches([' ', '_', '\n', '/', '!', '#']).len();
            if gap == 0 || !lower[at + gap..].starts_with(word) {
                return false;
            }
            at += gap + word.len();
        }
        ends(at)
    };
    lower.match_indices(first).map(|(at, _)| at).filter(|&at| begins(at) && follows(at + first.len())).collect()
}

fn unfinished(source: &Source) -> Vec<Problem> {
    let right = "finished code, or an issue that names what is missing";
    let in_code = UNFINISHED_CODE.iter().flat_map(|needle| source.code.match_indices(needle));
    let in_text = UNFINISHED_TEXT.iter().flat_map(|needle| words(&source.text, needle).map(move |at| (at, *needle)));
    in_code
        .chain(in_text)
        .map(|(at, word)| Problem::new(&source.path, line_of(&source.text, at), format!("`{word}`"), right))
        .collect()
}

fn systems(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        if let Some(name) = names_a_system(line) {
            problems.push(Problem::new(
                &source.path,
                index + 1,
                format!("the core names an operating system (`{name}`)"),
                "the symptom's name here; which system shows it belongs into profiles/data",
            ));
        }
    }
    problems
}

fn names_a_system(line: &str) -> Option<String> {
    let lower = line.to_ascii_lowercase();
    let exact = SYSTEMS_EXACT_CASE.iter().find(|name| line.contains(*name));
    let any_case = SYSTEMS_ANY_CASE.iter().find(|name| lower.contains(*name));
    if let Some(name) = exact.or(any_case) {
        return Some((*name).to_owned());
    }
    let server = lower.match_indices("server").find_map(|(at, _)| {
        let year = lower[at + "server".len()..].trim_start_matches(['-', '_', ' ']);
        SERVER_YEARS.iter().find(|known| year.starts_with(*known)).map(|known| format!("server {known}"))
    });
    server.or_else(|| {
        let abbreviated = |rest: &str| rest.starts_with("NT") || rest.starts_with(|c: char| c.is_ascii_digit());
        let found = line.match_indices("Win").find(|(at, _)| abbreviated(&line[at + 3..]));
        found.map(|(at, _)| line[at..].chars().take_while(|c| c.is_alphanumeric()).collect())
    })
}

fn floats(source: &Source) -> Vec<Problem> {
    let found = ["f32", "f64"].into_iter().flat_map(|float| words(&source.code, float).map(move |at| (at, float)));
    found
        .map(|(at, float)| {
            let right = "an integer with its unit, or a ratio: results must not depend on rounding";
            Problem::new(&source.path, line_of(&source.text, at), format!("`{float}` below the purity line"), right)
        })
        .collect()
}

/// Modules of the standard library that access anything outside the process. Tests may use them: they read their own tables.
fn outside_world(source: &Source) -> Vec<Problem> {
    if source.is_test() {
        return Vec::new();
    }
    let tests = test_module_spans(&source.code);
    let in_tests = |at: usize| tests.iter().any(|&(from, to)| (from..=to).contains(&at));
    let found = OUTSIDE_WORLD.iter().flat_map(|module| words(&source.code, module).map(move |at| (at, *module)));
    found
        .filter(|&(at, _)| !in_tests(at))
        .map(|(at, module)| {
            let right = "`core` instead, or the crate above the purity line that owns this";
            Problem::new(&source.path, line_of(&source.text, at), format!("`{module}` below the purity line"), right)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn systems_are_named_nowhere_below_the_line_and_anywhere_above() {
        for text in [
            "// as Windows does",
            "let x = \"linux\";",
            "// the Linux rule",
            "/// like macOS",
            "// 4.4BSD did",
            "let a = \"server-2016\";",
            "// Server 2022 waits",
            "// server_2019",
            "// Win10 and later",
            "// WinNT",
        ] {
            assert_eq!(whats("crates/tcp/src/a.rs", text).len(), 1, "{text}");
            assert_eq!(whats("crates/lab/src/a.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn tcp_windows_and_servers_may_be_spoken_of() {
        for text in
            ["// send windows grow", "// Window of the peer", "// the server 20 ms away", "// Winner", "// server-side"]
        {
            assert_eq!(whats("crates/tcp/src/a.rs", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn floats_are_tokens_of_code() {
        assert_eq!(whats("crates/cc/src/a.rs", "let a: f64 = x;"), ["`f64` below the purity line"]);
        assert_eq!(whats("crates/cc/tests/a.rs", "let a = x as f32;"), ["`f32` below the purity line"]);
        assert_eq!(whats("crates/cc/src/a.rs", "// no f64 here\nlet buf64 = 1;"), [""; 0]);
        assert_eq!(whats("crates/lab/src/a.rs", "let a: f64 = x;"), [""; 0]);
    }

    #[test]
    fn the_outside_world_is_for_tests_alone() {
        assert_eq!(whats("crates/sim/src/a.rs", "use std::fs;"), ["`std::fs` below the purity line"]);
        assert_eq!(whats("crates/sim/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"), [""; 0]);
        assert_eq!(whats("crates/sim/tests/a.rs", "use std::fs;"), [""; 0]);
        assert_eq!(whats("crates/net/src/a.rs", "use std::fs;"), [""; 0]);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_notes_in_comments() {
        assert_eq!(whats("crates/lab/src/a.rs", "fn a() { todo!() }"), ["`todo!(`"]);
        assert_eq!(whats("crates/lab/tests/a.rs", "#[ignore = \"slow\"]\nfn a() {}"), ["`#[ignore`"]);
        assert_eq!(whats("crates/lab/src/a.rs", concat!("// FIX", "ME later")), [concat!("`FIX", "ME`")]);
        assert_eq!(
            whats("crates/lab/src/a.rs", "// mktodo!( is a word in a comment: todo!(\nlet a = \"dbg!(\";"),
            [""; 0]
        );
    }

    #[test]
    fn bytes_have_one_name() {
        let text = concat!("a\nthree Oct", "ets of it\nlet a = ip.oct", "ets();\n");
        let problems = second_word_for_bytes("docs/A.md", text);
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2]);
        assert_eq!(second_word_for_bytes("docs/A.md", "bytes"), []);
    }

    #[test]
    fn prose_that_has_a_standard_term_is_found_in_sentences_and_names() {
        for (text, line) in [
            (concat!("a\nthe application is to", "ld so"), 2),
            (concat!("fn it_is_to", "ld_once() {}"), 1),
            (concat!("const TO", "LD: usize = 5;"), 1),
            (concat!("Failure::To", "ld"), 1),
            (concat!("a\n\nNo", "body's connection"), 3),
            (concat!("PortOfNo", "body"), 1),
            (concat!("a loop that runs for e", "ver"), 1),
            (concat!("// it stays open for\n// e", "ver"), 1),
            (concat!("fn asked_for_e", "ver() {}"), 1),
            (concat!("what was let g", "o"), 1),
            (concat!("a cork that lets g", "o"), 1),
            (concat!("self.let_g", "o(socket)"), 1),
        ] {
            let lines: Vec<usize> = translated_prose("docs/A.md", text).iter().map(|problem| problem.line).collect();
            assert_eq!(lines, [line], "{text}");
        }
        let named = concat!("crates/drill/scripts/queues_are_to", "ld.pkt");
        assert_eq!(translated_prose(named, "").len(), 1);
    }

    #[test]
    fn parts_of_other_words_are_not_found() {
        for text in [
            "for every listener",
            "TCP's threefold",
            "outlets gone",
            "let goal = 1;",
            "for a server",
            "lets it",
            "let g = o",
        ] {
            assert_eq!(translated_prose("docs/A.md", text), [], "{text}");
        }
    }

    #[test]
    fn a_machine_path_is_found_with_its_line() {
        let problems = machine_paths("docs/A.md", concat!("a\nsee /wo", "rk/main\n"));
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].line, 2);
        assert_eq!(machine_paths("docs/A.md", "network/path, docs/work.md"), []);
    }
}
