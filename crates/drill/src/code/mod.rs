//! Code blocks: `%{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%`.
//!
//! Scripts write them in Python. What they need of it is small — assertions, printing, assignments, expressions over the
//! variables of `TCP_INFO` — and an interpreter for that keeps a script's run within one process. What it does not know is an
//! error that names the line, never a silent pass.

mod eval;
mod lex;
mod parse;
mod value;

pub use eval::Program;
pub use value::Value;

#[cfg(test)]
mod tests;
