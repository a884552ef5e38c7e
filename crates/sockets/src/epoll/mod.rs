//! `epoll`: sets of descriptors, level-triggered or edge-triggered.

mod set;

pub(crate) use set::Epoll;

use crate::descriptor::Descriptor;
use crate::host::Host;
use crate::wakes::PollFlags;
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, POLLIN, POLLRDNORM, epoll_event};
use nix::errno::Errno;
use set::Look;
use std::collections::BTreeMap;
use std::os::fd::RawFd;

/// How deeply sets may be nested in each other.
const DEPTH_MAX: usize = 5;

impl Host {
    /// `epoll_create(2)`.
    ///
    /// # Errors
    /// `EINVAL` unless the size is positive, and the errors of opening a descriptor.
    pub fn epoll_create(&mut self, size: i32) -> Result<RawFd, Errno> {
        if size <= 0 {
            return Err(Errno::EINVAL);
        }
        let descriptor = Descriptor::open()?;
        let fd = descriptor.fd();
        // The descriptor that had this number was closed without our knowledge.
        self.forget_watched(fd);
        self.sockets.remove(&fd);
        self.epolls.insert(fd, Epoll::new(descriptor));
        Ok(fd)
    }

    /// `epoll_ctl(2)`.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` when `epfd` is not a set or the same as `fd`, `EEXIST`, `ENOENT`, `ELOOP` for sets that contain
    /// each other or too many levels of them, `EFAULT` without an event.
    pub fn epoll_ctl(&mut self, epfd: RawFd, op: i32, fd: RawFd, event: Option<epoll_event>) -> Result<(), Errno> {
        self.readiness(fd)?;
        if self.epolls.contains_key(&fd) && op == EPOLL_CTL_ADD && self.depth_below(fd, epfd, 1)? >= DEPTH_MAX {
            return Err(Errno::ELOOP);
        }
        let set = self.epoll_mut(epfd)?;
        if fd == epfd {
            return Err(Errno::EINVAL);
        }
        match op {
            EPOLL_CTL_ADD if set.watches(fd) => return Err(Errno::EEXIST),
            EPOLL_CTL_MOD | EPOLL_CTL_DEL if !set.watches(fd) => return Err(Errno::ENOENT),
            EPOLL_CTL_ADD | EPOLL_CTL_MOD => {
                let event = event.ok_or(Errno::EFAULT)?;
                set.watch(fd, event);
            }
            EPOLL_CTL_DEL => set.forget(fd),
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// An attempt at `epoll_wait(2)`: fills `events` from the front and returns how many there are.
    ///
    /// # Errors
    /// `EAGAIN` while nothing is ready; `EINVAL` without room or when `epfd` is not a set; `EBADF`.
    pub fn epoll_wait(&mut self, epfd: RawFd, events: &mut [epoll_event]) -> Result<usize, Errno> {
        self.epoll_mut(epfd)?;
        if events.is_empty() {
            return Err(Errno::EINVAL);
        }
        let looks = self.looks(epfd);
        let set = self.epoll_mut(epfd)?;
        for (fd, look) in &looks {
            set.look(*fd, *look);
        }
        let count = set.take_ready(&looks, events);
        if count == 0 { Err(Errno::EAGAIN) } else { Ok(count) }
    }

    /// What a set is ready for when another call waits for the set itself.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn epoll_readiness(&self, epfd: RawFd) -> Result<PollFlags, Errno> {
        let set = self.epolls.get(&epfd).ok_or(Errno::EBADF)?;
        Ok(if set.is_ready(&self.looks(epfd)) { POLLIN | POLLRDNORM } else { 0 })
    }

    /// A descriptor was closed: no set watches it any longer.
    pub fn forget_watched(&mut self, fd: RawFd) {
        for set in self.epolls.values_mut() {
            set.forget(fd);
        }
    }

    /// The current state of every descriptor in a set.
    fn looks(&self, epfd: RawFd) -> BTreeMap<RawFd, Look> {
        let Some(set) = self.epolls.get(&epfd) else { return BTreeMap::new() };
        let look = |fd: RawFd| {
            let flags = u32::from(self.readiness(fd).ok()? as u16);
            let of_socket = self.sockets.get(&fd).map(|socket| socket.wakes);
            let wakes = of_socket.or_else(|| self.pipes.wakes(fd)).unwrap_or_default();
            Some((fd, Look { flags, wakes }))
        };
        set.watched().filter_map(look).collect()
    }

    fn epoll_mut(&mut self, epfd: RawFd) -> Result<&mut Epoll, Errno> {
        let other = self.sockets.contains_key(&epfd) || self.pipes.contains(epfd);
        self.epolls.get_mut(&epfd).ok_or(if other { Errno::EINVAL } else { Errno::EBADF })
    }

    /// How many levels of nested sets `fd` adds, including the `depth` above it.
    ///
    /// # Errors
    /// `ELOOP` when `top` is among them, or when there are too many levels.
    fn depth_below(&self, fd: RawFd, top: RawFd, depth: usize) -> Result<usize, Errno> {
        let Some(set) = self.epolls.get(&fd) else { return Ok(depth) };
        if fd == top && depth > 1 || depth > DEPTH_MAX {
            return Err(Errno::ELOOP);
        }
        set.watched().try_fold(depth, |deepest, inner| Ok(deepest.max(self.depth_below(inner, top, depth + 1)?)))
    }
}
