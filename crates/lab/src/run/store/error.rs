//! Why results cannot be kept.

use std::io;
use std::path::{Path, PathBuf};

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system reports an error.
    #[error("cannot write `{}`: {error}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Its reason.
        error: io::Error,
    },
    /// Another process writes to it.
    #[error("`{}` is being written by another run of longhaul", .0.display())]
    Busy(PathBuf),
    /// It contains something else.
    #[error("`{}` is not a shard of longhaul's results: {problem}; remove it, and its runs are made again", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Another program, or another version of this one, cut the unit.
    #[error("the unit {task} is another one here, {own}: install the same version of longhaul everywhere")]
    Version {
        /// Its name.
        task: String,
        /// Its name here.
        own: String,
    },
    /// A file of lines contains something else.
    #[error("`{}`, line {line} is not a longhaul result: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from one.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl StoreError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }

    pub(super) fn foreign(path: &Path, problem: String) -> Self {
        Self::Foreign { path: path.to_owned(), problem }
    }
}
