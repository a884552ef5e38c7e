//! The phases of Careful Resume, with the vectors of its reference: packets of a thousand bytes, an initial window of ten, and a
//! remembered window of 300.

use super::*;
use crate::avoidance::{Cubic, CubicConfig, Reno, RenoConfig};
use crate::control::{CcNote, CongestionControl, Resumption};
use crate::loss_based::LossBased;
use crate::sample::{CongestionEvent, EpisodeKind};

use crate::slow_start::{Classic, ClassicConfig};
use crate::testing::{ack, lost};
use crate::window::InitialWindow;
use base::SeqRange;
use test_case::test_case;

const PACKET: Bytes = 1_000;
const SAVED: SavedPath = SavedPath { cwnd: 300 * PACKET, rtt: Duration::from_millis(100) };

type Connection = LossBased<Resuming<Classic>, Reno>;

fn connection() -> Connection {
    let classic = Classic::new(&ClassicConfig { limit_segments: None });
    let window = Window::new(&InitialWindow::plain(10), PACKET);
    let resuming = Resuming::new(classic, &SAVED, 10 * PACKET, SeqNum(0));
    LossBased::new(window, resuming, Reno::new(&RenoConfig::default()), None)
}

/// An ACK of everything before packet `una`, with `pipe` packets in flight afterwards, when `sent` have been sent.
fn at(ms: u64, una: u32, pipe: u32, sent: u32) -> AckSample {
    let rtt = Some(SAVED.rtt);
    AckSample {
        pipe: pipe * PACKET,
        rtt,
        srtt: rtt,
        min_rtt: rtt,
        snd_una: SeqNum(una * PACKET),
        snd_nxt: SeqNum(sent * PACKET),
        ..ack(ms, PACKET)
    }
}

fn packets(cc: &impl CongestionControl) -> Bytes {
    cc.window().cwnd() / PACKET
}

/// A slow start that ends with the first round trip of twice the shortest one.
#[derive(Clone, Debug)]
struct Detector(Classic);

impl SlowStart for Detector {
    const PHASE: CcPhase = CcPhase::SlowStart;

    fn on_ack(&mut self, ack: &AckSample, window: &Window) -> Step {
        match (ack.rtt, ack.min_rtt) {
            (Some(rtt), Some(least)) if rtt >= least * 2 => {
                Step::Exit { window: window.cwnd(), cause: ExitCause::DelayIncrease }
            }
            _ => self.0.on_ack(ack, window),
        }
    }
}

/// A connection with 29 packets in flight, which jumps.
fn jumped() -> Connection {
    let mut cc = connection();
    for una in 1..10 {
        cc.on_ack(&at(100, una, 2 * una, 10 + 2 * una));
    }
    assert_eq!((packets(&cc), cc.snapshot().phase), (19, CcPhase::SlowStart));
    cc.on_ack(&at(100, 10, 29, 29));
    assert_eq!((packets(&cc), cc.snapshot().phase), (150, CcPhase::Jump));
    cc
}

#[test]
fn half_of_the_remembered_window_leaves_over_a_round_trip() {
    let cc = jumped();
    // A packet each 0.667 ms.
    let rate = Rate::from_delivery(150_000, SAVED.rtt).expect("a rate");
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: PACKET }));
    assert_eq!(rate.time_for(1_000).as_micros(), 666);
}

#[test]
fn the_ack_of_the_first_unvalidated_packet_begins_validation_which_the_last_one_ends() {
    let mut cc = jumped();
    cc.on_ack(&at(150, 20, 80, 100));
    assert_eq!((packets(&cc), cc.snapshot().phase), (150, CcPhase::Jump), "the window rests");
    cc.on_ack(&at(199, 30, 120, 150));
    assert_eq!((packets(&cc), cc.snapshot().phase), (120, CcPhase::SlowStart));
    assert_eq!(cc.pacing(), None);
    cc.on_ack(&at(210, 31, 120, 151));
    assert_eq!(packets(&cc), 121, "it grows as usual");
    assert_eq!(cc.resumption(), Some(Resumption::Jumped));
    cc.on_ack(&at(300, 150, 80, 230));
    assert_eq!(cc.resumption(), Some(Resumption::Confirmed));
    cc.on_congestion(&CongestionEvent::Loss { flight_size: 122 * PACKET }, Instant::ZERO);
    assert_eq!((packets(&cc), cc.governs_recovery()), (61, false), "an ordinary reduction");
}

/// The round trip doubles while 121 packets are not validated.
#[test_case(true; "a loss before the last of them")]
#[test_case(false; "no loss")]
fn a_slow_start_that_ends_meanwhile_rests_until_all_is_validated(loss: bool) {
    let window = Window::new(&InitialWindow::plain(10), PACKET);
    let detector = Detector(Classic::new(&ClassicConfig { limit_segments: None }));
    let resuming = Resuming::new(detector, &SAVED, 10 * PACKET, SeqNum(0));
    let mut cc = LossBased::new(window, resuming, Reno::new(&RenoConfig::default()), None);
    cc.on_ack(&at(100, 10, 29, 29));
    cc.on_ack(&at(199, 30, 120, 150));
    let queued = |una| AckSample { rtt: Some(SAVED.rtt * 2), ..at(300, una, 100, 200) };
    assert_eq!(cc.on_ack(&queued(63)), None);
    cc.on_ack(&queued(64));
    assert_eq!((packets(&cc), cc.resumption()), (120, Some(Resumption::Jumped)));
    if loss {
        cc.on_congestion(&CongestionEvent::Loss { flight_size: 87 * PACKET }, Instant::ZERO);
        assert_eq!((packets(&cc), cc.resumption()), (32, Some(Resumption::Retreated)));
    } else {
        let note = cc.on_ack(&queued(150));
        assert_eq!(note, Some(CcNote::SlowStartExited(ExitCause::DelayIncrease)));
        assert_eq!((packets(&cc), cc.resumption()), (120, Some(Resumption::Confirmed)));
    }
}

#[test]
fn what_the_application_did_not_use_is_not_kept() {
    let mut cc = jumped();
    cc.on_ack(&at(150, 29, 21, 50));
    assert_eq!(packets(&cc), 150);
    cc.on_ack(&at(201, 29, 21, 50));
    assert_eq!((packets(&cc), cc.snapshot().phase), (29, CcPhase::SlowStart), "no more than was in flight before");
    assert_eq!(cc.resumption(), Some(Resumption::Unused));
}

/// Packet 64 is lost after 34 unvalidated ones were acknowledged: 63 are known to fit; the remaining 86 make 149.
#[test_case(false, 74)]
#[test_case(true, 104; "with CUBIC's factor")]
fn a_loss_is_answered_by_a_safe_retreat(cubic: bool, ssthresh: Bytes) {
    let classic = Classic::new(&ClassicConfig { limit_segments: None });
    let window = Window::new(&InitialWindow::plain(10), PACKET);
    let resuming = Resuming::new(classic, &SAVED, 10 * PACKET, SeqNum(0));
    let mut cc: Box<dyn CongestionControl> = if cubic {
        Box::new(LossBased::new(window, resuming, Cubic::new(&CubicConfig::default()), None))
    } else {
        Box::new(LossBased::new(window, resuming, Reno::new(&RenoConfig::default()), None))
    };
    cc.on_ack(&at(100, 10, 29, 29));
    cc.on_ack(&at(199, 30, 120, 150));
    cc.on_ack(&at(220, 63, 87, 150));
    cc.on_congestion(&CongestionEvent::Loss { flight_size: 87 * PACKET }, Instant::ZERO);
    assert!(cc.governs_recovery() && !cc.window().in_slow_start());
    assert_eq!(cc.resumption(), Some(Resumption::Retreated));
    assert_eq!(cc.window().cwnd(), 31_500);
    let recovering = |una, pipe, sent| AckSample { episode: EpisodeKind::Recovery, ..at(230, una, pipe, sent) };
    cc.on_ack(&recovering(63, 30, 150));
    cc.on_ack(&recovering(100, 30, 160));
    assert_eq!((cc.window().cwnd(), cc.governs_recovery()), (31_500, true), "it does not grow");
    cc.on_ack(&recovering(149, 10, 180));
    cc.on_recovery_exit(Instant::ZERO);
    assert_eq!((cc.governs_recovery(), cc.resumption()), (false, Some(Resumption::Retreated)));
    assert_eq!((cc.window().cwnd(), cc.window().ssthresh() / PACKET), (31_500, ssthresh));
    cc.on_ack(&at(240, 150, 10, 180));
    assert_eq!(cc.window().cwnd(), 32_500, "slow start up to the threshold");
}

/// 87 unvalidated packets are out when the first of them is found lost, 40 of them were; so 110 fitted. Ten later ones do not count.
#[test]
fn what_had_to_be_sent_again_is_not_taken_for_what_the_path_carries() {
    let mut cc = jumped();
    cc.on_ack(&at(199, 30, 120, 150));
    cc.on_ack(&at(220, 63, 97, 160));
    let losses = |first: u32, packets: u32| {
        let range = SeqRange::new(SeqNum(first * PACKET), SeqNum((first + packets) * PACKET));
        LossSample { range, ..lost(Instant::ZERO, packets * PACKET) }
    };
    cc.on_lost(&losses(63, 40));
    cc.on_lost(&losses(150, 10));
    cc.on_congestion(&CongestionEvent::Loss { flight_size: 97 * PACKET }, Instant::ZERO);
    cc.on_ack(&AckSample { episode: EpisodeKind::Recovery, ..at(230, 63, 30, 160) });
    cc.on_ack(&AckSample { episode: EpisodeKind::Recovery, ..at(330, 160, 10, 180) });
    cc.on_recovery_exit(Instant::ZERO);
    assert_eq!((packets(&cc), cc.window().ssthresh()), (31, 55_000));
    // Spread as the window is that it grows to.
    let rate = Rate::from_delivery(55_000, SAVED.rtt).expect("a rate");
    assert_eq!(cc.pacing(), Some(Pacing::Rate { rate, quantum: PACKET }));
    cc.on_congestion(&CongestionEvent::Timeout { flight_size: 10 * PACKET, first: true }, Instant::ZERO);
    assert_eq!((packets(&cc), cc.pacing()), (1, None));
}

#[test_case(112, 121; "no queue")]
#[test_case(113, 120; "a queue of an eighth")]
fn while_it_validates_the_window_rests_over_a_queue(rtt_ms: u64, segments: Bytes) {
    let mut cc = jumped();
    cc.on_ack(&at(199, 30, 120, 150));
    cc.on_ack(&AckSample { rtt: Some(Duration::from_millis(rtt_ms)), ..at(210, 31, 120, 151) });
    assert_eq!(packets(&cc), segments);
}

#[test_case(112, 112, true; "less than an eighth longer")]
#[test_case(113, 113, false; "a queue")]
#[test_case(50, 50, false; "half of the remembered round trip is another path")]
#[test_case(51, 51, true)]
#[test_case(100, 1_000, true)]
#[test_case(100, 1_001, false; "a round trip of more than ten times the remembered one, too")]
fn a_round_trip_decides_whether_the_path_is_the_same(least_ms: u64, rtt_ms: u64, jumps: bool) {
    let mut cc = connection();
    let ms = Duration::from_millis;
    cc.on_ack(&AckSample { rtt: Some(ms(rtt_ms)), min_rtt: Some(ms(least_ms)), ..at(100, 10, 9, 29) });
    assert_eq!(cc.snapshot().phase == CcPhase::Jump, jumps);
    assert_eq!(cc.resumption(), Some(if jumps { Resumption::Jumped } else { Resumption::Declined }));
}

#[test]
fn a_jump_waits_for_the_first_flight_and_for_data_and_never_lowers_the_window() {
    let mut cc = connection();
    cc.on_ack(&at(100, 9, 10, 20));
    assert_eq!(cc.snapshot().phase, CcPhase::SlowStart, "a packet of the first flight is out");
    cc.on_ack(&AckSample { cwnd_limited: false, ..at(100, 10, 2, 20) });
    assert_eq!(cc.snapshot().phase, CcPhase::SlowStart, "there is nothing to send");
    cc.on_ack(&at(100, 12, 10, 29));
    assert_eq!(cc.snapshot().phase, CcPhase::Jump);
    let mut grown = connection();
    while packets(&grown) < 150 {
        grown.on_ack(&at(100, 0, 9, 29));
    }
    grown.on_ack(&at(100, 200, 9, 300));
    assert_eq!((packets(&grown), grown.snapshot().phase), (151, CcPhase::SlowStart));
    assert_eq!(grown.resumption(), Some(Resumption::Unused));
}

#[test]
fn a_loss_or_a_timeout_before_the_jump_is_answered_as_usual_and_there_is_no_jump_afterwards() {
    let loss = CongestionEvent::Loss { flight_size: 10 * PACKET };
    let timeout = CongestionEvent::Timeout { flight_size: 10 * PACKET, first: true };
    for (event, cwnd) in [(loss, 5), (timeout, 1)] {
        let mut cc = connection();
        cc.on_congestion(&event, Instant::ZERO);
        assert_eq!((packets(&cc), cc.governs_recovery()), (cwnd, false));
        cc.on_ack(&at(100, 10, 4, 29));
        assert_ne!(cc.snapshot().phase, CcPhase::Jump);
        assert_eq!(cc.resumption(), Some(Resumption::Declined));
        let mut cc = jumped();
        cc.on_congestion(&timeout, Instant::ZERO);
        assert_eq!((packets(&cc), cc.governs_recovery(), cc.resumption()), (1, false, Some(Resumption::Retreated)));
    }
}

#[test]
fn an_undo_brings_the_jump_back() {
    let mut cc = jumped();
    cc.on_congestion(&CongestionEvent::Loss { flight_size: 100 * PACKET }, Instant::ZERO);
    assert_eq!(packets(&cc), 14);
    assert!(cc.undo());
    assert_eq!((packets(&cc), cc.snapshot().phase), (150, CcPhase::Jump));
    assert_eq!(cc.resumption(), Some(Resumption::Jumped), "it was no retreat");
}

/// Ten packets of the first flight, acknowledged in pairs, and the time between these in microseconds. The jump needs a packet each 667.
#[test_case(1_333, 0, true; "as fast as the jump")]
#[test_case(1_583, 0, true; "a millisecond later in all is no sign")]
#[test_case(1_790, 0, false; "slower")]
#[test_case(4_000, 0, false; "much slower")]
#[test_case(4_000, 16_000, true; "the flight itself left as slowly")]
#[test_case(0, 0, true; "all at once")]
fn acks_that_come_slower_than_the_jump_forbid_it(apart_us: u64, departure_us: u64, jumps: bool) {
    let mut cc = connection();
    for departure in [0, departure_us] {
        let now = Instant::ZERO + Duration::from_micros(departure);
        cc.on_sent(&SentSample { now, bytes: PACKET, pipe: PACKET, snd_nxt: SeqNum(10 * PACKET) });
    }
    for pair in 1..=5 {
        let una = 2 * pair;
        let now = Instant::ZERO + SAVED.rtt + Duration::from_micros(u64::from(pair) * apart_us);
        let delivered = 2 * PACKET;
        cc.on_ack(&AckSample { now, delivered, ..at(100, una, 2 * una, 10 + 2 * una) });
    }
    let expected = if jumps { Resumption::Jumped } else { Resumption::Declined };
    assert_eq!(cc.resumption(), Some(expected));
}

/// The last acknowledgement is a delayed one, or the only one.
#[test_case(&[2, 4, 6, 8, 10], 5; "all before it came in time")]
#[test_case(&[10], 1; "nothing to compare")]
fn a_delayed_acknowledgement_does_not_forbid_a_jump(unas: &[u32], delayed: usize) {
    let mut cc = connection();
    let mut before = 0;
    for (nth, &una) in unas.iter().enumerate() {
        let late = if nth + 1 == delayed { 40_000 } else { nth as u64 * 1_000 };
        let delivered = (una - before) * PACKET;
        before = una;
        let now = Instant::ZERO + SAVED.rtt + Duration::from_micros(late);
        cc.on_ack(&AckSample { now, delivered, ..at(100, una, 2 * una, 10 + 2 * una) });
    }
    assert_eq!(cc.resumption(), Some(Resumption::Jumped));
}
