//! Files that are there as a whole or not at all, and stay when the power fails.

use super::error::StoreError;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What a shard's name ends with.
pub(super) const SHARD: &str = "parquet";
/// What an unfinished one's name ends with; a dot before it hides it from readers of folders.
const UNFINISHED: &str = ".tmp";

/// Creates a shard in a folder with this content, on disk when this returns. One that is there already has to be the same.
///
/// # Errors
/// When it cannot be written, or another one has its name.
pub(super) fn create(folder: &Path, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(format!("{name}.{SHARD}"));
    // Two machines may make the same unit at once, one of them because the other seemed dead.
    let own = RandomState::new().build_hasher().finish();
    let unfinished = folder.join(format!(".{name}.{own:016x}.{SHARD}{UNFINISHED}"));
    let written = whole(&unfinished, content).and_then(|()| name_it(&unfinished, &path));
    // If this fails, too, it is swept the next time.
    let _ = fs::remove_file(&unfinished);
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => same(&path, content)?,
        written => written.map_err(|error| StoreError::io(&path, error))?,
    }
    sync(folder).map_err(|error| StoreError::io(folder, error))
}

fn whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Gives a file its name, unless that is taken. Some file systems have no links; there the folder's lock has to do.
fn name_it(unfinished: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(unfinished, path) {
        Err(error)
            if matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) && !path.exists() =>
        {
            fs::rename(unfinished, path)
        }
        linked => linked,
    }
}

/// Names in a folder are on disk only when the folder is.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn same(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let found = fs::read(path).map_err(|error| StoreError::io(path, error))?;
    if found == content {
        return Ok(());
    }
    Err(StoreError::foreign(path, "it has the name of a unit of this experiment, and other content".to_owned()))
}

/// Makes the folder, and removes what an interrupted run left unfinished.
///
/// # Errors
/// When it cannot be written.
pub(super) fn prepare(folder: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::io(folder, error);
    fs::create_dir_all(folder).map_err(failed)?;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(UNFINISHED) {
            fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
        }
    }
    Ok(())
}

/// Returns the shards of a folder, by name; none if it is not there.
///
/// # Errors
/// When it cannot be read.
pub(super) fn shards(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| StoreError::io(folder, error))?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>().map_err(|error| StoreError::io(folder, error))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == SHARD));
    paths.sort_unstable();
    Ok(paths)
}
