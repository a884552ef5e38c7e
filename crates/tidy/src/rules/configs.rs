//! Configuration says *which*, never *whether*: types named `…Config` contain no `bool`.
//!
//! Two booleans make four states, of which usually only three exist; an enum names those, and a reader of a profile sees a word
//! instead of `true`.

use crate::shape::{line_of, type_bodies, words};
use crate::{Problem, Source};

/// Every `bool` inside a type whose name ends in `Config`.
pub fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, from, to) in type_bodies(&source.code, |name| name.ends_with("Config")) {
        let body = &source.code[from..=to.min(source.code.len() - 1)];
        for at in words(body, "bool") {
            problems.push(Problem::new(
                &source.path,
                line_of(&source.code, from + at),
                format!("`{name}` holds a `bool`"),
                "an enum whose variants name the choices, or `Option` for what may be absent",
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::new("crates/tcp/src/config/mod.rs", text)).into_iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn a_bool_in_a_config_is_found_with_its_line() {
        assert_eq!(lines("pub struct RtoConfig {\n    pub a: u32,\n    pub b: bool,\n}\n"), [3]);
        assert_eq!(lines("enum AckConfig {\n    Every { quick: Option<bool> },\n}\n"), [2]);
        assert_eq!(lines("struct NagleConfig(pub bool);\n"), [1]);
    }

    #[test]
    fn other_types_functions_and_comments_may_say_bool() {
        assert_eq!(
            lines("struct State { on: bool }\nstruct AConfig { a: u8 /* bool */ }\nfn f() -> bool { true }\n"),
            [0; 0]
        );
        assert_eq!(lines("impl AConfig { fn f(&self) -> bool { true } }\n"), [0; 0]);
    }
}
