//! What `TCP_INFO` reports, in Linux's layout (`struct tcp_info`, as of 6.18: 280 bytes), and the memory counts of
//! `SO_MEMINFO`.
//!
//! Filled only from [`tcp::Details`]. What this stack counts differently is converted to Linux's terms here: windows into
//! segments; the SYN and the FIN into the bytes and segments acknowledged or received; a SYN-ACK, which Linux counts for the
//! listener, is left out of those sent. Fields without a counterpart are zero, as in a kernel without that feature; each is named
//! where it is left out.

use base::{Bytes, Duration};
use libc::c_int;
use tcp::{CloseReason, CongestionState, Details, Origin, RateLimit, State};

/// Bytes of the structure.
pub(crate) const INFO_LEN: usize = 280;
/// Bytes of `SO_MEMINFO`: nine counts.
pub(crate) const MEMINFO_LEN: usize = 36;

/// The value that means no threshold, or no rate limit.
const NO_THRESHOLD: u32 = 0x7fff_ffff;
const NO_LIMIT: u64 = u64::MAX;
/// The MSS Linux assumes of a peer before it has sent a segment (RFC 9293 MUST-15), and the options' share of each segment.
const DEFAULT_MSS: u32 = 536;
const TIMESTAMP_BYTES: u32 = 12;
/// Linux's initial window, and its reordering before any was seen (`tcp_reordering`).
const INITIAL_WINDOW_SEGMENTS: u32 = 10;
const REORDERING_SEGMENTS: u32 = 3;

/// Linux's numbers for states (`include/net/tcp_states.h`).
pub(crate) const LISTEN: u8 = 10;
pub(crate) const CLOSED: u8 = 7;

/// What the socket knows and the connection does not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketSide {
    /// `SO_MAX_PACING_RATE`, bytes a second.
    pub max_pacing_rate: u64,
    /// The value of `tcp_reordering` when the socket was created.
    pub reordering: u32,
}

impl Default for SocketSide {
    fn default() -> Self {
        Self { max_pacing_rate: NO_LIMIT, reordering: REORDERING_SEGMENTS }
    }
}

/// The number of a state.
pub(crate) const fn state_number(state: State) -> u8 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        // To Linux, the socket of a connection in TIME-WAIT is closed.
        State::TimeWait | State::Closed => CLOSED,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Closing => 11,
    }
}

/// The structure while it is being filled.
struct Image([u8; INFO_LEN]);

impl Image {
    fn byte(&mut self, offset: usize, value: u8) {
        self.0[offset] = value;
    }
    fn u16(&mut self, offset: usize, value: u16) {
        self.0[offset..offset + 2].copy_from_slice(&value.to_ne_bytes());
    }
    fn u32(&mut self, offset: usize, value: u32) {
        self.0[offset..offset + 4].copy_from_slice(&value.to_ne_bytes());
    }
    fn u64(&mut self, offset: usize, value: u64) {
        self.0[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
    }
    /// What every socket reports, connected or not.
    fn new(state: u8, side: &SocketSide) -> Self {
        let mut image = Self([0; INFO_LEN]);
        image.byte(0, state);
        image.u32(80, INITIAL_WINDOW_SEGMENTS);
        image.u32(88, side.reordering);
        image.u64(104, side.max_pacing_rate);
        image.u64(112, side.max_pacing_rate);
        image
    }
}

/// A socket that is not connected and never was: nothing has been measured.
pub(crate) fn unconnected(side: &SocketSide, rto: Duration, mss: u32) -> [u8; INFO_LEN] {
    let mut image = Image::new(CLOSED, side);
    image.byte(7, 1);
    image.u32(8, micros(rto));
    image.u32(16, mss);
    image.u32(72, micros(rto) / 4);
    image.u32(76, NO_THRESHOLD);
    image.u32(148, u32::MAX);
    image.0
}

/// A listener: two of a connection's fields report its backlog, how full it is and how large.
pub(crate) fn listener(side: &SocketSide, waiting: u32, backlog: u32) -> [u8; INFO_LEN] {
    let mut image = Image::new(LISTEN, side);
    image.u32(24, waiting);
    image.u32(28, backlog);
    image.0
}

/// A connection, even after its end.
pub(crate) fn connection(d: &Details, side: &SocketSide) -> [u8; INFO_LEN] {
    let mut image = Image::new(state_number(d.info.state), side);
    head(&mut image, d);
    times_and_sizes(&mut image, d);
    congestion(&mut image, d, side);
    receiver(&mut image, d);
    rates(&mut image, d, side);
    totals(&mut image, d);
    tail(&mut image, d);
    image.0
}

/// Bytes 1 to 15: small counts, what was negotiated, the timeouts.
fn head(image: &mut Image, d: &Details) {
    let (sack, timestamps, scaling) = d.info.negotiated;
    image.byte(1, congestion_state(d.congestion));
    image.byte(2, small(d.consecutive_timeouts));
    image.byte(3, small(d.window_probes));
    image.byte(4, small(d.back_off));
    let (ecn, marked) = (d.info.ecn.negotiated, d.info.ecn.received_capable > 0);
    let options = [timestamps, sack, scaling, ecn, ecn && marked, d.info.syn_data_taken];
    image.byte(5, options.into_iter().rev().fold(0, |bits, used| bits << 1 | u8::from(used)));
    if let Some((theirs, ours)) = d.shifts {
        image.byte(6, (theirs & 15) | ours << 4);
    }
    // The bits above hold the reason why Fast Open failed; zero when it was not tried.
    image.byte(7, u8::from(d.rate_limit == RateLimit::Application));
    image.u32(8, micros(d.info.rto));
    let waited = d.info.counters.data_segments_received > 0;
    image.u32(12, if waited { micros(d.ack_delay) } else { 0 });
}

/// Bytes 16 to 63: segment sizes, the flight, and the ages of events. Linux does not record when it last sent an ACK
/// either.
fn times_and_sizes(image: &mut Image, d: &Details) {
    image.u32(16, d.info.smss);
    image.u32(20, d.receive_memory.map_or(d.rmss.max(DEFAULT_MSS), |memory| memory.mss));
    // An outstanding SYN counts.
    image.u32(24, d.flight.outstanding + u32::from(d.info.state == State::SynSent));
    image.u32(28, d.flight.sacked);
    image.u32(32, d.flight.lost);
    image.u32(36, d.flight.retransmitted);
    image.u32(44, millis(d.since_data_sent));
    image.u32(52, millis(d.since_data_received));
    image.u32(56, millis(d.since_ack_received));
    image.u32(60, u32::from(d.path_mtu));
}

/// Bytes 64 to 91: the round trip, windows in segments, reordering.
fn congestion(image: &mut Image, d: &Details, side: &SocketSide) {
    let smss = d.info.smss.max(1);
    let unknown = d.info.ssthresh > NO_THRESHOLD;
    image.u32(64, d.receive_memory.map_or(d.receive_limit, |memory| memory.opened));
    image.u32(68, d.info.srtt.map_or(0, micros));
    image.u32(72, micros(d.info.rttvar.unwrap_or(d.info.rto / 4)));
    image.u32(76, if unknown { NO_THRESHOLD } else { d.info.ssthresh / smss });
    image.u32(80, d.window / smss);
    image.u32(84, u32::from(d.advertised_mss).saturating_sub(overhead(d)));
    image.u32(88, side.reordering.max(d.reordering_extent.div_ceil(smss)));
}

/// Bytes 92 to 103: the receiver's own measurements, and retransmitted segments including SYNs.
fn receiver(image: &mut Image, d: &Details) {
    let first_space = INITIAL_WINDOW_SEGMENTS * u32::from(d.advertised_mss);
    image.u32(92, d.receiver_rtt.map_or(0, micros));
    image.u32(96, d.receiver_space.max(first_space.min(d.receive_limit)));
    image.u32(100, d.info.counters.segments_retransmitted.wrapping_add(syn_timeouts(d)));
}

/// Bytes 104 to 119 and 160 to 167: rates, in bytes a second.
fn rates(image: &mut Image, d: &Details, side: &SocketSide) {
    image.u64(104, pacing_rate(d).min(side.max_pacing_rate));
    image.u64(160, d.delivery_rate.map_or(0, |rate| rate.bits_per_sec() / 8));
}

/// Bytes 120 to 159 and 168 to 215: totals.
fn totals(image: &mut Image, d: &Details) {
    let (counters, state) = (&d.info.counters, d.info.state);
    let active = d.origin == Origin::Active;
    let ended_well = state == State::Closed && d.info.closed == Some(CloseReason::Normal);
    let established = state.is_synchronized() || ended_well;
    let fin_acked = matches!(state, State::FinWait2 | State::TimeWait) || ended_well;
    let fin_received =
        matches!(state, State::CloseWait | State::LastAck | State::Closing | State::TimeWait) || ended_well;
    image.u64(120, counters.bytes_acked + u64::from(active && established) + u64::from(fin_acked));
    image.u64(128, counters.bytes_received + u64::from(fin_received));
    let syn_acks = if active { 0 } else { 1 + syn_timeouts(d) };
    image.u32(136, (counters.segments_sent as u32).wrapping_sub(syn_acks));
    image.u32(140, (counters.segments_received as u32).wrapping_add(u32::from(!active)));
    image.u32(144, d.unsent);
    image.u32(148, d.info.min_rtt.map_or(u32::MAX, micros));
    image.u32(152, counters.data_segments_received);
    image.u32(156, counters.data_segments_sent);
    image.u64(168, d.busy.as_micros());
    image.u64(176, d.window_limited.as_micros());
    image.u64(184, d.buffer_limited.as_micros());
    image.u32(192, counters.segments_delivered.wrapping_add(u32::from(established)));
    image.u32(196, d.info.ecn.delivered_ce);
    image.u64(200, counters.bytes_sent);
    image.u64(208, counters.bytes_retransmitted);
}

/// Bytes 216 to 247: duplicates, reordering, windows, timeouts. This stack does not choose paths by hashing, so `tcpi_rehash`
/// stays zero; the counts of AccECN (RFC 9768) behind byte 247 stay zero without it.
fn tail(image: &mut Image, d: &Details) {
    image.u32(216, d.info.counters.dsacks_received);
    image.u32(220, d.reorderings);
    image.u32(224, d.info.counters.segments_out_of_order);
    image.u32(228, d.info.snd_wnd);
    image.u32(232, d.info.rcv_wnd);
    image.u16(240, d.all_timeouts);
    image.u16(242, d.timeout_recoveries);
    image.u32(244, millis(d.timeout_time));
}

/// The room that timestamps take in each segment.
fn overhead(d: &Details) -> Bytes {
    if d.info.negotiated.1 { TIMESTAMP_BYTES } else { 0 }
}

/// Timeouts of SYNs and SYN-ACKs, each of which retransmitted one.
fn syn_timeouts(d: &Details) -> u32 {
    u32::from(d.all_timeouts).saturating_sub(d.info.counters.timeouts)
}

/// The rate at which Linux would pace, whether or not it does: two windows per round trip while the window may double, 1.2
/// windows later (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
fn pacing_rate(d: &Details) -> u64 {
    let Some(srtt) = d.info.srtt.filter(|srtt| !srtt.is_zero()) else { return NO_LIMIT };
    let window = u64::from(d.info.cwnd.max(d.flight.outstanding.saturating_mul(d.info.smss)));
    let percent = if d.info.cwnd < d.info.ssthresh / 2 { 200 } else { 120 };
    let rate = u128::from(window) * percent * 1_000_000_000 / 100 / u128::from(srtt.as_nanos());
    u64::try_from(rate).unwrap_or(NO_LIMIT)
}

const fn congestion_state(state: CongestionState) -> u8 {
    match state {
        CongestionState::Open => 0,
        CongestionState::Disorder => 1,
        CongestionState::Cwr => 2,
        CongestionState::Recovery => 3,
        CongestionState::Loss => 4,
    }
}

fn small(count: u32) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

fn micros(span: Duration) -> u32 {
    u32::try_from(span.as_micros()).unwrap_or(u32::MAX)
}

fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_millis()).unwrap_or(u32::MAX)
}

/// `SO_MEMINFO`: what is waiting to be read and what is waiting to be acknowledged, each with its limit; no memory is allocated
/// ahead, used for options, held in a backlog, or dropped.
pub(crate) fn memory(readable: u32, rcvbuf: c_int, unacknowledged: u32, sndbuf: c_int) -> [u8; MEMINFO_LEN] {
    let counts = [readable, rcvbuf as u32, 0, sndbuf as u32, 0, unacknowledged, 0, 0, 0];
    let mut image = [0; MEMINFO_LEN];
    for (place, count) in image.chunks_exact_mut(4).zip(counts) {
        place.copy_from_slice(&count.to_ne_bytes());
    }
    image
}

#[cfg(test)]
mod tests;
