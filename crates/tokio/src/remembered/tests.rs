//! The store alone, with connections of a stack that sends nothing.

use super::*;
use base::Rng;
use tcp::config::GuardConfig;
use tcp::{Config, DeviceCaps, Segmentation, StackConfig, StackCx, TxChecksum, ValidConfig};
use test_case::test_case;
use trace::Off;

const SAVED: SavedPath = SavedPath { cwnd: 1_000_000, rtt: Duration::from_millis(100) };
const LESS: SavedPath = SavedPath { cwnd: 400_000, rtt: Duration::from_millis(90) };

fn at(secs: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(secs)
}

struct Host {
    stack: Stack,
    config: ValidConfig,
    remembered: Remembered,
}

impl Host {
    fn new(paths_max: usize) -> Self {
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        let addresses = vec!["10.0.0.1".parse().unwrap()];
        let cfg = StackConfig { addresses, device, isn_secret: [1, 2], guards: GuardConfig::default() };
        let lifetime = Duration::from_secs(300);
        Self {
            stack: Stack::new(cfg, Rng::new(1)),
            config: Config::default().validate().unwrap(),
            remembered: Remembered::new(RememberPaths { lifetime, paths_max }),
        }
    }

    /// Connects to a host; returns the connection, and what came of the memory.
    fn connect(&mut self, host: u8, now: Instant) -> (Conn, FourTuple, Option<Resumption>) {
        let remote = ([10, 0, 1, host], 80).into();
        let conn = self.stack.connect(&mut StackCx::new(now, &mut Off), &self.config, remote).unwrap();
        let tuple = self.stack.endpoint(conn).unwrap().tuple();
        self.remembered.on_begin(&mut self.stack, conn, &tuple, now);
        (conn, tuple, self.stack.info(conn).unwrap().resumption)
    }

    /// A first contact that leaves this.
    fn learn(&mut self, host: u8, now: Instant, saved: SavedPath) {
        let (conn, tuple, resumption) = self.connect(host, now);
        assert_eq!(resumption, None);
        self.remembered.leave(conn, &tuple, now, None, Some(saved));
    }
}

#[test]
fn a_memory_lives_for_its_time() {
    let mut host = Host::new(10);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, resumption) = host.connect(1, at(299));
    assert_eq!(resumption, Some(Resumption::Waiting));
    assert_eq!(host.stack.config(conn).unwrap().cc.resume, Some(SAVED));
    // One that was not worth it leaves the older one, and its time.
    host.remembered.leave(conn, &tuple, at(299), Some(Resumption::Unused), None);
    assert_eq!((host.connect(1, at(300)).2, host.remembered.len()), (None, 0));
}

#[test]
fn a_later_connection_replaces_it() {
    let mut host = Host::new(10);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, _) = host.connect(1, at(200));
    host.remembered.leave(conn, &tuple, at(250), Some(Resumption::Confirmed), Some(LESS));
    let (conn, ..) = host.connect(1, at(549));
    assert_eq!(host.stack.config(conn).unwrap().cc.resume, Some(LESS));
}

#[test]
fn one_connection_at_a_time_uses_it_and_other_paths_are_their_own() {
    let mut host = Host::new(10);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, first) = host.connect(1, at(1));
    let (other, other_tuple, second) = host.connect(1, at(1));
    assert_eq!((first, second, host.connect(2, at(1)).2), (Some(Resumption::Waiting), None, None));
    host.remembered.leave(other, &other_tuple, at(2), None, None);
    assert_eq!(host.connect(1, at(2)).2, None, "the other one has it still");
    host.remembered.leave(conn, &tuple, at(3), Some(Resumption::Confirmed), None);
    assert_eq!(host.connect(1, at(3)).2, Some(Resumption::Waiting));
}

#[test]
fn what_did_not_hold_is_forgotten_and_not_replaced_by_what_was_seen_then() {
    let mut host = Host::new(10);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, _) = host.connect(1, at(1));
    host.remembered.leave(conn, &tuple, at(2), Some(Resumption::Retreated), Some(LESS));
    assert_eq!((host.remembered.len(), host.connect(1, at(3)).2), (0, None));
}

#[test_case(None, None; "and nothing takes its place")]
#[test_case(Some(LESS), Some(Resumption::Waiting); "and what was seen takes its place")]
fn what_did_not_fit_is_forgotten(saved: Option<SavedPath>, then: Option<Resumption>) {
    let mut host = Host::new(10);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, _) = host.connect(1, at(1));
    host.remembered.leave(conn, &tuple, at(2), Some(Resumption::Declined), saved);
    let (conn, _, resumption) = host.connect(1, at(3));
    assert_eq!((resumption, host.stack.config(conn).unwrap().cc.resume), (then, saved));
}

#[test]
fn a_full_store_forgets_what_expires_first_but_nothing_in_use() {
    let mut host = Host::new(2);
    host.learn(1, at(0), SAVED);
    host.learn(2, at(1), SAVED);
    host.learn(3, at(2), SAVED);
    assert_eq!((host.remembered.len(), host.connect(1, at(3)).2), (2, None), "the first made room");
    let used = [host.connect(2, at(3)).2, host.connect(3, at(3)).2];
    assert_eq!(used, [Some(Resumption::Waiting); 2]);
    host.learn(4, at(4), SAVED);
    assert_eq!((host.remembered.len(), host.connect(4, at(5)).2), (2, None), "both are in use");
}

/// Who sent data, or lost its SYN, no longer begins.
#[test]
fn a_connection_that_is_gone_leaves_nothing() {
    let mut host = Host::new(2);
    host.learn(1, at(0), SAVED);
    let (conn, tuple, _) = host.connect(1, at(1));
    host.stack.abort(&mut StackCx::new(at(1), &mut Off), conn);
    host.remembered.on_end(&host.stack, conn, &tuple, at(1));
    assert_eq!(host.connect(1, at(2)).2, Some(Resumption::Waiting), "the memory is free again");
}
