//! Traces and captures as files: what a run wrote down, and what others recorded on a wire.
#![forbid(unsafe_code)]
