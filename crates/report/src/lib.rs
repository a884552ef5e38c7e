//! Traces and results as pages: one HTML file with its program and the data, which needs no network access.
//!
//! The sources of both pages are in `web/`; their builds are kept in `assets/`, so that cargo does not need Node. The viewer's input
//! is [`model`], which [`from_trace`] builds from a trace; [`view`] combines both. The report's is [`Comparison`].
#![forbid(unsafe_code)]

mod comparison;
mod facts;
mod findings;
mod flows;
mod from_trace;
pub mod model;
mod page;
mod system;
mod throughput;

pub use comparison::{Commands, Comparison};
pub use facts::limit_name;
pub use findings::add_findings;
pub use from_trace::from_trace;
pub use page::view;
