//! Socket buffers as Linux counts them (`SO_SNDBUF`, `SO_RCVBUF`, `tcp_rmem`, `tcp_wmem`), and the window that follows.
//!
//! Sizes include the kernel's own overhead: a requested size is doubled, and half of a receive buffer is window at first: the
//! kernel's assumption before it has seen a segment.
//! A requested size is fixed; otherwise buffers grow, the receive buffer by what is read.

use crate::sysctl::Sysctls;
use base::Bytes;
use tcp::config::{
    Config, DrsConfig, FrameGrowth, FrameMemory, ReceiveAccounting, ReceiveWindowConfig, SendAccounting, SendConfig,
    SendGrowth, WindowRounding, WindowScaleConfig,
};

/// Smallest sizes (`SOCK_MIN_SNDBUF`, `SOCK_MIN_RCVBUF`): two small packets with their overhead, and one.
const SNDBUF_MIN: u32 = 4_608;
pub(crate) const RCVBUF_MIN: u32 = 2_304;
/// The largest value of a size.
const SIZE_MAX: u32 = i32::MAX as u32;
/// The share of a buffer that the window takes, as a divisor.
const WINDOW_SHARE: u32 = 2;
/// Largest possible window (RFC 7323 §2.3), and largest shift.
const WINDOW_MAX: u32 = 65_535 << SHIFT_MAX;
const SHIFT_MAX: u8 = 14;
/// The largest buffer the endpoint accepts.
const BUFFER_MAX: Bytes = 1 << 30;

/// The bits of `SO_BUF_LOCK`: which sizes are fixed.
pub(crate) const SNDBUF_LOCKED: i32 = 1;
pub(crate) const RCVBUF_LOCKED: i32 = 2;

/// The two buffers of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buffers {
    pub sndbuf: u32,
    pub rcvbuf: u32,
    /// [`SNDBUF_LOCKED`] and [`RCVBUF_LOCKED`].
    pub locks: i32,
    /// `TCP_WINDOW_CLAMP`; zero for none.
    pub window_clamp: u32,
    rmem: [u32; 3],
    wmem: [u32; 3],
    rmem_max: u32,
    wmem_max: u32,
    scaling: Scaling,
    growth: Growth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scaling {
    Off,
    On,
}

/// `tcp_moderate_rcvbuf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Growth {
    Off,
    On,
}

/// Whether the administrator's maximum limits a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// `SO_SNDBUF`, `SO_RCVBUF`.
    Maximum,
    /// `SO_SNDBUFFORCE`, `SO_RCVBUFFORCE`.
    Nothing,
}

impl Buffers {
    /// The buffers of a new socket; without a namespace, the kernel's defaults.
    pub fn new(sysctls: &Sysctls) -> Self {
        let rmem = sysctls.sizes("ipv4/tcp_rmem").unwrap_or([4_096, 131_072, 6 << 20]);
        let wmem = sysctls.sizes("ipv4/tcp_wmem").unwrap_or([4_096, 16_384, 4 << 20]);
        let max = |name| sysctls.number(name).and_then(|max| u32::try_from(max).ok()).unwrap_or(212_992);
        let is_off = |name| sysctls.number(name) == Some(0);
        Self {
            sndbuf: wmem[1],
            rcvbuf: rmem[1],
            locks: 0,
            window_clamp: 0,
            rmem_max: max("core/rmem_max"),
            wmem_max: max("core/wmem_max"),
            rmem,
            wmem,
            scaling: if is_off("ipv4/tcp_window_scaling") { Scaling::Off } else { Scaling::On },
            growth: if is_off("ipv4/tcp_moderate_rcvbuf") { Growth::Off } else { Growth::On },
        }
    }

    /// The application requests a send buffer of this size.
    pub fn set_send(&mut self, asked: i32, bound: Bound) {
        self.sndbuf = doubled(asked, bound, self.wmem_max).max(SNDBUF_MIN);
        self.locks |= SNDBUF_LOCKED;
    }

    /// The application requests a receive buffer of this size.
    pub fn set_receive(&mut self, asked: i32, bound: Bound) {
        self.rcvbuf = doubled(asked, bound, self.rmem_max).max(RCVBUF_MIN);
        self.locks |= RCVBUF_LOCKED;
    }

    /// Sets how many bytes wake a reader; the buffer must hold at least that many. Returns the number in force.
    pub fn set_low_water(&mut self, asked: i32) -> u32 {
        let asked = u32::try_from(asked).unwrap_or(SIZE_MAX);
        let largest = if self.is_locked(RCVBUF_LOCKED) { self.rcvbuf / 2 } else { self.rmem[2] / 2 };
        let low = asked.min(largest).max(1);
        let needed = low.saturating_mul(WINDOW_SHARE);
        if !self.is_locked(RCVBUF_LOCKED) && needed > self.rcvbuf {
            self.rcvbuf = needed;
        }
        low
    }

    pub fn is_locked(&self, which: i32) -> bool {
        self.locks & which != 0
    }

    /// The window that an empty receive buffer gives, and the largest that may ever be offered.
    fn window(&self) -> (Bytes, Bytes) {
        let full = self.rcvbuf / WINDOW_SHARE;
        let clamp = if self.window_clamp == 0 { WINDOW_MAX } else { self.window_clamp };
        let clamp = if self.is_locked(RCVBUF_LOCKED) { clamp.min(full) } else { clamp };
        (full.min(clamp), clamp)
    }

    /// The window shift of a SYN: what the largest buffer requires; a requested size is also the largest.
    pub fn shift(&self) -> u8 {
        let (window, clamp) = self.window();
        let space = window.max(self.rmem[2]).max(self.rmem_max).min(clamp);
        // A 16-bit field without its highest bit, from the time when windows were signed numbers.
        (space.max(1).ilog2().saturating_sub(15) as u8).min(SHIFT_MAX)
    }

    /// The initial window, and the largest one to which it grows.
    fn bounds(&self) -> DrsConfig {
        let (window, clamp) = self.window();
        let grows = !self.is_locked(RCVBUF_LOCKED) && self.growth == Growth::On;
        let largest = if grows { (self.rmem[2] / WINDOW_SHARE).min(clamp) } else { window };
        let field_max = match self.scaling {
            Scaling::Off => 65_535,
            Scaling::On => 65_535 << self.shift(),
        };
        let initial = window.min(field_max).max(1);
        DrsConfig { initial, max: largest.min(field_max).max(initial) }
    }

    /// How the memory of received packets is counted.
    fn frames(&self) -> FrameMemory {
        let grows = !self.is_locked(RCVBUF_LOCKED) && self.growth == Growth::On;
        FrameMemory {
            buffer: self.rcvbuf.clamp(1, BUFFER_MAX),
            buffer_max: self.rmem[2].max(self.rcvbuf).clamp(1, BUFFER_MAX),
            growth: if grows { FrameGrowth::Grows } else { FrameGrowth::Fixed },
        }
    }

    /// The send buffer: one that counts memory begins small and grows; any other has its final size from the start.
    fn edit_send(&self, send: &mut SendConfig) {
        let max = self.wmem[2].max(self.sndbuf).clamp(1, BUFFER_MAX);
        let (size, growth) = match send.accounting {
            _ if self.is_locked(SNDBUF_LOCKED) => (self.sndbuf, SendGrowth::Fixed),
            SendAccounting::Chunks { .. } => (self.sndbuf, SendGrowth::WithWindow { max }),
            SendAccounting::Bytes => (max, SendGrowth::Fixed),
        };
        (send.buffer, send.growth) = (size.clamp(1, BUFFER_MAX), growth);
    }

    /// Size of the send buffer, which may have grown to `present`.
    pub fn send_size(&self, present: Option<Bytes>) -> u32 {
        present.filter(|_| !self.is_locked(SNDBUF_LOCKED)).map_or(self.sndbuf, |present| present.max(self.sndbuf))
    }

    /// Writes the sizes into a connection's settings.
    pub fn edit(&self, config: &mut Config) {
        config.receive.window = ReceiveWindowConfig::Drs(self.bounds());
        config.receive.rounding = WindowRounding::SegmentsFromSyn;
        config.receive.accounting = ReceiveAccounting::Frames(self.frames());
        config.options.window_scale = match self.scaling {
            Scaling::Off => WindowScaleConfig::Off,
            Scaling::On => WindowScaleConfig::Shift(self.shift()),
        };
        self.edit_send(&mut config.send);
    }
}

/// The requested size plus its overhead. Negative numbers count as large ones, except where no maximum applies.
fn doubled(asked: i32, bound: Bound, max: u32) -> u32 {
    let asked = match bound {
        Bound::Maximum => (asked as u32).min(max),
        Bound::Nothing => asked.max(0) as u32,
    };
    asked.min(SIZE_MAX / 2) * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    fn buffers() -> Buffers {
        Buffers::new(&crate::sysctl::tests::namespace(&[
            ("ipv4/tcp_rmem", "4096 131072 15728640"),
            ("core/rmem_max", "212992"),
        ]))
    }

    // `setsockopt(SO_RCVBUF, [20000])` makes a kernel's SYN-ACK show 18980 = 13 segments of 1460, and no scaling.
    #[test_case(20_000 => (40_000, 20_000, 0); "twice what was asked for, half of it window")]
    #[test_case(1 => (2_304, 1_152, 0); "no less than a small packet")]
    #[test_case(1 << 30 => (425_984, 212_992, 2); "no more than the administrator allows")]
    #[test_case(-1 => (425_984, 212_992, 2); "a negative number is a large one")]
    fn a_receive_buffer_that_was_asked_for(asked: i32) -> (u32, u32, u8) {
        let mut buffers = buffers();
        buffers.set_receive(asked, Bound::Maximum);
        let bounds = buffers.bounds();
        assert_eq!(bounds.max, bounds.initial, "it does not grow");
        (buffers.rcvbuf, bounds.initial, buffers.shift())
    }

    #[test_case(0 => (65_536, 8))]
    #[test_case(10_000 => (10_000, 0))]
    #[test_case(100_000 => (65_536, 1); "more than the buffer gives bounds later growth and the shift")]
    fn the_window_is_clamped(clamp: u32) -> (u32, u8) {
        let buffers = Buffers { window_clamp: clamp, ..buffers() };
        (buffers.bounds().initial, buffers.shift())
    }

    #[test]
    fn who_waits_for_much_gets_a_buffer_for_it_unless_the_size_was_asked_for() {
        let mut free = buffers();
        assert_eq!((free.set_low_water(200_000), free.rcvbuf), (200_000, 400_000));
        assert_eq!(free.set_low_water(i32::MAX), 15_728_640 / 2);
        let mut asked = buffers();
        asked.set_receive(10_000, Bound::Maximum);
        assert_eq!((asked.set_low_water(1 << 30), asked.rcvbuf), (10_000, 20_000));
    }

    #[test]
    fn a_send_buffer_that_was_asked_for_is_what_may_be_written_ahead() {
        let mut config = Config::default();
        let mut buffers = buffers();
        buffers.edit(&mut config);
        assert_eq!(config.send.buffer, 4 << 20, "it may grow to the largest");
        config.send.accounting = SendAccounting::Chunks { head: 640, record: 256 };
        buffers.edit(&mut config);
        assert_eq!((config.send.buffer, config.send.growth), (16_384, SendGrowth::WithWindow { max: 4 << 20 }));
        assert_eq!((buffers.send_size(None), buffers.send_size(Some(87_040))), (16_384, 87_040));
        buffers.set_send(5_000, Bound::Maximum);
        buffers.edit(&mut config);
        assert_eq!((config.send.buffer, config.send.growth), (10_000, SendGrowth::Fixed));
        assert_eq!(buffers.send_size(Some(87_040)), 10_000);
    }
}
