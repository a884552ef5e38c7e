//! The applications of the simulated world: a client that writes, a server that reads.
//!
//! They use the stack like any application, through its calls and events, and they run after the turn that notified them.
//! Time enters as the moments at which an application acts without an event: to start, to write or read the next chunk, to
//! stop.

mod end;
mod pace;
mod receiver;
mod sender;

pub(crate) use end::End;
pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use base::Instant;
use tcp::{ConnEvent, Stack, StackCx};
use trace::Observer;

/// An application on a node.
#[derive(Debug)]
pub(crate) enum App {
    /// Writes.
    Sender(Sender),
    /// Reads.
    Receiver(Receiver),
}

impl App {
    /// Returns when it needs to act without an event; `Instant::MAX` for never.
    pub(crate) fn wake_at(&self) -> Instant {
        match self {
            Self::Sender(sender) => sender.wake_at(),
            Self::Receiver(receiver) => receiver.wake_at(),
        }
    }

    /// Acts at its time.
    pub(crate) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        match self {
            Self::Sender(sender) => sender.on_wake(stack, cx),
            Self::Receiver(receiver) => receiver.on_wake(stack, cx),
        }
    }

    /// Handles an event of its connection.
    pub(crate) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match self {
            Self::Sender(sender) => sender.on_event(stack, cx, event),
            Self::Receiver(receiver) => receiver.on_event(stack, cx, event),
        }
    }

    /// Its end of the connection.
    #[inline]
    pub(crate) fn end(&self) -> &End {
        match self {
            Self::Sender(sender) => &sender.end,
            Self::Receiver(receiver) => &receiver.end,
        }
    }
}
