//! What would leave now: a table of situations, each beside the neighbour in which something else leaves. Every departure and
//! every reason to hold back stands in it twice or more; `cargo xtask negations` shows that no condition goes untested.

use super::*;
use crate::config::{NagleConfig, ValidConfig, WindowProbe};
use crate::endpoint::sender::tests::{NOW, SIZE, opened};
use crate::testing::{quick, valid};
use base::SeqRange;
use core::mem::discriminant;
use recovery::config::{DetectorConfig, DupThreshConfig};
use recovery::frto::Frto;
use recovery::{Delivered, Episode, Undo};

const LATER: Instant = Instant::from_nanos(2_000_000_000);

/// A connection that has written nothing, to a peer with a window of ten segments. The congestion window has ten, too.
struct Case {
    cfg: ValidConfig,
    snd: Sender,
    view: View,
    ack_due: bool,
}

impl Case {
    fn new() -> Self {
        let cfg = valid(quick());
        let snd = opened(&cfg, 10 * SIZE);
        assert_eq!(snd.cc.window().cwnd(), 10 * SIZE);
        let view = View { open: true, size: SIZE, ..View::without_data(false, false) };
        Self { cfg, snd, view, ack_due: false }
    }
    fn configure(&mut self, change: impl FnOnce(&mut Config)) {
        let mut cfg = Config::clone(&self.cfg);
        change(&mut cfg);
        self.cfg = valid(cfg);
    }
    fn write(&mut self, bytes: Bytes) {
        self.snd.buffer.append_pattern(bytes);
    }
    /// So many segments are in flight.
    fn send(&mut self, segments: u32) {
        self.write(segments * SIZE);
        self.snd.on_new_data(NOW, 0, NewData { len: segments * SIZE, fin: false }, SIZE);
    }
    /// Less than a segment is in flight.
    fn send_small(&mut self) {
        self.write(SIZE / 2);
        self.snd.on_new_data(NOW, 0, NewData { len: SIZE / 2, fin: false }, SIZE);
    }
    fn send_fin(&mut self) {
        self.snd.space.queue_fin();
        self.snd.on_new_data(NOW, 0, NewData { len: 0, fin: true }, SIZE);
    }
    fn lose(&mut self, segment: u64) {
        assert!(self.snd.rec.board.mark_lost(SegmentId(segment)) > 0);
    }
    /// A SACK block reports segments `from..to`.
    fn sack(&mut self, from: u32, to: u32) {
        let block = SeqRange::new(SeqNum(1 + from * SIZE), SeqNum(1 + to * SIZE));
        let una = self.snd.space.una();
        self.snd.rec.board.apply(una, &[block], &mut Delivered::default());
    }
    /// The first segments are acknowledged.
    fn ack(&mut self, segments: u32) {
        let una = SeqNum(1 + segments * SIZE);
        self.snd.buffer.ack(una.distance_from(self.snd.space.una()));
        self.snd.rec.board.apply(una, &[], &mut Delivered::default());
        self.snd.space.on_acked(una);
    }
    fn window(&mut self, bytes: Bytes) {
        self.snd.space.on_window(bytes);
    }
    /// The peer's window takes `bytes` more than what is in flight.
    fn window_beyond_flight(&mut self, bytes: Bytes) {
        let flight = self.snd.space.flight_size();
        self.window(flight + bytes);
    }
    fn cwnd(&mut self, segments: u32) {
        self.snd.cc.on_unused(segments * SIZE);
        assert_eq!(self.snd.cc.window().cwnd(), segments * SIZE);
    }
    fn nagle(&mut self, nagle: NagleConfig) {
        self.configure(|cfg| cfg.send.nagle = nagle);
    }
    fn probing(&mut self, probing: Probing) {
        self.snd.rec.set_probing(probing);
    }
    fn examine(&mut self, left: u8) {
        self.snd.rec.undo = Some(Box::new(Undo::new(Frto::SecondAck(left), None)));
    }
    fn empty_probes(&mut self) {
        self.snd.window_probe = WindowProbe::Empty;
    }
    /// An episode of RFC 6675 has begun with a flight of ten, of which the fourth and the last were SACKed.
    fn repair(&mut self) {
        self.configure(|cfg| cfg.recovery.detector = DetectorConfig::DupThresh(DupThreshConfig { dup_thresh: 3 }));
        self.snd.rec.detector = recovery::build_detector(&self.cfg.recovery.detector);
        self.send(10);
        self.sack(3, 4);
        self.snd.rec.enter(Episode::Recovery { point: self.snd.space.nxt() });
        self.snd.rec.board.begin_episode();
    }
    /// Such an episode in which the first segment left again and was acknowledged, and no hole is left to fill.
    fn repaired(&mut self) {
        self.repair();
        self.lose(0);
        for id in [0, 1, 2] {
            let segment = self.snd.rec.board.get(SegmentId(id)).unwrap();
            self.snd.on_sent_again(NOW, 0, &segment);
        }
        self.ack(3);
    }
    fn leaves(&mut self) -> Departure {
        self.view.lost = self.snd.lost();
        self.view.new = self.snd.new_waits().then(|| self.snd.unsent());
        match self.snd.next(&self.cfg, &self.view) {
            held @ (Departure::Held(_) | Departure::Nothing) => match self.snd.next_bare(self.ack_due) {
                Departure::Nothing => held,
                bare => bare,
            },
            leaves => leaves,
        }
    }
}

const fn data(len: Bytes) -> NewData {
    NewData { len, fin: false }
}
const fn fin(len: Bytes) -> NewData {
    NewData { len, fin: true }
}
fn new(len: Bytes) -> Departure {
    Departure::New(data(len))
}
fn again(id: u64) -> Departure {
    Departure::Retransmit { id: SegmentId(id), forced: false }
}
fn forced(id: u64) -> Departure {
    Departure::Retransmit { id: SegmentId(id), forced: true }
}
fn tail_again(id: u64) -> Departure {
    Departure::TailProbe(TailProbe::Again(SegmentId(id)))
}
fn tail_new(len: Bytes) -> Departure {
    Departure::TailProbe(TailProbe::New(data(len)))
}
fn ask(len: Bytes) -> Departure {
    Departure::WindowProbe(Ask::New(data(len)))
}
const ASK_EMPTY: Departure = Departure::WindowProbe(Ask::Empty);
fn held(by: HeldBy) -> Departure {
    Departure::Held(by)
}

/// What leaves in a situation, and what leaves instead once one thing is different.
struct Row {
    about: &'static str,
    given: fn(&mut Case),
    leaves: Departure,
    change: fn(&mut Case),
    then: Departure,
}

/// `"situation", |case| { given } => leaves, { change } => then;`
macro_rules! rows {
    ($($about:literal, |$c:ident| $given:block => $leaves:expr, $change:block => $then:expr;)*) => {
        vec![$(Row {
            about: $about,
            given: |$c: &mut Case| $given,
            leaves: $leaves,
            change: |$c: &mut Case| $change,
            then: $then,
        }),*]
    };
}

mod chunks; // variant: chunks

fn without_data() -> Vec<Row> {
    use Departure::{Ack, BareProbe, Nothing, Reset, Syn};
    rows! {
        "a reset goes before a SYN", |c| { c.view.reset_due = true; c.view.syn_due = true; } => Reset, { c.view.reset_due = false; } => Syn;
        "a reset needs no open state", |c| { c.view.reset_due = true; c.view.open = false; } => Reset, { c.view.reset_due = false; } => Nothing;
        "a SYN goes before data", |c| { c.write(300); c.view.syn_due = true; } => Syn, { c.view.syn_due = false; } => new(100);
        "a SYN needs no open state", |c| { c.view.syn_due = true; c.view.open = false; } => Syn, { c.view.syn_due = false; } => Nothing;
        "data waits for the connection", |c| { c.write(300); c.view.open = false; } => Nothing, { c.view.open = true; } => new(100);
        "nothing follows the FIN", |c| { c.send(1); c.send_fin(); } => Nothing, { c.lose(0); } => again(0);
        "an ACK leaves by itself", |c| { c.ack_due = true; } => Ack, { c.ack_due = false; } => held(HeldBy::AppLimited);
        "an ACK waits for no window", |c| { c.send(10); c.write(300); c.ack_due = true; } => Ack, { c.ack(2); c.window(1_100); } => new(100);
        "a bare probe carries the ACK", |c| { c.snd.rec.set_bare_probe(true); c.ack_due = true; } => BareProbe, { c.snd.rec.set_bare_probe(false); } => Ack;
        "a bare probe gives way to data", |c| { c.snd.rec.set_bare_probe(true); c.write(300); c.view.paced_until = Some(LATER); } => BareProbe, { c.view.paced_until = None; } => new(100);
    }
}

fn again_or_new() -> Vec<Row> {
    rows! {
        "what is lost goes before new data", |c| { c.send(3); c.write(300); c.lose(0); } => again(0), { c.sack(0, 1); } => new(100);
        "the lowest lost segment goes first", |c| { c.send(3); c.lose(2); c.lose(1); } => again(1), { c.sack(1, 2); } => again(2);
        "the window holds a retransmission", |c| { c.send(10); c.lose(0); c.cwnd(5); } => held(HeldBy::Cwnd), { c.sack(1, 6); } => again(0);
        "a forced retransmission asks no window", |c| { c.send(10); c.lose(0); c.cwnd(5); c.snd.rec.force(true); } => forced(0), { c.snd.rec.force(false); } => held(HeldBy::Cwnd);
        "a retransmission fills the window", |c| { c.send(10); c.lose(0); } => again(0), { c.cwnd(9); } => held(HeldBy::Cwnd);
        "a FIN behind a full segment takes no window", |c| { c.send(9); c.write(100); c.snd.space.queue_fin(); c.snd.on_new_data(NOW, 0, fin(100), SIZE); c.lose(9); } => again(9), { c.cwnd(9); } => held(HeldBy::Cwnd);
        "nothing new goes before a retransmission that waits", |c| { c.send(10); c.write(100); c.window(2_000); c.lose(0); c.cwnd(5); } => held(HeldBy::Cwnd), { c.sack(0, 6); } => new(100);
        "the pacer holds a retransmission", |c| { c.send(3); c.lose(0); c.view.paced_until = Some(LATER); } => held(HeldBy::Pacer(LATER)), { c.view.paced_until = None; } => again(0);
        "a tail probe sends something new", |c| { c.send(3); c.write(250); c.snd.rec.tail.on_timeout(); } => tail_new(100), { c.window_beyond_flight(99); } => tail_again(2);
        "a tail probe repeats the highest segment", |c| { c.send(3); c.snd.rec.tail.on_timeout(); } => tail_again(2), { c.sack(2, 3); } => Departure::Nothing;
        "a tail probe asks no congestion window", |c| { c.send(10); c.window(2_000); c.write(250); c.snd.rec.tail.on_timeout(); } => tail_new(100), { c.snd.rec.tail.reset(); } => held(HeldBy::Cwnd);
        "a tail probe goes before a lost segment", |c| { c.send(3); c.lose(0); c.snd.rec.tail.on_timeout(); } => tail_again(2), { c.snd.rec.tail.reset(); } => again(0);
        "a tail probe repeats nothing that is marked lost", |c| { c.send(3); c.send_fin(); c.snd.rec.tail.on_timeout(); } => tail_again(3), { c.lose(3); } => Departure::Nothing;
        "a tail probe carries the FIN", |c| { c.send(3); c.write(50); c.snd.space.queue_fin(); c.snd.rec.tail.on_timeout(); } => Departure::TailProbe(TailProbe::New(fin(50))), { c.write(100); } => tail_new(100);
        "F-RTO sends something new", |c| { c.send(3); c.write(250); c.lose(0); c.examine(2); } => Departure::Frto(data(100)), { c.snd.rec.undo = None; } => again(0);
        "F-RTO carries the FIN", |c| { c.send(3); c.write(100); c.snd.space.queue_fin(); c.examine(1); } => Departure::Frto(fin(100)), { c.examine(0); } => held(HeldBy::Frto);
        "F-RTO waits for its answer", |c| { c.send(3); c.write(250); c.examine(0); } => held(HeldBy::Frto), { c.examine(1); } => Departure::Frto(data(100));
        "F-RTO waits for the peer's window", |c| { c.send(3); c.write(250); c.lose(0); c.examine(1); c.window(300); } => held(HeldBy::Frto), { c.window(400); } => Departure::Frto(data(100));
        "the retransmission of a timeout goes before F-RTO", |c| { c.send(3); c.write(250); c.lose(0); c.examine(2); c.snd.rec.force(true); } => forced(0), { c.snd.rec.force(false); } => Departure::Frto(data(100));
        "a hole that nothing marks is filled", |c| { c.repair(); } => Departure::UnmarkedHole(SegmentId(0)), { c.snd.rec.enter(Episode::Open); } => held(HeldBy::AppLimited);
        "new data goes before a hole", |c| { c.repair(); c.write(300); } => Departure::UnmarkedHole(SegmentId(0)), { c.window_beyond_flight(300); } => new(100);
        "a hole is filled behind the FIN, too", |c| { c.repair(); c.sack(4, 6); c.send_fin(); } => Departure::UnmarkedHole(SegmentId(0)), { c.sack(0, 3); } => Departure::Nothing;
        "the window holds what fills a hole", |c| { c.repair(); c.cwnd(5); } => held(HeldBy::AppLimited), { c.sack(4, 9); } => Departure::UnmarkedHole(SegmentId(0));
        "the pacer holds what fills a hole", |c| { c.repair(); c.view.paced_until = Some(LATER); } => held(HeldBy::Pacer(LATER)), { c.view.paced_until = None; } => Departure::UnmarkedHole(SegmentId(0));
        "the rescue repeats the highest segment", |c| { c.repaired(); } => Departure::Rescue(SegmentId(9)), { c.snd.rec.board.spend_rescue(SegmentId(9)); } => held(HeldBy::AppLimited);
        "new data goes before the rescue", |c| { c.repaired(); c.write(300); c.window(700); } => Departure::Rescue(SegmentId(9)), { c.window(1_000); } => new(100);
    }
}

fn new_data() -> Vec<Row> {
    rows! {
        "one segment where the device cuts none", |c| { c.write(300); } => new(100), { c.view.tso_max_bytes = 1_000; } => new(300);
        "whole segments in one frame", |c| { c.write(250); c.view.tso_max_bytes = 1_000; } => new(200), { c.view.owes_cwr = true; } => new(100);
        "urgent data in frames of their own", |c| { c.write(250); c.view.tso_max_bytes = 1_000; c.view.urgent = true; } => new(100), { c.view.urgent = false; } => new(200);
        "no more than the device takes", |c| { c.write(900); c.view.tso_max_bytes = 450; } => new(400), { c.view.tso_max_bytes = 40; } => new(100);
        "no more than the congestion window", |c| { c.send(7); c.write(900); c.window(5_000); c.view.tso_max_bytes = 1_000; } => new(300), { c.cwnd(8); } => new(100);
        "a segment of the exact size is full", |c| { c.nagle(NagleConfig::Rfc896); c.send(7); c.send_small(); c.write(100); } => new(100), { c.view.size = 101; } => held(HeldBy::Nagle);
        "whole segments of what the congestion window takes", |c| { c.send(7); c.send_small(); c.write(300); c.window(5_000); c.view.tso_max_bytes = 1_000; } => new(200), { c.cwnd(8); } => held(HeldBy::Cwnd);
        "Nagle's rule holds what the window would just take", |c| { c.nagle(NagleConfig::Rfc896); c.send(1); c.write(50); c.window(150); } => held(HeldBy::Nagle), { c.window(149); } => held(HeldBy::PeerWindow);
        "the congestion window is full", |c| { c.send(10); c.write(300); c.window(2_000); } => held(HeldBy::Cwnd), { c.ack(1); } => new(100);
        "what remains of the congestion window is less than a segment", |c| { c.send(9); c.send_small(); c.write(300); c.window(2_000); } => held(HeldBy::Cwnd), { c.ack(1); } => new(100);
        "the peer's window is full", |c| { c.send(3); c.write(300); c.window(300); } => held(HeldBy::PeerWindow), { c.window(400); } => new(100);
        "a silly window is not used", |c| { c.send(3); c.write(300); c.window(340); } => held(HeldBy::PeerWindow), { c.window(400); } => new(100);
        "the FIN leaves with the last bytes", |c| { c.write(100); c.snd.space.queue_fin(); } => Departure::New(fin(100)), { c.write(150); } => new(100);
        "a FIN alone needs room where probes are empty", |c| { c.empty_probes(); c.snd.space.queue_fin(); c.window(0); } => held(HeldBy::PeerWindow), { c.window(1); } => Departure::New(fin(0));
        "a FIN alone is as good a probe as a byte", |c| { c.snd.space.queue_fin(); c.window(0); } => Departure::New(fin(0)), { c.empty_probes(); } => held(HeldBy::PeerWindow);
        "a FIN with data waits for the window", |c| { c.send(3); c.write(100); c.snd.space.queue_fin(); c.window(300); } => held(HeldBy::PeerWindow), { c.window(400); } => Departure::New(fin(100));
        "Nagle's rule holds a small segment", |c| { c.send(1); c.write(50); c.nagle(NagleConfig::Rfc896); } => held(HeldBy::Nagle), { c.nagle(NagleConfig::Minshall); } => new(50);
        "Minshall's rule holds the second small segment", |c| { c.send_small(); c.write(50); c.nagle(NagleConfig::Minshall); } => held(HeldBy::Nagle), { c.nagle(NagleConfig::Off); } => new(50);
        "urgent data is not held", |c| { c.send_small(); c.write(50); c.nagle(NagleConfig::Rfc896); c.view.urgent = true; } => new(50), { c.view.urgent = false; } => held(HeldBy::Nagle);
        "marks hold new data", |c| { c.write(300); c.view.marks_until = Some(LATER); } => held(HeldBy::Ecn(LATER)), { c.view.marks_until = None; } => new(100);
        "marks hold the FIN", |c| { c.snd.space.queue_fin(); c.view.marks_until = Some(LATER); } => held(HeldBy::Ecn(LATER)), { c.view.marks_until = None; } => Departure::New(fin(0));
        "a probe of the path's MTU takes the place of new data", |c| { c.write(900); c.view.mtu_probe = ProbeNow::Send(150); } => Departure::MtuProbe { len: 150 }, { c.view.mtu_probe = ProbeNow::No; } => new(100);
        "a probe of the path's MTU waits for a smaller flight", |c| { c.send(5); c.write(500); c.view.mtu_probe = ProbeNow::Wait; } => held(HeldBy::MtuSearch), { c.view.mtu_probe = ProbeNow::Send(150); } => Departure::MtuProbe { len: 150 };
        "a probe of the path's MTU that waits holds the last segment, too", |c| { c.write(100); c.view.mtu_probe = ProbeNow::Wait; } => held(HeldBy::MtuSearch), { c.view.mtu_probe = ProbeNow::No; } => new(100);
        "a probe of the path's MTU leaves in a small flight", |c| { c.send(2); c.write(700); c.view.mtu_probe = ProbeNow::Send(150); } => Departure::MtuProbe { len: 150 }, { c.view.mtu_probe = ProbeNow::Wait; } => held(HeldBy::MtuSearch);
    }
}

fn probes() -> Vec<Row> {
    rows! {
        "a probe sends one byte beyond the window", |c| { c.write(300); c.window(0); c.probing(Probing::Due(0)); } => ask(1), { c.probing(Probing::Waiting(0)); } => held(HeldBy::PeerWindow);
        "a probe fills a silly window", |c| { c.send(3); c.write(300); c.window(40); c.probing(Probing::Due(1)); } => ask(40), { c.probing(Probing::Idle); } => held(HeldBy::PeerWindow);
        "an empty probe takes no number", |c| { c.empty_probes(); c.write(300); c.window(0); c.probing(Probing::Due(0)); } => ASK_EMPTY, { c.probing(Probing::Idle); } => held(HeldBy::PeerWindow);
        "an empty probe turns into data where the window takes some", |c| { c.empty_probes(); c.send(3); c.write(300); c.window(40); c.probing(Probing::Due(0)); } => ask(40), { c.window(0); } => ASK_EMPTY;
        "an empty probe asks on behalf of the FIN", |c| { c.empty_probes(); c.snd.space.queue_fin(); c.window(0); c.probing(Probing::Due(0)); } => ASK_EMPTY, { c.probing(Probing::Idle); } => held(HeldBy::PeerWindow);
        "a FIN held by marks is not a probe of a byte", |c| { c.snd.space.queue_fin(); c.probing(Probing::Due(0)); c.view.marks_until = Some(LATER); } => held(HeldBy::Ecn(LATER)), { c.empty_probes(); } => Departure::WindowProbe(Ask::New(fin(0)));
        "without data there is nothing to probe with", |c| { c.send(1); c.probing(Probing::Due(0)); } => held(HeldBy::AppLimited), { c.write(100); c.window(0); } => ask(1);
        "a window probe gives way to data", |c| { c.write(300); c.probing(Probing::Due(0)); } => new(100), { c.window(0); } => ask(1);
        "a window probe of a tail that has nothing to send", |c| { c.write(300); c.window(0); c.probing(Probing::Due(0)); c.snd.rec.tail.on_timeout(); } => ask(1), { c.window(300); } => tail_new(100);
    }
}

fn all_rows() -> Vec<Row> {
    let mut rows: Vec<Row> = [without_data(), again_or_new(), new_data(), probes()].into_iter().flatten().collect();
    rows.extend(chunks::rows()); // variant: chunks
    rows
}

#[test]
fn what_leaves_now() {
    let mut wrong = Vec::new();
    for row in all_rows() {
        let mut case = Case::new();
        (row.given)(&mut case);
        let leaves = case.leaves();
        (row.change)(&mut case);
        let then = case.leaves();
        if (leaves, then) != (row.leaves, row.then) {
            wrong.push(format!("{}: {leaves:?}, then {then:?}, not {:?}, then {:?}", row.about, row.leaves, row.then));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// How often what is held back by such a reason stands in the table.
fn times_held(rows: &[Row], by: HeldBy) -> usize {
    let held_so = |row: &&Row| matches!(row.leaves, Departure::Held(held) if discriminant(&held) == discriminant(&by));
    rows.iter().filter(held_so).count()
}

#[test]
fn every_departure_and_every_reason_stands_in_the_table_twice() {
    use HeldBy::{AppLimited, Cwnd, Ecn, MtuSearch, Nagle, Pacer, PeerWindow};
    let rows = all_rows();
    let departures = [
        Departure::Reset,
        Departure::Syn,
        again(0),
        tail_again(0),
        Departure::Frto(data(0)),
        new(0),
        Departure::UnmarkedHole(SegmentId(0)),
        Departure::Rescue(SegmentId(0)),
        ask(0),
        Departure::MtuProbe { len: 0 },
        Departure::BareProbe,
        Departure::Ack,
        held(Cwnd),
        Departure::Nothing,
    ];
    for kind in departures {
        let times = rows.iter().filter(|row| discriminant(&row.leaves) == discriminant(&kind)).count();
        assert!(times >= 2, "{kind:?} stands in the table {times} times");
    }
    let reasons = [Cwnd, PeerWindow, Nagle, Pacer(NOW), MtuSearch, Ecn(NOW), HeldBy::Frto, AppLimited];
    for by in reasons {
        let times = times_held(&rows, by);
        assert!(times >= 2, "{by:?} stands in the table {times} times");
    }
}

#[test]
fn each_row_says_something_else_than_its_neighbour() {
    for row in all_rows() {
        assert_ne!(row.leaves, row.then, "{}", row.about);
    }
}
