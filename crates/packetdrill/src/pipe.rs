//! `pipe` and `splice`.

use crate::descriptor::Descriptor;
use crate::host::Host;
use crate::socket::{PollFlags, Receiving, Sending, Wakes};
use libc::{
    F_GETFD, F_GETFL, F_GETPIPE_SZ, F_SETFD, F_SETFL, F_SETPIPE_SZ, MSG_DONTWAIT, MSG_MORE, O_NONBLOCK, O_RDONLY,
};
use libc::{O_WRONLY, PIPE_BUF, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDNORM, POLLWRNORM, SPLICE_F_MORE};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;

/// What a pipe holds: sixteen pages, and one at least.
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
    /// Keeps the number ours.
    #[expect(dead_code, reason = "held until the end is closed")]
    descriptor: Descriptor,
    pipe: u64,
    side: Side,
    nonblocking: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Reading,
    Writing,
}

#[derive(Debug)]
struct Pipe {
    bytes: VecDeque<u8>,
    capacity: usize,
    reader: bool,
    writer: bool,
    wakes: Wakes,
}

impl Pipe {
    fn room(&self) -> usize {
        self.capacity.saturating_sub(self.bytes.len())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.wakes.readable += u64::from(!bytes.is_empty());
    }

    fn drop_front(&mut self, len: usize) {
        self.bytes.drain(..len);
        self.wakes.writable += u64::from(len > 0);
    }
}

impl Pipes {
    /// Whether the number is an end of a pipe.
    pub fn contains(&self, fd: RawFd) -> bool {
        self.ends.contains_key(&fd)
    }

    /// Closes an end; whether it was one.
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

    /// What an end is ready for; nothing for other numbers. There is room when a small write finds it.
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

    /// Whether calls on this end wait.
    pub fn blocks(&self, fd: RawFd) -> bool {
        self.ends.get(&fd).is_some_and(|end| !end.nonblocking)
    }

    /// `fcntl(2)` on an end.
    ///
    /// # Errors
    /// `EBADF`; `EINVAL` for what is neither about waiting nor about size; `EBUSY` for a size that is too small for what the
    /// pipe holds, `EPERM` for one that is too large.
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

    fn end(&self, fd: RawFd) -> Option<(&End, &Pipe)> {
        let end = self.ends.get(&fd)?;
        Some((end, self.pipes.get(&end.pipe)?))
    }

    /// The pipe behind an end of this side.
    ///
    /// # Errors
    /// `EBADF` for the other side, and for what is not an end.
    fn pipe_mut(&mut self, fd: RawFd, side: Side) -> Result<&mut Pipe, Errno> {
        let end = self.ends.get(&fd).filter(|end| end.side == side).ok_or(Errno::EBADF)?;
        self.pipes.get_mut(&end.pipe).ok_or(Errno::EBADF)
    }

    /// Makes a pipe.
    fn open(&mut self) -> Result<[RawFd; 2], Errno> {
        let ends = [(Descriptor::open()?, Side::Reading), (Descriptor::open()?, Side::Writing)];
        let pipe = self.next;
        self.next += 1;
        let empty =
            Pipe { bytes: VecDeque::new(), capacity: CAPACITY, reader: true, writer: true, wakes: Wakes::default() };
        self.pipes.insert(pipe, empty);
        Ok(ends.map(|(descriptor, side)| {
            let fd = descriptor.fd();
            // What had this number was closed behind our back.
            self.close(fd);
            self.ends.insert(fd, End { descriptor, pipe, side, nonblocking: false });
            fd
        }))
    }
}

impl Host {
    /// `pipe(2)`: the reading end, then the writing end.
    ///
    /// # Errors
    /// What opening a descriptor may say.
    pub fn pipe(&mut self) -> Result<[RawFd; 2], Errno> {
        let fds = self.pipes.open()?;
        fds.iter().for_each(|fd| self.forget_watched(*fd));
        Ok(fds)
    }

    /// An attempt to read from a pipe.
    ///
    /// # Errors
    /// `EAGAIN` while it is empty and a writer remains; `EBADF` for the writing end.
    pub fn pipe_read(&mut self, fd: RawFd, pieces: &mut [&mut [u8]]) -> Result<usize, Errno> {
        let pipe = self.pipes.pipe_mut(fd, Side::Reading)?;
        if pipe.bytes.is_empty() && pipe.writer && pieces.iter().any(|piece| !piece.is_empty()) {
            return Err(Errno::EAGAIN);
        }
        let mut taken = 0;
        for (byte, place) in pipe.bytes.iter().zip(pieces.iter_mut().flat_map(|piece| piece.iter_mut())) {
            *place = *byte;
            taken += 1;
        }
        pipe.drop_front(taken);
        Ok(taken)
    }

    /// An attempt to write to a pipe what follows the bytes that `so_far` counts. A small write goes in whole or not at
    /// all.
    ///
    /// # Errors
    /// `EAGAIN` until everything is in; `EPIPE` when no reader remains; `EBADF` for the reading end.
    pub fn pipe_write(&mut self, fd: RawFd, pieces: &[&[u8]], so_far: &mut usize) -> Result<usize, Errno> {
        let pipe = self.pipes.pipe_mut(fd, Side::Writing)?;
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        if !pipe.reader {
            return Err(Errno::EPIPE);
        }
        let room = pipe.room();
        if total <= PIPE_BUF && room < total {
            return Err(Errno::EAGAIN);
        }
        let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.iter().copied()).skip(*so_far).take(room).collect();
        pipe.put(&bytes);
        *so_far += bytes.len();
        if *so_far < total { Err(Errno::EAGAIN) } else { Ok(total) }
    }

    /// An attempt at `splice(2)`: moves up to `len` bytes without the caller seeing them. One side is a pipe.
    ///
    /// # Errors
    /// `EAGAIN` while nothing can be moved; `EINVAL` without a pipe, or with the same one twice; those of reading and writing.
    pub fn splice(&mut self, from: RawFd, to: RawFd, len: usize, flags: u32) -> Result<usize, Errno> {
        match (self.pipes.contains(from), self.pipes.contains(to)) {
            (true, true) => self.splice_pipes(from, to, len),
            (true, false) => self.splice_to_socket(from, to, len, flags),
            (false, true) => self.splice_from_socket(from, to, len),
            (false, false) => self.socket(from).and(self.socket(to)).and(Err(Errno::EINVAL)),
        }
    }

    fn splice_from_socket(&mut self, from: RawFd, to: RawFd, len: usize) -> Result<usize, Errno> {
        let pipe = self.pipes.pipe_mut(to, Side::Writing)?;
        if !pipe.reader {
            return Err(Errno::EPIPE);
        }
        let most = len.min(pipe.room());
        if most == 0 {
            return if len == 0 { Ok(0) } else { Err(Errno::EAGAIN) };
        }
        let mut bytes = vec![0; most];
        let at_mark = self.is_at_mark(from);
        let mut receiving = Receiving::default();
        let result = self.receive(from, &mut [&mut bytes], MSG_DONTWAIT, &mut receiving);
        if receiving.len == 0 {
            // An urgent byte that lies in the way is not spliced, nor is it waited behind it.
            return if at_mark { Ok(0) } else { result };
        }
        self.pipes.pipe_mut(to, Side::Writing)?.put(&bytes[..receiving.len]);
        Ok(receiving.len)
    }

    fn splice_to_socket(&mut self, from: RawFd, to: RawFd, len: usize, flags: u32) -> Result<usize, Errno> {
        let bytes = self.front_of_pipe(from, len)?;
        if bytes.is_empty() {
            return Ok(0);
        }
        let more = if flags & SPLICE_F_MORE != 0 { MSG_MORE } else { 0 };
        let mut sending = Sending::default();
        let result = self.send(to, &[&bytes], MSG_DONTWAIT | more, &mut sending);
        if sending.len == 0 {
            return result;
        }
        self.pipes.pipe_mut(from, Side::Reading)?.drop_front(sending.len);
        Ok(sending.len)
    }

    fn splice_pipes(&mut self, from: RawFd, to: RawFd, len: usize) -> Result<usize, Errno> {
        let pipe_of = |host: &Self, fd| host.pipes.ends.get(&fd).map(|end| end.pipe);
        if pipe_of(self, from) == pipe_of(self, to) {
            return Err(Errno::EINVAL);
        }
        let mut bytes = self.front_of_pipe(from, len)?;
        let target = self.pipes.pipe_mut(to, Side::Writing)?;
        if !target.reader {
            return Err(Errno::EPIPE);
        }
        bytes.truncate(target.room());
        if bytes.is_empty() {
            return if len == 0 { Ok(0) } else { Err(Errno::EAGAIN) };
        }
        target.put(&bytes);
        self.pipes.pipe_mut(from, Side::Reading)?.drop_front(bytes.len());
        Ok(bytes.len())
    }

    /// Up to `len` bytes of what a pipe holds, which stay there; none when no writer remains.
    ///
    /// # Errors
    /// `EAGAIN` while it is empty; `EBADF`.
    fn front_of_pipe(&mut self, fd: RawFd, len: usize) -> Result<Vec<u8>, Errno> {
        let pipe = self.pipes.pipe_mut(fd, Side::Reading)?;
        if pipe.bytes.is_empty() && pipe.writer && len > 0 {
            return Err(Errno::EAGAIN);
        }
        Ok(pipe.bytes.iter().copied().take(len).collect())
    }
}
