//! The pipes of a script, and what each holds.

use crate::descriptor::Descriptor;
use crate::wakes::{PollFlags, Wakes};
use libc::{
    F_GETFD, F_GETFL, F_GETPIPE_SZ, F_SETFD, F_SETFL, F_SETPIPE_SZ, O_NONBLOCK, O_RDONLY, O_WRONLY, PIPE_BUF, POLLERR,
    POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM,
};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;

/// Capacity of a pipe: sixteen pages, and at least one.
const CAPACITY: usize = 65_536;
const PAGE: usize = 4_096;
/// The most that may be asked for (`fs.pipe-max-size`).
const CAPACITY_MAX: usize = 1 << 20;

/// The pipes of a script.
#[derive(Debug, Default)]
pub(crate) struct Pipes {
    ends: BTreeMap<RawFd, End>,
    pipes: BTreeMap<u64, Pipe>,
    next: u64,
}

#[derive(Debug)]
struct End {
    /// Keeps the descriptor's number reserved.
    #[expect(dead_code, reason = "held until the end is closed")]
    descriptor: Descriptor,
    pipe: u64,
    side: Side,
    nonblocking: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Reading,
    Writing,
}

#[derive(Debug)]
pub(super) struct Pipe {
    pub bytes: VecDeque<u8>,
    capacity: usize,
    pub reader: bool,
    pub writer: bool,
    wakes: Wakes,
}

impl Pipe {
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.wakes.readable += u64::from(!bytes.is_empty());
    }

    pub(super) fn drop_front(&mut self, len: usize) {
        self.bytes.drain(..len);
        self.wakes.writable += u64::from(len > 0);
    }
}

impl Pipes {
    /// Whether the number is one end of a pipe.
    pub fn contains(&self, fd: RawFd) -> bool {
        self.ends.contains_key(&fd)
    }

    /// Closes an end; returns whether the number was one.
    pub fn close(&mut self, fd: RawFd) -> bool {
        let Some(end) = self.ends.remove(&fd) else { return false };
        if let Some(pipe) = self.pipes.get_mut(&end.pipe) {
            match end.side {
                Side::Reading => pipe.reader = false,
                Side::Writing => pipe.writer = false,
            }
            pipe.wakes.readable += 1;
            pipe.wakes.writable += 1;
            if !pipe.reader && !pipe.writer {
                self.pipes.remove(&end.pipe);
            }
        }
        true
    }

    /// What an end is ready for; `None` for other numbers. It has room when a small write would fit.
    pub fn readiness(&self, fd: RawFd) -> Option<PollFlags> {
        let (end, pipe) = self.end(fd)?;
        let flag = |holds: bool, flag: PollFlags| if holds { flag } else { 0 };
        Some(match end.side {
            Side::Reading => flag(!pipe.bytes.is_empty(), POLLIN | POLLRDNORM) | flag(!pipe.writer, POLLHUP),
            Side::Writing => flag(pipe.room() >= PIPE_BUF, POLLOUT | POLLWRNORM) | flag(!pipe.reader, POLLERR),
        })
    }

    /// How often something has happened to a pipe.
    pub fn wakes(&self, fd: RawFd) -> Option<Wakes> {
        self.end(fd).map(|(_, pipe)| pipe.wakes)
    }

    /// Whether calls on this end block.
    pub fn blocks(&self, fd: RawFd) -> bool {
        self.ends.get(&fd).is_some_and(|end| !end.nonblocking)
    }

    /// `fcntl(2)` on an end.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for commands about neither blocking nor size; `EBUSY` for a size too small for what the pipe holds,
    /// `EPERM` for one that is too large.
    pub fn fcntl(&mut self, fd: RawFd, command: i32, argument: i32) -> Result<i32, Errno> {
        let end = self.ends.get_mut(&fd).ok_or(Errno::EBADF)?;
        let pipe = self.pipes.get_mut(&end.pipe).ok_or(Errno::EBADF)?;
        let mode = if end.side == Side::Reading { O_RDONLY } else { O_WRONLY };
        match command {
            F_GETFL => Ok(mode | if end.nonblocking { O_NONBLOCK } else { 0 }),
            F_SETFL => {
                end.nonblocking = argument & O_NONBLOCK != 0;
                Ok(0)
            }
            F_GETFD | F_SETFD => Ok(0),
            F_GETPIPE_SZ => Ok(pipe.capacity as i32),
            F_SETPIPE_SZ => {
                let asked = usize::try_from(argument).map_err(|_| Errno::EINVAL)?;
                let capacity = asked.max(PAGE).next_power_of_two();
                if capacity > CAPACITY_MAX {
                    return Err(Errno::EPERM);
                }
                if capacity < pipe.bytes.len() {
                    return Err(Errno::EBUSY);
                }
                pipe.capacity = capacity;
                Ok(capacity as i32)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// The pipe whose end this is; ends of the same one give the same.
    pub(super) fn pipe_of(&self, fd: RawFd) -> Option<u64> {
        self.ends.get(&fd).map(|end| end.pipe)
    }

    fn end(&self, fd: RawFd) -> Option<(&End, &Pipe)> {
        let end = self.ends.get(&fd)?;
        Some((end, self.pipes.get(&end.pipe)?))
    }

    /// The pipe behind an end of this side.
    ///
    /// # Errors
    /// `EBADF` for the other end, and for a number that is not an end.
    pub(super) fn pipe_mut(&mut self, fd: RawFd, side: Side) -> Result<&mut Pipe, Errno> {
        let end = self.ends.get(&fd).filter(|end| end.side == side).ok_or(Errno::EBADF)?;
        self.pipes.get_mut(&end.pipe).ok_or(Errno::EBADF)
    }

    /// Makes a pipe.
    pub(super) fn open(&mut self) -> Result<[RawFd; 2], Errno> {
        let ends = [(Descriptor::open()?, Side::Reading), (Descriptor::open()?, Side::Writing)];
        let pipe = self.next;
        self.next += 1;
        let empty =
            Pipe { bytes: VecDeque::new(), capacity: CAPACITY, reader: true, writer: true, wakes: Wakes::default() };
        self.pipes.insert(pipe, empty);
        Ok(ends.map(|(descriptor, side)| {
            let fd = descriptor.fd();
            // The descriptor that had this number was closed without our knowledge.
            self.close(fd);
            self.ends.insert(fd, End { descriptor, pipe, side, nonblocking: false });
            fd
        }))
    }
}
