//! Random worlds whose paths are more than pipes: the worlds of the same seeds, which stay as they are, with hops that younger tests need.

use crate::world::{self, Draw};
use base::{Duration, Rate, Ratio, Rng};
use longhaul_sim::Scenario;
use netem::{
    Between, Cell, Codel, Course, DualPi2, FqCodel, Leo, LossSpec, Model, Mtu, PathSpec, Pie, PolicerSpec, QueueSpec,
    ReleaseSpec, Stretch, TooBigReports,
};

/// The world of a seed.
pub fn random(seed: u64) -> Scenario {
    let root = Rng::new(seed);
    let mut scenario = world::random(seed);
    enliven(&mut root.fork("swarm/life/forward"), &mut scenario.forward);
    enliven(&mut root.fork("swarm/life/reverse"), &mut scenario.reverse);
    scenario.stall_after = longhaul_sim::stall_limit(&scenario);
    // A way that becomes longer or shorter makes the round trip that a pacer counts with another one than the bucket's.
    scenario.burst_limit = None;
    scenario
}

fn enliven(rng: &mut Rng, path: &mut PathSpec) {
    if rng.once_in(3) {
        path.policer = Some(PolicerSpec { rate: rate(rng, 500_000, 100_000_000), burst: rng.scale(1_500, 200_000) });
    }
    if rng.once_in(3) {
        path.release = Some(release(rng));
    }
    if rng.once_in(2) {
        path.thin = Some(Duration::from_micros(rng.scale(100, 50_000)));
    }
    if rng.once_in(3) {
        path.mtus = Some(mtus(rng));
    }
    if rng.once_in(4) {
        path.duplicate = rng.weight(500);
    }
    if rng.once_in(4) {
        path.loss = LossSpec::Changing(rng.weight(20), losses(rng));
    }
    if path.rate.is_some() {
        if rng.once_in(2) {
            path.queue = rng.pick(&[
                QueueSpec::Codel(Codel::default()),
                QueueSpec::FqCodel(FqCodel::default()),
                QueueSpec::Pie(Pie::default()),
                QueueSpec::DualPi2(DualPi2::default()),
            ]);
        }
        if rng.once_in(2) {
            path.rates = Some(course(rng));
        }
    }
    if rng.once_in(3) {
        path.delays = Some(course(rng));
    }
}

fn rate(rng: &mut Rng, least: u64, most: u64) -> Rate {
    Rate::from_bits_per_sec(rng.scale(least, most)).expect("not zero")
}

fn release(rng: &mut Rng) -> ReleaseSpec {
    let [one, other] = [(); 2].map(|()| Duration::from_micros(rng.scale(10, 20_000)));
    ReleaseSpec { least: one.min(other), most: one.max(other) }
}

fn mtus(rng: &mut Rng) -> std::sync::Arc<[Mtu]> {
    let mut from = Duration::ZERO;
    let mtus = (0..rng.between(1, 4)).map(|_| {
        from += Duration::from_millis(rng.scale(1, 1_000) - 1);
        Mtu { from, bytes: rng.pick(&[1_280, 1_280, 1_400, 1_499, 1_500]), reports: TooBigReports::Sent }
    });
    mtus.collect()
}

fn losses(rng: &mut Rng) -> std::sync::Arc<[(Duration, Ratio)]> {
    let mut at = Duration::ZERO;
    let changes = (0..rng.between(1, 6)).map(|_| {
        at += Duration::from_millis(rng.scale(1, 2_000));
        (at, rng.weight(100))
    });
    changes.collect()
}

/// A schedule with outages, satellites, or a cell.
fn course(rng: &mut Rng) -> Course {
    let millis = |rng: &mut Rng, most: u64| Duration::from_millis(rng.scale(1, most));
    match rng.below(3) {
        0 => {
            let (mut from, mut stretches) = (Duration::ZERO, Vec::new());
            for _ in 0..rng.between(1, 6) {
                let delay = Some(Duration::from_micros(rng.scale(1, 250_000)));
                let rate = (!rng.once_in(3)).then(|| rate(rng, 300_000, 1_000_000_000));
                stretches.push(Stretch { from, rate, delay });
                from += millis(rng, 1_000);
            }
            stretches.push(Stretch { from, rate: Some(rate(rng, 300_000, 1_000_000_000)), delay: None });
            Course::given(stretches).expect("they begin at zero, in order, and end with a rate")
        }
        1 => {
            let least = millis(rng, 50);
            let slow = rng.scale(300_000, 10_000_000);
            let outage = millis(rng, 200);
            let leo = Leo {
                every: outage + millis(rng, 2_000),
                delay: Between { least, most: least + millis(rng, 50) },
                rate: Between { least: rate(rng, slow, slow), most: rate(rng, slow * 10, slow * 10) },
                outage: Between { least: Duration::ZERO, most: outage },
            };
            Course::Drawn(Model::Leo(leo), rng.next_u64())
        }
        _ => {
            let hold = millis(rng, 500);
            let cell = Cell {
                mean: rate(rng, 1_000_000, 100_000_000),
                hold: Between { least: hold, most: hold * 4 },
                shares: [100, 300, 600, 1_000, 1_500, 2_500],
            };
            Course::Drawn(Model::Cell(cell), rng.next_u64())
        }
    }
}
