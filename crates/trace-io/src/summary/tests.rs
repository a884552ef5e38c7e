//! Totals of events listed in the tests.

use super::*;
use base::SeqNum;
use proptest::prelude::*;
use trace::FlagLetters;

const SENDER: ConnId = ConnId(0);
const RECEIVER: ConnId = ConnId(1_000_000);

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn summary(events: &[(u64, ConnId, Event)]) -> Summary {
    let mut summarizer = Summarizer::new(SENDER, RECEIVER);
    events.iter().for_each(|(at, conn, event)| summarizer.record(ms(*at), *conn, *event));
    summarizer.finish()
}

fn sent(cause: SendCause, retransmit: u8, len: u32) -> Event {
    let (seq, flags, ack, window, blocks, dsack) = (SeqNum(1), FlagLetters::Ack, None, 0, 0, None);
    Event::SegmentSent { seq, len, flags, ack, window, cause, retransmit, blocks, dsack }
}

fn acked(acked: u32) -> Event {
    Event::AckProcessed { ack: SeqNum(1), acked, sacked: 0, lost: 0, dsack: None, rtt: None, pipe: 0, cwnd: 0 }
}

const OPEN: Event = Event::StateChanged { from: State::SynSent, to: State::Established };

fn rtt(us: u64) -> Event {
    let sample = Duration::from_micros(us);
    Event::RttUpdated { sample, srtt: sample, rttvar: sample, rto: sample, min_rtt: sample }
}

#[test]
fn time_is_given_to_what_limited_the_sender_until_the_last_byte_is_acknowledged() {
    let limited = |by| Event::Limited { by };
    let summary = summary(&[
        (0, SENDER, sent(SendCause::Syn, 0, 0)),
        (100, SENDER, OPEN),
        (100, SENDER, limited(Limit::Cwnd)),
        (150, RECEIVER, limited(Limit::Application)),
        (160, SENDER, limited(Limit::Rwnd)),
        (170, SENDER, limited(Limit::Cwnd)),
        (200, SENDER, limited(Limit::Application)),
        (300, SENDER, acked(5)),
        (900, SENDER, acked(0)),
        (1_000, SENDER, limited(Limit::Nothing)),
    ]);
    let shares: Vec<(&str, u64, f64)> =
        summary.limited.shares.iter().map(|share| (share.by.name(), share.ns / 1_000_000, share.percent)).collect();
    assert_eq!(shares, [("application", 100, 50.0), ("cwnd", 90, 45.0), ("rwnd", 10, 5.0)]);
    assert_eq!((summary.handshake_ns, summary.observed_ns), (100_000_000, 1_000_000_000));
    assert_eq!(summary.limited.total_ns, 200_000_000);
}

#[test]
fn segments_are_counted_by_what_made_them_leave_and_only_the_senders() {
    let summary = summary(&[
        (0, SENDER, sent(SendCause::New, 0, 1_000)),
        (0, SENDER, sent(SendCause::New, 0, 500)),
        (1, SENDER, sent(SendCause::TailProbe, 0, 10)),
        (2, SENDER, sent(SendCause::TailProbe, 1, 20)),
        (2, RECEIVER, sent(SendCause::New, 1, 7)),
    ]);
    let tail = |segments, bytes| (SendCause::TailProbe, Count { segments, bytes });
    let new = (SendCause::New, Count { segments: 2, bytes: 1_500 });
    assert_eq!(summary.sent, BTreeMap::from([new, tail(2, 30)]));
    assert_eq!(summary.retransmitted, BTreeMap::from([tail(1, 20)]));
}

#[test]
fn round_trip_times_have_a_least_a_median_and_a_greatest() {
    let spread = summary(&[(0, SENDER, rtt(30)), (0, SENDER, rtt(10)), (0, SENDER, rtt(20)), (0, SENDER, rtt(90))]);
    let expected = Spread { samples: 4, min_ns: 10_000, median_ns: 20_000, max_ns: 90_000 };
    assert_eq!(spread.rtt, Some(expected));
    assert_eq!(summary(&[]).rtt, None);
}

proptest! {
    #[test]
    fn shares_sum_to_the_whole(steps in proptest::collection::vec((0_u64..500, 0_usize..5, any::<bool>()), 1..60)) {
        let limits = [Limit::Cwnd, Limit::Rwnd, Limit::Recovery, Limit::Application, Limit::Pacing];
        let (mut at, mut events) = (10, vec![(10, SENDER, OPEN)]);
        for (wait, limit, acks) in steps {
            at += wait;
            events.push((at, SENDER, if acks { acked(1) } else { Event::Limited { by: limits[limit] } }));
        }
        events.push((at + 1, SENDER, acked(1)));
        let limited = summary(&events).limited;
        prop_assert_eq!(limited.total_ns, (at + 1 - 10) * 1_000_000);
        prop_assert_eq!(limited.shares.iter().map(|share| share.ns).sum::<u64>(), limited.total_ns);
        prop_assert!((limited.shares.iter().map(|share| share.percent).sum::<f64>() - 100.0).abs() < 1e-9);
    }
}
