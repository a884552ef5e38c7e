//! Leftovers of a killed run: namespaces named after a process that has ended, and processes in them.
//!
//! The devices disappear with the descriptors of the process that created them.

use net::{Namespace, NamespaceError};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Prefix of the namespaces' names; the number of their process follows, then `-a` or `-b`.
pub const PREFIX: &str = "longhaul-";

/// Removes it.
///
/// # Errors
/// If a namespace that has lost its owner cannot be removed.
pub fn remove() -> Result<(), NamespaceError> {
    // A directory that cannot be read cannot be written either, and the attempt to write reports that.
    let names = Namespace::list(PREFIX).unwrap_or_default();
    for name in names.iter().filter(|name| owner(name).is_some_and(is_gone)) {
        end_processes(name);
        match Namespace::remove(name) {
            // Another process was faster.
            Ok(()) | Err(NamespaceError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the process that created it.
fn owner(name: &str) -> Option<u32> {
    let (pid, side) = name.strip_prefix(PREFIX)?.split_once('-')?;
    matches!(side, "a" | "b").then(|| pid.parse().ok())?
}

/// Returns whether the process has ended. This process has created nothing yet, so a name with its number is older.
fn is_gone(pid: u32) -> bool {
    pid == std::process::id() || !Path::new("/proc").join(pid.to_string()).exists()
}

/// The commands of an arm outlive a program that was killed. They are identified by where they are: in a namespace
/// that only that program gave away.
fn end_processes(name: &str) {
    let inode_of = |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let Some(namespace) = inode_of(&Path::new("/run/netns").join(name)) else { return };
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    for pid in processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()) {
        if inode_of(&Path::new("/proc").join(pid.to_string()).join("ns/net")) == Some(namespace) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_maker() {
        for (name, expected) in [
            ("longhaul-17-a", Some(17)),
            ("longhaul-17-b", Some(17)),
            ("longhaul-17-c", None),
            ("longhaul-17", None),
            ("longhaul-x-a", None),
            ("other-17-a", None),
        ] {
            assert_eq!(owner(name), expected, "{name}");
        }
        assert!(is_gone(std::process::id()) && !is_gone(1));
    }
}
