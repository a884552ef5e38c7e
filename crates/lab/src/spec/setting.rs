//! The network and the flow of one cell.

use crate::spec::buffer::BufferSize;
use crate::spec::company::Company;
use crate::spec::drops::Drops;
use crate::spec::figure::Figure;
use crate::spec::flow::Flow;
use crate::spec::host::Hosts;
use crate::spec::life::Life;
use crate::spec::managed_queue::ManagedQueue;
use crate::spec::queues::Queues;
use crate::spec::rate_trace::RateTrace;
use crate::spec::refusal::Refusal;
use crate::spec::second::Second;
use base::{Duration, Rate, Ratio};
use netem::Buffer;
use profiles::units::Fraction;
use sim::Hops;
use std::borrow::Cow;
use tcp::ValidConfig;

/// One point of a sweep: everything about a cell that is not an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Rate of the bottleneck in the direction of the data, in bits of IP packets per second.
    pub rate: Rate,
    /// When the bottleneck passes packets, if it follows a trace; `rate` is then the trace's mean.
    pub trace: Option<RateTrace>,
    /// Round-trip time without queueing, half of it each way.
    pub rtt: Duration,
    /// Buffer of the bottleneck behind a drop-tail queue.
    pub buffer: BufferSize,
    /// How the bottleneck manages its queue; `None` for drop-tail.
    pub queue: Option<ManagedQueue>,
    /// Maximum extra delay after the bottleneck; the order is kept.
    pub jitter: Duration,
    /// Probability that a packet is lost on entry.
    pub loss: Ratio,
    /// Segments that are lost by their place in the stream.
    pub drops: Drops,
    /// Reordered packets.
    pub reorder: Reorder,
    /// Queues through which packets pass in turn.
    pub queues: Option<Queues>,
    /// What is not ideal about the two hosts.
    pub hosts: Hosts,
    /// What makes it more than a pipe.
    pub life: Life,
    /// What is transferred.
    pub flow: Flow,
    /// The flows, if there are several; `flow` has no effect then.
    pub company: Company,
    /// Whether the start of the arm's flows is observed.
    pub startup: Figure,
}

/// Reordered packets, drawn by packet index after the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// How often a packet is chosen.
    pub probability: Ratio,
    /// The delay: additional, or instead of the path's.
    pub delay: Duration,
    /// Which of the two.
    pub mode: ReorderMode,
}

/// What a chosen packet's delay means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderMode {
    /// It takes that much more.
    Late,
    /// It takes that instead of the path's one-way delay.
    Early,
}

impl Default for Point {
    /// 100 Mbit/s over 100 ms with a buffer of one bandwidth-delay product, 32 MB, no disturbance.
    fn default() -> Self {
        Self {
            rate: Rate::from_bits_per_sec(100_000_000).expect("not zero"),
            trace: None,
            rtt: Duration::from_millis(100),
            buffer: BufferSize::Bdp(Fraction::whole(1)),
            queue: None,
            jitter: Duration::ZERO,
            loss: Ratio::ZERO,
            drops: Drops::default(),
            reorder: Reorder { probability: Ratio::ZERO, delay: Duration::ZERO, mode: ReorderMode::Late },
            queues: None,
            hosts: Hosts::default(),
            life: Life::default(),
            flow: Flow::Bytes(32_000_000),
            company: Company::default(),
            startup: Figure::Unknown,
        }
    }
}

impl Point {
    /// Returns the room of the bottleneck's queue in the path's form: the buffer, or a managed queue's limit.
    pub fn buffer(&self) -> Buffer {
        self.queue.map_or(self.buffer, |queue| queue.limit).room(self.usual_rate(), self.usual_rtt())
    }

    /// Returns the rate that sizes are counted in: the model's mean, if there is one.
    pub fn usual_rate(&self) -> Rate {
        self.life.model.map_or(self.rate, |model| model.model.mean_rate())
    }

    /// Returns the round-trip time that sizes are counted in: the middle of the model's, if it draws it.
    pub fn usual_rtt(&self) -> Duration {
        self.life.model.and_then(|model| model.rtt()).unwrap_or(self.rtt)
    }

    /// Returns the round-trip time without queueing of a flow that crosses all bottlenecks.
    pub fn whole_rtt(&self) -> Duration {
        self.rtt + self.life.second.rtt
    }

    /// Returns the path as a flow sees it that crosses some of the bottlenecks.
    pub(crate) fn over(&self, hops: Hops) -> Cow<'_, Self> {
        match (hops, self.life.second) {
            (Hops::Both, _) | (_, Second { rate: None, .. }) => Cow::Borrowed(self),
            (Hops::First, _) => {
                let life = Life { second: Second::default(), ..self.life.clone() };
                Cow::Owned(Self { life, ..self.clone() })
            }
            (Hops::Second, Second { rate: Some(rate), rtt, buffer, queue }) => {
                let (company, startup) = (self.company.clone(), self.startup);
                Cow::Owned(Self { rate, rtt, buffer, queue, company, startup, flow: self.flow, ..Self::default() })
            }
        }
    }

    /// Returns the TCPs that are not the arm's, by name: of other flows, and of the receiving host.
    pub fn others(&self) -> Vec<(&str, &ValidConfig)> {
        let flows = self.company.others().into_iter().map(|other| (other.name.as_str(), other.config()));
        let receiver = self.hosts.receiver.as_ref().map(|receiver| ("receiver", &receiver.config));
        flows.chain(receiver).collect()
    }

    /// Returns whether the seed has any effect: jitter, loss, reordering, a place of losses or a queue's decision is drawn.
    /// Endpoints draw only numbers without effect on time, ports and initial sequence numbers, so all runs of a path that draws
    /// nothing are identical.
    pub fn is_drawn(&self) -> bool {
        let by_queue = self.queue.is_some_and(|queue| queue.spec.is_drawn());
        let on_the_way = !self.jitter.is_zero() || !self.loss.is_zero() || !self.reorder.probability.is_zero();
        let elsewhere = self.life.is_drawn() || self.hosts.is_drawn() || self.company.is_drawn();
        on_the_way || by_queue || self.drops.is_drawn() || elsewhere
    }

    /// Checks whether the settings fit together.
    ///
    /// # Errors
    /// Names what does not fit, and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.queues.is_some() && !self.reorder.probability.is_zero() {
            return Err(Refusal::of_value(
                "packets leave the order by probability and by queues",
                "set `path.reorder.probability` to 0, or `path.reorder.queues` to none",
            ));
        }
        if !self.company.is_empty() && !self.drops.is_empty() {
            return Err(Refusal::of_value(
                "losses by position need a run of one flow",
                "set `path.drop` or `flow.company` to none",
            ));
        }
        if self.hosts.merges() && self.company.has_datagrams() {
            return Err(Refusal::of_value(
                "devices that merge segments do not know datagrams",
                "take `datagrams` and `ping` out of `flow.company`, or set `host.offload` and the `merge` of both hosts to none",
            ));
        }
        self.life.check(self.loss, self.trace.is_some())?;
        self.check_second()?;
        self.company.check()?;
        self.drops.of(self.flow).map(drop)
    }
}

impl Point {
    /// Checks what a second bottleneck goes together with.
    fn check_second(&self) -> Result<(), Refusal> {
        let with = self.life.second.rate.is_some();
        let apart = self.company.groups.iter().find(|group| group.hops != Hops::Both);
        if let Some(group) = apart.filter(|_| !with) {
            let problem = format!("flows of `{group}` cross one of two bottlenecks, and there is one");
            return Err(Refusal::of_value(problem, "set `path.second.rate`, or take out `hops`"));
        }
        if with && self.startup == Figure::Measured {
            let problem = "starts are measured at one bottleneck, and there are two";
            return Err(Refusal::of_value(problem, "set `path.second.rate` or `flow.startup` to none"));
        }
        Ok(())
    }
}

impl ReorderMode {
    /// The word in experiment files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Early => "early",
        }
    }
}
