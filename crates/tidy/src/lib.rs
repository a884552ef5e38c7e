//! Executable house rules: each rule is a function from sources to [`Problem`]s, and `tests/house` runs them all on the
//! repository.
//!
//! The rules are plain text scans after one careful step, [`mask`]: it blanks out comments and literals before code is examined,
//! so that a brace in a string or the word `fn` in a sentence does not mislead a rule. A parser would know more, but would be a
//! dependency of a test that every newcomer builds first.
#![forbid(unsafe_code)]

pub mod marks;
mod mask;
mod modules;
mod problem;
pub mod rules;
mod shape;
mod source;

pub use mask::mask;
pub use problem::{Problem, report};
pub use shape::{Function, functions, test_module_spans};
pub use source::{Source, repository_root, rust_sources, text_files};
