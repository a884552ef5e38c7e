//! The behaviour stamp: a digest of what a configuration does, over canonical traces of a fixed set of cells (`cells.rs`), on a
//! plain device and on one with super-segments.
//!
//! It goes by behaviour alone. A trace is every packet that leaves a host — when, its header, which bytes — and the values of
//! every event, in order; behind it stand the totals and the line of results of the run. Names of events, of their fields and
//! of what they call things are left out, so a rename or a move of code leaves the stamp as it is. Whoever changes one value in
//! one event of one cell changes it.
//!
//! What no cell shows, it cannot see. Three things keep that small: cells are chosen by mechanism (each leaf that some profile
//! sets should matter in one), events expose inner state before it matters on the wire, and a stamp counts only together with
//! the release of the program.

mod cells;

use crate::run::simulated::measured;
use crate::spec::Ends;
use core::fmt;
use profiles::Profile;
use sim::{Device, Outcome, Scenario};
use std::collections::BTreeMap;
use std::sync::Mutex;
use tcp::ValidConfig;
use trace::Digest;

/// What a configuration does, one number for each kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// Where a frame is a packet.
    pub plain: u64,
    /// Where frames are super-segments, in both directions.
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

/// Version of the program together with the stamp of what it runs: results with equal versions are results of equal behaviour,
/// as far as the cells show.
///
/// Other ends than ours have no stamp; the program's release has to do. Each configuration is run through the cells once in the
/// life of a process.
pub fn version(ends: &Ends) -> String {
    static KNOWN: Mutex<BTreeMap<String, Stamp>> = Mutex::new(BTreeMap::new());
    let release = env!("CARGO_PKG_VERSION");
    let Ends::Profile(config) = ends else { return release.to_owned() };
    let key: String = ends.lines().into_iter().map(|(leaf, value)| format!("{leaf}={value}\n")).collect();
    let known = |text: &str| KNOWN.lock().expect("nobody panics with it").get(text).copied();
    let stamp = known(&key).unwrap_or_else(|| {
        let stamp = Stamp::of(config);
        KNOWN.lock().expect("nobody panics with it").insert(key, stamp);
        stamp
    });
    format!("{release}+{stamp}")
}

/// The file of stamps: two lines for each built-in profile, in the order of their names, so that changes to different profiles
/// do not touch the same lines.
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

/// Takes in the trace of a simulation, and what experiments make of it.
pub fn run(scenario: &Scenario, digest: &mut Digest) {
    match sim::run(scenario, digest) {
        Ok(outcome) => totals(&outcome, digest),
        // A configuration may be such that a cell comes to no good end: that is what it does, then.
        Err(failure) => digest.word(failure.at.as_nanos()),
    }
}

/// What experiments make of a run. The line of results is taken as it is written: who renames a number in it makes another file.
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

/// Which devices the numbers of a page are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The simulator's.
    Plain,
    /// The simulator's, and one with super-segments in real time.
    Both,
}

/// The mark of a page of measured numbers: which behaviour they are of. A house rule fails when that has changed.
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
