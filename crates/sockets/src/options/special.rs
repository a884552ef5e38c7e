//! Options whose value is more than a number, or whose number depends on the connection.

use super::buffers::{Bound, RCVBUF_LOCKED};
use super::effect::Effect;
use super::scene::{Scene, Stage, has_level};
use super::{Linger, Options, congestion};
use crate::info;
use base::Duration;
use libc::*;
use nix::errno::Errno;

/// Segment sizes that `TCP_MAXSEG` accepts (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`), and a socket's initial value.
const MSS: std::ops::RangeInclusive<c_int> = 88..=32_767;
const DEFAULT_MSS: c_int = 536;
/// Lengths of a Fast Open key: one key, or the current and the previous one.
const KEY_LENS: [usize; 2] = [16, 32];
const USEC_PER_SEC: i64 = 1_000_000;
/// `SO_TIMESTAMPING`'s bits: all of them, and those that not every socket supports.
const TIMESTAMPING_ALL: u32 = (1 << 19) - 1;
const TIMESTAMPING_OPT_ID: u32 = 1 << 7;
const TIMESTAMPING_BIND_PHC: u32 = 1 << 15;
pub(super) const TIMESTAMPING_OPT_ID_TCP: u32 = 1 << 16;
/// The least MTU of IPv6, which `IPV6_MTU` may not undercut.
const IPV6_MIN_MTU: c_int = 1_280;

type Set = Result<Effect, Errno>;
type Got = Result<Vec<u8>, Errno>;

impl Options {
    /// Sets an option of this file; `None` when the option is not one of them.
    pub(super) fn set_special(&mut self, scene: &Scene<'_>, level: c_int, name: c_int, value: &[u8]) -> Option<Set> {
        match level {
            SOL_SOCKET => self.set_of_socket(scene, name, value),
            SOL_TCP => self.set_of_tcp(name, value),
            SOL_IPV6 if name == IPV6_MTU && has_level(scene, level) => {
                let fits =
                    |mtu: c_int| if mtu == 0 || mtu >= IPV6_MIN_MTU { Ok(Effect::Kept) } else { Err(Errno::EINVAL) };
                Some(number(value).and_then(fits))
            }
            _ => None,
        }
    }

    fn set_of_socket(&mut self, scene: &Scene<'_>, name: c_int, value: &[u8]) -> Option<Set> {
        let read_only = matches!(name, SO_ERROR | SO_ACCEPTCONN | SO_MEMINFO | SO_PEERNAME | SO_DOMAIN);
        let kept = match name {
            // Every option takes at least a number, even one that cannot be set.
            _ if number(value).is_err() => Err(Errno::EINVAL),
            _ if read_only => Err(Errno::ENOPROTOOPT),
            SO_SNDBUF | SO_SNDBUFFORCE | SO_RCVBUF | SO_RCVBUFFORCE => {
                number(value).map(|asked| self.size(name, asked))
            }
            SO_RCVLOWAT => number(value).map(|asked| {
                // A negative number counts as a large one.
                let asked = if asked < 0 { c_int::MAX } else { asked };
                self.receive_low = self.buffers.set_low_water(asked);
                Effect::Settings
            }),
            SO_BUF_LOCK => number(value).and_then(|locks| match locks {
                0..=3 => {
                    self.buffers.locks = locks;
                    Ok(Effect::Settings)
                }
                _ => Err(Errno::EINVAL),
            }),
            SO_LINGER => self.set_linger(value),
            SO_RCVTIMEO | SO_RCVTIMEO_NEW => timeout(value).map(|time| {
                self.receive_timeout = time;
                Effect::Kept
            }),
            SO_SNDTIMEO | SO_SNDTIMEO_NEW => timeout(value).map(|time| {
                self.send_timeout = time;
                Effect::Kept
            }),
            SO_MAX_PACING_RATE => number(value).map(|rate| {
                let wide = value.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
                // All ones mean no limit in either width.
                let narrow = if rate == -1 { u64::MAX } else { u64::from(rate as u32) };
                self.max_pacing_rate = wide.unwrap_or(narrow);
                Effect::Kept
            }),
            SO_TIMESTAMPING | SO_TIMESTAMPING_NEW => number(value).and_then(|bits| self.set_timestamping(scene, bits)),
            _ => return None,
        };
        Some(kept)
    }

    fn size(&mut self, name: c_int, asked: c_int) -> Effect {
        match name {
            SO_SNDBUF => self.buffers.set_send(asked, Bound::Maximum),
            SO_SNDBUFFORCE => self.buffers.set_send(asked, Bound::Nothing),
            SO_RCVBUF => self.buffers.set_receive(asked, Bound::Maximum),
            _ => self.buffers.set_receive(asked, Bound::Nothing),
        }
        Effect::Settings
    }

    fn set_linger(&mut self, value: &[u8]) -> Set {
        let pair: &[u8; 8] = value.first_chunk().ok_or(Errno::EINVAL)?;
        let (on, seconds) = (number(&pair[..4])?, number(&pair[4..])?);
        // When lingering is turned off, the time set before is kept but not reported.
        self.linger = if on == 0 { Linger { on: 0, ..self.linger } } else { Linger { on: 1, seconds } };
        Ok(Effect::Kept)
    }

    fn set_timestamping(&mut self, scene: &Scene<'_>, bits: c_int) -> Set {
        let bits = bits as u32;
        let numbered = bits & TIMESTAMPING_OPT_ID != 0;
        if bits & !TIMESTAMPING_ALL != 0 || (bits & TIMESTAMPING_OPT_ID_TCP != 0 && !numbered) {
            return Err(Errno::EINVAL);
        }
        // Bytes are numbered from the first one the connection carries.
        if numbered && self.timestamping & TIMESTAMPING_OPT_ID == 0 && scene.stage != Stage::Opened {
            return Err(Errno::EINVAL);
        }
        if bits & TIMESTAMPING_BIND_PHC != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        self.timestamping = bits;
        Ok(Effect::Kept)
    }

    fn set_of_tcp(&mut self, name: c_int, value: &[u8]) -> Option<Set> {
        let kept = match name {
            TCP_CONGESTION => self.set_congestion(value),
            TCP_FASTOPEN_KEY => {
                if KEY_LENS.contains(&value.len()) {
                    self.fastopen_key = value.to_vec();
                    Ok(Effect::Settings)
                } else {
                    Err(Errno::EINVAL)
                }
            }
            // No upper-layer protocol is available.
            TCP_ULP if !value.is_empty() => Err(Errno::ENOENT),
            _ if number(value).is_err() => Err(Errno::EINVAL),
            TCP_MAXSEG => number(value)
                .and_then(|asked| match asked {
                    0 => Ok(0),
                    _ if MSS.contains(&asked) => Ok(asked as u16),
                    _ => Err(Errno::EINVAL),
                })
                .map(|mss| {
                    self.user_mss = mss;
                    Effect::Settings
                }),
            TCP_REPAIR_QUEUE | TCP_QUEUE_SEQ | TCP_REPAIR_WINDOW | TCP_TIMESTAMP => Err(Errno::EPERM),
            TCP_REPAIR_OPTIONS => Err(Errno::EINVAL),
            _ => return None,
        };
        Some(kept)
    }

    fn set_congestion(&mut self, value: &[u8]) -> Set {
        if value.is_empty() {
            return Err(Errno::EINVAL);
        }
        let value = &value[..value.len().min(congestion::NAME_LEN - 1)];
        let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = std::str::from_utf8(name).map_err(|_| Errno::ENOENT)?;
        self.congestion = Some(congestion::known(name).ok_or(Errno::ENOENT)?);
        Ok(Effect::Settings)
    }

    /// The value of an option of this file; `None` when the option is not one of them.
    pub(super) fn get_special(&self, scene: &Scene<'_>, level: c_int, name: c_int, room: usize) -> Option<Got> {
        match (level, name) {
            (SOL_SOCKET, _) => self.get_of_socket(scene, name, room),
            (SOL_TCP, _) => self.get_of_tcp(scene, name),
            (SOL_IP, IP_MTU) => Some(path_mtu(scene)),
            (SOL_IPV6, IPV6_MTU) if has_level(scene, level) => Some(path_mtu(scene)),
            _ => None,
        }
    }

    fn get_of_socket(&self, scene: &Scene<'_>, name: c_int, room: usize) -> Option<Got> {
        Some(Ok(match name {
            SO_SNDBUF => bytes(self.send_buffer(scene)),
            SO_RCVBUF => bytes(self.receive_buffer(scene)),
            SO_BUF_LOCK => bytes(self.buffers.locks),
            SO_RCVLOWAT => bytes(self.receive_low as c_int),
            SO_LINGER => {
                let seconds = if self.linger.on == 0 { 0 } else { self.linger.seconds };
                [bytes(self.linger.on), bytes(seconds)].concat()
            }
            SO_RCVTIMEO | SO_RCVTIMEO_NEW => timeval(self.receive_timeout),
            SO_SNDTIMEO | SO_SNDTIMEO_NEW => timeval(self.send_timeout),
            SO_TIMESTAMPING | SO_TIMESTAMPING_NEW => [bytes(self.timestamping as c_int), bytes(0)].concat(),
            SO_MAX_PACING_RATE if room >= 8 => self.max_pacing_rate.to_ne_bytes().to_vec(),
            SO_MAX_PACING_RATE => u32::try_from(self.max_pacing_rate).unwrap_or(u32::MAX).to_ne_bytes().to_vec(),
            SO_MEMINFO => {
                let (readable, queued) = scene.queued;
                let held = scene.details.and_then(|details| details.receive_memory);
                let readable = held.map_or(readable, |memory| memory.used);
                info::memory(readable, self.receive_buffer(scene), queued, self.send_buffer(scene)).to_vec()
            }
            _ => return None,
        }))
    }

    /// The capacity of the send buffer, which grows with its connection.
    /// The receive buffer's size, which may have grown.
    fn receive_buffer(&self, scene: &Scene<'_>) -> c_int {
        let grown = scene.details.and_then(|details| details.receive_memory).map_or(0, |memory| memory.buffer);
        if self.buffers.is_locked(RCVBUF_LOCKED) {
            self.buffers.rcvbuf as c_int
        } else {
            grown.max(self.buffers.rcvbuf) as c_int
        }
    }

    fn send_buffer(&self, scene: &Scene<'_>) -> c_int {
        self.buffers.send_size(scene.details.map(|details| details.send_buffer)) as c_int
    }

    fn get_of_tcp(&self, scene: &Scene<'_>, name: c_int) -> Option<Got> {
        Some(Ok(match name {
            TCP_MAXSEG => bytes(self.segment_size(scene)),
            TCP_INFO => self.tcp_info(scene).to_vec(),
            // Neither of the available algorithms reports anything.
            TCP_CC_INFO => Vec::new(),
            TCP_CONGESTION => {
                let mut name = congestion::name(&self.config()).as_bytes().to_vec();
                name.resize(congestion::NAME_LEN, 0);
                name
            }
            TCP_TIMESTAMP => bytes(scene.details.map_or(0, |details| details.timestamp) as c_int),
            TCP_FASTOPEN_KEY => self.fastopen_key.clone(),
            // No SYN is saved, and no protocol is layered on top.
            TCP_SAVED_SYN | TCP_ULP => Vec::new(),
            TCP_REPAIR_QUEUE | TCP_QUEUE_SEQ | TCP_REPAIR_WINDOW | TCP_ZEROCOPY_RECEIVE => {
                return Some(Err(Errno::EINVAL));
            }
            _ => return None,
        }))
    }

    /// Before the connection exists, the requested size; from then on the size in force.
    fn segment_size(&self, scene: &Scene<'_>) -> c_int {
        match (scene.details, self.user_mss) {
            (Some(details), _) => details.info.smss as c_int,
            (None, 0) => DEFAULT_MSS,
            (None, mss) => mss.into(),
        }
    }

    fn tcp_info(&self, scene: &Scene<'_>) -> [u8; info::INFO_LEN] {
        let reordering = self.sysctls.number("ipv4/tcp_reordering").and_then(|count| u32::try_from(count).ok());
        let mut side = info::SocketSide { max_pacing_rate: self.max_pacing_rate, ..info::SocketSide::default() };
        side.reordering = reordering.unwrap_or(side.reordering);
        match (scene.details, scene.stage) {
            (Some(details), _) => info::connection(details, &side),
            (None, Stage::Listening) => info::listener(&side, scene.backlog.0, scene.backlog.1),
            (None, _) => info::unconnected(&side, self.base.rto.initial, self.segment_size(scene) as u32),
        }
    }
}

fn path_mtu(scene: &Scene<'_>) -> Got {
    scene.details.map(|details| bytes(details.path_mtu.into())).ok_or(Errno::ENOTCONN)
}

fn bytes(number: c_int) -> Vec<u8> {
    number.to_ne_bytes().to_vec()
}

fn number(value: &[u8]) -> Result<c_int, Errno> {
    value.first_chunk().map(|bytes| c_int::from_ne_bytes(*bytes)).ok_or(Errno::EINVAL)
}

/// A `struct timeval`: seconds and microseconds, 64 bits each. Zero waits indefinitely, a negative time does not wait.
fn timeout(value: &[u8]) -> Result<Option<Duration>, Errno> {
    let (seconds, micros) = match (value.first_chunk::<8>(), value.get(8..16).and_then(|rest| rest.first_chunk::<8>()))
    {
        (Some(seconds), Some(micros)) => (i64::from_ne_bytes(*seconds), i64::from_ne_bytes(*micros)),
        _ => return Err(Errno::EINVAL),
    };
    if !(0..USEC_PER_SEC).contains(&micros) {
        return Err(Errno::EDOM);
    }
    if seconds < 0 {
        return Ok(Some(Duration::ZERO));
    }
    if seconds == 0 && micros == 0 {
        return Ok(None);
    }
    // The kernel's clock ticks in milliseconds: a fraction of one is rounded up.
    let millis = (seconds as u64).checked_mul(1_000).map(|ms| ms.saturating_add((micros as u64).div_ceil(1_000)));
    Ok(millis.filter(|ms| *ms < i64::MAX as u64 / 1_000_000).map(Duration::from_millis))
}

fn timeval(time: Option<Duration>) -> Vec<u8> {
    let micros = time.map_or(0, Duration::as_micros);
    let (seconds, micros) = (micros / USEC_PER_SEC as u64, micros % USEC_PER_SEC as u64);
    [seconds.to_ne_bytes(), micros.to_ne_bytes()].concat()
}
