//! One writer for each of the quantities that a connection turns on: only the file of its owner assigns it.
//!
//! A private field keeps other modules out, but not modules below the owner's, and nothing keeps a field from being made public.
//! So assignments are counted: `x.field = …`, with an operator before the `=` too, in a tuple, or by `&mut x.field`.

use crate::shape::{line_of, without_tests, words};
use crate::{Problem, Source};

/// One quantity.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// What the RFCs or the field call it.
    pub name: &'static str,
    /// Where other fields of the name would be meant for it.
    pub within: &'static str,
    /// The struct that owns it.
    pub owner: &'static str,
    /// The owner's field.
    pub field: &'static str,
}

/// The quantities.
pub const QUANTITIES: &[Quantity] = &[
    Quantity { name: "RTO base", within: "crates/tcp/src/", owner: "RecoverySide", field: "rto_base" },
    Quantity { name: "ACK due", within: "crates/tcp/src/endpoint/receiver", owner: "PendingAck", field: "due" },
    Quantity { name: "SND.NXT", within: "crates/tcp/src/", owner: "SendSpace", field: "nxt" },
    Quantity { name: "SND.WND", within: "crates/tcp/src/", owner: "SendSpace", field: "wnd" },
    Quantity { name: "cwnd", within: "crates/cc/src/", owner: "Window", field: "cwnd" },
];

/// Assignments outside of the owner's file, and rows that name no owner.
pub fn check(sources: &[Source], quantities: &[Quantity]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for quantity in quantities {
        let Quantity { name, within, owner, field } = quantity;
        let files: Vec<(&str, String)> = sources
            .iter()
            .filter(|source| source.path.starts_with(within) && !source.is_test())
            .map(|source| (source.path.as_str(), without_tests(&source.code)))
            .collect();
        let owners: Vec<(&str, usize)> =
            files.iter().filter_map(|(path, code)| Some((*path, private_field(code, owner, field)?))).collect();
        let [(home, declared)] = owners[..] else {
            let what =
                format!("{} files below {within} define `struct {owner}` with a private field `{field}`", owners.len());
            let right = format!("one, the owner of {name}, or another row in the table of this file");
            problems.push(Problem::new("crates/tidy/src/rules/writers.rs", 1, what, right));
            continue;
        };
        for (path, code) in &files {
            let lines = assignments(code, field);
            if *path == home && lines.is_empty() {
                let what = format!("nothing assigns `{field}` of `{owner}` ({name})");
                problems.push(Problem::new(home, declared, what, "its writer beside it"));
            }
            for line in lines.into_iter().filter(|_| *path != home) {
                let what = format!("`{field}` ({name}) is assigned here");
                problems.push(Problem::new(path, line, what, format!("a method of `{owner}` in {home}")));
            }
        }
    }
    problems
}

/// The line of a struct's field that is not public.
fn private_field(code: &str, owner: &str, field: &str) -> Option<usize> {
    let at = words(code, owner).find(|at| code[..*at].trim_end().ends_with("struct"))?;
    let open = at + code[at..].find(['{', ';']).filter(|open| code.as_bytes()[at + open] == b'{')?;
    let close = open + code[open..].find('}')?;
    let at = words(&code[..close], field).filter(|at| *at > open).find(|at| {
        let is_named = code[at + field.len()..].trim_start().starts_with(':');
        is_named && code[..*at].trim_end().ends_with(['{', ',', ']'])
    })?;
    Some(line_of(code, at))
}

/// The lines on which a field of some value is assigned.
fn assignments(code: &str, field: &str) -> Vec<usize> {
    let fields = words(code, field).filter(|at| code[..*at].trim_end().ends_with('.'));
    let assigned = fields.filter(|at| {
        let rest = code[at + field.len()..].trim_start();
        is_assigned(rest) || in_assigned_tuple(code, *at, rest) || is_lent(&code[..*at])
    });
    assigned.map(|at| line_of(code, at)).collect()
}

fn is_assigned(rest: &str) -> bool {
    let operator =
        ["<<", ">>", "+", "-", "*", "/", "%", "|", "&", "^"].into_iter().find_map(|op| rest.strip_prefix(op));
    let rest = operator.unwrap_or(rest);
    rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
}

/// `(a.field, b) = …`, which begins a statement.
fn in_assigned_tuple(code: &str, at: usize, rest: &str) -> bool {
    if !rest.starts_with([',', ')']) {
        return false;
    }
    let Some(open) = code[..at].rfind(leaves('(', ')')) else { return false };
    let close = code[at..].find(leaves(')', '(')).map(|end| at + end);
    let begins = code[..open].trim_end().ends_with([';', '{', '}']);
    begins && close.is_some_and(|close| is_assigned(code[close + 1..].trim_start()))
}

/// Holds for the first `outward` parenthesis that closes no `inward` one.
fn leaves(outward: char, inward: char) -> impl FnMut(char) -> bool {
    let mut depth = 0;
    move |c| {
        depth += i32::from(c == inward) - i32::from(c == outward);
        depth < 0
    }
}

/// `&mut a.b.field`: what stands before the field's name ends in the path to it, and that in `&mut`.
fn is_lent(before: &str) -> bool {
    let path = before.trim_end_matches(|c: char| c == '_' || c == '.' || c.is_alphanumeric());
    path.trim_end().ends_with("&mut") && path.len() < before.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NXT: Quantity = Quantity { name: "SND.NXT", within: "crates/tcp/src/", owner: "Space", field: "nxt" };
    const HOME: &str =
        "pub struct Space {\n    pub una: u32,\n    nxt: u32,\n}\nimpl Space { fn a(&mut self) { self.nxt += 1 } }";

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("crates/tcp/src/{path}"), *text)).collect();
        check(&sources, &[NXT]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_owner_assigns_and_others_read() {
        let reads =
            "fn a(s: &Space) -> bool { s.nxt == 1 || s.nxt >= 2 || matches!(s.nxt, 3) || (s.nxt, 1) == (2, 1) }";
        let others = "fn b(t: &mut Other) { t.nxt_ack = 1; let nxt = t.nxt; match t.nxt { 1 => nxt, _ => 2 }; }";
        let tests = "#[cfg(test)]\nmod tests { fn a(s: &mut Space) { s.nxt = 1; } }";
        let files = [("space.rs", HOME), ("reads.rs", reads), ("others.rs", others), ("a.rs", tests)];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn every_way_of_assigning_elsewhere_is_found() {
        let ways = [
            "s.nxt = 1;",
            "s.a.nxt\n= 1;",
            "s.nxt <<= 1;",
            "s.nxt |= 1;",
            "(s.una, s.nxt) = (1, 2);",
            "set(&mut s.nxt);",
        ];
        for way in ways {
            let text = format!("fn a(s: &mut Space) {{\n{way}\n}}");
            let problems = found(&[("space.rs", HOME), ("space/child.rs", &text)]);
            assert_eq!(problems.len(), 1, "{way}: {problems:?}");
            let expected = "crates/tcp/src/space/child.rs:2: `nxt` (SND.NXT) is assigned here";
            assert!(problems[0].starts_with(expected), "{}", problems[0]);
        }
    }

    #[test]
    fn the_owner_is_one_struct_with_a_private_field_that_it_writes() {
        assert!(found(&[("a.rs", "")])[0].contains("0 files below crates/tcp/src/ define `struct Space`"));
        let public = HOME.replace("    nxt", "    pub(super) nxt");
        assert!(found(&[("space.rs", &public)])[0].contains("0 files"));
        assert!(found(&[("space.rs", HOME), ("twin.rs", HOME)])[0].contains("2 files"));
        let idle = HOME.replace("self.nxt += 1", "self.una += 1");
        assert!(found(&[("space.rs", &idle)])[0].contains("nothing assigns `nxt` of `Space`"));
    }
}
