//! `cargo xtask stamp`: the file of behaviour stamps, and the marks of pages whose numbers were measured by hand.
//!
//! What a stamp is stands in `crates/lab/src/stamp.rs`; that a page is not older than its behaviour is a rule of tidy's.

use crate::runner::{Failure, Outcome, capture, cargo, root};
use std::fs;
use tidy::rules::pages::{STAMPS, mark, stamps};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Write the file.
    Write,
    /// Fail when it is out of date.
    Check,
    /// Write the file, and today's stamps into the marks of these pages: their numbers have been measured again.
    Pages(Vec<String>),
}

/// Does it, and prints the stamps.
pub fn run(what: &What) -> Outcome {
    let output = capture(&mut cargo(&["run", "--quiet", "--package", "longhaul-lab", "--example", "stamp"]))?;
    let today = String::from_utf8(output).map_err(|_| Failure::Failed("stamps are text".to_owned()))?;
    today.lines().filter(|line| !line.starts_with('#')).for_each(|line| println!("{line}"));
    let path = root().join(STAMPS);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let moved = moved(&committed, &today);
    if !moved.is_empty() {
        eprintln!("── moved: {}", moved.join(", "));
    }
    if *what == What::Check && committed != today {
        return Err(Failure::Failed(format!("{STAMPS} is out of date; `cargo xtask stamp` writes it")));
    }
    if committed != today {
        fs::write(&path, &today).map_err(|error| Failure::Failed(format!("{STAMPS}: {error}")))?;
    }
    let What::Pages(pages) = what else { return Ok(()) };
    pages.iter().try_for_each(|page| renew(page, &today))
}

/// Profiles and devices whose stamp is another one, or was not there.
fn moved<'a>(committed: &str, today: &'a str) -> Vec<&'a str> {
    let before = stamps(committed);
    stamps(today).into_iter().filter(|(name, stamp)| before.get(name) != Some(stamp)).map(|(name, _)| name).collect()
}

fn renew(page: &str, today: &str) -> Outcome {
    let wrong = |what: &str| Failure::Failed(format!("{page}: {what}"));
    let path = root().join(page);
    let text = fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
    let renewed = renewed(&text, today).map_err(|what| wrong(&what))?;
    fs::write(&path, renewed).map_err(|error| wrong(&error.to_string()))
}

/// The page with today's stamps in the place of those that its mark names.
fn renewed(page: &str, today: &str) -> Result<String, String> {
    let place = mark(page).ok_or_else(|| {
        "it has no mark; write `<!-- behaviour: PROFILE/DEVICE= … -->` with the profiles whose numbers it shows"
            .to_owned()
    })?;
    let today = stamps(today);
    let mut entries = String::from("\n");
    for name in stamps(&page[place.clone()]).into_keys() {
        let stamp = today.get(name).ok_or_else(|| format!("its mark names `{name}`, and {STAMPS} has no such line"))?;
        entries.push_str(&format!("{name}={stamp}\n"));
    }
    if entries.trim().is_empty() {
        return Err("its mark names no profile; write `PROFILE/DEVICE=` for each".to_owned());
    }
    Ok(format!("{}{entries}{}", &page[..place.start], &page[place.end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: &str = "# about\nlinux/plain=1\nlinux/super=2\n";

    #[test]
    fn a_mark_is_renewed_entry_by_entry_and_the_rest_of_the_page_stays() {
        let page = "# P\n<!-- behaviour: linux/super=0 linux/plain= -->\ntext\n";
        assert_eq!(renewed(page, TODAY).unwrap(), "# P\n<!-- behaviour:\nlinux/plain=1\nlinux/super=2\n-->\ntext\n");
    }

    #[test]
    fn a_page_that_cannot_be_renewed_says_what_would_be_right() {
        assert!(renewed("# P\n", TODAY).unwrap_err().contains("it has no mark; write `<!-- behaviour:"));
        assert!(renewed("<!-- behaviour: -->", TODAY).unwrap_err().contains("names no profile"));
        assert!(renewed("<!-- behaviour: x/plain=1 -->", TODAY).unwrap_err().contains("`x/plain`"));
    }

    #[test]
    fn what_moved_is_named() {
        assert_eq!(moved(TODAY, TODAY), [""; 0]);
        assert_eq!(moved("linux/plain=9\n", TODAY), ["linux/plain", "linux/super"]);
    }
}
