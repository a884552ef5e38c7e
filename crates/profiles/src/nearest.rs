//! "Did you mean": the known word closest to a mistyped one.

/// Returns the word of `known` with the fewest single-letter edits from `text`, unless even that one is too different.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_ascii_lowercase();
    let best =
        known.into_iter().map(|word| (distance(&lower, &word.to_ascii_lowercase()), word)).min_by_key(|d| d.0)?;
    let tolerated = (text.chars().count().max(best.1.chars().count()) / 2).max(1);
    (best.0 <= tolerated).then_some(best.1)
}

/// Insertions, deletions and replacements between two words (V. Levenshtein, 1965), one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("", "", 0)]
    #[test_case("abc", "", 3)]
    #[test_case("kitten", "sitting", 3)]
    #[test_case("path.rtt", "path.rt", 1)]
    fn distance_of(a: &str, b: &str, expected: usize) {
        assert_eq!(distance(a, b), expected);
        assert_eq!(distance(b, a), expected);
    }

    #[test]
    fn a_typing_error_finds_its_word_and_a_different_word_finds_none() {
        let known = ["path.rtt", "path.rate", "flow.bytes"];
        assert_eq!(nearest("path.RT", known), Some("path.rtt"));
        assert_eq!(nearest("flow.byte", known), Some("flow.bytes"));
        assert_eq!(nearest("zzzzzzzzzz", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
