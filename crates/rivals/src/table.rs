//! What is printed.

use crate::case::{CALL, MTU};
use crate::kernel;
use crate::measure::{Plan, Sample};
use std::fmt::Write as _;
use std::fs;

/// Describes the machine and every setting that does not change.
pub fn surroundings(rounds: usize, plan: &Plan, profile: &str, gvisor: bool) -> String {
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
    if gvisor {
        let _ = writeln!(
            text,
            "gVisor 20260224: SACK, RACK, receive window tuning; its endpoint for descriptors, or one of the program's own with \
             offload; its processor time is that of all its threads"
        );
    }
    let _ = writeln!(
        text,
        "all: MTU {MTU}, device queue 10,000, applications move {} KiB a call; {rounds} rounds in turns, each {:?} after {:?}",
        CALL >> 10,
        plan.lasts,
        plan.warms_up
    );
    text
}

/// The runs of one case.
pub struct Rows {
    pub name: String,
    /// longhaul's first.
    pub stacks: Vec<Runs>,
}

/// The runs of one stack.
pub struct Runs {
    pub stack: &'static str,
    pub settings: String,
    pub samples: Vec<Sample>,
}

/// What is printed of the runs: its name, decimals, the value of a run, and that of all of them.
struct Column {
    name: &'static str,
    decimals: usize,
    of_one: fn(&Sample) -> f64,
    of_all: fn(&[Sample]) -> f64,
}

const COLUMNS: [Column; 3] = [
    Column { name: "Gbit/s", decimals: 2, of_one: Sample::gbit_per_second, of_all: median_rate },
    Column {
        name: "user s/Gbit",
        decimals: 4,
        of_one: |one| one.user / one.gbit,
        of_all: |all| total(all, |one| one.user),
    },
    Column {
        name: "system s/Gbit",
        decimals: 4,
        of_one: |one| one.system / one.gbit,
        of_all: |all| total(all, |one| one.system),
    },
];

fn median_rate(samples: &[Sample]) -> f64 {
    let mut rates: Vec<f64> = samples.iter().map(Sample::gbit_per_second).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the seconds for each Gbit of all runs together: the kernel counts them by ticks, of which a run has few.
fn total(samples: &[Sample], seconds: fn(&Sample) -> f64) -> f64 {
    samples.iter().map(seconds).sum::<f64>() / samples.iter().map(|sample| sample.gbit).sum::<f64>()
}

impl Rows {
    pub fn text(&self) -> String {
        let settings = self.stacks.iter().skip(1).map(|runs| format!("; {}: {}", runs.stack, runs.settings));
        let mut text = format!("{}{}\n", self.name, settings.collect::<String>());
        for Column { name, decimals, of_one, of_all } in COLUMNS {
            let _ = write!(text, "  {name:14}");
            let ours = self.stacks.first().map_or(f64::NAN, |runs| of_all(&runs.samples));
            for (nth, runs) in self.stacks.iter().enumerate() {
                let values = || runs.samples.iter().map(of_one);
                let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
                let all = of_all(&runs.samples);
                let spread = format!("{all:.decimals$} ({least:.decimals$}–{most:.decimals$})");
                let _ = write!(text, " {} {spread}", runs.stack);
                if nth > 0 {
                    let _ = write!(text, " ratio {:.2}", ours / all);
                }
            }
            text.push('\n');
        }
        text
    }

    pub fn json(&self) -> String {
        let (mut text, case) = (String::new(), &self.name);
        for Runs { stack, settings, samples } in &self.stacks {
            for Sample { gbit, took, user, system } in samples {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_a_median_processor_time_is_added_up_and_ratios_are_to_each_rival() {
        let sample = |gbit, user| Sample { gbit, took: 2.0, user, system: 1.0 };
        let runs = |stack, samples| Runs { stack, settings: "some".into(), samples };
        let ours = vec![sample(2.0, 0.2), sample(4.0, 0.4), sample(10.0, 0.2)];
        let stacks = vec![runs("longhaul", ours), runs("smoltcp", vec![sample(8.0, 1.6)])];
        let text = Rows { name: "tx".into(), stacks }.text();
        let lines: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(lines[0], "tx; smoltcp: some");
        assert_eq!(lines[1], "Gbit/s longhaul 2.00 (1.00–5.00) smoltcp 4.00 (4.00–4.00) ratio 0.50");
        assert_eq!(lines[2], "user s/Gbit longhaul 0.0500 (0.0200–0.1000) smoltcp 0.2000 (0.2000–0.2000) ratio 0.25");
    }
}
