//! A socket's error queue (`MSG_ERRQUEUE`): buffers returned to the application (`MSG_ZEROCOPY`), times at which bytes were sent
//! or acknowledged (`SO_TIMESTAMPING`), and the network's reports on an attempt to connect (`IP_RECVERR`).
//!
//! Derived only from the connection's own counts: bytes written, sent and acknowledged, checked after each turn.
//!
//! Deviations:
//! * Bytes are copied when they are written, so each report about buffers says that they were
//!   (`SO_EE_CODE_ZEROCOPY_COPIED`), as Linux says it on devices that cannot do without.
//! * A report contains no copy of the packet it is about; `MSG_TRUNC` is set as if the copy had not fitted.

use crate::control_message::ControlMessage;
use crate::socket::{Family, encode};
use base::Instant;
use libc::{
    IP_RECVERR, IPV6_RECVERR, MSG_ERRQUEUE, MSG_TRUNC, SO_TIMESTAMPING, SOF_TIMESTAMPING_OPT_ID,
    SOF_TIMESTAMPING_OPT_TSONLY, SOF_TIMESTAMPING_SOFTWARE, SOF_TIMESTAMPING_TX_ACK, SOF_TIMESTAMPING_TX_SCHED,
    SOF_TIMESTAMPING_TX_SOFTWARE, SOL_IP, SOL_IPV6, SOL_SOCKET,
};
use nix::errno::Errno;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// `ee_origin` and `ee_code` (linux/errqueue.h).
const ORIGIN_ICMP: u8 = 2;
const ORIGIN_ICMP6: u8 = 3;
const ORIGIN_TIMESTAMPING: u8 = 4;
const ORIGIN_ZEROCOPY: u8 = 5;
const CODE_COPIED: u8 = 1;
/// `struct scm_timestamping`: three times, of which software fills the first.
const TIMES_LEN: usize = 48;

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The buffers of the calls from `first` to `last`, counted from zero, belong to the application again.
    Returned { first: u32, last: u32 },
    /// An event of the byte numbered `key`.
    Stamped { what: Moment, key: u32, at: Instant },
    /// The network has ended an attempt to connect.
    Blamed { errno: Errno, blame: Blame },
}

/// What can happen to a byte, with the number that `ee_info` has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// It was passed to the device (`SCM_TSTAMP_SND`).
    Sent = 0,
    /// It was passed to the queue before the device (`SCM_TSTAMP_SCHED`), here at the same moment.
    Scheduled = 1,
    /// The peer has acknowledged it (`SCM_TSTAMP_ACK`).
    Acknowledged = 2,
}

/// The parts of an ICMP message that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blame {
    pub kind: u8,
    pub code: u8,
    /// Who sent it.
    pub from: IpAddr,
}

/// Sending calls whose buffers are in use, up to this byte of the stream.
#[derive(Clone, Copy, Debug)]
struct Lent {
    end: u64,
    number: u32,
}

/// The reports still due for a call's last byte.
#[derive(Clone, Debug)]
struct Stamp {
    /// Bytes of the stream up to and including it.
    end: u64,
    key: u32,
    /// In the order in which they will happen.
    moments: VecDeque<Moment>,
}

/// The queue, and the reports that will join it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reports {
    queue: VecDeque<Report>,
    /// Bytes accepted by the connection.
    written: u64,
    lent: VecDeque<Lent>,
    lent_ever: u32,
    stamps: VecDeque<Stamp>,
    /// The byte that is numbered zero.
    origin: u64,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes written but not yet sent, and bytes not yet acknowledged.
    pub unsent: u64,
    pub unacknowledged: u64,
}

/// Control messages and flags of a `recvmsg`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ancillary {
    pub messages: Vec<ControlMessage>,
    pub flags: i32,
}

impl Reports {
    /// Whether the queue has no report.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// A connection begins: byte counts restart.
    pub fn begin(&mut self) {
        self.release(u64::MAX);
        self.stamps.clear();
        (self.written, self.origin) = (0, 0);
    }

    /// The connection has accepted `len` more bytes.
    pub fn wrote(&mut self, len: usize) {
        self.written += len as u64;
    }

    /// A call ended here: its buffer stays lent until its bytes are acknowledged.
    pub fn lend(&mut self) {
        self.lent.push_back(Lent { end: self.written, number: self.lent_ever });
        self.lent_ever = self.lent_ever.wrapping_add(1);
    }

    /// A call ended here: its last byte is tracked for these bits of `SO_TIMESTAMPING`.
    pub fn stamp(&mut self, bits: u32) {
        let all = [
            (SOF_TIMESTAMPING_TX_SCHED, Moment::Scheduled),
            (SOF_TIMESTAMPING_TX_SOFTWARE, Moment::Sent),
            (SOF_TIMESTAMPING_TX_ACK, Moment::Acknowledged),
        ];
        let moments: VecDeque<Moment> =
            all.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, moment)| moment).collect();
        if moments.is_empty() {
            return;
        }
        // Numbers wrap after 2^32 bytes.
        let number = self.written.wrapping_sub(self.origin).wrapping_sub(1) as u32;
        let key = if bits & SOF_TIMESTAMPING_OPT_ID != 0 { number } else { 0 };
        self.stamps.push_back(Stamp { end: self.written, key, moments });
    }

    /// Bytes are numbered from the first that is not acknowledged yet, or from the next that is written. An open attempt's
    /// SYN counts, too.
    pub fn number_from(&mut self, origin: u64) {
        self.origin = origin;
    }

    pub fn written(&self) -> u64 {
        self.written
    }

    /// Whether any report depends on progress.
    pub fn waits(&self) -> bool {
        !self.lent.is_empty() || !self.stamps.is_empty()
    }

    /// The connection has made progress; `None` when it has ended. Returns how many reports follow.
    pub fn look(&mut self, progress: Option<Progress>, at: Instant) -> usize {
        let Some(progress) = progress else {
            self.stamps.clear();
            return self.release(u64::MAX);
        };
        let acked = self.written.saturating_sub(progress.unacknowledged);
        let sent = self.written.saturating_sub(progress.unsent);
        let mut added = self.release(acked);
        let mut reports = Vec::new();
        for stamp in &mut self.stamps {
            while let Some(&what) = stamp.moments.front() {
                let reached = if what == Moment::Acknowledged { acked } else { sent };
                if reached < stamp.end {
                    break;
                }
                stamp.moments.pop_front();
                reports.push(Report::Stamped { what, key: stamp.key, at });
            }
        }
        self.stamps.retain(|stamp| !stamp.moments.is_empty());
        added += reports.len();
        self.queue.extend(reports);
        added
    }

    /// Returns the buffers up to this byte. Adjacent ones share a report.
    fn release(&mut self, acked: u64) -> usize {
        let mut added = 0;
        while let Some(lent) = self.lent.pop_front_if(|lent| lent.end <= acked) {
            added += 1;
            match self.queue.back_mut() {
                Some(Report::Returned { last, .. }) if last.wrapping_add(1) == lent.number => *last = lent.number,
                _ => self.queue.push_back(Report::Returned { first: lent.number, last: lent.number }),
            }
        }
        added
    }

    /// The network has ended an attempt to connect.
    pub fn blame(&mut self, errno: Errno, blame: Blame) {
        self.queue.push_back(Report::Blamed { errno, blame });
    }

    /// The oldest report.
    pub fn fetch(&mut self) -> Option<Report> {
        self.queue.pop_front()
    }
}

impl Report {
    /// The report as `recvmsg` with `MSG_ERRQUEUE` returns it. `bits` are `SO_TIMESTAMPING`'s, `wall_us` converts a moment to
    /// microseconds since 1970.
    pub fn ancillary(&self, family: Family, bits: u32, wall_us: impl Fn(Instant) -> i64) -> Ancillary {
        let mut messages = Vec::new();
        if let Self::Stamped { at, .. } = self
            && bits & SOF_TIMESTAMPING_SOFTWARE != 0
        {
            messages.push(ControlMessage { level: SOL_SOCKET, kind: SO_TIMESTAMPING, data: times(wall_us(*at)) });
        }
        let (level, kind) = match family {
            Family::V4 => (SOL_IP, IP_RECVERR),
            Family::V6 => (SOL_IPV6, IPV6_RECVERR),
        };
        messages.push(ControlMessage { level, kind, data: self.extended_error(family) });
        let whole = match self {
            Self::Returned { .. } => true,
            Self::Stamped { .. } => bits & SOF_TIMESTAMPING_OPT_TSONLY != 0,
            Self::Blamed { .. } => false,
        };
        Ancillary { messages, flags: MSG_ERRQUEUE | if whole { 0 } else { MSG_TRUNC } }
    }

    /// `struct sock_extended_err`, and the address of the sender.
    fn extended_error(&self, family: Family) -> Vec<u8> {
        let (errno, origin, kind, code, info, data) = match *self {
            Self::Returned { first, last } => (0, ORIGIN_ZEROCOPY, 0, CODE_COPIED, first, last),
            Self::Stamped { what, key, .. } => (Errno::ENOMSG as i32, ORIGIN_TIMESTAMPING, 0, 0, what as u32, key),
            Self::Blamed { errno, blame } => {
                let origin = if blame.from.is_ipv4() { ORIGIN_ICMP } else { ORIGIN_ICMP6 };
                (errno as i32, origin, blame.kind, blame.code, 0, 0)
            }
        };
        let offender = match *self {
            Self::Blamed { blame, .. } => encode(SocketAddr::new(blame.from, 0)),
            _ => vec![0; encode(SocketAddr::new(family.any(), 0)).len()],
        };
        let mut bytes = errno.to_ne_bytes().to_vec();
        bytes.extend([origin, kind, code, 0]);
        bytes.extend(info.to_ne_bytes());
        bytes.extend(data.to_ne_bytes());
        bytes.extend(offender);
        bytes
    }
}

/// Three times in seconds and nanoseconds, of which the first is filled in.
fn times(us: i64) -> Vec<u8> {
    let mut bytes = [us.div_euclid(1_000_000).to_ne_bytes(), (us.rem_euclid(1_000_000) * 1_000).to_ne_bytes()].concat();
    bytes.resize(TIMES_LEN, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = SOF_TIMESTAMPING_TX_SCHED
        | SOF_TIMESTAMPING_TX_SOFTWARE
        | SOF_TIMESTAMPING_TX_ACK
        | SOF_TIMESTAMPING_OPT_ID
        | SOF_TIMESTAMPING_SOFTWARE;

    fn at(us: u64) -> Instant {
        Instant::ZERO + base::Duration::from_micros(us)
    }

    fn progress(unsent: u64, unacknowledged: u64) -> Option<Progress> {
        Some(Progress { unsent, unacknowledged })
    }

    #[test]
    fn buffers_come_back_in_order_and_neighbours_in_one_report() {
        let mut reports = Reports::default();
        for len in [4_000, 1, 10] {
            reports.wrote(len);
            reports.lend();
        }
        assert_eq!(reports.look(progress(0, 12), at(1)), 0, "the first call's last byte is not acknowledged");
        assert_eq!(reports.look(progress(0, 11), at(1)), 1);
        assert_eq!(reports.look(progress(0, 10), at(2)), 1);
        assert_eq!(reports.fetch(), Some(Report::Returned { first: 0, last: 1 }));
        assert_eq!(reports.look(None, at(3)), 1, "a connection that is over needs no buffers");
        assert_eq!(reports.fetch(), Some(Report::Returned { first: 2, last: 2 }));
        assert!(reports.is_empty() && !reports.waits());
    }

    #[test]
    fn a_calls_last_byte_has_three_moments() {
        let mut reports = Reports::default();
        reports.wrote(100);
        reports.number_from(reports.written());
        reports.wrote(1_000);
        reports.stamp(ALL);
        assert_eq!(reports.look(progress(1, 1_000), at(1)), 0);
        assert_eq!(reports.look(progress(0, 1_000), at(2)), 2);
        assert_eq!(reports.look(progress(0, 0), at(3)), 1);
        let stamped = |what, us| Some(Report::Stamped { what, key: 999, at: at(us) });
        assert_eq!(reports.fetch(), stamped(Moment::Scheduled, 2));
        assert_eq!(reports.fetch(), stamped(Moment::Sent, 2));
        assert_eq!(reports.fetch(), stamped(Moment::Acknowledged, 3));
    }

    #[test]
    fn a_report_about_time_has_the_time_first() {
        let report = Report::Stamped { what: Moment::Acknowledged, key: 7, at: at(0) };
        let ancillary = report.ancillary(Family::V4, ALL, |_| 3_000_002);
        assert_eq!(ancillary.flags, MSG_ERRQUEUE | MSG_TRUNC);
        let [time, error] = ancillary.messages.as_slice() else { panic!("{ancillary:?}") };
        assert_eq!((time.level, time.kind, time.data.len()), (SOL_SOCKET, SO_TIMESTAMPING, 48));
        assert_eq!(time.data[..16], [3_i64.to_ne_bytes(), 2_000_i64.to_ne_bytes()].concat());
        assert_eq!((error.level, error.kind, error.data.len()), (SOL_IP, IP_RECVERR, 32));
        let origin_and_type = [ORIGIN_TIMESTAMPING, 0, 0, 0];
        let expected =
            [(Errno::ENOMSG as i32).to_ne_bytes(), origin_and_type, 2_u32.to_ne_bytes(), 7_u32.to_ne_bytes()];
        assert_eq!(error.data[..16], expected.concat());
        let silent =
            report.ancillary(Family::V6, ALL & !SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY, |_| 0);
        assert_eq!((silent.flags, silent.messages.len()), (MSG_ERRQUEUE, 1));
        assert_eq!((silent.messages[0].level, silent.messages[0].data.len()), (SOL_IPV6, 44));
    }
}
