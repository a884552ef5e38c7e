//! The unknowns of the published story: parameters that no source states, each with the values to try.

use crate::spec::{Refusal, UsageError};
use profiles::{Confidence, Profile, resolve_leaf};

/// One unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// A leaf's path, or one of the constants below.
    pub name: String,
    /// The values to try, in order of size where they have one.
    pub values: Vec<String>,
    /// The position of the value that the profile or the experiment has.
    pub now: usize,
}

/// Parameters that are set together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// A profile's name, or [`WORLD`].
    pub name: String,
    /// Its leaves, and settings of experiments in which it takes part alone.
    pub parameters: Vec<Parameter>,
}

/// All unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Settings of all experiments.
    pub world: Group,
    /// A group for each profile.
    pub profiles: Vec<Group>,
}

/// The group of the experiments' settings.
pub const WORLD: &str = "all experiments";
/// Jitter of every path that has some.
pub const JITTER: &str = "path.jitter";
/// The experiment that stands for the published reordering.
pub const READING: &str = "reordering read as";
/// Buffers in the tests of HyStart++, of which only one bandwidth-delay product is published.
pub const BUFFERS: &str = "hystart path.buffer";
/// Rates there, of which only 100 Mbit/s is published.
pub const RATES: &str = "hystart path.rate";
/// Random losses there, of which only their presence is published.
pub const LOSSES: &str = "hystart path.loss";
/// The size of a short flow there.
pub const SHORT: &str = "hystart short flow";
/// The sizes of long flows there.
pub const LONG: &str = "hystart long flows";
/// Random loss on the path of the note on tuning.
pub const WINDOW_LOSS: &str = "window path.loss";
/// The buffer of that path.
pub const WINDOW_BUFFER: &str = "window path.buffer";

/// Name, values, and the position of the present one.
type Row = (&'static str, &'static [&'static str], usize);

const OF_ALL: &[Row] =
    &[(JITTER, &["0", "100us", "500us", "1ms", "2ms"], 1), (READING, &["reorder", "reorder-early"], 0)];

const OF_2000: &[Row] =
    &[(WINDOW_LOSS, &["0", "0.01%", "0.03%", "0.1%"], 0), (WINDOW_BUFFER, &["0.1bdp", "0.25bdp", "0.5bdp", "1bdp"], 3)];

const OF_2016: &[Row] = &[
    ("receive.window.factor_percent", &["110", "125", "150", "200", "300", "400"], 2),
    ("receive.window.share", &["0.25", "0.5", "0.75", "0.9"], 2),
    ("recovery.detector.capacity", &["8", "16", "32", "64", "128", "256"], 3), // variant: rack_ring
    ("recovery.detector.dup_thresh", &["2", "3", "4"], 1),
    ("cc.slow_start.limit_segments", &["1", "2", "4", "8"], 1),
    ("cc.avoidance.gamma_gain", &["0.25", "0.5", "0.8"], 1),
    ("cc.avoidance.low_window_segments", &["10", "38", "100"], 1),
    ("cc.avoidance.ssthresh_base", &["flight_size", "cwnd"], 0),
    ("ack.delay", &["40ms", "50ms", "100ms", "200ms"], 1),
];

const OF_2019: &[Row] = &[
    (BUFFERS, &["0.5bdp,1bdp", "0.5bdp,1bdp,1.5bdp", "0.5bdp,1bdp,2bdp", "1bdp,2bdp", "1bdp,3bdp"], 2),
    (RATES, &["20Mbit,100Mbit", "50Mbit,100Mbit", "100Mbit", "100Mbit,200Mbit"], 1),
    (LOSSES, &["0,0.01%", "0,0.03%", "0,0.1%"], 0),
    (SHORT, &["4MB", "6MB", "8MB", "12MB", "16MB"], 2),
    (LONG, &["32MB,128MB", "48MB,128MB", "64MB,128MB"], 0),
    ("receive.window.factor_percent", &["150", "200", "300", "400", "600", "800", "1600"], 5),
    ("receive.window.share", &["0.0625", "0.125", "0.25", "0.5", "0.75"], 1),
    ("recovery.detector.capacity", &["8", "16", "32", "64", "128", "256"], 3), // variant: rack_ring
    ("recovery.detector.dup_thresh", &["2", "3", "4"], 1),
    ("recovery.reduction.bound", &["crb", "ssrb"], 1),
    ("recovery.probe.max_ack_delay", &["25ms", "40ms", "100ms"], 1),
    ("cc.slow_start.limit_segments", &["1", "2", "4", "8"], 3),
    ("cc.avoidance.beta", &["0.5", "0.6", "0.7", "0.8"], 2),
    ("cc.avoidance.c", &["0.2", "0.4", "0.8"], 1),
    ("cc.avoidance.ssthresh_base", &["flight_size", "cwnd"], 0),
];

const OF_2022: &[Row] = &[
    ("receive.window.factor_percent", &["150", "200", "300", "400", "600", "800", "1600"], 5),
    ("receive.window.share", &["0.0625", "0.125", "0.25", "0.5", "0.75"], 1),
    ("recovery.detector.rtt_of", &["newest", "last_in_sequence", "newest_in_turn"], 0),
    ("recovery.probe.max_ack_delay", &["25ms", "40ms", "100ms"], 1),
    ("recovery.undo.dsack", &["off", "on"], 0),
    ("cc.slow_start.limit_segments", &["2", "4", "8", "16"], 2),
    ("cc.avoidance.beta", &["0.5", "0.6", "0.7", "0.8"], 2),
    ("cc.avoidance.c", &["0.2", "0.4", "0.8"], 1),
    ("cc.avoidance.ssthresh_base", &["flight_size", "cwnd"], 0),
];

impl Space {
    /// The unknowns of three servers and of the experiments that stand for published ones.
    pub fn servers() -> Self {
        let parameter = |(name, values, now): &Row| Parameter {
            name: (*name).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            now: *now,
        };
        let group = |name: &str, rows: &[Row]| Group {
            name: name.to_owned(),
            parameters: rows.iter().map(parameter).collect(),
        };
        Self {
            world: group(WORLD, OF_ALL),
            profiles: vec![
                group("windows-2000", OF_2000),
                group("server-2016", OF_2016),
                group("server-2019", OF_2019),
                group("server-2022", OF_2022),
            ],
        }
    }

    /// Checks that no parameter moves what is documented, that each leaf takes its values, and that the present value is the profile's.
    ///
    /// # Errors
    /// Names the first leaf for which this does not hold.
    pub fn check(&self) -> Result<(), UsageError> {
        for group in &self.profiles {
            let profile = profiles::get(&group.name).map_err(|error| UsageError {
                place: "the space of a fit".to_owned(),
                problem: format!("unknown profile `{}`", group.name),
                remedy: error.remedy,
            })?;
            for parameter in group.parameters.iter().filter(|parameter| !parameter.is_setting()) {
                parameter.check(profile).map_err(|refusal| refusal.at(format!("{}.{}", group.name, parameter.name)))?;
            }
        }
        Ok(())
    }

    /// The groups, the experiments' first.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        core::iter::once(&self.world).chain(&self.profiles)
    }
}

impl Parameter {
    /// Returns whether it is a setting of an experiment and no leaf.
    pub fn is_setting(&self) -> bool {
        [JITTER, READING, BUFFERS, RATES, LOSSES, SHORT, LONG, WINDOW_LOSS, WINDOW_BUFFER].contains(&self.name.as_str())
    }

    fn check(&self, profile: &Profile) -> Result<(), Refusal> {
        let shows = || format!("`longhaul profiles {}` shows its leaves", profile.name);
        let leaf = resolve_leaf(&self.name).map_err(|error| Refusal::of_key(error.to_string(), shows()))?;
        let Some(cited) = profile.leaf(leaf.path) else {
            return Err(Refusal::of_key(format!("`{}` does not apply to `{}`", leaf.path, profile.name), shows()));
        };
        let evidence = &cited.evidence;
        if matches!(evidence.confidence, Confidence::Documented | Confidence::Measured) {
            let problem = format!("`{}` is {}: {}", leaf.path, evidence.confidence, evidence.source);
            return Err(Refusal::of_value(problem, "a fit moves only what is inferred or assumed"));
        }
        for value in &self.values {
            let config = profile.draft(&[(leaf.path.to_owned(), value.clone())]);
            config.map_err(|error| Refusal::of_value(error.to_string(), shows()))?;
        }
        if self.values.get(self.now) != Some(&cited.value) {
            let problem = format!("its present value is `{}`", cited.value);
            return Err(Refusal::of_value(problem, "name that value as the present one"));
        }
        Ok(())
    }
}
