//! Reads `specs/rfc*.md`: a heading is an anchor, a bullet a requirement.

use crate::runner::Failure;
use std::fs;
use std::path::Path;

/// How binding a requirement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The RFC's MUST.
    Must,
    /// A part of the RFC's algorithm that has no such word.
    Step,
    /// The RFC's SHOULD.
    Should,
    /// The RFC's MAY.
    May,
}

impl Level {
    /// All of them, the most binding first.
    pub const ALL: [Self; 4] = [Self::Must, Self::Step, Self::Should, Self::May];

    /// As the specifications write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Step => "STEP",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }

    /// Whether the level leaves no choice.
    pub const fn is_binding(self) -> bool {
        matches!(self, Self::Must | Self::Step)
    }
}

/// One sentence of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The heading it stands under, as annotations name it.
    pub anchor: String,
    /// How binding it is.
    pub level: Level,
    /// Where the RFC says it: `§7.3`.
    pub section: String,
    /// Ours.
    pub sentence: String,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    /// From the repository's root: `specs/rfc8985.md`.
    pub path: String,
    /// The first heading: `RFC 8985: RACK-TLP`.
    pub title: String,
    /// In the order of the file.
    pub requirements: Vec<Requirement>,
}

/// All specifications, by number.
pub fn read_all(root: &Path) -> Result<Vec<Specification>, Failure> {
    let directory = root.join("specs");
    let mut names: Vec<String> = fs::read_dir(&directory)
        .map_err(|error| Failure::Failed(format!("specs: {error}")))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("rfc") && name.ends_with(".md"))
        .collect();
    names.sort();
    let read = |name: &String| {
        let path = format!("specs/{name}");
        let text = fs::read_to_string(directory.join(name)).map_err(|error| error.to_string());
        text.and_then(|text| parse(&path, &text)).map_err(|error| Failure::Failed(format!("{path}: {error}")))
    };
    names.iter().map(read).collect()
}

/// The error names the line that is wrong.
fn parse(path: &str, text: &str) -> Result<Specification, String> {
    let mut spec = Specification { path: path.to_owned(), title: String::new(), requirements: Vec::new() };
    let mut anchor = String::new();
    let mut open = false; // Whether an indented line continues the last bullet.
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: &str| format!("line {number}: {what}: `{line}`");
        if let Some(title) = line.strip_prefix("# ") {
            title.clone_into(&mut spec.title);
        } else if let Some(heading) = line.strip_prefix("## ") {
            anchor = slug(heading).ok_or_else(|| wrong("a heading has letters, digits, spaces and hyphens only"))?;
        } else if let Some(bullet) = line.strip_prefix("* ") {
            let bullet = parse_bullet(bullet).ok_or_else(|| wrong("right would be `* **MUST** §1.2: Sentence.`"))?;
            spec.requirements.push(Requirement { anchor: anchor.clone(), ..bullet });
        } else if let Some((last, more)) = spec.requirements.last_mut().filter(|_| open).zip(line.strip_prefix("  ")) {
            last.sentence.push(' ');
            last.sentence.push_str(more.trim());
        }
        open = line.starts_with("* ") || (open && line.starts_with("  "));
    }
    check(&spec)?;
    Ok(spec)
}

/// `**MUST** §1.2: Sentence.`, without its anchor.
fn parse_bullet(text: &str) -> Option<Requirement> {
    let (level, rest) = text.strip_prefix("**")?.split_once("** ")?;
    let level = Level::ALL.into_iter().find(|known| known.name() == level)?;
    let (section, sentence) = rest.split_once(": ").filter(|(section, _)| section.starts_with('§'))?;
    Some(Requirement {
        anchor: String::new(),
        level,
        section: section.to_owned(),
        sentence: sentence.trim().to_owned(),
    })
}

/// Quotes are searched in their section, so no sentence there may be a part of another.
fn check(spec: &Specification) -> Result<(), String> {
    for (index, one) in spec.requirements.iter().enumerate() {
        if one.anchor.is_empty() || !one.sentence.ends_with('.') {
            return Err(format!("a requirement is a sentence under a heading: `{}`", one.sentence));
        }
        let others = spec.requirements.iter().enumerate().filter(|(other, _)| *other != index);
        if others.into_iter().any(|(_, other)| other.anchor == one.anchor && other.sentence.contains(&one.sentence)) {
            return Err(format!("`{}` stands twice under one heading", one.sentence));
        }
    }
    Ok(())
}

/// The anchor of a heading, where all tools agree about it.
fn slug(heading: &str) -> Option<String> {
    let plain = heading.chars().all(|c| c == ' ' || c == '-' || c.is_ascii_alphanumeric());
    plain.then(|| heading.to_ascii_lowercase().replace(' ', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bullet_is_a_requirement_and_may_run_on() {
        let text = "# RFC 1: X\n\nProse.\n\n## On the way\n\n* **MUST** §1.2, step 3: It does\n  so.\n* **MAY** §2: Or not.\n\n  Prose.\n";
        let spec = parse("specs/rfc1.md", text).unwrap();
        assert_eq!(spec.title, "RFC 1: X");
        let expected = [(Level::Must, "§1.2, step 3", "It does so."), (Level::May, "§2", "Or not.")];
        let expected = expected.map(|(level, section, sentence)| Requirement {
            anchor: "on-the-way".into(),
            level,
            section: section.into(),
            sentence: sentence.into(),
        });
        assert_eq!(spec.requirements, expected);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| parse("specs/rfc1.md", text).unwrap_err();
        assert!(wrong("# T\n\n## A\n* **SHALL** §1: No.\n").starts_with("line 4: right would be"));
        assert!(wrong("## A\n* **MUST** 1: No.\n").contains("line 2"));
        assert!(wrong("## A: b\n").contains("letters, digits"));
        assert!(wrong("* **MUST** §1: Homeless.\n").contains("under a heading"));
        assert!(wrong("## A\n* **MUST** §1: Twice.\n* **MAY** §1: Twice.\n").contains("stands twice"));
    }
}
