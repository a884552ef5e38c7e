//! Files that are either complete or absent: output goes to `NAME.part`, which becomes `NAME` at the end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// A file being written. If it is dropped unfinished, it is removed.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// Path of the partial file, beside its final place; for a device or a pipe, the path itself.
    part: PathBuf,
    out: Option<BufWriter<File>>,
}

impl WholeFile {
    /// Begins one.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        // A link is written through, like devices and pipes: `/dev/stdout` may lead to the shell's file.
        let special = std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
        let part = if special { path.to_owned() } else { beside(path) };
        let file = File::create(&part)?;
        let whole = Self { path: path.to_owned(), part, out: Some(BufWriter::new(file.try_clone()?)) };
        if !special && let Ok(old) = std::fs::metadata(path) {
            // The owner of the file stays its owner; a user other than root cannot give it away, and need not.
            let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
            file.set_permissions(old.permissions())?;
        }
        Ok(whole)
    }

    /// Moves the file to its final place.
    ///
    /// # Errors
    /// If the last bytes cannot be written; then nothing is kept.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        if self.part != self.path {
            std::fs::rename(&self.part, &self.path)?;
        }
        self.out = None;
        Ok(())
    }

    /// Ends the file early. Returns the path of the partial file.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn keep_part(mut self) -> io::Result<PathBuf> {
        self.flush()?;
        self.out = None;
        Ok(self.part.clone())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().expect("it is being written").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().expect("it is being written").flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        // The buffer's remaining data is not tried again.
        if let Some(out) = self.out.take() {
            drop(out.into_parts());
            if self.part != self.path {
                let _ = std::fs::remove_file(&self.part);
            }
        }
    }
}

/// Writes a whole file at once.
///
/// # Errors
/// If it cannot be written; an earlier file is then unchanged.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_as_it_was_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        let names = || std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), ("old", 1));
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), ("new", 1));
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"part").unwrap();
        assert_eq!(std::fs::read_to_string(file.keep_part().unwrap()).unwrap(), "part");
    }

    #[test]
    fn what_a_link_leads_to_is_written_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (path, link) = (directory.path().join("file"), directory.path().join("link"));
        write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, "through the link").unwrap();
        assert!(link.is_symlink());
        write(&path, "new").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_to_string(&link).unwrap(), "new");
    }

    #[test]
    fn a_full_disk_leaves_nothing() {
        // This device is always full; and being a device, it stays.
        let mut full = WholeFile::create(Path::new("/dev/full")).unwrap();
        assert!(full.write_all(b"x").and_then(|()| full.flush()).is_err());
        drop(full);
        assert!(write(Path::new("/dev/full"), "x").is_err() && Path::new("/dev/full").exists());
    }
}
