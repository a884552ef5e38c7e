//! A run as the data that flent keeps of a test: a JSON object of its format's version 4, whose values come second by second.
//!
//! Names of tests and series are flent's, so that its plots find them: `tcp_nup`, `tcp_ndown`, and `rrul_be_nflows` where flows send in
//! both directions. It has no name for a round trip that was not pinged, so pings are left out.

use crate::plan::{Plan, RunSpec};
use crate::results::rounded::rounded;
use crate::run::{Made, RunFailure, SimBackend, Wanted, guarded};
use core::time::Duration;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use time::OffsetDateTime;
use time::macros::format_description;

/// Version of the format.
const VERSION: u32 = 4;
/// Most flows of a direction that have series of their own; sums are of all.
const FLOWS: usize = 64;

/// When an experiment was made.
#[derive(Clone, Debug)]
pub(super) struct MadeAt {
    since_1970: Duration,
    /// The same as text, `2026-11-24T19:00:00.000000Z`.
    text: String,
}

impl MadeAt {
    /// Returns nothing for a time after the year 9999.
    pub(super) fn new(since_1970: Duration) -> Option<Self> {
        let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");
        let time = OffsetDateTime::UNIX_EPOCH.checked_add(since_1970.try_into().ok()?)?;
        Some(Self { since_1970, text: time.format(format).ok()? })
    }
}

/// Values by second, from the first one on; `None` where there is none.
type Course = Vec<Option<f64>>;

/// Makes a run again, and returns the name of its file, whose part after the time is `name`, and the file's contents.
///
/// # Errors
/// If the run fails.
pub(super) fn document(plan: &Plan, run: &RunSpec, at: &MadeAt, name: &str) -> Result<(String, Value), RunFailure> {
    let made = guarded(&SimBackend, run, Wanted::Series)?;
    let flows = |back| made.flows.iter().map(|flow| flow.result).filter(move |flow| flow.back == back);
    let (up, down) = (flows(false).map(|flow| flow.flow).collect(), flows(true).map(|flow| flow.flow).collect());
    Ok(of_courses(plan, run, at, name, &Courses::of(&made), &[up, down]))
}

/// Returns what names of files say of each row of a plan: its title without signs. Where several have the same, the later ones get a
/// number behind a sign that no other name holds.
pub(super) fn file_names(plan: &Plan) -> Vec<String> {
    let rows = (0..plan.cells.len()).flat_map(|cell| (0..plan.arms.len()).map(move |arm| (cell, arm)));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut unique = |name: String| {
        let nth = seen.entry(name.clone()).and_modify(|nth| *nth += 1).or_insert(1);
        if *nth == 1 { name } else { format!("{name}-{nth}") }
    };
    rows.map(|(cell, arm)| unique(plain(&title(plan, cell, arm)))).collect()
}

fn title(plan: &Plan, cell: usize, arm: usize) -> String {
    let swept: String = plan.cells[cell].swept.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    format!("{} {}{swept}", plan.experiment.name, plan.arms[arm].label)
}

fn plain(text: &str) -> String {
    text.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.', "_")
}

/// What each flow's sender saw.
struct Courses {
    seconds: usize,
    mbps: BTreeMap<u32, Course>,
    rtt_ms: BTreeMap<u32, Course>,
}

impl Courses {
    fn of(made: &Made) -> Self {
        let seconds = made.series.iter().map(|value| value.second as usize + 1).max().unwrap_or_default();
        let of = |name: &str, scale: f64| {
            let mut courses: BTreeMap<u32, Course> = BTreeMap::new();
            for value in made.series.iter().filter(|value| value.name == name) {
                let course = courses.entry(value.flow).or_insert_with(|| vec![None; seconds]);
                course[value.second as usize] = Some(rounded(value.value as f64 * scale));
            }
            courses
        };
        Self { seconds, mbps: of("acked_bytes", 8e-6), rtt_ms: of("srtt_ns", 1e-6) }
    }

    /// Returns the sum of these flows' rates in each second, over `divisor`.
    fn sum<'f>(&self, flows: impl Iterator<Item = &'f u32> + Clone, divisor: f64) -> Course {
        let of_second = |second: usize| {
            let values = flows.clone().filter_map(|flow| self.mbps.get(flow)?[second]);
            values.fold(None, |sum: Option<f64>, value| Some(sum.unwrap_or_default() + value / divisor))
        };
        (0..self.seconds).map(|second| of_second(second).map(rounded)).collect()
    }
}

/// The series of a document, with their units.
#[derive(Default)]
struct Series {
    results: Map<String, Value>,
    raw: Map<String, Value>,
    meta: Map<String, Value>,
}

impl Series {
    fn add(&mut self, name: String, unit: &str, course: &Course, at: &MadeAt) {
        let points = course.iter().enumerate().filter_map(|(second, value)| {
            let value = (*value)?;
            Some(json!({"t": at.since_1970.as_secs_f64() + (second + 1) as f64, "val": value}))
        });
        self.raw.insert(name.clone(), points.collect());
        self.meta.insert(name.clone(), json!({"UNITS": unit}));
        self.results.insert(name, json!(course));
    }
}

fn of_courses(
    plan: &Plan,
    run: &RunSpec,
    at: &MadeAt,
    name: &str,
    courses: &Courses,
    directions: &[Vec<u32>; 2],
) -> (String, Value) {
    let [up, down] = directions;
    let (test, class) = match (up.is_empty(), down.is_empty()) {
        (false, false) => ("rrul_be_nflows", " BE"),
        (true, false) => ("tcp_ndown", ""),
        (_, true) => ("tcp_nup", ""),
    };
    let mut series = Series::default();
    for (direction, flows) in [("upload", up), ("download", down)].into_iter().filter(|(_, flows)| !flows.is_empty()) {
        for (nth, flow) in flows.iter().enumerate().take(FLOWS) {
            let name = format!("TCP {direction}{class}::{}", nth + 1);
            for (suffix, unit, of) in [("", "Mbits/s", &courses.mbps), ("::tcp_rtt", "ms", &courses.rtt_ms)] {
                if let Some(course) = of.get(flow) {
                    series.add(format!("{name}{suffix}"), unit, course, at);
                }
            }
        }
        series.add(format!("TCP {direction} sum"), "Mbits/s", &courses.sum(flows.iter(), 1.0), at);
        series.add(format!("TCP {direction} avg"), "Mbits/s", &courses.sum(flows.iter(), flows.len() as f64), at);
    }
    if !class.is_empty() {
        series.add("TCP totals".to_owned(), "Mbits/s", &courses.sum(up.iter().chain(down), 1.0), at);
    }
    let file = format!("{test}-{}.{name}.flent.gz", plain(&at.text));
    let document = json!({
        "version": VERSION,
        "x_values": (1..=courses.seconds).map(|second| second as f64).collect::<Vec<_>>(),
        "results": series.results,
        "raw_values": series.raw,
        "metadata": {
            "NAME": test,
            "TITLE": title(plan, run.cell, run.arm),
            "NOTE": format!("made by longhaul's simulator, seed {}", run.seed),
            "TIME": at.text,
            "T0": at.text,
            "HOST": "simulated",
            "LOCAL_HOST": "simulated",
            "IP_VERSION": 4,
            "LENGTH": courses.seconds,
            "TOTAL_LENGTH": courses.seconds,
            "STEP_SIZE": 1.0,
            "DATA_FILENAME": file,
            "TEST_PARAMETERS": {"upload_streams": up.len().to_string(), "download_streams": down.len().to_string()},
            "SERIES_META": series.meta,
        },
    });
    (file, document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{self, Overrides};

    fn made(company: &str) -> Value {
        let mut experiment = spec::builtin("fairness").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let company = format!("flow.company={company}");
        let set = texts(&["path.rtt=25ms", "path.rate=10Mbit", "path.buffer=1bdp", "flow.window=2s..6s", &company]);
        experiment
            .apply(&Overrides { set, arms: texts(&["linux"]), iterations: Some(1), ..Overrides::default() })
            .unwrap();
        let plan = Plan::new(experiment).unwrap();
        let at = MadeAt::new(Duration::from_secs(1_000)).unwrap();
        let (file, document) = document(&plan, &plan.runs[0], &at, &file_names(&plan)[0]).unwrap();
        assert_eq!(document["metadata"]["DATA_FILENAME"], file);
        document
    }

    fn names(document: &Value) -> Vec<&str> {
        document["results"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    fn total(document: &Value, name: &str) -> f64 {
        document["results"][name].as_array().unwrap().iter().filter_map(Value::as_f64).sum()
    }

    #[test]
    fn flows_of_one_direction_are_uploads_that_add_up() {
        let document = made("arm + linux");
        let metadata = &document["metadata"];
        assert_eq!(
            (&metadata["NAME"], &metadata["TEST_PARAMETERS"]["upload_streams"]),
            (&json!("tcp_nup"), &json!("2"))
        );
        let expected = [
            "TCP upload avg",
            "TCP upload sum",
            "TCP upload::1",
            "TCP upload::1::tcp_rtt",
            "TCP upload::2",
            "TCP upload::2::tcp_rtt",
        ];
        assert_eq!(names(&document), expected);
        let sum = total(&document, "TCP upload sum");
        assert!((sum - total(&document, "TCP upload::1") - total(&document, "TCP upload::2")).abs() < 1e-6);
        assert!((sum / 2.0 - total(&document, "TCP upload avg")).abs() < 1e-6);
        // Ten megabits less headers, but for the slow start.
        let seconds = document["x_values"].as_array().unwrap().len() as f64;
        assert!((0.85..0.97).contains(&(sum / 10.0 / seconds)), "{sum} Mbit in {seconds} s");
    }

    #[test]
    fn both_directions_are_flent_s_test_of_both_whose_totals_are_of_both() {
        let document = made("arm + linux direction=back");
        assert_eq!(document["metadata"]["NAME"], "rrul_be_nflows");
        let all = ["TCP upload BE::1", "TCP download BE::1"].map(|name| total(&document, name));
        assert!(all.iter().all(|mbit| *mbit > 1.0), "{all:?}");
        assert!((total(&document, "TCP totals") - all[0] - all[1]).abs() < 1e-6);
    }

    #[test]
    fn raw_values_are_the_same_with_a_time() {
        let document = made("arm + linux");
        let (values, raw) = (&document["results"]["TCP upload::1"], &document["raw_values"]["TCP upload::1"]);
        let at = |second: usize| (raw[second]["t"].as_f64(), &raw[second]["val"]);
        assert_eq!(at(1), (Some(1_002.0), &values[1]));
        let name = document["metadata"]["DATA_FILENAME"].as_str().unwrap();
        assert_eq!(name, "tcp_nup-1970_01_01T00_16_40.000000Z.fairness_linux.flent.gz");
    }

    #[test]
    fn times_are_as_flent_reads_them() {
        let text = |since| MadeAt::new(since).map(|at| at.text);
        let last = Duration::from_secs(253_402_300_799);
        assert_eq!(text(Duration::from_secs(1_795_550_400)).unwrap(), "2026-11-24T20:00:00.000000Z");
        assert_eq!(text(Duration::from_micros(1_500_001)).unwrap(), "1970-01-01T00:00:01.500001Z");
        assert_eq!(text(last).unwrap(), "9999-12-31T23:59:59.000000Z");
        assert_eq!((text(last + Duration::from_secs(1)), text(Duration::MAX)), (None, None));
    }
}
