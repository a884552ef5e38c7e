//! Executable house rules: each rule is a function from sources to [`Problem`]s, and `tests/house` runs them all over the
//! repository as it stands.
//!
//! The rules are plain text scans behind one careful step, [`mask`]: comments and literals are blanked out before code
//! is looked at, so that a brace in a string or the word `fn` in a sentence misleads no rule. A parser would know more, but
//! would be a dependency of a test that every newcomer builds first.
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
