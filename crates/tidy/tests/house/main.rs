//! The house rules, applied to the repository as it stands.
//!
//! Each failure names file and line, what is wrong, and what would be right. The rules themselves are tested in the
//! library beside this.

mod layers;

use longhaul_tidy::rules::{
    algorithms, changelog, circles, configs, documents, opening, pages, rooms, size, variants, words, writers,
};
use longhaul_tidy::{Problem, Source, report, rust_sources, text_files};

fn each(rule: impl Fn(&Source) -> Vec<Problem>) -> Vec<Problem> {
    let sources = rust_sources();
    assert!(sources.len() > 20, "the walk found only {} Rust files", sources.len());
    sources.iter().flat_map(rule).collect()
}

#[test]
fn files_and_functions_are_small() {
    report(&each(size::check));
}

#[test]
fn files_open_with_their_charter_and_roots_with_their_prohibitions() {
    report(&each(opening::check));
}

#[test]
fn files_of_a_crate_use_each_other_in_no_circle() {
    report(&circles::check(&rust_sources(), circles::WAITING));
}

#[test]
fn rooms_of_the_endpoint_keep_to_themselves() {
    report(&rooms::check(&rust_sources(), rooms::ROOMS));
}

#[test]
fn each_quantity_has_one_writer() {
    report(&writers::check(&rust_sources(), writers::QUANTITIES));
}

#[test]
fn words_stay_where_they_belong() {
    report(&each(words::check));
}

#[test]
fn configurations_hold_no_bool() {
    report(&each(configs::check));
}

#[test]
fn every_variant_has_its_header_and_its_two_tests() {
    let sources = rust_sources();
    let problems = sources.iter().filter(|source| variants::is_variant(&source.path)).flat_map(|variant| {
        let beside = variant.path.replace(".rs", "/");
        let tests: Vec<&Source> = sources.iter().filter(|source| source.path.starts_with(&beside)).collect();
        variants::check(variant, &tests)
    });
    report(&problems.collect::<Vec<_>>());
}

#[test]
fn what_speaks_of_a_variant_or_an_algorithm_outside_its_files_is_marked() {
    let files = text_files();
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let parts = variants::parts(paths.iter().copied());
    assert!(parts.iter().any(|part| matches!(part, variants::Part::Variant(_))));
    let marked = files.iter().filter(|(path, _)| variants::may_be_marked(path));
    let mut problems = algorithms::check(algorithms::ALGORITHMS, &paths);
    problems.extend(marked.flat_map(|(path, text)| variants::check_marks(path, text, &parts)));
    report(&problems);
}

#[test]
fn no_file_knows_a_machine() {
    let problems = text_files().into_iter().flat_map(|(path, text)| words::machine_paths(&path, &text));
    report(&problems.collect::<Vec<_>>());
}

#[test]
fn bytes_have_one_name() {
    let problems = text_files().into_iter().flat_map(|(path, text)| words::second_word_for_bytes(&path, &text));
    report(&problems.collect::<Vec<_>>());
}

#[test]
fn prose_uses_the_terms_of_the_field() {
    let problems = text_files().into_iter().flat_map(|(path, text)| words::translated_prose(&path, &text));
    report(&problems.collect::<Vec<_>>());
}

#[test]
fn the_changelog_has_room_for_the_next_entry() {
    let text = std::fs::read_to_string(longhaul_tidy::repository_root().join("CHANGELOG.md"))
        .expect("CHANGELOG.md is readable");
    report(&changelog::check("CHANGELOG.md", &text));
}

#[test]
fn no_measured_page_is_older_than_its_behaviour() {
    let read = |path: &str| {
        std::fs::read_to_string(longhaul_tidy::repository_root().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let stamps = read(pages::STAMPS);
    let today = pages::stamps(&stamps);
    assert!(!today.is_empty(), "{} has no stamps", pages::STAMPS);
    let check = |page: &pages::Page| pages::check(page, &read(page.path), &today, pages::OWED);
    report(&pages::PAGES.iter().flat_map(check).collect::<Vec<_>>());
}

#[test]
fn pages_are_short_and_their_links_lead_somewhere() {
    let files = text_files();
    let pages: Vec<(&str, &str)> =
        files.iter().filter(|(path, _)| path.ends_with(".md")).map(|(path, text)| (&**path, &**text)).collect();
    let exists = |path: &str| longhaul_tidy::repository_root().join(path).exists();
    let page = |wanted: &str| pages.iter().find(|(path, _)| *path == wanted).map(|(_, text)| *text);
    let problems = pages.iter().flat_map(|(path, text)| {
        let links = documents::links(path, text, exists, page);
        links.into_iter().chain(documents::length(path, text))
    });
    report(&problems.collect::<Vec<_>>());
}

#[test]
fn decisions_are_complete_and_in_their_index() {
    report(&documents::decisions(&text_files()));
}
