//! Cookies against values computed elsewhere, and the cache of servers.

use super::*;
use base::Duration;
use core::net::{Ipv4Addr, Ipv6Addr};
use test_case::test_case;

fn key(words: [u32; 4]) -> [u8; 16] {
    core::array::from_fn(|at| words[at / 4].to_le_bytes()[at % 4])
}

const REMOTE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1));
const REMOTE_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1));
const LOCAL_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1));

//= specs/rfc7413.md#cookies
//= type=test
//# A cookie depends on both addresses and a secret, so that only its server can make or check it.
#[test_case([0xa1a1_a1a1, 0xb2b2_b2b2, 0xc3c3_c3c3, 0xd4d4_d4d4], REMOTE, LOCAL => "3021b9d889017eeb")]
#[test_case([0; 4], REMOTE, LOCAL => "b7c12350a90dc8f5"; "another key")]
#[test_case([0xa1a1_a1a1, 0xb2b2_b2b2, 0xc3c3_c3c3, 0xd4d4_d4d4], REMOTE_V6, LOCAL_V6 => "c1d1e9742a47a9bc"; "IPv6")]
#[test_case([0; 4], REMOTE_V6, LOCAL_V6 => "82af1a8f9a205c34"; "IPv6, another key")]
fn cookie_of(words: [u32; 4], remote: IpAddr, local: IpAddr) -> String {
    format!("{:?}", cookie_for(key(words), remote, local))
}

#[test_case([10, 248, 0, 2], [192, 168, 0, 2] => "00abaaabe8e954c2")]
#[test_case([10, 248, 0, 3], [192, 168, 0, 2] => "1313a2da994a0951"; "another client")]
#[test_case([10, 248, 0, 3], [192, 168, 0, 3] => "76d2c1c530f51f79"; "another server")]
fn cookie_between(remote: [u8; 4], local: [u8; 4]) -> String {
    let key = key([0xa0bf_63f7, 0xed80_3d81, 0xcd64_1d30, 0xcebc_4a90]);
    format!("{:?}", cookie_for(key, remote.into(), local.into()))
}

fn cookie(byte: u8) -> Option<FastOpen> {
    Some(FastOpen { kind: FastOpenKind::Assigned, cookie: Cookie::new(&[byte; 8]) })
}

const CLIENT: FastOpenConfig =
    FastOpenConfig { client: FastOpenClient::WithCookie, server: FastOpenServer::Off, pending_max: 0, pause: None };

fn planned(stack: &FastOpenStack, server: IpAddr) -> (Option<FastOpen>, u16) {
    stack.plan(&CLIENT, server, 1460, Instant::ZERO)
}

//= specs/rfc7413.md#cookies
//= type=test
//# The client keeps the newest cookie of a server, and the segment size that came with it.
#[test]
fn the_newest_cookie_and_segment_size_of_each_server_are_kept() {
    let mut stack = FastOpenStack::new([1, 2]);
    let request = FastOpen { kind: FastOpenKind::Assigned, cookie: None };
    assert_eq!(planned(&stack, REMOTE), (Some(request), 0));
    stack.learn(REMOTE, 1400, cookie(1), Answers::Request(request));
    assert_eq!(planned(&stack, REMOTE), (cookie(1), 1360));
    stack.learn(REMOTE, 9000, None, Answers::Offer);
    assert_eq!(planned(&stack, REMOTE), (cookie(1), 1420), "our own limit counts, too");
    stack.learn(REMOTE, 536, cookie(2), Answers::Offer);
    assert_eq!(planned(&stack, REMOTE), (cookie(2), 496));
    stack.learn(REMOTE, 20, cookie(3), Answers::Nothing);
    assert_eq!(planned(&stack, REMOTE), (cookie(2), 0), "the third was not requested");
    assert_eq!(planned(&stack, LOCAL), (Some(request), 0), "another server");
}

#[test]
fn a_server_that_does_not_answer_is_asked_by_the_experiment_once() {
    let mut stack = FastOpenStack::new([1, 2]);
    let kinds: Vec<FastOpenKind> = (0..4)
        .map(|_| {
            let request = planned(&stack, REMOTE).0.unwrap();
            stack.learn(REMOTE, 1460, None, Answers::Request(request));
            request.kind
        })
        .collect();
    use FastOpenKind::{Assigned, Experimental};
    assert_eq!(kinds, [Assigned, Experimental, Assigned, Assigned]);
}

#[test]
fn the_server_not_heard_of_for_longest_is_forgotten_first() {
    let mut stack = FastOpenStack::new([1, 2]);
    let server = |n: usize| IpAddr::from((n as u32).to_be_bytes());
    for n in 0..SERVERS_MAX {
        stack.learn(server(n), 1460, cookie(1), Answers::Offer);
    }
    stack.learn(server(0), 1460, None, Answers::Offer);
    stack.learn(server(SERVERS_MAX), 1460, cookie(1), Answers::Offer);
    assert_eq!(stack.servers.len(), SERVERS_MAX);
    assert_eq!(planned(&stack, server(0)).0, cookie(1));
    assert_eq!(planned(&stack, server(1)).1, 0);
}

//= specs/rfc7413.md#client
//= type=test
//# Fast Open is not tried for a while on a path on which it failed.
#[test]
fn pauses_double_up_to_sixty_four_times() {
    let config = FastOpenConfig { pause: Some(Duration::from_secs(1)), ..CLIENT };
    let mut stack = FastOpenStack::new([1, 2]);
    stack.learn(REMOTE, 1460, cookie(1), Answers::Offer);
    let pauses: Vec<u64> = (0..9)
        .map(|_| {
            stack.on_silence(&config, Instant::ZERO);
            assert_eq!(planned(&stack, REMOTE), (None, 0));
            stack.paused_until.since(Instant::ZERO).as_millis() / 1000
        })
        .collect();
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    assert_eq!(stack.plan(&config, REMOTE, 1460, stack.paused_until).0, cookie(1));
}

#[test]
fn the_key_is_not_that_of_the_sequence_numbers() {
    let secret = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
    let current = FastOpenStack::new(secret).keys.current;
    assert_ne!(current[..8], secret[0].to_le_bytes());
    assert_ne!(current, FastOpenStack::new([secret[0], secret[1] + 1]).keys.current);
}
