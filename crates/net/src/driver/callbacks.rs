//! Decides which event the application gets next.
//!
//! Events are taken from the stack in rounds, so that a connection with endless work cannot block others: one whose call was cut
//! short continues in the next round. The order within a connection stays: later events (for example, that the connection is
//! closed) wait with it.

use std::collections::VecDeque;
use tcp::{Conn, Stack, StackEvent};

/// Events waiting for the application.
#[derive(Debug, Default)]
pub(super) struct Callbacks {
    round: VecDeque<StackEvent>,
    /// Events of connections whose call was cut short in this round.
    next: VecDeque<StackEvent>,
}

impl Callbacks {
    /// Returns whether events are left for the next step: of this round, of calls that were cut short, or in the stack, where the
    /// last call itself may have put one.
    pub(super) fn is_pending(&self, stack: &Stack) -> bool {
        !self.round.is_empty() || !self.next.is_empty() || stack.has_events()
    }

    /// Returns the next event; a new round begins when one ends.
    pub(super) fn take(&mut self, stack: &mut Stack) -> Option<StackEvent> {
        if self.round.is_empty() {
            core::mem::swap(&mut self.round, &mut self.next);
            while let Some(event) = stack.poll_event() {
                self.round.push_back(event);
            }
        }
        self.round.pop_front()
    }

    /// Runs `call`, which handles `event`, with a list for the work that it could not finish.
    pub(super) fn observe(&mut self, event: StackEvent, call: impl FnOnce(&mut VecDeque<StackEvent>)) {
        let before = self.next.len();
        call(&mut self.next);
        if self.next.len() > before {
            self.hold_back(conn_of(&event), before);
        }
    }

    /// Moves the rest of a connection's events in this round after its cut call into the next round, whose events from `since` on
    /// belong to that call. An event already there is not added: a connection cut short in each round would accumulate them.
    fn hold_back(&mut self, conn: Conn, since: usize) {
        let Self { round, next } = self;
        round.retain(|event| {
            let stays = conn_of(event) != conn;
            if !stays && !next.range(since..).any(|held| held == event) {
                next.push_back(*event);
            }
            stays
        });
    }
}

fn conn_of(event: &StackEvent) -> Conn {
    match event {
        StackEvent::Accepted { conn, .. } | StackEvent::Conn { conn, .. } => *conn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Instant, Rng};
    use std::net::IpAddr;
    use tcp::{CloseReason, Config, ConnEvent, DeviceCaps, Segmentation, StackConfig, StackCx, TxChecksum};
    use trace::Off;

    /// A stack with two connections that wait for an answer.
    fn stack() -> (Stack, [Conn; 2]) {
        let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        let addresses = vec![IpAddr::from([10, 9, 0, 1])];
        let mut stack =
            Stack::new(StackConfig { addresses, device, isn_secret: [1, 2], guards: Default::default() }, Rng::new(1));
        let config = Config::default().validate().unwrap();
        let conns = [9, 9].map(|port| {
            let remote = (IpAddr::from([10, 9, 0, 2]), port).into();
            stack.connect(&mut StackCx::new(Instant::ZERO, &mut Off), &config, remote).unwrap()
        });
        (stack, conns)
    }

    fn of(conn: Conn, event: ConnEvent) -> StackEvent {
        StackEvent::Conn { conn, event }
    }

    #[test]
    fn a_connection_that_was_cut_short_goes_on_behind_the_others_and_before_its_own_later_events() {
        let (mut stack, [one, other]) = stack();
        let (readable, closed) = (of(one, ConnEvent::Readable), of(one, ConnEvent::Closed(CloseReason::Normal)));
        let mut callbacks = Callbacks::default();
        callbacks.round.extend([readable, closed, of(other, ConnEvent::Readable)]);
        let mut order = Vec::new();
        while let Some(event) = callbacks.take(&mut stack) {
            // The first call is cut short.
            let cut = order.is_empty();
            callbacks.observe(event, |resumed| resumed.extend(cut.then_some(event)));
            order.push(event);
        }
        assert_eq!(order, [readable, of(other, ConnEvent::Readable), readable, closed]);
        assert!(!callbacks.is_pending(&stack));
    }

    #[test]
    fn events_of_a_connection_that_is_cut_short_in_each_round_do_not_pile_up() {
        let (mut stack, [one, _]) = stack();
        let (readable, writable) = (of(one, ConnEvent::Readable), of(one, ConnEvent::Writable));
        let mut callbacks = Callbacks::default();
        callbacks.round.extend([readable, writable]);
        for _ in 0..5 {
            let event = callbacks.take(&mut stack).unwrap();
            callbacks.observe(event, |resumed| resumed.extend([readable, writable]));
            assert_eq!(callbacks.next, [readable, writable]);
        }
    }

    #[test]
    fn what_lies_in_the_stack_is_pending() {
        let (mut stack, [one, _]) = stack();
        let callbacks = Callbacks::default();
        assert!(!callbacks.is_pending(&stack));
        stack.abort(&mut StackCx::new(Instant::ZERO, &mut Off), one);
        assert!(callbacks.is_pending(&stack));
        while stack.poll_event().is_some() {}
        assert!(!callbacks.is_pending(&stack));
    }
}
