//! Reports of a link: JSON for programs, a view on a terminal for people.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use net::{DirectionReport, LinkReport};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Returns the whole report as one object.
pub fn object(report: &LinkReport) -> Value {
    let late = &report.lateness;
    json!({
        "seconds": report.elapsed.as_nanos() as f64 / 1e9,
        "scheduling": report.scheduling.word(),
        "ab": direction(&report.ab),
        "ba": direction(&report.ba),
        "lateness": {
            "packets": late.count,
            "mean_ns": late.mean().as_nanos(),
            "median_ns": late.quantile(500).as_nanos(),
            "p99_ns": late.quantile(990).as_nanos(),
            "max_ns": late.max.as_nanos(),
            "by_powers_of_two_ns": late.histogram,
        },
        "pcap_missed": report.captured.missed,
    })
}

fn direction(report: &DirectionReport) -> Value {
    let path = &report.path;
    json!({
        "offered": path.offered,
        "offered_bytes": path.offered_bytes,
        "delivered": path.delivered,
        "delivered_bytes": path.delivered_bytes,
        "duplicated": path.duplicated,
        "dropped": {"tail": path.dropped.tail, "loss": path.dropped.loss, "aqm": path.dropped.aqm, "policed": path.dropped.policed},
        "thinned": path.dropped.thinned,
        "too_big": path.dropped.too_big,
        "marked": path.marked,
        "queue_bytes": report.backlog_bytes,
        "queue_bytes_max": path.max_backlog_bytes,
        "in_flight": report.in_flight,
        "ring_drops": report.ring_drops,
        "refused": report.refused,
        "unreadable": report.unreadable,
    })
}

/// One line per direction on a terminal; no output elsewhere.
pub struct View {
    screen: MultiProgress,
    lines: Option<[ProgressBar; 2]>,
    before: LinkReport,
}

impl View {
    /// Draws on stderr.
    pub fn new() -> Self {
        let screen = MultiProgress::new();
        let lines = std::io::stderr().is_terminal().then(|| {
            ["a→b", "b→a"].map(|name| {
                let style = ProgressStyle::with_template("{prefix} {msg}").expect("the template is right");
                screen.add(ProgressBar::new_spinner().with_style(style).with_prefix(name))
            })
        });
        Self { screen, lines, before: LinkReport::default() }
    }

    /// Whether a terminal shows it.
    pub fn is_seen(&self) -> bool {
        self.lines.is_some()
    }

    /// Shows the changes since the last call.
    pub fn show(&mut self, report: LinkReport) {
        let Some(lines) = &self.lines else { return };
        let seconds = report.elapsed.saturating_sub(self.before.elapsed).as_nanos() as f64 / 1e9;
        let both = [(&report.ab, &self.before.ab), (&report.ba, &self.before.ba)];
        for (line, (now, before)) in lines.iter().zip(both) {
            line.set_message(line_of(now, before, seconds));
            line.tick();
        }
        self.before = report;
    }

    /// Clears the view while other text is written.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.screen.suspend(write)
    }

    /// Restores the terminal.
    pub fn close(&self) {
        self.lines.iter().flatten().for_each(ProgressBar::finish_and_clear);
    }
}

fn line_of(now: &DirectionReport, before: &DirectionReport, seconds: f64) -> String {
    let bytes = now.path.delivered_bytes - before.path.delivered_bytes;
    let mbps = if seconds > 0.0 { bytes as f64 * 8.0 / seconds / 1e6 } else { 0.0 };
    let drops = now.path.dropped;
    let mut line = format!(
        "{mbps:>8.1} Mbit/s  queue {:>8.1} kB  on the way {:>6}  dropped: full {}, random {}",
        now.backlog_bytes as f64 / 1e3,
        now.in_flight,
        drops.tail,
        drops.loss
    );
    if drops.aqm + now.path.marked > 0 {
        line += &format!(", by the manager {}, marked {}", drops.aqm, now.path.marked);
    }
    if drops.policed > 0 {
        line += &format!(", policed {}", drops.policed);
    }
    if now.unmodelled_drops() > 0 {
        line += &format!(", by the host {}", now.unmodelled_drops());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Duration;

    fn report() -> LinkReport {
        let mut report = LinkReport { elapsed: Duration::from_millis(1_500), ..LinkReport::default() };
        report.ab.path.delivered_bytes = 1_250_000;
        report.ab.path.dropped.tail = 3;
        report.ab.backlog_bytes = 12_300;
        report.ba.ring_drops = 2;
        report
    }

    #[test]
    fn the_object_has_a_number_for_everything() {
        let object = object(&report());
        assert_eq!(object["seconds"], 1.5);
        assert_eq!(object["scheduling"], "ordinary");
        assert_eq!((&object["ab"]["dropped"]["tail"], &object["ab"]["queue_bytes"]), (&json!(3), &json!(12_300)));
        assert_eq!((&object["ba"]["ring_drops"], &object["ba"]["dropped"]["tail"]), (&json!(2), &json!(0)));
        assert_eq!(object["lateness"]["by_powers_of_two_ns"].as_array().unwrap().len(), 32);
    }

    #[test]
    fn a_line_shows_the_last_interval() {
        let (now, before) = (report(), LinkReport::default());
        assert_eq!(
            line_of(&now.ab, &before.ab, 0.1),
            "   100.0 Mbit/s  queue     12.3 kB  on the way      0  dropped: full 3, random 0"
        );
        assert!(line_of(&now.ba, &before.ba, 0.0).ends_with("random 0, by the host 2"));
        let mut managed = report();
        (managed.ab.path.dropped.aqm, managed.ab.path.marked) = (4, 50);
        assert!(line_of(&managed.ab, &before.ab, 0.1).ends_with("random 0, by the manager 4, marked 50"));
        assert_eq!(
            (&object(&managed)["ab"]["marked"], &object(&managed)["ab"]["dropped"]["aqm"]),
            (&json!(50), &json!(4))
        );
    }
}
