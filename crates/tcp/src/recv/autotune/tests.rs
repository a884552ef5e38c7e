//! Auto-tuning against a small model: one sender in slow start, a 100 Mbit/s link with a queue, and a receiver made of the real
//! parts.

use super::*;
use crate::recv::{AckConfig, AckDecision, AckPolicy, Arriving, Assembler, ReceiveWindow};
use base::{Rate, SeqRange};
use proptest::prelude::*;
use std::collections::VecDeque;
use test_case::{test_case, test_matrix};

const MSS: u32 = 1448;
const FRAME: u64 = 1538;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamps {
    On,
    Off,
}

struct DataSegment {
    at: Instant,
    start: u64,
    /// Departure time of the ACK whose timestamp this segment echoes.
    echo_of: Instant,
}

struct Ack {
    at: Instant,
    left: Instant,
    next: u64,
    edge: u64,
}

struct Receiver {
    assembler: Assembler,
    window: ReceiveWindow,
    ack: AckConfig,
    policy: AckPolicy,
    autotune: AutoTune,
    config: ReceiveWindowConfig,
    received: u64,
    timer: Option<Instant>,
}

struct Model {
    one_way: Duration,
    stamps: Stamps,
    most_in_flight: u64,
    link_free: Instant,
    data: VecDeque<DataSegment>,
    acks: VecDeque<Ack>,
    cwnd: u64,
    una: u64,
    nxt: u64,
    edge: u64,
    /// Peak bytes in flight and buffer size when the window first limited the sender.
    limited: Option<(u64, Bytes)>,
    /// Time of the latest event.
    now: Instant,
    receiver: Receiver,
}

impl Model {
    fn new(rtt_ms: u64, stamps: Stamps, config: ReceiveWindowConfig, ack: AckConfig) -> Self {
        let shift = config.shift().unwrap_or(0);
        let window = ReceiveWindow::new(SeqNum(0), config.initial(), shift);
        let mut autotune = AutoTune::new(&config);
        autotune.on_handshake(&config, Instant::ZERO, Duration::from_millis(rtt_ms));
        Self {
            one_way: Duration::from_millis(rtt_ms) / 2,
            stamps,
            most_in_flight: u64::MAX,
            link_free: Instant::ZERO,
            data: VecDeque::new(),
            acks: VecDeque::new(),
            cwnd: 10 * u64::from(MSS),
            una: 0,
            nxt: 0,
            edge: u64::from(window.syn_window(SeqNum(0))),
            limited: None,
            now: Instant::ZERO,
            receiver: Receiver {
                assembler: Assembler::new(SeqNum(0)),
                window,
                policy: AckPolicy::new(&ack),
                ack,
                autotune,
                config,
                received: 0,
                timer: None,
            },
        }
    }

    fn bdp(&self) -> u64 {
        Rate::from_bits_per_sec(100_000_000).unwrap().bytes_in(self.one_way * 2)
    }

    fn send(&mut self, now: Instant, echo_of: Instant) {
        let per_frame = Rate::from_bits_per_sec(100_000_000).unwrap().time_for(FRAME);
        while self.nxt + u64::from(MSS) <= self.una + self.cwnd.min(self.most_in_flight) {
            if self.nxt + u64::from(MSS) > self.edge {
                self.limited.get_or_insert((self.nxt - self.una, self.receiver.window.limit()));
                return;
            }
            self.link_free = self.link_free.max(now) + per_frame;
            self.data.push_back(DataSegment { at: self.link_free + self.one_way, start: self.nxt, echo_of });
            self.nxt += u64::from(MSS);
        }
    }

    fn acknowledge(&mut self, now: Instant) {
        let receiver = &mut self.receiver;
        let nxt = receiver.assembler.rcv_nxt();
        receiver.window.advertise(nxt, 0, MSS);
        receiver.policy.on_ack_sent(&receiver.ack);
        receiver.timer = None;
        let edge = receiver.received + u64::from(receiver.window.offered(nxt));
        self.acks.push_back(Ack { at: now + self.one_way, left: now, next: receiver.received, edge });
    }

    /// The acknowledgement leaves before the application reads, as in a turn.
    fn on_data(&mut self, segment: &DataSegment) {
        let (now, receiver) = (segment.at, &mut self.receiver);
        let start = SeqNum(segment.start as u32);
        let insertion = receiver.assembler.insert(SeqRange::new(start, start + MSS));
        receiver.received += u64::from(insertion.advanced);
        let nxt = receiver.assembler.rcv_nxt();
        let whole_ms = Duration::from_millis(now.since(segment.echo_of).as_millis().max(1));
        let echo = (self.stamps == Stamps::On).then_some(whole_ms);
        let offered = receiver.window.offered(nxt);
        let lent = Lent { config: &receiver.config, limit: receiver.window.limit(), rmss: MSS };
        if let Some(limit) = receiver.autotune.on_data(&lent, now, nxt, MSS, offered, echo) {
            receiver.window.set_limit(limit);
        }
        let (kind, rto) = (insertion.kind, Duration::from_secs(1));
        let arriving = Arriving { now, len: MSS, kind, holes: false, rmss: MSS, rto };
        match receiver.policy.on_data(&receiver.ack, &arriving, None) {
            AckDecision::Now => self.acknowledge(now),
            AckDecision::After(at) => receiver.timer = Some(at),
            AckDecision::Pending => {}
        }
        let receiver = &mut self.receiver;
        let lent = Lent { config: &receiver.config, limit: receiver.window.limit(), rmss: MSS };
        if let Some(limit) = receiver.autotune.on_consumed(&lent, now, u64::from(MSS)) {
            receiver.window.set_limit(limit);
        }
    }

    /// Runs until `bytes` were acknowledged.
    fn run(&mut self, bytes: u64) {
        if self.nxt == 0 {
            self.send(Instant::ZERO, Instant::ZERO);
        }
        while self.una < bytes {
            let data = self.data.front().map_or(Instant::MAX, |segment| segment.at);
            let ack = self.acks.front().map_or(Instant::MAX, |ack| ack.at);
            let timer = self.receiver.timer.unwrap_or(Instant::MAX);
            self.now = data.min(ack).min(timer);
            assert!(self.now < Instant::MAX, "nothing happens any more");
            if timer <= data && timer <= ack {
                assert!(self.receiver.policy.on_timer(&self.receiver.ack, Duration::from_secs(1)));
                self.acknowledge(timer);
            } else if data <= ack {
                let segment = self.data.pop_front().unwrap();
                self.on_data(&segment);
            } else {
                let ack = self.acks.pop_front().unwrap();
                self.cwnd += ack.next - self.una;
                self.una = ack.next;
                self.edge = self.edge.max(ack.edge);
                self.send(ack.at, ack.left);
            }
        }
    }
}

fn delayed(ms: u64) -> AckConfig {
    AckConfig { delay: Duration::from_millis(ms), quick_segments: 0, ..AckConfig::default() }
}

/// Up to four times the product of bandwidth and delay: the overshoot of slow start with a queue of one such product.
#[test_matrix([5, 25, 50, 100, 200, 300], [Stamps::On, Stamps::Off], [40, 200])]
fn slow_start_is_never_held_up_by_the_window(rtt_ms: u64, stamps: Stamps, delay_ms: u64) {
    let mut model = Model::new(rtt_ms, stamps, ReceiveWindowConfig::default(), delayed(delay_ms));
    model.most_in_flight = 4 * model.bdp();
    model.run(40 * model.bdp());
    assert!(model.cwnd > model.most_in_flight);
    assert_eq!(model.limited, None);
}

/// A flow that just fills the path must not grow the buffer to the maximum.
#[test_matrix([25, 50], [Stamps::On, Stamps::Off])]
fn the_buffer_stays_in_proportion_to_the_path(rtt_ms: u64, stamps: Stamps) {
    let mut model = Model::new(rtt_ms, stamps, ReceiveWindowConfig::default(), delayed(40));
    model.most_in_flight = model.bdp();
    model.run(100 * model.bdp());
    let times = u64::from(model.receiver.window.limit()) / model.bdp();
    assert!((4..=16).contains(&times), "{times} times the product of bandwidth and delay");
}

#[test]
fn a_fixed_buffer_stays_fixed_and_limits_the_sender() {
    let mut model = Model::new(100, Stamps::Off, ReceiveWindowConfig::Fixed { bytes: 131_400 }, delayed(40));
    model.run(10 << 20);
    assert_eq!(model.receiver.window.limit(), 131_400);
    assert_eq!(model.limited.map(|(_, limit)| limit), Some(131_400));
}

const fn stepped(num: u64, den: u64, factor_percent: u32) -> ReceiveWindowConfig {
    let share = base::Ratio::new(num, den).expect("a share");
    let level = WindowLevel::Normal;
    ReceiveWindowConfig::Stepped(SteppedConfig { initial: 64_240, level, share, factor_percent })
}
const CAUTIOUS: ReceiveWindowConfig = stepped(3, 4, 150);
const DOUBLING: ReceiveWindowConfig = stepped(1, 2, 200);
const DEPLOYED: ReceiveWindowConfig = ReceiveWindowConfig::Drs(DrsConfig::DEPLOYED);

/// The window that a kind reaches, in hundredths of the product of bandwidth and delay, when slow start meets a queue of one such
/// product: more would overflow it. (Headers take six of each hundred bytes.)
#[test_case(CAUTIOUS, 100, 150; "cautious steps")]
#[test_case(DOUBLING, 180, 200; "doubling steps")]
fn steps_stop_in_proportion_to_the_path(config: ReceiveWindowConfig, least: u64, most: u64) {
    let mut model = Model::new(25, Stamps::Off, config, delayed(40));
    model.run(100 * model.bdp());
    let hundredths = u64::from(model.receiver.window.limit()) * 100 / model.bdp();
    assert!((least..=most).contains(&hundredths), "{hundredths}");
}

/// At 100 Mbit/s and 25 ms the cautious receiver does not offer the whole path before slow start alone would overflow a queue of
/// one such product.
#[test]
fn cautious_steps_are_no_faster_than_slow_start() {
    let when = |config, done: fn(&Model) -> bool| {
        let mut model = Model::new(25, Stamps::Off, config, delayed(40));
        (0..).find(|nth| {
            model.run(nth * u64::from(MSS));
            done(&model)
        });
        model.now
    };
    let free = ReceiveWindowConfig::Fixed { bytes: 16 << 20 };
    let overflow = when(free, |model| model.cwnd >= 2 * model.bdp());
    let offered = when(CAUTIOUS, |model| u64::from(model.receiver.window.limit()) >= model.bdp());
    assert!(offered >= overflow, "offered at {offered:?}, overflow at {overflow:?}");
}

/// The published form does not limit slow start either once its window has opened; it needs timestamps to see that soon.
#[test_matrix([25, 100], [Stamps::On, Stamps::Off])]
fn right_sizing_fills_the_path(rtt_ms: u64, stamps: Stamps) {
    let mut model = Model::new(rtt_ms, stamps, DEPLOYED, delayed(40));
    model.most_in_flight = 2 * model.bdp();
    model.run(100 * model.bdp());
    let times = u64::from(model.receiver.window.limit()) / model.bdp();
    assert!((2..=8).contains(&times), "{times} times the product of bandwidth and delay");
}

/// A reader that takes five segments in a round trip of 10 ms, from a peer that keeps its window full, for five seconds.
fn window_of_a_slow_reader(config: ReceiveWindowConfig, stamps: Stamps) -> Bytes {
    let (mut tune, mut limit, mut rcv_nxt) = (AutoTune::new(&config), config.initial(), SeqNum(0));
    let rtt = Duration::from_millis(10);
    tune.on_handshake(&config, Instant::ZERO, rtt);
    for ms in 1..=5_000 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let lent = Lent { config: &config, limit, rmss: MSS };
        rcv_nxt += MSS / 2;
        let opened = tune.on_data(&lent, now, rcv_nxt, MSS / 2, limit, (stamps == Stamps::On).then_some(rtt));
        limit = opened.unwrap_or(limit);
        let lent = Lent { limit, ..lent };
        limit = tune.on_consumed(&lent, now, u64::from(MSS / 2)).unwrap_or(limit);
    }
    limit
}

#[test_case(ReceiveWindowConfig::default(), Stamps::On; "eager")]
#[test_case(DEPLOYED, Stamps::On; "deployed")]
#[test_case(CAUTIOUS, Stamps::On; "steps and timestamps")]
#[test_case(CAUTIOUS, Stamps::Off; "cautious steps")]
#[test_case(DOUBLING, Stamps::Off; "doubling steps")]
fn a_reader_that_reads_slowly_does_not_grow_it(config: ReceiveWindowConfig, stamps: Stamps) {
    let size = window_of_a_slow_reader(config, stamps);
    assert!(size <= 65_535, "{size}");
}

/// Without timestamps, round trips can be distinguished from a slow reader's windows only within bounds.
#[test_case(ReceiveWindowConfig::default(); "eager")]
#[test_case(DEPLOYED; "deployed")]
fn without_timestamps_a_slow_reader_grows_it_a_little(config: ReceiveWindowConfig) {
    let size = window_of_a_slow_reader(config, Stamps::Off);
    assert!(size <= 1 << 20, "{size}");
}

#[test_case(ReceiveWindowConfig::default(); "eager")]
#[test_case(DEPLOYED; "deployed")]
#[test_case(DOUBLING; "steps")]
fn a_reader_that_stops_stops_the_growth(config: ReceiveWindowConfig) {
    let mut tune = AutoTune::new(&config);
    tune.on_handshake(&config, Instant::ZERO, Duration::from_millis(10));
    let lent = Lent { config: &config, limit: 65_535, rmss: MSS };
    let mut now = Instant::ZERO;
    for segment in 1..=40 {
        now += Duration::from_millis(1);
        let echo = Some(Duration::from_millis(10));
        assert_eq!(tune.on_data(&lent, now, SeqNum(0) + segment * MSS, MSS, 65_535, echo), None);
        assert_eq!(tune.on_consumed(&lent, now, 0), None);
    }
}

proptest! {
    /// For any arrivals, reads and echoes: sizes only grow, and never exceed the largest.
    #[test]
    fn no_kind_shrinks_the_window_or_exceeds_its_maximum(
        kind in 0usize..4,
        level in 0usize..5,
        rmss in 1u32..9_000,
        steps in proptest::collection::vec((0u64..1 << 40, 0u32..1 << 31, 0u64..1 << 33, 0u64..100), 1..80),
    ) {
        use WindowLevel::{Disabled, Experimental, HighlyRestricted, Normal, Restricted};
        let ReceiveWindowConfig::Stepped(law) = DOUBLING else { unreachable!() };
        let level = [Disabled, HighlyRestricted, Restricted, Normal, Experimental][level];
        let steep = ReceiveWindowConfig::Stepped(SteppedConfig { level, factor_percent: u32::MAX, ..law });
        let widest = DrsConfig { initial: 1, max: 1 << 30 };
        let eager = ReceiveWindowConfig::AutoTuned(widest);
        let config = [ReceiveWindowConfig::Fixed { bytes: 4_000 }, eager, ReceiveWindowConfig::Drs(widest), steep][kind];
        let (mut tune, mut limit, mut now) = (AutoTune::new(&config), config.initial(), Instant::ZERO);
        tune.on_handshake(&config, now, Duration::from_millis(1));
        for (pause, len, taken, echo_ms) in steps {
            now += Duration::from_nanos(pause);
            let lent = Lent { config: &config, limit, rmss };
            let echo = (echo_ms > 0).then(|| Duration::from_millis(echo_ms));
            let opened = tune.on_data(&lent, now, SeqNum(len), len, limit, echo);
            let lent = Lent { limit: opened.unwrap_or(limit), ..lent };
            let size = tune.on_consumed(&lent, now, taken).unwrap_or(lent.limit);
            prop_assert!(limit <= lent.limit && lent.limit <= size && size <= config.largest(), "{limit} {lent:?} {size}");
            limit = size;
        }
    }
}
