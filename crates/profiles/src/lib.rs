//! Profiles: which TCP an endpoint is, as data with evidence. The only output is a [`tcp::Config`].
//!
//! A profile file names its parent and the leaves in which it differs; each leaf cites the source of its value and its
//! confidence. The files under `data/` are compiled in, and [`builtin`] reads them once.
//!
//! This is the lowest crate in which the names of operating systems may occur.
#![forbid(unsafe_code)]

mod builtin;
mod evidence;
mod find;
mod forms;
mod groups;
mod leaf;
mod leaves;
mod load;
mod lookup;
mod merge;
mod nearest;
mod page;
mod profile;
mod raw_leaf;
mod registry;
pub mod table;
pub mod toml_file;
pub mod units;

pub use builtin::{builtin, get, load, text};
pub use evidence::{Confidence, Evidence};
pub use find::{FindError, find};
pub use leaf::{Form, Leaf, LeafError};
pub use leaves::LEAVES;
pub use lookup::{find as find_leaf, resolve as resolve_leaf};
pub use nearest::nearest;
pub use page::page;
pub use profile::{Cited, Later, OverrideError, Profile, UnknownProfile, is_reserved, values};
pub use registry::names as registry_names;
pub use toml_file::FileError;
