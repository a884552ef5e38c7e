//! Ctrl-C during a comparison: what is kept, and how to continue.

use nix::sys::signal::{SigSet, Signal};
use std::path::Path;

/// Returns the message of an interrupted comparison.
pub fn message(out: Option<&Path>) -> String {
    match out {
        Some(out) => {
            format!("interrupted: finished runs are kept in {}; the same command goes on from them", out.display())
        }
        None => {
            "interrupted: nothing is kept; with --out DIR finished runs are, and the same command goes on from them"
                .to_owned()
        }
    }
}

/// Ends the program with this message when SIGINT or SIGTERM arrives. Call it before starting threads, because the signals are
/// blocked in threads that start later.
///
/// # Errors
/// If the signals cannot be blocked.
pub fn end_with(message: String) -> nix::Result<()> {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    signals.thread_block()?;
    std::thread::spawn(move || {
        if let Ok(signal) = signals.wait() {
            anstream::eprintln!("{message}");
            std::process::exit(128 + signal as i32);
        }
    });
    Ok(())
}

/// Leaves the first Ctrl-C to the program that writes our stdin, as `tcpdump` does: it ends, and what it wrote last is read. A second
/// one ends this program.
///
/// # Errors
/// If the signal cannot be blocked.
pub fn leave_to_the_writer() -> nix::Result<()> {
    let signals: SigSet = [Signal::SIGINT].into_iter().collect();
    signals.thread_block()?;
    std::thread::spawn(move || {
        if signals.wait().is_ok() {
            anstream::eprintln!("\ninterrupted: reading what is left of stdin; Ctrl-C again ends without a report");
        }
        if let Ok(signal) = signals.wait() {
            std::process::exit(128 + signal as i32);
        }
    });
    Ok(())
}
