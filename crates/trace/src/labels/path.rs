//! What a path does to packets.

use crate::schema::{Field, Kind, Value};
use core::cmp::Ordering;
use core::fmt;

labels! {
    /// A stage of an emulated path.
    Hop {
        /// Random or listed losses.
        Loss = "loss",
        /// Losses at positions of the stream.
        Drop = "drop",
        /// Duplication.
        Duplicate = "duplicate",
        /// Delay, jitter and reordering.
        Delay = "delay",
        /// A bottleneck with its queue.
        Rate = "rate",
        /// A first flight that waits.
        FirstFlight = "first_flight",
        /// A policer.
        Police = "police",
        /// A hop that drops needless ACKs.
        Thin = "thin",
        /// A medium that packets leave in groups.
        Release = "release",
        /// A router that drops packets that are too large.
        Mtu = "mtu",
    }

    /// How a packet was reordered.
    Moved {
        /// It takes longer.
        Late = "late",
        /// It takes less time than the others.
        Early = "early",
    }

    /// Why the network dropped a packet.
    DropCause {
        /// The queue was full.
        Tail = "tail",
        /// Random or scripted loss.
        Loss = "loss",
        /// An active queue manager chose it.
        Aqm = "aqm",
        /// It exceeded a policer's rate and burst.
        Policed = "policed",
        /// A newer ACK took its place: nothing was lost.
        Thinned = "thinned",
        /// It is too large to forward.
        TooBig = "too_big",
    }
}
