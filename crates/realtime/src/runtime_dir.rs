//! The system's directory for running programs' files, to which no other user can write.

use nix::unistd::geteuid;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Returns root's directory, the user's own, or one created for the user where the system has none.
///
/// # Errors
/// If no directory belongs to the user alone.
pub fn runtime_dir() -> io::Result<PathBuf> {
    if geteuid().is_root() {
        return Ok(PathBuf::from("/run"));
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) => Ok(directory.into()),
        None => private(&std::env::temp_dir().join(format!("longhaul-{}", geteuid()))),
    }
}

/// Creates a directory for this user alone. Another user may have created one of that name before.
fn private(path: &Path) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        let problem = format!("{}: it does not belong to this user alone; set XDG_RUNTIME_DIR", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        let around = tempfile::tempdir().unwrap();
        let path = around.path().join("own");
        assert_eq!(private(&path).unwrap(), path);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert_eq!(private(&path).unwrap(), path, "it is found again");
        std::fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(private(&path).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let link = around.path().join("link");
        symlink(around.path(), &link).unwrap();
        assert_eq!(private(&link).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
