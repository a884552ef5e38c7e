//! What a trace becomes, event by event.

use super::*;
use base::Duration;
use trace::{DropCause, FlagLetters, Hop, Phase};
use trace_io::{ConnId, End, Meta};

const SENDER: ConnId = ConnId(3);
const RECEIVER: ConnId = ConnId(8);

fn trace(events: &[(u64, ConnId, Event)]) -> Trace {
    let end = |conn: ConnId, name: &str| End { conn: conn.0, name: name.to_owned() };
    let meta = Meta { ends: vec![end(SENDER, "sender"), end(RECEIVER, "receiver")], ..Meta::default() };
    let record = |&(us, conn, event): &(u64, ConnId, Event)| Record {
        at: Instant::from_nanos(1_000_000 + us * 1_000),
        conn,
        event,
    };
    Trace { meta, records: events.iter().map(record).collect() }
}

fn sent(seq: u32, len: u32, cause: SendCause, retransmit: u8) -> Event {
    let (seq, window) = (SeqNum(seq), 0);
    Event::SegmentSent {
        seq,
        len,
        flags: FlagLetters::Ack,
        ack: None,
        window,
        cause,
        retransmit,
        blocks: 0,
        dsack: None,
    }
}

fn received(ack: u32, window: u32) -> Event {
    Event::SegmentReceived {
        seq: SeqNum(0),
        len: 0,
        flags: FlagLetters::Ack,
        ack: Some(SeqNum(ack)),
        window,
        blocks: 0,
    }
}

fn only(trace: &Trace) -> Run {
    let [run] = from_trace(trace).try_into().expect("one flow");
    run
}

fn column(run: &Run, table: &str, name: &str) -> Vec<u64> {
    run.tables[table].column(name).unwrap().values.clone()
}

#[test]
fn sequence_numbers_begin_at_zero_and_do_not_wrap() {
    let near = u32::MAX - 999;
    let run = only(&trace(&[
        (0, SENDER, sent(near, 1, SendCause::Syn, 0)),
        (10, SENDER, sent(near.wrapping_add(1), 1460, SendCause::New, 0)),
        (20, SENDER, received(near.wrapping_add(1461), 65_535)),
        (30, SENDER, sent(near.wrapping_add(1), 1460, SendCause::Timeout, 1)),
    ]));
    assert_eq!(column(&run, "sent", "t"), [0, 10, 30]);
    assert_eq!(column(&run, "sent", "seq"), [0, 1, 1]);
    assert_eq!(column(&run, "sent", "end"), [1, 1461, 1461]);
    assert_eq!((column(&run, "acks", "ack"), column(&run, "window", "edge")), (vec![1461], vec![1461 + 65_535]));
    assert_eq!(run.end, 30);
}

#[test]
fn retransmissions_go_to_the_row_of_their_cause() {
    let run = only(&trace(&[
        (0, SENDER, sent(0, 100, SendCause::New, 0)),
        (1, SENDER, sent(0, 100, SendCause::FastRetransmit, 1)),
        (2, SENDER, sent(0, 100, SendCause::SackRetransmit, 2)),
        (3, SENDER, sent(0, 100, SendCause::Additional, 3)),
        (4, SENDER, sent(0, 100, SendCause::TailProbe, 4)),
        (5, SENDER, sent(0, 100, SendCause::Timeout, 5)),
        (6, SENDER, sent(100, 100, SendCause::Timeout, 0)),
        (7, SENDER, sent(200, 0, SendCause::Ack, 0)),
    ]));
    let kinds = run.tables["sent"].column("kind").unwrap();
    let kinds: Vec<&str> = kinds.values.iter().map(|&kind| kinds.words[kind as usize].as_str()).collect();
    assert_eq!(kinds, ["new", "fast", "sack", "sack", "probe", "timeout", "new"]);
    assert_eq!(["row/fast", "row/sack", "row/timeout"].map(|row| run.tables[row].rows()), [1, 2, 1]);
}

#[test]
fn a_duplicate_report_counts_as_recognised_only_if_the_sender_takes_it_for_one() {
    let block = |class| Event::BlockReceived { range: SeqRange::new(SeqNum(1), SeqNum(2)), class };
    let report = Event::SegmentSent {
        seq: SeqNum(0),
        len: 0,
        flags: FlagLetters::Ack,
        ack: None,
        window: 0,
        cause: SendCause::Ack,
        retransmit: 0,
        blocks: 1,
        dsack: Some(SeqRange::new(SeqNum(1), SeqNum(2))),
    };
    let deaf = only(&trace(&[
        (0, SENDER, sent(0, 10, SendCause::New, 0)),
        (1, RECEIVER, report),
        (2, SENDER, block(BlockClass::BelowAck)),
        (3, SENDER, block(BlockClass::Sack)),
    ]));
    assert_eq!((deaf.tables["row/dsack"].rows(), deaf.tables["sacks"].rows()), (0, 1));
    assert!(deaf.why_empty["row/dsack"].contains("reported 1 duplicates"), "{:?}", deaf.why_empty);
    let keen = only(&trace(&[(0, SENDER, sent(0, 10, SendCause::New, 0)), (2, SENDER, block(BlockClass::Dsack))]));
    assert_eq!(keen.tables["row/dsack"].rows(), 1);
    assert!(!keen.why_empty.contains_key("row/dsack"));
}

#[test]
fn what_limits_the_sender_lasts_until_something_else_does_or_all_is_acknowledged() {
    let limited = |by| Event::Limited { by };
    let run = only(&trace(&[
        (0, SENDER, limited(Limit::Nothing)),
        (10, SENDER, sent(0, 100, SendCause::New, 0)),
        (10, SENDER, limited(Limit::Cwnd)),
        (40, SENDER, limited(Limit::Application)),
        (50, SENDER, received(100, 1000)),
        (90, SENDER, received(100, 1000)),
    ]));
    assert_eq!(column(&run, "limits", "t"), [10, 40]);
    assert_eq!(column(&run, "limits", "until"), [40, 50]);
    let causes = run.tables["limits"].column("cause").unwrap();
    assert_eq!(causes.words, ["congestion window", "application"]);
}

#[test]
fn a_recovery_begun_by_time_is_an_early_retransmission_and_one_begun_by_counting_is_not() {
    let episode =
        |cause| Event::EpisodeChanged { from: Episode::Open, to: Episode::Recovery, cause, point: Some(SeqNum(100)) };
    let run = only(&trace(&[
        (0, SENDER, sent(0, 100, SendCause::New, 0)),
        (1, SENDER, episode(EpisodeCause::Rack)),
        (2, SENDER, episode(EpisodeCause::DupThresh)),
    ]));
    assert_eq!(column(&run, "row/early", "t"), [1]);
    assert_eq!(column(&run, "row/early", "recovery point"), [100]);
}

#[test]
fn time_that_goes_backwards_in_a_damaged_file_stands_still() {
    let fired = Event::TimerFired { kind: TimerKind::Retransmit };
    let mut damaged = trace(&[(0, SENDER, fired), (20, SENDER, fired), (30, SENDER, fired)]);
    damaged.records[2].at = Instant::ZERO;
    let run = only(&damaged);
    assert_eq!(column(&run, "row/expire", "t"), [0, 20, 20]);
}

#[test]
fn numbers_reach_the_lines_in_the_viewers_units() {
    let ms = Duration::from_millis;
    let run = only(&trace(&[
        (0, SENDER, Event::RttUpdated { sample: ms(3), srtt: ms(2), rttvar: ms(1), rto: ms(200), min_rtt: ms(1) }),
        (
            5,
            SENDER,
            Event::CcSnapshot {
                phase: Phase::SlowStart,
                cwnd: 14_600,
                ssthresh: u32::MAX,
                pipe: 0,
                snd_wnd: 65_535,
                pacing: None,
            },
        ),
        (6, SENDER, Event::HopQueued { backlog: 1_500 }),
    ]));
    let first = |table: &str| column(&run, table, "v")[0];
    assert_eq!([first("rtt"), first("srtt"), first("min_rtt")], [3_000, 2_000, 1_000]);
    assert_eq!([first("cwnd"), first("snd_wnd"), first("queue")], [14_600, 65_535, 1_500]);
    assert_eq!(run.tables["ssthresh"].rows(), 0, "no threshold yet");
}

#[test]
fn what_the_network_lost_is_reported_where_an_emulator_knows_it() {
    let dropped = Event::HopDropped { hop: Hop::Rate, cause: DropCause::Tail, seq: SeqNum(0), len: 1_500 };
    let mut trace = trace(&[(0, SENDER, sent(0, 1_460, SendCause::New, 0)), (1, SENDER, dropped)]);
    let lost = |run: &Run| run.facts.iter().find(|(label, _)| label == "lost by the network").cloned();
    assert_eq!(lost(&only(&trace)), None);
    trace.meta.network = Some(trace_io::Network::default());
    assert_eq!(lost(&only(&trace)), Some(("lost by the network".to_owned(), "1".to_owned())));
}

#[test]
fn what_stands_in_no_packet_is_left_out_of_a_capture_with_the_reason() {
    let done = Event::AckProcessed {
        ack: SeqNum(100),
        acked: 100,
        sacked: 0,
        lost: 0,
        dsack: None,
        rtt: None,
        pipe: 7,
        cwnd: 7,
    };
    let events = [
        (0, SENDER, Event::Limited { by: Limit::Undetermined }),
        (0, SENDER, sent(0, 100, SendCause::New, 0)),
        (1, SENDER, received(100, 1_000)),
        (1, SENDER, done),
    ];
    let mut seen = trace(&events);
    let run = only(&seen);
    for unseen in ["row/lost", "cwnd", "ssthresh"] {
        assert!(!run.tables.contains_key(unseen) && run.why_empty[unseen].contains("no packet"), "{unseen}");
    }
    assert_eq!((column(&run, "pipe", "v"), column(&run, "snd_wnd", "v")), (vec![7], vec![1_000]), "packets tell these");
    assert_eq!(run.tables["limits"].column("cause").unwrap().words, ["cwnd, path or pace"]);
    seen.meta.network = Some(trace_io::Network::default());
    let run = only(&seen);
    assert!(run.tables.contains_key("row/lost") && !run.why_empty.contains_key("row/lost"));
}

#[test]
fn an_empty_trace_is_an_empty_picture() {
    let run = only(&Trace::default());
    assert_eq!((run.end, run.tables["sent"].rows(), run.name.as_str()), (1, 0, "trace"));
    assert!(run.why_empty.contains_key("queue"));
}

#[test]
fn several_flows_are_runs_on_one_clock_that_share_the_queue() {
    let (other, their) = (ConnId(4), ConnId(9));
    let queued = |backlog| Event::HopQueued { backlog };
    let mut trace = trace(&[
        (0, SENDER, sent(0, 1000, SendCause::New, 0)),
        (1_000, SENDER, queued(1_500)),
        (30_000, other, sent(70, 500, SendCause::New, 0)),
        (40_000, other, queued(3_000)),
        (50_000, SENDER, received(1000, 9)),
        (80_000, other, received(570, 9)),
        (100_000, RECEIVER, queued(7)),
    ]);
    trace.meta.arm = "linux".to_owned();
    let names = ["arm sender", "arm receiver", "longhaul sender", "longhaul receiver"];
    let conns = [SENDER, RECEIVER, other, their];
    trace.meta.ends = conns.iter().zip(names).map(|(conn, name)| End { conn: conn.0, name: name.to_owned() }).collect();
    let runs = from_trace(&trace);
    assert_eq!(runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["linux (arm)", "longhaul"]);
    assert_eq!((column(&runs[0], "sent", "t"), column(&runs[1], "sent", "t")), (vec![1_000], vec![31_000]));
    assert_eq!((column(&runs[0], "queue", "v"), runs[1].tables["queue"].rows()), (vec![1_500, 3_000], 0));
    assert_eq!((runs[0].queue_before, runs[1].queue_before), (0, 1));
    assert!(!runs[1].why_empty.contains_key("queue"));
    assert_eq!([runs[0].end, runs[1].end], [101_000; 2]);
    // 500 bytes in a bin of 10 ms.
    assert_eq!(
        (column(&runs[1], "share", "t"), column(&runs[1], "share", "v")),
        (vec![80_000, 90_000], vec![400_000, 0])
    );
    assert!(!only(&super::tests::trace(&[])).tables.contains_key("share"), "one flow shares nothing");
}
