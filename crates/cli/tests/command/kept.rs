//! What `ab --out` keeps: whole units, whatever happens to the program, and never a run twice.

use super::outside::{Ended, command, longhaul};
use super::tables::{rows, shards};
use super::{ab, objects, text_of};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Each seed counts as a unit, since its window could carry a million packets, of which its flows need forty.
const UNITS: [&str; 18] = [
    "ab",
    "fairness",
    "--arms",
    "rfc,rfc",
    "--set",
    "path.rate=100Mbit",
    "--set",
    "path.rtt=20ms",
    "--set",
    "path.buffer=1bdp",
    "--set",
    "path.jitter=100us",
    "--set",
    "flow.company=arm bytes=20kB + rfc bytes=20kB",
    "--set",
    "flow.window=0s..100s",
    "--series",
    "--out",
];

fn seeds(seeds: &str, out: &Path, more: &[&str]) -> Vec<String> {
    let words = [&UNITS[..], &[text_of(out), "--iterations", seeds], more].concat();
    words.into_iter().map(str::to_owned).collect()
}

fn run(arguments: &[String]) -> Ended {
    longhaul(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The numbers of all runs: as many as there are rows, unless one is there twice.
fn distinct(rows: &[Value]) -> usize {
    rows.iter().map(|row| row["run"].as_u64().expect("a run has a number")).collect::<BTreeSet<_>>().len()
}

#[test]
fn a_second_invocation_goes_on_where_the_first_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let three = ["--format", "jsonl", "--arms", "rfc,server-2022,longhaul"];
    let kept = [&three[..], &["--out", text_of(&out)]].concat();
    let whole = ab("wan", &three);
    let one = ["ab", "wan", "--set", "flow.bytes=200kB", "--set", "path.rtt=25ms", "--iterations", "1"];
    let first = longhaul(&[&one[..], &kept[..]].concat());
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(rows(&out, "runs").len(), 3);
    let second = ab("wan", &kept);
    assert!(second.stderr.contains("resumed: 3 runs") && second.stderr.contains("done: 3 runs"), "{}", second.stderr);
    assert_eq!(second.stdout, whole.stdout);
    let runs = rows(&out, "runs");
    assert_eq!((runs.len(), distinct(&runs)), (6, 6));
    for run in &runs {
        assert!(run["version"].as_str().unwrap().starts_with(concat!(env!("CARGO_PKG_VERSION"), "+")));
        assert_eq!((run["experiment"].as_str(), run["bytes"].as_u64()), (Some("wan"), Some(200_000)));
        let goodput = run["bytes"].as_f64().unwrap() * 8e3 / run["elapsed_ns"].as_f64().unwrap();
        assert!((run["goodput_mbps"].as_f64().unwrap() / goodput - 1.0).abs() < 1e-12);
    }
    let flows = rows(&out, "flows");
    assert_eq!((flows.len(), distinct(&flows)), (6, 6));
    for flow in &flows {
        let run = runs.iter().find(|run| run["run"] == flow["run"]).unwrap();
        assert_eq!((&flow["bytes_read"], &flow["bytes_sent"]), (&run["bytes"], &run["bytes_sent"]));
        assert_eq!(flow["complete"], true);
    }
}

#[test]
fn a_report_of_what_is_kept_is_the_one_that_the_comparison_wrote() {
    let directory = tempfile::tempdir().unwrap();
    let (out, page) = (directory.path().join("out"), directory.path().join("page.html"));
    let three = ["--arms", "rfc,server-2022,longhaul", "--out", text_of(&out), "--report", text_of(&page)];
    let ended = ab("wan", &three);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let again = longhaul(&["report", text_of(&out)]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""), "{}", again.stderr);
    let written = std::fs::read_to_string(&page).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("report.html")).unwrap(), written);
    assert!(longhaul(&["report", text_of(&out), "--out", "-"]).stdout == written);
    let shard = std::fs::read_dir(out.join("runs")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(shard).unwrap();
    let none = longhaul(&["report", text_of(&out)]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("of the 6 runs of its last comparison none is there"), "{}", none.stderr);
    assert!(none.stderr.contains("`longhaul ab wan "), "{}", none.stderr);
}

#[test]
fn flent_s_data_files_are_of_the_median_runs_and_always_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let ended = ab("wan", &["--arms", "rfc,longhaul", "--out", text_of(&out)]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let files = |name: &str| {
        let folder = directory.path().join(name);
        let made = longhaul(&["report", text_of(&out), "--flent", text_of(&folder)]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        assert!(made.stderr.contains("2 data files of flent"), "{}", made.stderr);
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect::<BTreeMap<_, _>>()
    };
    let first = files("one");
    assert_eq!(first, files("two"));
    for (name, packed) in first {
        let document: Value = serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).unwrap();
        assert_eq!(document["metadata"]["DATA_FILENAME"].as_str(), name.to_str());
        // All bytes of the flow and its FIN, in megabits.
        let rates = document["results"]["TCP upload::1"].as_array().unwrap();
        let mbit: f64 = rates.iter().filter_map(Value::as_f64).sum();
        assert!((mbit - 1.600_008).abs() < 1e-6, "{mbit}");
    }
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = longhaul(&["report", text_of(&out), "--flent", text_of(&file)]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--flent: cannot make"), "{}", refused.stderr);
}

#[test]
fn host_and_time_stand_beside_the_results() {
    let directory = tempfile::tempdir().unwrap();
    let ended = ab("wan", &["--out", text_of(directory.path())]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines = objects(&std::fs::read_to_string(directory.path().join("machine.jsonl")).unwrap());
    assert_eq!((&lines[0]["event"], &lines[1]["event"]), (&"began".into(), &"ended".into()));
    assert!(lines[0]["processors"].as_u64() > Some(0) && lines[1]["took_s"].as_f64() > Some(0.0));
}

#[test]
fn series_are_kept_when_they_are_asked_for_and_add_up() {
    let directory = tempfile::tempdir().unwrap();
    let out = text_of(directory.path());
    assert_eq!(longhaul(&["ab", "wan", "--series"]).code, Some(2));
    let ended = ab("wan", &["--arms", "rfc", "--out", out, "--series"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let (runs, series) = (rows(directory.path(), "runs"), rows(directory.path(), "series"));
    for run in &runs {
        let own = |name: &str| {
            let rows = series.iter().filter(|row| row["run"] == run["run"] && row["name"] == name);
            rows.map(|row| row["value"].as_u64().unwrap()).collect::<Vec<_>>()
        };
        // The FIN is one more.
        assert_eq!(own("sent_bytes").iter().sum::<u64>(), run["bytes_sent"].as_u64().unwrap() + 1);
        assert_eq!(own("acked_bytes").iter().sum::<u64>(), run["bytes"].as_u64().unwrap() + 1);
        assert!(own("srtt_ns").iter().all(|srtt| *srtt >= 25_000_000) && !own("cwnd_bytes").is_empty());
    }
}

#[test]
fn runs_that_were_kept_without_series_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let out = text_of(directory.path());
    assert_eq!(ab("wan", &["--arms", "rfc", "--out", out]).code, Some(0));
    let ended = ab("wan", &["--arms", "rfc,linux", "--out", out, "--series"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("note: 2 of these runs were kept without series and are not made again; name another"),
        "{}",
        ended.stderr
    );
    let series = rows(directory.path(), "series");
    let runs = rows(directory.path(), "runs");
    let has = |run: &Value| series.iter().any(|row| row["run"] == run["run"]);
    assert_eq!(runs.iter().map(|run| (run["arm"] == "linux", has(run))).filter(|(linux, has)| linux == has).count(), 4);
    let real = longhaul(&["ab", "wan", "--series", "--out", out, "--backend", "netns"]);
    assert_eq!(real.code, Some(2));
    assert!(real.stderr.contains("only the simulator keeps series"), "{}", real.stderr);
}

#[test]
fn runs_until_decided_that_were_killed_go_on_to_the_same_verdicts_and_rows() {
    let directory = tempfile::tempdir().unwrap();
    let (killed, whole) = (directory.path().join("killed"), directory.path().join("whole"));
    let arguments = |out: &Path| seeds("4", out, &["--until-decided", "120", "--format", "jsonl", "--jobs", "2"]);
    let undisturbed = run(&arguments(&whole));
    assert_eq!(undisturbed.code, Some(0), "{}", undisturbed.stderr);
    let made = rows(&whole, "runs").len();
    assert!(made > 2 * 4, "{made} runs: none was added");
    let words = arguments(&killed);
    let files = || std::fs::read_dir(killed.join("runs")).into_iter().flatten().count();
    for enough in [1, made / 4, made / 3] {
        let mut child = command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while child.try_wait().unwrap().is_none() && files() < enough {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(child.try_wait().unwrap().is_none(), "it was done before it was killed");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let kept = rows(&killed, "runs").len();
    assert!((2..made).contains(&kept), "{kept} of {made}");
    let resumed = run(&words);
    assert!(resumed.stderr.contains(&format!("resumed: {kept} runs")), "{}", resumed.stderr);
    assert_eq!(resumed.stdout, undisturbed.stdout);
    let verdicts = objects(&resumed.stdout);
    assert!(verdicts.iter().any(|row| row["vs_reference"]["verdict"].is_string()), "{}", resumed.stdout);
    assert!(shards(&killed) == shards(&whole));
}

#[test]
fn files_are_the_same_for_any_number_of_jobs() {
    let directory = tempfile::tempdir().unwrap();
    let [one, three] = ["1", "3"].map(|jobs| {
        let out = directory.path().join(jobs);
        let ended = run(&seeds("8", &out, &["--jobs", jobs]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        shards(&out)
    });
    assert_eq!(one.len(), 3 * 8, "a unit is a file of each table");
    assert!(one == three);
}

/// A small generator: the test is the same every time, as far as clocks allow.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn killed_at_fifty_points_it_loses_no_finished_unit_and_doubles_none() {
    let directory = tempfile::tempdir().unwrap();
    let (killed, whole) = (directory.path().join("killed"), directory.path().join("whole"));
    let arguments = |out: &Path| seeds("400", out, &["--jobs", "2"]);
    let words = arguments(&killed);
    let count = |table: &str| std::fs::read_dir(killed.join(table)).into_iter().flatten().count();
    let files = || ["runs", "flows", "series"].map(count).iter().sum::<usize>();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let (mut before, mut alive) = (shards(&killed), 0);
    for kill in 0..50 {
        let mut child = command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let enough = before.len() + (next(&mut random) % 10) as usize;
        while child.try_wait().unwrap().is_none() && files() < enough {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(next(&mut random) % 5_000));
        alive += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let after = shards(&killed);
        let lost = before.iter().find(|(path, content)| after.get(*path) != Some(content));
        assert!(lost.is_none(), "kill {kill}: {:?} is lost or has changed", lost.map(|(path, _)| path));
        let runs = rows(&killed, "runs");
        assert_eq!(distinct(&runs), runs.len(), "kill {kill}");
        before = after;
    }
    assert_eq!(alive, 50, "it was done before it was killed");
    let units = |folder: &Path| shards(folder).into_keys().filter(|path| path.starts_with("runs")).count();
    let finished = units(&killed);
    assert!((50..400).contains(&finished), "{finished} units");
    let [resumed, undisturbed] = [&killed, &whole].map(|out| run(&arguments(out)));
    assert_eq!((resumed.code, undisturbed.code), (Some(0), Some(0)), "{}{}", resumed.stderr, undisturbed.stderr);
    assert!(resumed.stderr.contains(&format!("resumed: {} runs", 2 * finished)), "{}", resumed.stderr);
    assert_eq!(resumed.stdout, undisturbed.stdout);
    assert_eq!(units(&killed), 400);
    assert!(shards(&killed) == shards(&whole));
    let unfinished = std::fs::read_dir(killed.join("runs"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(unfinished.count(), 0);
}

#[test]
fn what_cannot_be_written_ends_it_with_a_reason_and_leaves_no_part() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let words = seeds("3", &out, &[]).iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let limited = format!("trap '' XFSZ; ulimit -f 4; exec '{}' {words}", env!("CARGO_BIN_EXE_longhaul"));
    let full: Ended = Command::new("sh").args(["-c", &limited]).stdin(Stdio::null()).output().unwrap().into();
    assert_eq!(full.code, Some(1), "{}", full.stderr);
    let reason = full.stderr.lines().find(|line| line.starts_with("error: cannot write `")).unwrap_or_default();
    assert!(
        reason.contains("File too large") && reason.ends_with("; what was written before is kept"),
        "{}",
        full.stderr
    );
    // A small shard of another table may be there, whole; that of runs completes a unit.
    let names = |table: &str| std::fs::read_dir(out.join(table)).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names("runs").count(), 0);
    let parts = ["flows", "series"].into_iter().flat_map(names).filter(|name| name.to_string_lossy().starts_with('.'));
    assert_eq!(parts.count(), 0);
    assert_eq!(run(&seeds("3", &out, &[])).code, Some(0));
    assert_eq!(rows(&out, "runs").len(), 6);
}

#[test]
fn a_folder_that_holds_something_else_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("runs")).unwrap();
    let path = directory.path().join("runs/mine.parquet");
    std::fs::write(&path, "mine").unwrap();
    let ended = ab("wan", &["--out", text_of(directory.path())]);
    assert_eq!(ended.code, Some(2));
    let problem = "runs/mine.parquet` is not a shard of longhaul's results: ";
    assert!(ended.stderr.starts_with("error: --out: `") && ended.stderr.contains(problem), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let nowhere = ab("wan", &["--out", "/dev/null/results"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.stderr.contains("error: --out: cannot write `/dev/null/results`: "), "{}", nowhere.stderr);
}
