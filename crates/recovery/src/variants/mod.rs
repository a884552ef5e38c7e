//! Deviations that some TCP ships: one file each, named by symptom.
//!
//! Lines about a variant outside its file are marked, so that the variant can be deleted (CONTRIBUTING.md, Variants).

mod dsack_check_rejected; // variant: dsack_check_rejected
mod dsack_check_strict_right; // variant: dsack_check_strict_right
mod rack_ring; // variant: rack_ring

pub use dsack_check_rejected::dsack_check_rejected; // variant: dsack_check_rejected
pub use dsack_check_strict_right::dsack_check_strict_right; // variant: dsack_check_strict_right
pub use rack_ring::{RackRing, RackRingConfig}; // variant: rack_ring
