//! Swarm: random worlds, each from one seed, checked by all checkers after every step.
//!
//! In each world a random subset of fault kinds is off and the others have extreme weights, because faults hide each other: a
//! path that always does everything never does anything for long. `LONGHAUL_SEED` names the first seed (a number, or any text,
//! such as a commit hash), `LONGHAUL_SWARM` the number of worlds. `LONGHAUL_TRACE`, also a number, prints this many last lines of
//! the trace of a world that fails.

mod bbr;
mod config;
mod life;
mod tandem;
mod undos;
mod world;

use base::{Instant, Rng};
use longhaul_sim::{Outcome, Scenario, run};
use netem::Drops;
use std::collections::VecDeque;
use tcp::CloseReason;
use trace::{ConnId, Event, Observer, Off};

const DEFAULT_FIRST_SEED: u64 = 1;
const DEFAULT_WORLDS: u64 = 1_000;

fn first_seed() -> u64 {
    match std::env::var("LONGHAUL_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| Rng::new(0).fork(&text).next_u64()),
        Err(_) => DEFAULT_FIRST_SEED,
    }
}

fn number(variable: &str, default: u64) -> u64 {
    let text = std::env::var(variable);
    text.ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{variable} must be a number")))
}

/// The last lines of a trace; printed on a panic.
struct Tail {
    lines: VecDeque<String>,
    most: usize,
}

impl Observer for Tail {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        let mut line = String::new();
        trace::write_line(&mut line, at, conn, &event);
        self.lines.push_back(line);
        if self.lines.len() > self.most {
            self.lines.pop_front();
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.lines.iter().for_each(|line| eprint!("{line}"));
        }
    }
}

fn run_watched(scenario: &Scenario, lines: usize) -> Outcome {
    let mut tail = Tail { lines: VecDeque::new(), most: lines };
    let result = if lines > 0 { run(scenario, &mut tail) } else { run(scenario, &mut Off) };
    let outcome = result.unwrap_or_else(|failure| panic!("{failure}"));
    judge(&outcome);
    outcome
}

/// Prints how to reproduce the run if later code panics.
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

/// The permitted outcomes of a flow on a bad path: completion, or an end that gave up and reported it.
fn judge(outcome: &Outcome) {
    for (index, flow) in outcome.flows.iter().enumerate() {
        let ends = [flow.sender.closed, flow.receiver.closed];
        // A server that gives up during the handshake has no application to notify, but resets the client.
        let gave_up = ends.contains(&Some(CloseReason::TimedOut)) || ends == [Some(CloseReason::Reset), None];
        // A server whose last ACK was lost for longer than TIME-WAIT finds its peer gone, but loses no data.
        let late =
            ends == [Some(CloseReason::Normal), Some(CloseReason::Reset)] && flow.bytes_read == flow.bytes_written;
        // A client whose time expired before it got through.
        let unborn = ends == [Some(CloseReason::Normal), None] && flow.bytes_written == 0;
        assert!(flow.is_complete() || gave_up || late || unborn, "flow {index} ended badly: {flow:#?}");
    }
}

#[test]
fn random_worlds_keep_all_promises() {
    swarm(world::random);
}

#[test]
fn random_worlds_whose_paths_are_more_than_pipes_keep_them_too() {
    let dropped = swarm(life::random);
    if number("LONGHAUL_SWARM", DEFAULT_WORLDS) >= DEFAULT_WORLDS {
        let Drops { tail, loss, aqm, policed, thinned, too_big } = dropped;
        assert!([tail, loss, aqm, policed, thinned, too_big].iter().all(|packets| *packets > 100), "{dropped:?}");
    }
}

#[test]
fn random_worlds_with_two_bottlenecks_lose_nothing_unseen() {
    let worlds = number("LONGHAUL_SWARM", DEFAULT_WORLDS) / 2;
    let mut dropped = Drops::default();
    for index in 0..worlds {
        let scenario = tandem::random(first_seed().wrapping_add(index));
        let _replay = Replay(&scenario);
        let outcome = run_watched(&scenario, number("LONGHAUL_TRACE", 0) as usize);
        tandem::conserved(&outcome);
        dropped = dropped.plus(outcome.second.expect("there are two")[0].path.dropped);
    }
    if worlds >= DEFAULT_WORLDS / 2 {
        assert!(dropped.tail > 100 && dropped.loss > 100, "the second bottleneck dropped too little: {dropped:?}");
    }
}

/// Runs the worlds of all seeds, and returns what they dropped.
fn swarm(world: fn(u64) -> Scenario) -> Drops {
    let (mut complete, mut flows, mut dropped) = (0, 0, Drops::default());
    let worlds = number("LONGHAUL_SWARM", DEFAULT_WORLDS);
    for index in 0..worlds {
        let scenario = world(first_seed().wrapping_add(index));
        let _replay = Replay(&scenario);
        let outcome = run_watched(&scenario, number("LONGHAUL_TRACE", 0) as usize);
        complete += outcome.flows.iter().filter(|flow| flow.is_complete()).count();
        flows += outcome.flows.len();
        dropped = dropped.plus(outcome.forward.dropped).plus(outcome.reverse.dropped);
    }
    // A swarm must be hard, not hopeless: nearly every transfer completes, although there are faults.
    if worlds >= DEFAULT_WORLDS {
        assert!(complete * 10 >= flows * 9, "only {complete} of {flows} flows were completed");
        assert!(dropped.total() > 1_000, "only {} packets were dropped", dropped.total());
    }
    dropped
}

/// The same worlds with another controller: they stay what they were, and BBR sees as many kinds of paths.
#[test]
fn the_same_worlds_with_bbr_keep_all_promises() {
    let (mut complete, mut flows) = (0, 0);
    let worlds = number("LONGHAUL_SWARM", DEFAULT_WORLDS) / 2;
    for index in 0..worlds {
        let scenario = bbr::world(first_seed().wrapping_add(index));
        let _replay = Replay(&scenario);
        let outcome = run_watched(&scenario, number("LONGHAUL_TRACE", 0) as usize);
        complete += outcome.flows.iter().filter(|flow| flow.is_complete()).count();
        flows += outcome.flows.len();
    }
    if worlds >= DEFAULT_WORLDS / 2 {
        assert!(complete * 10 >= flows * 9, "only {complete} of {flows} flows were completed");
    }
}
