//! Code blocks: `%{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%`.
//!
//! Scripts write them in Python. They need little of it: assertions, printing, assignments, expressions over the variables of
//! `TCP_INFO`. An interpreter for that subset keeps a script's run within one process. An unsupported construct is an error that
//! names the line, never a silent pass.

mod eval;
mod lex;
mod parse;
mod value;

pub use eval::Program;
pub use value::Value;

#[cfg(test)]
mod tests;
