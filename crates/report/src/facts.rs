//! What the card at the top of the page says of a run: how fast it was, what it sent again, what limited it.

use crate::model::{Run, Table};
use std::collections::BTreeMap;
use trace_io::Meta;

/// Counted while the events go by.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    sent: u64,
    sent_again: u64,
    probes: u64,
    acked: u64,
    /// When something new was acknowledged last, microseconds.
    pub last_ack: u64,
    /// When data reached the other end last, microseconds; zero if it is not observed.
    pub last_data: u64,
    pub recoveries: u64,
    pub timeouts: u64,
    /// Duplicate reports that left the other end.
    pub dsacks_sent: u64,
}

impl Facts {
    /// A segment left.
    pub fn sent(&mut self, kind: &str, octets: u32, copies: u8) {
        self.sent += u64::from(octets);
        if copies > 0 {
            self.sent_again += u64::from(octets);
        }
        self.probes += u64::from(kind == "probe");
    }

    /// The cumulative acknowledgement reached `ack`.
    pub fn acknowledged(&mut self, ack: u64, now: u64) {
        (self.acked, self.last_ack) = (ack, now);
    }

    /// Fills in everything that is no table.
    pub fn describe(&self, meta: &Meta, run: &mut Run) {
        run.name = if meta.arm.is_empty() { "trace".to_owned() } else { meta.arm.clone() };
        run.about = about(meta);
        run.shares = shares(&run.tables["limits"]);
        run.verdict = verdict(&run.shares);
        run.facts = self.list(&run.tables);
        run.why_empty = self.why_empty(meta, &run.tables);
    }

    fn list(&self, tables: &BTreeMap<&'static str, Table>) -> Vec<(String, String)> {
        let took = if self.last_data > 0 { self.last_data } else { self.last_ack };
        let payload = self.acked.saturating_sub(1); // The SYN has a number, too.
        let mut list = vec![
            ("goodput", format!("{} Mbit/s", digits(payload as f64 * 8.0 / took.max(1) as f64))),
            ("moved", size(payload)),
            ("took", format!("{} s", digits(took as f64 / 1e6))),
            ("retransmitted", format!("{} %", digits(self.sent_again as f64 * 100.0 / self.sent.max(1) as f64))),
            ("recoveries", self.recoveries.to_string()),
            ("timeouts", self.timeouts.to_string()),
            ("probes", self.probes.to_string()),
            ("lost by the network", tables["drops"].rows().to_string()),
        ];
        let recognised = tables["row/dsack"].rows();
        list.push(if self.dsacks_sent > 0 {
            ("D-SACKs", format!("{} sent, {recognised} recognised", self.dsacks_sent))
        } else {
            ("D-SACKs", recognised.to_string())
        });
        list.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
    }

    fn why_empty(&self, meta: &Meta, tables: &BTreeMap<&'static str, Table>) -> BTreeMap<&'static str, String> {
        let mut why = BTreeMap::new();
        let mut tell = |lane, table: &str, text: String| {
            if tables[table].rows() == 0 {
                why.insert(lane, text);
            }
        };
        tell("queue", "queue", "Only an emulator knows what waits at the bottleneck, and none told.".to_owned());
        tell("rtt", "rtt", "No round-trip time was measured.".to_owned());
        tell("rate", "rate", "The sender took no samples of its delivery rate.".to_owned());
        tell("limits", "limits", "The trace does not tell what kept the sender from sending more.".to_owned());
        if meta.network.is_none() {
            let text = "Only an emulator knows the order in which packets left, and there was none.";
            tell("row/reordered", "row/reordered", text.to_owned());
        }
        if self.dsacks_sent > 0 {
            let text = format!("The receiver reported {} duplicates; this sender takes no notice.", self.dsacks_sent);
            tell("row/dsack", "row/dsack", text);
        }
        why
    }
}

/// What was moved over which path.
fn about(meta: &Meta) -> String {
    let cell = meta.cell.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ");
    let profile = meta.profile.as_ref().filter(|profile| **profile != meta.arm);
    let profile = profile.map(|profile| format!("profile {profile}"));
    let seed = (meta.iteration > 0).then(|| format!("iteration {}, seed {}", meta.iteration, meta.seed));
    let parts = [(!cell.is_empty()).then_some(cell), profile, seed];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Causes by their share of the time that any of them took, largest first.
fn shares(limits: &Table) -> Vec<(String, f64)> {
    let [t, until, cause] = limits.columns() else { return Vec::new() };
    let mut spent = vec![0_u64; cause.words.len()];
    for ((from, until), &cause) in t.values.iter().zip(&until.values).zip(&cause.values) {
        spent[cause as usize] += until.saturating_sub(*from);
    }
    let all = spent.iter().sum::<u64>().max(1) as f64;
    let mut shares: Vec<_> = cause.words.iter().cloned().zip(spent).map(|(word, us)| (word, us as f64 / all)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares
}

fn verdict(shares: &[(String, f64)]) -> String {
    let told: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share >= 0.01)
        .map(|(cause, share)| format!("{cause} {} %", digits(share * 100.0)))
        .collect();
    let Some((first, rest)) = told.split_first() else { return String::new() };
    let mut text = format!("Limited most of the time by {first}");
    if shares[0].1 < 0.5 {
        text = format!("Limited by {first}");
    }
    for cause in rest {
        text.push_str(", ");
        text.push_str(cause);
    }
    text.push('.');
    text
}

/// Three digits that count.
fn digits(value: f64) -> String {
    let decimals = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

fn size(octets: u64) -> String {
    match octets {
        1_000_000_000.. => format!("{} GB", digits(octets as f64 / 1e9)),
        1_000_000.. => format!("{} MB", digits(octets as f64 / 1e6)),
        1_000.. => format!("{} kB", digits(octets as f64 / 1e3)),
        _ => format!("{octets} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Unit;

    #[test]
    fn shares_are_of_the_time_that_is_accounted_for() {
        let mut limits = Table::new(&[("until", Unit::Time), ("cause", Unit::Text)]);
        for (from, until, cause) in [(0, 10, "application"), (20, 50, "congestion window"), (50, 60, "application")] {
            limits.push(from, [until.into(), cause.into()]);
        }
        let shares = shares(&limits);
        assert_eq!(shares, [("congestion window".to_owned(), 0.6), ("application".to_owned(), 0.4)]);
        assert_eq!(verdict(&shares), "Limited most of the time by congestion window 60.0 %, application 40.0 %.");
        assert_eq!(verdict(&[]), "");
    }

    #[test]
    fn sizes_and_shares_have_three_digits() {
        assert_eq!([size(999), size(65_536), size(10_000_000)], ["999 B", "65.5 kB", "10.0 MB"]);
        assert_eq!([digits(0.123), digits(12.34), digits(1234.5)], ["0.12", "12.3", "1234"]);
    }
}
