//! `getsockopt` and `setsockopt`, and the control messages that options add to received bytes.

use super::effect::Effect;
use super::scene::{Bound, Scene, Stage};
use crate::control_message::ControlMessage;
use crate::host::Host;
use crate::socket::State;
use libc::{SO_ERROR, SO_REUSEADDR, SOL_SOCKET, SOL_TCP, TCP_FASTOPEN_CONNECT, TCP_INQ};
use nix::errno::Errno;
use std::os::fd::RawFd;
use std::sync::Arc;

impl Host {
    /// `getsockopt(2)`: writes the value into `value` and returns its length.
    ///
    /// # Errors
    /// `EBADF`, and those of [`Options::get`](super::Options::get).
    pub fn getsockopt(&mut self, fd: RawFd, level: i32, name: i32, value: &mut [u8]) -> Result<usize, Errno> {
        let answer = if (level, name) == (SOL_SOCKET, SO_ERROR) {
            // An error is reported only once.
            let error = self.socket_mut(fd)?.error.take();
            error.map_or(0, |error| error as i32).to_ne_bytes().to_vec()
        } else {
            self.with_scene(fd, |scene, options| options.get(scene, level, name, value.len()))??
        };
        let len = answer.len().min(value.len());
        value[..len].copy_from_slice(&answer[..len]);
        Ok(len)
    }

    /// `setsockopt(2)`.
    ///
    /// # Errors
    /// `EBADF`, `EOPNOTSUPP` for Fast Open where it is off, `EINVAL` when the settings together are out of bounds, and those of [`Options::set`](super::Options::set).
    /// After an error everything is as before.
    pub fn setsockopt(&mut self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
        if (level, name) == (SOL_TCP, TCP_FASTOPEN_CONNECT) && self.fast_open_is_off(fd)? {
            return Err(Errno::EOPNOTSUPP);
        }
        let (effect, options) = self.with_scene(fd, |scene, options| {
            let mut options = options.clone();
            options.set(scene, level, name, value).map(|effect| (effect, options))
        })??;
        let config = options.config();
        config.clone().validate().map_err(|_| Errno::EINVAL)?;
        let socket = self.socket_mut(fd)?;
        let settings = &mut socket.settings;
        settings.linger = options.linger().time();
        settings.receive_timeout = options.receive_timeout();
        settings.send_timeout = options.send_timeout();
        settings.receive_low = options.receive_low();
        settings.reuse_address = options.is_on(SOL_SOCKET, SO_REUSEADDR);
        let numbers = |bits: u32| bits & libc::SOF_TIMESTAMPING_OPT_ID;
        let numbered = numbers(options.timestamping()) > numbers(settings.options.timestamping());
        settings.options = options;
        if numbered {
            self.number_bytes(fd)?;
        }
        let socket = self.socket_mut(fd)?;
        match effect {
            Effect::Kept => Ok(()),
            // Blocked calls check again with the settings that the turn after this call uses.
            Effect::Settings => {
                socket.config = config;
                let pushed = (level, name, value.first()) == (SOL_TCP, libc::TCP_NODELAY, Some(&1));
                let conn = socket.conn().filter(|_| pushed);
                self.config_changed(fd)?;
                if let Some(conn) = conn {
                    let (stack, mut cx) = self.stack_and_cx();
                    stack.push_pending(&mut cx, conn);
                }
                self.fast_open_keys_changed(fd)
            }
            Effect::Pace(pace) => {
                if let Some(conn) = socket.conn() {
                    let (stack, mut cx) = self.stack_and_cx();
                    stack.set_ack_pace(&mut cx, conn, pace);
                }
                Ok(())
            }
        }
    }

    /// From now on reports number bytes relative to the next byte to be acknowledged, counting a SYN, or relative to the next
    /// byte to be written.
    fn number_bytes(&mut self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        let Some(conn) = socket.conn() else { return Ok(()) };
        let written = socket.reports.written();
        let from_next = socket.settings.options.timestamping() & super::special::TIMESTAMPING_OPT_ID_TCP != 0;
        let opening = self.stack.endpoint(conn).is_some_and(|endpoint| endpoint.state() == tcp::State::SynSent);
        let unacknowledged = self.stack.queues(conn).map_or(0, |queues| u64::from(queues.unacknowledged));
        let origin = match (from_next, opening) {
            (true, _) => written,
            (false, true) => u64::MAX,
            (false, false) => written - unacknowledged,
        };
        self.socket_mut(fd)?.reports.number_from(origin);
        Ok(())
    }

    /// Cookies are made with the listener's own keys, or with the namespace's.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn fast_open_keys_changed(&mut self, fd: RawFd) -> Result<(), Errno> {
        let socket = self.socket(fd)?;
        if let State::Listening(listener) = &socket.state {
            let (on, keys) = (listener.on, socket.settings.options.fast_open_keys());
            self.stack.set_fast_open_keys_of(on, keys);
        }
        Ok(())
    }

    /// Runs `call` on a socket's options with the state that they may read.
    fn with_scene<T>(&self, fd: RawFd, call: impl FnOnce(&Scene<'_>, &super::Options) -> T) -> Result<T, Errno> {
        let socket = self.socket(fd)?;
        let conn = socket.conn();
        let details = conn.and_then(|conn| self.stack.details(conn, self.now()));
        let queues = conn.and_then(|conn| self.stack.queues(conn));
        let (stage, backlog) = match &socket.state {
            State::Fresh => (Stage::Fresh, (0, 0)),
            State::Listening(listener) => (Stage::Listening, (listener.waiting.len() as u32, listener.backlog)),
            State::Deferred(_) | State::Connecting(_) | State::Connected(_) => (Stage::Opened, (0, 0)),
        };
        let sysctls = Arc::clone(&socket.settings.options.sysctls);
        let scene = Scene {
            family: socket.family,
            stage,
            bound: if socket.bound.is_some() { Bound::Yes } else { Bound::No },
            sysctls: &sysctls,
            details: details.as_ref(),
            pace: conn.and_then(|conn| self.stack.endpoint(conn)).map(tcp::Endpoint::ack_pace),
            backlog,
            // No queue holds more than the type can represent.
            queued: queues.map_or((0, 0), |queues| {
                (queues.readable as u32, details.as_ref().map_or(0, |details| details.send_memory))
            }),
        };
        Ok(call(&scene, &socket.settings.options))
    }

    /// Control messages for a `recvmsg` that has just succeeded: with `TCP_INQ`, how much remains to be read. The peer's FIN
    /// counts as one byte, so that a reader calls again for it.
    pub fn control_messages(&mut self, fd: RawFd) -> Vec<ControlMessage> {
        let Ok(socket) = self.socket(fd) else { return Vec::new() };
        let asked = socket.settings.options.is_on(SOL_TCP, TCP_INQ);
        let Some(queues) = socket.conn().filter(|_| asked).and_then(|conn| self.stack.queues(conn)) else {
            return Vec::new();
        };
        let left = queues.readable as i32 + i32::from(queues.fin_received);
        vec![ControlMessage { level: SOL_TCP, kind: TCP_INQ, data: left.to_ne_bytes().to_vec() }]
    }
}
