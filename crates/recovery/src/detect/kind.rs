//! Which loss detectors there are, as traces name them.

/// A loss detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorKind {
    /// By SACKed data above a hole (RFC 6675).
    DupThresh,
    /// By time (RFC 8985).
    Rack,
    // variant: rack_ring {
    /// By time over a ring of blocks, beside RFC 6675.
    RackRing,
    // variant: rack_ring }
}
