//! Socket options: what was set on a socket, what it returns, and how it affects the connection.
//!
//! `table` has the options whose value is a number, `special` those that are more, `buffers` the sizes of buffers and the
//! windows that follow, `congestion` the names of algorithms, `config` what options change in [`tcp::Config`], `scene` and
//! `effect` what an option looks at and what it has done, `calls` the two calls themselves. Values, ranges and errors are Linux's; an option that is only stored says so nowhere else.

mod buffers;
mod calls;
mod config;
pub(crate) mod congestion;
mod effect;
pub(crate) mod names;
mod scene;
mod special;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use buffers::Buffers;

use crate::socket::Family;
use crate::sysctl::Sysctls;
use base::Duration;
use effect::Effect;
use libc::{
    AF_INET, AF_INET6, SO_ACCEPTCONN, SO_DOMAIN, SO_PRIORITY, SOL_IP, SOL_SOCKET, SOL_TCP, TCP_QUICKACK, c_int,
};
use nix::errno::Errno;
use scene::{Scene, Stage, has_level};
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::{AckPace, Config};

/// `SO_LINGER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linger {
    /// Whether `close` waits, or resets the connection (with zero time).
    pub on: c_int,
    pub seconds: c_int,
}

impl Linger {
    /// How long `close` waits; zero for a reset. `None` when it does not wait.
    pub fn time(self) -> Option<Duration> {
        (self.on != 0).then(|| Duration::from_secs(u64::from(self.seconds.max(0).unsigned_abs())))
    }
}

/// What was set on a socket.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    sysctls: Arc<Sysctls>,
    /// The connection's settings without options.
    base: Arc<Config>,
    /// Numbers that were set.
    numbers: BTreeMap<(c_int, c_int), c_int>,
    buffers: Buffers,
    linger: Linger,
    receive_timeout: Option<Duration>,
    send_timeout: Option<Duration>,
    receive_low: u32,
    max_pacing_rate: u64,
    timestamping: u32,
    user_mss: u16,
    congestion: Option<&'static str>,
    fastopen_key: Vec<u8>,
}

impl Default for Options {
    /// The options of a socket without a namespace.
    fn default() -> Self {
        Self::new(Config::default(), Sysctls::default())
    }
}

impl Options {
    /// The options of a new socket whose connections are otherwise configured by `base`.
    pub fn new(base: Config, sysctls: Sysctls) -> Self {
        Self {
            buffers: Buffers::new(&sysctls),
            sysctls: Arc::new(sysctls),
            base: Arc::new(base),
            numbers: BTreeMap::new(),
            linger: Linger::default(),
            receive_timeout: None,
            send_timeout: None,
            receive_low: 1,
            max_pacing_rate: u64::MAX,
            timestamping: 0,
            user_mss: 0,
            congestion: None,
            fastopen_key: Vec::new(),
        }
    }

    /// `SO_LINGER`.
    pub fn linger(&self) -> Linger {
        self.linger
    }

    /// `SO_RCVTIMEO`; `None` waits indefinitely.
    pub fn receive_timeout(&self) -> Option<Duration> {
        self.receive_timeout
    }

    /// `SO_SNDTIMEO`; `None` waits indefinitely.
    pub fn send_timeout(&self) -> Option<Duration> {
        self.send_timeout
    }

    /// `SO_RCVLOWAT`, at least 1.
    pub fn receive_low(&self) -> u32 {
        self.receive_low
    }

    /// `SO_TIMESTAMPING`'s bits.
    pub fn timestamping(&self) -> u32 {
        self.timestamping
    }

    /// The value of an option: what was set, or a new socket's default. Zero for options that are not numbers.
    pub fn number(&self, level: c_int, name: c_int) -> c_int {
        let initial = || table::find(level, name).map_or(0, |row| row.initial.value(&self.sysctls));
        self.numbers.get(&(level, name)).copied().unwrap_or_else(initial)
    }

    /// Whether an option was switched on.
    pub fn is_on(&self, level: c_int, name: c_int) -> bool {
        self.number(level, name) != 0
    }

    /// The number that the application has set.
    fn set_number(&self, level: c_int, name: c_int) -> Option<c_int> {
        self.numbers.get(&(level, name)).copied()
    }

    /// `setsockopt(2)`.
    ///
    /// # Errors
    /// `ENOPROTOOPT` for unknown or read-only options; `EINVAL` for values that are too short or out of range; the errors of the
    /// option itself.
    pub fn set(&mut self, scene: &Scene<'_>, level: c_int, name: c_int, value: &[u8]) -> Result<Effect, Errno> {
        if let Some(result) = self.set_special(scene, level, name, value) {
            return result;
        }
        let row = table::find(level, name).filter(|row| has_level(scene, row.level)).ok_or(Errno::ENOPROTOOPT)?;
        let asked = asked_number(level, name, value)?;
        let kept = row.take.take(asked, self.number(level, name), scene)?;
        self.numbers.insert((level, name), kept);
        self.follow(level, name, kept);
        Ok(Effect::of(level, name, asked))
    }

    /// Other options that change together with this one.
    fn follow(&mut self, level: c_int, name: c_int, kept: c_int) {
        match (level, name) {
            // The requested service determines the packet's priority at the device: low delay 6, throughput 2, both 4.
            (SOL_IP, libc::IP_TOS) => {
                let priority = [0, 2, 6, 4][(kept >> 3 & 3) as usize];
                self.numbers.insert((SOL_SOCKET, SO_PRIORITY), priority);
            }
            (SOL_TCP, libc::TCP_WINDOW_CLAMP) => self.buffers.window_clamp = kept as u32,
            _ => {}
        }
    }

    /// `getsockopt(2)` into a buffer of `room` bytes.
    ///
    /// # Errors
    /// `ENOPROTOOPT` (`EOPNOTSUPP` for unknown levels), and the errors of the option.
    pub fn get(&self, scene: &Scene<'_>, level: c_int, name: c_int, room: usize) -> Result<Vec<u8>, Errno> {
        if let Some(result) = self.get_special(scene, level, name, room) {
            return result.map(|mut value| {
                value.truncate(room);
                value
            });
        }
        let number = match (level, name) {
            (SOL_SOCKET, SO_DOMAIN) if scene.family == Family::V4 => AF_INET,
            (SOL_SOCKET, SO_DOMAIN) => AF_INET6,
            (SOL_SOCKET, SO_ACCEPTCONN) => c_int::from(scene.stage == Stage::Listening),
            (SOL_TCP, TCP_QUICKACK) if scene.pace.is_some() => c_int::from(scene.pace == Some(AckPace::Quick)),
            _ if !has_level(scene, level) => return Err(Errno::EOPNOTSUPP),
            _ => {
                table::find(level, name).ok_or(Errno::ENOPROTOOPT)?;
                self.number(level, name)
            }
        };
        Ok(cut_number(level, number, room))
    }
}

/// The number a caller passes. IPv4's options also accept a single byte, and some accept no bytes.
fn asked_number(level: c_int, name: c_int, value: &[u8]) -> Result<c_int, Errno> {
    if let Some(bytes) = value.first_chunk() {
        return Ok(c_int::from_ne_bytes(*bytes));
    }
    let needs_one = matches!(name, libc::IP_TTL | libc::IP_MINTTL | libc::IP_FREEBIND | libc::IP_TRANSPARENT);
    match (level, value.first()) {
        (SOL_IP, Some(byte)) => Ok((*byte).into()),
        (SOL_IP, None) if !needs_one => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}

/// A number in a buffer of `room` bytes; IPv4's options fit into one.
fn cut_number(level: c_int, number: c_int, room: usize) -> Vec<u8> {
    let bytes = number.to_ne_bytes();
    if let (SOL_IP, 1..4, Ok(byte)) = (level, room, u8::try_from(number)) {
        return vec![byte];
    }
    bytes[..room.min(bytes.len())].to_vec()
}
