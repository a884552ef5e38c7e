//! Random inputs for a target without a fuzzer, from a seed: `hammer TARGET RUNS [--seed N] [--from RUN] [--keep DIRECTORY]`.
//!
//! TARGET is `calls`, `adversary` or `program`; a seed is a number, or any text, such as a commit's id. Prints runs, steps, packets and
//! failures; a failing input is named by its number, which `--from` begins with, and kept as a file when a directory is given.

use base::Rng;
use longhaul_fuzz::{Tally, adversary, packetdrill_calls, program};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A run that takes longer in real time counts as hanging.
const HANG: Duration = Duration::from_secs(60);
const USAGE: &str = "hammer calls|adversary|program RUNS [--seed N] [--from RUN] [--keep DIRECTORY]";

/// The run in progress. A panic below a C function aborts the program at once, so the panic hook must name the run.
static RUN: AtomicU64 = AtomicU64::new(0);

struct Order {
    play: fn(&[u8]) -> Tally,
    runs: u64,
    seed: u64,
    from: u64,
    keep: Option<PathBuf>,
}

fn order(words: &[String]) -> Option<Order> {
    let play = match words.first()?.as_str() {
        "calls" => packetdrill_calls::play,
        "adversary" => adversary::play,
        "program" => program::play,
        _ => return None,
    };
    let mut order = Order { play, runs: words.get(1)?.parse().ok()?, seed: 0, from: 0, keep: None };
    for pair in words[2..].chunks(2) {
        let value = pair.get(1)?;
        match pair[0].as_str() {
            "--seed" => order.seed = seed(value),
            "--from" => order.from = value.parse().ok()?,
            "--keep" => order.keep = Some(value.into()),
            _ => return None,
        }
    }
    Some(order)
}

/// A number is used as is, any other text is hashed to a number.
fn seed(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| Rng::new(0).fork(text).next_u64())
}

/// The input of this number.
fn input(seed: u64, run: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed).fork(&format!("run/{run}"));
    let len = 64 + rng.below(2_000) as usize;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        bytes.extend_from_slice(&rng.next_u64().to_le_bytes());
    }
    bytes
}

/// Ends the program when a run does not end.
fn watch() {
    let mut last = u64::MAX;
    loop {
        let run = RUN.load(Ordering::Relaxed);
        if run == last {
            println!("run {run} hangs");
            std::process::exit(1);
        }
        last = run;
        std::thread::sleep(HANG);
    }
}

/// Where the input of this run is stored during the run, and afterwards if the run fails.
fn place(order: &Order, target: &str, run: u64) -> Option<PathBuf> {
    order.keep.as_ref().map(|directory| directory.join(format!("{target}-seed-{}-run-{run}", order.seed)))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(order) = order(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    std::thread::spawn(watch);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        println!("run {} panics", RUN.load(Ordering::Relaxed));
        usual(panic);
    }));
    let (mut total, mut failures, begin) = (Tally::default(), 0, Instant::now());
    let mut slowest = (Duration::ZERO, 0);
    for run in order.from..order.from + order.runs {
        RUN.store(run, Ordering::Relaxed);
        let (bytes, started) = (input(order.seed, run), Instant::now());
        let place = place(&order, &words[0], run);
        if let Some(path) = &place {
            std::fs::write(path, &bytes).unwrap_or_else(|error| eprintln!("{}: {error}", path.display()));
        }
        match catch_unwind(|| (order.play)(&bytes)) {
            Ok(tally) => {
                if let Some(path) = &place {
                    // A removed file was removed on purpose.
                    let _ = std::fs::remove_file(path);
                }
                total.steps += tally.steps;
                total.packets += tally.packets;
            }
            Err(_) => {
                failures += 1;
                println!("run {run} fails: RUNS 1 --seed {} --from {run}", order.seed);
            }
        }
        slowest = slowest.max((started.elapsed(), run));
    }
    let (Tally { steps, packets }, took) = (total, begin.elapsed().as_secs_f64());
    println!("{} runs, {steps} steps, {packets} packets, {failures} failures in {took:.1} s", order.runs);
    println!(
        "{:.0} packets a second; the slowest run is {} with {:.2} s",
        packets as f64 / took,
        slowest.1,
        slowest.0.as_secs_f64()
    );
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
