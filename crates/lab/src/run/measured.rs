//! The results of a run. Its counters come from the list of metrics (`spec/metrics.rs`).

use crate::run::columns::recorded;
use crate::run::ideal::ideal_time;
use crate::run::shares::CompanyResult;
use crate::run::startup::StartUpResult;
use crate::spec::{Point, for_each_metric};
use base::Duration;
use netem::PathStats;
use serde::{Deserialize, Serialize};
use tcp::TcpInfo;

/// A field that has a counter.
macro_rules! counted {
    ($run:ident . $name:ident $counter:ident) => {
        $run.$name
    };
}

macro_rules! measured {
    ($(
        $name:ident
        $(= $end:ident . $counter:ident $said:literal)?
        $(=> $how:ident ($($of:ident),*) $([$head:literal $decimals:literal $meaning:literal])? $description:literal)?;
    )*) => {
        recorded! {
        prefix "";
        /// The results of a run. In the simulator none of them depend on the machine.
        ///
        /// Ends other than ours cannot report everything: unknown values are `None`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Measured {
            /// Payload that the receiving application read, bytes.
            pub bytes: u64,
            /// From the first SYN sent until the last byte read.
            pub elapsed_ns: u64,
            $($(
                #[doc = $said]
                pub $name: Option<u64>,
            )?)*
            /// The sender's multiplier of the reordering window at the end, if its detector has one.
            pub reo_wnd_mult: Option<u32>,
            /// The shortest time that the path allows for these bytes; `None` where it does not depend on the seed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ideal_ns: Option<u64>,
            /// Data packets that the path dropped.
            pub dropped: u64,
            /// Those of them that a managed queue dropped before it was full; `None` if the queue is not managed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub aqm_drops: Option<u64>,
            /// Congestion marks that a managed queue set; `None` if the queue is not managed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub marks: Option<u64>,
            /// Duration of the same run without losses by position; `None` if there are none anyway.
            pub undropped_ns: Option<u64>,
            /// Time that pauses of the sending host take from an ideal transfer; `None` if it does not pause.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub removed_ns: Option<u64>,
            /// Duration of the same run without disturbance; `None` if it is not compared with one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub twin_ns: Option<u64>,
            /// Data and ACK packets that endpoints offered to the path.
            pub packets: u64,
            /// Time after SACKs that report nothing new; `None` if the run was not observed for them.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub stale_sack_ns: Option<u64>,
            /// What the starts of the arm's flows did to the path; `None` unless it was asked for.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub startup: Option<StartUpResult>,
            /// What the arm's flows got beside others; `None` for a run of one flow.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub company: Option<CompanyResult>,
            /// How accurately the machine kept time; `None` in virtual time.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub punctuality: Option<Punctuality>,
        }
        }

        recorded! {
        prefix "";
        /// What the ends of a flow counted.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub struct Counters {
            $($(
                #[doc = $said]
                pub $name: Option<u64>,
            )?)*
        }
        }

        impl Measured {
            /// Returns what the ends counted.
            pub(crate) fn counters(&self) -> Counters {
                Counters { $($($name: counted!(self.$name $counter),)?)* }
            }

            /// Collects the results of a transfer between two of our own ends.
            fn of_ends(bytes: u64, elapsed: Duration, ends: &BothEnds<'_>) -> Self {
                Self {
                    $($($name: Some(u64::from(ends.$end.counters.$counter)),)?)*
                    reo_wnd_mult: ends.sender.reo_wnd_mult,
                    ..Self::of_transfer(bytes, elapsed)
                }
            }

            /// The same with another flow's counters added.
            pub(crate) fn plus(self, other: &Self) -> Self {
                self.with_counters(other, |one, other| one + other)
            }

            fn with_counters(self, other: &Self, combine: fn(u64, u64) -> u64) -> Self {
                let both = |one: Option<u64>, other: Option<u64>| Some(combine(one?, other?));
                Self { $($($name: both(counted!(self.$name $counter), other.$name),)?)* ..self }
            }
        }
    };
}
for_each_metric!(measured);

/// The counters of both ends, by the names that the list gives them.
struct BothEnds<'t> {
    sender: &'t TcpInfo,
    receiver: &'t TcpInfo,
}

recorded! {
prefix "";
/// How accurately the machine kept time during a run in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Punctuality {
    /// Longest time that a due packet waited for the machine.
    pub latest_ns: u64,
    /// Number of waits that were long enough to affect results.
    pub late: u64,
    /// Number of attempts: two if the first one was disturbed.
    pub attempts: u32,
    /// Whether the last attempt was disturbed too.
    pub disturbed: bool,
}
}

impl Punctuality {
    /// That of two runs as one.
    fn worse(self, other: Self) -> Self {
        Self {
            latest_ns: self.latest_ns.max(other.latest_ns),
            late: self.late + other.late,
            attempts: self.attempts.max(other.attempts),
            disturbed: self.disturbed || other.disturbed,
        }
    }
}

impl Measured {
    /// What only the transfer says.
    pub fn of_transfer(bytes: u64, elapsed: Duration) -> Self {
        Self { bytes, elapsed_ns: elapsed.as_nanos(), ..Self::default() }
    }

    /// The same, and what both ends of our own say.
    pub fn of_profile(bytes: u64, elapsed: Duration, sender: &TcpInfo, receiver: &TcpInfo) -> Self {
        Self::of_ends(bytes, elapsed, &BothEnds { sender, receiver })
    }

    /// Adds what the bottlenecks of a run's path did to data packets; the bytes must be known.
    pub fn with_path(self, point: &Point, seed: u64, path: &PathStats) -> Self {
        let managed = |count| point.queue.or(point.life.second.queue).map(|_| count);
        Self {
            ideal_ns: point.life.model.map(|_| ideal_time(point, seed, self.bytes).as_nanos()),
            dropped: path.dropped.total(),
            aqm_drops: managed(path.dropped.aqm),
            marks: managed(path.marked),
            ..self
        }
    }

    /// The mean of two runs with several flows, rounded down; packets of both, and the worse of what the machine did.
    pub fn mean_with(self, other: &Self) -> Self {
        let both = |one: Option<u64>, other: Option<u64>| Some(u64::midpoint(one?, other?));
        let company = self.company.zip(other.company).map(|(one, other)| one.mean_with(&other));
        Self {
            bytes: u64::midpoint(self.bytes, other.bytes),
            elapsed_ns: u64::midpoint(self.elapsed_ns, other.elapsed_ns),
            ideal_ns: both(self.ideal_ns, other.ideal_ns),
            removed_ns: both(self.removed_ns, other.removed_ns),
            dropped: u64::midpoint(self.dropped, other.dropped),
            aqm_drops: both(self.aqm_drops, other.aqm_drops),
            marks: both(self.marks, other.marks),
            packets: self.packets + other.packets,
            startup: self.startup.zip(other.startup).map(|(one, other)| one.mean_with(&other)),
            company,
            punctuality: self.punctuality.zip(other.punctuality).map(|(one, other)| one.worse(other)),
            ..self.with_counters(other, u64::midpoint)
        }
    }

    /// Milliseconds from the first SYN sent until the last byte read.
    pub(crate) fn elapsed_ms(&self, _: &Point) -> f64 {
        self.elapsed_ns as f64 / 1e6
    }

    /// Payload bits per microsecond, that is Mbit/s.
    pub fn goodput_mbps(&self) -> f64 {
        self.bytes as f64 * 8_000.0 / self.elapsed_ns as f64
    }

    /// Round-trip times lost to the losses by position.
    pub fn repair_rtts(&self, point: &Point) -> Option<f64> {
        let undropped = self.undropped_ns?;
        Some((self.elapsed_ns as f64 - undropped as f64) / point.usual_rtt().as_nanos() as f64)
    }

    /// The shortest time the path allows, divided by the time it took.
    pub fn efficiency(&self, point: &Point) -> f64 {
        let ideal = self.ideal_ns.unwrap_or_else(|| ideal_time(point, 0, self.bytes).as_nanos());
        (ideal + self.removed_ns.unwrap_or(0)) as f64 / self.elapsed_ns as f64
    }

    /// Milliseconds that pauses take from the ideal transfer.
    pub(crate) fn removed_ms(&self, _: &Point) -> Option<f64> {
        Some(self.removed_ns? as f64 / 1e6)
    }

    /// The time without disturbance, divided by the time it took.
    pub(crate) fn of_twin(&self, _: &Point) -> Option<f64> {
        Some(self.twin_ns? as f64 / self.elapsed_ns as f64)
    }
}
