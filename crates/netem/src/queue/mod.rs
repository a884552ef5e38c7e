//! Queues: what a bottleneck holds, what it drops or marks, and packets that wait for a known time.
//!
//! A drop-tail queue decides on arrival alone and is a part of the fast hop (`rate.rs`). Queues that manage themselves decide on
//! departure, too; one file has each of them, behind the seam in `seam.rs`.

pub mod codel;
pub mod droptail;
pub mod dualpi2;
pub mod fq_codel;
pub mod pie;
pub(crate) mod seam;
pub(crate) mod timed;

pub use codel::Codel;
pub use dualpi2::DualPi2;
pub use fq_codel::FqCodel;
pub use pie::Pie;
pub use seam::Signal;

use crate::hop::Packet;
use base::Rng;
use droptail::Buffer;
use seam::Queue;

/// How a bottleneck manages its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueSpec {
    /// Drops what arrives at a full buffer, and nothing else.
    #[default]
    DropTail,
    /// Controlled delay (RFC 8289).
    Codel(Codel),
    /// Controlled delay in a queue for each flow (RFC 8290).
    FqCodel(FqCodel),
    /// Proportional integral controller, enhanced (RFC 8033).
    Pie(Pie),
    /// Coupled queues for classic and scalable congestion control (RFC 9332).
    DualPi2(DualPi2),
}

impl QueueSpec {
    /// Returns the room that implementations give the queue by default, in packets that wait; drop-tail's is a matter of the
    /// path.
    pub const fn usual_room(&self) -> Buffer {
        match self {
            Self::DropTail => Buffer::Unlimited,
            Self::Codel(_) | Self::Pie(_) => Buffer::Packets(1_000),
            Self::FqCodel(_) => Buffer::Packets(10_240),
            Self::DualPi2(_) => Buffer::Packets(10_000),
        }
    }

    /// Returns whether chance plays a part: two seeds may give two results.
    pub const fn is_drawn(&self) -> bool {
        matches!(self, Self::FqCodel(_) | Self::Pie(_) | Self::DualPi2(_))
    }

    /// Builds the queue with this room for waiting packets; `None` for drop-tail, which is part of its hop. `rng` is for what is
    /// drawn once.
    pub(crate) fn build<P: Packet + Send + 'static>(&self, room: Buffer, rng: &Rng) -> Option<Box<dyn Queue<P>>> {
        Some(match *self {
            Self::DropTail => return None,
            Self::Codel(codel) => Box::new(codel::CodelQueue::new(codel, room)),
            Self::FqCodel(fq) => Box::new(fq_codel::FqCodelQueue::new(fq, room, rng.fork("rate/hash").next_u64())),
            Self::Pie(pie) => Box::new(pie::PieQueue::new(pie, room)),
            Self::DualPi2(dual) => Box::new(dualpi2::DualPi2Queue::new(dual, room)),
        })
    }
}

#[cfg(test)]
mod tests;
