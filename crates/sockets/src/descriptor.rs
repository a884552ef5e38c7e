//! File descriptors: real kernel descriptors, so that a caller may close one through libc's `close` as well as through the
//! interface, and so that a number never refers to an unrelated file.
//!
//! Each is a descriptor of an empty memory file, whose identity can be checked: a number that was closed without our knowledge
//! and now refers to another file is recognized and left alone.

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// A descriptor that stands for one of this crate's objects; closed when dropped.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: RawFd,
    /// Device and inode; `None` when the machine does not report them.
    identity: Option<(u64, u64)>,
    /// How many of the bytes that a caller wrote into the file have been read.
    taken: u64,
}

impl Descriptor {
    /// A new one.
    ///
    /// # Errors
    /// Any error of the kernel, in particular `EMFILE`.
    pub fn open() -> Result<Self, Errno> {
        let fd = memfd_create(c"longhaul", MFdFlags::MFD_CLOEXEC)?.into_raw_fd();
        Ok(Self { fd, identity: identity(fd), taken: 0 })
    }

    /// What a caller has written directly to the descriptor since the last check, as libc's `sendfile(2)` does: the interface has
    /// no such call.
    pub fn take_written(&mut self) -> Vec<u8> {
        let path = format!("/proc/self/fd/{}", self.fd);
        let is_ours = self.identity.is_some() && identity(self.fd) == self.identity;
        let len = std::fs::metadata(&path).map_or(0, |file| file.len());
        if !is_ours || len <= self.taken {
            return Vec::new();
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        let new = bytes.get(self.taken as usize..).unwrap_or_default().to_vec();
        self.taken += new.len() as u64;
        new
    }

    /// Its number.
    pub fn fd(&self) -> RawFd {
        self.fd
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(self.fd) == self.identity {
            // It is ours and open, so closing cannot fail in a way that matters.
            let _ = nix::unistd::close(self.fd);
        }
    }
}

/// The file to which the number refers now.
fn identity(fd: RawFd) -> Option<(u64, u64)> {
    let file = std::fs::metadata(format!("/proc/self/fd/{fd}")).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_number_that_means_another_file_by_now_is_left_alone() {
        let ours = Descriptor::open().unwrap();
        let fd = ours.fd();
        nix::unistd::close(fd).unwrap();
        // Other tests of this process also open files: a test that now holds the number is not ours.
        let other = Descriptor::open().unwrap();
        let before = identity(other.fd());
        drop(ours);
        assert_eq!(identity(other.fd()), before);
        assert!(before.is_some());
    }

    #[test]
    fn what_others_write_is_taken_once() {
        let mut ours = Descriptor::open().unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(format!("/proc/self/fd/{}", ours.fd())).unwrap();
        assert_eq!(ours.take_written(), b"");
        file.write_all(b"abc").unwrap();
        assert_eq!((ours.take_written(), ours.take_written()), (b"abc".to_vec(), vec![]));
        file.write_all(b"d").unwrap();
        assert_eq!(ours.take_written(), b"d");
    }

    #[test]
    fn dropping_closes_the_file() {
        let (first, second) = (Descriptor::open().unwrap(), Descriptor::open().unwrap());
        assert_ne!(first.fd(), second.fd());
        let (fd, was) = (first.fd(), first.identity);
        drop(first);
        assert_ne!(identity(fd), was);
    }
}
