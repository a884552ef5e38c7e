//! `read` and the like, as one attempt.

use super::{Socket, State};
use crate::host::Host;
use crate::reports::Ancillary;
use libc::{MSG_ERRQUEUE, MSG_OOB, MSG_PEEK, MSG_TRUNC, MSG_WAITALL};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::config::UrgentDelivery;
use tcp::{Conn, Read, UrgentError};

/// Progress of a receiving call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Receiving {
    /// Bytes received so far.
    pub len: usize,
    /// An attempt found too little. A waiting reader is woken when `SO_RCVLOWAT` bytes are available, even if its own buffer is
    /// smaller.
    waited: bool,
}

impl Host {
    /// One attempt to receive into `pieces`, after what earlier attempts of the same call have received.
    ///
    /// # Errors
    /// `EAGAIN` while less is available than the caller waits for; `ENOTCONN`, `EINVAL`, and the connection's error, once.
    pub fn receive(
        &mut self,
        fd: RawFd,
        pieces: &mut [&mut [u8]],
        flags: i32,
        receiving: &mut Receiving,
    ) -> Result<usize, Errno> {
        if flags & MSG_ERRQUEUE != 0 {
            // Without room for control messages the report is lost, as in Linux.
            return self.receive_report(fd).map(|_| 0);
        }
        let socket = self.socket_mut(fd)?;
        if let State::Deferred(_) = socket.state {
            return Err(Errno::EAGAIN);
        }
        let Some(conn) = socket.conn() else {
            let listens = matches!(socket.state, State::Listening(_));
            return match (listens, socket.shut_read) {
                (true, _) => Err(Errno::ENOTCONN),
                (false, true) => socket.take_error().map(|()| 0),
                (false, false) => socket.take_error().and(Err(Errno::ENOTCONN)),
            };
        };
        if flags & MSG_OOB != 0 {
            return self.receive_urgent(conn, pieces, flags);
        }
        let (low, shut_read, failed) = (socket.settings.receive_low, socket.shut_read, socket.error.is_some());
        let queues = self.stack.queues(conn);
        let fin_received = queues.is_some_and(|queues| queues.fin_received);
        let ends = fin_received || self.is_over(conn) || shut_read || failed;
        let slumbers = receiving.waited && self.readable(fd) < u64::from(low);
        if !slumbers || ends {
            self.take_bytes(conn, pieces, flags, &mut receiving.len);
        }
        let wanted: usize = pieces.iter().map(|piece| piece.len()).sum();
        // A read ends before urgent data, however much it asked for.
        let at_mark = self.stack.endpoint(conn).is_some_and(|endpoint| endpoint.urgent_ahead() == Some(0));
        let enough = match flags & MSG_WAITALL {
            _ if at_mark && receiving.len > 0 => receiving.len,
            0 => wanted.min(low as usize),
            _ => wanted,
        };
        // A caller that asks for zero bytes still waits until data is available.
        if receiving.len >= enough && (wanted > 0 || self.readable(fd) > 0) {
            return Ok(receiving.len);
        }
        if !ends {
            receiving.waited = true;
            return Err(Errno::EAGAIN);
        }
        // What the reader meets when no data is left: the peer's FIN before an error, an error before our own end. A call that
        // has bytes to return leaves this to the next call.
        if receiving.len == 0 && !fin_received {
            self.socket_mut(fd)?.take_error()?;
        }
        Ok(receiving.len)
    }

    /// The oldest report of the error queue. The call does not wait for one.
    ///
    /// # Errors
    /// `EAGAIN` when there is none.
    pub fn receive_report(&mut self, fd: RawFd) -> Result<Ancillary, Errno> {
        let socket = self.socket_mut(fd)?;
        let report = socket.reports.fetch().ok_or(Errno::EAGAIN)?;
        let (family, bits) = (socket.family, socket.settings.options.timestamping());
        Ok(report.ancillary(family, bits, |at| self.clock.wall_us(at)))
    }

    /// Moves readable bytes into place after the first `so_far`; a peek starts at the front each time.
    fn take_bytes(&mut self, conn: Conn, pieces: &mut [&mut [u8]], flags: i32, so_far: &mut usize) {
        let peek = flags & MSG_PEEK != 0;
        let skip = if peek { 0 } else { *so_far };
        let wanted: usize = pieces.iter().map(|piece| piece.len()).sum();
        let readable = self.stack.queues(conn).map_or(0, |queues| queues.readable);
        // No buffer is larger than the address space.
        let len = (wanted - skip).min(readable as usize);
        if len == 0 {
            return;
        }
        let mut bytes = vec![0; len];
        let (stack, mut cx) = self.stack_and_cx();
        // A mark of urgent data ends a read.
        let len = match peek {
            true => stack.peek(conn, &mut bytes),
            false => match stack.read(&mut cx, conn, &mut bytes) {
                Ok(Read::Data(len)) => len as usize,
                // Readable bytes can be read even after the connection has ended.
                Ok(Read::Fin) | Err(_) => 0,
            },
        };
        if flags & MSG_TRUNC == 0 {
            scatter(&bytes[..len], pieces, skip);
        }
        *so_far = skip + len;
    }

    /// Bytes that a reader gets without waiting, or those before a mark of urgent data; an urgent byte that is out of band
    /// is none of them.
    pub(super) fn readable(&self, fd: RawFd) -> u64 {
        let Some(socket) = self.sockets.get(&fd) else { return 0 };
        let Some(endpoint) = socket.conn().and_then(|conn| self.stack.endpoint(conn)) else { return 0 };
        let readable = endpoint.queues().readable;
        let out_of_band = socket.config.receive.urgent == UrgentDelivery::OutOfBand;
        match endpoint.urgent_ahead().filter(|_| out_of_band) {
            Some(0) => readable.saturating_sub(1),
            _ => readable,
        }
    }

    /// Whether an urgent byte has arrived and comes next.
    pub(crate) fn is_at_mark(&self, fd: RawFd) -> bool {
        let endpoint = self.sockets.get(&fd).and_then(Socket::conn).and_then(|conn| self.stack.endpoint(conn));
        endpoint.is_some_and(|endpoint| endpoint.urgent_ahead() == Some(0) && endpoint.queues().readable > 0)
    }

    /// `MSG_OOB`: the urgent byte that is kept out of the stream.
    fn receive_urgent(&mut self, conn: Conn, pieces: &mut [&mut [u8]], flags: i32) -> Result<usize, Errno> {
        let byte = if flags & MSG_PEEK != 0 {
            self.stack.endpoint(conn).map_or(Err(UrgentError::NoneAhead), tcp::Endpoint::urgent_byte)
        } else {
            let (stack, mut cx) = self.stack_and_cx();
            stack.take_urgent_byte(&mut cx, conn)
        };
        let byte = byte.map_err(|error| match error {
            UrgentError::NotYet => Errno::EAGAIN,
            UrgentError::NoneAhead | UrgentError::NoConnection => Errno::EINVAL,
        })?;
        let room = pieces.iter_mut().find_map(|piece| piece.first_mut());
        Ok(room.map_or(0, |place| {
            *place = byte;
            1
        }))
    }

    /// No more data will be sent or received on this connection.
    pub(super) fn is_over(&self, conn: Conn) -> bool {
        let state = self.stack.endpoint(conn).map(tcp::Endpoint::state);
        matches!(state, None | Some(tcp::State::Closed | tcp::State::TimeWait))
    }
}

/// Copies `bytes` into `pieces`, skipping the first `skip` bytes, which are filled.
fn scatter(bytes: &[u8], pieces: &mut [&mut [u8]], mut skip: usize) {
    let mut left = bytes;
    for piece in pieces {
        let from = skip.min(piece.len());
        skip -= from;
        let len = left.len().min(piece.len() - from);
        piece[from..from + len].copy_from_slice(&left[..len]);
        left = &left[len..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_on_where_the_last_attempt_ended() {
        let (mut first, mut second) = ([0; 3], [0; 4]);
        scatter(b"ab", &mut [&mut first, &mut second], 0);
        scatter(b"cdef", &mut [&mut first, &mut second], 2);
        assert_eq!((&first, &second), (b"abc", b"def\0"));
    }
}
