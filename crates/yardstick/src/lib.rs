//! A second path in real time, and its endpoints: other eyes on what the rest of this project says about itself.
//!
//! Nothing here comes from another crate of ours, so no mistake of theirs can hide in both. One process emulates a path
//! between two TUN devices (`path`): a rate, a drop-tail buffer, a delay. Others send and receive with the kernel's
//! own TCP (`stream`), measure the path by datagrams before anything else is measured with it (`datagrams`), or keep a
//! processor busy. Each is a command of [`run`], with its options as `name=value`, and prints one line of `name=value` pairs.
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
/// What failed, with the remedy where there is one.
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

/// Keeps one processor busy until it is killed or its standard input closes, which it does with the program that started it.
fn spin() -> ! {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        std::process::exit(0);
    });
    loop {
        std::hint::spin_loop();
    }
}
