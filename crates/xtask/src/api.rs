//! `docs/api.txt`: the public interface of `longhaul`, and so of `longhaul-tokio` and what both show of others, a line for each
//! declaration, as rustdoc shows it. A line that goes or changes breaks programs; the file makes that part of a change's review. It
//! needs no network and no nightly toolchain: the lines are read from rustdoc's pages, whose form the pinned toolchain fixes.

use crate::args::DocsMode;
use crate::runner::{Failure, Outcome, cargo, root, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/api.txt";
/// The package, which is also its name in code.
const PACKAGE: &str = "longhaul";
const INTRODUCTION: &str = "\
# The public interface of the library, written by `cargo xtask api`. A line that goes or changes breaks programs: it
# needs a new version (the second number, before 1.0) and a line under `Changed` in CHANGELOG.md. A new line needs neither.
";
/// What encloses a declaration in rustdoc's pages.
const ENCLOSED: [(&str, &str); 4] = [
    ("<pre class=\"rust item-decl\"><code>", "</code></pre>"),
    ("<h3 class=\"code-header\">", "</h3>"),
    ("<h4 class=\"code-header\">", "</h4>"),
    ("<code>pub use ", "</code>"),
];
/// Where a page goes on with what every type has.
const GENERAL: &str = "id=\"blanket-implementations\"";

/// Writes the listing, or names the lines that differ.
pub fn list(mode: DocsMode) -> Outcome {
    let pages = root().join("target/doc").join(PACKAGE);
    // Pages of items that are gone stay there.
    let _ = fs::remove_dir_all(&pages);
    run(&mut cargo(&["doc", "--no-deps", "--quiet", "--all-features", "--lib", "--package", PACKAGE]))?;
    let mut lines = BTreeSet::new();
    read(&pages, PACKAGE, &mut lines)?;
    if lines.is_empty() {
        return Err(Failure::Failed("rustdoc's pages show no declaration: has their form changed?".to_owned()));
    }
    let path = root().join(PAGE);
    let old = fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeSet<_> = old.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    if known == lines {
        return Ok(());
    }
    known.difference(&lines).for_each(|gone| eprintln!("- {gone}"));
    lines.difference(&known).for_each(|new| eprintln!("+ {new}"));
    if mode == DocsMode::Check {
        return Err(Failure::Failed(format!("{PAGE} is out of date; `cargo xtask api` writes it")));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(&path, format!("{INTRODUCTION}{text}")).map_err(|error| Failure::Failed(format!("{PAGE}: {error}")))
}

/// Reads the pages of a folder and of those in it; `place` is its path in code.
fn read(folder: &Path, place: &str, lines: &mut BTreeSet<String>) -> Outcome {
    let failed = |error: std::io::Error| Failure::Failed(format!("{}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            read(&path, &format!("{place}::{stem}"), lines)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let page = fs::read_to_string(&path).map_err(failed)?;
            let item = stem.split_once('.').map_or(place.to_owned(), |(_, name)| format!("{place}::{name}"));
            let own = declarations(&page).into_iter().filter(|line| is_promise(line));
            lines.extend(own.map(|line| format!("{item}: {line}")));
        }
    }
    Ok(())
}

/// Returns the declarations of a page, as text.
fn declarations(page: &str) -> Vec<String> {
    let own = page.split(GENERAL).next().unwrap_or(page);
    let mut found = Vec::new();
    for (begin, end) in ENCLOSED {
        for rest in own.split(begin).skip(1) {
            let is_use = begin.ends_with("use ");
            let text = plain(rest.split(end).next().unwrap_or_default());
            found.push(if is_use { format!("pub use {text}") } else { text });
        }
    }
    found
}

/// Returns whether programs can rely on a declaration, and it says something: not what implements a trait, nor traits that every type has.
fn is_promise(line: &str) -> bool {
    let is_general = ["Freeze", "UnwindSafe", "UnsafeUnpin"].iter().any(|name| line.contains(&format!("{name} for ")));
    (line.starts_with("pub ") || line.starts_with("impl") && line.contains(" for ")) && !is_general
}

/// Returns the text of a piece of HTML, on one line.
fn plain(html: &str) -> String {
    let mut text = String::new();
    let mut pieces = html.split('<');
    text.push_str(pieces.next().unwrap_or_default());
    pieces.filter_map(|piece| piece.split_once('>')).for_each(|(_, behind)| text.push_str(behind));
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    for (name, sign) in signs {
        text = text.replace(name, sign);
    }
    text.replace('ⓘ', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_become_lines_and_what_every_type_has_is_left_out() {
        let page = "<pre class=\"rust item-decl\"><code>pub struct Batch {\n    <span>/* private */</span>\n}</code></pre>\
                    <h4 class=\"code-header\">pub fn <a href=\"#\">push</a>(&amp;mut self) -&gt; &amp;mut Packet</h4>\
                    <code>pub use longhaul_tokio::*;</code>\
                    <h2 id=\"blanket-implementations\"><h3 class=\"code-header\">impl&lt;T&gt; Any for T</h3>";
        let lines = ["pub struct Batch { /* private */ }", "pub fn push(&mut self) -> &mut Packet"];
        assert_eq!(declarations(page), [lines[0], lines[1], "pub use longhaul_tokio::*;"]);
    }

    #[test]
    fn what_a_trait_already_says_is_no_promise_of_its_own() {
        for promise in ["pub fn len(&self) -> usize", "impl Send for Batch", "impl<T> Stream for Packets<T>"] {
            assert!(is_promise(promise), "{promise}");
        }
        for other in ["fn drop(&mut self)", "impl Batch", "impl RefUnwindSafe for Batch", "impl Freeze for Batch"] {
            assert!(!is_promise(other), "{other}");
        }
    }
}
