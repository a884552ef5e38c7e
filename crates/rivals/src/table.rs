//! What is printed.

use crate::case::{CALL, MTU};
use crate::kernel;
use crate::measure::{Plan, Sample};
use std::fmt::Write as _;
use std::fs;

/// Describes the machine and every setting that does not change.
pub fn surroundings(rounds: usize, plan: &Plan, profile: &str) -> String {
    let read =
        |path: &str| fs::read_to_string(path).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let of_tcp = |name: &str| format!("{name} {}", read(&format!("/proc/sys/net/ipv4/{name}")));
    let mut text = String::new();
    let _ = writeln!(text, "kernel {}, load {}", read("/proc/sys/kernel/osrelease"), read("/proc/loadavg"));
    let _ = writeln!(
        text,
        "kernel's socket: default settings, {} KiB a call; {}; {}; {}",
        kernel::CALL >> 10,
        of_tcp("tcp_congestion_control"),
        of_tcp("tcp_rmem"),
        of_tcp("tcp_wmem")
    );
    let _ = writeln!(
        text,
        "longhaul: the library's defaults, profile `{profile}`, tokio's runtime of one thread, `tun::run`"
    );
    let _ = writeln!(
        text,
        "smoltcp 0.14: assembler-max-segment-count-32, segmentation-offload (frames of up to 65,535 bytes with offload), no Nagle, \
         default delay of ACKs; waits in poll(2)"
    );
    let _ = writeln!(
        text,
        "both: MTU {MTU}, device queue 10,000, applications move {} KiB a call; {rounds} rounds in turns, each {:?} after {:?}",
        CALL >> 10,
        plan.lasts,
        plan.warms_up
    );
    text
}

/// The runs of one case.
pub struct Rows<'a> {
    pub name: &'a str,
    /// smoltcp's.
    pub settings: &'a str,
    pub ours: &'a [Sample],
    pub theirs: &'a [Sample],
}

/// Name, the value of a run, and its decimals.
type Column = (&'static str, fn(&Sample) -> f64, usize);

const COLUMNS: [Column; 3] = [
    ("Gbit/s", Sample::gbit_per_second, 2),
    ("user s/Gbit", |sample| sample.user / sample.gbit, 4),
    ("system s/Gbit", |sample| sample.system / sample.gbit, 4),
];

impl Rows<'_> {
    pub fn text(&self) -> String {
        let mut text = format!("{}; smoltcp: {}\n", self.name, self.settings);
        for (name, value, decimals) in COLUMNS {
            let [ours, theirs] = [self.ours, self.theirs].map(|samples| Spread::of(samples, value));
            let ratio = ours.median / theirs.median;
            let (ours, theirs) = (ours.text(decimals), theirs.text(decimals));
            let _ = writeln!(text, "  {name:14} longhaul {ours:26} smoltcp {theirs:26} ratio {ratio:.2}");
        }
        text
    }

    pub fn json(&self) -> String {
        let mut text = String::new();
        for (stack, samples) in [("longhaul", self.ours), ("smoltcp", self.theirs)] {
            for sample in samples {
                let (case, settings) = (self.name, if stack == "smoltcp" { self.settings } else { "defaults" });
                let Sample { gbit, took, user, system } = sample;
                let _ = writeln!(
                    text,
                    "{{\"case\":\"{case}\",\"stack\":\"{stack}\",\"settings\":\"{settings}\",\"gbit\":{gbit},\"seconds\":{took},\
                     \"user\":{user},\"system\":{system}}}"
                );
            }
        }
        text
    }
}

struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(samples: &[Sample], value: impl Fn(&Sample) -> f64) -> Self {
        let mut values: Vec<f64> = samples.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        if values.is_empty() {
            values.push(f64::NAN);
        }
        Self { least: values[0], median: values[values.len() / 2], most: values[values.len() - 1] }
    }

    fn text(&self, decimals: usize) -> String {
        let Self { least, median, most } = self;
        format!("{median:.decimals$} ({least:.decimals$}–{most:.decimals$})")
    }
}
