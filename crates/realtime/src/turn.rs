//! One run at a time on a machine, whichever process makes it: two runs that share its processors would measure each other.
//!
//! The turn is a lock on a file that other users can neither open nor replace, so none of them can block runs. The lock ends with
//! the process that holds it.

use crate::interrupt::Interrupt;
use crate::runtime_dir::runtime_dir;
use lab::RunFailure;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// The file.
const NAME: &str = "longhaul-real-time.lock";

/// Interval at which a waiting program tries again. The pause between two runs of one program is much longer, so they take turns.
const RETRY: Duration = Duration::from_millis(5);

/// Guarantees that no other process makes a run.
#[derive(Debug)]
pub struct Turn {
    _lock: Flock<File>,
}

impl Turn {
    /// Waits until no other process makes a run.
    ///
    /// # Errors
    /// If the program was asked to end, or the file cannot be used.
    pub fn take(interrupt: &Interrupt) -> Result<Self, RunFailure> {
        let directory =
            runtime_dir().map_err(|error| RunFailure(format!("cannot take turns with other runs: {error}")))?;
        Self::take_at(&directory.join(NAME), &mut || interrupt.came())
    }

    fn take_at(path: &Path, interrupted: &mut dyn FnMut() -> bool) -> Result<Self, RunFailure> {
        let failed = |problem: &dyn std::fmt::Display| {
            RunFailure(format!("cannot take turns with other runs: {}: {problem}", path.display()))
        };
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        let mut file = file.map_err(|error| failed(&error))?;
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(Self { _lock: lock }),
                Err((_, errno)) if errno != Errno::EWOULDBLOCK => return Err(failed(&errno)),
                Err(_) if interrupted() => return Err(RunFailure("interrupted".to_owned())),
                Err((unlocked, _)) => file = unlocked,
            }
            std::thread::sleep(RETRY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_second_run_waits_for_the_first_and_other_users_cannot_take_part() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(NAME);
        let first = Turn::take_at(&path, &mut || false).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let mut looks = 0;
        let mut third_time = || {
            looks += 1;
            looks == 3
        };
        let waiting = Turn::take_at(&path, &mut third_time);
        assert_eq!(waiting.map(drop), Err(RunFailure("interrupted".to_owned())));
        drop(first);
        Turn::take_at(&path, &mut || panic!("there is nothing to wait for")).unwrap();
    }
}
