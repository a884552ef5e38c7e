//! Auto-tuning against a small model: one sender in slow start, a 100 Mbit/s link with a queue, a receiver made of the real
//! parts.

use super::*;
use crate::recv::{AckConfig, AckDecision, AckPolicy, Assembler, ReceiveWindow};
use base::{Rate, SeqRange};
use std::collections::VecDeque;
use test_case::test_matrix;

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
    /// When the ACK left whose timestamp this segment echoes.
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
    /// Most octets in flight, and the buffer's size, when the window first stopped the sender.
    limited: Option<(u64, Bytes)>,
    receiver: Receiver,
}

impl Model {
    fn new(rtt_ms: u64, stamps: Stamps, config: ReceiveWindowConfig, ack: AckConfig) -> Self {
        let shift = ReceiveWindow::shift_for(16 << 20);
        let window = ReceiveWindow::new(SeqNum(0), config.initial(), shift);
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
            edge: u64::from(window.syn_window()),
            limited: None,
            receiver: Receiver {
                assembler: Assembler::new(SeqNum(0)),
                window,
                policy: AckPolicy::new(&ack),
                ack,
                autotune: AutoTune::new(config),
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
        receiver.policy.on_ack_sent();
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
        receiver.autotune.on_data(now, nxt, MSS, receiver.window.offered(nxt), echo);
        match receiver.policy.on_data(&receiver.ack, now, MSS, MSS, insertion.kind, false) {
            AckDecision::Now => self.acknowledge(now),
            AckDecision::After(at) => receiver.timer = Some(at),
            AckDecision::Pending => {}
        }
        let receiver = &mut self.receiver;
        let limit = receiver.window.limit();
        if let Some(limit) = receiver.autotune.on_consumed(now, u64::from(MSS), MSS, limit) {
            receiver.window.set_limit(limit);
        }
    }

    /// Runs until `octets` were acknowledged.
    fn run(&mut self, octets: u64) {
        self.send(Instant::ZERO, Instant::ZERO);
        while self.una < octets {
            let data = self.data.front().map_or(Instant::MAX, |segment| segment.at);
            let ack = self.acks.front().map_or(Instant::MAX, |ack| ack.at);
            let timer = self.receiver.timer.unwrap_or(Instant::MAX);
            assert!(data.min(ack).min(timer) < Instant::MAX, "nothing happens any more");
            if timer <= data && timer <= ack {
                assert!(self.receiver.policy.on_timer());
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
    AckConfig { delay: Duration::from_millis(ms), every_segments: 2, quick_segments: 0 }
}

/// Up to four times the product of bandwidth and delay: what slow start overshoots to with a queue of one such product.
#[test_matrix([5, 25, 50, 100, 200, 300], [Stamps::On, Stamps::Off], [40, 200])]
fn slow_start_is_never_held_up_by_the_window(rtt_ms: u64, stamps: Stamps, delay_ms: u64) {
    let mut model = Model::new(rtt_ms, stamps, ReceiveWindowConfig::default(), delayed(delay_ms));
    model.most_in_flight = 4 * model.bdp();
    model.run(40 * model.bdp());
    assert!(model.cwnd > model.most_in_flight);
    assert_eq!(model.limited, None);
}

/// A flow that fills the path and no more must not drive the buffer to the maximum.
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

#[test]
fn a_reader_that_stops_stops_the_growth() {
    let mut tune = AutoTune::new(ReceiveWindowConfig::default());
    let mut now = Instant::ZERO;
    for segment in 1..=40 {
        now += Duration::from_millis(1);
        tune.on_data(now, SeqNum(0) + segment * MSS, MSS, 65_535, Some(Duration::from_millis(10)));
        assert_eq!(tune.on_consumed(now, 0, MSS, 65_535), None);
    }
}

#[test]
fn octets_within_the_promised_window_do_not_end_the_measurement() {
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let mut tune = AutoTune::new(ReceiveWindowConfig::AutoTuned(DrsConfig { initial: 10_000, max: 10_000 }));
    tune.on_data(at(1), SeqNum(1_000), 1_000, 9_000, None);
    tune.on_data(at(2), SeqNum(10_000), 9_000, 0, None);
    assert_eq!(tune.rtt, UNKNOWN);
    tune.on_data(at(51), SeqNum(10_001), 1, 9_000, None);
    assert_eq!(tune.rtt, Duration::from_millis(50));
    // A slower window says that the peer had less to send, not that the path became longer.
    tune.on_data(at(900), SeqNum(20_000), 9_999, 9_000, None);
    assert_eq!(tune.rtt, Duration::from_millis(50));
}

#[test]
fn the_estimate_is_the_smallest_echo_of_this_period_and_the_last() {
    let mut tune = AutoTune::new(ReceiveWindowConfig::default());
    let mut now = Instant::ZERO;
    let mut echo = |ms: u64, now: &mut Instant| {
        *now += Duration::from_secs(1);
        tune.on_data(*now, SeqNum(0), MSS, 0, Some(Duration::from_millis(ms)));
        tune.on_consumed(*now, 1, MSS, 65_535);
        tune.rtt.as_millis()
    };
    assert_eq!(echo(10, &mut now), 10);
    assert_eq!(echo(90, &mut now), 90);
    assert_eq!(echo(10, &mut now), 10);
}
