//! What watching costs: one simulated transfer without an observer, summed up, recorded as Parquet, and into a whole trace
//! directory; packets a second, the best of several turns.
//!
//! `cargo run --release -p longhaul-lab --example recording [MEGABYTES [TURNS]]`

use lab::observed::{Names, RECEIVER, SENDER, meta};
use lab::{Overrides, Plan, RunSpec, backend, spec};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;
use trace::{Observer, Off};
use trace_io::dir::Directory;
use trace_io::recorder::{Recorder, Sink};
use trace_io::summary::Summarizer;
use trace_io::table::TableWriter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u32 = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let turns: u32 = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let run = transfer(megabytes)?;
    let (directory, meta) = (tempfile::tempdir()?, meta(&Names::default(), &run));
    let mut best = [0_f64; 4];
    for _ in 0..turns {
        let table = BufWriter::new(File::create(directory.path().join("table"))?);
        let sinks: Vec<Box<dyn Sink>> = vec![Box::new(TableWriter::new(table, &meta)?)];
        let recorder = Recorder::<false>::new(sinks);
        let whole = Directory::create(directory.path(), &meta, tcp::fill_pattern)?;
        let speeds = [
            speed(&run, Off, |_| Ok(()))?,
            speed(&run, Summarizer::new(SENDER, RECEIVER), |_| Ok(()))?,
            speed(&run, recorder, |recorder| recorder.finish().map_err(|(_, error)| error.into()))?,
            speed(&run, whole, |whole| whole.finish(&meta).map_err(Into::into))?,
        ];
        best = std::array::from_fn(|index| best[index].max(speeds[index]));
    }
    for (name, speed) in ["nobody watches", "summed up", "Parquet", "trace directory"].iter().zip(best) {
        println!("{name:<16}{speed:>12.0} packets/s{:>8.1} %", speed * 100.0 / best[0]);
    }
    Ok(())
}

fn transfer(megabytes: u32) -> Result<RunSpec, Box<dyn Error>> {
    let mut experiment = spec::builtin("wan").ok_or("there is no experiment `wan`")?;
    let set = vec![format!("flow.bytes={megabytes}MB"), "path.rtt=50ms".to_owned(), "path.loss=0.01%".to_owned()];
    let arms = vec!["longhaul".to_owned()];
    experiment.apply(&Overrides { set, arms, iterations: Some(1), ..Overrides::default() })?;
    Ok(Plan::new(experiment)?.runs.swap_remove(0))
}

/// Packets a second, until what was observed is on the disk.
fn speed<O: Observer>(
    run: &RunSpec,
    mut observer: O,
    finish: impl FnOnce(O) -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let began = Instant::now();
    let measured = backend::simulate(run, &mut observer)?;
    finish(observer)?;
    Ok(measured.packets as f64 / began.elapsed().as_secs_f64())
}
