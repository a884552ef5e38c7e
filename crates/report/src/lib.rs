//! Traces as something to look at: one HTML file that holds the viewer and the data, and needs no network access.
//!
//! The viewer's sources are in `web/`; its build is kept in `assets/viewer.html`, so that cargo needs no Node. What it is
//! given is [`model`], which [`from_trace`] makes of a trace; [`view`] puts both together.
#![forbid(unsafe_code)]

mod facts;
mod from_trace;
pub mod model;
mod page;

pub use facts::limit_name;
pub use from_trace::from_trace;
pub use page::view;
