//! `pipe` and `splice`.

mod pipes;

pub(crate) use pipes::Pipes;

use crate::host::Host;
use crate::socket::{Receiving, Sending};
use libc::{MSG_DONTWAIT, MSG_MORE, PIPE_BUF, SPLICE_F_MORE};
use nix::errno::Errno;
use pipes::Side;
use std::os::fd::RawFd;

impl Host {
    /// `pipe(2)`: the reading end, then the writing end.
    ///
    /// # Errors
    /// The errors of opening a descriptor.
    pub fn pipe(&mut self) -> Result<[RawFd; 2], Errno> {
        let fds = self.pipes.open()?;
        fds.iter().for_each(|fd| self.forget_watched(*fd));
        Ok(fds)
    }

    /// An attempt to read from a pipe.
    ///
    /// # Errors
    /// `EAGAIN` while the pipe is empty and a writer remains; `EBADF` for the writing end.
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
    /// `EAGAIN` until everything is written; `EPIPE` when no reader remains; `EBADF` for the reading end.
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

    /// An attempt at `splice(2)`: moves up to `len` bytes without the caller seeing them. One side must be a pipe.
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
            // An urgent byte in the way is not spliced, and splice does not wait for what follows it.
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
        if self.pipes.pipe_of(from) == self.pipes.pipe_of(to) {
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

    /// Up to `len` bytes from the front of a pipe, without removing them; none when no writer remains.
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
