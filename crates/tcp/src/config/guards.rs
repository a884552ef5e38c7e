//! Guards of a whole host against strangers: bounds on the memory and the work that traffic without a trusted peer can cause.
//! They belong to the stack and not to a profile, because they protect the host whatever TCP it emulates.
//!
//! Every bound is on by default and holds by construction. `docs/SECURITY.md` names the attack that each one answers, and what the
//! bound costs.

use super::SynCookies;
use base::Duration;

/// Limits of one stack, which is one shard of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardConfig {
    /// Whether to answer SYNs without keeping state (RFC 4987 §3.6), for listeners whose profile leaves this to the stack.
    pub cookies: SynCookies,
    /// Resolution of the driver's clock. A round trip below it is not a sample: the clock cannot distinguish it from
    /// zero, and an ACK that answers a segment in no time is an error or a forgery.
    pub clock_resolution: Duration,
    /// Memory for received data, pending handshakes, TIME-WAIT, orphans and queued replies together, in bytes.
    pub memory_max: u64,
    /// Whether data that the application has written counts against that, too.
    pub written: WrittenData,
    /// Blocks of out-of-order data that one connection keeps; a profile may set fewer with `receive.reassembly_max`.
    pub blocks_max: u32,
    /// Maximum number of connections in TIME-WAIT. When one more enters, the oldest one ends.
    pub time_wait_max: u32,
    /// Maximum number of orphans: connections that the application has released and that are not closed yet. One more resets the
    /// oldest, preferring orphans with nothing left to send.
    pub orphans_max: u32,
    /// How long a connection may live after its release. It is then reset, unless its peer has acknowledged 64 KiB more since the
    /// last check; answers to zero-window probes do not count.
    pub orphan_time: Duration,
    /// Replies to segments without a connection that may wait for the device; further replies are dropped.
    pub replies_max: u32,
    /// Resets per second in reply to segments without a connection. After a second of silence that many may leave in one burst.
    pub resets_per_second: u32,
}

/// How data that the application has written and the peer has not acknowledged counts against the memory budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenData {
    /// It does not: an application limits its own connections, each of which has its send buffer.
    Apart,
    /// It counts, and writes are cut short as the budget is used up: to an equal share of what is free, as windows are. A connection
    /// with nothing unacknowledged may always write 1,024 bytes.
    Counted,
}

impl Default for GuardConfig {
    /// Sized for a host with some gigabytes of memory: the budget is 256 MiB.
    ///
    /// 32,768 blocks are every second segment of a window of 94 MB. 16,384 connections in TIME-WAIT for 60 s allow 273 closes per
    /// second at the full wait. 1,000 resets per second are 0.4 Mbit/s, and more than a host with working peers sends.
    fn default() -> Self {
        Self {
            cookies: SynCookies::WhenFull,
            clock_resolution: Duration::from_nanos(1),
            memory_max: 256 << 20,
            written: WrittenData::Apart,
            blocks_max: 32_768,
            time_wait_max: 16_384,
            orphans_max: 4_096,
            orphan_time: Duration::from_secs(900),
            replies_max: 1_024,
            resets_per_second: 1_000,
        }
    }
}
