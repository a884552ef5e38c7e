//! Any bytes, from anyone, at any rate: no panic, and every bound holds.

use crate::support::{at, config, echo_request, fragments, ip_packet, mend, other, own, udp};
use base::{Duration, Instant, Rng};
use etherparse::IpNumber;
use longhaul_datagram::{
    DatagramConfig, Datagrams, Destinations, Fate, QueueConfig, ReassemblyConfig, ReplyConfig, Strangers,
};
use proptest::prelude::*;

fn small() -> DatagramConfig {
    DatagramConfig {
        destinations: Destinations::Any,
        strangers: Strangers::Offer,
        flows_max: 5,
        queue: QueueConfig { datagrams: 3, bytes: 2_000 },
        memory_max: 8_000,
        reassembly: ReassemblyConfig {
            bytes_max: 4_000,
            packets_max: 4,
            fragments_max: 6,
            patience: Duration::from_secs(3),
        },
        replies: ReplyConfig { waiting_max: 4, bytes_max: 3_000, ..ReplyConfig::default() },
        ..config()
    }
}

fn bounds_hold(it: &Datagrams, cfg: &DatagramConfig) -> Result<(), TestCaseError> {
    let usage = it.usage();
    prop_assert!(usage.received <= cfg.memory_max / 2, "{usage:?}");
    prop_assert!(usage.unsent <= cfg.memory_max / 2, "{usage:?}");
    prop_assert!(usage.replies <= cfg.replies.bytes_max, "{usage:?}");
    prop_assert!(usage.fragments <= cfg.reassembly.bytes_max, "{usage:?}");
    prop_assert!(usage.incomplete <= cfg.reassembly.packets_max, "{usage:?}");
    prop_assert!(usage.flows <= cfg.flows_max, "{usage:?}");
    prop_assert!(usage.events <= 5 * (cfg.flows_max + 1), "{usage:?}");
    Ok(())
}

/// A packet that is almost right.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let base = (any::<bool>(), 0u8..8, 0u8..6, 0usize..400, 0u8..4).prop_map(|(six, peer, kind, len, to)| {
        let (src, data) = (other(six, peer), vec![peer; len]);
        let dst = if to == 0 { own(six) } else { other(six, 100 + to) };
        match kind {
            0 | 1 => udp(at(src, 9), at(dst, 50 + u16::from(to)), &data),
            2 => echo_request(src, dst, &data),
            3 => ip_packet(src, dst, IpNumber::TCP, &data),
            4 => {
                let mut error = Vec::new();
                let about = udp(at(dst, 53), at(src, 9), &data);
                let port = wire::IcmpKind::Unreachable(wire::Unreachable::Port);
                wire::icmp::emit(port, other(six, 99), &about, &mut error);
                error
            }
            _ => ip_packet(src, dst, IpNumber::IPV6_DESTINATION_OPTIONS, &data),
        }
    });
    let cut = prop::option::of((1usize..40, any::<prop::sample::Index>(), 0u32..3));
    let changes = prop::collection::vec((0usize..120, any::<u8>()), 0..3);
    (base, cut, changes, any::<bool>()).prop_map(|(mut packet, cut, changes, mends)| {
        if let Some((cut, which, id)) = cut {
            packet = which.get(&fragments(&packet, &[cut * 8, cut * 16], id)).clone();
        }
        for (at, byte) in changes {
            let at = at % packet.len();
            packet[at] = byte;
        }
        if mends && packet[0] == 0x45 && packet.len() >= 20 {
            mend(&mut packet);
        }
        packet
    })
}

proptest! {
    #[test]
    fn any_packets_leave_the_bounds_standing(
        packets in prop::collection::vec((packet(), 0u64..900), 0..80),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..10),
        polls: u64,
    ) {
        let cfg = small();
        let mut it = Datagrams::new(cfg.clone(), Rng::new(1));
        let socket = it.bind(at(own(false), 50)).unwrap();
        let mut polls = Rng::new(polls);
        let mut now = Instant::ZERO;
        let mut known = vec![socket];
        let all = packets.into_iter().chain(noise.into_iter().map(|bytes| (bytes, 1)));
        for (packet, wait) in all {
            now += Duration::from_millis(wait);
            let before = it.counters().dropped_total();
            let fate = it.handle_packet(now, &packet);
            prop_assert_eq!(it.counters().dropped_total() - before, u64::from(matches!(fate, Fate::Dropped(_))));
            if matches!(fate, Fate::Whole | Fate::WholeOther) {
                prop_assert!(it.take_whole().is_some());
            }
            bounds_hold(&it, &cfg)?;
            match polls.below(12) {
                0 => known.extend(it.poll_flow().map(|flow| flow.id)),
                1 => drop(it.poll_event()),
                2 => drop(it.pop_transmit()),
                3 => it.handle_timers(now),
                4 => {
                    let id = known[polls.below(known.len() as u64) as usize];
                    it.recv(id, &mut [0; 50]);
                }
                5 => {
                    let id = known[polls.below(known.len() as u64) as usize];
                    let _ = it.send(now, id, None, at(other(false, 3), 9), &packet);
                }
                _ => {}
            }
            bounds_hold(&it, &cfg)?;
        }
        now += Duration::from_secs(1_000);
        it.handle_timers(now);
        prop_assert_eq!((it.flows(), it.next_deadline(), it.usage().fragments), (0, None, 0));
        known.into_iter().for_each(|id| it.close(id));
        while it.pop_transmit().is_some() {}
        while it.poll_event().is_some() {}
        prop_assert_eq!(it.usage(), longhaul_datagram::MemoryUsage::default());
    }
}
