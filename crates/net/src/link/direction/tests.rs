//! The simulator's random conditions, and changes during a run.

use super::super::packet;
use super::*;
use base::{Duration, Rate, Ratio};
use netem::{Buffer, Codel, Course, DeliveryTrace, LossSpec, PolicerSpec, QueueSpec, Stretch};
use sim::{FlowSpec, Scenario, Workload};

/// A packet of 40 bytes that carries its number.
fn parcel(pool: &mut Pool<Datagram>, number: u16) -> Parcel {
    let mut frame = [0; 50];
    frame[10] = 0x45;
    frame[48..].copy_from_slice(&number.to_be_bytes());
    let mut made = None;
    packet::packets(&frame, pool, |_, parcel| made = Some(parcel)).unwrap();
    made.unwrap()
}

fn number(parcel: &Parcel) -> u16 {
    u16::from_be_bytes(parcel.frame()[48..].try_into().unwrap())
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn lossy(delay_ms: u64) -> PathSpec {
    let loss = LossSpec::Bernoulli(Ratio::new(1, 20).unwrap());
    PathSpec { loss, ..PathSpec::ideal(Duration::from_millis(delay_ms)) }
}

/// Returns what leaves until `now`: when, and which packet.
fn arrivals(direction: &mut Direction, pool: &mut Pool<Datagram>, now: Instant) -> Vec<(Instant, u16)> {
    std::iter::from_fn(|| direction.poll(now, pool).map(|(at, parcel)| (at, number(&parcel)))).collect()
}

#[test]
fn a_direction_loses_as_many_packets_as_the_simulator_for_the_same_seed() {
    let config = tcp::Config::default().validate().unwrap();
    let mut lost = Vec::new();
    for seed in 0..8 {
        let mut scenario = Scenario::new(seed, lossy(5), lossy(5));
        scenario.flows.push(FlowSpec::new(config.clone(), config.clone(), Workload::Bytes(300_000)));
        let outcome = sim::run(&scenario, &mut trace::Off).unwrap();
        for (way, simulated) in [(Way::Ab, outcome.forward), (Way::Ba, outcome.reverse)] {
            let (mut direction, mut pool) = (Direction::new(way, &lossy(5), seed), Pool::default());
            for _ in 0..simulated.offered {
                let parcel = parcel(&mut pool, 0);
                direction.offer(Instant::ZERO, parcel, &mut pool);
            }
            let dropped = direction.report(Instant::ZERO).path.dropped;
            assert_eq!(dropped, simulated.dropped, "seed {seed}, {way:?}");
            lost.push(dropped.loss);
        }
    }
    lost.sort_unstable();
    lost.dedup();
    assert!(lost.len() > 3, "every seed loses as many, so nothing was compared: {lost:?}");
}

#[test]
fn what_is_on_its_way_when_the_path_changes_arrives_as_it_would_have() {
    let (mut pool, slow, fast) = (Pool::default(), Duration::from_millis(50), Duration::from_millis(10));
    let mut direction = Direction::new(Way::Ab, &PathSpec::ideal(slow), 7);
    let offer = |direction: &mut Direction, pool: &mut Pool<Datagram>, at, number| {
        let parcel = parcel(pool, number);
        direction.offer(ms(at), parcel, pool);
    };
    offer(&mut direction, &mut pool, 0, 1);
    offer(&mut direction, &mut pool, 20, 2);
    direction.change(Instant::ZERO, &PathSpec::ideal(fast));
    offer(&mut direction, &mut pool, 30, 3);
    offer(&mut direction, &mut pool, 45, 4);
    assert_eq!(direction.next_deadline(), Some(ms(40)));
    assert_eq!(arrivals(&mut direction, &mut pool, ms(60)), [(ms(40), 3), (ms(50), 1), (ms(55), 4)]);
    direction.change(Instant::ZERO, &PathSpec::ideal(slow));
    assert_eq!(arrivals(&mut direction, &mut pool, ms(100)), [(ms(70), 2)]);
    assert_eq!(direction.next_deadline(), None);
    let report = direction.report(ms(100));
    assert_eq!((report.path.offered, report.path.delivered, report.in_flight), (4, 4, 0));
    assert!(direction.older.is_empty(), "paths are kept although they are empty");
}

#[test]
fn a_changed_bottleneck_goes_on_behind_what_waits_at_its_own_pace() {
    let mut pool = Pool::default();
    // A packet of 40 bytes takes 40 ms before the change and 20 ms after it.
    let rate = |bps| PathSpec {
        rate: Rate::from_bits_per_sec(bps),
        buffer: Buffer::Packets(4),
        ..PathSpec::ideal(Duration::ZERO)
    };
    let mut direction = Direction::new(Way::Ba, &rate(8_000), 7);
    let offer = |direction: &mut Direction, pool: &mut Pool<Datagram>, numbers: std::ops::Range<u16>| {
        for number in numbers {
            let parcel = parcel(pool, number);
            direction.offer(ms(0), parcel, pool);
        }
    };
    offer(&mut direction, &mut pool, 0..2);
    direction.change(Instant::ZERO, &rate(16_000));
    offer(&mut direction, &mut pool, 2..5);
    let report = direction.report(ms(0));
    assert_eq!((report.path.offered, report.path.dropped.tail, report.in_flight), (5, 1, 4), "the buffer holds four");
    assert_eq!((report.backlog_bytes, report.path.max_backlog_bytes), (160, 160));
    let expected = [(ms(40), 0), (ms(80), 1), (ms(100), 2), (ms(120), 3)];
    assert_eq!(arrivals(&mut direction, &mut pool, ms(1_000)), expected);
    let report = direction.report(ms(1_000));
    assert_eq!((report.path.delivered, report.in_flight, report.backlog_bytes), (4, 0, 0));
}

/// A machine's clock does not begin with the link.
#[test]
fn a_trace_begins_with_the_link_and_anew_with_a_changed_path() {
    let mut pool = Pool::default();
    let spec = |text| PathSpec {
        rate: Rate::from_bits_per_sec(1),
        trace: Some(DeliveryTrace::parse(text).expect("a valid trace").into()),
        ..PathSpec::ideal(Duration::ZERO)
    };
    let mut direction = Direction::new(Way::Ab, &spec("1\n1000\n"), 7);
    direction.begin(ms(70_000));
    for (at, number) in [(70_000, 0), (70_001, 1)] {
        let parcel = parcel(&mut pool, number);
        direction.offer(ms(at), parcel, &mut pool);
    }
    assert_eq!(arrivals(&mut direction, &mut pool, ms(70_002)), [(ms(70_001), 0), (ms(70_001), 1)]);
    direction.change(ms(70_003), &spec("7\n"));
    let parcel = parcel(&mut pool, 2);
    direction.offer(ms(70_004), parcel, &mut pool);
    assert_eq!(arrivals(&mut direction, &mut pool, ms(80_000)), [(ms(70_010), 2)]);
}

/// A schedule begins with the link and anew with a changed path; what a policer drops is in the report.
#[test]
fn a_schedule_begins_with_the_link_and_anew_with_a_changed_path() {
    let mut pool = Pool::default();
    let stretch = |ms: u64, delay: u64| Stretch {
        from: Duration::from_millis(ms),
        rate: Rate::from_bits_per_sec(1),
        delay: Some(Duration::from_millis(delay)),
    };
    let policer = PolicerSpec { rate: Rate::from_bits_per_sec(8).unwrap(), burst: 80 };
    let spec = PathSpec {
        delays: Course::given(vec![stretch(0, 10), stretch(100, 50)]),
        policer: Some(policer),
        ..PathSpec::ideal(Duration::ZERO)
    };
    let mut direction = Direction::new(Way::Ab, &spec, 7);
    direction.begin(ms(70_000));
    for (at, number) in [(70_000, 0), (70_100, 1), (70_101, 2)] {
        let parcel = parcel(&mut pool, number);
        direction.offer(ms(at), parcel, &mut pool);
    }
    assert_eq!(arrivals(&mut direction, &mut pool, ms(70_200)), [(ms(70_010), 0), (ms(70_150), 1)]);
    direction.change(ms(70_300), &spec);
    let parcel = parcel(&mut pool, 3);
    direction.offer(ms(70_300), parcel, &mut pool);
    assert_eq!(arrivals(&mut direction, &mut pool, ms(80_000)), [(ms(70_310), 3)]);
    assert_eq!(direction.report(ms(80_000)).path.dropped.policed, 1);
}

/// Two kernels' packets through a managed queue: what it drops goes back to the pool, and the report counts it.
#[test]
fn a_managed_queue_manages_packets_of_two_kernels() {
    let mut pool = Pool::default();
    let queue = QueueSpec::Codel(Codel {
        target: Duration::from_millis(1),
        interval: Duration::from_millis(10),
        ..Codel::default()
    });
    // A packet of 40 bytes takes 1 ms; CoDel leaves a queue of up to 1,500 bytes alone.
    let spec = PathSpec { rate: Rate::from_bits_per_sec(320_000), queue, ..PathSpec::ideal(Duration::ZERO) };
    let mut direction = Direction::new(Way::Ab, &spec, 7);
    for number in 0..200 {
        let parcel = parcel(&mut pool, number);
        direction.offer(ms(0), parcel, &mut pool);
    }
    assert_eq!(direction.report(ms(0)).backlog_bytes, 8_000);
    direction.change(ms(0), &spec);
    assert_eq!(direction.report(ms(0)).backlog_bytes, 8_000, "what waits is counted once");
    let arrived = arrivals(&mut direction, &mut pool, ms(1_000)).len() as u64;
    let path = direction.report(ms(1_000)).path;
    assert!(path.dropped.aqm > 10, "{:?}", path.dropped);
    assert_eq!((path.offered, path.dropped.total() + arrived), (200, 200));
}

#[test]
fn paths_of_the_past_are_counted_with_the_rest() {
    let mut pool = Pool::default();
    let (slow, fast) = (lossy(50), PathSpec::ideal(Duration::from_millis(1)));
    let mut direction = Direction::new(Way::Ba, &slow, 7);
    for change in 0..3 {
        for number in 0..100 {
            let parcel = parcel(&mut pool, number);
            direction.offer(ms(change), parcel, &mut pool);
        }
        direction.change(Instant::ZERO, if change == 0 { &slow } else { &fast });
    }
    let report = direction.report(ms(2));
    let lost = report.path.dropped.loss;
    assert!((1..30).contains(&lost));
    assert_eq!((report.path.offered, report.path.offered_bytes, report.in_flight), (300, 12_000, 300 - lost));
    arrivals(&mut direction, &mut pool, ms(1_000));
    let report = direction.report(ms(1_000));
    assert_eq!((report.path.delivered, report.in_flight), (300 - lost, 0));
}
