//! A second path in real time, with its endpoints: an independent check of what the rest of this project reports.
//!
//! Nothing here comes from our other crates, so a mistake in them cannot hide in both. One process emulates a path between two
//! TUN devices (`path`): a rate, a drop-tail buffer, a delay. Others send and receive with the kernel's own TCP (`stream`),
//! measure the path with datagrams before any other measurement (`datagrams`), or keep a processor busy. Each is a command of
//! [`run`], with options `name=value`, and prints one line of `name=value` pairs.
#![deny(unsafe_code)]

mod clock;
mod datagrams;
mod line;
mod options;
mod path;
mod priority;
mod stream;

use options::Options;

/// Runs one command of the yardstick: `path`, `source`, `sink`, `datagram-source`, `datagram-sink` or `spin`.
///
/// # Errors
/// What failed, with the remedy if one is known.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (command, rest) = arguments.split_first().ok_or("name a command: path, source, sink, …")?;
    let options = Options::parse(rest)?;
    match command.as_str() {
        "path" => path::run(&options),
        "source" => stream::source(&options),
        "sink" => stream::sink(&options),
        "datagram-source" => datagrams::source(&options),
        "datagram-sink" => datagrams::sink(&options),
        "spin" => spin(),
        other => Err(format!("`{other}` is not a command of the yardstick")),
    }
}

/// Keeps one processor busy until it is killed or its standard input closes, as happens when the parent process ends.
fn spin() -> ! {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    loop {
        std::hint::spin_loop();
    }
}
