//! Marks on lines about a variant, or about an algorithm that can be deleted, outside its own files: deleting the variant or
//! algorithm means deleting the marked lines. Both kinds have the same mark, and a name stands for one of them.
//!
//! A mark is a comment: after a line of code it marks that line, and two on their own lines, with an opening and a closing brace
//! after the name, mark the lines between them. In TOML the comment begins with `#`.

use crate::mask::is_word;

/// Introduces a mark, after the sign of a comment.
const INTRODUCTIONS: [&str; 2] = ["// variant: ", "# variant: "];

/// Part of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark<'t> {
    Line(&'t str),
    Opens(&'t str),
    Closes(&'t str),
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let (at, introduction) = INTRODUCTIONS.iter().filter_map(|text| Some((line.rfind(text)?, *text))).max()?;
    let mut words = line[at + introduction.len()..].split_whitespace();
    let name = words.next().filter(|name| name.bytes().all(is_word))?;
    let alone = line[..at].trim().is_empty();
    match (words.next(), words.next()) {
        (None, _) => Some(Mark::Line(name)),
        (Some("{"), None) if alone => Some(Mark::Opens(name)),
        (Some("}"), None) if alone => Some(Mark::Closes(name)),
        _ => None,
    }
}

/// The variant that each line belongs to.
///
/// # Errors
/// For a mark that opens inside another, or has no partner: its line, from 1, and the problem.
pub fn owners(text: &str) -> Result<Vec<Option<&str>>, (usize, String)> {
    let mut owners = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let inside = open.map(|(_, name)| name);
        let owner = match (mark(line), inside) {
            (Some(Mark::Line(name)), None) => Some(name),
            (Some(Mark::Opens(name)), None) => {
                open = Some((number, name));
                Some(name)
            }
            (Some(Mark::Closes(name)), Some(opened)) if name == opened => {
                open = None;
                Some(name)
            }
            (Some(Mark::Closes(name)), _) => return Err((number, format!("`{name}` is closed and was not opened"))),
            (Some(Mark::Opens(name)), Some(outer)) => {
                return Err((number, format!("`{name}` is opened inside `{outer}`")));
            }
            (None | Some(Mark::Line(_)), _) => inside,
        };
        owners.push(owner);
    }
    match open {
        None => Ok(owners),
        Some((number, name)) => Err((number, format!("`{name}` is opened and not closed"))),
    }
}

/// Returns the text without the lines of `variant`, and the number of removed lines.
///
/// # Errors
/// As [`owners`].
pub fn without(text: &str, variant: &str) -> Result<(String, usize), (usize, String)> {
    let owners = owners(text)?;
    let mut kept = String::with_capacity(text.len());
    let mut deleted = 0;
    for (line, owner) in text.split_inclusive('\n').zip(owners) {
        if owner == Some(variant) {
            deleted += 1;
        } else {
            kept.push_str(line);
        }
    }
    Ok((kept, deleted))
}

/// Returns the lines, from 1, that mention the variant or algorithm `name` without its mark.
///
/// # Errors
/// As [`owners`].
pub fn unmarked(text: &str, name: &str, speaks: impl Fn(&str) -> bool) -> Result<Vec<usize>, (usize, String)> {
    let lines = (1..).zip(text.lines().zip(owners(text)?));
    Ok(lines.filter(|(_, (line, owner))| *owner != Some(name) && speaks(line)).map(|(number, _)| number).collect())
}

/// `a_variant`, `AVariant`, `A_VARIANT`.
pub fn spellings(variant: &str) -> [String; 3] {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    [variant.to_owned(), variant.split('_').map(capital).collect(), variant.to_uppercase()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule also reads this file: here the sign of a mark is `%`.
    fn text(lines: &str) -> String {
        lines.replace('%', "// variant:")
    }

    #[test]
    fn a_line_and_a_stretch_are_marked_and_prose_is_not() {
        let marked = text("a\nb, % ring\n  % ring {\nc\n  % ring }\nd // a variant: one\n% is not\ne % other\n");
        let owners = owners(&marked).unwrap();
        assert_eq!(owners, [None, Some("ring"), Some("ring"), Some("ring"), Some("ring"), None, None, Some("other")]);
    }

    #[test]
    fn in_toml_the_comment_has_another_sign() {
        let text = "a = 1\nb = \"ring\" # variant: ring".to_owned();
        assert_eq!(without(&text, "ring"), Ok(("a = 1\n".to_owned(), 1)));
    }

    #[test]
    fn only_what_belongs_to_the_variant_goes() {
        let marked = text("a\nb % ring\n% rung {\nc\n% rung }\nd");
        assert_eq!(without(&marked, "rung"), Ok((text("a\nb % ring\nd"), 3)));
        assert_eq!(without(&marked, "rang"), Ok((marked.clone(), 0)));
    }

    #[test]
    fn marks_come_in_pairs_and_not_inside_one_another() {
        let wrong = |lines| owners(&text(lines)).unwrap_err();
        assert_eq!(wrong("% ring {\n"), (1, "`ring` is opened and not closed".to_owned()));
        assert_eq!(wrong("a\n% ring }\n"), (2, "`ring` is closed and was not opened".to_owned()));
        assert_eq!(wrong("% ring {\n% rung {\n"), (2, "`rung` is opened inside `ring`".to_owned()));
        assert_eq!(wrong("% ring {\n% rung }\n"), (2, "`rung` is closed and was not opened".to_owned()));
    }

    #[test]
    fn every_spelling_is_heard() {
        let marked = text("use a_ring;\nARing::new()\nA_RING\na ring\nARingConfig % a_ring\n% b {\na_ring\n% b }\n");
        let speaks = |line: &str| spellings("a_ring").iter().any(|spelling| line.contains(spelling));
        assert_eq!(unmarked(&marked, "a_ring", speaks), Ok(vec![1, 2, 3, 7]));
    }
}
