//! Who may call whom inside `tcp::endpoint`: its rooms own parts of a connection and know neither the endpoint nor the order of
//! things, which its own files give (docs/ARCHITECTURE.md).

use crate::modules::{Modules, Use};
use crate::shape::without_tests;
use crate::{Problem, Source};
use std::collections::BTreeSet;

/// The files that are parted.
const ENDPOINT: &str = "crates/tcp/src/endpoint/";

/// A directory below the endpoint's, or the file of that name.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Its name.
    pub name: &'static str,
    /// What it may use of the endpoint's files beside its own: `state` is that file, or that room, whole; `segment::Segment` one item of a file or a room.
    pub uses: &'static [&'static str],
}

/// The rooms.
pub const ROOMS: &[Room] = &[
    Room { name: "sender", uses: &["state", "segment::Segment", "life::UserTimeout", "path::ProbeNow"] },
    Room { name: "receiver", uses: &["state", "segment::Segment"] },
    Room { name: "life", uses: &["state"] },
    Room { name: "path", uses: &["state"] },
    // Only reads, and no room reads it.
    Room { name: "books", uses: &["state", "sender", "receiver", "life", "path"] },
];

/// Uses that the table does not allow, rooms that name the endpoint, and directories that are no room.
pub fn check(sources: &[Source], rooms: &[Room]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for found in Modules::of("tcp", sources).every_use() {
        let (Some(from), Some(to)) = (found.from.strip_prefix(ENDPOINT), found.to.strip_prefix(ENDPOINT)) else {
            continue;
        };
        let Some(room) = rooms.iter().find(|room| part(from) == room.name) else { continue };
        if part(to) != room.name && !is_allowed(room, part(to), &found.item) {
            problems.push(refused(room, &found));
        }
    }
    let inside = sources.iter().filter(|source| source.path.starts_with(ENDPOINT) && !source.is_test());
    let mut directories = BTreeSet::new();
    for source in inside {
        let path = &source.path[ENDPOINT.len()..];
        let is_room = rooms.iter().any(|room| room.name == part(path));
        if let Some(line) = line_with_endpoint(&without_tests(&source.code)).filter(|_| is_room) {
            let right = "values as arguments, and what crosses as a result";
            problems.push(Problem::new(&source.path, line, "a room names `Endpoint`", right));
        }
        if path.contains('/') && !is_room && directories.insert(part(path)) {
            let what = format!("the directory `{}` is not a room", part(path));
            problems.push(Problem::new(&source.path, 1, what, "a row in the table of tidy's rules/rooms.rs"));
        }
    }
    problems
}

/// `sender` of `sender/space.rs`, `life` of `life.rs`.
fn part(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or(path);
    first.strip_suffix(".rs").unwrap_or(first)
}

fn is_allowed(room: &Room, part: &str, item: &str) -> bool {
    room.uses.iter().any(|allowed| match allowed.split_once("::") {
        Some((file, only)) => file == part && only == item,
        None => *allowed == part,
    })
}

fn refused(room: &Room, found: &Use) -> Problem {
    let what = format!("`{}` uses `{}` of {}", room.name, found.item, found.to);
    let right = format!("one of {:?}, or the item moved into the room", room.uses);
    Problem::new(&found.from, found.line, what, right)
}

fn line_with_endpoint(code: &str) -> Option<usize> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    code.lines().zip(1..).find(|(line, _)| line.split(|c| !is_word(c)).any(|word| word == "Endpoint")).map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [Room; 2] =
        [Room { name: "sender", uses: &["state", "mod::Probing"] }, Room { name: "receiver", uses: &["state"] }];

    fn found(more: &[(&str, &str)]) -> Vec<String> {
        let shell = [
            ("../lib.rs", "mod endpoint;"),
            (
                "mod.rs",
                "mod ack;\nmod sender;\nmod receiver;\nmod state;\npub struct Endpoint;\npub struct Probing;\npub struct Origin;",
            ),
            ("ack.rs", "use super::Endpoint;\nuse super::sender::Sender;\npub struct Step;"),
            ("state.rs", "pub struct State;"),
            ("sender/mod.rs", "mod space;\npub use space::Space;\npub struct Sender;"),
            ("receiver/mod.rs", "pub struct Receiver;"),
        ];
        let source = |(path, text): &(&str, &str)| {
            let path = format!("{ENDPOINT}{path}").replace("endpoint/../", "");
            Source::new(path, *text)
        };
        check(&shell.iter().chain(more).map(source).collect::<Vec<_>>(), &TWO).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_room_uses_its_own_and_what_its_row_allows() {
        let space = "use super::super::{Probing, state::State};\nuse super::Sender;\npub struct Space;\n\
                     #[cfg(test)]\nmod tests { use crate::endpoint::Endpoint; }";
        assert_eq!(found(&[("sender/space.rs", space)]), [""; 0]);
    }

    #[test]
    fn a_room_uses_neither_order_nor_the_other_half_nor_more_of_a_file() {
        for (import, what) in [
            ("use super::super::ack::Step;", "`sender` uses `Step` of crates/tcp/src/endpoint/ack.rs"),
            (
                "use crate::endpoint::receiver::Receiver;",
                "`sender` uses `Receiver` of crates/tcp/src/endpoint/receiver/mod.rs",
            ),
            ("use crate::endpoint::Origin;", "`sender` uses `Origin` of crates/tcp/src/endpoint/mod.rs"),
            // The second use of a file that it may use for something else.
            ("use crate::endpoint::{Probing, Origin};", "`sender` uses `Origin` of crates/tcp/src/endpoint/mod.rs"),
        ] {
            let problems = found(&[("sender/space.rs", import)]);
            assert!(problems.len() == 1 && problems[0].contains(what), "{import}: {problems:?}");
        }
    }

    #[test]
    fn a_room_does_not_name_the_endpoint_even_where_no_import_shows_it() {
        let problems = found(&[("sender/space.rs", "pub struct Space;\nimpl<'a> From<&'a Endpoint> for Space {}")]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("crates/tcp/src/endpoint/sender/space.rs:2: a room names `Endpoint`"));
    }

    #[test]
    fn every_directory_is_a_room() {
        let problems = found(&[("attic/mod.rs", ""), ("attic/box.rs", ""), ("tests/box.rs", "")]);
        assert!(problems.len() == 1 && problems[0].contains("the directory `attic` is not a room"), "{problems:?}");
    }
}
