//! Scripted conversations with an endpoint, by topic.

mod ack_clock;
mod closing;
mod cost;
mod opening;
mod recovery;
mod robustness;
mod windows;
