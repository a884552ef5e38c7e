//! Prints digests of the canonical traces of swarm worlds, a thousand a line, on both kinds of device:
//! `swarm/FIRST SEED/DEVICE=NUMBER`. `cargo xtask traces` keeps them in `docs/traces.txt`.

#[path = "../tests/swarm/config.rs"]
mod config;
#[path = "../tests/swarm/world.rs"]
mod world;

use longhaul_sim::{Device, Outcome, run};
use trace::Digest;

const WORLDS: u64 = 10_000;
const A_LINE: u64 = 1_000;
const DEVICES: [(&str, Device); 2] = [("plain", Device::PLAIN), ("super", Device::SUPER_SEGMENTS)];

fn main() {
    for first in (1..=WORLDS).step_by(A_LINE as usize) {
        for (name, device) in DEVICES {
            println!("swarm/{first}/{name}={:016x}", number(first, device));
        }
    }
}

fn number(first: u64, device: Device) -> u64 {
    let mut digest = Digest::default();
    for seed in first..first + A_LINE {
        let mut scenario = world::random(seed);
        (scenario.client_device, scenario.server_device) = (device, device);
        // A frame of several segments leaves at once, but the bucket counts segments.
        scenario.burst_limit = None;
        match run(&scenario, &mut digest) {
            Ok(outcome) => totals(&outcome, &mut digest),
            Err(failure) => digest.word(failure.at.as_nanos()),
        }
    }
    digest.finish()
}

fn totals(outcome: &Outcome, digest: &mut Digest) {
    for flow in &outcome.flows {
        digest.word(flow.bytes_written);
        digest.word(flow.bytes_read);
    }
}
