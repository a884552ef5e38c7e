//! The applications of the simulated world: a client that writes, a server that reads; and a client that asks, a server that answers.
//!
//! They use the stack like any application, through its calls and events, and they run after the turn that notified them.
//! Time enters as the moments at which an application acts without an event: to start, to write or read the next chunk, to
//! stop.

mod agenda;
mod end;
mod pace;
mod reading;
mod receiver;
mod repetitions;
mod requester;
mod responder;
mod seen;
mod sender;

pub(crate) use end::End;
pub(crate) use receiver::Receiver;
pub(crate) use requester::Requester;
pub(crate) use responder::Responder;
pub(crate) use seen::{Sink, Source};
pub(crate) use sender::Sender;

use base::Instant;
use tcp::{Conn, ConnEvent, Stack, StackCx};
use trace::Observer;

/// An application on a node.
#[derive(Debug)]
pub(crate) enum App {
    /// Writes.
    Sender(Sender),
    /// Reads.
    Receiver(Receiver),
    /// Asks and reads.
    Requester(Requester),
    /// Answers.
    Responder(Responder),
}

impl App {
    /// Returns when it needs to act without an event; `Instant::MAX` for never.
    #[inline]
    pub(crate) fn wake_at(&self) -> Instant {
        match self {
            Self::Sender(sender) => sender.wake_at(),
            Self::Receiver(receiver) => receiver.wake_at(),
            Self::Requester(requester) => requester.wake_at(),
            Self::Responder(_) => Instant::MAX,
        }
    }

    /// Acts at its time.
    pub(crate) fn on_wake<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        match self {
            Self::Sender(sender) => sender.on_wake(stack, cx),
            Self::Receiver(receiver) => receiver.on_wake(stack, cx),
            Self::Requester(requester) => requester.on_wake(stack, cx),
            Self::Responder(_) => {}
        }
    }

    /// Handles an event of its connection.
    pub(crate) fn on_event<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, event: ConnEvent) {
        match self {
            Self::Sender(sender) => sender.on_event(stack, cx, event),
            Self::Receiver(receiver) => receiver.on_event(stack, cx, event),
            Self::Requester(requester) => requester.on_event(stack, cx, event),
            Self::Responder(responder) => responder.on_event(stack, cx, event),
        }
    }

    /// Its end of the connection.
    #[inline]
    pub(crate) fn end(&self) -> &End {
        match self {
            Self::Sender(sender) => sender.end(),
            Self::Receiver(receiver) => receiver.end(),
            Self::Requester(requester) => requester.end(),
            Self::Responder(responder) => responder.end(),
        }
    }

    /// The port that it listens on.
    pub(crate) fn listens_on(&self) -> Option<u16> {
        match self {
            Self::Receiver(receiver) => Some(receiver.port()),
            Self::Responder(responder) => Some(responder.port()),
            Self::Sender(_) | Self::Requester(_) => None,
        }
    }

    /// The port that it connects to.
    pub(crate) fn connects_to(&self) -> Option<u16> {
        match self {
            Self::Sender(sender) => Some(sender.port()),
            Self::Requester(requester) => Some(requester.port()),
            Self::Receiver(_) | Self::Responder(_) => None,
        }
    }

    /// Notes that a client got through to one that listens; returns whether it does.
    pub(crate) fn on_accepted(&mut self, conn: Conn) -> bool {
        match self {
            Self::Receiver(receiver) => receiver.on_accepted(conn),
            Self::Responder(responder) => responder.on_accepted(conn),
            Self::Sender(_) | Self::Requester(_) => return false,
        }
        true
    }

    /// As what data comes from.
    pub(crate) fn source(&self) -> Option<&dyn Source> {
        match self {
            Self::Sender(sender) => Some(sender),
            Self::Responder(responder) => Some(responder),
            Self::Receiver(_) | Self::Requester(_) => None,
        }
    }

    /// As what reads data.
    pub(crate) fn sink(&self) -> Option<&dyn Sink> {
        match self {
            Self::Receiver(receiver) => Some(receiver),
            Self::Requester(requester) => Some(requester),
            Self::Sender(_) | Self::Responder(_) => None,
        }
    }
}
