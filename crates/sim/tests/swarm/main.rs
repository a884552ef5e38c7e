//! Swarm: random worlds, each from one seed, watched by all checkers after every step.
//!
//! In each world a random subset of fault kinds is off and the others have wild weights, because faults hide each other:
//! a path that always does everything never does anything for long. `LONGHAUL_SEED` names the first seed (a number, or
//! any text, such as a commit hash), `LONGHAUL_SWARM` how many follow it.

mod config;
mod world;

use base::Rng;
use sim::{Outcome, Scenario, run};
use tcp::CloseReason;
use trace::Off;

const DEFAULT_FIRST_SEED: u64 = 1;
const DEFAULT_WORLDS: u64 = 150;

fn first_seed() -> u64 {
    match std::env::var("LONGHAUL_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| Rng::new(0).fork(&text).next_u64()),
        Err(_) => DEFAULT_FIRST_SEED,
    }
}

fn worlds() -> u64 {
    let text = std::env::var("LONGHAUL_SWARM");
    text.ok().map_or(DEFAULT_WORLDS, |text| text.parse().expect("LONGHAUL_SWARM must be a number of worlds"))
}

/// Says how to come back, should anything below panic.
struct Replay<'a>(&'a Scenario);

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.0.seed;
            eprintln!("{:?}", self.0);
            eprintln!("seed {seed}; LONGHAUL_SEED={seed} LONGHAUL_SWARM=1 cargo test -p longhaul-sim --test swarm");
        }
    }
}

/// What may come of a flow on a bad path: everything, or an end that gave up and said so.
fn judge(outcome: &Outcome) {
    for (index, flow) in outcome.flows.iter().enumerate() {
        let ends = [flow.sender.closed, flow.receiver.closed];
        let gave_up = ends.contains(&Some(CloseReason::TimedOut));
        // A server whose last ACK was lost for longer than TIME-WAIT finds nobody there, with nothing left to lose.
        let late =
            ends == [Some(CloseReason::Normal), Some(CloseReason::Reset)] && flow.bytes_read == flow.bytes_written;
        assert!(flow.is_complete() || gave_up || late, "flow {index} ended badly: {flow:#?}");
    }
}

#[test]
fn random_worlds_keep_all_promises() {
    let (mut complete, mut flows, mut dropped) = (0, 0, 0);
    for seed in (0..worlds()).map(|index| first_seed().wrapping_add(index)) {
        let scenario = world::random(seed);
        let replay = Replay(&scenario);
        match run(&scenario, &mut Off) {
            Ok(outcome) => {
                judge(&outcome);
                complete += outcome.flows.iter().filter(|flow| flow.is_complete()).count();
                flows += outcome.flows.len();
                dropped += outcome.forward.dropped.total() + outcome.reverse.dropped.total();
            }
            Err(failure) => panic!("{failure}"),
        }
        drop(replay);
    }
    // The swarm is to be hard, not hopeless: nearly every transfer gets through, and not for want of faults.
    assert!(complete * 10 >= flows * 9, "only {complete} of {flows} flows were completed");
    assert!(dropped > 0, "no world lost a packet");
}
