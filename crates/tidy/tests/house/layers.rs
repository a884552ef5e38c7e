//! Dependency directions and libraries, as `cargo metadata` reports them.

use cargo_metadata::{DependencyKind, MetadataCommand};
use longhaul_tidy::rules::layers::{Edge, Layers, check, unexplained};
use longhaul_tidy::{report, repository_root};

fn edges(wanted: impl Fn(DependencyKind) -> bool) -> Vec<Edge> {
    let root = repository_root();
    let metadata = MetadataCommand::new().current_dir(&root).no_deps().exec().expect("cargo describes this workspace");
    let mut edges = Vec::new();
    for package in &metadata.packages {
        let directory = package.manifest_path.parent().expect("a manifest lies in a directory");
        let Ok(from) = directory.strip_prefix(root.join("crates")) else { continue };
        for dependency in package.dependencies.iter().filter(|dependency| wanted(dependency.kind)) {
            let ours = dependency.path.as_ref().and_then(|path| path.file_name());
            let to = ours.unwrap_or(&dependency.name).to_owned();
            edges.push(Edge { from: from.to_string(), to, ours: ours.is_some() });
        }
    }
    assert!(edges.len() > 20, "cargo metadata named only {} dependencies", edges.len());
    edges
}

/// The directories under `crates/`, whether or not they depend on anything.
fn crates() -> Vec<String> {
    let entries = std::fs::read_dir(repository_root().join("crates")).expect("there are crates");
    let directories =
        entries.map(|entry| entry.expect("it can be read")).filter(|entry| entry.path().join("Cargo.toml").is_file());
    directories.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(repository_root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Only normal dependencies: tests may use what they like.
#[test]
fn crates_depend_only_downward() {
    let layers = Layers::read(&page("docs/ARCHITECTURE.md"));
    report(&check(&layers, &crates(), &edges(|kind| kind == DependencyKind::Normal)));
}

#[test]
fn every_library_is_explained() {
    report(&unexplained(&edges(|_| true), &page("docs/DEPENDENCIES.md")));
}
