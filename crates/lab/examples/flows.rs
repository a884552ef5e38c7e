//! Prints what a packet costs the whole simulator, TCP on both ends, when many flows share a path: 10 Mbit/s for each, 50 ms, one
//! bandwidth-delay product of buffer, until a fixed end.
//!
//! `cargo run --release -p longhaul-lab --example flows -- 10 1000` makes a run of each number of flows in turn, three times, and prints the
//! median. A number behind a colon is the rate of the whole path in Mbit/s: `1000:1000`.

use base::{Duration, Rate};
use netem::{Buffer, PathSpec};
use sim::{FlowSpec, Outcome, Scenario, Until, Workload, run};
use tcp::Config;
use trace::Off;

/// Rate for each flow, unless the argument says otherwise.
const MBIT_EACH: u64 = 10;
/// End of every run, unless `--ms` says otherwise.
const END: Duration = Duration::from_secs(3);
/// Runs of each kind, unless `--rounds` says otherwise.
const ROUNDS: usize = 3;

fn scenario(flows: u64, mbit: u64, end: Duration) -> Scenario {
    let rtt = Duration::from_millis(50);
    let rate = Rate::from_bits_per_sec(mbit * 1_000_000).expect("not zero");
    let forward = PathSpec { rate: Some(rate), buffer: Buffer::bdp(rate, rtt), ..PathSpec::ideal(rtt / 2) };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(rtt / 2));
    scenario.until = Until::At(end);
    let config = Config::default().validate().expect("the default configuration is valid");
    for flow in 0..flows {
        let spec = FlowSpec::new(config.clone(), config.clone(), Workload::For(end * 2));
        // Not all at one instant: over a tenth of a second.
        scenario.flows.push(FlowSpec { start: Duration::from_nanos(flow * 100_000_000 / flows), ..spec });
    }
    scenario
}

fn report(what: &str, outcome: &Outcome, ns: u64) {
    let packets = outcome.packets();
    println!(
        "{what:>12}: {:>8} packets/s, {:>5} ns a packet; {packets} packets, {} dropped, {} steps, peak memory {} MB",
        packets * 1_000_000_000 / ns,
        ns / packets,
        outcome.forward.dropped.total(),
        outcome.steps,
        peak_memory() / 1_000_000,
    );
}

/// Bytes of the process's memory at its largest, as the kernel counts; zero where it does not.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut kinds, mut end, mut rounds) = (Vec::new(), END, ROUNDS);
    let parse =
        |text: &str| text.parse::<u64>().expect("a number of flows, or flows:Mbit/s, after --ms or --rounds a number");
    while let Some(argument) = arguments.next() {
        let mut number = || parse(&arguments.next().unwrap_or_default());
        match argument.as_str() {
            "--ms" => end = Duration::from_millis(number()),
            "--rounds" => rounds = number() as usize,
            _ => kinds.push(argument),
        }
    }
    let mut times = vec![Vec::new(); kinds.len()];
    let mut last = vec![None; kinds.len()];
    for _ in 0..rounds {
        for (index, kind) in kinds.iter().enumerate() {
            let (flows, mbit) = match kind.split_once(':') {
                Some((flows, mbit)) => (parse(flows), parse(mbit)),
                None => (parse(kind), parse(kind) * MBIT_EACH),
            };
            let scenario = scenario(flows, mbit, end);
            let started = std::time::Instant::now();
            let outcome = run(&scenario, &mut Off).unwrap_or_else(|failure| panic!("{failure}"));
            times[index].push(started.elapsed().as_nanos() as u64);
            last[index] = Some(outcome);
        }
    }
    for ((kind, times), outcome) in kinds.iter().zip(&mut times).zip(last) {
        times.sort_unstable();
        report(kind, &outcome.expect("it ran"), times[rounds / 2]);
    }
}
