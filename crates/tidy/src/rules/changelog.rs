//! The changelog always has a place for the next entry.

use crate::Problem;

/// Complains when `## [Unreleased]` is missing, or when it does not come first.
pub fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut releases = text.lines().enumerate().filter(|(_, line)| line.starts_with("## "));
    match releases.next() {
        Some((_, line)) if line.trim_end() == "## [Unreleased]" => Vec::new(),
        first => {
            let (line, what) = first.map_or((1, "no release section".to_owned()), |(index, line)| {
                (index + 1, format!("the first section is `{line}`"))
            });
            vec![Problem::new(path, line, what, "`## [Unreleased]` above all releases")]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreleased_comes_first() {
        assert_eq!(check("C", "# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n"), []);
        assert_eq!(check("C", "# Changelog\n\n## [0.1.0]\n\n## [Unreleased]\n")[0].line, 3);
        assert_eq!(check("C", "# Changelog\n")[0].line, 1);
    }
}
