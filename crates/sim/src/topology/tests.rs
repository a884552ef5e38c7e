//! Seeds forked by label: which worlds share random conditions, and which do not.

use super::*;
use crate::packet::PacketPool;
use crate::scenario::{FlowSpec, Workload};
use base::{Duration, Instant, Ratio};
use netem::{Jitter, JitterKind, LossSpec, PathSpec, Place, ReorderSpec, StreamLoss};
use tcp::config::{NagleConfig, TimestampConfig};
use tcp::{ChecksumState, Config, Payload, TxFrame};
use test_case::test_case;

fn rough(delay: Duration) -> PathSpec {
    let percent = |num| Ratio::new(num, 100).unwrap();
    PathSpec {
        jitter: Some(Jitter { max: Duration::from_millis(3), kind: JitterKind::Reorder }),
        loss: LossSpec::Bernoulli(percent(10)),
        reorder: ReorderSpec::Late { probability: percent(5), extra: Duration::from_millis(7) },
        duplicate: percent(5),
        ..PathSpec::ideal(delay)
    }
}

fn scenario(seed: u64) -> Scenario {
    Scenario::new(seed, rough(Duration::from_millis(20)), rough(Duration::from_millis(20)))
}

/// Returns the fate of 2000 packets, one per millisecond: arrival times in order.
fn weather(link: &mut Link) -> Vec<Instant> {
    let mut pool = PacketPool::default();
    let (mut arrivals, mut lost) = (Vec::new(), 0);
    for ms in 0..2_100 {
        let now = Instant::ZERO + Duration::from_millis(ms);
        while let Some((at, _)) = link.path.poll(now, &mut |_, _, _| lost += 1) {
            arrivals.push(at);
        }
        if ms < 2_000 {
            let (header, payload, checksum) = (&[0x45; 40][..], Payload::Bytes(&[]), ChecksumState::Unneeded);
            let packet = pool.packet(&TxFrame { header, payload, gso_size: None, checksum });
            link.path.offer(now, packet, &mut |_, _, _| lost += 1);
        }
    }
    assert!(lost > 100, "the path is meant to be rough, but lost only {lost} of 2000");
    arrivals
}

#[test]
fn flows_and_configurations_leave_the_weather_alone() {
    let mut plain = scenario(7);
    let ours = Config::default().validate().unwrap();
    plain.flows.push(FlowSpec::new(ours.clone(), ours.clone(), Workload::Bytes(1)));

    let mut crowded = plain.clone();
    let mut other = Config::default();
    other.send.nagle = NagleConfig::Off;
    other.options.timestamps = TimestampConfig::Off;
    let other = other.validate().unwrap();
    crowded.flows[0].client = other.clone();
    crowded.flows.extend(vec![FlowSpec::new(other, ours, Workload::For(Duration::from_secs(1))); 5]);

    let (mut plain, mut crowded) = (Topology::new(&plain), Topology::new(&crowded));
    for (one, other) in plain.links.iter_mut().zip(&mut crowded.links) {
        assert_eq!(weather(one), weather(other));
    }
}

#[test]
fn what_happens_in_one_direction_leaves_the_other_alone() {
    let (mut untouched, mut used) = (Topology::new(&scenario(7)), Topology::new(&scenario(7)));
    weather(&mut used.links[0]);
    assert_eq!(weather(&mut untouched.links[1]), weather(&mut used.links[1]));
}

#[test]
fn directions_and_seeds_have_weather_of_their_own() {
    let mut topology = Topology::new(&scenario(7));
    let [forward, reverse] = [0, 1].map(|link: usize| weather(&mut topology.links[link]));
    assert_ne!(forward, reverse);
    assert_ne!(forward, weather(&mut Topology::new(&scenario(8)).links[0]));
}

fn dropping(flows: usize, carriage: Carriage) -> Topology {
    let drops = vec![StreamLoss { place: Place::Within(0..1), times: 1 }];
    let mut scenario = Scenario { forward: PathSpec { drops, ..rough(Duration::ZERO) }, ..scenario(7) };
    let config = Config::default().validate().unwrap();
    let flow = FlowSpec::new(config.clone(), config, Workload::Bytes(1));
    scenario.flows = vec![FlowSpec { carriage, ..flow }; flows];
    Topology::new(&scenario)
}

#[test]
fn the_bytes_of_one_flow_can_be_lost_by_their_position() {
    assert_eq!(dropping(1, Carriage::Described).flows.len(), 1);
}

#[test_case(2, Carriage::Described; "whose position")]
#[test_case(1, Carriage::Bytes; "an unknown position")]
#[should_panic(expected = "losses by position need a single flow")]
fn a_position_that_says_too_little_is_refused(flows: usize, carriage: Carriage) {
    dropping(flows, carriage);
}
