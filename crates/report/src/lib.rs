//! Traces as a page: one HTML file with the viewer and the data, which needs no network access.
//!
//! The viewer's sources are in `web/`; its build is kept in `assets/viewer.html`, so that cargo does not need Node. Its input is
//! [`model`], which [`from_trace`] builds from a trace; [`view`] combines both.
#![forbid(unsafe_code)]

mod facts;
mod flows;
mod from_trace;
pub mod model;
mod page;

pub use facts::limit_name;
pub use from_trace::from_trace;
pub use page::view;
