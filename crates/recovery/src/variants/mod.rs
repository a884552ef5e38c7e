//! Deviations that somebody shipped: one file each, named by symptom.

mod dsack_check_rejected;
mod dsack_check_strict_right;
mod rack_ring;

pub use dsack_check_rejected::dsack_check_rejected;
pub use dsack_check_strict_right::dsack_check_strict_right;
pub use rack_ring::RackRing;
