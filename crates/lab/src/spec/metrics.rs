//! The metrics of runs, declared once.
//!
//! This list determines the fields of a run (`Measured`) and of a row (`results::Metrics`), the names that `[expect]` accepts,
//! the columns of tables, and the table of numbers in `docs/MEASUREMENT.md`. An entry is
//!
//! ```text
//! name = END.COUNTER "what a run counts" => HOW(NAMES) ["head" DECIMALS "legend"] "what a row says";
//! ```
//!
//! The first part makes a field of a run, counted by the `sender` or the `receiver`; the part after the arrow makes a metric of
//! all runs of an arm in a cell. Either may be missing, and so may the column. How runs are combined: `mean` of a field; `share`,
//! one field's sum in per cent of another's; `having`, runs with at least one in per cent of all; `median` of a method of
//! `Measured`, and `low` and `high`, the bounds of its interval. The order is that of lines on disk and of the names in messages; add a
//! new entry after others of its kind.

/// Passes the list to a macro.
macro_rules! for_each_metric {
    ($with:ident) => {
        $with! {
            elapsed_ms => median(elapsed_ms)
                "actual time: from the first SYN sent until the receiving application has read the last byte; median";
            efficiency => median(efficiency) ["eff." 3 "shortest time the path allows / time taken"]
                "ideal time divided by actual time; median";
            repair_rtts => median(repair_rtts) ["repair" 1 "round trips that the losses cost, median"]
                "what placed losses (`drop`) cost: the actual time minus that of the same run, with the same seed, without them, in round-trip times of the path; median. `null` where no loss is placed";
            bytes_sent = sender.bytes_sent "Payload sent, retransmissions included, bytes.";
            bytes_retransmitted = sender.bytes_retransmitted "Payload sent again, bytes.";
            retransmitted_pct => share(bytes_retransmitted, bytes_sent) ["retx %" 2 "payload that was sent again"]
                "retransmitted payload bytes in per cent of all payload bytes sent";
            episodes = sender.episodes "Recovery episodes.";
            episodes_without_timeout = sender.episodes_without_timeout "Those that ended without a timeout.";
            fast_retransmits = sender.fast_retransmits "Those entered without a timeout."
                => mean(fast_retransmits) ["fast" 1 "recoveries begun without a timeout, per run"]
                "recovery episodes entered without a timeout; mean per run";
            rtos = sender.timeouts "Retransmission timeouts with data outstanding."
                => mean(rtos) ["RTOs" 1 "timeouts, per run"]
                "retransmission timeouts that fired with data outstanding; mean per run";
            runs_with_rto_pct => having(rtos) "runs with at least one of them, in per cent of all runs";
            recovery_success_pct => share(episodes_without_timeout, episodes)
                ["recov.%" 1 "recoveries that ended without a timeout"]
                "episodes that ended without a retransmission timeout, in per cent of all episodes. `null` when there was no episode";
            lost_retransmissions = sender.lost_retransmissions
                "Retransmissions that were lost in their turn, as the sender found."
                => mean(lost_retransmissions) "retransmissions given up for lost in their turn; mean per run";
            probes = sender.probes "Tail loss probes."
                => mean(probes) ["probes" 1 "tail loss probes, per run"] "tail loss probes sent; mean per run";
            undone = sender.undone "Episodes that were found spurious and undone."
                => mean(undone) "episodes that were found spurious and undone; mean per run";
            dsacks_sent = receiver.dsacks_sent "Duplicate ranges that the receiver reported."
                => mean(dsacks_sent) "duplicate ranges that the receiver reported; mean per run";
            dsacks_received = sender.dsacks_received "Those that the sender recognised."
                => mean(dsacks_received) "those that the sender counted; mean per run";
            sacks_received = sender.sacks_received "ACKs with SACK blocks that the sender received.";
            stale_sacks = sender.stale_sacks "Those of them that said nothing new.";
            stale_sack_pct => share(stale_sacks, sacks_received)
                "acknowledgements with SACK blocks that reported nothing new to the sender — nothing acknowledged, cumulatively or selectively, and no duplicate reported — in per cent of all acknowledgements with SACK blocks. `null` when there was none. A receiver that discards what it received sends them";
            reo_wnd_mult => mean(reo_wnd_mult)
                "multiplier of the sender's reordering window at the end (RFC 8985 §6.2 step 4); mean per run. `null` for detectors without one";
            dropped => mean(dropped) "data packets that the path dropped; mean per run";
            aqm_drops => mean(aqm_drops) ["AQM" 1 "dropped by the queue's manager, per run"]
                "those of them that a managed queue dropped before it was full; mean per run. Absent behind drop-tail queues";
            marks => mean(marks) ["marks" 1 "congestion marks in their place, per run"]
                "data packets that a managed queue marked (RFC 3168); mean per run. Absent behind drop-tail queues";
            removed_ms => median(removed_ms) "time that pauses of the sending host take from an ideal transfer, which counts in the ideal time; median. Absent unless it pauses";
            of_twin => median(of_twin) ["twin" 3 "time without the disturbance / time taken"]
                "time of the same run, with the same seed, without what disturbs the cell, divided by the time taken; median. Absent unless the cell is one of a list";
            share_pct => median(share_pct) ["share %" 1 "what the arm's flows got of the window"]
                "with several flows: bytes that the arm's flows read in the window, of all that were read in it, in per cent; median. This and the following are absent for one flow";
            share_lo_pct => low(share_pct) ["from" 1 "lower end of the share's 95 % interval"] "lower bound of a 95 % interval of that median, by order statistics; `null` below six runs";
            share_hi_pct => high(share_pct) ["to" 1 "upper end"] "upper bound";
            early_share_pct => median(early_share_pct) ["early %" 1 "the share before the window"] "the share before the window; median. `null` where the window opens at the start";
            jain => median(jain) ["Jain" 3 "Jain's index of all flows"]
                "Jain's index of the bytes of all flows in the window: 1 where all are equal, 1/n where one of n has everything; median";
            early_jain => median(early_jain) "the same before the window";
            worst_flow => median(worst_flow) ["worst" 2 "least of the flows, of the mean"] "bytes in the window of the flow with the fewest, divided by the mean of all; median";
            utilisation => median(utilisation) ["use" 3 "payload read, of what the path can carry"]
                "bytes read in the window, divided by the payload that full packets carry at the path's rate; median";
            converged_s => median(converged_s) "first second of the run from which the arm's flows have at least nine tenths of their fair share of each second for five; median of the runs in which there is one";
            dropped_of_arm => median(dropped_of_arm) "packets of the arm's flows that the path dropped, in either direction and over the whole run; median";
            wait_p50_ms => median(wait_p50_ms) "how long packets of the window waited at the bottleneck, their own transmission and the path's delay apart, jitter included: half of them no longer; median of runs, in milliseconds";
            wait_p95_ms => median(wait_p95_ms) ["wait" 1 "ms at the bottleneck, 95 of 100 packets"] "the same for 95 of 100";
            wait_p99_ms => median(wait_p99_ms) "the same for 99 of 100";
            wait_max_ms => median(wait_max_ms) ["peak" 1 "longest wait, ms"] "the longest wait of all. This and the next where there are applications, datagrams or pings among the flows";
            second_utilisation => median(second_utilisation) ["use 2" 3 "the same of the second bottleneck"]
                "with a second bottleneck: bytes read in the window by flows that cross it, divided by the payload that full packets carry at its rate; median. `utilisation` and the waits above are of the first then, and `dropped`, `aqm_drops` and `marks` of both. This and the next three where there are two and several flows";
            second_wait_p50_ms => median(second_wait_p50_ms) "how long packets of the window waited at the second bottleneck: half of them no longer; median of runs, in milliseconds";
            second_wait_p95_ms => median(second_wait_p95_ms) ["wait 2" 1 "ms at the second bottleneck, 95 of 100 packets"] "the same for 95 of 100";
            second_dropped => median(second_dropped) "packets that the second bottleneck dropped, over the whole run; median";
            filled_s => median(filled_s) "first second of the run in which at least 95 of 100 of the payload that full packets carry at the path's rate is read; median of the runs in which there is one";
            transfers => median(transfers) "transfers of the arm's flows that began in the window and ended: flows with a size, repetitions, answers; where the arm's have none, those of the others; median. This and the following where there are any";
            unfinished_pct => median(unfinished_pct) "transfers that began in the window and did not end within the run, in per cent of all that began; median";
            completion_p50_ms => median(completion_p50_ms) ["done" 0 "ms until half of the transfers were complete"] "time from a transfer's beginning until its last byte was read: half of those that ended took no longer; median of runs, in milliseconds";
            completion_p90_ms => median(completion_p90_ms) "the same for 90 of 100";
            completion_p99_ms => median(completion_p99_ms) ["99 %" 0 "99 of 100 of them"] "the same for 99 of 100";
            slowdown_p50 => median(slowdown_p50) ["slow" 2 "time of a transfer / shortest that the path allows, median"] "that time divided by the shortest that the path allows: half of the transfers no more; median of runs";
            slowdown_p90 => median(slowdown_p90) "the same for 90 of 100";
            slowdown_p99 => median(slowdown_p99) "the same for 99 of 100";
            ping_p50_ms => median(ping_p50_ms) "round trips of pings that left in the window, beyond the path's and their own transmission: half of them no longer; median of runs, in milliseconds. This and the next three where there are pings";
            ping_p95_ms => median(ping_p95_ms) ["ping" 1 "ms that 95 of 100 pings waited"] "the same for 95 of 100";
            ping_p99_ms => median(ping_p99_ms) "the same for 99 of 100";
            pings_lost_pct => median(pings_lost_pct) "pings and echoes that the path dropped, in per cent of the pings, over the whole run; median";
            datagrams_lost_pct => median(datagrams_lost_pct) ["lost %" 2 "datagrams that the path dropped"] "datagrams that the path dropped, in per cent of those that it dropped or delivered, over the whole run; median. Where there are datagrams";
            harm_pct => median(harm_pct) ["harm %" 1 "what the others take of the arm's flows"] "what the others take: bytes that the arm's flows read in the window without the others, minus those with them, in per cent of the former; below zero where company helps; median. This and the next four with `flow.harm`";
            harm_done_pct => median(harm_done_pct) ["done %" 1 "what they take of the others"] "what the arm's flows take of the others, in the same way; median";
            harm_delay_pct => median(harm_delay_pct) ["slowed %" 1 "delay that the others cause the arm's flows"] "harm in delay: the path's round trip and the wait that 95 of 100 packets of the arm's flows in the window do not exceed, minus the same without the others, in per cent of the former; below zero where company helps; median";
            harm_done_delay_pct => median(harm_done_delay_pct) ["slows %" 1 "delay that the arm causes the others"] "the harm in delay that the arm's flows do to the others' packets, in the same way; median";
            harm_done_ping_pct => median(harm_done_ping_pct) ["pings %" 1 "delay that the arm causes pings"] "the harm in delay that the arm's flows do to pings: of the path's round trip and the pings' 95 of 100; median. Where there are pings";
            each_mbps => median(each_mbps) ["each" 2 "Mbit/s of one of the arm's flows"] "goodput of one of the arm's flows in the window, in the mean of them; median. This and the next with `flow.mix`";
            others_each_mbps => median(others_each_mbps) ["others" 2 "Mbit/s of one of the other flows"] "the same of one of the other flows: whether they lose as the arm's spread; median";
            startup_ms => median(startup_ms) ["start" 0 "ms until the first avoidance"] "from the first SYN sent until the first avoidance: slow start is over, and so is the recovery that ended it; median of the runs in which there is one. Of several flows of the arm the longest. This and the following with `flow.startup`, in virtual time";
            full_rate_ms => median(full_rate_ms) ["95 %" 0 "ms until 95 of 100 of the rate arrive"] "time to 95 of 100 of the rate: from the first SYN sent until as much payload arrived within a round trip (or the time of ten full packets, if that is longer) as full packets carry; median of the runs in which it is reached. Absent for several flows, and where the rate changes with time";
            startup_queue_bytes => median(startup_queue_bytes) "peak queue of the start: most bytes of IP packets of one flow that the bottleneck held before the first avoidance, the packet in service counted whole and packets of others not at all; median. Of several flows of the arm the most";
            startup_queue_packets => median(startup_queue_packets) ["queue" 0 "packets queued, most before that"] "the flow's packets in the queue at that moment; median";
            startup_lost_bytes => median(startup_lost_bytes) ["lost B" 0 "bytes lost before the first avoidance"] "bytes of the arm's IP packets that the path dropped before the first avoidance of their flow; median";
            burst_bytes => median(burst_bytes) ["burst" 0 "most bytes sent ahead of the sender's own pace"] "largest excess of what a sender released over a token bucket without depth, which fills at 1.25 times its congestion window for each smoothed round trip, in slow start at twice the window; over the whole run, median. Of several flows of the arm the largest";
        }
    };
}
pub(crate) use for_each_metric;

/// A number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The key in files of results, and the name in expectations.
    pub name: &'static str,
    /// What it says.
    pub description: &'static str,
    /// How tables show it, if they do.
    pub column: Option<&'static Column>,
}

/// How a table shows a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Above the numbers.
    pub head: &'static str,
    /// Behind the point.
    pub decimals: usize,
    /// For the legend.
    pub meaning: &'static str,
}

macro_rules! metrics {
    ($(
        $name:ident
        $(= $end:ident . $counter:ident $said:literal)?
        $(=> $how:ident ($($of:ident),*) $([$head:literal $decimals:literal $meaning:literal])? $description:literal)?;
    )*) => {
        /// All metrics except goodput, which is a distribution.
        pub const METRICS: &[Metric] = &[$($(
            Metric {
                name: stringify!($name),
                description: $description,
                column: (&[$(Column { head: $head, decimals: $decimals, meaning: $meaning })?] as &[Column]).first(),
            },
        )?)*];
    };
}
for_each_metric!(metrics);

impl Metric {
    /// The metric of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

/// Endings of names, and the units that they mean.
const UNITS: [(&str, &str); 10] = [
    ("_ns", "ns"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_ppm", "1e-6"),
    ("_milli", "1e-3"),
    ("_pct", "%"),
    ("_mbps", "Mbit/s"),
    ("_bps", "bit/s"),
    ("bytes", "B"),
];

/// Returns the unit of a number, which its name says: `_ns` and the like at its end, bytes at either end. Others count, or are ratios.
pub(crate) fn unit_of(name: &str) -> &'static str {
    let found = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    let without = if name.starts_with("bytes_") { "B" } else { "1" };
    found.map_or(without, |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str = "<!-- metrics: begin (UPDATE_DOCS=1 cargo test -p longhaul-lab metrics) -->\n";
    const END: &str = "<!-- metrics: end -->\n";

    fn table() -> String {
        let rows = METRICS.iter().map(|metric| format!("| `{}` | {} |\n", metric.name, metric.description));
        format!("\n| Key of a row | Meaning |\n|---|---|\n{}\n", rows.collect::<String>())
    }

    #[test]
    fn the_page_of_measurements_has_every_metric() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/MEASUREMENT.md");
        let page = std::fs::read_to_string(&path).expect("the page is there");
        let (before, rest) = page.split_once(BEGIN).expect("the table has a place");
        let (_, behind) = rest.split_once(END).expect("the place ends");
        let expected = format!("{before}{BEGIN}{}{END}{behind}", table());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &expected).expect("the page can be written");
        }
        let current = page == expected || std::env::var_os("UPDATE_DOCS").is_some();
        assert!(
            current,
            "docs/MEASUREMENT.md is out of date; UPDATE_DOCS=1 cargo test -p longhaul-lab metrics writes it"
        );
    }

    #[test]
    fn the_unit_of_a_number_is_in_its_name() {
        let units = [
            "elapsed_ns",
            "bytes_sent",
            "alone_bytes",
            "share_ppm",
            "converged_s",
            "rtos",
            "goodput_mbps",
            "path_rate_bps",
        ]
        .map(unit_of);
        assert_eq!(units, ["ns", "B", "B", "1e-6", "s", "1", "Mbit/s", "bit/s"]);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METRICS.len());
    }
}
