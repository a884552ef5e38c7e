//! Where a connection stands in its life: the state of RFC 9293, who opened it, what its application still wants of it, how it
//! ended, and whether a SYN or a reset has to leave.

mod fast_open;
mod give_up;
mod opening;
mod time_wait;

pub(crate) use fast_open::{Answers, FastOpenAnswer, FastOpenNews};
pub(super) use fast_open::{Copies, FastOpenState, Settles};
pub(super) use give_up::{Silence, Unanswered, UserTimeout, gives_up_opening, syn_deadline};
pub(super) use opening::{Opening, may_defer};
pub(crate) use time_wait::Predecessor;
pub(super) use time_wait::syn_may_follow;

use super::state::{Origin, State};
use crate::event::CloseReason;

/// What the application still wants of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Application {
    /// It may read.
    Reads,
    /// It will read no more.
    ReadsNoMore,
    /// It has released the connection.
    Gone,
}

/// Where a connection stands.
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
    /// A connection that `origin` opens begins; nothing is due yet.
    pub fn new(origin: Origin) -> Self {
        let application = Application::Reads;
        Self { state: State::SynSent, origin, application, closed: None, syn_due: false, rst_due: false }
    }

    /// The RFC 9293 state.
    #[inline]
    pub fn state(&self) -> State {
        self.state
    }

    /// The connection goes to another state; returns the one it was in.
    pub fn enter(&mut self, to: State) -> State {
        core::mem::replace(&mut self.state, to)
    }

    /// Which side opened the connection.
    #[inline]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the state has a use for keep-alive: the timers of the closing states share its slot.
    pub fn keeps_alive(&self) -> bool {
        let waits = self.state == State::FinWait2 && self.is_orphaned();
        self.state.is_synchronized() && self.state != State::TimeWait && !waits
    }

    /// Whether the application has released the connection.
    pub fn is_orphaned(&self) -> bool {
        self.application == Application::Gone
    }

    /// What the application still wants.
    pub fn application(&self) -> Application {
        self.application
    }

    /// The application will read no more.
    pub fn stop_reading(&mut self) {
        if self.application == Application::Reads {
            self.application = Application::ReadsNoMore;
        }
    }

    /// The application has let the connection go.
    pub fn release(&mut self) {
        self.application = Application::Gone;
    }

    /// How the connection ended.
    #[inline]
    pub fn closed(&self) -> Option<CloseReason> {
        self.closed
    }

    /// The connection has ended for `reason`, unless it has ended before. Returns whether that is news.
    pub fn close(&mut self, reason: CloseReason) -> bool {
        let news = self.closed.is_none();
        self.closed.get_or_insert(reason);
        news
    }

    /// Whether a SYN or SYN-ACK has to leave.
    #[inline]
    pub fn syn_due(&self) -> bool {
        self.syn_due
    }

    /// A SYN or SYN-ACK has to leave, again or for the first time.
    pub fn require_syn(&mut self) {
        self.syn_due = true;
    }

    /// The SYN that was due leaves, or is not needed any more. Returns whether one was.
    #[inline]
    pub fn take_syn(&mut self) -> bool {
        core::mem::take(&mut self.syn_due)
    }

    /// Whether a reset has to leave.
    #[inline]
    pub fn rst_due(&self) -> bool {
        self.rst_due
    }

    /// A reset has to leave.
    pub fn require_reset(&mut self) {
        self.rst_due = true;
    }

    /// The reset that was due leaves. Returns whether one was.
    #[inline]
    pub fn take_reset(&mut self) -> bool {
        core::mem::take(&mut self.rst_due)
    }
}
