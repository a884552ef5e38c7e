//! The behaviour stamp: a digest of a configuration's behaviour, over canonical traces of a fixed set of cells (`cells.rs`), on a
//! plain device and on one with super-segments.
//!
//! It depends on behaviour alone. A trace is every packet that leaves a host — when, its header, which bytes — and the values
//! of every event, in order, followed by the totals and the result line of the run. Names of events, fields and things are
//! left out, so a rename or a move of code does not change the stamp. A change of a single value in one event of one cell
//! does.
//!
//! It cannot see what no cell covers. Three measures keep that small: cells are chosen by mechanism (each leaf that some profile
//! sets should matter in one), events expose inner state before it matters on the wire, and a stamp counts only together with the
//! release of the program.

mod advisor;
mod cells;

use crate::plan::RunSpec;
use crate::run::simulated::measured;
use crate::spec::{Ends, outside, with_controller};
use core::fmt;
use profiles::Profile;
use sim::{Device, Outcome, Scenario};
use std::collections::BTreeMap;
use std::sync::Mutex;
use tcp::ValidConfig;
use trace::Digest;

/// A configuration's behaviour, one number per kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// On a device whose frames are packets.
    pub plain: u64,
    /// On a device with super-segments in both directions.
    pub super_segments: u64,
}

impl fmt::Display for Stamp {
    /// Both numbers in one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digest = Digest::default();
        digest.word(self.plain);
        digest.word(self.super_segments);
        write!(f, "{:016x}", digest.finish())
    }
}

impl Stamp {
    /// Runs every cell with this configuration at both ends, on both kinds of device.
    pub fn of(config: &ValidConfig) -> Self {
        Self { plain: on(Device::PLAIN, config), super_segments: on(Device::SUPER_SEGMENTS, config) }
    }

    /// The lines of the file of stamps that are about a profile: `PROFILE/DEVICE=NUMBER`.
    pub fn lines(&self, profile: &str) -> [String; 2] {
        [(PLAIN, self.plain), (SUPER_SEGMENTS, self.super_segments)]
            .map(|(device, number)| format!("{profile}/{device}={number:016x}"))
    }
}

/// The names of the devices.
const PLAIN: &str = "plain";
const SUPER_SEGMENTS: &str = "super";

/// Returns the program's version together with the stamp of what it runs: results with equal versions come from equal behaviour,
/// as far as the cells show.
///
/// Other ends than ours have no stamp; the program's release has to do. Each configuration is run through the cells once in the
/// life of a process.
pub fn version(ends: &Ends) -> String {
    static KNOWN: Mutex<BTreeMap<String, Stamp>> = Mutex::new(BTreeMap::new());
    let release = env!("CARGO_PKG_VERSION");
    let Ends::Profile(config) = ends else { return release.to_owned() };
    // A program's own congestion control is part of the digest of a run; the version is that of what applies its rules.
    let with_reference = outside(config).map(|_| with_controller(config, advisor::reference()));
    let ends = &with_reference.clone().map_or_else(|| ends.clone(), Ends::Profile);
    let config = with_reference.as_ref().unwrap_or(config);
    let key: String = ends.lines().into_iter().map(|(leaf, value)| format!("{leaf}={value}\n")).collect();
    let known = |text: &str| KNOWN.lock().expect("no thread panics while it holds the lock").get(text).copied();
    let stamp = known(&key).unwrap_or_else(|| {
        let stamp = Stamp::of(config);
        KNOWN.lock().expect("no thread panics while it holds the lock").insert(key, stamp);
        stamp
    });
    format!("{release}+{stamp}")
}

/// Returns the version of a run's arm, and with it those of the profiles of other flows.
pub fn version_of(run: &RunSpec) -> String {
    let others = run.point.others().into_iter().map(|(_, other)| version(&Ends::Profile(other.clone())));
    core::iter::once(version(&run.ends)).chain(others).collect::<Vec<_>>().join(" ")
}

/// Returns the file of stamps: two lines for each built-in profile, in the order of their names, so that changes to different
/// profiles do not touch the same lines.
pub fn file() -> String {
    let mut profiles: Vec<&Profile> = profiles::builtin().iter().collect();
    profiles.sort_by_key(|profile| profile.name.clone());
    let stamps: Vec<[String; 2]> = std::thread::scope(|scope| {
        let runs = profiles.iter().map(|profile| scope.spawn(|| Stamp::of(profile.config()).lines(&profile.name)));
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().expect("a cell does not panic")).collect()
    });
    let mut text = HEADER.to_owned();
    for line in stamps.iter().flatten() {
        text.push_str(line);
        text.push('\n');
    }
    text
}

const HEADER: &str = "\
# What each built-in profile does, as a digest of canonical traces (crates/lab/src/run/stamp.rs), on a plain device and on one with
# super-segments. A line changes with the profile's behaviour and with nothing else. `cargo xtask stamp` writes this file.
";

fn on(device: Device, config: &ValidConfig) -> u64 {
    let mut digest = Digest::default();
    for mut scenario in cells::all(config) {
        (scenario.client_device, scenario.server_device) = (device, device);
        run(&scenario, &mut digest);
    }
    digest.finish()
}

/// Adds the trace of a simulation, and the result that experiments derive from it.
pub fn run(scenario: &Scenario, digest: &mut Digest) {
    match sim::run(scenario, digest) {
        Ok(outcome) => totals(&outcome, digest),
        // A configuration may make a cell fail: then the failure is its behaviour.
        Err(failure) => digest.word(failure.at.as_nanos()),
    }
}

/// Adds the results that experiments derive from a run. The result line counts as written: renaming a number in it makes another
/// file.
fn totals(outcome: &Outcome, digest: &mut Digest) {
    for path in [outcome.forward, outcome.reverse] {
        let totals = [path.offered, path.offered_bytes, path.delivered, path.dropped.total(), path.max_backlog_bytes];
        totals.into_iter().for_each(|total| digest.word(total));
    }
    for flow in &outcome.flows {
        [flow.bytes_written, flow.bytes_read].into_iter().for_each(|bytes| digest.word(bytes));
    }
    if let Ok(measured) = measured(outcome) {
        digest.bytes(serde_json::to_string(&measured).expect("a line has no maps with odd keys").as_bytes());
    }
}

/// The devices that a page's numbers depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The simulator's.
    Plain,
    /// The simulator's, and one with super-segments in real time.
    Both,
}

/// Returns the mark of a page of measured numbers: the behaviour they come from. A house rule fails when that has changed.
///
/// # Panics
/// When no such built-in profile exists.
pub fn mark<'a>(names: impl IntoIterator<Item = &'a str>, devices: Devices) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    let mut mark = "<!-- behaviour:\n".to_owned();
    for name in names {
        let profile = profiles::builtin().iter().find(|profile| profile.name == name);
        let profile = profile.unwrap_or_else(|| panic!("a page shows the profile `{name}`, which is not built in"));
        let [plain, super_segments] = Stamp::of(profile.config()).lines(name);
        mark.push_str(&(plain + "\n"));
        if devices == Devices::Both {
            mark.push_str(&(super_segments + "\n"));
        }
    }
    mark + "-->\n"
}
