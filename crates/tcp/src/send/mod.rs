//! The send side's parts: what is buffered, what holds a segment back, and when it may leave.

pub(crate) mod buffer;
pub(crate) mod nagle;
pub(crate) mod pacer;
pub(crate) mod window;

pub(crate) use buffer::{SendBuffer, SendSlice};
pub(crate) use pacer::Pacer;
pub(crate) use window::CwndUsage;
