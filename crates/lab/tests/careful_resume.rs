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
    /// What an earlier connection left: four times what the path holds now.
    fn memory(&self) -> SavedPath {
        SavedPath { cwnd: (4 * self.holds()) as u32, rtt: self.rtt }
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

/// An incumbent's queue is a sign of congestion, before which the flow does not jump: it is as without a memory. The incumbent's own start
/// is in its losses of both runs.
#[test_case(200)]
#[test_case(100)]
#[test_case(50)]
fn beside_an_incumbent_with_a_standing_queue_a_wrong_memory_costs_nothing(rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let [mut first, mut wrong] = [0, 0];
    for seed in 1..=8 {
        let contact = Contact { rtt, buffer_percent: 100, incumbent: true, seed };
        let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
        (first, wrong) = (first + without.lost, wrong + with.lost);
        assert!(with.took <= without.took + rtt * 2, "seed {seed}: {without:?} {with:?}");
        assert_ne!(with.resumption, Some(Resumption::Confirmed));
    }
    assert!(wrong * 100 <= first * 125, "{wrong} segments lost beside {first}");
}

/// In half of a bandwidth-delay product the queue is empty at some moments, and nothing warns a flow that begins then: the incumbent bears
/// a round trip of twice the path's rate. The other moments are as above.
#[test]
fn where_the_queue_empties_a_wrong_memory_is_found_by_its_losses() {
    let rtt = Duration::from_millis(100);
    let seen = |seed| {
        let contact = Contact { rtt, buffer_percent: 50, incumbent: true, seed };
        (contact.run(None), contact.run(Some(contact.memory())))
    };
    let (without, with) = seen(12);
    assert_eq!(with.resumption, Some(Resumption::Retreated), "{without:?} {with:?}");
    assert!(with.lost <= without.lost + 200 && with.took <= without.took, "{without:?} {with:?}");
    for seed in [3, 6, 9] {
        let (without, with) = seen(seed);
        assert_eq!((with.resumption, with.lost), (Some(Resumption::Declined), without.lost), "seed {seed}");
    }
}

/// A quarter warns even less often. Half of the flows finish sooner than without a memory or as soon, because the incumbent yields.
#[test_case(200)]
#[test_case(100)]
#[test_case(50)]
fn beside_an_incumbent_with_a_short_queue_half_of_the_flows_do_not_finish_later(rtt_ms: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let later = (1..=8)
        .map(|seed| Contact { rtt, buffer_percent: 25, incumbent: true, seed })
        .filter(|contact| contact.run(Some(contact.memory())).took > contact.run(None).took)
        .count();
    assert!(later <= 4, "{later} of 8");
}

/// The path is idle, so nothing warns the flow. The shorter the queue, the earlier the first loss, and the smaller is the window that
/// repairs the others: RFC 9959 leaves half of what has arrived until then.
#[test_case(200, 100, 0)]
#[test_case(50, 100, 0)]
#[test_case(200, 50, 0)]
#[test_case(100, 50, 0)]
#[test_case(50, 50, 0)]
#[test_case(200, 25, 120)]
#[test_case(100, 25, 205)]
#[test_case(50, 25, 200)]
fn alone_a_wrong_memory_is_found_by_its_losses(rtt_ms: u64, buffer_percent: u64, percent_of_rtt: u64) {
    let rtt = Duration::from_millis(rtt_ms);
    let contact = Contact { rtt, buffer_percent, incumbent: false, seed: 1 };
    let (without, with) = (contact.run(None), contact.run(Some(contact.memory())));
    assert!(with.took <= without.took + rtt.scale(percent_of_rtt, 100), "{without:?} {with:?}");
    assert_eq!(with.resumption, Some(Resumption::Retreated));
}
