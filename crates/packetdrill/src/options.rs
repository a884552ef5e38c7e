//! Socket options.

use crate::host::Host;
use base::Duration;
use libc::{IPPROTO_TCP, SO_ERROR, SO_LINGER, SO_REUSEADDR, SOL_SOCKET, TCP_NODELAY};
use nix::errno::Errno;
use std::os::fd::RawFd;
use tcp::config::NagleConfig;

/// A control message beside received octets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlMessage {
    /// `cmsg_level`.
    pub level: i32,
    /// `cmsg_type`.
    pub kind: i32,
    /// What follows its header.
    pub data: Vec<u8>,
}

impl ControlMessage {
    /// Its octets: `cmsghdr`, data, and what fills up to the next multiple of its alignment.
    pub fn encode(&self) -> Vec<u8> {
        let len = size_of::<libc::cmsghdr>() + self.data.len();
        let padded = len.next_multiple_of(align_of::<libc::cmsghdr>());
        let mut octets = Vec::with_capacity(padded);
        octets.extend_from_slice(&len.to_ne_bytes());
        octets.extend_from_slice(&self.level.to_ne_bytes());
        octets.extend_from_slice(&self.kind.to_ne_bytes());
        octets.extend_from_slice(&self.data);
        octets.resize(padded, 0);
        octets
    }
}

impl Host {
    /// `getsockopt(2)`: writes the value into `value` and returns its length.
    ///
    /// # Errors
    /// `EBADF`, `ENOPROTOOPT`.
    pub fn getsockopt(&mut self, fd: RawFd, level: i32, name: i32, value: &mut [u8]) -> Result<usize, Errno> {
        let socket = self.socket_mut(fd)?;
        match (level, name) {
            (SOL_SOCKET, SO_ERROR) => {
                let error = socket.error.take().map_or(0, |error| error as i32).to_ne_bytes();
                let len = value.len().min(error.len());
                value[..len].copy_from_slice(&error[..len]);
                Ok(len)
            }
            _ => Err(Errno::ENOPROTOOPT),
        }
    }

    /// `setsockopt(2)`.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` for a value that is too short, `ENOPROTOOPT`.
    pub fn setsockopt(&mut self, fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
        let socket = self.socket_mut(fd)?;
        let number = value.first_chunk().map(|octets| i32::from_ne_bytes(*octets)).ok_or(Errno::EINVAL)?;
        match (level, name) {
            (SOL_SOCKET, SO_REUSEADDR) => socket.settings.reuse_address = number != 0,
            (SOL_SOCKET, SO_LINGER) => {
                let time = value.last_chunk().map_or(0, |octets| i32::from_ne_bytes(*octets));
                let time = Duration::from_secs(u64::try_from(time).unwrap_or(0));
                socket.settings.linger = (number != 0).then_some(time);
            }
            (IPPROTO_TCP, TCP_NODELAY) => {
                let default = self.flags.profile.config().send.nagle;
                self.socket_mut(fd)?.config.send.nagle = if number != 0 { NagleConfig::Off } else { default };
                return self.config_changed(fd);
            }
            _ => return Err(Errno::ENOPROTOOPT),
        }
        Ok(())
    }

    /// Control messages for a `recvmsg` that has just succeeded.
    pub fn control_messages(&mut self, _fd: RawFd) -> Vec<ControlMessage> {
        Vec::new()
    }
}
