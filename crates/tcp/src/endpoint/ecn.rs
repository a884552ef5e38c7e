//! Explicit congestion notification (RFC 3168 §6.1): what SYNs request, which segments may be marked, how a mark is echoed to its
//! sender, and how the sender reacts to an echo.
//!
//! Owns the two flags that a mark sets: ECE, echoed until the peer has reduced, and CWR, which reports that we have reduced.
//!
//! Deviations:
//! * A SYN that is itself ECN-capable requests another protocol and gets no ECN.
//! * A profile may reduce the window over a round trip, by the reduction of fast recovery, instead of at once.
//! * CWR leaves in a frame of one segment: a device that segments a frame would set the flag on each segment.
//! * A mark is never undone, nor is a loss after which a mark was echoed: the echo may report the same queue.

use super::Origin;
use crate::config::{EcnConfig, EcnNegotiation, EcnSynAgain};
use wire::{Ecn, Flags, TcpRepr};

/// ECN state to signal with the next segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    echo: Echo,
    reduced: Reduced,
}

/// Whether the peer still has to learn of a mark on its segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Echo {
    #[default]
    Nothing,
    /// A segment was marked: every acknowledgement echoes the mark until the peer confirms that it has reduced.
    UntilAnswered,
}

/// Whether the peer still has to learn that our window was reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reduced {
    #[default]
    Reported,
    /// The next new data announces the reduction.
    Unreported,
}

impl EcnState {
    //= specs/rfc3168.md#marking
    //# New data leaves with ECT(0).
    //= specs/rfc3168.md#marking
    //# Retransmissions, bare acknowledgements, SYNs and probes of a closed window are not ECN-capable.
    //= specs/rfc3168.md#sender
    //# The first new data segment after a reduction carries CWR.
    //= specs/rfc3168.md#receiver
    //# After a mark every acknowledgement carries ECE until a segment with CWR arrives.
    /// Returns the flags and the mark of a segment on a connection that uses ECN; `fresh` means that it carries data for the
    /// first time and does not probe a closed window.
    #[inline]
    pub fn of_segment(&mut self, fresh: bool) -> (Flags, Ecn) {
        let mut flags = if self.echo == Echo::UntilAnswered { Flags::ECE } else { Flags::NONE };
        if !fresh {
            return (flags, Ecn::NotEct);
        }
        if core::mem::take(&mut self.reduced) == Reduced::Unreported {
            flags = flags.with(Flags::CWR);
        }
        (flags, Ecn::Ect0)
    }

    /// Returns whether the next new data carries a flag that only one segment may have.
    #[inline]
    pub fn owes_cwr(&self) -> bool {
        self.reduced == Reduced::Unreported
    }

    /// Notes that the window was reduced, for any reason: the peer is to stop echoing, if ECN is `in_use`.
    pub fn owe_cwr(&mut self, in_use: bool) {
        if in_use {
            self.reduced = Reduced::Unreported;
        }
    }

    /// Cancels the announcement: the reduction was undone before the peer learned of it.
    pub fn withdraw_cwr(&mut self) {
        self.reduced = Reduced::Reported;
    }

    //= specs/rfc3168.md#receiver
    //# A mark is echoed at once.
    //= specs/rfc3168.md#receiver
    //# Marks on segments outside the window are ignored.
    //= specs/rfc3168.md#receiver
    //# A mark that arrives together with CWR, or after it, is echoed anew.
    /// Notes an accepted segment with data on a connection that uses ECN. It came in a packet marked `mark`; `cwr` means that the
    /// peer has reduced its window. Returns whether an ACK is due: a change of the echo is acknowledged at once, since a sender
    /// that has reduced may have few other ACKs to clock it.
    #[inline]
    pub fn on_data(&mut self, cwr: bool, mark: Ecn) -> bool {
        if cwr {
            self.echo = Echo::Nothing;
        }
        let marked_first = mark == Ecn::Ce && self.echo == Echo::Nothing;
        if mark == Ecn::Ce {
            self.echo = Echo::UntilAnswered;
        }
        cwr || marked_first
    }

    //= specs/rfc3168.md#negotiation
    //# A SYN asks for ECN with both ECE and CWR, and a SYN-ACK grants it with ECE alone.
    //= specs/rfc3168.md#negotiation
    //# A SYN that is sent again after a timeout may leave without asking.
    /// Returns the flags of our SYN; `repeated` means that it leaves again after a timeout.
    pub fn of_syn(config: &EcnConfig, repeated: bool) -> Flags {
        match config.negotiation {
            EcnNegotiation::Offer if !repeated || config.syn_again != EcnSynAgain::Plain => Flags::ECE.with(Flags::CWR),
            _ => Flags::NONE,
        }
    }

    /// Returns the flags of our SYN-ACK, which grants ECN if it is `agreed`.
    pub fn of_syn_ack(agreed: bool) -> Flags {
        if agreed { Flags::ECE } else { Flags::NONE }
    }

    //= specs/rfc3168.md#negotiation
    //# Nothing is marked as ECN-capable unless both SYNs agreed on it.
    //= specs/rfc3168.md#negotiation
    //# A SYN-ACK with both flags reflects ours and grants nothing.
    /// Returns whether ECN is in use, after the peer's SYN or SYN-ACK came in a packet marked `ip`.
    pub fn agrees(config: &EcnConfig, origin: Origin, syn: &TcpRepr, ip: Ecn) -> bool {
        let (ece, cwr) = (syn.flags.contains(Flags::ECE), syn.flags.contains(Flags::CWR));
        let offered = config.negotiation == EcnNegotiation::Offer;
        match (origin, syn.ack) {
            (Origin::Active, Some(_)) => offered && ece && !cwr,
            (Origin::Active, None) => offered && ece && cwr,
            (Origin::Passive, _) => config.negotiation != EcnNegotiation::Off && ece && cwr && ip == Ecn::NotEct,
        }
    }
}
