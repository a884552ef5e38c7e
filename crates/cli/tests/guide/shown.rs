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
