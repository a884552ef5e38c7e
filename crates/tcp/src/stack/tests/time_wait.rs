//! TIME-WAIT between two incarnations of a connection (RFC 9293 §3.6.1, RFC 6191, RFC 1337).

use super::bench::{Bench, IRS};
use crate::config::{AckTimer, Config, SynFin, TimeWaitDuplicates, TimeWaitReset, TimeWaitReuse, TimestampConfig};
use crate::stack::{Conn, LocalEnd, StackEvent};
use crate::testing::{PEER, quick, valid};
use crate::{CloseReason, ConnEvent, ConnectError};
use base::{Duration, SeqNum};
use core::net::SocketAddr;
use test_case::{test_case, test_matrix};
use wire::{Flags, TcpRepr, Timestamps};

const PEER_PORT: u16 = 1001;
/// The peer's last timestamp.
const LAST: u32 = 7_000;
/// One past the peer's FIN.
const PAST_FIN: SeqNum = SeqNum(IRS.0 + 2);

fn stamped(mut repr: TcpRepr, tsval: Option<u32>) -> TcpRepr {
    repr.options.timestamps = tsval.map(|tsval| Timestamps { tsval, tsecr: 0 });
    repr
}

/// A connection that we closed first; its peer's segments carry the last timestamp, if any.
struct Story {
    bench: Bench,
    old: Conn,
    snd_nxt: SeqNum,
}

impl Story {
    fn new(cfg: Config, tsval: Option<u32>) -> Self {
        let mut bench = Bench::listening(8, cfg);
        let mut syn = stamped(Bench::syn(PEER_PORT), tsval);
        syn.options.sack_permitted = true;
        let syn_ack = bench.deliver(syn, 0)[0];
        let snd_nxt = syn_ack.seq + 2;
        let from_peer = |flags, seq, ack| stamped(Bench::segment(PEER_PORT, flags, seq, Some(ack)), tsval);
        bench.deliver(from_peer(Flags::NONE, IRS + 1, syn_ack.seq + 1), 0);
        let old = bench.accepted().expect("accepted");
        bench.stack.accept(old);
        bench.cx(|stack, cx| stack.shutdown(cx, old));
        bench.deliver(from_peer(Flags::FIN, IRS + 1, snd_nxt), 0);
        assert_eq!(bench.state(old), "TIME-WAIT");
        bench.events.clear();
        Self { bench, old, snd_nxt }
    }

    fn state(&self) -> &'static str {
        self.bench.state(self.old)
    }

    /// Returns the peer's next SYN, `ahead` of the numbers it used.
    fn syn(&mut self, ahead: i32, tsval: Option<u32>) -> Vec<TcpRepr> {
        let repr = TcpRepr { seq: PAST_FIN + ahead as u32, ..Bench::syn(PEER_PORT) };
        self.bench.deliver(stamped(repr, tsval), 0)
    }
}

fn with_timestamps() -> Config {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Offer;
    cfg
}

/// Whether a SYN `ahead` of the peer's FIN, with a timestamp later than the last by this much, begins a new connection.
//= specs/rfc6191.md#table
//= type=test
//# With timestamps on both, a SYN with a later timestamp is taken.
//= specs/rfc6191.md#table
//= type=test
//# With timestamps on both, a SYN with the same timestamp is taken if its sequence number is beyond the last one seen.
//= specs/rfc6191.md#table
//= type=test
//# A SYN without timestamps is taken if its sequence number is beyond the last one seen.
//= specs/rfc6191.md#table
//= type=test
//# After a connection without timestamps, a SYN with them is taken.
//= specs/rfc6191.md#table
//= type=test
//# Any other SYN leaves the connection in TIME-WAIT.
//= specs/rfc9293.md#time-wait
//= type=test
//# A SYN may begin the next connection in TIME-WAIT, which its timestamp decides where both have timestamps.
#[test_case(true, -1000, Some(1), true; "later timestamp, old number")]
#[test_case(true, 0, Some(0), true; "same timestamp, next number")]
#[test_case(true, -1, Some(0), false; "same timestamp, the number of the FIN")]
#[test_case(true, 1000, Some(-1), false; "earlier timestamp, new number")]
#[test_case(true, 0, None, true; "timestamps given up, next number")]
#[test_case(true, -1, None, false; "timestamps given up, the number of the FIN")]
#[test_case(false, -1000, Some(0), true; "timestamps taken up, old number")]
#[test_case(false, 0, None, true; "never timestamps, next number")]
#[test_case(false, -1, None, false; "never timestamps, the number of the FIN")]
#[test_case(false, i32::MIN, None, false; "never timestamps, half the numbers behind")]
fn a_syn_in_time_wait(before: bool, ahead: i32, later: Option<i32>, taken: bool) {
    let mut story = Story::new(with_timestamps(), Some(LAST).filter(|_| before));
    let sent = story.syn(ahead, later.map(|later| LAST.wrapping_add_signed(later)));
    let answer = sent.first().map(|out| (out.flags, out.ack));
    if taken {
        assert_eq!(answer, Some((Flags::SYN, Some(PAST_FIN + 1 + ahead as u32))));
        assert_eq!(story.state(), "CLOSED", "it still is the application's");
        story.bench.cx(|stack, cx| stack.release(cx, story.old));
        assert_eq!(story.bench.stack.connections(), 1, "the new one");
    } else {
        assert_eq!(answer, Some((Flags::NONE, Some(PAST_FIN))), "a challenge ACK");
        assert_eq!(story.state(), "TIME-WAIT");
    }
}

/// The listener would not use the SYN's timestamps, so its sequence number decides.
#[test]
fn timestamps_that_would_not_be_used_do_not_count() {
    let mut cfg = quick();
    cfg.options.timestamps = TimestampConfig::Off;
    let mut story = Story::new(cfg, None);
    assert!(!story.syn(-1, Some(LAST)).iter().any(|out| out.flags == Flags::SYN));
    assert!(story.syn(0, Some(LAST)).iter().any(|out| out.flags == Flags::SYN));
}

#[test]
fn without_a_listener_or_room_at_it_the_wait_goes_on() {
    let mut story = Story::new(quick(), None);
    story.bench.cx(|stack, cx| stack.unlisten(cx, super::bench::PORT));
    assert_eq!(story.syn(0, None).iter().map(|out| out.flags).collect::<Vec<_>>(), [Flags::NONE]);
    assert_eq!(story.state(), "TIME-WAIT");
}

//= specs/rfc9293.md#time-wait
//= type=test
//# The connection that follows begins beyond the sequence numbers of the last.
#[test]
fn the_next_connection_begins_beyond_the_numbers_of_the_last() {
    let mut story = Story::new(quick(), None);
    let at_once = story.syn(0, None)[0];
    assert!(at_once.seq.after(story.snd_nxt), "although the clock has not ticked since");
    let mut story = Story::new(quick(), None);
    story.bench.pass(Duration::from_secs(1));
    let later = story.syn(0, None)[0];
    assert_eq!(later.seq.distance_from(story.snd_nxt - 2), 250_000, "the clock has passed them");
}

//= specs/rfc1337.md#time-wait
//= type=test
//# A reset does not end TIME-WAIT.
#[test_case(TimeWaitReset::Ignored => "TIME-WAIT")]
#[test_case(TimeWaitReset::Ends => "CLOSED")]
fn after_a_reset_in_time_wait(reset: TimeWaitReset) -> &'static str {
    let mut cfg = quick();
    cfg.timers.time_wait_reset = reset;
    let mut story = Story::new(cfg, None);
    story.bench.deliver(Bench::segment(PEER_PORT, Flags::RST, PAST_FIN, None), 0);
    story.state()
}

/// RFC 1337's first hazard: an old duplicate of data triggers an ACK that the new peer cannot interpret.
#[test]
fn old_data_is_acknowledged_and_the_reset_that_this_brings_changes_nothing() {
    let mut story = Story::new(quick(), None);
    let old = Bench::segment(PEER_PORT, Flags::NONE, IRS + 1, Some(story.snd_nxt));
    let acks = story.bench.deliver(old, 1);
    assert_eq!(acks.iter().map(|out| out.ack).collect::<Vec<_>>(), [Some(PAST_FIN)]);
    story.bench.deliver(Bench::segment(PEER_PORT, Flags::RST, PAST_FIN, None), 0);
    assert_eq!(story.state(), "TIME-WAIT");
}

/// Returns the state of a connection opened from the port of one in TIME-WAIT after this many seconds.
fn active_open(reuse: TimeWaitReuse, timestamps: bool, after_ms: u64) -> Result<TcpRepr, ConnectError> {
    let mut cfg = with_timestamps();
    cfg.timers.time_wait_reuse = reuse;
    let mut story = Story::new(cfg.clone(), Some(LAST).filter(|_| timestamps));
    story.bench.pass(Duration::from_millis(after_ms));
    let from = LocalEnd { address: None, ports: super::bench::PORT..=super::bench::PORT };
    let to = SocketAddr::new(PEER, PEER_PORT);
    story.bench.cx(|stack, cx| stack.connect_from(cx, &valid(cfg), &from, to))?;
    let syn = story.bench.sent[0];
    assert!(syn.seq.after(story.snd_nxt));
    Ok(syn)
}

#[test_case(TimeWaitReuse::Never, true, 59_000 => false; "never")]
#[test_case(TimeWaitReuse::After(Duration::from_secs(1)), true, 999 => false; "too early")]
#[test_case(TimeWaitReuse::After(Duration::from_secs(1)), true, 1_000 => true; "in time")]
#[test_case(TimeWaitReuse::After(Duration::from_secs(1)), false, 1_000 => false; "nothing tells them apart")]
#[test_case(TimeWaitReuse::Never, true, 61_000 => true; "when it is over")]
fn the_port_of_a_connection_in_time_wait_can_be_used(reuse: TimeWaitReuse, timestamps: bool, after_ms: u64) -> bool {
    let opened = active_open(reuse, timestamps, after_ms);
    opened.map_err(|error| assert_eq!(error, ConnectError::PortsExhausted)).is_ok()
}

#[test]
fn a_connection_that_ends_a_time_wait_goes_on_with_its_timestamps() {
    let syn = active_open(TimeWaitReuse::After(Duration::ZERO), true, 100).expect("connects");
    assert_eq!(syn.options.timestamps.map(|ts| ts.tsecr), Some(LAST));
}

/// The timestamp clock continues from one connection to the next between the same ends, and differs between others.
#[test]
fn timestamps_of_successive_connections_between_the_same_ends_increase() {
    let mut bench = Bench::listening(8, with_timestamps());
    let tsval_for = |bench: &mut Bench, port| {
        let syn_ack = bench.deliver(stamped(Bench::syn(port), Some(1)), 0)[0];
        bench.deliver(Bench::segment(port, Flags::RST, IRS + 1, None), 0);
        syn_ack.options.timestamps.map(|ts| ts.tsval).expect("answered")
    };
    let first = tsval_for(&mut bench, 1001);
    bench.pass(Duration::from_millis(250));
    assert_eq!(tsval_for(&mut bench, 1001).wrapping_sub(first), 250);
    assert!(tsval_for(&mut bench, 1002).wrapping_sub(first) > 1000, "another connection, another offset");
}

#[test]
fn a_connection_that_is_over_but_not_released_does_not_stand_in_the_way() {
    let mut bench = Bench::listening(8, quick());
    let old = bench.open(PEER_PORT).expect("accepted");
    bench.stack.accept(old);
    bench.deliver(Bench::segment(PEER_PORT, Flags::RST, IRS + 1, None), 0);
    assert!(bench.events.contains(&StackEvent::Conn { conn: old, event: ConnEvent::Closed(CloseReason::Reset) }));
    let new = bench.open(PEER_PORT).expect("accepted");
    assert_eq!((bench.state(old), bench.state(new)), ("CLOSED", "ESTABLISHED"));
    bench.cx(|stack, cx| stack.release(cx, old));
    assert_eq!(bench.deliver(Bench::segment(PEER_PORT, Flags::RST, IRS + 1, None), 0), []);
    assert_eq!(bench.state(new), "CLOSED", "what comes is for the new one");
}

/// The answer to a SYN with a FIN beyond the last connection's numbers, and the effect of an old ACK after it.
#[test_case(SynFin::Answered => (Some(Flags::SYN), Flags::NONE); "begins the next connection, which answers old numbers")]
#[test_case(SynFin::Dropped => (None, Flags::RST); "ends the wait and is dropped")]
fn a_syn_with_a_fin_in_time_wait(syn_fin: SynFin) -> (Option<Flags>, Flags) {
    let mut cfg = quick();
    cfg.handshake.syn_fin = syn_fin;
    let mut story = Story::new(cfg, None);
    let syn = TcpRepr { seq: PAST_FIN + 100, flags: Flags::SYN.with(Flags::FIN), ..Bench::syn(PEER_PORT) };
    let answers = story.bench.deliver(syn, 0);
    assert_eq!(story.state(), "CLOSED");
    let old = story.bench.deliver(Bench::segment(PEER_PORT, Flags::NONE, PAST_FIN, Some(story.snd_nxt)), 0);
    (answers.first().map(|out| out.flags), old[0].flags)
}

/// A SYN that is not beyond them triggers a challenge ACK, and the wait continues.
#[test_case(SynFin::Answered)]
#[test_case(SynFin::Dropped)]
fn an_old_syn_with_a_fin_does_not_end_time_wait(syn_fin: SynFin) {
    let mut cfg = quick();
    cfg.handshake.syn_fin = syn_fin;
    let mut story = Story::new(cfg, None);
    let syn = TcpRepr { seq: PAST_FIN - 100, flags: Flags::SYN.with(Flags::FIN), ..Bench::syn(PEER_PORT) };
    let answers = story.bench.deliver(syn, 0);
    assert_eq!(answers.iter().map(|out| (out.flags, out.ack)).collect::<Vec<_>>(), [(Flags::NONE, Some(PAST_FIN))]);
    assert_eq!(story.state(), "TIME-WAIT");
}

/// Whatever the ACK timer does.
#[test_matrix([AckTimer::PerSegment, AckTimer::Heartbeat, AckTimer::Adaptive])]
fn a_fin_that_comes_again_is_reported_as_the_settings_say(timer: AckTimer) {
    for (duplicates, blocks) in [(TimeWaitDuplicates::Reported, 1), (TimeWaitDuplicates::Unreported, 0)] {
        let mut cfg = quick();
        cfg.ack.timer = timer;
        cfg.timers.time_wait_duplicates = duplicates;
        let mut story = Story::new(cfg, None);
        let fin = Bench::segment(PEER_PORT, Flags::FIN, IRS + 1, Some(story.snd_nxt));
        let acks = story.bench.deliver(fin, 0);
        assert_eq!((acks.len(), acks[0].options.sack.as_slice().len()), (1, blocks), "{duplicates:?}");
    }
}
