//! The parts of the send side: buffered data, the rules that hold segments back, and when a segment may leave.

pub(crate) mod buffer;
pub(crate) mod nagle;
pub(crate) mod pacer;
pub(crate) mod window;

pub(crate) use buffer::{SendBuffer, SendSlice};
pub(crate) use pacer::Pacer;
pub(crate) use window::CwndUsage;
