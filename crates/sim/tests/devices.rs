//! Devices that accept and deliver super-segments: one frame from a stack travels as packets, and packets that arrive together
//! are delivered as one frame.

use base::{Bytes, Duration, Instant, Rate, Ratio, Rng};
use longhaul_sim::{
    AppPace, AuditSchedule, Carriage, Device, FlowSpec, IpVersion, Merging, Outcome, Scenario, Workload, run,
};
use netem::{Buffer, Jitter, JitterKind, LossSpec, PathSpec, ReorderSpec};
use tcp::Config;
use tcp::config::{ChunksConfig, SegmenterConfig}; // variant: chunks
use test_case::test_case;
use trace::{ConnId, Event, Observer, Off, PacketPayload, PacketSent};

const DELAY: Duration = Duration::from_millis(10);
/// Largest packet of a simulated device, bytes.
const MTU: usize = 1_500;

fn scenario(seed: u64, path: PathSpec, bytes: u64) -> Scenario {
    let mut scenario = Scenario::new(seed, path, PathSpec::ideal(DELAY));
    let config = Config::default().validate().expect("the default is valid");
    scenario.flows.push(FlowSpec::new(config.clone(), config, Workload::Bytes(bytes)));
    scenario.audit = AuditSchedule::EveryStep;
    scenario
}

fn on(device: Device, scenario: Scenario) -> Scenario {
    Scenario { client_device: device, server_device: device, ..scenario }
}

/// The largest sizes, in bytes: payload of a segment sent by a stack and delivered to one, and a packet on a path.
#[derive(Debug, Default, PartialEq, Eq)]
struct Largest {
    sent: Bytes,
    received: Bytes,
    packet: usize,
}

impl Observer for Largest {
    const PACKETS: bool = true;
    fn record(&mut self, _at: Instant, _conn: ConnId, event: Event) {
        match event {
            Event::SegmentSent { len, .. } => self.sent = self.sent.max(len),
            Event::SegmentReceived { len, .. } => self.received = self.received.max(len),
            _ => {}
        }
    }
    fn packet(&mut self, _at: Instant, packet: &PacketSent<'_>) {
        let payload = match packet.payload {
            PacketPayload::Bytes(bytes) => bytes.len(),
            PacketPayload::Stream { len, .. } => len as usize,
        };
        self.packet = self.packet.max(packet.header.len() + payload);
    }
}

fn watch(scenario: &Scenario) -> (Largest, Outcome) {
    let mut largest = Largest::default();
    let outcome = run(scenario, &mut largest).unwrap_or_else(|failure| panic!("{failure}\n{scenario:?}"));
    assert!(outcome.flows.iter().all(longhaul_sim::FlowOutcome::is_complete));
    (largest, outcome)
}

#[test_case(IpVersion::V4, Carriage::Described)]
#[test_case(IpVersion::V4, Carriage::Bytes)]
#[test_case(IpVersion::V6, Carriage::Bytes)]
fn super_segments_exist_between_stack_and_device_alone(ip: IpVersion, carriage: Carriage) {
    let mut scenario = Scenario { ip, ..scenario(1, PathSpec::ideal(DELAY), 1_000_000) };
    scenario.flows[0].carriage = carriage;
    let (plain, _) = watch(&on(Device::PLAIN, scenario.clone()));
    assert!(plain.sent < MTU as Bytes && plain.received < MTU as Bytes, "{plain:?}");
    let (large, _) = watch(&on(Device::SUPER_SEGMENTS, scenario));
    assert_eq!((plain.packet, large.packet), (MTU, MTU));
    assert!(large.sent > 10_000 && large.received > 10_000, "{large:?}");
}

#[test]
fn each_direction_of_a_device_stands_by_itself() {
    let of = |client_device, server_device| {
        watch(&Scenario { client_device, server_device, ..scenario(1, PathSpec::ideal(DELAY), 1_000_000) }).0
    };
    let only_cuts = of(Device { merging: Merging::Off, ..Device::SUPER_SEGMENTS }, Device::PLAIN);
    assert!(only_cuts.sent > 10_000 && only_cuts.received < MTU as Bytes, "{only_cuts:?}");
    let only_merges = of(Device::PLAIN, Device { merging: Merging::Within(Duration::ZERO), ..Device::PLAIN });
    assert!(only_merges.sent < MTU as Bytes && only_merges.received > 10_000, "{only_merges:?}");
}

/// Positions in the stream have 64 bits, and sequence numbers 32: half of them lie behind the first one after two gigabytes.
#[test]
fn a_transfer_goes_on_beyond_half_of_all_sequence_numbers() {
    goes_beyond_half_of_all_sequence_numbers(Config::default());
}

// variant: chunks {
#[test]
fn a_transfer_in_chunks_goes_on_beyond_half_of_all_sequence_numbers() {
    let mut config = Config::default();
    config.send.segmenter = SegmenterConfig::Chunks(ChunksConfig::default());
    goes_beyond_half_of_all_sequence_numbers(config);
}
// variant: chunks }

fn goes_beyond_half_of_all_sequence_numbers(config: Config) {
    let mut scenario = scenario(1, PathSpec::ideal(Duration::from_micros(100)), (1 << 31) + 10_000_000);
    scenario.audit = AuditSchedule::EpisodeEdges;
    scenario.flows[0].client = config.validate().expect("both configurations are valid");
    let device = Device { merging: Merging::Off, ..Device::SUPER_SEGMENTS };
    let outcome = run(&on(device, scenario), &mut Off).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(outcome.flows[0].is_complete());
}

/// SYN, SYN-ACK and the byte wait once each.
#[test]
fn a_packet_waits_for_others_as_long_as_the_device_says() {
    let hold = Duration::from_micros(700);
    let device = Device { merging: Merging::Within(hold), ..Device::PLAIN };
    let (_, outcome) = watch(&on(device, scenario(1, PathSpec::ideal(DELAY), 1)));
    assert_eq!(outcome.flows[0].elapsed(), Some((DELAY + hold) * 3));
}

/// At 100 Mbit/s a full packet takes 120 µs, and the last one a fifth of that: nothing waits so long, so nothing is merged; within
/// 400 µs some are.
#[test]
fn behind_a_bottleneck_packets_are_merged_that_arrive_within_the_wait() {
    let rate = Rate::from_bits_per_sec(100_000_000);
    let path = PathSpec { rate, buffer: Buffer::Unlimited, ..PathSpec::ideal(DELAY) };
    let received = |hold: u64| {
        let device = Device { merging: Merging::Within(Duration::from_micros(hold)), ..Device::SUPER_SEGMENTS };
        watch(&on(device, scenario(1, path.clone(), 300_000))).0.received
    };
    assert!(received(10) < MTU as Bytes);
    let merged = received(400);
    assert!((2 * 1_400..=4 * 1_460).contains(&merged), "{merged}");
}

/// A path with every effect that a path can have on packets.
fn rough(seed: u64) -> PathSpec {
    let mut rng = Rng::new(seed).fork("rough");
    let of_hundred = |rng: &mut Rng, most: u64| Ratio::new(rng.below(most), 100).expect("not more than one");
    PathSpec {
        rate: Rate::from_bits_per_sec(1_000_000 << rng.below(10)),
        buffer: Buffer::Packets(10 + rng.below(100) as u32),
        jitter: Some(Jitter { max: Duration::from_micros(rng.below(3_000)), kind: JitterKind::KeepOrder }),
        loss: LossSpec::Bernoulli(of_hundred(&mut rng, 10)),
        reorder: ReorderSpec::Late { probability: of_hundred(&mut rng, 10), extra: Duration::from_millis(4) },
        duplicate: of_hundred(&mut rng, 10),
        ..PathSpec::ideal(Duration::from_micros(rng.below(30_000)))
    }
}

/// All checkers run, after every step.
#[test]
fn what_is_written_is_read_over_rough_paths() {
    for seed in 0..60 {
        let mut scenario = on(Device::SUPER_SEGMENTS, scenario(seed, rough(seed), 150_000));
        scenario.reverse = PathSpec { rate: None, ..rough(seed + 1_000) };
        let flow = &mut scenario.flows[0];
        if seed % 2 == 1 {
            flow.carriage = Carriage::Bytes;
        }
        if seed % 3 == 1 {
            flow.writer = AppPace::Chunks { bytes: 10_000, every: Duration::from_millis(20) };
        }
        if seed % 5 == 1 {
            flow.reader = AppPace::Chunks { bytes: 9_000, every: Duration::from_millis(30) };
        }
        let (_, outcome) = watch(&scenario);
        assert_eq!(outcome.flows[0].bytes_read, 150_000, "seed {seed}");
    }
}
