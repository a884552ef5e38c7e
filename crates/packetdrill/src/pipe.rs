//! `pipe` and `splice`.

use crate::host::Host;
use crate::socket::PollFlags;
use nix::errno::Errno;
use std::os::fd::RawFd;

/// The pipes of a script.
#[derive(Debug, Default)]
pub(crate) struct Pipes {}

impl Pipes {
    /// Whether the number is an end of a pipe.
    pub fn contains(&self, _fd: RawFd) -> bool {
        false
    }
    /// Closes an end; whether it was one.
    pub fn close(&mut self, _fd: RawFd) -> bool {
        false
    }
    /// What an end is ready for; nothing for other numbers.
    pub fn readiness(&self, _fd: RawFd) -> Option<PollFlags> {
        None
    }
    /// Whether calls on this end wait.
    pub fn blocks(&self, _fd: RawFd) -> bool {
        false
    }
    /// `fcntl(2)` on an end.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn fcntl(&mut self, _fd: RawFd, _command: i32, _argument: i32) -> Result<i32, Errno> {
        Err(Errno::EBADF)
    }
}

impl Host {
    /// `pipe(2)`: the reading end, then the writing end.
    ///
    /// # Errors
    /// `ENOSYS`.
    pub fn pipe(&mut self) -> Result<[RawFd; 2], Errno> {
        Err(Errno::ENOSYS)
    }

    /// An attempt to read from a pipe.
    ///
    /// # Errors
    /// `EAGAIN` while it is empty; `EBADF`.
    pub fn pipe_read(&mut self, _fd: RawFd, _pieces: &mut [&mut [u8]]) -> Result<usize, Errno> {
        Err(Errno::EBADF)
    }

    /// An attempt to write to a pipe.
    ///
    /// # Errors
    /// `EAGAIN` while it is full; `EBADF`.
    pub fn pipe_write(&mut self, _fd: RawFd, _pieces: &[&[u8]], _so_far: &mut usize) -> Result<usize, Errno> {
        Err(Errno::EBADF)
    }

    /// An attempt at `splice(2)`.
    ///
    /// # Errors
    /// `EAGAIN` while nothing can be moved; `ENOSYS`.
    pub fn splice(&mut self, _from: RawFd, _to: RawFd, _len: usize, _flags: u32) -> Result<usize, Errno> {
        Err(Errno::ENOSYS)
    }
}
