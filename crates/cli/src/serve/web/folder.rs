//! Files below a folder, and nothing else: the kernel itself refuses a path that leaves it, by `..` or by a symbolic link.

use crate::failure::LinkError;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Entries that a listing shows.
const ENTRIES_MAX: usize = 10_000;

/// An open folder.
#[derive(Clone, Debug)]
pub struct Folder(Arc<File>);

/// What a path names.
#[derive(Debug)]
pub enum Found {
    /// A regular file.
    File(File),
    /// A folder, by the names in it; those of folders end with a slash.
    Folder(Vec<OsString>),
}

impl Folder {
    /// Opens the folder to serve.
    pub fn open(path: &Path) -> Result<Self, LinkError> {
        let cannot = |why: String| LinkError::usage(format!("cannot serve `{}`: {why}; name a folder", path.display()));
        let file = File::open(path).map_err(|error| cannot(error.to_string()))?;
        let is_folder = file.metadata().is_ok_and(|metadata| metadata.is_dir());
        is_folder.then(|| Self(Arc::new(file))).ok_or_else(|| cannot("it is no folder".to_owned()))
    }

    /// Opens what a decoded path names; the path begins with a slash.
    ///
    /// # Errors
    /// `NotFound` also for what is neither a file nor a folder, and for what lies outside.
    pub fn open_below(&self, name: &[u8]) -> io::Result<Found> {
        let inside = match name.iter().position(|byte| *byte != b'/') {
            Some(at) => &name[at..],
            None => b".",
        };
        // Opening a pipe must not wait for its other end.
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let rule = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS;
        let how = OpenHow::new().flags(flags).resolve(rule);
        let file = File::from(openat2(&*self.0, std::ffi::OsStr::from_bytes(inside), how)?);
        let metadata = file.metadata()?;
        if metadata.is_file() {
            return Ok(Found::File(file));
        }
        if !metadata.is_dir() {
            return Err(io::ErrorKind::NotFound.into());
        }
        // The descriptor's own entry in /proc leads to this folder, whatever happens to its path.
        let entries = std::fs::read_dir(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let mut names = Vec::new();
        for entry in entries.take(ENTRIES_MAX) {
            let entry = entry?;
            let mut name = entry.file_name();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                name.push("/");
            }
            names.push(name);
        }
        names.sort();
        Ok(Found::Folder(names))
    }
}
