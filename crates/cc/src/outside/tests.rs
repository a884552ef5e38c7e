//! The controller that applies an advisor's rules, with advisors that follow a script.

use super::*;
use crate::testing::{ack, app_limited};
use crate::window::InitialWindow;
use base::Rate;
use std::sync::Mutex;

const SMSS: Bytes = 1_000;

/// Cause, acknowledged bytes, lost bytes, and samples.
type Heard = (Cause, u64, u64, usize);

/// Answers with what a function says, and notes causes.
#[derive(Clone, Debug)]
struct Scripted {
    answer: fn(&Report<'_>) -> Option<Rule>,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Advisor for Scripted {
    fn advise(&mut self, report: &Report<'_>) -> Option<Rule> {
        let heard = (report.cause, report.acked, report.lost, report.samples.len());
        self.heard.lock().unwrap().push(heard);
        (self.answer)(report)
    }
    fn clone_box(&self) -> Box<dyn Advisor> {
        Box::new(self.clone())
    }
}

impl Advisors for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }
    fn digest(&self) -> &str {
        "0"
    }
    fn advisor(&self) -> Box<dyn Advisor> {
        Box::new(self.clone())
    }
}

fn controller(answer: fn(&Report<'_>) -> Option<Rule>) -> (Outside, Scripted) {
    let scripted = Scripted { answer, heard: Arc::default() };
    let config = OutsideConfig::new(Arc::new(scripted.clone()));
    let mut outside = Outside::new(&config, Window::new(&InitialWindow::plain(10), SMSS), 7);
    outside.on_flight_start(&FlightStart { now: Instant::ZERO, srtt: None, app_limited: false });
    (outside, scripted)
}

fn reno(report: &Report<'_>) -> Option<Rule> {
    let begin = Rule { slow_start_ppm: Some(1_000_000), avoidance: Some(report.window.smss()), ..Rule::default() };
    (report.cause == Cause::Start).then_some(begin)
}

/// An ACK of `acked` bytes up to `una` of a flight that ends at `nxt`.
fn at(una: u32, nxt: u32, acked: Bytes) -> AckSample {
    AckSample { snd_una: SeqNum(una), snd_nxt: SeqNum(nxt), pipe: nxt - una, ..ack(1, acked) }
}

const LOSS: CongestionEvent = CongestionEvent::Loss { flight_size: 10 * SMSS };

#[test]
fn a_round_ends_with_the_ack_of_what_was_in_flight_when_it_began() {
    let (mut cc, heard) = controller(|_| None);
    for una in [2_000, 4_000, 6_000, 8_000, 10_000, 15_000, 20_000] {
        // Each ACK releases as much as it acknowledges.
        cc.on_ack(&at(una, una + 10_000 - 2_000 * u32::from(una < 10_000), 2_000));
    }
    let causes: Vec<_> = heard.heard.lock().unwrap().clone();
    assert_eq!(causes, [(Cause::Start, 0, 0, 0), (Cause::Round, 10_000, 0, 5), (Cause::Round, 4_000, 0, 2)]);
    assert_eq!(cc.window().cwnd(), 10 * SMSS, "without a rule nothing grows");
}

#[test]
fn a_rule_grows_the_window_with_each_ack_until_another_does() {
    let (mut cc, _) = controller(reno);
    cc.on_ack(&at(2_000, 12_000, 2_000));
    assert_eq!(cc.window().cwnd(), 12 * SMSS);
    cc.on_congestion(&LOSS, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (5 * SMSS, 5 * SMSS));
    assert_eq!(cc.on_ack(&at(2_500, 12_000, 500)), Some(CcNote::SlowStartExited(ExitCause::Congestion)));
    // A window of bytes, in ten ACKs, opens it by a segment, give or take what the growing window leaves.
    for part in 1..10 {
        cc.on_ack(&at(2_500 + part * 500, 12_000, 500));
    }
    assert!((5_900..=6_000).contains(&cc.window().cwnd()), "{}", cc.window().cwnd());
}

#[test]
fn a_window_that_a_round_raises_opens_with_the_acks_of_the_next() {
    let (mut cc, _) = controller(|report| {
        matches!(report.cause, Cause::Start | Cause::Round)
            .then(|| Rule { window: Some(2 * report.window.cwnd()), ..Rule::default() })
    });
    assert_eq!(cc.window().cwnd(), 10_000);
    cc.on_ack(&at(2_000, 12_000, 2_000));
    assert_eq!(cc.window().cwnd(), 12_000);
    cc.on_ack(&at(12_000, 24_000, 10_000));
    assert_eq!(cc.window().cwnd(), 20_000, "no ACK opens it beyond what the rule said");
    // Twelve thousand bytes are in flight, and their ACKs open it by twenty thousand.
    cc.on_ack(&at(15_000, 30_000, 3_000));
    assert_eq!(cc.window().cwnd(), 25_000);
    cc.on_congestion(&LOSS, Instant::ZERO);
    cc.on_ack(&at(16_000, 30_000, 1_000));
    assert_eq!(cc.window().cwnd(), 5_000, "a signal ends it");
}

#[test]
fn growth_stops_at_ssthresh_and_an_unused_window_stays() {
    let (mut cc, _) = controller(|report| {
        reno(report).map(|rule| Rule { ssthresh: Some(11_500), most_per_ack: Some(2_000), ..rule })
    });
    cc.on_ack(&app_limited(1, 2_000));
    cc.on_ack(&AckSample { episode: EpisodeKind::Recovery, ..ack(1, 2_000) });
    assert_eq!(cc.window().cwnd(), 10_000);
    cc.on_ack(&ack(1, 1_000));
    let note = cc.on_ack(&ack(1, 9_000));
    assert_eq!((cc.window().cwnd(), note), (11_500, Some(CcNote::SlowStartExited(ExitCause::Threshold))));
}

#[test]
fn one_ack_below_ssthresh_counts_for_no_more_than_the_rule_says() {
    let (mut cc, _) = controller(|report| reno(report).map(|rule| Rule { most_per_ack: Some(2_000), ..rule }));
    cc.on_ack(&ack(1, 9_000));
    assert_eq!(cc.window().cwnd(), 12_000);
}

#[test]
fn a_share_of_a_byte_is_carried_over() {
    let (mut cc, _) = controller(|report| reno(report).map(|rule| Rule { slow_start_ppm: Some(300_000), ..rule }));
    for _ in 0..10 {
        cc.on_ack(&ack(1, 1));
    }
    assert_eq!(cc.window().cwnd(), 10_003);
}

#[test]
fn signals_are_reported_at_once_and_their_rules_win_over_the_usual_response() {
    let (mut cc, heard) = controller(|report| match report.cause {
        Cause::Loss { .. } => Some(Rule { window: Some(7_000), ..Rule::default() }),
        Cause::Timeout { .. } => Some(Rule { window: Some(3_000), ssthresh: Some(4_000), ..Rule::default() }),
        _ => None,
    });
    cc.on_congestion(&LOSS, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (7_000, 7_000));
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 10_000, first: true }, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (3_000, 4_000));
    assert_eq!(heard.heard.lock().unwrap().len(), 3);
}

#[test]
fn without_an_answer_a_signal_gets_the_usual_response() {
    let (mut cc, heard) = controller(|_| None);
    cc.on_congestion(&CongestionEvent::Ecn { flight_size: 10_000, beta: None, least_segments: 2 }, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (5_000, 5_000));
    assert!(!cc.undo(), "a mark is never undone");
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 8_000, first: true }, Instant::ZERO);
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (1_000, 4_000));
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 2_000, first: false }, Instant::ZERO);
    assert_eq!(cc.window().ssthresh(), 4_000, "a repeated timeout says nothing new");
    let before = heard.heard.lock().unwrap().len();
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 0, first: true }, Instant::ZERO);
    assert_eq!(heard.heard.lock().unwrap().len(), before, "a lost SYN is not reported");
}

#[test]
fn undo_restores_window_and_rule_from_before_the_episode() {
    let (mut cc, heard) = controller(|report| match report.cause {
        Cause::Loss { .. } => Some(Rule { slow_start_ppm: Some(0), ..Rule::default() }),
        Cause::Start => reno(report),
        _ => None,
    });
    cc.on_congestion(&LOSS, Instant::ZERO);
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 10_000, first: true }, Instant::ZERO);
    assert!(cc.undo() && !cc.undo());
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh()), (10_000, Window::UNKNOWN));
    assert_eq!(heard.heard.lock().unwrap().last().unwrap().0, Cause::Undone);
    cc.on_ack(&ack(1, 1_000));
    assert_eq!(cc.window().cwnd(), 11_000);
}

#[test]
fn a_pace_holds_until_a_rule_lifts_it() {
    let rate = Rate::from_bits_per_sec(8_000_000).unwrap();
    assert_eq!(rate.bits_per_sec(), 8_000_000);
    let (mut cc, _) = controller(|report| {
        let pace = Rate::from_bits_per_sec(8_000_000).map(|rate| Pace { rate, quantum: 1 });
        match report.cause {
            Cause::Start => Some(Rule { pace: Some(pace), ..Rule::default() }),
            Cause::Loss { .. } => Some(Rule { pace: Some(None), ..Rule::default() }),
            _ => None,
        }
    });
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: SMSS }));
    cc.on_congestion(&LOSS, Instant::ZERO);
    assert_eq!(cc.pacing(), None);
}

#[test]
fn samples_of_a_long_round_are_thinned_out_and_totals_stay_exact() {
    let mut batch = Batch::default();
    for number in 0..5_000 {
        batch.add(&ack(number, 10), true);
    }
    let window = Window::new(&InitialWindow::plain(10), SMSS);
    let report = batch.report(Cause::Round, Instant::ZERO, 0, &window);
    assert_eq!((report.acked, report.delivered), (50_000, 50_000));
    assert!((500..=1_024).contains(&report.samples.len()));
    let gaps: Vec<u64> = report.samples.windows(2).map(|pair| pair[1].at.since(pair[0].at).as_micros()).collect();
    assert!(gaps.iter().all(|gap| *gap == gaps[0]), "samples are evenly spread");
}
