//! One run at a time on a machine, whoever makes it: two that share its processors would measure each other.
//!
//! The turn is a name among the abstract ones of local sockets, which goes with the process that has it.

use super::interrupt::Interrupt;
use lab::RunFailure;
use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::Duration;

/// The name.
const NAME: &[u8] = b"longhaul-run-in-real-time";

/// How often somebody who waits asks again. Between two runs of one program passes much more, so they take turns.
const PATIENCE: Duration = Duration::from_millis(5);

/// Nobody else makes a run.
#[derive(Debug)]
pub struct Turn {
    _name: UnixListener,
}

impl Turn {
    /// Waits until nobody makes a run.
    ///
    /// # Errors
    /// When the program was asked to end, or there are no sockets.
    pub fn take(interrupt: &Interrupt) -> Result<Self, RunFailure> {
        let failed = |error: std::io::Error| RunFailure(format!("cannot take turns with other runs: {error}"));
        let name = SocketAddr::from_abstract_name(NAME).map_err(failed)?;
        loop {
            match UnixListener::bind_addr(&name) {
                Ok(listener) => return Ok(Self { _name: listener }),
                Err(error) if error.kind() != ErrorKind::AddrInUse => return Err(failed(error)),
                Err(_) if interrupt.came() => return Err(RunFailure("interrupted".to_owned())),
                Err(_) => std::thread::sleep(PATIENCE),
            }
        }
    }
}
