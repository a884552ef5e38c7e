//! Loss: hops that drop packets by index on the hop, whatever their size and time, or by their part of the stream.

pub mod bernoulli;
pub mod changing;
pub mod gilbert_elliott;
pub mod mask;
pub mod position;

pub use bernoulli::Bernoulli;
pub use changing::ChangingLoss;
pub use gilbert_elliott::GilbertElliott;
pub use mask::Mask;
pub use position::{ByPosition, Place, StreamLoss};

use crate::hop::{DropCause, Offer, Packet};
use base::Instant;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    Lost,
}

impl Fate {
    fn lost_if(lost: bool) -> Self {
        if lost { Self::Lost } else { Self::Passes }
    }

    fn apply<P: Packet>(self, now: Instant, packet: P) -> Offer<P> {
        match self {
            Self::Passes => Offer::Forwards(now, packet),
            Self::Lost => Offer::Dropped(packet, DropCause::Loss),
        }
    }
}

#[cfg(test)]
mod tests;
