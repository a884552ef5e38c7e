//! ICMP errors about segments of ours (RFC 9293 §3.9.2.2, RFC 5927): which are believed, and what they may do.
//!
//! Deviation from RFC 1122 §4.2.3.9: a hard error does not end a connection that is open, because anyone who guesses a
//! sequence number in flight could send one (RFC 5927 §5.2 describes this). The path MTU is `path_mtu`'s.

use super::{Endpoint, Origin, State};
use crate::config::OpeningErrors;
use crate::cx::Cx;
use crate::event::{CloseReason, Disposition, DropReason, IcmpError};
use base::SeqRange;
use trace::Observer;
use wire::{IcmpKind, IcmpNotice, Unreachable};

impl IcmpError {
    //= specs/rfc9293.md#network-layer
    //# A source quench is ignored.
    /// What concerns the application; the path MTU and pleas to send less do not.
    const fn of(kind: IcmpKind) -> Option<Self> {
        Some(match kind {
            IcmpKind::Unreachable(why) => Self::Unreachable(why),
            IcmpKind::TimeExceeded => Self::TimeExceeded,
            IcmpKind::ParameterProblem => Self::ParameterProblem,
            IcmpKind::TooBig { .. } | IcmpKind::SourceQuench => return None,
        })
    }

    //= specs/rfc9293.md#network-layer
    //# Unreachable networks and hosts, times exceeded and parameter problems end no connection.
    /// RFC 1122 §4.2.3.9: what will not pass by itself.
    const fn is_hard(self) -> bool {
        matches!(self, Self::Unreachable(Unreachable::Protocol | Unreachable::Port))
    }
}

impl Endpoint {
    //= specs/rfc5927.md#validity
    //# An error about a segment that is not in flight is dropped and counted.
    //= specs/rfc5927.md#errors
    //# A source quench does nothing.
    /// The network speaks of a segment that this endpoint sent, at `cx.now`.
    pub fn handle_icmp<O: Observer>(&mut self, cx: &mut Cx<'_, O>, notice: &IcmpNotice) -> Disposition {
        if matches!(self.life.state(), State::TimeWait | State::Closed) {
            return Disposition::Dropped(DropReason::Closed);
        }
        // A connection ahead of its handshake counts its SYN-ACK as behind it, but it is on its way.
        let first = if self.is_early() { self.snd.space.iss() } else { self.snd.space.una() };
        if !SeqRange::new(first, self.snd.space.nxt()).contains(notice.seq) {
            return Disposition::Dropped(DropReason::OutOfWindow);
        }
        if let IcmpKind::TooBig { mtu, packet_len } = notice.kind {
            self.on_too_big(cx, notice.seq, mtu, packet_len);
        } else if let Some(error) = IcmpError::of(notice.kind) {
            self.on_icmp_error(cx, error);
        }
        Disposition::Accepted
    }

    //= specs/rfc9293.md#network-layer
    //# The application learns what the network reports.
    //= specs/rfc5927.md#errors
    //# A hard error ends an attempt to open a connection, and does not end a connection that is open.
    //= specs/rfc5927.md#errors
    //# A soft error ends nothing, but is reported to the application.
    fn on_icmp_error<O: Observer>(&mut self, cx: &mut Cx<'_, O>, error: IcmpError) {
        let opening = self.is_opening();
        let fatal = match self.cfg.icmp.opening {
            OpeningErrors::Hard => error.is_hard(),
            OpeningErrors::Any => true,
        };
        if opening && fatal {
            let reason = match (error, self.life.origin()) {
                (IcmpError::Unreachable(Unreachable::Port), Origin::Active) => CloseReason::Refused,
                _ => CloseReason::Icmp(error),
            };
            return self.finish(cx, reason);
        }
        // Of a connection that it has not been given yet, an application hears nothing.
        let known = !(opening && self.life.origin() == Origin::Passive);
        let extras = self.extras_mut();
        (extras.soft_error, extras.icmp_news) = (Some(error), known.then_some(error));
    }

    /// The last error that the network reported and no progress has belied since (RFC 9293 MUST-47).
    pub fn soft_error(&self) -> Option<IcmpError> {
        self.extras.as_ref()?.soft_error
    }

    //= specs/rfc5927.md#errors
    //# A connection that times out after a soft error ends with it as its cause.
    /// Why a connection ended, given that it ended for `reason`: a peer that stopped answering after the network had
    /// reported trouble was not reached.
    pub(super) fn with_cause(&self, reason: CloseReason) -> CloseReason {
        match (reason, self.soft_error()) {
            (CloseReason::TimedOut, Some(error)) => CloseReason::Icmp(error),
            _ => reason,
        }
    }
}
