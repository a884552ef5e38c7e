//! Leftovers of a killed link: the namespaces that it had created, and its socket.
//!
//! A link records what it created in a file beside its socket and holds a lock on it. A file without a lock belongs to a link
//! that has ended, whatever process has its number by now.

use net::{Namespace, NamespaceError};
use nix::fcntl::{Flock, FlockArg};
use realtime::runtime_dir;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Prefix of the records; the process number follows, as in the socket's name.
const PREFIX: &str = "longhaul-link-";
const SUFFIX: &str = ".made";
const SOCKET_SUFFIX: &str = ".sock";

/// Directory where iproute2 keeps names of namespaces.
const NAMESPACES: &str = "/run/netns";

/// What a running link created; the record is removed on drop.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    _lock: Flock<File>,
}

impl Note {
    /// Records namespaces that this process has just created.
    ///
    /// # Errors
    /// If the directory for the record does not exist or cannot be written.
    pub fn write(made: &[String]) -> io::Result<Self> {
        Self::write_to(&runtime_dir()?, made)
    }

    fn write_to(directory: &Path, made: &[String]) -> io::Result<Self> {
        let path = directory.join(format!("{PREFIX}{}{SUFFIX}", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
        for name in made {
            writeln!(*lock, "{name} {}", inode(name).unwrap_or(0))?;
        }
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes what killed links of this user left behind.
///
/// # Errors
/// When a namespace cannot be removed.
pub fn remove() -> Result<(), NamespaceError> {
    // A user without this directory has recorded nothing.
    runtime_dir().map_or(Ok(()), |directory| remove_in(&directory))
}

fn remove_in(directory: &Path) -> Result<(), NamespaceError> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_note = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PREFIX) && name.ends_with(SUFFIX)
    };
    for path in entries.map(|entry| entry.path()).filter(is_note) {
        let Ok(file) = File::open(&path) else { continue };
        // The lock shows that its link is running.
        let Ok(mut file) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { continue };
        let mut text = String::new();
        if file.read_to_string(&mut text).is_err() {
            continue;
        }
        for (name, noted) in text.lines().filter_map(|line| line.rsplit_once(' ')) {
            // A namespace of the same name that was created later is not ours.
            if inode(name).is_some_and(|inode| noted.parse() == Ok(inode)) {
                match Namespace::remove(name) {
                    Ok(()) | Err(NamespaceError::NotFound(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_file(path.with_extension(SOCKET_SUFFIX.trim_start_matches('.')));
    }
    Ok(())
}

/// Distinguishes a namespace from a later one of the same name.
fn inode(name: &str) -> Option<u64> {
    std::fs::metadata(Path::new(NAMESPACES).join(name)).ok().map(|metadata| metadata.ino())
}

/// Returns the names whose namespaces do not exist.
pub fn missing<'n>(names: impl IntoIterator<Item = &'n Option<String>>) -> Vec<String> {
    let names = names.into_iter().flatten().cloned();
    names.filter(|name| matches!(Namespace::open(name), Err(NamespaceError::NotFound(_)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_of_a_living_link_stays_and_one_of_a_dead_link_goes_with_its_socket() {
        let directory = tempfile::tempdir().unwrap();
        let note = Note::write_to(directory.path(), &[]).unwrap();
        remove_in(directory.path()).unwrap();
        assert!(note.path.exists());
        let dead = directory.path().join("longhaul-link-1.made");
        // The name of a namespace that is not there.
        std::fs::write(&dead, "no-such-namespace 17\n").unwrap();
        let socket = directory.path().join("longhaul-link-1.sock");
        std::fs::write(&socket, "").unwrap();
        remove_in(directory.path()).unwrap();
        assert!(!dead.exists() && !socket.exists() && note.path.exists());
        let path = note.path.clone();
        drop(note);
        assert!(!path.exists());
    }
}
