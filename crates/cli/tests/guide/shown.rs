//! Compares what a page shows with a command's output: line by line, where `…` stands for lines, or for a part of a line.

const LEFT_OUT: &str = "…";

/// Returns whether `printed` matches `shown`.
pub fn is_of(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((&LEFT_OUT, after)), _) => (0..=printed.len()).any(|skipped| is_of(after, &printed[skipped..])),
        (Some((first, after)), Some((line, rest))) => line_is_of(first, line) && is_of(after, rest),
        (Some(_), None) => false,
    }
}

/// Returns a line of words alone, as the head of a table, that is shown and not printed, whatever the space between its words.
pub fn missing_head<'s>(shown: &[&'s str], printed: &[&str]) -> Option<&'s str> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let of_words =
        |line: &&&str| line.contains(char::is_alphabetic) && !line.contains(|c: char| c.is_ascii_digit() || c == '…');
    let heads = shown.iter().filter(of_words);
    heads.copied().find(|head| !printed.iter().any(|line| words(line) == words(head)))
}

fn line_is_of(shown: &str, printed: &str) -> bool {
    let Some((before, after)) = shown.split_once(LEFT_OUT) else { return shown == printed };
    let Some(rest) = printed.strip_prefix(before) else { return false };
    let starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    starts.into_iter().any(|at| line_is_of(after, &rest[at..]))
}

#[test]
fn what_is_left_out_may_be_anything_and_the_rest_is_as_printed() {
    let printed = ["a", "b 1 c", "", "d"];
    for shown in
        [&["a", "b 1 c", "", "d"][..], &["…"], &["a", "…"], &["…", "d", "…"], &["a", "b … c", "…"], &["…", "…"]]
    {
        assert!(is_of(shown, &printed), "{shown:?}");
    }
    for shown in [&[][..], &["a"], &["…", "b"], &["b 1 c", "…"], &["a", "b … d", "…"], &["a", "b 1 c", "d"]] {
        assert!(!is_of(shown, &printed), "{shown:?}");
    }
}

#[test]
fn a_table_of_other_numbers_has_the_same_head() {
    let shown = ["…", "arm   Mbit/s", "─────", "linux   12.5", "…"];
    assert_eq!(missing_head(&shown, &["arm Mbit/s", "linux 1.0"]), None);
    assert_eq!(missing_head(&shown, &["arm Mbit", "linux 12.5"]), Some("arm   Mbit/s"));
}
