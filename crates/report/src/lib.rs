//! Traces as something to look at: one HTML file that holds the viewer and the data, and asks nothing of anybody.
//!
//! The viewer's sources are in `web/`; its build is kept in `assets/viewer.html`, so that cargo needs no Node. What it is
//! given is [`model`]; [`view`] puts both together.
#![forbid(unsafe_code)]

pub mod model;
mod page;

pub use page::view;
