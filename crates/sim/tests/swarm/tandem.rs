//! Random worlds with a second bottleneck: those of the same seeds, which stay as they are, with another path behind each.

use crate::life;
use crate::world::{self, Draw};
use base::Rng;
use longhaul_sim::{Hops, Outcome, Scenario, SecondHop, Until};
use netem::PathStats;

/// The world of a seed. Nothing in it is lost by place, which needs one path.
pub fn random(seed: u64) -> Scenario {
    let (root, other) = (Rng::new(seed).fork("swarm/tandem"), world::random(seed ^ 0x7a6d));
    let mut rng = root.fork("shape");
    let mut scenario = if rng.once_in(2) { life::random(seed) } else { world::random(seed) };
    scenario.second = Some(SecondHop { forward: other.forward, reverse: other.reverse });
    for flow in &mut scenario.flows {
        flow.hops = rng.pick(&[Hops::Both, Hops::Both, Hops::First, Hops::Second]);
    }
    scenario.until = Until::Quiet;
    scenario.stall_after = longhaul_sim::stall_limit(&scenario);
    scenario.burst_limit = None;
    scenario
}

/// Everything that entered left or was dropped, and what left the first bottleneck came to the second or left the way.
pub fn conserved(outcome: &Outcome) {
    let [there, back] = outcome.second.as_ref().expect("there are two bottlenecks");
    let through = |path: &PathStats| {
        let gone = path.dropped.total() + path.dropped.thinned;
        assert_eq!(path.offered + path.duplicated, path.delivered + gone, "{path:?}");
    };
    [&outcome.forward, &outcome.reverse, &there.path, &back.path].into_iter().for_each(through);
    assert_eq!(outcome.forward.delivered, there.passed + there.between);
    assert_eq!(there.path.offered, there.passed + there.apart);
    assert_eq!(back.path.delivered, back.passed + back.between);
}
