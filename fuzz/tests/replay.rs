//! Runs every stored input through its target, and checks that the parser's seeds are what their names say.

use longhaul_fuzz::TARGETS;
use std::fs;
use std::path::{Path, PathBuf};
use wire::Malformed;

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Names and contents below `corpus/<target>`, ordered by name.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let directory = corpora().join(target);
    let entries = fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.expect("the directory is readable"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_kept_input_passes_its_target() {
    for (name, target) in TARGETS {
        let inputs = inputs(name);
        assert!(!inputs.is_empty(), "corpus/{name} has no input");
        for (file, bytes) in inputs {
            println!("corpus/{name}/{file}");
            target(&bytes);
        }
    }
}

#[test]
fn every_corpus_has_a_target() {
    for entry in fs::read_dir(corpora()).expect("the corpora are readable").flatten() {
        let name = entry.file_name();
        assert!(TARGETS.iter().any(|(target, _)| name == *target), "corpus/{} belongs to no target", name.display());
    }
}

#[test]
fn every_target_has_a_program() {
    for (name, _) in TARGETS {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fuzz_targets/{name}.rs"));
        let text = fs::read_to_string(&program).unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        assert!(text.contains(&format!("longhaul_fuzz::{name}(")), "{} runs another target", program.display());
    }
}

/// A seed is named `<verdict>-<what>.bin`, where the verdict is `ok` or the name of the malformation; an input added by a fuzzer
/// has a name without a dot and makes no claim.
#[test]
fn the_seeds_of_the_parser_are_what_their_names_say() {
    let mut verdicts = Vec::new();
    for (file, bytes) in inputs("wire_parse").into_iter().filter(|(file, _)| file.ends_with(".bin")) {
        let verdict = match wire::split(&bytes).and_then(|cut| cut.header.parse(cut.payload.len() as u32)) {
            Ok(_) => "ok",
            Err(reason) => reason.name(),
        };
        assert_eq!(file.split('-').next(), Some(verdict), "corpus/wire_parse/{file}");
        verdicts.push(verdict);
    }
    for reason in ALL {
        assert!(verdicts.contains(&reason.name()), "no seed is refused as {reason}");
    }
}

const ALL: [Malformed; 10] = [
    Malformed::Truncated,
    Malformed::IpVersion,
    Malformed::IpHeaderLength,
    Malformed::IpLength,
    Malformed::IpChecksum,
    Malformed::Fragment,
    Malformed::NotTcp,
    Malformed::TcpHeaderLength,
    Malformed::OptionLength,
    Malformed::ZeroPort,
];
