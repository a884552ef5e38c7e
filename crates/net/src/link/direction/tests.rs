//! The simulator's weather, and changes on the way.

use super::super::packet;
use super::*;
use base::{Duration, Rate, Ratio};
use netem::{Buffer, LossSpec};
use sim::{FlowSpec, Scenario, Workload};

/// A packet of 40 octets that carries its number.
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

/// What comes out until `now`: when, and which.
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
    direction.change(&PathSpec::ideal(fast));
    offer(&mut direction, &mut pool, 30, 3);
    offer(&mut direction, &mut pool, 45, 4);
    assert_eq!(direction.next_deadline(), Some(ms(40)));
    assert_eq!(arrivals(&mut direction, &mut pool, ms(60)), [(ms(40), 3), (ms(50), 1), (ms(55), 4)]);
    direction.change(&PathSpec::ideal(slow));
    assert_eq!(arrivals(&mut direction, &mut pool, ms(100)), [(ms(70), 2)]);
    assert_eq!(direction.next_deadline(), None);
    let report = direction.report(ms(100));
    assert_eq!((report.path.offered, report.path.delivered, report.in_flight), (4, 4, 0));
    assert!(direction.older.is_empty(), "paths are kept although they are empty");
}

#[test]
fn paths_of_the_past_are_counted_with_the_rest() {
    let mut pool = Pool::default();
    let narrow = PathSpec {
        rate: Rate::from_bits_per_sec(8_000),
        buffer: Buffer::Packets(2),
        ..PathSpec::ideal(Duration::ZERO)
    };
    let mut direction = Direction::new(Way::Ba, &narrow, 7);
    for change in 0..3 {
        for number in 0..5 {
            let parcel = parcel(&mut pool, number);
            direction.offer(ms(change * 10), parcel, &mut pool);
        }
        direction.change(&narrow);
    }
    let report = direction.report(ms(20));
    assert_eq!((report.path.offered, report.path.dropped.tail, report.in_flight), (15, 9, 6));
    assert_eq!((report.path.max_backlog_octets, report.path.offered_octets), (80, 600));
    assert_eq!(report.backlog_octets, 6 * 40, "each packet takes 40 ms");
    arrivals(&mut direction, &mut pool, ms(1_000));
    let report = direction.report(ms(1_000));
    assert_eq!((report.path.delivered, report.in_flight, report.backlog_octets), (6, 0, 0));
}
