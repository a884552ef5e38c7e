//! The applications of this crate: servers that discard or echo, a sender, a receiver.
//!
//! The loop calls an application, between turns, whenever the stack has events for it.

mod client;
mod cx;
mod echo;
mod receiver;
mod sender;
mod session;

pub use cx::{ALLOWANCE, AppCx};
pub use echo::Echo;
pub use receiver::{Discard, Receiver};
pub use sender::{Payload, Sender, SourceError};
pub use session::{Hook, Stream, Transfer};

use base::Instant;
use tcp::{ConnectError, ListenError, StackEvent};
use trace::Observer;

/// Connections that may wait for an application of this crate; each is accepted as soon as it is reported.
const BACKLOG: u32 = 1024;

/// Why an application could not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// It cannot listen on its port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Its connection cannot be opened.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// A program on a stack.
pub trait App {
    /// Listens or connects.
    ///
    /// # Errors
    /// If the stack rejects the call.
    fn start<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError>;
    /// Handles an event.
    fn on_event<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, event: StackEvent);
    /// Ends the program on request: connections are to be reset.
    fn on_stop<O: Observer>(&mut self, cx: &mut AppCx<'_, O>);
    /// Returns when the application wants to be called next although nothing happens; `None` for not at all.
    fn due(&self) -> Option<Instant> {
        None
    }
    /// Handles the moment that [`Self::due`] named, which is later then; no data is moved here.
    fn on_time<O: Observer>(&mut self, _cx: &mut AppCx<'_, O>) {}
    /// Returns whether no work is left.
    fn is_done(&self) -> bool;
}
