//! What happened since the last report, in bounded memory: totals, which are exact, and samples, which are thinned out evenly where a round
//! has more ACKs than are kept.

use crate::sample::{AckSample, LossSample};
use crate::window::Window;
use base::{Bytes, Duration, Instant, Rate};

/// Samples that a report has at most. A round of so many ACKs carries some megabytes, and half as many still show its course.
const MOST: usize = 1_024;

/// Why an advisor gets a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The connection is about to send for the first time.
    Start,
    /// All that was in flight at the last report of this cause is acknowledged.
    Round,
    /// An episode of fast recovery begins.
    Loss {
        /// Bytes outstanding: sent and not cumulatively acknowledged.
        flight_size: Bytes,
    },
    /// The receiver echoed a congestion mark.
    Mark {
        /// Bytes outstanding.
        flight_size: Bytes,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Bytes outstanding.
        flight_size: Bytes,
        /// First expiry for this data.
        first: bool,
    },
    /// The last reduction was spurious: window and rule are those from before it.
    Undone,
}

/// What has happened since the last report, and how things stand.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// Why there is a report.
    pub cause: Cause,
    /// The present time.
    pub now: Instant,
    /// A number that differs from connection to connection, and is the same when a run is made again.
    pub seed: u32,
    /// Rounds so far, this one included.
    pub rounds: u64,
    /// `cwnd`, `ssthresh` and `smss`.
    pub window: &'r Window,
    /// Bytes in flight.
    pub pipe: Bytes,
    /// Bytes that may open the window: cumulatively acknowledged outside fast recovery, while the window limited the sender.
    pub acked: u64,
    /// Bytes that arrived, by any acknowledgement.
    pub delivered: u64,
    /// Of these, bytes whose acknowledgement echoes a congestion mark.
    pub marked: u64,
    /// Bytes that were marked lost.
    pub lost: u64,
    /// Smoothed round trip.
    pub srtt: Option<Duration>,
    /// Windowed minimum of the round trip.
    pub min_rtt: Option<Duration>,
    /// The samples, in order of time.
    pub samples: &'r [Sample],
}

/// An ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it arrived.
    pub at: Instant,
    /// Bytes newly delivered.
    pub delivered: Bytes,
    /// Bytes in flight after it.
    pub pipe: Bytes,
    /// Its round trip, if it carried a valid one.
    pub rtt: Option<Duration>,
    /// The delivery rate, if one could be formed.
    pub rate: Option<Rate>,
    /// The application limited that rate.
    pub app_limited: bool,
}

/// What is gathered until the next report.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    now: Instant,
    rounds: u64,
    pipe: Bytes,
    acked: u64,
    delivered: u64,
    marked: u64,
    lost: u64,
    srtt: Option<Duration>,
    min_rtt: Option<Duration>,
    samples: Vec<Sample>,
    /// Every `2^thinned`th ACK is kept.
    thinned: u32,
    acks: u64,
}

impl Batch {
    pub fn add(&mut self, ack: &AckSample, grows: bool) {
        self.now = ack.now;
        self.pipe = ack.pipe;
        self.acked += if grows { u64::from(ack.acked) } else { 0 };
        self.delivered += u64::from(ack.delivered);
        self.marked += u64::from(ack.marked);
        (self.srtt, self.min_rtt) = (ack.srtt.or(self.srtt), ack.min_rtt.or(self.min_rtt));
        if self.acks.is_multiple_of(1 << self.thinned) {
            self.keep(ack);
        }
        self.acks += 1;
    }

    fn keep(&mut self, ack: &AckSample) {
        if self.samples.len() == MOST {
            let mut place = 0_usize;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.thinned += 1;
            if !self.acks.is_multiple_of(1 << self.thinned) {
                return;
            }
        }
        self.samples.push(Sample {
            at: ack.now,
            delivered: ack.delivered,
            pipe: ack.pipe,
            rtt: ack.rtt,
            rate: ack.rate.and_then(|sample| sample.rate()),
            app_limited: ack.rate.is_some_and(|sample| sample.app_limited),
        });
    }

    pub fn add_loss(&mut self, lost: &LossSample) {
        self.now = lost.now;
        self.pipe = self.pipe.saturating_sub(lost.bytes);
        self.lost += u64::from(lost.bytes);
    }

    pub fn note_srtt(&mut self, srtt: Option<Duration>) {
        self.srtt = srtt.or(self.srtt);
    }

    pub const fn count_round(&mut self) {
        self.rounds += 1;
    }

    /// Bytes in flight at the last event.
    pub const fn pipe(&self) -> Bytes {
        self.pipe
    }

    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// The time of the last event.
    pub const fn now(&self) -> Instant {
        self.now
    }

    pub fn report<'r>(&'r self, cause: Cause, now: Instant, seed: u32, window: &'r Window) -> Report<'r> {
        let Self { rounds, pipe, acked, delivered, marked, lost, srtt, min_rtt, .. } = *self;
        let samples = &self.samples;
        Report { cause, now, seed, rounds, window, pipe, acked, delivered, marked, lost, srtt, min_rtt, samples }
    }

    /// Begins anew; memory stays.
    pub fn clear(&mut self) {
        (self.acked, self.delivered, self.marked, self.lost) = (0, 0, 0, 0);
        (self.acks, self.thinned) = (0, 0);
        self.samples.clear();
    }

    pub fn boxed_size(&self) -> usize {
        self.samples.capacity() * size_of::<Sample>()
    }
}
