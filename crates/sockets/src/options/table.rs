//! Options whose value is a number: a new socket's value, which numbers are accepted, and what is stored.
//!
//! The rows are what a Linux 6.18 kernel returned for each option on each kind of socket. The effect of a number, if any, is
//! described where it is used; many are only stored and returned.

use super::names::*;
use super::scene::{Bound, Scene, Stage};
use crate::options::buffers::RCVBUF_MIN;
use crate::sysctl::Sysctls;
use libc::*;
use nix::errno::Errno;

/// One option.
pub(crate) struct Row {
    pub level: c_int,
    pub name: c_int,
    pub initial: Initial,
    pub take: Take,
}

/// The value of a new socket.
#[derive(Clone, Copy)]
pub(crate) enum Initial {
    /// This one.
    Is(c_int),
    /// The namespace's setting, or this one without it.
    Of(&'static str, c_int),
}

/// Which numbers are accepted.
#[derive(Clone, Copy)]
pub(crate) enum Take {
    /// Zero means off, all others on.
    Flag,
    /// Every number.
    Any,
    /// Those in the range, inclusive; `EINVAL` for others.
    Within(c_int, c_int),
    /// None: always this error.
    Refused(Errno),
    /// All are accepted, and nothing changes.
    Ignored,
    /// What the function computes from them.
    Made(fn(c_int, &Scene<'_>) -> Result<c_int, Errno>),
}

impl Initial {
    pub fn value(self, sysctls: &Sysctls) -> c_int {
        match self {
            Self::Is(value) => value,
            Self::Of(name, otherwise) => {
                sysctls.number(name).and_then(|value| c_int::try_from(value).ok()).unwrap_or(otherwise)
            }
        }
    }
}

impl Take {
    /// What is stored when `asked` is set.
    pub fn take(self, asked: c_int, present: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
        match self {
            Self::Flag => Ok(c_int::from(asked != 0)),
            Self::Any => Ok(asked),
            Self::Within(least, most) if (least..=most).contains(&asked) => Ok(asked),
            Self::Within(..) => Err(Errno::EINVAL),
            Self::Refused(error) => Err(error),
            Self::Ignored => Ok(present),
            Self::Made(make) => make(asked, scene),
        }
    }
}

const fn row(level: c_int, name: c_int, initial: c_int, take: Take) -> Row {
    Row { level, name, initial: Initial::Is(initial), take }
}

const fn set_by(level: c_int, name: c_int, sysctl: &'static str, otherwise: c_int, take: Take) -> Row {
    Row { level, name, initial: Initial::Of(sysctl, otherwise), take }
}

const READ_ONLY: Take = Take::Refused(Errno::ENOPROTOOPT);
/// Largest times of keep-alive, in seconds, and largest counts.
const SECONDS: Take = Take::Within(1, 32_767);
const COUNT: Take = Take::Within(1, 127);
const SWITCH: Take = Take::Within(0, 1);
const BYTE: Take = Take::Within(0, 255);
/// `IP_MTU_DISCOVER`: DONT, WANT, DO, PROBE, INTERFACE, OMIT.
const PMTU: Take = Take::Within(0, 5);
/// Seconds of FIN-WAIT-2 at most.
const LINGER2_MAX: c_int = 120;
/// A delay of every packet: it must fit the kernel's RTT, in eighths of a microsecond.
const TX_DELAY_MAX: c_int = (1 << 28) - 1;

/// All of them.
pub(crate) const ROWS: &[Row] = &[
    row(SOL_SOCKET, SO_DEBUG, 0, Take::Flag),
    row(SOL_SOCKET, SO_REUSEADDR, 0, Take::Flag),
    row(SOL_SOCKET, SO_TYPE, SOCK_STREAM, READ_ONLY),
    row(SOL_SOCKET, SO_DONTROUTE, 0, Take::Flag),
    row(SOL_SOCKET, SO_BROADCAST, 0, Take::Flag),
    row(SOL_SOCKET, SO_KEEPALIVE, 0, Take::Flag),
    row(SOL_SOCKET, SO_OOBINLINE, 0, Take::Flag),
    row(SOL_SOCKET, SO_NO_CHECK, 0, Take::Flag),
    row(SOL_SOCKET, SO_PRIORITY, 0, Take::Any),
    row(SOL_SOCKET, SO_BSDCOMPAT, 0, Take::Ignored),
    row(SOL_SOCKET, SO_REUSEPORT, 0, Take::Flag),
    row(SOL_SOCKET, SO_SNDLOWAT, 1, READ_ONLY),
    row(SOL_SOCKET, SO_TIMESTAMP, 0, Take::Flag),
    row(SOL_SOCKET, SO_TIMESTAMPNS, 0, Take::Flag),
    row(SOL_SOCKET, SO_MARK, 0, Take::Any),
    row(SOL_SOCKET, SO_PROTOCOL, IPPROTO_TCP, READ_ONLY),
    row(SOL_SOCKET, SO_RXQ_OVFL, 0, Take::Flag),
    row(SOL_SOCKET, SO_BUSY_POLL, 0, Take::Within(0, c_int::MAX)),
    row(SOL_SOCKET, SO_PREFER_BUSY_POLL, 0, Take::Flag),
    row(SOL_SOCKET, SO_INCOMING_CPU, -1, Take::Any),
    row(SOL_SOCKET, SO_INCOMING_NAPI_ID, 0, READ_ONLY),
    row(SOL_SOCKET, SO_ZEROCOPY, 0, SWITCH),
    row(SOL_SOCKET, SO_TXREHASH, 1, Take::Made(txrehash)),
    row(SOL_SOCKET, SO_RCVMARK, 0, Take::Flag),
    row(SOL_TCP, TCP_NODELAY, 0, Take::Flag),
    row(SOL_TCP, TCP_CORK, 0, Take::Flag),
    set_by(SOL_TCP, TCP_KEEPIDLE, "ipv4/tcp_keepalive_time", 7_200, SECONDS),
    set_by(SOL_TCP, TCP_KEEPINTVL, "ipv4/tcp_keepalive_intvl", 75, SECONDS),
    set_by(SOL_TCP, TCP_KEEPCNT, "ipv4/tcp_keepalive_probes", 9, COUNT),
    set_by(SOL_TCP, TCP_SYNCNT, "ipv4/tcp_syn_retries", 6, COUNT),
    set_by(SOL_TCP, TCP_LINGER2, "ipv4/tcp_fin_timeout", 60, Take::Made(linger2)),
    row(SOL_TCP, TCP_DEFER_ACCEPT, 0, Take::Made(defer_accept)),
    row(SOL_TCP, TCP_WINDOW_CLAMP, 0, Take::Made(window_clamp)),
    row(SOL_TCP, TCP_QUICKACK, 1, Take::Flag),
    row(SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS, 0, SWITCH),
    row(SOL_TCP, TCP_THIN_DUPACK, 0, Take::Made(thin_dupack)),
    row(SOL_TCP, TCP_USER_TIMEOUT, 0, Take::Within(0, c_int::MAX)),
    // Repair would alter the connection: not permitted, as for callers without the capability.
    row(SOL_TCP, TCP_REPAIR, 0, Take::Refused(Errno::EPERM)),
    row(SOL_TCP, TCP_FASTOPEN, 0, Take::Made(fastopen)),
    row(SOL_TCP, TCP_NOTSENT_LOWAT, 0, Take::Any),
    row(SOL_TCP, TCP_SAVE_SYN, 0, Take::Within(0, 2)),
    row(SOL_TCP, TCP_FASTOPEN_CONNECT, 0, Take::Made(fastopen_connect)),
    row(SOL_TCP, TCP_FASTOPEN_NO_COOKIE, 0, Take::Made(fastopen_no_cookie)),
    row(SOL_TCP, TCP_INQ, 0, SWITCH),
    row(SOL_TCP, TCP_TX_DELAY, 0, Take::Within(0, TX_DELAY_MAX)),
    row(SOL_TCP, TCP_IS_MPTCP, 0, READ_ONLY),
    set_by(SOL_TCP, TCP_RTO_MAX_MS, "ipv4/tcp_rto_max_ms", 120_000, Take::Within(1_000, 120_000)),
    set_by(SOL_TCP, TCP_RTO_MIN_US, "ipv4/tcp_rto_min_us", 200_000, Take::Made(small_time)),
    row(SOL_TCP, TCP_DELACK_MAX_US, 200_000, Take::Made(small_time)),
    row(SOL_IP, IP_TOS, 0, Take::Made(tos)),
    set_by(SOL_IP, IP_TTL, "ipv4/ip_default_ttl", 64, Take::Made(ttl)),
    row(SOL_IP, IP_HDRINCL, 0, READ_ONLY),
    row(SOL_IP, IP_RECVOPTS, 0, Take::Flag),
    row(SOL_IP, IP_RETOPTS, 0, Take::Flag),
    row(SOL_IP, IP_PKTINFO, 0, Take::Flag),
    row(SOL_IP, IP_MTU_DISCOVER, 1, PMTU),
    row(SOL_IP, IP_RECVERR, 0, Take::Flag),
    row(SOL_IP, IP_RECVTTL, 0, Take::Flag),
    row(SOL_IP, IP_RECVTOS, 0, Take::Flag),
    row(SOL_IP, IP_FREEBIND, 0, Take::Flag),
    row(SOL_IP, IP_TRANSPARENT, 0, Take::Flag),
    row(SOL_IP, IP_MINTTL, 0, BYTE),
    row(SOL_IP, IP_BIND_ADDRESS_NO_PORT, 0, Take::Flag),
    row(SOL_IP, IP_RECVERR_RFC4884, 0, SWITCH),
    row(SOL_IP, IP_LOCAL_PORT_RANGE, 0, Take::Made(port_range)),
    row(SOL_IPV6, IPV6_UNICAST_HOPS, 64, Take::Made(hops)),
    row(SOL_IPV6, IPV6_MULTICAST_HOPS, 1, READ_ONLY),
    row(SOL_IPV6, IPV6_MTU_DISCOVER, 1, PMTU),
    row(SOL_IPV6, IPV6_RECVERR, 0, Take::Flag),
    row(SOL_IPV6, IPV6_V6ONLY, 0, Take::Made(v6only)),
    row(SOL_IPV6, IPV6_RECVPKTINFO, 0, Take::Flag),
    row(SOL_IPV6, IPV6_RECVHOPLIMIT, 0, Take::Flag),
    row(SOL_IPV6, IPV6_RECVTCLASS, 0, Take::Flag),
    row(SOL_IPV6, IPV6_TCLASS, 0, Take::Made(tclass)),
    row(SOL_IPV6, IPV6_DONTFRAG, 0, Take::Flag),
    row(SOL_IPV6, IPV6_AUTOFLOWLABEL, 1, Take::Flag),
    row(SOL_IPV6, IPV6_MINHOPCOUNT, 0, BYTE),
    row(SOL_IPV6, IPV6_FREEBIND, 0, Take::Flag),
];

/// The row of an option.
pub(crate) fn find(level: c_int, name: c_int) -> Option<&'static Row> {
    ROWS.iter().find(|row| (row.level, row.name) == (level, name))
}

/// -1 means the default.
fn txrehash(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    match asked {
        -1 => Ok(1),
        0 | 1 => Ok(asked),
        _ => Err(Errno::EINVAL),
    }
}

/// Negative: skip FIN-WAIT-2. Zero: as long as the namespace says.
fn linger2(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    match asked {
        ..0 => Ok(-1),
        0 => Ok(Initial::Of("ipv4/tcp_fin_timeout", 60).value(scene.sysctls)),
        _ => Ok(asked.min(LINGER2_MAX)),
    }
}

/// Seconds are converted to retransmissions of the SYN-ACK and reported as the seconds these take: 1, 3, 7 and so on, each
/// timeout twice the previous one up to two minutes; at most 255.
fn defer_accept(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    let (mut passed, mut timeout, mut count) = (0, 1, 0);
    while passed < asked && count < 255 {
        passed += timeout;
        timeout = (timeout * 2).min(120);
        count += 1;
    }
    Ok(passed)
}

/// At least half the smallest buffer. Only a socket that has not been opened may set zero.
fn window_clamp(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    match (asked, scene.stage) {
        (0, Stage::Fresh) => Ok(0),
        (0, _) => Err(Errno::EINVAL),
        _ => Ok(asked.max(RCVBUF_MIN as c_int / 2)),
    }
}

/// Accepted and ignored: the kernel no longer has this rule.
fn thin_dupack(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    if matches!(asked, 0 | 1) { Ok(0) } else { Err(Errno::EINVAL) }
}

/// How many requests may be pending; at most the namespace's limit for any queue.
fn fastopen(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    if asked < 0 || !matches!(scene.stage, Stage::Fresh | Stage::Listening) {
        return Err(Errno::EINVAL);
    }
    Ok(asked.min(Initial::Of("core/somaxconn", 4_096).value(scene.sysctls)))
}

/// The first port in the lower half, the last in the upper half; zero for no limit.
fn port_range(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    let (first, last) = (asked as u32 & 0xffff, asked as u32 >> 16);
    if first == 0 || last == 0 || first <= last { Ok(asked) } else { Err(Errno::EINVAL) }
}

fn fastopen_connect(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    if matches!(asked, 0 | 1) && scene.stage == Stage::Fresh { Ok(asked) } else { Err(Errno::EINVAL) }
}

fn fastopen_no_cookie(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    let early = matches!(scene.stage, Stage::Fresh | Stage::Listening);
    if matches!(asked, 0 | 1) && early { Ok(asked) } else { Err(Errno::EINVAL) }
}

/// Two to 200 ms, rounded to whole milliseconds, the clock's ticks.
fn small_time(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    let ticks = asked.max(0).unsigned_abs().div_ceil(1_000);
    if (2..=200).contains(&ticks) { Ok(ticks as c_int * 1_000) } else { Err(Errno::EINVAL) }
}

/// The two ECN bits belong to the connection.
fn tos(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    Ok(asked & 0xfc)
}

/// -1 means the default.
fn ttl(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    match asked {
        -1 => Ok(Initial::Of("ipv4/ip_default_ttl", 64).value(scene.sysctls)),
        1..=255 => Ok(asked),
        _ => Err(Errno::EINVAL),
    }
}

/// -1 means the default.
fn hops(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    match asked {
        -1 => Ok(64),
        0..=255 => Ok(asked),
        _ => Err(Errno::EINVAL),
    }
}

/// -1 means the default; the two ECN bits belong to the connection.
fn tclass(asked: c_int, _: &Scene<'_>) -> Result<c_int, Errno> {
    match asked {
        -1 => Ok(0),
        0..=255 => Ok(asked & 0xfc),
        _ => Err(Errno::EINVAL),
    }
}

/// A socket with an address can no longer change this.
fn v6only(asked: c_int, scene: &Scene<'_>) -> Result<c_int, Errno> {
    match scene.bound {
        Bound::No => Ok(c_int::from(asked != 0)),
        Bound::Yes => Err(Errno::EINVAL),
    }
}
