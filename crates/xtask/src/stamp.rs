//! `cargo xtask stamp`: the file of behaviour stamps, and the marks of pages whose numbers were measured by hand.
//!
//! Stamps are defined in `crates/lab/src/run/stamp.rs`; tidy checks that no page is older than its behaviour.

use crate::runner::{Failure, Outcome, capture, cargo, root};
use std::collections::BTreeMap;
use std::fs;
use tidy::rules::pages::{STAMPS, marks, stamps};

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Write the file.
    Write,
    /// Fail when it is out of date.
    Check,
    /// Write the file, and today's stamps into the marks of these pages: their numbers have been measured again. `FILE:N` is the
    /// page's Nth mark alone.
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

/// Profiles and devices whose stamp has changed or is new.
fn moved<'a>(committed: &str, today: &'a str) -> Vec<&'a str> {
    let before = stamps(committed);
    stamps(today).into_iter().filter(|(name, stamp)| before.get(name) != Some(stamp)).map(|(name, _)| name).collect()
}

fn renew(page: &str, today: &str) -> Outcome {
    let wrong = |what: &str| Failure::Failed(format!("{page}: {what}"));
    let (file, chosen) = match page.rsplit_once(':').map(|(file, number)| (file, number.parse())) {
        Some((file, Ok(number))) => (file, Some(number)),
        _ => (page, None),
    };
    let path = root().join(file);
    let text = fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
    let renewed = renewed(&text, chosen, today).map_err(|what| wrong(&what))?;
    fs::write(&path, renewed).map_err(|error| wrong(&error.to_string()))
}

/// The page with today's stamps in all its marks, or only in the mark of this number, counted from one.
fn renewed(page: &str, chosen: Option<usize>, today: &str) -> Result<String, String> {
    let marks = marks(page);
    if marks.is_empty() {
        return Err(
            "it has no mark; write `<!-- behaviour: PROFILE/DEVICE= … -->` with the profiles whose numbers it shows"
                .into(),
        );
    }
    if let Some(number) = chosen.filter(|number| !(1..=marks.len()).contains(number)) {
        return Err(format!("it has no mark {number}; its marks are 1 to {}", marks.len()));
    }
    let today = stamps(today);
    let mut text = String::new();
    let mut kept = 0;
    for (index, place) in marks.into_iter().enumerate() {
        if chosen.is_some_and(|number| number != index + 1) {
            continue;
        }
        text.push_str(&page[kept..place.start]);
        text.push_str(&entries(&page[place.clone()], &today)?);
        kept = place.end;
    }
    text.push_str(&page[kept..]);
    Ok(text)
}

/// Today's entries for the profiles named by a mark.
fn entries(mark: &str, today: &BTreeMap<&str, &str>) -> Result<String, String> {
    let mut entries = String::from("\n");
    for name in stamps(mark).into_keys() {
        let stamp = today.get(name).ok_or_else(|| format!("its mark names `{name}`, and {STAMPS} has no such line"))?;
        entries.push_str(&format!("{name}={stamp}\n"));
    }
    if entries.trim().is_empty() {
        return Err("its mark names no profile; write `PROFILE/DEVICE=` for each".to_owned());
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: &str = "# about\nlinux/plain=1\nlinux/super=2\n";

    #[test]
    fn a_mark_is_renewed_entry_by_entry_and_the_rest_of_the_page_stays() {
        let page = "# P\n<!-- behaviour: linux/super=0 linux/plain= -->\ntext\n";
        assert_eq!(
            renewed(page, None, TODAY).unwrap(),
            "# P\n<!-- behaviour:\nlinux/plain=1\nlinux/super=2\n-->\ntext\n"
        );
    }

    #[test]
    fn a_page_s_marks_are_renewed_all_or_one() {
        let page = "<!-- behaviour: linux/plain=0 -->\none\n<!-- behaviour: linux/super=0 -->\ntwo\n";
        let (one, two) = ("<!-- behaviour:\nlinux/plain=1\n-->\none\n", "<!-- behaviour:\nlinux/super=2\n-->\ntwo\n");
        assert_eq!(renewed(page, None, TODAY).unwrap(), format!("{one}{two}"));
        let second = renewed(page, Some(2), TODAY).unwrap();
        assert_eq!(second, format!("<!-- behaviour: linux/plain=0 -->\none\n{two}"));
        assert_eq!(renewed(page, Some(3), TODAY).unwrap_err(), "it has no mark 3; its marks are 1 to 2");
    }

    #[test]
    fn a_page_that_cannot_be_renewed_says_what_would_be_right() {
        assert!(renewed("# P\n", None, TODAY).unwrap_err().contains("it has no mark; write `<!-- behaviour:"));
        assert!(renewed("<!-- behaviour: -->", None, TODAY).unwrap_err().contains("names no profile"));
        assert!(renewed("<!-- behaviour: x/plain=1 -->", None, TODAY).unwrap_err().contains("`x/plain`"));
    }

    #[test]
    fn what_moved_is_named() {
        assert_eq!(moved(TODAY, TODAY), [""; 0]);
        assert_eq!(moved("linux/plain=9\n", TODAY), ["linux/plain", "linux/super"]);
    }
}
