//! Several stacks that share the flows of one host.

use crate::cx::StackCx;
use crate::endpoint::FourTuple;
use crate::stack::{ConnectError, LocalEnd, Shards};
use crate::testing::{PEER, US, plain_device, quick, stack, valid};
use base::Instant;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use core::num::NonZeroU32;
use trace::Off;

fn shards(count: u32) -> Shards {
    Shards::new([1, 2], NonZeroU32::new(count).expect("some"))
}

fn flow(local: (IpAddr, u16), remote: (IpAddr, u16)) -> FourTuple {
    FourTuple { remote_port: remote.1, local_port: local.1, remote: remote.0, local: local.0 }
}

#[test]
fn both_directions_have_the_same_shard_and_flows_are_spread_evenly() {
    let v6 = |last| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last));
    for count in [1, 2, 3, 7] {
        let shards = shards(count);
        let mut flows = vec![0; shards.count()];
        for port in 0..7_000 {
            for (one, other) in [((US, 80), (PEER, port)), ((v6(1), port), (v6(2), 443)), ((US, port), (US, 80))] {
                let shard = shards.of(&flow(one, other));
                assert_eq!(shard, shards.of(&flow(other, one)));
                flows[shard] += 1;
            }
        }
        let fair = 21_000 / count;
        assert!(flows.iter().all(|had| (fair * 9 / 10..=fair * 11 / 10).contains(had)), "{flows:?}");
    }
}

#[test]
fn who_lacks_the_key_does_not_know_the_shard() {
    let other = Shards::new([1, 3], NonZeroU32::new(2).expect("some"));
    let differ = |port| shards(2).of(&flow((US, 80), (PEER, port))) != other.of(&flow((US, 80), (PEER, port)));
    let count = (0..1_000).filter(|port| differ(*port)).count();
    assert!((400..600).contains(&count), "{count} of 1000");
}

#[test]
fn a_stack_opens_flows_of_its_own_shard_and_those_that_the_application_names() {
    let (shards, cfg, remote) = (shards(3), valid(quick()), SocketAddr::new(PEER, 80));
    for own in 0..3 {
        let mut stack = stack(plain_device());
        stack.set_shard(shards, own);
        let mut off = Off;
        let mut cx = StackCx::new(Instant::from_nanos(1), &mut off);
        for _ in 0..50 {
            let conn = stack.connect(&mut cx, &cfg, remote).expect("connects");
            assert_eq!(shards.of(&stack.endpoint(conn).expect("exists").tuple()), own);
        }
        for port in 1_000..1_010 {
            let from = LocalEnd { address: None, ports: port..=port };
            stack.connect_from(&mut cx, &cfg, &from, remote).expect("connects");
        }
        let few = LocalEnd { address: None, ports: 2_000..=2_001 };
        let opened = (0..3).map_while(|_| stack.connect_from(&mut cx, &cfg, &few, remote).ok()).count();
        let mine = (2_000..=2_001).filter(|port| shards.of(&flow((US, *port), (PEER, 80))) == own).count();
        assert_eq!(opened, mine);
        assert_eq!(stack.connect_from(&mut cx, &cfg, &few, remote), Err(ConnectError::PortsExhausted));
    }
}
