//! The cells of the behaviour stamp: small worlds, one per mechanism, with some hundred packets each, so that all of them take
//! seconds with every profile.
//!
//! Frozen like the digest: adding or changing a cell for a mechanism changes every stamp. Paths come from the same settings as
//! those of experiments, so the stamp also covers how the lab interprets a setting.

use crate::plan::RunSpec;
use crate::run::scenario;
use crate::spec::{Ends, Key, Point};
use base::{Duration, Ratio};
use netem::LossSpec;
use sim::{AppPace, Carriage, IpVersion, Scenario};
use tcp::ValidConfig;

/// A cell: its purpose, its path and flow as in an experiment, and what experiments cannot express.
struct Cell {
    /// Which mechanism it shows.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "it says why the cell is there, and names it where a test fails")
    )]
    about: &'static str,
    settings: &'static [(&'static str, &'static str)],
    adjust: fn(&mut Scenario),
}

/// The seed of all streams of all cells.
const SEED: u64 = 20_261_122;

const CELLS: &[Cell] = &[
    Cell {
        about: "slow start that overshoots, and the repair of many losses",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("flow.bytes", "500kB")],
        adjust: |_| (),
    },
    Cell {
        about: "avoidance over tens of round trips",
        settings: &[("path.rate", "5Mbit"), ("path.rtt", "60ms"), ("path.buffer", "20pkt"), ("flow.bytes", "1500kB")],
        adjust: |_| (),
    },
    Cell {
        about: "windows that open on a long fat path",
        settings: &[("path.rate", "1Gbit"), ("path.rtt", "100ms"), ("flow.bytes", "2MB")],
        adjust: |_| (),
    },
    Cell {
        about: "single losses",
        settings: &[("path.rate", "10Mbit"), ("path.rtt", "30ms"), ("path.loss", "2%"), ("flow.bytes", "300kB")],
        adjust: |_| (),
    },
    Cell {
        about: "losses of retransmissions",
        settings: &[("path.rate", "10Mbit"), ("path.rtt", "30ms"), ("path.loss", "15%"), ("flow.bytes", "80kB")],
        adjust: |_| (),
    },
    Cell {
        about: "late segments",
        settings: &[
            ("path.rate", "20Mbit"),
            ("path.rtt", "50ms"),
            ("path.reorder.probability", "2%"),
            ("path.reorder.delay", "8ms"),
            ("flow.bytes", "400kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "segments on a short cut",
        settings: &[
            ("path.rate", "20Mbit"),
            ("path.rtt", "50ms"),
            ("path.reorder.probability", "2%"),
            ("path.reorder.delay", "5ms"),
            ("path.reorder.mode", "early"),
            ("flow.bytes", "400kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "much lateness on a path that is shorter than it",
        settings: &[
            ("path.rate", "30Mbit"),
            ("path.rtt", "1ms"),
            ("path.buffer", "200pkt"),
            ("path.reorder.probability", "16%"),
            ("path.reorder.delay", "2ms"),
            ("flow.bytes", "300kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "segments that take turns in queues",
        settings: &[
            ("path.rate", "100Mbit"),
            ("path.rtt", "10ms"),
            ("path.reorder.queues", "4x8/2ms"),
            ("flow.bytes", "500kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "delay that varies, by more than a short path takes",
        settings: &[("path.rate", "50Mbit"), ("path.rtt", "25ms"), ("path.jitter", "40ms"), ("flow.bytes", "600kB")],
        adjust: |_| (),
    },
    Cell {
        about: "delay that varies on a long path, and a queue without end",
        settings: &[
            ("path.rate", "20Mbit"),
            ("path.rtt", "100ms"),
            ("path.buffer", "2MB"),
            ("path.jitter", "70ms"),
            ("flow.bytes", "800kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "a retransmission that is lost, and a lost tail",
        settings: &[
            ("path.rate", "20Mbit"),
            ("path.rtt", "40ms"),
            ("path.buffer", "1MB"),
            ("path.drop", "60kB x2 + last 3"),
            ("flow.bytes", "200kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "the last segment of a short answer",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("path.drop", "last 1"), ("flow.bytes", "5kB")],
        adjust: |_| (),
    },
    Cell {
        about: "a handshake of which each step is lost once",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("flow.bytes", "20kB")],
        adjust: |scenario| {
            scenario.forward.loss = LossSpec::Mask(vec![0, 2]);
            scenario.reverse.loss = LossSpec::Mask(vec![0]);
        },
    },
    Cell {
        about: "timeouts that double",
        settings: &[
            ("path.rate", "20Mbit"),
            ("path.rtt", "40ms"),
            ("path.drop", "30kB x3 + last 1 x4"),
            ("flow.bytes", "100kB"),
        ],
        adjust: |_| (),
    },
    Cell {
        about: "acknowledgements that are lost",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("flow.bytes", "300kB")],
        adjust: |scenario| scenario.reverse.loss = LossSpec::Bernoulli(percent(20)),
    },
    Cell {
        about: "a reader that is slow, and a window that closes",
        settings: &[("path.rate", "50Mbit"), ("path.rtt", "20ms"), ("flow.bytes", "2MB")],
        adjust: |scenario| scenario.flows[0].reader = every(Duration::from_millis(1_500), 100_000),
    },
    Cell {
        about: "a writer of small pieces",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("flow.bytes", "20kB")],
        adjust: |scenario| scenario.flows[0].writer = every(Duration::from_millis(15), 700),
    },
    Cell {
        about: "a writer that pauses for longer than a timeout",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("flow.bytes", "400kB")],
        adjust: |scenario| scenario.flows[0].writer = every(Duration::from_secs(4), 100_000),
    },
    Cell {
        about: "two flows of bytes, duplicates, IPv6",
        settings: &[("path.rate", "20Mbit"), ("path.rtt", "40ms"), ("path.loss", "1%"), ("flow.bytes", "100kB")],
        adjust: |scenario| {
            scenario.ip = IpVersion::V6;
            scenario.forward.duplicate = percent(5);
            scenario.flows[0].carriage = Carriage::Bytes;
            let mut second = scenario.flows[0].clone();
            second.start = Duration::from_millis(30);
            scenario.flows.push(second);
        },
    },
    Cell {
        about: "a flow that ends by time",
        settings: &[("path.rate", "10Mbit"), ("path.rtt", "20ms"), ("flow.seconds", "0.3")],
        adjust: |_| (),
    },
];

fn every(time: Duration, bytes: u64) -> AppPace {
    AppPace::Chunks { bytes, every: time }
}

fn percent(of_hundred: u64) -> Ratio {
    Ratio::new(of_hundred, 100).expect("not more than one")
}

/// All cells with this configuration at both ends.
pub(super) fn all(config: &ValidConfig) -> impl Iterator<Item = Scenario> {
    CELLS.iter().map(|cell| {
        let mut point = Point::default();
        for (key, value) in cell.settings {
            let key = Key::find(key).expect("cells name settings that there are");
            key.set(&mut point, value).expect("cells have values that can be read");
        }
        let ends = Ends::Profile(config.clone());
        let spec = RunSpec {
            cell: 0,
            arm: 0,
            iteration: 1,
            seed: SEED,
            point: point.into(),
            twin: None,
            ends: ends.into(),
            digest: String::new(),
        };
        let mut scenario = scenario(&spec).expect("a configuration can be simulated");
        (cell.adjust)(&mut scenario);
        scenario
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::Device;

    /// A cell whose flow does not complete shows little of its mechanism.
    #[test]
    fn every_built_in_profile_comes_through_every_cell_on_both_devices() {
        for profile in profiles::builtin() {
            for (cell, scenario) in CELLS.iter().zip(all(profile.config())) {
                for device in [Device::PLAIN, Device::SUPER_SEGMENTS] {
                    let scenario = Scenario { client_device: device, server_device: device, ..scenario.clone() };
                    let outcome = sim::run(&scenario, &mut trace::Off);
                    let complete = outcome.is_ok_and(|outcome| outcome.flows.iter().all(sim::FlowOutcome::is_complete));
                    assert!(complete, "{}: {}, {device:?}", profile.name, cell.about);
                }
            }
        }
    }
}
