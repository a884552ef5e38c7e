//! What a wrong memory costs its flow, and those who are on the path already: 25 Mbit/s, where an earlier connection found 100, and a `linux`
//! flow that fills it. Receivers do not limit the jump.

use base::{Duration, Rate};
use cc::SavedPath;
use netem::{Buffer, PathSpec};
use sim::{FlowSpec, Scenario, Until, Workload, run};
use tcp::config::ReceiveWindowConfig;
use tcp::{Config, Resumption, ValidConfig};
use test_case::test_case;

fn linux(resume: Option<SavedPath>) -> ValidConfig {
    let mut config = Config::clone(profiles::get("linux").expect("a profile").config());
    if let ReceiveWindowConfig::Drs(drs) = &mut config.receive.window {
        drs.initial = 6 << 20;
    }
    config.cc.resume = resume;
    config.validate().expect("within bounds")
}

/// A flow that begins on the path, and whether another one is there already.
struct Contact {
    rtt: Duration,
    /// Of what the path holds.
    buffer_percent: u64,
    incumbent: bool,
    /// What an earlier connection has found, of what the path holds.
    remembered_percent: u64,
    seed: u64,
}

/// What came of it.
#[derive(Debug)]
struct Seen {
    /// What the incumbent lost.
    lost: u64,
    took: Duration,
    resumption: Option<Resumption>,
}

impl Contact {
    fn memory(&self) -> SavedPath {
        SavedPath { cwnd: (self.remembered_percent * self.holds() / 100) as u32, rtt: self.rtt }
    }

    fn rate() -> Rate {
        Rate::from_bits_per_sec(25_000_000).expect("a rate")
    }

    fn holds(&self) -> u64 {
        Self::rate().bytes_in(self.rtt)
    }

    /// 4 MB, from another moment of the incumbent's cycle for each seed.
    fn run(&self, resume: Option<SavedPath>) -> Seen {
        let buffer = Buffer::Bytes(self.holds() * self.buffer_percent / 100);
        let forward = PathSpec { rate: Some(Self::rate()), buffer, ..PathSpec::ideal(self.rtt / 2) };
        let mut scenario = Scenario::new(self.seed, forward, PathSpec::ideal(self.rtt / 2));
        let mut flow = FlowSpec::new(linux(resume), linux(None), Workload::Bytes(4_000_000));
        flow.start = Duration::from_secs(10) + Duration::from_millis(self.seed * 1_370);
        let end = flow.start + Duration::from_secs(25);
        scenario.flows.push(flow);
        if self.incumbent {
            scenario.flows.push(FlowSpec::new(linux(None), linux(None), Workload::For(end)));
        }
        scenario.until = Until::At(end);
        let outcome = run(&scenario, &mut trace::Off).unwrap_or_else(|failure| panic!("{failure}"));
        let flow = &outcome.flows[0];
        Seen {
            lost: outcome.flows.get(1).map_or(0, |incumbent| incumbent.dropped),
            took: flow.elapsed().expect("it ends"),
            resumption: flow.sender.info.and_then(|info| info.resumption),
        }
    }
}

/// The acknowledgements of the first flight show that the path does not carry the jump, and so does an incumbent's queue: the flow does
/// as without a memory. The incumbent's own start is in its losses of both runs.
#[test_case(200, 100)]
#[test_case(100, 100)]
#[test_case(50, 100)]
#[test_case(200, 50)]
#[test_case(100, 50)]
#[test_case(50, 50)]
#[test_case(200, 25)]
#[test_case(100, 25)]
#[test_case(50, 25)]
fn beside_an_incumbent_a_wrong_memory_costs_nothing(rtt_ms: u64, buffer_percent: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let [mut first, mut wrong] = [0, 0];
    for seed in 1..=8 {
        let contact = Contact { rtt, buffer_percent, incumbent: true, remembered_percent: 400, seed };
        let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
        (first, wrong) = (first + without.lost, wrong + with.lost);
        assert!(with.took <= without.took + rtt * 2, "seed {seed}: {without:?} {with:?}");
        assert_eq!(with.resumption, Some(Resumption::Declined));
    }
    assert!(wrong * 100 <= first * 125, "{wrong} segments lost beside {first}");
}

/// The same alone, where only the first flight warns.
#[test_case(200, 100)]
#[test_case(100, 50)]
#[test_case(50, 25)]
fn alone_too_it_costs_nothing(rtt_ms: u64, buffer_percent: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let contact = Contact { rtt, buffer_percent, incumbent: false, remembered_percent: 400, seed: 1 };
    let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
    assert_eq!((with.took, with.resumption), (without.took, Some(Resumption::Declined)), "{without:?}");
}

/// Of a memory that is less wrong the first flight does not warn, so losses do. The path is idle. The shorter the queue, the earlier the first
/// loss, and the smaller is the window that repairs the others: RFC 9959 leaves half of what has arrived until then.
#[test_case(200, 0)]
#[test_case(100, 0)]
#[test_case(50, 710)]
fn alone_a_memory_that_is_less_wrong_is_found_by_its_losses(rtt_ms: u64, percent_of_rtt: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let contact = Contact { rtt, buffer_percent: 25, incumbent: false, remembered_percent: 280, seed: 1 };
    let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
    assert!(with.took <= without.took + rtt.scale(percent_of_rtt, 100), "{without:?} {with:?}");
    assert_eq!(with.resumption, Some(Resumption::Retreated));
}

/// Beside an incumbent, too, if the flow begins in a moment in which the path is idle.
#[test_case(200, 1)]
#[test_case(100, 1)]
#[test_case(50, 2)]
fn where_the_queue_empties_a_memory_that_is_less_wrong_is_found_by_its_losses(rtt_ms: u64, seed: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let contact = Contact { rtt, buffer_percent: 25, incumbent: true, remembered_percent: 200, seed };
    let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
    assert_eq!(with.resumption, Some(Resumption::Retreated), "{without:?} {with:?}");
    assert!(with.took <= without.took, "{without:?} {with:?}");
}

/// A right memory is used.
#[test_case(200)]
#[test_case(50)]
fn a_right_memory_saves_round_trips(rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let contact = Contact { rtt, buffer_percent: 100, incumbent: false, remembered_percent: 100, seed: 1 };
    let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
    assert_eq!(with.resumption, Some(Resumption::Confirmed));
    assert!(with.took + rtt.scale(9, 10) <= without.took, "{without:?} {with:?}");
}
