//! The numbers of draft-ietf-ccwg-bbr, a table for each rule, and what holds whatever happens.

use super::filters::{ExtraAcked, MaxBandwidth, MinRtt};
use super::loss::{inflight_at_loss, is_too_high};
use super::output::with_headroom;
use super::*;
use crate::control::Pacing;
use crate::sample::EpisodeKind;
use crate::testing::{self, ack};
use crate::window::InitialWindow;
use base::{RateSample, Rng};
use proptest::prelude::*;
use test_case::test_case;

const SMSS: Bytes = 1_460;
const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS.scale(ms, 1)
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000).expect("not zero")
}

fn with(config: Bbr3Config) -> Bbr3 {
    Bbr3::new(&config, Window::new(&InitialWindow::RFC6928, SMSS), Rng::new(1))
}

fn new() -> Bbr3 {
    with(Bbr3Config::default())
}

/// A path that was measured: the pipe was full once.
fn known(rate: Rate, rtt_ms: u64) -> Bbr3 {
    let mut bbr = new();
    bbr.max_bandwidth.on_sample(rate, false);
    bbr.bound_bandwidth();
    bbr.min_rtt.begin(at(0), Some(Duration::from_millis(rtt_ms)));
    bbr.was_full = true;
    bbr.set_rate();
    bbr
}

fn sample(delivered: u64, interval_ms: u64, prior_delivered: u64, pipe_at_send: Bytes) -> RateSample {
    let interval = Duration::from_millis(interval_ms);
    RateSample { delivered, interval, prior_delivered, pipe_at_send, lost: 0, app_limited: false }
}

fn lost(bytes: Bytes, pipe_at_send: Bytes, lost_since_sent: u64) -> LossSample {
    LossSample { pipe_at_send, lost_since_sent, ..testing::lost(at(0), bytes) }
}

#[test_case(Some(100), 404_420; "over the round trip of the handshake")]
#[test_case(None, 40_442_000; "over a millisecond, where none is known")]
fn the_first_flight_leaves_at_startup_s_gain(srtt_ms: Option<u64>, bytes_per_sec: u64) {
    let mut bbr = new();
    bbr.on_flight_start(&FlightStart { now: at(0), srtt: srtt_ms.map(Duration::from_millis), app_limited: true });
    let Some(Pacing::Rate { rate, .. }) = bbr.pacing() else { panic!("it paces from the beginning") };
    assert_eq!(rate.bits_per_sec(), 8 * bytes_per_sec);
}

#[test_case(1, 2_920; "two segments at least")]
#[test_case(10, 2_920; "ten megabits")]
#[test_case(100, 12_375; "a millisecond of the rate")]
#[test_case(1_000, 65_536; "no more than a device takes")]
#[test_case(10_000, 65_536; "however fast")]
fn a_burst_is_a_millisecond_of_the_paced_rate(rate_mbit: u64, quantum: Bytes) {
    let mut bbr = known(mbit(rate_mbit), 100);
    bbr.state = State::Cruise;
    bbr.set_rate();
    let rate = mbit(rate_mbit).scale(99, 100);
    assert_eq!(bbr.pacing(), Some(Pacing::Rate { rate, quantum }));
}

#[test_case(0, 65_536; "a whole one on a path without delay")]
#[test_case(1, 12_375 + 16_384; "a quarter after a millisecond, which is two halvings")]
#[test_case(100, 12_375; "nothing on a long path")]
fn bursts_grow_as_the_round_trip_shrinks_where_that_is_asked_for(rtt_ms: u64, quantum: Bytes) {
    let mut bbr = known(mbit(100), rtt_ms.max(1));
    if rtt_ms == 0 {
        bbr.min_rtt = MinRtt::new(at(0));
        bbr.min_rtt.begin(at(0), Some(Duration::from_micros(100)));
    }
    // 512 us, and a round trip of a millisecond is a little less than two of them.
    bbr.config.burst_halving = Some(Duration::from_micros(500));
    bbr.state = State::Cruise;
    bbr.set_rate();
    let Some(Pacing::Rate { quantum: found, .. }) = bbr.pacing() else { panic!("it paces") };
    assert_eq!(found, quantum);
}

#[test_case(1_000_000, 850_000)]
#[test_case(20_000, 17_000)]
#[test_case(6_000, 5_840; "four segments are left")]
#[test_case(UNBOUNDED, UNBOUNDED; "of what is unknown nothing is taken")]
fn headroom_is_fifteen_percent_or_a_segment(inflight_long: Bytes, left: Bytes) {
    assert_eq!(with_headroom(inflight_long, SMSS, 4 * SMSS), left);
}

#[test_case(10_000_000, 10_000_000; "what the round delivered")]
#[test_case(5_000_000, 8_750_000; "but no less than seven tenths")]
fn a_round_with_loss_lowers_the_bandwidth_to(latest: u64, left: u64) {
    let mut bbr = known(mbit(100), 100);
    bbr.state = State::Cruise;
    bbr.note_loss(&lost(SMSS, 1_000_000, SMSS.into()));
    // A tenth of a second at this rate ends the round of the loss.
    bbr.delivered = 2_000_000;
    let rate = sample(latest / 10, 100, 0, 1_000_000);
    bbr.note_delivery(Some(&rate));
    bbr.answer_round(Some(&rate));
    assert_eq!(bbr.short.bandwidth().map(Rate::bits_per_sec), Some(8 * left));
    bbr.bound_bandwidth();
    assert_eq!(bbr.bandwidth, bbr.short.bandwidth());
}

#[test_case(State::Startup)]
#[test_case(State::Refill)]
#[test_case(State::Up)]
fn while_the_sender_accelerates_loss_lowers_no_short_term_bound(state: State) {
    let mut bbr = known(mbit(100), 100);
    bbr.state = state;
    bbr.note_loss(&lost(SMSS, 1_000_000, SMSS.into()));
    let rate = sample(100_000, 100, 0, 1_000_000);
    bbr.note_delivery(Some(&rate));
    bbr.answer_round(Some(&rate));
    assert_eq!((bbr.short.bandwidth(), bbr.short.inflight()), (None, UNBOUNDED));
}

#[test]
fn aggregation_is_what_arrives_beyond_what_the_bandwidth_explains() {
    let mut extra = ExtraAcked::new(at(0));
    let mut after = |ms, bytes| {
        extra.on_ack(at(ms), ms, bytes, Some(mbit(100)), UNBOUNDED);
        extra.get(ExtraAckedWindow::TenRounds, false)
    };
    // Each millisecond is a round, so that the maximum of this round is the last value.
    assert_eq!(
        [after(0, 30_000), after(1, 30_000), after(10, 30_000), after(11, 120_000)],
        [30_000, 47_500, 30_000, 137_500]
    );
}

#[test_case(ExtraAckedWindow::TenRounds, true, 19, 9; "the last ten")]
#[test_case(ExtraAckedWindow::TwiceFiveRounds, true, 19, 10; "five and five")]
#[test_case(ExtraAckedWindow::TwiceFiveRounds, true, 20, 15; "five and one")]
#[test_case(ExtraAckedWindow::TenRounds, false, 19, 19; "in Startup the present one")]
fn the_largest_aggregation_is_remembered_over(window: ExtraAckedWindow, was_full: bool, now: u64, oldest: u64) {
    let mut extra = ExtraAcked::new(at(0));
    for round in 0..=now {
        // Less in each round than in the one before it, and silence between them.
        extra.on_ack(at(1_000 * round), round, 1_000 - round as Bytes, Some(mbit(100)), UNBOUNDED);
    }
    assert_eq!(extra.get(window, was_full), 1_000 - oldest.max(now.saturating_sub(9)) as Bytes);
}

#[test]
fn aggregation_counts_no_more_than_the_window_or_a_time_of_the_bandwidth() {
    let mut bbr = known(mbit(8), 100);
    bbr.window.set_cwnd(500_000);
    bbr.note_aggregation(&ack(0, 600_000));
    assert_eq!(bbr.extra_acked.get(ExtraAckedWindow::TenRounds, true), 500_000);
    let mut bbr = known(mbit(8), 100);
    bbr.window.set_cwnd(500_000);
    bbr.config.extra_acked_max = Some(Duration::from_millis(100));
    bbr.note_aggregation(&ack(0, 600_000));
    assert_eq!(bbr.extra_acked.get(ExtraAckedWindow::TenRounds, true), 100_000);
}

#[test_case(200_000, 14_600, 14_600, 189_184; "one burst")]
#[test_case(1_000_000, 30_000, 30_000, 989_796; "a burst that crosses the threshold near its end")]
#[test_case(100 * SMSS, SMSS, 3 * 1_460, 144_510; "the third segment, a little before its beginning")]
fn the_long_term_bound_is_where_two_percent_were_lost(flight: Bytes, size: Bytes, lost: u64, bound: Bytes) {
    assert_eq!(inflight_at_loss(flight, size, lost), bound);
    assert!(is_too_high(lost, flight));
    assert!(!is_too_high(u64::from(flight) / 50, flight), "two percent are not too many");
}

#[test_case(100, 100, 63; "no more than sixty-three rounds, which take longer than the clock")]
#[test_case(100, 20, 63; "and on a shorter path less")]
#[test_case(1, 467, 39; "as many as the path holds segments")]
fn a_reno_flow_beside_this_one_is_waited_for(rate_mbit: u64, rtt_ms: u64, rounds: u32) {
    let mut bbr = known(mbit(rate_mbit), rtt_ms);
    bbr.window.set_cwnd(Window::MAX);
    (bbr.state, bbr.probing) = (State::Cruise, Probing::default());
    let counted = (1..100).find(|_| {
        bbr.probing.count_round(true);
        bbr.is_time_to_probe(at(0))
    });
    assert_eq!(counted, Some(rounds));
}

#[test]
fn the_clock_waits_two_to_three_seconds() {
    let waits: Vec<u64> = (0..100)
        .map(|seed| {
            let mut bbr = known(mbit(100), 100);
            bbr.rng = Rng::new(seed);
            bbr.window.set_cwnd(Window::MAX);
            bbr.enter_down(at(0));
            (0..).find(|&ms| bbr.is_time_to_probe(at(ms))).expect("some time")
        })
        .collect();
    assert!(waits.iter().all(|wait| (2_000..=3_001).contains(wait)), "{waits:?}");
    assert!(waits.iter().max().expect("many") - waits.iter().min().expect("many") > 800, "{waits:?}");
}

#[test]
fn up_adds_one_segment_in_its_first_round_and_twice_as_many_in_each_further_one() {
    let mut bbr = known(mbit(100), 100);
    bbr.window.set_cwnd(100 * SMSS);
    bbr.inflight_long = 100 * SMSS;
    bbr.enter_refill();
    bbr.enter_up(None);
    let gained = [1, 2, 3, 4, 5].map(|_| {
        let before = bbr.inflight_long;
        // Only the long-term bound limits the sender.
        bbr.window.set_cwnd(Window::MAX);
        (0..100).for_each(|_| bbr.raise_inflight(&ack(0, SMSS)));
        bbr.window.set_cwnd(100 * SMSS);
        bbr.steepen();
        (bbr.inflight_long - before) / SMSS
    });
    assert_eq!(gained, [1, 2, 4, 8, 16]);
}

#[test]
fn a_window_of_probe_rtt_is_half_of_what_the_path_holds() {
    assert_eq!(known(mbit(100), 100).probe_rtt_cwnd(), 625_000);
    assert_eq!(known(mbit(1), 10).probe_rtt_cwnd(), 4 * SMSS);
}

#[test]
fn the_largest_bandwidth_is_that_of_two_cycles() {
    let mut filter = MaxBandwidth::default();
    filter.on_sample(mbit(100), false);
    filter.on_sample(mbit(10), false);
    filter.advance();
    filter.on_sample(mbit(20), true);
    assert_eq!(filter.get(), Some(mbit(100)));
    filter.advance();
    assert_eq!(filter.get(), Some(mbit(100)), "what the application limited counts only if it is faster");
    filter.on_sample(mbit(30), false);
    filter.advance();
    assert_eq!(filter.get(), Some(mbit(30)));
    filter.on_sample(mbit(40), true);
    assert_eq!(filter.get(), Some(mbit(40)));
}

#[test]
fn probe_rtt_is_due_before_a_minimum_is_replaced_and_the_model_keeps_it_longer() {
    let [five, ten] = [5, 10].map(Duration::from_secs);
    let mut min = MinRtt::new(at(0));
    min.begin(at(0), Some(MS.scale(100, 1)));
    min.on_ack(at(5_000), Some(MS.scale(120, 1)), five, ten);
    assert_eq!((min.expired(), min.get()), (false, Some(MS.scale(100, 1))));
    min.on_ack(at(5_001), Some(MS.scale(120, 1)), five, ten);
    assert_eq!((min.expired(), min.get()), (true, Some(MS.scale(100, 1))));
    min.on_ack(at(10_000), Some(MS.scale(125, 1)), five, ten);
    assert_eq!(min.get(), Some(MS.scale(100, 1)));
    min.on_ack(at(10_001), Some(MS.scale(125, 1)), five, ten);
    assert_eq!(min.get(), Some(MS.scale(120, 1)));
}

#[test]
fn a_timeout_leaves_what_is_in_flight_and_a_segment_and_its_end_restores_the_window() {
    let mut bbr = known(mbit(100), 100);
    bbr.window.set_cwnd(1_000_000);
    bbr.pipe = 10_000;
    bbr.on_congestion(&CongestionEvent::Timeout { flight_size: 900_000, first: true }, at(0));
    assert_eq!(bbr.window().cwnd(), 10_000 + SMSS);
    bbr.on_congestion(&CongestionEvent::Timeout { flight_size: 900_000, first: false }, at(0));
    bbr.on_recovery_exit(at(0));
    assert_eq!(bbr.window().cwnd(), 1_000_000);
    assert_eq!(bbr.prior_cwnd, 0);
}

#[test]
fn the_loss_of_a_probe_cuts_the_long_term_bound_by_beta_and_an_undo_restores_it() {
    let mut bbr = known(mbit(100), 100);
    bbr.window.set_cwnd(1_250_000);
    bbr.inflight_long = 2_000_000;
    bbr.enter_refill();
    bbr.enter_up(None);
    bbr.on_lost(&lost(30_000, 100_000, 30_000));
    assert_eq!((bbr.state, bbr.inflight_long), (State::Down, 875_000));
    bbr.on_congestion(&CongestionEvent::Loss { flight_size: 1_250_000 }, at(0));
    assert!(bbr.undo());
    assert_eq!((bbr.state, bbr.inflight_long), (State::Refill, 2_000_000));
    assert!(!bbr.undo(), "there is nothing more to undo");
}

#[test]
fn what_the_application_limited_lowers_no_long_term_bound_but_ends_the_probe() {
    let mut bbr = known(mbit(100), 100);
    bbr.inflight_long = 2_000_000;
    bbr.enter_up(None);
    bbr.on_lost(&LossSample { app_limited: true, ..lost(30_000, 100_000, 30_000) });
    assert_eq!((bbr.state, bbr.inflight_long), (State::Down, 2_000_000));
}

#[test_case(MarkMeaning::Loss, true)]
#[test_case(MarkMeaning::Nothing, false)]
fn a_mark_is_a_loss_of_its_round_if_it_means_that(marks: MarkMeaning, lowers: bool) {
    let mut bbr = known(mbit(100), 100);
    (bbr.state, bbr.config.marks) = (State::Cruise, marks);
    bbr.on_congestion(&CongestionEvent::Ecn { flight_size: 1, beta: None, least_segments: 1 }, at(0));
    let rate = sample(100_000, 100, 0, 1_000_000);
    bbr.note_delivery(Some(&rate));
    bbr.answer_round(Some(&rate));
    assert_eq!(bbr.short.bandwidth().is_some(), lowers);
}

/// A round of a megabyte on a path of `rtt_ms`, so many percent of it marked.
fn marked_round(bbr: &mut Bbr3, percent: Bytes) {
    let prior = bbr.delivered;
    bbr.delivered += 1_000_000;
    let rate = sample(1_000_000, 100, prior, 900_000);
    bbr.rounds.on_ack(Some(&rate), bbr.delivered);
    let round = AckSample { marked: 10_000 * percent, rate: Some(rate), ..ack(0, 1_000_000) };
    bbr.answer_marks(&round);
}

#[test]
fn the_share_of_marks_lowers_what_is_in_flight_by_a_third_of_it() {
    let mut bbr = known(mbit(100), 5);
    (bbr.state, bbr.config.marks) = (State::Cruise, MarkMeaning::Share);
    bbr.window.set_cwnd(300_000);
    marked_round(&mut bbr, 100);
    assert_eq!(bbr.short.inflight(), 200_000);
    // The share is smoothed: a round without marks takes a sixteenth off.
    marked_round(&mut bbr, 0);
    marked_round(&mut bbr, 100);
    // 15/16 · 15/16 + 1/16 = 0.9414.
    assert_eq!(bbr.short.inflight(), 137_240);
}

#[test_case(5, 51, 2, State::Startup, true; "two rounds of many marks end Startup")]
#[test_case(5, 51, 1, State::Startup, false; "one does not")]
#[test_case(5, 50, 9, State::Startup, false; "nor do half")]
#[test_case(6, 99, 9, State::Startup, false; "nor any on a longer path")]
#[test_case(5, 51, 1, State::Up, true; "a probe ends by one")]
#[test_case(5, 50, 9, State::Up, false; "but not by less")]
fn where_their_share_counts(rtt_ms: u64, percent: Bytes, rounds: usize, state: State, ends: bool) {
    let mut bbr = known(mbit(100), rtt_ms);
    bbr.config.marks = MarkMeaning::Share;
    if state == State::Up {
        bbr.enter_up(None);
    } else {
        bbr.was_full = false;
    }
    (0..rounds).for_each(|_| marked_round(&mut bbr, percent));
    assert_eq!(bbr.was_full && bbr.state != State::Up, ends);
    assert_eq!(bbr.inflight_long != UNBOUNDED, ends);
}

#[test]
fn a_connection_s_random_numbers_are_its_own_and_the_same_each_time() {
    let wait = |seed| {
        let mut bbr = Bbr3::new(&Bbr3Config::default(), Window::new(&InitialWindow::RFC6928, SMSS), Rng::new(seed));
        bbr.enter_down(at(0));
        format!("{:?}", bbr.probing)
    };
    assert_eq!(wait(7), wait(7));
    assert_ne!(wait(7), wait(8));
}

/// Acknowledges one flight of a path of 100 Mbit/s and 100 ms per call, in one ACK: a round.
struct Flights {
    bbr: Bbr3,
    now: Instant,
    app_limited: bool,
    pipe: Bytes,
}

impl Flights {
    fn new(bbr: Bbr3, app_limited: bool) -> Self {
        Self { bbr, now: at(0), app_limited, pipe: 1_000_000 }
    }

    /// One round, at this share of the path's rate.
    fn round(&mut self, percent: u64) {
        self.now += Duration::from_millis(100);
        let delivered = 12_500 * percent;
        let total_delivered = self.bbr.delivered + delivered;
        let rate =
            RateSample { app_limited: self.app_limited, ..sample(delivered, 100, self.bbr.delivered, self.pipe) };
        let ack = AckSample {
            now: self.now,
            rtt: Some(MS.scale(100, 1)),
            rate: Some(rate),
            total_delivered,
            pipe: self.pipe,
            cwnd_limited: false,
            ..ack(0, delivered as Bytes)
        };
        self.bbr.on_ack(&ack);
    }
}

#[test_case(State::Startup)]
#[test_case(State::Up)]
fn without_loss_nothing_ends_it_while_the_application_limits_the_sender(state: State) {
    let mut bbr = known(mbit(100), 100);
    match state {
        State::Up => bbr.enter_up(None),
        _ => bbr.was_full = false,
    }
    let mut flights = Flights::new(bbr, true);
    (0..40).for_each(|_| flights.round(50));
    assert_eq!(flights.bbr.state, state);
    // The same of the path is a plateau.
    flights.app_limited = false;
    (0..4).for_each(|_| flights.round(50));
    assert_ne!(flights.bbr.state, state);
}

#[test]
fn a_probe_that_the_application_limits_ends_with_too_much_loss() {
    let mut bbr = known(mbit(100), 100);
    bbr.enter_up(None);
    let mut flights = Flights::new(bbr, true);
    (0..10).for_each(|_| flights.round(50));
    flights.bbr.on_lost(&LossSample { app_limited: true, ..lost(30_000, 1_000_000, 30_000) });
    assert_eq!(flights.bbr.state, State::Down);
}

#[test]
fn down_cruises_once_room_is_made_and_refills_in_time_if_it_never_is() {
    let down = |pipe| {
        let mut bbr = known(mbit(100), 100);
        bbr.window.set_cwnd(2_500_000);
        bbr.enter_down(at(0));
        let mut flights = Flights::new(bbr, false);
        flights.pipe = pipe;
        flights
    };
    let mut drains = down(1_250_000);
    drains.round(100);
    assert_eq!(drains.bbr.state, State::Cruise);
    let mut stays = down(1_250_001);
    (0..20).for_each(|_| stays.round(100));
    assert_eq!(stays.bbr.state, State::Down);
    let mut refilled = false;
    (0..12).for_each(|_| {
        stays.round(100);
        refilled |= stays.bbr.state == State::Refill;
        assert_ne!(stays.bbr.state, State::Cruise);
    });
    assert!(refilled);
}

#[test]
fn what_the_application_limits_in_refill_leaves_the_largest_bandwidth() {
    let mut bbr = known(mbit(100), 100);
    bbr.enter_refill();
    let mut flights = Flights::new(bbr, true);
    (0..30).for_each(|_| flights.round(10));
    assert_eq!(flights.bbr.max_bandwidth.get(), Some(mbit(100)));
}

#[test]
fn a_probe_after_one_that_lost_too_much_stops_short_and_repeats_at_once() {
    let mut bbr = known(mbit(100), 100);
    bbr.enter_up(None);
    bbr.on_lost(&lost(30_000, 1_000_000, 30_000));
    assert_eq!(bbr.state, State::Down);
    let bound = bbr.inflight_long;
    bbr.enter_refill();
    let mut flights = Flights::new(bbr, false);
    flights.pipe = bound - 1;
    flights.round(100);
    assert_eq!(flights.bbr.state, State::Up);
    flights.round(110);
    assert_eq!(flights.bbr.state, State::Up, "what is in flight is below the bound");
    flights.pipe = flights.bbr.inflight_long.max(bound) + 1;
    flights.round(120);
    assert_eq!(flights.bbr.state, State::Down);
    // Its last ACKs bring no loss.
    flights.round(120);
    assert_eq!(flights.bbr.state, State::Refill);
}

/// Anything that can happen to a controller.
#[derive(Clone, Debug)]
enum Operation {
    Ack { wait: Duration, delivered: Bytes, rtt: Option<Duration>, rate: Option<RateSample>, episode: EpisodeKind },
    Lost { bytes: Bytes, pipe: Bytes, lost: u64, app_limited: bool, selective: bool },
    Congestion(CongestionEvent),
    Flight { wait: Duration, app_limited: bool },
    Exit,
    Undo,
    Smss(Bytes),
}

fn any_span() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), 1..1_000_000_u64, 1..10_000_000_000_u64, Just(u64::MAX / 4)].prop_map(Duration::from_nanos)
}

fn any_bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![Just(0), 1..100_000_u32, any::<u32>()]
}

prop_compose! {
    fn any_rate()(
        delivered in any::<u32>(), interval in any_span(), prior_delivered in any::<u32>(),
        pipe_at_send in any_bytes(), lost in any_bytes(), app_limited: bool,
    ) -> RateSample {
        let (delivered, prior_delivered, lost) = (delivered.into(), prior_delivered.into(), lost.into());
        RateSample { delivered, interval, prior_delivered, pipe_at_send, lost, app_limited }
    }
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let episode = prop_oneof![Just(EpisodeKind::Open), Just(EpisodeKind::Recovery), Just(EpisodeKind::Loss)];
    let rate = proptest::option::of(any_rate());
    let rtt = proptest::option::of(any_span());
    prop_oneof![
        8 => (any_span(), any_bytes(), rtt, rate, episode)
            .prop_map(|(wait, delivered, rtt, rate, episode)| Operation::Ack { wait, delivered, rtt, rate, episode }),
        3 => (any_bytes(), any_bytes(), any_bytes(), any::<bool>(), any::<bool>()).prop_map(
            |(bytes, pipe, lost, app_limited, selective)| {
                let lost = u64::from(lost.max(bytes));
                Operation::Lost { bytes, pipe, lost, app_limited, selective }
            }
        ),
        2 => (any_bytes(), 0..4).prop_map(|(flight_size, kind)| Operation::Congestion(match kind {
            0 => CongestionEvent::Loss { flight_size },
            1 => CongestionEvent::Ecn { flight_size, beta: None, least_segments: 1 },
            kind => CongestionEvent::Timeout { flight_size, first: kind == 2 },
        })),
        1 => (any_span(), any::<bool>()).prop_map(|(wait, app_limited)| Operation::Flight { wait, app_limited }),
        2 => Just(Operation::Exit),
        1 => Just(Operation::Undo),
        1 => (1..=65_535_u32).prop_map(Operation::Smss),
    ]
}

prop_compose! {
    fn any_config()(
        drain in 5..=100_u64, down in 5..=100_u64, startup_loss_ranges in 1..=u8::MAX, twice: bool,
        extra_acked_max in proptest::option::of((1..1_000_u64).prop_map(Duration::from_millis)),
        interval_ms in 100..20_000_u64, window_ms in 100..20_000_u64,
        burst_halving in proptest::option::of((1..10_000_u64).prop_map(Duration::from_micros)), marks in 0..3,
    ) -> Bbr3Config {
        let percent = |n| base::Ratio::new(n, 100).expect("a share");
        Bbr3Config {
            drain_gain: percent(drain),
            down_gain: percent(down),
            startup_loss: percent(2),
            startup_loss_ranges,
            extra_acked: if twice { ExtraAckedWindow::TwiceFiveRounds } else { ExtraAckedWindow::TenRounds },
            extra_acked_max,
            probe_rtt_interval: Duration::from_millis(interval_ms),
            min_rtt_window: Duration::from_millis(window_ms),
            burst_halving,
            marks: [MarkMeaning::Loss, MarkMeaning::Share, MarkMeaning::Nothing][marks as usize],
        }
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_window_stays_in_its_bounds_and_the_sender_paces(
        config in any_config(),
        smss in prop_oneof![Just(1), Just(1_460), Just(65_535), 1..=65_535_u32],
        operations in proptest::collection::vec(any_operation(), 1..200),
    ) {
        let mut problems = Vec::new();
        config.check(&mut |holds, path, _| if !holds { problems.push(path) });
        prop_assert!(problems.is_empty(), "{:?}", problems);
        let mut bbr = Bbr3::new(&config, Window::new(&InitialWindow::RFC6928, smss), Rng::new(1));
        let (mut now, mut delivered_in_all) = (Instant::ZERO, 0);
        for operation in operations {
            match operation {
                Operation::Ack { wait, delivered, rtt, rate, episode } => {
                    now += wait;
                    delivered_in_all += u64::from(delivered);
                    let total_delivered = delivered_in_all;
                    let marked = delivered / 2 + delivered % 3;
                    let sample = AckSample { now, rtt, rate, episode, marked, total_delivered, ..ack(0, delivered) };
                    bbr.on_ack(&sample);
                    prop_assert!(bbr.window().cwnd() >= bbr.least_cwnd(), "an ACK leaves four segments at least");
                    if bbr.state == State::ProbeRtt {
                        prop_assert!(bbr.window().cwnd() <= bbr.probe_rtt_cwnd());
                    }
                }
                Operation::Lost { bytes, pipe, lost: since, app_limited, selective } => {
                    let sample = LossSample { now, app_limited, selective, ..lost(bytes, pipe, since) };
                    bbr.on_lost(&sample);
                }
                Operation::Congestion(event) => bbr.on_congestion(&event, now),
                Operation::Flight { wait, app_limited } => {
                    now += wait;
                    bbr.on_flight_start(&FlightStart { now, srtt: None, app_limited });
                }
                Operation::Exit => bbr.on_recovery_exit(now),
                Operation::Undo => {
                    let before = bbr.window().cwnd();
                    let (long, saved) = (bbr.inflight_long, bbr.undo.is_some());
                    prop_assert_eq!(bbr.undo(), saved);
                    prop_assert!(bbr.window().cwnd() >= before && bbr.inflight_long >= long);
                }
                Operation::Smss(smss) => bbr.on_smss_change(smss),
            }
            let window = bbr.window();
            prop_assert!((window.smss()..=Window::MAX).contains(&window.cwnd()));
            let Some(Pacing::Rate { quantum, .. }) = bbr.pacing() else { panic!("it always paces") };
            prop_assert!(quantum >= 1);
            prop_assert_eq!(bbr.snapshot().cwnd, bbr.window().cwnd());
        }
    }
}
