//! The card at the top of the page about a run: how fast it was, what it retransmitted, what limited it. Counts and shares are
//! those of [`trace_io::summary`], which `longhaul run` prints.

use crate::model::{Run, Table};
use crate::system::system_of;
use base::Duration;
use std::collections::BTreeMap;
use trace::{Limit, SendCause};
use trace_io::Meta;
use trace_io::summary::{Count, Dsacks, Limited, Summary};

/// Facts that the summary does not contain.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Whether only packets are known: the trace is a capture's.
    pub from_packets: bool,
    /// When the flow's first event happened, microseconds.
    pub began: Option<u64>,
    /// Sequence numbers acknowledged.
    pub acked: u64,
    /// When something new was acknowledged last, microseconds.
    pub last_ack: u64,
    /// When data reached the other end last, microseconds; zero if it is not observed.
    pub last_data: u64,
}

impl Facts {
    /// Fills in everything that is not a table.
    pub fn describe(&self, meta: &Meta, summary: &Summary, run: &mut Run) {
        run.name = if meta.arm.is_empty() { "trace".to_owned() } else { meta.arm.clone() };
        run.about = about(meta);
        run.shares = shares(&summary.limited);
        run.verdict = verdict(&run.shares);
        run.facts = self.list(meta, summary, &run.tables["row/reo_wnd"]);
        run.numbers = self.numbers(meta, summary);
        run.system = meta.profile.as_deref().and_then(system_of);
        run.why_empty = why_empty(meta, summary, &run.tables);
        if self.from_packets {
            leave_out_thoughts(run);
        }
    }

    /// From the first event to the last data, microseconds.
    fn took(&self) -> u64 {
        let until = if self.last_data > 0 { self.last_data } else { self.last_ack };
        until.saturating_sub(self.began.unwrap_or(0))
    }

    fn payload(&self) -> u64 {
        self.acked.saturating_sub(1) // The SYN has a number, too.
    }

    /// What the page says what happened from.
    fn numbers(&self, meta: &Meta, summary: &Summary) -> BTreeMap<&'static str, f64> {
        let segments = |counts: &BTreeMap<SendCause, Count>| counts.values().map(|count| count.segments).sum::<u64>();
        let Dsacks { sent, recognised } = summary.dsacks;
        let mut numbers = BTreeMap::from([
            ("payload_bytes", self.payload() as f64),
            ("took_us", self.took() as f64),
            ("goodput_bps", self.payload() as f64 * 8e6 / self.took().max(1) as f64),
            ("again_segments", segments(&summary.retransmitted) as f64),
        ]);
        if meta.ends.len() > 1 {
            numbers.insert("dsacks_sent", sent as f64);
        }
        if !self.from_packets {
            numbers.insert("dsacks_recognised", recognised as f64);
        }
        if let Some(network) = &meta.network {
            numbers.insert("dropped_packets", summary.network.dropped.values().sum::<u64>() as f64);
            numbers.extend(network.rate_bps.map(|rate| ("path_bps", rate as f64)));
        }
        for (key, name) in [("host.sender.pause", "sender_pause_us"), ("host.receiver.pause", "receiver_pause_us")] {
            numbers.extend(pause(meta, key).map(|pause| (name, pause.as_micros() as f64)));
        }
        numbers
    }

    fn list(&self, meta: &Meta, summary: &Summary, reo_wnd: &Table) -> Vec<(String, String)> {
        let (took, payload) = (self.took(), self.payload());
        let bytes = |counts: &BTreeMap<SendCause, Count>| counts.values().map(|count| count.bytes).sum::<u64>();
        let again = bytes(&summary.retransmitted) as f64 * 100.0 / (bytes(&summary.sent) as f64).max(1.0);
        let Dsacks { sent, recognised } = summary.dsacks;
        // One end knows what it recognised, a capture only what was sent.
        let dsacks = match (meta.ends.len(), recognised > 0 || meta.network.is_some()) {
            (1, _) => format!("{recognised} recognised"),
            (_, true) => format!("{sent} sent, {recognised} recognised"),
            (_, false) => format!("{sent} sent"),
        };
        // Without an emulator this is unknown.
        let lost = meta.network.as_ref().map(|_| summary.network.dropped.values().sum::<u64>());
        let lost = lost.map(|lost| ("lost by the network", lost.to_string()));
        let greatest = |name| reo_wnd.column(name).and_then(|column| column.values.iter().copied().max());
        let widest = greatest("reo_wnd").zip(greatest("multiplier"));
        let widest =
            widest.map(|(us, times)| ("reordering window", format!("up to {} ms, ×{times}", digits(us as f64 / 1e3))));
        let list = [
            ("goodput", format!("{} Mbit/s", digits(payload as f64 * 8.0 / took.max(1) as f64))),
            ("moved", size(payload)),
            ("took", format!("{} s", digits(took as f64 / 1e6))),
            ("retransmitted", format!("{} %", digits(again))),
            ("recoveries", summary.recoveries.to_string()),
            ("timeouts", summary.timeouts.to_string()),
            ("D-SACKs", dsacks),
        ];
        list.into_iter().chain(widest).chain(lost).map(|(label, value)| (label.to_owned(), value)).collect()
    }
}

/// Returns how long each pause of a host lasts, from a setting such as `50ms x3`.
fn pause(meta: &Meta, key: &str) -> Option<Duration> {
    let (_, setting) = meta.cell.iter().find(|(known, _)| known == key)?;
    profiles::units::duration(setting.split_once('x')?.0.trim()).ok()
}

fn why_empty(meta: &Meta, summary: &Summary, tables: &BTreeMap<&'static str, Table>) -> BTreeMap<&'static str, String> {
    let mut why = BTreeMap::new();
    let mut explain = |lane, table: &str, text: String| {
        if tables[table].rows() == 0 {
            why.insert(lane, text);
        }
    };
    explain(
        "queue",
        "queue",
        "Only an emulator knows the queue at the bottleneck, and this trace has no emulator.".to_owned(),
    );
    explain("rtt", "rtt", "No round-trip time was measured.".to_owned());
    explain("rate", "rate", "The sender took no samples of its delivery rate.".to_owned());
    explain("limits", "limits", "The trace does not show what kept the sender from sending more.".to_owned());
    if meta.network.is_none() {
        let text = "Only an emulator knows the order in which packets left, and there was none.";
        explain("row/reordered", "row/reordered", text.to_owned());
    }
    if summary.dsacks.sent > 0 {
        let sent = summary.dsacks.sent;
        explain(
            "row/dsack",
            "row/dsack",
            format!("The receiver reported {sent} duplicates; this sender takes no notice."),
        );
    }
    why
}

/// Removes rows about the sender's decisions from a capture's run: they would be empty only because packets do not show them.
fn leave_out_thoughts(run: &mut Run) {
    for name in ["row/early", "row/lost", "row/sack_reordering", "row/reo_wnd", "cwnd", "ssthresh", "reo_wnd", "rate"] {
        if run.tables.get(name).is_some_and(|table| table.rows() == 0) {
            run.tables.remove(name);
            run.why_empty.insert(name, "Only the sender knows this; it stands in no packet.".to_owned());
        }
    }
}

/// Describes the transfer and its path, without effects that the path does not have.
fn about(meta: &Meta) -> String {
    let nothing = |value: &str| matches!(value, "" | "0" | "0ns" | "0%");
    // The mode of reordering means nothing if no packets are reordered.
    let orders = meta.cell.iter().all(|(key, value)| {
        let is_reordering = key.starts_with("path.reorder.") && key != "path.reorder.mode";
        !is_reordering || nothing(value)
    });
    let setting = |(key, value): &(String, String)| {
        if orders && key == "path.reorder.mode" {
            return None;
        }
        let key = key.trim_start_matches("path.").trim_start_matches("flow.").replace('.', " ");
        (!nothing(value)).then(|| format!("{key} {value}"))
    };
    let profile = meta.profile.as_ref().filter(|profile| **profile != meta.arm);
    let profile = profile.map(|profile| format!("profile {profile}"));
    let seed = (!meta.cell.is_empty()).then(|| format!("iteration {}", meta.iteration));
    meta.cell.iter().filter_map(setting).chain(profile).chain(seed).collect::<Vec<_>>().join(" · ")
}

/// Returns the name of a cause that limits a sender; `None` for the time before there was anything to limit.
pub const fn limit_name(by: Limit) -> Option<&'static str> {
    Some(match by {
        Limit::Cwnd => "congestion window",
        Limit::Rwnd => "receive window",
        Limit::Recovery => "recovery",
        Limit::Application => "application",
        Limit::Buffer => "send buffer",
        Limit::Pacing => "pacing",
        Limit::Undetermined => "cwnd, path or pace",
        Limit::Nothing => return None,
    })
}

/// Causes with their share of the time, largest first.
fn shares(limited: &Limited) -> Vec<(String, f64)> {
    let named = limited.shares.iter();
    named.filter_map(|share| Some((limit_name(share.by)?.to_owned(), share.percent / 100.0))).collect()
}

fn verdict(shares: &[(String, f64)]) -> String {
    let parts: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share >= 0.01)
        .map(|(cause, share)| format!("{cause} for {} %", digits(share * 100.0)))
        .collect();
    let Some((first, rest)) = parts.split_first() else { return String::new() };
    let rest: String = rest.iter().map(|cause| format!(", {cause}")).collect();
    format!("Limited by {first} of the time{rest}.")
}

/// Formats three significant digits.
fn digits(value: f64) -> String {
    let decimals = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{} GB", digits(bytes as f64 / 1e9)),
        1_000_000.. => format!("{} MB", digits(bytes as f64 / 1e6)),
        1_000.. => format!("{} kB", digits(bytes as f64 / 1e3)),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_io::End;
    use trace_io::summary::Share;

    #[test]
    fn causes_have_names_and_the_largest_share_leads_the_verdict() {
        let share = |by, percent| Share { by, ns: 1, percent };
        let limited = Limited {
            total_ns: 3,
            shares: vec![share(Limit::Cwnd, 60.0), share(Limit::Nothing, 30.0), share(Limit::Rwnd, 10.0)],
        };
        let shares = shares(&limited);
        assert_eq!(shares, [("congestion window".to_owned(), 0.6), ("receive window".to_owned(), 0.1)]);
        assert_eq!(verdict(&shares), "Limited by congestion window for 60.0 % of the time, receive window for 10.0 %.");
        assert_eq!(verdict(&[]), "");
    }

    #[test]
    fn what_a_path_does_not_do_is_not_listed() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mode = pair("path.reorder.mode", "late");
        let cell =
            vec![pair("path.rtt", "20ms"), pair("path.jitter", "0ns"), pair("path.reorder.delay", "0ns"), mode.clone()];
        let mut meta = Meta { cell, arm: "a".into(), profile: Some("linux".into()), iteration: 2, ..Meta::default() };
        assert_eq!(about(&meta), "rtt 20ms · profile linux · iteration 2");
        meta.cell = vec![pair("path.reorder.queues", "4x8/2ms"), mode];
        assert_eq!(about(&meta), "reorder queues 4x8/2ms · reorder mode late · profile linux · iteration 2");
    }

    #[test]
    fn the_numbers_have_what_is_known_and_nothing_else() {
        let facts = Facts { began: Some(500), acked: 10_001, last_ack: 8_500, ..Facts::default() };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut meta = Meta { cell: vec![pair("host.sender.pause", "50ms x3")], ..Meta::default() };
        let summary = Summary { dsacks: Dsacks { sent: 3, recognised: 1 }, ..Summary::default() };
        let numbers = facts.numbers(&meta, &summary);
        let of = |name: &str| numbers.get(name).copied();
        assert_eq!([of("payload_bytes"), of("took_us"), of("goodput_bps")], [Some(1e4), Some(8e3), Some(1e7)]);
        assert_eq!([of("sender_pause_us"), of("receiver_pause_us")], [Some(5e4), None]);
        assert_eq!([of("dsacks_sent"), of("dsacks_recognised"), of("path_bps")], [None, Some(1.0), None]);
        meta.ends = vec![End::default(), End::default()];
        let packets = Facts { from_packets: true, ..facts };
        let numbers = packets.numbers(&meta, &summary);
        assert_eq!((numbers.get("dsacks_sent"), numbers.get("dsacks_recognised")), (Some(&3.0), None));
    }

    #[test]
    fn sizes_and_shares_have_three_digits() {
        assert_eq!([size(999), size(65_536), size(10_000_000)], ["999 B", "65.5 kB", "10.0 MB"]);
        assert_eq!([digits(0.123), digits(12.34), digits(1234.5)], ["0.12", "12.3", "1234"]);
    }
}
