//! One side has lost the connection, the other has not (RFC 9293 §3.5.1).

use super::Pair;
use crate::config::{Config, GuardConfig};
use crate::cx::StackCx;
use crate::stack::{Conn, LocalEnd, Stack, StackConfig, StackEvent};
use crate::testing::{PEER, US, plain_device, valid};
use crate::{CloseReason, ConnEvent, State};
use base::{Duration, Rng};
use core::net::SocketAddr;
use trace::Off;

const PORT: u16 = 4000;

/// A client that always uses the same port, and a server that has accepted its connection.
struct Story {
    pair: Pair,
    client: Conn,
    server: Conn,
}

impl Story {
    fn new() -> Self {
        let mut pair = Pair::new([US, PEER], plain_device());
        pair.stacks[1].listen(80, 8, &valid(Config::default())).expect("listens");
        let client = connect(&mut pair);
        pair.settle();
        let server = accepted(&mut pair.stacks[1]).expect("accepted");
        Self { pair, client, server }
    }

    fn state(&self, who: usize, conn: Conn) -> Option<State> {
        self.pair.stacks[who].endpoint(conn).map(crate::Endpoint::state)
    }

    /// Crashes the client's host and starts it again.
    fn restart_client(&mut self) {
        let cfg = StackConfig {
            addresses: vec![US],
            device: plain_device(),
            isn_secret: [7, 7],
            guards: GuardConfig::default(),
        };
        self.pair.stacks[0] = Stack::new(cfg, Rng::new(99));
        // After ten seconds its clock, and with it the sequence numbers, has moved on.
        self.pair.now += Duration::from_secs(10);
    }
}

fn connect(pair: &mut Pair) -> Conn {
    let mut off = Off;
    let mut cx = StackCx::new(pair.now, &mut off);
    let from = LocalEnd { address: None, ports: PORT..=PORT };
    let to = SocketAddr::new(PEER, 80);
    pair.stacks[0].connect_from(&mut cx, &valid(Config::default()), &from, to).expect("connects")
}

fn accepted(stack: &mut Stack) -> Option<Conn> {
    let events = core::iter::from_fn(|| stack.poll_event());
    let conn = events.filter_map(|event| match event {
        StackEvent::Accepted { conn, .. } => Some(conn),
        StackEvent::Conn { .. } => None,
    });
    let conn = conn.last()?;
    stack.accept(conn);
    Some(conn)
}

impl Pair {
    /// Runs turns until nothing is in flight.
    fn settle(&mut self) {
        for _ in 0..20 {
            self.now += Duration::from_millis(5);
            self.turn(0);
            self.turn(1);
        }
        assert!(self.wire.iter().all(Vec::is_empty), "the exchange does not end");
    }

    /// Lets time pass in steps.
    fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds * 10 {
            self.now += Duration::from_millis(100);
            self.turn(0);
            self.turn(1);
        }
    }
}

//= specs/rfc5961.md#syns
//= type=test
//# A peer that has restarted answers the challenge ACK with a reset that ends the old connection.
#[test]
fn a_restarted_client_that_connects_again_ends_the_half_open_connection_and_gets_a_new_one() {
    let mut story = Story::new();
    story.restart_client();
    let again = connect(&mut story.pair);
    story.pair.settle();
    let events: Vec<_> = core::iter::from_fn(|| story.pair.stacks[1].poll_event()).collect();
    let reset = StackEvent::Conn { conn: story.server, event: ConnEvent::Closed(CloseReason::Reset) };
    assert!(events.contains(&reset), "{events:?}");
    assert_eq!(story.state(0, again), Some(State::SynSent), "its SYN was only challenged");
    story.pair.pass(3);
    assert_eq!(story.state(0, again), Some(State::Established), "the next one finds the listener");
}

//= specs/rfc9293.md#resets
//= type=test
//# A side that has forgotten the connection lets the other find out.
#[test]
fn data_for_a_host_that_forgot_the_connection_is_answered_with_a_reset() {
    let mut story = Story::new();
    story.restart_client();
    let mut off = Off;
    let mut cx = StackCx::new(story.pair.now, &mut off);
    story.pair.stacks[1].write(&mut cx, story.server, b"hello").expect("may write");
    story.pair.settle();
    assert_eq!(story.state(1, story.server), Some(State::Closed));
    assert_eq!(story.pair.stacks[0].counters().no_connection, 1);
    assert_eq!(story.state(0, story.client), None);
}
