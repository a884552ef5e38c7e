//! When a sender has something to write: at once, at regular times, or in bursts.

use crate::draw::span;
use crate::scenario::{FlowSpec, Workload};
use base::{Duration, Instant, Rng};

/// What a sender may write, and when that changes.
#[derive(Debug)]
pub(super) struct Agenda {
    /// Bytes that may have been written by now.
    pub(super) total: u64,
    /// When that changes next; [`Instant::MAX`] for never.
    pub(super) next: Instant,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// There is nothing more to come.
    Once,
    Repeated {
        bytes: u64,
        every: Duration,
    },
    OnOff {
        on: (Duration, Duration),
        off: (Duration, Duration),
        rng: Rng,
    },
}

impl Agenda {
    /// The agenda of `flow`, whose random streams are forks of `rng`.
    ///
    /// # Panics
    /// When repetitions have no bytes, or no time between them, or bursts have neither length nor pause.
    pub(super) fn new(flow: &FlowSpec, rng: &Rng) -> Self {
        let start = Instant::ZERO + flow.start;
        match flow.workload {
            Workload::Bytes(total) => Self { total, next: Instant::MAX, kind: Kind::Once },
            Workload::For(_) | Workload::Requests { .. } => {
                Self { total: u64::MAX, next: Instant::MAX, kind: Kind::Once }
            }
            Workload::Repeated { bytes, every } => {
                assert!(bytes > 0 && !every.is_zero(), "repetitions have bytes and take time");
                Self { total: bytes, next: start + every, kind: Kind::Repeated { bytes, every } }
            }
            Workload::OnOff { on, off } => {
                assert!(!on.0.is_zero() || !off.0.is_zero(), "bursts take time");
                let mut rng = rng.fork("bursts");
                Self { total: u64::MAX, next: start + span(on, &mut rng), kind: Kind::OnOff { on, off, rng } }
            }
        }
    }

    /// Continues until `now`; `written` bytes were written so far.
    pub(super) fn advance(&mut self, now: Instant, written: u64) {
        while self.next <= now {
            match &mut self.kind {
                Kind::Once => self.next = Instant::MAX,
                Kind::Repeated { bytes, every } => {
                    self.total += *bytes;
                    self.next += *every;
                }
                Kind::OnOff { off, rng, .. } if self.total == u64::MAX => {
                    self.total = written;
                    self.next += span(*off, rng);
                }
                Kind::OnOff { on, rng, .. } => {
                    self.total = u64::MAX;
                    self.next += span(*on, rng);
                }
            }
        }
    }
}
