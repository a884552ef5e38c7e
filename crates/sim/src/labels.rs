//! What paths did, in the words of traces: `netem` does not see `trace`, so the labels of its events are found here.

use netem::{DropCause, HopKind, Moved};

/// What kind of hop it was.
pub(crate) const fn hop_label(kind: HopKind) -> trace::Hop {
    match kind {
        HopKind::Loss => trace::Hop::Loss,
        HopKind::Drop => trace::Hop::Drop,
        HopKind::Duplicate => trace::Hop::Duplicate,
        HopKind::Delay => trace::Hop::Delay,
        HopKind::Rate => trace::Hop::Rate,
        HopKind::FirstFlight => trace::Hop::FirstFlight,
        HopKind::Police => trace::Hop::Police,
        HopKind::Thin => trace::Hop::Thin,
        HopKind::Release => trace::Hop::Release,
        HopKind::Mtu => trace::Hop::Mtu,
    }
}

/// How a packet left the order.
pub(crate) const fn moved_label(moved: Moved) -> trace::Moved {
    match moved {
        Moved::Late => trace::Moved::Late,
        Moved::Early => trace::Moved::Early,
    }
}

/// Why a packet was lost.
pub(crate) const fn cause_label(cause: DropCause) -> trace::DropCause {
    match cause {
        DropCause::Tail => trace::DropCause::Tail,
        DropCause::Loss => trace::DropCause::Loss,
        DropCause::Aqm => trace::DropCause::Aqm,
        DropCause::Policed => trace::DropCause::Policed,
        DropCause::Thinned => trace::DropCause::Thinned,
        DropCause::TooBig { .. } => trace::DropCause::TooBig,
    }
}
