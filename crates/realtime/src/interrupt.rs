//! Ctrl-C during a run: removes what was created, then ends the program as if it had not caught the signal.

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

/// SIGINT and SIGTERM, blocked.
#[derive(Debug)]
pub struct Interrupt {
    signals: SignalFd,
    /// What came, or 0.
    came: AtomicI32,
    message: String,
}

impl Interrupt {
    /// Blocks the signals in the calling thread and in those it starts later. `message` is printed before the program ends.
    ///
    /// # Errors
    /// If they cannot be redirected.
    pub fn catch(message: String) -> io::Result<Self> {
        held_back().thread_block()?;
        let signals = SignalFd::with_flags(&held_back(), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { signals, came: AtomicI32::new(0), message })
    }

    /// Returns whether the program was asked to end.
    pub fn came(&self) -> bool {
        if let Ok(Some(signal)) = self.signals.read_signal() {
            self.came.store(signal.ssi_signo as i32, Ordering::Relaxed);
        }
        self.came.load(Ordering::Relaxed) != 0
    }

    /// Delivers a signal that arrived, after everything is cleaned up: the program ends. The parent may have made it ignore the
    /// signal, as shells do for background jobs; then it ends with the exit code that shells use.
    pub fn obey(&self) {
        if !self.came() {
            return;
        }
        anstream::eprintln!("{}", self.message);
        let _ = held_back().thread_unblock();
        if let Ok(signal) = Signal::try_from(self.came.load(Ordering::Relaxed)) {
            let _ = raise(signal);
            std::process::exit(128 + signal as i32);
        }
    }
}

/// For threads that start programs: these must receive the signals as usual.
pub fn let_through() {
    let _ = held_back().thread_unblock();
}

fn held_back() -> SigSet {
    [Signal::SIGINT, Signal::SIGTERM].into_iter().collect()
}
