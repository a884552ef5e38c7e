//! `epoll`.

use crate::host::Host;
use crate::socket::PollFlags;
use libc::epoll_event;
use nix::errno::Errno;
use std::os::fd::RawFd;

/// One set of descriptors.
#[derive(Debug)]
pub(crate) struct Epoll {}

impl Host {
    /// `epoll_create(2)`.
    ///
    /// # Errors
    /// `ENOSYS`.
    pub fn epoll_create(&mut self, _size: i32) -> Result<RawFd, Errno> {
        Err(Errno::ENOSYS)
    }

    /// `epoll_ctl(2)`.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn epoll_ctl(&mut self, _epfd: RawFd, _op: i32, _fd: RawFd, _event: Option<epoll_event>) -> Result<(), Errno> {
        Err(Errno::EBADF)
    }

    /// An attempt at `epoll_wait(2)`.
    ///
    /// # Errors
    /// `EAGAIN` while nothing is ready; `EBADF`.
    pub fn epoll_wait(&mut self, _epfd: RawFd, _events: &mut [epoll_event]) -> Result<usize, Errno> {
        Err(Errno::EBADF)
    }

    /// What a set is ready for when it is itself waited for.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn epoll_readiness(&self, _epfd: RawFd) -> Result<PollFlags, Errno> {
        Err(Errno::EBADF)
    }
}
