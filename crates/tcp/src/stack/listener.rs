//! Listeners (RFC 9293 §3.10.1, passive OPEN): which one answers a SYN, and how many connections may wait.
//!
//! A listener has two queues. Pending handshakes are in the SYN queue; established connections that the application has not
//! accepted are in the accept queue. Each holds one connection more than the backlog, as the socket interface has always counted
//! it, so that a backlog of zero lets one connection through. With a full accept queue the listener answers no SYN and completes
//! no handshake: it ignores the last ACK, and the repeated SYN-ACK asks for it again later.

use super::fastopen::FastOpenListener;
use crate::config::{GuardConfig, SynCookies, SynFin, ValidConfig};
use base::Instant;
use core::net::{IpAddr, SocketAddr};
use wire::{Flags, TcpRepr};

/// Where a listener listens: a port at one address or at all of them (RFC 9293 MUST-42, MUST-43).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListenOn {
    /// The port.
    pub port: u16,
    /// The address; `None` for every address of the stack, of either version.
    pub address: Option<IpAddr>,
}

impl From<u16> for ListenOn {
    fn from(port: u16) -> Self {
        Self { port, address: None }
    }
}

/// An unspecified address stands for every address.
impl From<SocketAddr> for ListenOn {
    fn from(at: SocketAddr) -> Self {
        Self { port: at.port(), address: Some(at.ip()).filter(|ip| !ip.is_unspecified()) }
    }
}

/// State that a stack keeps for a listener.
#[derive(Debug)]
pub(super) struct Listener {
    pub cfg: ValidConfig,
    pub backlog: u32,
    /// Pending handshakes.
    pub embryonic: u32,
    /// Established connections that the application has not accepted.
    pub waiting: u32,
    /// When a SYN was last answered with a cookie.
    pub cookie_at: Option<Instant>,
    pub fast_open: FastOpenListener,
}

/// How to answer a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerToSyn {
    /// A connection, which sends its SYN-ACK.
    Connection,
    /// Only a SYN-ACK, without state.
    Cookie,
    /// Nothing: the peer tries again.
    Nothing,
}

impl Listener {
    /// Returns when this listener makes SYN cookies: as its profile says, or else as the stack's guards do.
    pub fn cookies(&self, guards: &GuardConfig) -> SynCookies {
        self.cfg.handshake.cookies.unwrap_or(guards.cookies)
    }
    /// Decides how to answer a SYN; `memory_full` means that a connection fits only in the place of others.
    pub fn answer_to_syn(&self, guards: &GuardConfig, memory_full: bool) -> AnswerToSyn {
        match (self.accept_queue_full(), self.syn_queue_full(), self.cookies(guards)) {
            (true, _, _) | (_, true, SynCookies::Off) => AnswerToSyn::Nothing,
            (_, _, SynCookies::Always) | (_, true, SynCookies::WhenFull) => AnswerToSyn::Cookie,
            (_, false, SynCookies::WhenFull) if memory_full => AnswerToSyn::Cookie,
            (_, false, _) => AnswerToSyn::Connection,
        }
    }
    /// Returns whether a SYN gets no answer because it carries a FIN.
    pub fn drops(&self, syn: &TcpRepr) -> bool {
        self.cfg.handshake.syn_fin == SynFin::Dropped && syn.flags.contains(Flags::FIN)
    }
    //= specs/rfc4987.md#queue
    //# The number of handshakes under way is bounded for each listener.
    fn syn_queue_full(&self) -> bool {
        self.embryonic > self.backlog
    }
    pub fn accept_queue_full(&self) -> bool {
        self.waiting > self.backlog
    }
}

/// Returns whether a segment requests a connection.
pub(super) fn is_syn(repr: &TcpRepr) -> bool {
    repr.flags.contains(Flags::SYN) && !repr.flags.contains(Flags::RST) && repr.ack.is_none()
}
