//! What a run of mutants comes to, against the list of accepted survivors.
//!
//! A mutant is known by its file, its change and its function: cargo-mutants' own words without line and column. Several may
//! bear the same name; the list then names it as often.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What became of each mutant, in the words of cargo-mutants.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub caught: Vec<String>,
    pub missed: Vec<String>,
    /// The tests did not end, which a planted defect may cause as well as it may fail them.
    pub timeout: Vec<String>,
    /// They do not compile.
    pub unviable: Vec<String>,
}

/// An accepted survivor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub name: String,
    pub reason: String,
}

/// What is printed, and how many mutants somebody has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub text: String,
    pub problems: usize,
}

/// Reads the list: a line for each mutant, and its reason indented below. Lines with `#` are comments. An error is the number
/// of a line without its counterpart.
pub fn kept(list: &str) -> Result<Vec<Kept>, usize> {
    let mut all: Vec<Kept> = Vec::new();
    let mut last = 0;
    for (index, line) in list.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("    "), all.last_mut()) {
            (None, Some(open)) if open.reason.is_empty() => return Err(last),
            (None, _) => all.push(Kept { name: line.to_owned(), reason: String::new() }),
            (Some(reason), Some(open)) if open.reason.is_empty() => open.reason = reason.to_owned(),
            (Some(reason), Some(open)) => open.reason = format!("{} {reason}", open.reason),
            (Some(_), None) => return Err(index + 1),
        }
        last = index + 1;
    }
    if all.last().is_some_and(|open| open.reason.is_empty()) { Err(last) } else { Ok(all) }
}

/// `all` are the mutants that there are, a line each, whether or not this run tried them.
pub fn judge(packages: &[String], found: &Found, all: &str, listed: &[Kept]) -> Verdict {
    let mut text = String::new();
    for package in packages {
        let _ = writeln!(text, "{}", row(package, found));
    }
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kept in listed.iter().filter(|kept| packages.iter().any(|package| is_of(package, &kept.name))) {
        reasons.entry(&kept.name).or_default().push(&kept.reason);
    }
    let mut survivors = Vec::new();
    for missed in &found.missed {
        match reasons.get_mut(name(missed).as_str()).and_then(Vec::pop) {
            Some(reason) => _ = writeln!(text, "accepted: {missed}\n    {reason}"),
            None => survivors.push(format!("survives: {missed}")),
        }
    }
    for (name, left) in reasons.iter().filter(|(_, left)| !left.is_empty()) {
        let (exist, caught) = (count(all.lines(), name), count(found.caught.iter().map(String::as_str), name));
        let listed = listed.iter().filter(|kept| kept.name == *name).count();
        if listed > exist {
            survivors.push(format!("listed, but does not exist: {name}"));
        } else if caught + left.len() > exist {
            survivors.push(format!("listed, but caught: {name}"));
        }
    }
    for survivor in &survivors {
        let _ = writeln!(text, "{survivor}");
    }
    Verdict { text, problems: survivors.len() }
}

fn row(package: &str, found: &Found) -> String {
    let [caught, missed, timeout, unviable] = [&found.caught, &found.missed, &found.timeout, &found.unviable]
        .map(|mutants| mutants.iter().filter(|mutant| is_of(package, mutant)).count());
    let (killed, judged) = (caught + timeout, caught + timeout + missed);
    // Rounded down, so that only a run without survivors shows 100.
    let permille = (killed * 1000).checked_div(judged).unwrap_or(1000);
    format!(
        "{package}: {} mutants, {caught} caught, {timeout} without end, {missed} missed, {unviable} do not compile; \
         {}.{} % of those that do are caught",
        judged + unviable,
        permille / 10,
        permille % 10
    )
}

fn is_of(package: &str, mutant: &str) -> bool {
    mutant.strip_prefix("crates/").and_then(|rest| rest.strip_prefix(package)).is_some_and(|rest| rest.starts_with('/'))
}

fn count<'l>(lines: impl Iterator<Item = &'l str>, wanted: &str) -> usize {
    lines.filter(|line| name(line) == wanted).count()
}

/// A mutant's name: its line without line and column.
fn name(line: &str) -> String {
    let Some((path, change)) = line.split_once(": ") else { return line.to_owned() };
    let file = path.split(':').next().unwrap_or(path);
    format!("{file}: {change}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
# A comment.

crates/cc/src/a.rs: replace < with <= in f
    Nothing is equal
    here.
crates/cc/src/a.rs: replace + with - in g
    Zero is added.
";

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn verdict(caught: &[&str], missed: &[&str]) -> Verdict {
        let found = Found {
            caught: lines(caught),
            missed: lines(missed),
            timeout: lines(&["crates/cc/src/b.rs:9:9: replace h with ()"]),
            unviable: lines(&["crates/tcp/src/c.rs:1:1: replace i with ()"]),
        };
        let all = "crates/cc/src/a.rs:1:2: replace < with <= in f\ncrates/cc/src/a.rs:3:4: replace + with - in g\n";
        judge(&["cc".to_owned()], &found, all, &kept(LIST).unwrap())
    }

    #[test]
    fn a_survivor_has_a_reason_which_may_run_on() {
        let listed = kept(LIST).unwrap();
        assert_eq!(listed.len(), 2);
        assert_eq!(listed[0].reason, "Nothing is equal here.");
        assert_eq!(kept("a\nb\n    c\n"), Err(1));
        assert_eq!(kept("a\n    b\n\nc\n"), Err(4));
        assert_eq!(kept("    b\n"), Err(1));
    }

    #[test]
    fn accepted_survivors_are_printed_with_their_reason_and_fail_nothing() {
        let got = verdict(
            &[],
            &["crates/cc/src/a.rs:77:1: replace < with <= in f", "crates/cc/src/a.rs:3:4: replace + with - in g"],
        );
        assert_eq!(got.problems, 0);
        assert!(got.text.contains("77:1: replace < with <= in f\n    Nothing is equal here.\n"), "{}", got.text);
        assert!(
            got.text.starts_with("cc: 3 mutants, 0 caught, 1 without end, 2 missed, 0 do not compile; 33.3 %"),
            "{}",
            got.text
        );
    }

    #[test]
    fn others_fail_and_so_does_a_second_of_the_same_name() {
        let line = "crates/cc/src/a.rs:1:2: replace < with <= in f";
        let got = verdict(&[], &[line, line, "crates/cc/src/z.rs:1:1: replace j with ()"]);
        assert_eq!(got.problems, 2);
        assert!(
            got.text.contains(&format!("survives: {line}\nsurvives: crates/cc/src/z.rs:1:1: replace j")),
            "{}",
            got.text
        );
    }

    #[test]
    fn what_is_listed_without_need_is_named() {
        let got = verdict(&["crates/cc/src/a.rs:3:4: replace + with - in g"], &[]);
        assert_eq!(got.problems, 1);
        assert!(got.text.ends_with("listed, but caught: crates/cc/src/a.rs: replace + with - in g\n"), "{}", got.text);
        let gone = judge(&["cc".to_owned()], &Found::default(), "", &kept(LIST).unwrap());
        assert_eq!(gone.text.matches("listed, but does not exist: ").count(), 2);
        let others = judge(&["recovery".to_owned()], &Found::default(), "", &kept(LIST).unwrap());
        assert_eq!(others.problems, 0, "of a package that was not asked for nothing is known");
    }
}
