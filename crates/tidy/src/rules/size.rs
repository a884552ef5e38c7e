//! Size limits: a file should be small enough to remember, a function small enough to see at once.

use crate::{Problem, Source, functions, test_module_spans};

/// Maximum lines of a file, without its test modules and the requirements it quotes.
pub const FILE_LINES: usize = 400;
/// Most lines of a function, from its `fn` to its closing brace.
pub const FUNCTION_LINES: usize = 70;

/// Data tables and generated files, by path, each with the reason. They are exempt from the size of a file.
pub const EXEMPT_FILES: &[(&str, &str)] = &[("crates/profiles/src/leaves.rs", "the table of all leaves of a profile")];

/// Files with too many lines, and functions with too many.
pub fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let lines = lines_of_code(source);
    let exempt = source.is_test() || EXEMPT_FILES.iter().any(|(path, _)| *path == source.path);
    if lines > FILE_LINES && !exempt {
        problems.push(Problem::new(
            &source.path,
            1,
            format!("{lines} lines outside test modules"),
            format!("at most {FILE_LINES}: move one concern into a file of its own"),
        ));
    }
    for function in functions(&source.code).iter().filter(|function| function.lines > FUNCTION_LINES) {
        problems.push(Problem::new(
            &source.path,
            function.line,
            format!("`{}` has {} lines", function.name, function.lines),
            format!("at most {FUNCTION_LINES}: give one step a name of its own"),
        ));
    }
    problems
}

/// Returns the lines outside test modules, without the quoted requirements of annotations.
fn lines_of_code(source: &Source) -> usize {
    let tests = test_module_spans(&source.code);
    let mut next = 0;
    let lines = source.text.split_inclusive('\n').filter(|line| {
        let start = next;
        next += line.len();
        let in_tests = tests.iter().any(|&(from, to)| start <= to && from < next);
        !in_tests && !is_annotation(line)
    });
    lines.count()
}

/// A line of a quoted requirement (`specs/`).
fn is_annotation(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//= ") || line.starts_with("//# ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_file_of_exactly_the_limit_passes_and_one_line_more_does_not() {
        assert_eq!(whats("crates/a/src/b.rs", &"//! x\n".repeat(FILE_LINES)), [""; 0]);
        assert_eq!(whats("crates/a/src/b.rs", &"//! x\n".repeat(FILE_LINES + 1)), ["401 lines outside test modules"]);
    }

    #[test]
    fn test_modules_and_test_files_do_not_count() {
        let code = "//! x\n".repeat(FILE_LINES);
        let tests = "#[cfg(test)]\nmod tests {\n    // x\n}\n";
        assert_eq!(whats("crates/a/src/b.rs", &format!("{code}{tests}")), [""; 0]);
        assert_eq!(whats("crates/a/src/b.rs", &format!("{tests}{code}\n")), ["401 lines outside test modules"]);
        assert_eq!(whats("crates/a/tests/b.rs", &format!("{code}{code}")), [""; 0]);
    }

    #[test]
    fn quoted_requirements_do_not_count() {
        let quotes = "    //= specs/x.md#y\n    //# Z.\n".repeat(3);
        let code = "//! x\n".repeat(FILE_LINES);
        assert_eq!(whats("crates/a/src/b.rs", &format!("{code}{quotes}")), [""; 0]);
        assert_eq!(whats("crates/a/src/b.rs", &format!("{code}{quotes}//! = x\n")), ["401 lines outside test modules"]);
    }

    #[test]
    fn a_long_function_is_named_with_its_line() {
        let body = |lines| format!("\nfn long() {{\n{}}}\n", "    x();\n".repeat(lines));
        assert_eq!(whats("crates/a/tests/b.rs", &body(FUNCTION_LINES - 2)), [""; 0]);
        let problems = check(&Source::new("crates/a/tests/b.rs", body(FUNCTION_LINES - 1)));
        assert_eq!((problems[0].line, problems[0].what.as_str()), (2, "`long` has 71 lines"));
    }
}
