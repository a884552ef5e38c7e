//! A second bottleneck behind the first, in the direction of the data.

use crate::spec::buffer::BufferSize;
use crate::spec::managed_queue::ManagedQueue;
use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use netem::Buffer;
use profiles::units::Fraction;

/// The second bottleneck; by default there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// Its rate; `None` for no second bottleneck.
    pub rate: Option<Rate>,
    /// Round-trip time that it adds, half of it each way.
    pub rtt: Duration,
    /// Its buffer, if it does not manage its queue.
    pub buffer: BufferSize,
    /// How it manages its queue; `None` for drop-tail.
    pub queue: Option<ManagedQueue>,
}

impl Default for Second {
    fn default() -> Self {
        Self { rate: None, rtt: Duration::ZERO, buffer: BufferSize::Bdp(Fraction::whole(1)), queue: None }
    }
}

impl Second {
    /// Returns its room, on a way of this round-trip time altogether: the buffer, or a managed queue's limit.
    pub fn room(&self, rate: Rate, rtt: Duration) -> Buffer {
        self.queue.map_or(self.buffer, |queue| queue.limit).room(rate, rtt)
    }

    /// Returns whether the seed has any effect.
    pub(crate) fn is_drawn(&self) -> bool {
        self.queue.is_some_and(|queue| queue.spec.is_drawn())
    }

    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if self.rate.is_none() && *self != Self::default() {
            let problem = "the second bottleneck has a delay, a buffer or a queue, and no rate";
            return Err(Refusal::of_value(problem, "set `path.second.rate` too, for example to `10Mbit`"));
        }
        Ok(())
    }
}
