//! Fast Open on one connection (RFC 7413 §4.2): data in our SYN, or data in the peer's.
//!
//! Owns what a SYN or SYN-ACK carries for Fast Open and how it is processed. The stack decides which cookie to send and which to
//! accept; what a connection learns for later ones it leaves as [`FastOpenReport`] for the stack to fetch.
//!
//! Data of our SYN is not on the scoreboard: the SYN's own timer covers it, and a repeated SYN leaves without it. Data that the
//! SYN-ACK does not acknowledge becomes a lost flight, cut to the peer's segment size, without a congestion response.
//!
//! A passive open whose SYN brought accepted data is in SYN-RECEIVED like any other, but its application is notified at once,
//! reads and writes. Until the handshake ends, only the SYN-ACK is retransmitted, not the application's data.
//!
//! Deviations:
//! * A FIN in the peer's SYN is not accepted; the peer sends it again.
//! * A simultaneous open accepts data from the peer's SYN only as a connection without Fast Open does.

use crate::event::CloseReason;
use base::{Bytes, Instant};
use wire::{FastOpen, Flags, TcpRepr};

/// A connection's Fast Open state.
#[derive(Clone, Debug, Default)]
pub(in crate::endpoint) struct FastOpenState {
    role: Role,
    /// The report that the stack has not fetched yet.
    report: Option<FastOpenReport>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Role {
    #[default]
    None,
    /// Our first SYN carries, or carried, this option and this many bytes.
    Client { option: Option<FastOpen>, bytes: Bytes, taken: Taken },
    /// The peer's SYN brought this many accepted bytes, or none; our first SYN-ACK carries this option.
    Server { option: Option<FastOpen>, bytes: Bytes, early: Early },
}

/// Whether the peer accepted the data of our SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Unknown,
    All,
    NotAll,
}

/// Whether a passive open transfers data before its handshake ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Early {
    No,
    /// Data flows since the SYN-ACK left at this moment; no application has accepted the connection yet.
    Waiting(Instant),
    /// Data flows since the SYN-ACK left at this moment; an application uses the connection.
    InUse(Instant),
}

impl Early {
    /// Returns since when data flows.
    const fn since(self) -> Option<Instant> {
        match self {
            Self::No => None,
            Self::Waiting(at) | Self::InUse(at) => Some(at),
        }
    }
}

/// How a stack answers a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastOpenAnswer {
    /// Answers as without Fast Open.
    Nothing,
    /// The handshake must complete first; this option carries a cookie for the next connection.
    Cookie(FastOpen),
    /// The peer's address is verified: data flows at once. The option may carry a newer cookie.
    Believe(Option<FastOpen>),
}

/// What a connection reports to its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FastOpenReport {
    /// The peer's SYN-ACK: its segment size, its option, and whether that is an answer to ours.
    Learnt { mss: u16, option: Option<FastOpen>, answers: Answers },
    /// Three timeouts in a row, or silence until the end, on a connection that tried Fast Open.
    Silence(Instant),
    /// A passive connection that transferred data early has completed its handshake, or has ended without a reset.
    Settled,
    /// A passive connection that transferred data early was reset.
    Reset(Instant),
}

/// What a SYN-ACK answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// A SYN without the option: an unsolicited cookie is not kept.
    Nothing,
    /// A request that left with this option.
    Request(FastOpen),
    /// A cookie, or a request that may have been lost with the first SYN.
    Offer,
}

/// How often a SYN left before it was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Copies {
    One,
    Several,
}

/// The work that the end of the handshake leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Settles {
    Nothing,
    /// Data left before the end of the handshake; the retransmission timer covers it from now on.
    WentAhead,
    /// The SYN carried this many bytes, perhaps none; those that the peer did not accept must be sent again.
    SynData(Bytes),
}

impl FastOpenState {
    /// A connection without Fast Open.
    pub const NONE: Self = Self { role: Role::None, report: None };

    /// Returns whether no SYN carried anything for Fast Open.
    pub fn is_unused(&self) -> bool {
        matches!(self.role, Role::None)
    }

    /// Puts `option` and `bytes` of data into our SYN.
    pub fn offer(&mut self, option: Option<FastOpen>, bytes: Bytes) {
        self.role = Role::Client { option, bytes, taken: Taken::Unknown };
    }

    //= specs/rfc7413.md#server
    //# Data in a SYN with a valid cookie is given to the application before the handshake is over.
    /// Puts `option` into our SYN-ACK; `bytes` of the peer's SYN were accepted. `early` is the moment since which data may flow
    /// before the handshake ends, if it may.
    pub fn answer(&mut self, option: Option<FastOpen>, bytes: Bytes, early: Option<Instant>) {
        self.role = Role::Server { option, bytes, early: early.map_or(Early::No, Early::Waiting) };
    }

    /// Returns the moment since which data may flow although our SYN-ACK is not acknowledged, if it may.
    #[inline]
    pub fn early_since(&self) -> Option<Instant> {
        match self.role {
            Role::Server { early, .. } => early.since(),
            Role::None | Role::Client { .. } => None,
        }
    }

    /// Notes that the application has accepted the connection.
    pub fn on_accepted(&mut self) {
        if let Role::Server { early, .. } = &mut self.role
            && let Early::Waiting(since) = *early
        {
            *early = Early::InUse(since);
        }
    }

    /// Returns whether an application uses the connection before its handshake ends.
    pub fn is_in_use(&self) -> bool {
        matches!(self.role, Role::Server { early: Early::InUse(_), .. })
    }

    //= specs/rfc7413.md#client
    //# A SYN that is sent again leaves without data and without the option.
    //= specs/rfc7413.md#server
    //# A SYN-ACK that is sent again leaves without the option.
    /// Returns the option and the bytes of data that the first SYN carries, or the first SYN-ACK if `answering`.
    pub fn of_first_syn(&self, answering: bool) -> (Option<FastOpen>, Bytes) {
        match self.role {
            Role::Client { option, bytes, taken: Taken::Unknown } if !answering => (option, bytes),
            Role::Server { option, .. } if answering => (option, 0),
            _ => (None, 0),
        }
    }

    /// Removes the data from our SYN, because the path does not carry the SYN with it. Returns whether the SYN carried data, and
    /// therefore must leave again at once.
    pub fn withdraw_data(&mut self) -> bool {
        let Role::Client { bytes: 1.., taken: taken @ Taken::Unknown, .. } = &mut self.role else { return false };
        *taken = Taken::NotAll;
        true
    }

    /// Returns the work that the end of the handshake leaves.
    pub fn settle(&mut self) -> Settles {
        match self.role {
            Role::None | Role::Server { early: Early::No, .. } => Settles::Nothing,
            Role::Server { .. } => {
                self.report = Some(FastOpenReport::Settled);
                Settles::WentAhead
            }
            Role::Client { bytes, .. } => Settles::SynData(bytes),
        }
    }

    /// Notes the peer's SYN-ACK: its options in `repr`, with `default_mss` where it names no segment size, and whether it
    /// acknowledges `all` data of our SYN. `syn` is how often our SYN had left. The end of a simultaneous open may come without
    /// options, and reports nothing to the stack.
    pub fn on_syn_ack(&mut self, repr: &TcpRepr, default_mss: u16, syn: Copies, all: bool) {
        let Role::Client { option, taken, .. } = &mut self.role else { return };
        *taken = if all { Taken::All } else { Taken::NotAll };
        let answers = match (*option, syn) {
            (None, _) => Answers::Nothing,
            (Some(request), Copies::One) if request.cookie.is_none() => Answers::Request(request),
            (Some(_), _) => Answers::Offer,
        };
        self.report = repr.flags.contains(Flags::SYN).then(|| FastOpenReport::Learnt {
            mss: repr.options.mss.unwrap_or(default_mss),
            option: repr.options.fast_open,
            answers,
        });
    }

    /// Returns the bytes of data that our SYN carried.
    #[inline]
    pub fn bytes_of_syn(&self) -> Bytes {
        match self.role {
            Role::Client { bytes, .. } => bytes,
            Role::None | Role::Server { .. } => 0,
        }
    }

    /// Returns whether data in a SYN was accepted, on either side.
    pub fn data_taken(&self) -> bool {
        match self.role {
            Role::None => false,
            Role::Client { bytes, taken, .. } => bytes > 0 && taken == Taken::All,
            Role::Server { bytes, .. } => bytes > 0,
        }
    }

    /// Notes a timeout, the `retries`-th in a row; `last` means that the connection gives up.
    pub fn on_timeout(&mut self, now: Instant, retries: u32, last: bool) {
        let tried = matches!(self.role, Role::Client { option, bytes, .. } if option.is_some() || bytes > 0);
        if tried && (retries == 3 || last && retries < 3) {
            self.report = Some(FastOpenReport::Silence(now));
        }
    }

    /// Reports that a connection with early data ended for `reason` before its handshake did.
    pub fn on_early_end(&mut self, now: Instant, reason: CloseReason) {
        let reset = reason == CloseReason::Reset;
        self.report = Some(if reset { FastOpenReport::Reset(now) } else { FastOpenReport::Settled });
    }

    /// Returns the report for the stack, once.
    #[inline]
    pub fn take_report(&mut self) -> Option<FastOpenReport> {
        self.report.take()
    }
}
