//! A version that changes with the code that makes results: the package's, `+`, and a digest of the sources.
//!
//! Results on disk are found again by it (`log.rs`). The digest is of file names and contents alone, so that it is the same
//! on every machine and in every build; outside the workspace, where the sources of the other crates are not at hand, the
//! package's version has to do.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What decides about a result, given its configuration.
const CRATES: [&str; 10] = ["base", "cc", "lab", "netem", "profiles", "recovery", "sim", "tcp", "trace", "wire"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let package = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let crates = Path::new("..");
    let directories: Vec<PathBuf> = CRATES.iter().map(|name| crates.join(name).join("src")).collect();
    let version = if directories.iter().all(|directory| directory.is_dir()) {
        let mut files = Vec::new();
        for directory in &directories {
            println!("cargo::rerun-if-changed={}", directory.display());
            collect(directory, &mut files)?;
        }
        files.sort();
        format!("{package}+{:016x}", digest(&files)?)
    } else {
        package
    };
    println!("cargo::rustc-env=LONGHAUL_VERSION={version}");
    Ok(())
}

/// Reads results and makes none: its texts may change, and the results stay.
const READS_ONLY: &str = "headlines";

/// All Rust files below a directory that decide about results.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name == READS_ONLY) {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a over names and contents, each with its length before it.
fn digest(files: &[PathBuf]) -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut add = |octets: &[u8]| {
        for octet in (octets.len() as u64).to_le_bytes().iter().chain(octets) {
            hash = (hash ^ u64::from(*octet)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for file in files {
        let name: Vec<String> = file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        add(name.join("/").as_bytes());
        add(&fs::read(file)?);
    }
    Ok(hash)
}
