//! Deviations that somebody shipped: one file each, named by symptom.

mod rack_ring;

pub use rack_ring::RackRing;
