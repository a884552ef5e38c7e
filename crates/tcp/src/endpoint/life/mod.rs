//! The life cycle of a connection: its RFC 9293 state, the side that opened it, what its application still does, how it ended,
//! and whether a SYN or a reset has to leave.

mod fast_open;
mod give_up;
mod opening;
mod time_wait;

pub(crate) use fast_open::{Answers, FastOpenAnswer, FastOpenReport};
pub(super) use fast_open::{Copies, FastOpenState, Settles};
pub(super) use give_up::{Silence, Unanswered, UserTimeout, gives_up_opening, syn_deadline};
pub(super) use opening::{Opening, may_defer};
pub(crate) use time_wait::Predecessor;
pub(super) use time_wait::syn_may_follow;

use super::state::{Origin, State};
use crate::event::CloseReason;

/// What the application still does with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Application {
    /// The application may read.
    Reads,
    /// The application has stopped reading.
    ReadsNoMore,
    /// The application has released the connection.
    Gone,
}

/// State of a connection's life cycle.
#[derive(Clone, Debug)]
pub(super) struct Life {
    state: State,
    origin: Origin,
    application: Application,
    closed: Option<CloseReason>,
    syn_due: bool,
    rst_due: bool,
}

impl Life {
    /// Begins the life of a connection opened by `origin`; nothing is due yet.
    pub fn new(origin: Origin) -> Self {
        let application = Application::Reads;
        Self { state: State::SynSent, origin, application, closed: None, syn_due: false, rst_due: false }
    }

    /// Returns the RFC 9293 state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// Changes the state; returns the previous one.
    pub fn enter(&mut self, to: State) -> State {
        core::mem::replace(&mut self.state, to)
    }

    /// Returns which side opened the connection.
    #[inline]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns whether keep-alive applies in this state: the timers of the closing states share its slot.
    pub fn keeps_alive(&self) -> bool {
        let waits = self.state == State::FinWait2 && self.is_orphaned();
        self.state.is_synchronized() && self.state != State::TimeWait && !waits
    }

    /// Returns whether the application has released the connection.
    pub fn is_orphaned(&self) -> bool {
        self.application == Application::Gone
    }

    /// Returns what the application still does.
    pub fn application(&self) -> Application {
        self.application
    }

    /// Notes that the application has stopped reading.
    pub fn stop_reading(&mut self) {
        if self.application == Application::Reads {
            self.application = Application::ReadsNoMore;
        }
    }

    /// Notes that the application has released the connection.
    pub fn release(&mut self) {
        self.application = Application::Gone;
    }

    /// Returns how the connection ended.
    #[inline]
    pub fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// Ends the connection for `reason`, unless it has already ended. Returns whether it ended now.
    pub fn close(&mut self, reason: CloseReason) -> bool {
        let ended = self.closed.is_none();
        self.closed.get_or_insert(reason);
        ended
    }

    /// Returns whether a SYN or SYN-ACK has to leave.
    #[inline]
    pub fn syn_due(&self) -> bool {
        self.syn_due
    }

    /// Makes a SYN or SYN-ACK leave, again or for the first time.
    pub fn require_syn(&mut self) {
        self.syn_due = true;
    }

    /// Clears the SYN that was due, because it leaves or is no longer needed. Returns whether one was due.
    #[inline]
    pub fn take_syn(&mut self) -> bool {
        core::mem::take(&mut self.syn_due)
    }

    /// Returns whether a reset has to leave.
    #[inline]
    pub fn rst_due(&self) -> bool {
        self.rst_due
    }

    /// Makes a reset leave.
    pub fn require_reset(&mut self) {
        self.rst_due = true;
    }

    /// Clears the reset that was due, because it leaves. Returns whether one was due.
    #[inline]
    pub fn take_reset(&mut self) -> bool {
        core::mem::take(&mut self.rst_due)
    }
}
