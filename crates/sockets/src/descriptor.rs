//! File descriptors: real ones of the kernel's, so that a caller may close one with libc's `close` as well as through the
//! interface, and a number never refers to a foreign file.
//!
//! Each is a descriptor of an empty memory file, which has an identity: a number that was closed behind our back and means
//! another file by now is recognized and left alone.

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::fs::MetadataExt;

/// A descriptor that stands for something of this crate's; closed when dropped.
#[derive(Debug)]
pub(crate) struct Descriptor {
    fd: RawFd,
    /// Device and inode; nothing when the machine does not report them.
    identity: Option<(u64, u64)>,
    /// Bytes that a caller has written into the file and that were looked at.
    taken: u64,
}

impl Descriptor {
    /// A new one.
    ///
    /// # Errors
    /// What the kernel says, `EMFILE` above all.
    pub fn open() -> Result<Self, Errno> {
        let fd = memfd_create(c"longhaul", MFdFlags::MFD_CLOEXEC)?.into_raw_fd();
        Ok(Self { fd, identity: identity(fd), taken: 0 })
    }

    /// What a caller has written to the number behind our back since the last look, as `sendfile(2)` of libc does: the
    /// interface has no such call.
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

/// What the number means at present.
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
        // The other tests of this process open files, too: whoever has the number now is not ours.
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
