//! A leaf as a profile file gives it, or as derived from a registry setting.

use crate::evidence::Evidence;
use crate::leaf::Leaf;
use core::ops::Range;

/// A leaf as the file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawLeaf {
    pub(crate) leaf: &'static Leaf,
    pub(crate) text: String,
    pub(crate) evidence: Evidence,
    /// Where the value stands.
    pub(crate) span: Range<usize>,
}
