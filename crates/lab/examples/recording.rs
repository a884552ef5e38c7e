//! Measures the cost of observation: one simulated transfer without an observer, summarised, recorded as Parquet, and into a
//! whole trace directory. Prints packets per second, the best of several turns, and the processor time of all threads, the
//! minimum of them. Finishing a table takes some 20 ms, whatever its length, so the length of the transfer matters.
//!
//! `cargo run --release -p longhaul-lab --example recording [MEGABYTES [TURNS]]`

use longhaul_lab::run::observed::{Names, RECEIVER, SENDER, meta};
use longhaul_lab::run::simulate;
use longhaul_lab::{Overrides, Plan, RunSpec, spec};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;
use trace::{Observer, Off};
use trace_io::dir::{Directory, Packets};
use trace_io::packets::HEADERS;
use trace_io::recorder::{Recorder, Sink};
use trace_io::summary::Summarizer;
use trace_io::table::TableWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u32 = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    let turns: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let run = transfer(megabytes)?;
    let (directory, meta) = (tempfile::tempdir()?, meta(&Names::default(), &run));
    let mut best = [Cost { speed: 0.0, cpu_ns: f64::MAX }; 4];
    for _ in 0..turns {
        let table = BufWriter::new(File::create(directory.path().join("table"))?);
        let sinks: Vec<Box<dyn Sink>> = vec![Box::new(TableWriter::new(table, &meta)?)];
        let recorder = Recorder::<false>::new(sinks);
        let whole =
            Directory::create(directory.path(), &meta, Some(Packets { snaplen: HEADERS, fill: tcp::fill_pattern }))?;
        let costs = [
            speed(&run, Off, |_| Ok(()))?,
            speed(&run, Summarizer::new(SENDER, RECEIVER), |_| Ok(()))?,
            speed(&run, recorder, |recorder| recorder.finish().map_err(|(_, error)| error.into()))?,
            speed(&run, whole, |whole| whole.finish(&meta).map_err(Into::into))?,
        ];
        best = std::array::from_fn(|index| best[index].better(costs[index]));
    }
    for (name, Cost { speed, cpu_ns }) in ["unobserved", "summed up", "Parquet", "trace directory"].iter().zip(best) {
        let percent = speed * 100.0 / best[0].speed;
        println!("{name:<16}{speed:>12.0} packets/s{percent:>8.1} %{cpu_ns:>8.0} ns of processor a packet");
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Cost {
    /// Packets per second.
    speed: f64,
    /// Processor time per packet.
    cpu_ns: f64,
}

impl Cost {
    fn better(self, other: Self) -> Self {
        Self { speed: self.speed.max(other.speed), cpu_ns: self.cpu_ns.min(other.cpu_ns) }
    }
}

/// Processor time of this process so far in seconds, to a hundredth; zero where the kernel does not report it so.
fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default();
    (ticks(11) + ticks(12)) / 100.0
}

fn transfer(megabytes: u32) -> Result<RunSpec, Box<dyn Error>> {
    let mut experiment = spec::builtin("wan").ok_or("unknown experiment `wan`")?;
    let set = vec![format!("flow.bytes={megabytes}MB"), "path.rtt=50ms".to_owned(), "path.loss=0.01%".to_owned()];
    let arms = vec!["longhaul".to_owned()];
    experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() })?;
    Ok(Plan::new(experiment)?.runs.swap_remove(0))
}

/// Measures the cost of a run until the recording is on disk.
fn speed<O: Observer>(
    run: &RunSpec,
    mut observer: O,
    finish: impl FnOnce(O) -> Result<(), Box<dyn Error>>,
) -> Result<Cost, Box<dyn Error>> {
    let (began, cpu_before) = (Instant::now(), cpu());
    let measured = simulate(run, &mut observer)?;
    finish(observer)?;
    let packets = measured.packets as f64;
    Ok(Cost { speed: packets / began.elapsed().as_secs_f64(), cpu_ns: (cpu() - cpu_before) * 1e9 / packets })
}
