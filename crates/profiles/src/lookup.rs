//! Leaves by their paths, and which of them belong together.

use crate::leaf::{Leaf, LeafError};
use crate::leaves::LEAVES;
use crate::nearest;

/// The leaf at `path`, if there is one: for paths that may be groups, which need no closest one.
pub fn known(path: &str) -> Option<&'static Leaf> {
    LEAVES.iter().find(|leaf| leaf.path == path)
}

/// The leaf at `path`.
///
/// # Errors
/// If there is none; names the closest path.
pub fn find(path: &str) -> Result<&'static Leaf, LeafError> {
    known(path).ok_or_else(|| LeafError::Unknown {
        path: path.to_owned(),
        hint: nearest(path, LEAVES.iter().map(|leaf| leaf.path)),
    })
}

/// Returns the leaf meant by `path`: a group with a kind stands for its kind, as `recovery.probe` for
/// `recovery.probe.kind`.
///
/// # Errors
/// As [`find`].
pub fn resolve(path: &str) -> Result<&'static Leaf, LeafError> {
    let kind = LEAVES.iter().find(|leaf| leaf.path.strip_suffix(".kind") == Some(path));
    kind.map_or_else(|| find(path), Ok)
}

impl Leaf {
    /// The leaf that decides whether this one applies.
    pub fn kind_leaf(&self) -> Option<&'static Leaf> {
        let (group, _) = self.path.rsplit_once('.')?;
        LEAVES
            .iter()
            .find(|leaf| leaf.is_kind() && leaf.path.strip_suffix(".kind") == Some(group) && leaf.path != self.path)
    }

    /// Returns the leaves whose applicability depends on this kind; none for a leaf that is not a kind.
    pub fn dependents(&self) -> impl Iterator<Item = &'static Leaf> + '_ {
        LEAVES.iter().filter(|leaf| leaf.kind_leaf() == Some(self))
    }
}
