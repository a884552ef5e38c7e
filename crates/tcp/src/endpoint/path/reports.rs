//! ICMP errors that concern the application (RFC 9293 §3.9.2.2, RFC 5927): which ones end an attempt to open, and which one is
//! remembered.
//!
//! Deviation from RFC 1122 §4.2.3.9: a hard error does not end an open connection, because anyone who guesses a sequence number
//! in flight could send one (RFC 5927 §5.2 describes this).

use crate::config::OpeningErrors;
use crate::event::{CloseReason, IcmpError};
use wire::{IcmpKind, Unreachable};

impl IcmpError {
    //= specs/rfc9293.md#network-layer
    //# A source quench is ignored.
    /// Returns the errors that concern the application; path MTU and source quench do not.
    pub(in crate::endpoint) const fn of(kind: IcmpKind) -> Option<Self> {
        Some(match kind {
            IcmpKind::Unreachable(why) => Self::Unreachable(why),
            IcmpKind::TimeExceeded => Self::TimeExceeded,
            IcmpKind::ParameterProblem => Self::ParameterProblem,
            IcmpKind::TooBig { .. } | IcmpKind::SourceQuench => return None,
        })
    }

    //= specs/rfc9293.md#network-layer
    //# Unreachable networks and hosts, times exceeded and parameter problems end no connection.
    //= specs/rfc5927.md#errors
    //# A hard error ends an attempt to open a connection, and does not end a connection that is open.
    /// Returns whether the error ends an attempt to open. RFC 1122 §4.2.3.9: hard errors do not resolve by themselves.
    pub(in crate::endpoint) const fn ends_opening(self, errors: OpeningErrors) -> bool {
        match errors {
            OpeningErrors::Hard => matches!(self, Self::Unreachable(Unreachable::Protocol | Unreachable::Port)),
            OpeningErrors::Any => true,
        }
    }
}

/// The errors that the network reported.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Reports {
    last: Option<IcmpError>,
    unpolled: Option<IcmpError>,
}

impl Reports {
    /// No error was reported.
    pub const NONE: Self = Self { last: None, unpolled: None };

    /// Records an error that does not end the connection. `known` says whether the application knows the connection; only then
    /// can it poll the error.
    pub fn on_error(&mut self, error: IcmpError, known: bool) {
        *self = Self { last: Some(error), unpolled: known.then_some(error) };
    }

    /// Forgets the last error: an acknowledgement shows that the path works again.
    pub fn on_progress(&mut self) {
        self.last = None;
    }

    /// Returns the last error since the last progress.
    pub fn last(&self) -> Option<IcmpError> {
        self.last
    }

    /// Returns whether the application has not polled an error yet.
    pub fn is_unpolled(&self) -> bool {
        self.unpolled.is_some()
    }

    /// Returns the error for the application, once.
    pub fn poll(&mut self) -> Option<IcmpError> {
        self.unpolled.take()
    }

    //= specs/rfc5927.md#errors
    //# A connection that times out after a soft error ends with it as its cause.
    /// Returns the cause of a connection's end, given `reason`: a peer that stopped answering after the network had reported an
    /// error was unreachable.
    pub fn cause(&self, reason: CloseReason) -> CloseReason {
        match (reason, self.last) {
            (CloseReason::TimedOut, Some(error)) => CloseReason::Icmp(error),
            _ => reason,
        }
    }
}
