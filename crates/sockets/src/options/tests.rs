//! What sockets return, against what a Linux 6.18 kernel returned for the same calls.

use super::names::*;
use super::scene::Bound;
use super::*;
use libc::*;
use tcp::config::{DeferAccept, Discovery, FastOpenServer, KeepAliveConfig, NagleConfig};
use test_case::test_case;

/// The settings of the kernel's namespace at that time.
const NAMESPACE: &[(&str, &str)] = &[
    ("core/rmem_max", "4194304"),
    ("core/wmem_max", "4194304"),
    ("core/somaxconn", "4096"),
    ("ipv4/tcp_rmem", "4096\t131072\t33554432"),
    ("ipv4/tcp_wmem", "4096\t16384\t4194304"),
    ("ipv4/tcp_fin_timeout", "60"),
    ("ipv4/ip_default_ttl", "64"),
];
/// The numbers to which each option was set, each on a new socket.
const ASKED: [c_int; 22] =
    [-2, -1, 0, 1, 2, 3, 4, 5, 7, 40, 63, 64, 127, 128, 255, 256, 1_000, 32_767, 32_768, 65_535, 65_536, c_int::MAX];

fn options() -> Options {
    Options::new(Config::default(), crate::sysctl::tests::namespace(NAMESPACE))
}

fn scene<'a>(sysctls: &'a Sysctls, level: c_int, stage: Stage) -> Scene<'a> {
    let family = if level == SOL_IPV6 { Family::V6 } else { Family::V4 };
    Scene { family, stage, bound: Bound::No, sysctls, details: None, pace: None, backlog: (0, 7), queued: (0, 0) }
}

/// A value of up to four bytes as a number.
fn number_or_error(value: Result<Vec<u8>, Errno>) -> String {
    match value {
        Err(error) => format!("{error:?}"),
        Ok(value) => value.first_chunk().map_or("nothing".to_owned(), |bytes| c_int::from_ne_bytes(*bytes).to_string()),
    }
}

/// Sets an option to each number and reads it back: runs of numbers with the same outcome, each with the error, if any,
/// and what was read.
fn answers(level: c_int, name: c_int, stage: Stage) -> String {
    let mut runs: Vec<(c_int, c_int, String)> = Vec::new();
    for asked in ASKED {
        let mut options = options();
        let sysctls = Arc::clone(&options.sysctls);
        let scene = scene(&sysctls, level, stage);
        let set = options.set(&scene, level, name, &asked.to_ne_bytes());
        let read = number_or_error(options.get(&scene, level, name, 4));
        let read = if read == asked.to_string() { "same".to_owned() } else { read };
        let outcome = set.err().map(|error| format!("{error:?} ")).unwrap_or_default() + &read;
        match runs.last_mut() {
            Some((_, last, present)) if *present == outcome => *last = asked,
            _ => runs.push((asked, asked, outcome)),
        }
    }
    let run = |(first, last, outcome): &(c_int, c_int, String)| match first == last {
        true => format!("{first}: {outcome}"),
        false => format!("{first}..{last}: {outcome}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join("; ")
}

#[test_case(SOL_SOCKET, SO_DEBUG => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "debug")]
#[test_case(SOL_SOCKET, SO_REUSEADDR => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "reuseaddr")]
#[test_case(SOL_SOCKET, SO_DONTROUTE => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "dontroute")]
#[test_case(SOL_SOCKET, SO_BROADCAST => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "broadcast")]
#[test_case(SOL_SOCKET, SO_KEEPALIVE => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "keepalive")]
#[test_case(SOL_SOCKET, SO_OOBINLINE => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "oobinline")]
#[test_case(SOL_SOCKET, SO_NO_CHECK => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "no_check")]
#[test_case(SOL_SOCKET, SO_REUSEPORT => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "reuseport")]
#[test_case(SOL_SOCKET, SO_TIMESTAMP => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "timestamp")]
#[test_case(SOL_SOCKET, SO_TIMESTAMPNS => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "timestampns")]
#[test_case(SOL_SOCKET, SO_RXQ_OVFL => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "rxq_ovfl")]
#[test_case(SOL_SOCKET, SO_PREFER_BUSY_POLL => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "prefer_busy_poll")]
#[test_case(SOL_SOCKET, SO_RCVMARK => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "rcvmark")]
#[test_case(SOL_SOCKET, SO_PRIORITY => "-2..2147483647: same".to_owned(); "priority")]
#[test_case(SOL_SOCKET, SO_MARK => "-2..2147483647: same".to_owned(); "mark")]
#[test_case(SOL_SOCKET, SO_INCOMING_CPU => "-2..2147483647: same".to_owned(); "incoming_cpu")]
#[test_case(SOL_SOCKET, SO_TYPE => "-2..0: ENOPROTOOPT 1; 1: ENOPROTOOPT same; 2..2147483647: ENOPROTOOPT 1".to_owned(); "type")]
#[test_case(SOL_SOCKET, SO_PROTOCOL => "-2..2147483647: ENOPROTOOPT 6".to_owned(); "protocol")]
#[test_case(SOL_SOCKET, SO_DOMAIN => "-2..1: ENOPROTOOPT 2; 2: ENOPROTOOPT same; 3..2147483647: ENOPROTOOPT 2".to_owned(); "domain")]
#[test_case(SOL_SOCKET, SO_SNDLOWAT => "-2..0: ENOPROTOOPT 1; 1: ENOPROTOOPT same; 2..2147483647: ENOPROTOOPT 1".to_owned(); "sndlowat")]
#[test_case(SOL_SOCKET, SO_ACCEPTCONN => "-2..-1: ENOPROTOOPT 0; 0: ENOPROTOOPT same; 1..2147483647: ENOPROTOOPT 0".to_owned(); "acceptconn")]
#[test_case(SOL_SOCKET, SO_INCOMING_NAPI_ID => "-2..-1: ENOPROTOOPT 0; 0: ENOPROTOOPT same; 1..2147483647: ENOPROTOOPT 0".to_owned(); "incoming_napi_id")]
#[test_case(SOL_SOCKET, SO_MEMINFO => "-2..-1: ENOPROTOOPT 0; 0: ENOPROTOOPT same; 1..2147483647: ENOPROTOOPT 0".to_owned(); "meminfo")]
#[test_case(SOL_SOCKET, SO_SNDBUF => "-2..-1: 8388608; 0..1000: 4608; 32767: 65534; 32768: 65536; 65535: 131070; 65536: 131072; 2147483647: 8388608".to_owned(); "sndbuf")]
#[test_case(SOL_SOCKET, SO_RCVBUF => "-2..-1: 8388608; 0..1000: 2304; 32767: 65534; 32768: 65536; 65535: 131070; 65536: 131072; 2147483647: 8388608".to_owned(); "rcvbuf")]
#[test_case(SOL_SOCKET, SO_RCVLOWAT => "-2..-1: 16777216; 0: 1; 1..65536: same; 2147483647: 16777216".to_owned(); "rcvlowat")]
#[test_case(SOL_SOCKET, SO_BSDCOMPAT => "-2..-1: 0; 0: same; 1..2147483647: 0".to_owned(); "bsdcompat")]
#[test_case(SOL_SOCKET, SO_BUSY_POLL => "-2..-1: EINVAL 0; 0..2147483647: same".to_owned(); "busy_poll")]
#[test_case(SOL_SOCKET, SO_ZEROCOPY => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "zerocopy")]
#[test_case(SOL_SOCKET, SO_TXREHASH => "-2: EINVAL 1; -1: 1; 0..1: same; 2..2147483647: EINVAL 1".to_owned(); "txrehash")]
#[test_case(SOL_SOCKET, SO_BUF_LOCK => "-2..-1: EINVAL 0; 0..3: same; 4..2147483647: EINVAL 0".to_owned(); "buf_lock")]
#[test_case(SOL_SOCKET, SO_TIMESTAMPING => "-2..-1: EINVAL 0; 0..127: same; 128..255: EINVAL 0; 256: same; 1000..32767: EINVAL 0; 32768: EOPNOTSUPP 0; 65535..2147483647: EINVAL 0".to_owned(); "timestamping")]
#[test_case(SOL_SOCKET, SO_LINGER => "-2..-1: EINVAL 0; 0: EINVAL same; 1..2147483647: EINVAL 0".to_owned(); "linger")]
#[test_case(SOL_SOCKET, SO_RCVTIMEO => "-2..-1: EINVAL 0; 0: EINVAL same; 1..2147483647: EINVAL 0".to_owned(); "rcvtimeo")]
#[test_case(SOL_TCP, TCP_NODELAY => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "nodelay")]
#[test_case(SOL_TCP, TCP_CORK => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "cork")]
#[test_case(SOL_TCP, TCP_QUICKACK => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "quickack")]
#[test_case(SOL_TCP, TCP_MAXSEG => "-2..-1: EINVAL 536; 0: 536; 1..64: EINVAL 536; 127..32767: same; 32768..2147483647: EINVAL 536".to_owned(); "maxseg")]
#[test_case(SOL_TCP, TCP_KEEPIDLE => "-2..0: EINVAL 7200; 1..32767: same; 32768..2147483647: EINVAL 7200".to_owned(); "keepidle")]
#[test_case(SOL_TCP, TCP_KEEPINTVL => "-2..0: EINVAL 75; 1..32767: same; 32768..2147483647: EINVAL 75".to_owned(); "keepintvl")]
#[test_case(SOL_TCP, TCP_KEEPCNT => "-2..0: EINVAL 9; 1..127: same; 128..2147483647: EINVAL 9".to_owned(); "keepcnt")]
#[test_case(SOL_TCP, TCP_SYNCNT => "-2..0: EINVAL 6; 1..127: same; 128..2147483647: EINVAL 6".to_owned(); "syncnt")]
#[test_case(SOL_TCP, TCP_LINGER2 => "-2: -1; -1: same; 0: 60; 1..64: same; 127..2147483647: 120".to_owned(); "linger2")]
#[test_case(SOL_TCP, TCP_DEFER_ACCEPT => "-2..-1: 0; 0..1: same; 2: 3; 3: same; 4..5: 7; 7: same; 40: 63; 63: same; 64: 127; 127: same; 128: 247; 255..256: 367; 1000: 1087; 32767..2147483647: 29887".to_owned(); "defer_accept")]
#[test_case(SOL_TCP, TCP_WINDOW_CLAMP => "-2..-1: 1152; 0: same; 1..1000: 1152; 32767..2147483647: same".to_owned(); "window_clamp")]
#[test_case(SOL_TCP, TCP_THIN_LINEAR_TIMEOUTS => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "thin_linear_timeouts")]
#[test_case(SOL_TCP, TCP_THIN_DUPACK => "-2..-1: EINVAL 0; 0: same; 1: 0; 2..2147483647: EINVAL 0".to_owned(); "thin_dupack")]
#[test_case(SOL_TCP, TCP_USER_TIMEOUT => "-2..-1: EINVAL 0; 0..2147483647: same".to_owned(); "user_timeout")]
#[test_case(SOL_TCP, TCP_FASTOPEN => "-2..-1: EINVAL 0; 0..1000: same; 32767..2147483647: 4096".to_owned(); "fastopen")]
#[test_case(SOL_TCP, TCP_NOTSENT_LOWAT => "-2..2147483647: same".to_owned(); "notsent_lowat")]
#[test_case(SOL_TCP, TCP_SAVE_SYN => "-2..-1: EINVAL 0; 0..2: same; 3..2147483647: EINVAL 0".to_owned(); "save_syn")]
#[test_case(SOL_TCP, TCP_FASTOPEN_CONNECT => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "fastopen_connect")]
#[test_case(SOL_TCP, TCP_FASTOPEN_NO_COOKIE => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "fastopen_no_cookie")]
#[test_case(SOL_TCP, TCP_INQ => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "inq")]
#[test_case(SOL_TCP, TCP_TX_DELAY => "-2..-1: EINVAL 0; 0..65536: same; 2147483647: EINVAL 0".to_owned(); "tx_delay")]
#[test_case(SOL_TCP, TCP_INFO => "-2..5: ENOPROTOOPT 7; 7: ENOPROTOOPT same; 40..2147483647: ENOPROTOOPT 7".to_owned(); "info")]
#[test_case(SOL_TCP, TCP_SAVED_SYN => "-2..2147483647: ENOPROTOOPT nothing".to_owned(); "saved_syn")]
#[test_case(SOL_TCP, TCP_IS_MPTCP => "-2..-1: ENOPROTOOPT 0; 0: ENOPROTOOPT same; 1..2147483647: ENOPROTOOPT 0".to_owned(); "is_mptcp")]
#[test_case(SOL_TCP, TCP_REPAIR_QUEUE => "-2..2147483647: EPERM EINVAL".to_owned(); "repair_queue")]
#[test_case(SOL_TCP, TCP_ZEROCOPY_RECEIVE => "-2..2147483647: ENOPROTOOPT EINVAL".to_owned(); "zerocopy_receive")]
#[test_case(SOL_TCP, TCP_REPAIR_OPTIONS => "-2..2147483647: EINVAL ENOPROTOOPT".to_owned(); "repair_options")]
#[test_case(SOL_IP, IP_TOS => "-2..-1: 252; 0: same; 1..3: 0; 4: same; 5..7: 4; 40: same; 63: 60; 64: same; 127: 124; 128: same; 255: 252; 256: 0; 1000: 232; 32767: 252; 32768: 0; 65535: 252; 65536: 0; 2147483647: 252".to_owned(); "tos")]
#[test_case(SOL_IP, IP_TTL => "-2: EINVAL 64; -1: 64; 0: EINVAL 64; 1..255: same; 256..2147483647: EINVAL 64".to_owned(); "ttl")]
#[test_case(SOL_IP, IP_MTU_DISCOVER => "-2..-1: EINVAL 1; 0..5: same; 7..2147483647: EINVAL 1".to_owned(); "mtu_discover")]
#[test_case(SOL_IP, IP_MTU => "-2..2147483647: ENOPROTOOPT ENOTCONN".to_owned(); "mtu")]
#[test_case(SOL_IP, IP_RECVERR => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recverr")]
#[test_case(SOL_IP, IP_FREEBIND => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "freebind")]
#[test_case(SOL_IP, IP_TRANSPARENT => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "transparent")]
#[test_case(SOL_IP, IP_MINTTL => "-2..-1: EINVAL 0; 0..255: same; 256..2147483647: EINVAL 0".to_owned(); "minttl")]
#[test_case(SOL_IP, IP_BIND_ADDRESS_NO_PORT => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "bind_address_no_port")]
#[test_case(SOL_IP, IP_RECVTTL => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recvttl")]
#[test_case(SOL_IP, IP_RECVTOS => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recvtos")]
#[test_case(SOL_IP, IP_PKTINFO => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "pktinfo")]
#[test_case(SOL_IP, IP_HDRINCL => "-2..-1: ENOPROTOOPT 0; 0: ENOPROTOOPT same; 1..2147483647: ENOPROTOOPT 0".to_owned(); "hdrincl")]
#[test_case(SOL_IP, IP_LOCAL_PORT_RANGE => "-2..65536: same; 2147483647: EINVAL 0".to_owned(); "local_port_range")]
#[test_case(SOL_IP, IP_RECVERR_RFC4884 => "-2..-1: EINVAL 0; 0..1: same; 2..2147483647: EINVAL 0".to_owned(); "recverr_rfc4884")]
#[test_case(SOL_IPV6, IPV6_UNICAST_HOPS => "-2: EINVAL 64; -1: 64; 0..255: same; 256..2147483647: EINVAL 64".to_owned(); "unicast_hops")]
#[test_case(SOL_IPV6, IPV6_MULTICAST_HOPS => "-2..0: ENOPROTOOPT 1; 1: ENOPROTOOPT same; 2..2147483647: ENOPROTOOPT 1".to_owned(); "multicast_hops")]
#[test_case(SOL_IPV6, IPV6_MTU_DISCOVER => "-2..-1: EINVAL 1; 0..5: same; 7..2147483647: EINVAL 1".to_owned(); "mtu_discover")]
#[test_case(SOL_IPV6, IPV6_MTU => "-2..-1: EINVAL ENOTCONN; 0: ENOTCONN; 1..1000: EINVAL ENOTCONN; 32767..2147483647: ENOTCONN".to_owned(); "mtu")]
#[test_case(SOL_IPV6, IPV6_RECVERR => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recverr")]
#[test_case(SOL_IPV6, IPV6_V6ONLY => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "v6only")]
#[test_case(SOL_IPV6, IPV6_RECVPKTINFO => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recvpktinfo")]
#[test_case(SOL_IPV6, IPV6_RECVHOPLIMIT => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recvhoplimit")]
#[test_case(SOL_IPV6, IPV6_RECVTCLASS => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "recvtclass")]
#[test_case(SOL_IPV6, IPV6_TCLASS => "-2: EINVAL 0; -1: 0; 0: same; 1..3: 0; 4: same; 5..7: 4; 40: same; 63: 60; 64: same; 127: 124; 128: same; 255: 252; 256..2147483647: EINVAL 0".to_owned(); "tclass")]
#[test_case(SOL_IPV6, IPV6_AUTOFLOWLABEL => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "autoflowlabel")]
#[test_case(SOL_IPV6, IPV6_MINHOPCOUNT => "-2..-1: EINVAL 0; 0..255: same; 256..2147483647: EINVAL 0".to_owned(); "minhopcount")]
#[test_case(SOL_IPV6, IPV6_FREEBIND => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "freebind")]
#[test_case(SOL_IPV6, IPV6_DONTFRAG => "-2..-1: 1; 0..1: same; 2..2147483647: 1".to_owned(); "dontfrag")]
fn a_new_socket_answers(level: c_int, name: c_int) -> String {
    answers(level, name, Stage::Fresh)
}

#[test_case(TCP_FASTOPEN, Stage::Listening => "-2..-1: EINVAL 0; 0..1000: same; 32767..2147483647: 4096".to_owned(); "a listener may queue requests")]
#[test_case(TCP_FASTOPEN, Stage::Opened => "-2..-1: EINVAL 0; 0: EINVAL same; 1..2147483647: EINVAL 0".to_owned(); "a connection may not")]
#[test_case(TCP_FASTOPEN_CONNECT, Stage::Listening => "-2..-1: EINVAL 0; 0: EINVAL same; 1..2147483647: EINVAL 0".to_owned(); "a listener does not connect")]
#[test_case(TCP_FASTOPEN_NO_COOKIE, Stage::Opened => "-2..-1: EINVAL 0; 0: EINVAL same; 1..2147483647: EINVAL 0".to_owned(); "too late for cookies")]
#[test_case(TCP_WINDOW_CLAMP, Stage::Opened => "-2..-1: 1152; 0: EINVAL same; 1..1000: 1152; 32767..2147483647: same".to_owned(); "an open window stays bounded")]
fn later_a_socket_answers(name: c_int, stage: Stage) -> String {
    answers(SOL_TCP, name, stage)
}

#[test_case(SOL_SOCKET, SO_REUSEADDR, 3 => "EINVAL")]
#[test_case(SOL_TCP, TCP_NODELAY, 1 => "EINVAL")]
#[test_case(SOL_TCP, TCP_NODELAY, 8 => "1"; "more than enough is cut")]
#[test_case(SOL_IP, IP_TOS, 0 => "0"; "nothing is zero")]
#[test_case(SOL_IP, IP_TOS, 1 => "0"; "a byte is enough")]
#[test_case(SOL_IP, IP_TTL, 0 => "EINVAL")]
#[test_case(SOL_IP, IP_TTL, 1 => "1")]
#[test_case(SOL_IPV6, IPV6_TCLASS, 3 => "EINVAL")]
#[test_case(SOL_TCP, TCP_CONGESTION, 0 => "EINVAL"; "no name")]
#[test_case(SOL_TCP, TCP_FASTOPEN_KEY, 8 => "EINVAL"; "half a key")]
#[test_case(SOL_TCP, TCP_FASTOPEN_KEY, 16 => "16843009"; "a key")]
#[test_case(SOL_SOCKET, SO_LINGER, 4 => "EINVAL"; "half a linger")]
#[test_case(999, 1, 4 => "ENOPROTOOPT"; "no such level")]
#[test_case(SOL_TCP, 99, 4 => "ENOPROTOOPT"; "no such option")]
fn values_have_lengths(level: c_int, name: c_int, len: usize) -> String {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, level, Stage::Fresh);
    match options.set(&scene, level, name, &vec![1; len]) {
        Err(error) => format!("{error:?}"),
        Ok(_) => number_or_error(options.get(&scene, level, name, 4)),
    }
}

#[test_case(SOL_TCP, TCP_NODELAY, 3 => Ok(3))]
#[test_case(SOL_TCP, TCP_NODELAY, 0 => Ok(0))]
#[test_case(SOL_TCP, TCP_NODELAY, 256 => Ok(4))]
#[test_case(SOL_IP, IP_TTL, 3 => Ok(1); "one byte holds it")]
#[test_case(SOL_TCP, TCP_INFO, 280 => Ok(280))]
#[test_case(SOL_TCP, TCP_INFO, 1000 => Ok(280); "no more than there is")]
#[test_case(SOL_TCP, TCP_INFO, 7 => Ok(7); "cut where the room ends")]
#[test_case(SOL_TCP, TCP_CC_INFO, 20 => Ok(0))]
#[test_case(SOL_TCP, TCP_CONGESTION, 16 => Ok(16))]
#[test_case(SOL_SOCKET, SO_MEMINFO, 256 => Ok(36))]
#[test_case(SOL_SOCKET, SO_LINGER, 8 => Ok(8))]
#[test_case(SOL_SOCKET, SO_RCVTIMEO, 16 => Ok(16))]
#[test_case(SOL_SOCKET, SO_MAX_PACING_RATE, 4 => Ok(4))]
#[test_case(SOL_SOCKET, SO_MAX_PACING_RATE, 8 => Ok(8))]
#[test_case(SOL_IPV6, IPV6_TCLASS, 4 => Err(Errno::EOPNOTSUPP); "not a version 4 socket's")]
#[test_case(999, 1, 4 => Err(Errno::EOPNOTSUPP); "no such level")]
#[test_case(SOL_TCP, 99, 4 => Err(Errno::ENOPROTOOPT); "no such option")]
#[test_case(SOL_IP, IP_MTU, 4 => Err(Errno::ENOTCONN))]
fn answers_have_lengths(level: c_int, name: c_int, room: usize) -> Result<usize, Errno> {
    let options = options();
    let scene = scene(&options.sysctls, SOL_TCP, Stage::Fresh);
    options.get(&scene, level, name, room).map(|value| value.len())
}

#[test_case(b"reno" => "reno")]
#[test_case(b"reno\0\0\0" => "reno"; "what follows the end does not count")]
#[test_case(b"cubic" => "cubic")]
#[test_case(b"bbr" => "ENOENT")]
#[test_case(b"x" => "ENOENT")]
fn algorithms_have_names(name: &[u8]) -> String {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_TCP, Stage::Fresh);
    if let Err(error) = options.set(&scene, SOL_TCP, TCP_CONGESTION, name) {
        return format!("{error:?}");
    }
    options.config().validate().expect("every algorithm has a valid configuration");
    let name = options.get(&scene, SOL_TCP, TCP_CONGESTION, 16).unwrap();
    String::from_utf8(name).unwrap().trim_end_matches('\0').to_owned()
}

#[test_case(1, 5 => ((1, 5), Some(Duration::from_secs(5))))]
#[test_case(1, 0 => ((1, 0), Some(Duration::ZERO)); "a reset")]
#[test_case(0, 7 => ((0, 0), None); "off")]
#[test_case(2, 3 => ((1, 3), Some(Duration::from_secs(3))))]
fn lingering_is_switched_on_with_a_time(on: c_int, seconds: c_int) -> ((c_int, c_int), Option<Duration>) {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_SOCKET, Stage::Fresh);
    options.set(&scene, SOL_SOCKET, SO_LINGER, &[on.to_ne_bytes(), seconds.to_ne_bytes()].concat()).unwrap();
    let value = options.get(&scene, SOL_SOCKET, SO_LINGER, 8).unwrap();
    let number = |bytes: &[u8]| c_int::from_ne_bytes(bytes.try_into().unwrap());
    ((number(&value[..4]), number(&value[4..])), options.linger().time())
}

#[test_case(1, 0 => Ok((1, 0)))]
#[test_case(0, 1_500 => Ok((0, 2_000)); "rounded up to a tick")]
#[test_case(0, 999_999 => Ok((1, 0)))]
#[test_case(0, 1_000_000 => Err(Errno::EDOM))]
#[test_case(0, -1 => Err(Errno::EDOM))]
#[test_case(-1, 0 => Ok((0, 0)); "negative")]
#[test_case(i64::MAX, 0 => Ok((0, 0)); "without limit")]
fn timeouts_are_seconds_and_microseconds(seconds: i64, micros: i64) -> Result<(i64, i64), Errno> {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_SOCKET, Stage::Fresh);
    let asked = [seconds.to_ne_bytes(), micros.to_ne_bytes()].concat();
    options.set(&scene, SOL_SOCKET, SO_SNDTIMEO, &asked)?;
    let value = options.get(&scene, SOL_SOCKET, SO_SNDTIMEO, 16).unwrap();
    let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().unwrap());
    Ok((number(&value[..8]), number(&value[8..])))
}

#[test]
fn a_negative_timeout_is_none_and_a_zero_one_is_unlimited() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_SOCKET, Stage::Fresh);
    assert_eq!(options.receive_timeout(), None);
    options.set(&scene, SOL_SOCKET, SO_RCVTIMEO, &[(-1i64).to_ne_bytes(), [0; 8]].concat()).unwrap();
    assert_eq!(options.receive_timeout(), Some(Duration::ZERO));
    options.set(&scene, SOL_SOCKET, SO_RCVTIMEO, &[0; 16]).unwrap();
    assert_eq!(options.receive_timeout(), None);
}

#[test]
fn the_kind_of_service_decides_the_priority() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_IP, Stage::Fresh);
    let mut priorities = Vec::new();
    for tos in [0x10, 0x08, 0x02, 0x04, 0xff] {
        options.set(&scene, SOL_IP, IP_TOS, &i32::to_ne_bytes(tos)).unwrap();
        priorities.push(options.number(SOL_SOCKET, SO_PRIORITY));
    }
    assert_eq!(priorities, [6, 2, 0, 0, 4]);
}

#[test]
fn a_bound_socket_has_decided_on_its_family() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let bound = Scene { bound: Bound::Yes, ..scene(&sysctls, SOL_IPV6, Stage::Fresh) };
    assert_eq!(options.set(&bound, SOL_IPV6, IPV6_V6ONLY, &1i32.to_ne_bytes()), Err(Errno::EINVAL));
}

#[test]
fn version_4_options_are_a_version_6_sockets_too() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_IPV6, Stage::Fresh);
    options.set(&scene, SOL_IP, IP_TOS, &8i32.to_ne_bytes()).unwrap();
    assert_eq!(number_or_error(options.get(&scene, SOL_IP, IP_TOS, 4)), "8");
    assert_eq!(number_or_error(options.get(&scene, SOL_IPV6, IPV6_TCLASS, 4)), "0");
}

#[test]
fn options_change_what_connections_are_configured_by() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_TCP, Stage::Fresh);
    assert_eq!(options.config(), Config::default(), "nothing was set");
    let mut set = |name, value: c_int| options.set(&scene, SOL_TCP, name, &value.to_ne_bytes()).unwrap();
    assert_eq!(set(TCP_NODELAY, 1), Effect::Settings);
    assert_eq!(set(TCP_MAXSEG, 1_000), Effect::Settings);
    set(TCP_SYNCNT, 3);
    set(TCP_LINGER2, 5);
    let config = options.config();
    assert_eq!((config.send.nagle, config.options.mss_max), (NagleConfig::Off, Some(1_000)));
    assert_eq!((config.retries.syn, config.timers.fin_wait_2), (3, Duration::from_secs(5)));
    assert_eq!(options.set(&scene, SOL_SOCKET, SO_REUSEADDR, &1i32.to_ne_bytes()), Ok(Effect::Kept));
}

#[test]
fn acknowledgements_leave_as_asked() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let mut scene = scene(&sysctls, SOL_TCP, Stage::Opened);
    scene.pace = Some(AckPace::Delayed);
    let mut set = |value: c_int| options.set(&scene, SOL_TCP, TCP_QUICKACK, &value.to_ne_bytes());
    assert_eq!(set(0), Ok(Effect::Pace(AckPace::Delayed)));
    assert_eq!((set(1), set(3)), (Ok(Effect::Pace(AckPace::Quick)), Ok(Effect::Pace(AckPace::Quick))));
    assert_eq!(set(2), Ok(Effect::Pace(AckPace::QuickOnce)));
    assert_eq!(
        number_or_error(options.get(&scene, SOL_TCP, TCP_QUICKACK, 4)),
        "0",
        "what is so, not what was asked for"
    );
}

#[test]
fn the_ip_header_and_the_path_mtu_follow() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_IPV6, Stage::Opened);
    let mut set = |level, name, value: c_int| {
        options.set(&scene, level, name, &value.to_ne_bytes()).unwrap();
        let config = options.config();
        (config.ip.ttl, config.ip.dscp, config.path_mtu.discovery)
    };
    assert_eq!(set(SOL_IP, IP_TTL, 9), (9, 0, Discovery::On));
    assert_eq!(set(SOL_IP, IP_TOS, 0x2f), (9, 0x0b, Discovery::On));
    assert_eq!(set(SOL_IPV6, IPV6_UNICAST_HOPS, 7).0, 7);
    assert_eq!(set(SOL_IPV6, IPV6_TCLASS, 0xff).1, 0x3f);
    assert_eq!(set(SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT).2, Discovery::Off);
    assert_eq!(set(SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE).2, Discovery::Deaf);
    assert_eq!(set(SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO).2, Discovery::On);
}

#[test]
fn fast_open_follows_and_a_listeners_own_key_goes_first() {
    let base = crate::sysctl::tests::with("ipv4/tcp_fastopen", "3");
    let key = "01020304-05060708-090a0b0c-0d0e0f10";
    let mut options = Options::new(base, crate::sysctl::tests::namespace(&[("ipv4/tcp_fastopen_key", key)]));
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_TCP, Stage::Listening);
    let keys = options.fast_open_keys().unwrap();
    assert_eq!((&keys.current[..5], keys.previous), (&[4, 3, 2, 1, 8][..], None));
    assert_eq!(options.config().fastopen.pending_max, 0, "a listener has to ask for it");
    options.set(&scene, SOL_TCP, TCP_FASTOPEN, &5i32.to_ne_bytes()).unwrap();
    options.set(&scene, SOL_TCP, TCP_FASTOPEN_NO_COOKIE, &1i32.to_ne_bytes()).unwrap();
    let fastopen = options.config().fastopen;
    assert_eq!((fastopen.pending_max, fastopen.server), (5, FastOpenServer::WithoutCookie));
    assert_eq!(options.listening(options.config(), 1).fastopen.pending_max, 5, "the application's number goes first");
    options.set(&scene, SOL_TCP, TCP_FASTOPEN_KEY, &[[1; 16], [2; 16]].concat()).unwrap();
    let own = options.fast_open_keys().unwrap();
    assert_eq!((own.current, own.previous), ([1; 16], Some([2; 16])));
}

#[test]
fn a_silent_peer_is_given_up_as_options_say() {
    let mut options = options();
    let sysctls = Arc::clone(&options.sysctls);
    let scene = scene(&sysctls, SOL_TCP, Stage::Opened);
    let mut set = |level, name, value: c_int| {
        options.set(&scene, level, name, &value.to_ne_bytes()).unwrap();
        options.config()
    };
    assert_eq!(set(SOL_TCP, TCP_KEEPIDLE, 10).keepalive, KeepAliveConfig::Off);
    set(SOL_TCP, TCP_KEEPINTVL, 2);
    set(SOL_TCP, TCP_KEEPCNT, 3);
    let (idle, interval) = (Duration::from_secs(10), Duration::from_secs(2));
    assert_eq!(set(SOL_SOCKET, SO_KEEPALIVE, 1).keepalive, KeepAliveConfig::On { idle, interval, count: 3 });
    assert_eq!(set(SOL_SOCKET, SO_KEEPALIVE, 0).keepalive, KeepAliveConfig::Off);
    let defer = DeferAccept::For(Duration::from_secs(7));
    assert_eq!(set(SOL_TCP, TCP_DEFER_ACCEPT, 4).handshake.defer_accept, defer, "three timeouts");
    assert_eq!(set(SOL_TCP, TCP_DEFER_ACCEPT, 0).handshake.defer_accept, DeferAccept::Off);
    assert_eq!(set(SOL_TCP, TCP_USER_TIMEOUT, 1_500).retries.user_timeout, Some(Duration::from_millis(1_500)));
    assert_eq!(set(SOL_TCP, TCP_USER_TIMEOUT, 0).retries.user_timeout, None);
    assert_eq!(set(SOL_TCP, TCP_LINGER2, -1).timers.fin_wait_2, Duration::ZERO);
}

#[test]
fn where_every_listener_takes_data_the_backlog_bounds_it() {
    let mut base = Config::default();
    crate::sysctl::tests::namespace(&[("ipv4/tcp_fastopen", "1026"), ("core/somaxconn", "77")]).edit(&mut base);
    let options = Options::new(base, Sysctls::default());
    let pending = |backlog| options.listening(options.config(), backlog).fastopen.pending_max;
    assert_eq!((pending(1), pending(u32::MAX)), (1, 77));
}
