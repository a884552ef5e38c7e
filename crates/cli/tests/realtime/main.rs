//! `longhaul ab --backend netns`, from the outside: every kind of arm over a real path, and no leftovers.
//!
//! The tests check results that do not depend on the machine: that every byte arrived, which numbers exist, and what is rejected.
//! This needs root and /dev/net/tun; without them the tests fail and name what is missing, they do not skip.

#[path = "../outside/program.rs"]
mod outside;
mod program;
mod programs;

use outside::{Ended, longhaul};
use program::{Experiment, start};
use serde_json::Value;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::time::{Duration, Instant};
use test_case::test_case;

/// Runs of a small cell; one JSON object a row.
fn rows(experiment: &Experiment, more: &[&str]) -> Vec<Value> {
    let ended = longhaul(&[&["ab", experiment.path(), "--backend", "netns", "--format", "jsonl"], more].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a row knows.
fn known<'r>(row: &'r Value, names: &[&'r str]) -> Vec<&'r str> {
    names.iter().copied().filter(|name| !row[name].is_null()).collect()
}

#[test]
fn every_kind_of_arm_brings_everything_across() {
    const NAMES: [&str; 4] = ["profile", "retransmitted_pct", "rtos", "dsacks_sent"];
    let rows = rows(&Experiment::small(), &["--arms", "longhaul,linux,kernel:cubic,kernel:reno,pair"]);
    let rows_known: Vec<(&str, Vec<&str>)> =
        rows.iter().map(|row| (row["arm"].as_str().unwrap(), known(row, &NAMES))).collect();
    let of_kernel = NAMES[1..].to_vec();
    let expected = [
        ("longhaul", NAMES.to_vec()),
        ("linux", NAMES.to_vec()),
        ("kernel:cubic", of_kernel.clone()),
        ("kernel:reno", of_kernel),
        ("pair", Vec::new()),
    ];
    assert_eq!(rows_known, expected);
    for row in &rows {
        assert_eq!((row["runs"].as_u64(), row["cell"]["bytes"].as_u64()), (Some(2), Some(2_000_000)), "{row}");
        // The path's rate and round trip limit every arm.
        let goodput = row["goodput_mbps"]["median"].as_f64().unwrap();
        assert!(goodput > 0.5 && goodput < 97.0, "{row}");
        assert!(row["latest_ms"].as_f64() > Some(0.0) && row["disturbed_runs"].is_u64(), "{row}");
    }
}

#[test]
fn losses_of_the_path_are_counted_and_repaired_by_both_kinds_of_tcp() {
    let set = ["--set", "path.loss=3%", "--set", "flow.bytes=1MB", "--arms", "longhaul,kernel:cubic"];
    for row in rows(&Experiment::small(), &set) {
        assert!(row["dropped"].as_f64() > Some(1.0), "{row}");
        assert!(row["retransmitted_pct"].as_f64() > Some(0.5), "{row}");
        assert!(row["fast_retransmits"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn a_timed_flow_ends_for_both_kinds_of_tcp() {
    for row in rows(&Experiment::small(), &["--set", "flow.seconds=0.3", "--arms", "longhaul,kernel:cubic"]) {
        assert!(row["elapsed_ms"].as_f64() > Some(300.0), "{row}");
    }
}

#[test]
fn flows_of_the_kernel_share_a_path() {
    let set = ["--set", "path.rate=20Mbit", "--set", "flow.window=1s..4s", "--set", "flow.orders=both"];
    let company = "flow.company=arm + kernel:reno start=0.5s + kernel:cubic bytes=100kB";
    let more = ["--arms", "kernel:cubic", "--iterations", "1", "--set", company];
    let row = &rows(&Experiment::small(), &[&more[..], &set].concat())[0];
    let number = |name: &str| row[name].as_f64().unwrap();
    assert!(number("share_pct") > 5.0 && number("share_pct") < 95.0, "{row}");
    // A full path, although a busy machine may be late.
    assert!(number("utilisation") > 0.7 && number("utilisation") < 1.02, "{row}");
    assert!(number("early_share_pct") > 10.0 && number("jain") > 0.3 && number("dropped") > 0.0, "{row}");
    assert_eq!(known(row, &["wait_p95_ms", "dropped_of_arm", "rtos", "retransmitted_pct"]), ["retransmitted_pct"]);
}

#[test]
fn flows_of_profiles_share_a_path_with_each_other_and_with_the_kernel() {
    let set = ["--set", "path.rate=20Mbit", "--set", "flow.window=1s..4s", "--set", "flow.orders=both"];
    let company =
        "flow.company=arm start=0s..0.2s + linux start=0.5s + kernel:cubic bytes=100kB + arm bytes=50kB stop=3s";
    let more = ["--arms", "longhaul,kernel:cubic", "--iterations", "1", "--set", company];
    let rows = rows(&Experiment::small(), &[&more[..], &set].concat());
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert!(number("share_pct") > 5.0 && number("share_pct") < 99.0, "{row}");
        // A full path, although a busy machine may be late.
        assert!(number("utilisation") > 0.7 && number("utilisation") < 1.02, "{row}");
        assert!(number("early_share_pct") > 5.0 && number("dropped") > 0.0, "{row}");
    }
    // Counters of our own flows are known, those of the namespace only if all its flows are the arm's.
    let names = ["wait_p95_ms", "dropped_of_arm", "rtos", "retransmitted_pct", "reo_wnd_mult"];
    assert_eq!(known(&rows[0], &names), ["rtos", "retransmitted_pct", "reo_wnd_mult"]);
    assert_eq!(known(&rows[1], &names), ["retransmitted_pct"]);
}

#[test]
fn two_equal_profiles_have_a_half_each_over_both_orders_of_arrival() {
    let set = ["--set", "path.rate=10Mbit", "--set", "flow.window=0s..4s", "--set", "flow.orders=both"];
    let more = ["--arms", "linux", "--iterations", "1", "--set", "flow.company=arm + linux start=1s"];
    let row = &rows(&Experiment::small(), &[&more[..], &set].concat())[0];
    // The first has a second alone, and each is the first once.
    let share = row["share_pct"].as_f64().unwrap();
    assert!((40.0..60.0).contains(&share), "{row}");
}

#[test]
fn flows_that_nothing_answers_end_with_the_run() {
    let experiment = Experiment::small();
    let set = ["--set", "flow.company=arm + kernel:reno", "--set", "flow.window=1s..2s", "--set", "path.loss=100%"];
    for arm in ["kernel:cubic", "longhaul"] {
        let more = ["ab", experiment.path(), "--backend", "netns", "--arms", arm, "--iterations", "1"];
        let began = Instant::now();
        let ended = longhaul(&[&more[..], &set].concat());
        assert!(ended.stderr.contains("no flow of the arm got through"), "{}", ended.stderr);
        // Other programs may have their turns before.
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    }
}

#[test]
fn a_socket_of_another_user_holds_no_run_up() {
    let name = SocketAddr::from_abstract_name("longhaul-run-in-real-time").unwrap();
    let _theirs = UnixListener::bind_addr(&name).unwrap();
    let experiment = Experiment::small();
    let mut run = start(&["ab", experiment.path(), "--backend", "netns", "--arms", "longhaul"]);
    wait_for("the run ends", || run.try_wait().unwrap().is_some_and(|status| status.success()));
}

/// Tries of a run over the second path. Each checks the path three times, so a machine that is busy for some seconds passes.
const TRIES: u32 = 5;

/// One run over the second path. It is rejected while the machine cannot hold a path within 1 %: on a path of 200 ms that is a
/// millisecond each way, which only a machine that is busy throughout exceeds again and again.
fn over_the_second_path() -> Ended {
    let path = ["--path", "second", "--cells", "200ms@5Mbit"];
    let transfers = ["--iterations", "1", "--bytes", "500kB", "--format", "jsonl"];
    for _ in 0..TRIES {
        let ended = longhaul(&[&["fidelity"], &path[..], &transfers[..]].concat());
        if ended.code != Some(1) || !ended.stderr.contains("too busy to emulate") {
            return ended;
        }
        println!("{}", ended.stderr);
        std::thread::sleep(Duration::from_secs(2));
    }
    panic!(
        "this test needs a machine that delivers 500 packets a second within a millisecond; in {TRIES} tries this one was too busy"
    )
}

#[test]
fn programs_are_measured_over_the_second_path() {
    let ended = over_the_second_path();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let rows: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let arms: Vec<&str> = rows.iter().map(|row| row["arm"].as_str().unwrap()).collect();
    assert_eq!(arms, ["kernel:cubic", "send", "send, serve"]);
    for row in &rows {
        let goodput = row["goodput_mbps"].as_f64().unwrap();
        assert!(goodput > 0.3 && goodput < 5.0, "{row}");
        assert!(row["late_max_ms"].as_f64() > Some(0.0), "{row}");
    }
}

#[test]
fn finished_runs_are_found_again_and_the_simulator_s_are_others() {
    let (experiment, directory) = (Experiment::small(), tempfile::tempdir().unwrap());
    let out = directory.path().to_str().unwrap();
    let ab =
        |backend: &str| longhaul(&["ab", experiment.path(), "--arms", "longhaul", "--backend", backend, "--out", out]);
    assert!(ab("netns").stderr.contains("done: 2 runs"));
    let again = ab("netns");
    assert!(again.stderr.contains("resumed: 2 runs") && again.stderr.contains("done: 0 runs"), "{}", again.stderr);
    let simulated = ab("sim");
    // The path draws nothing, so the simulator makes one run.
    assert!(simulated.stderr.contains("done: 1 run"), "{}", simulated.stderr);
}

#[test]
fn a_run_can_be_watched() {
    let (experiment, directory) = (Experiment::small(), tempfile::tempdir().unwrap());
    let trace = directory.path().join("trace");
    let (path, run) = (trace.to_str().unwrap(), "1/longhaul/2");
    rows(&experiment, &["--arms", "longhaul", "--run", run, "--trace", path]);
    let text = std::fs::read_to_string(&trace).unwrap();
    let sent = text.lines().filter(|line| line.contains(" SegmentSent{")).count();
    let received = text.lines().filter(|line| line.contains(" SegmentReceived{")).count();
    // Super-segments are split on the way.
    assert!(sent > 100 && received > 2_000_000 / 1_460, "{sent} sent, {received} received");
}

#[test]
fn jobs_are_made_one_after_the_other_and_that_is_said() {
    let experiment = Experiment::small();
    let ended = longhaul(&["ab", experiment.path(), "--backend", "netns", "--arms", "longhaul", "--jobs", "4"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("warning: --jobs: runs in real time are made one after the other"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("on 1 jobs"), "{}", ended.stderr);
}

#[test_case("deaf", "the server `sleep 60 # 5201` does not listen on port 5201"; "a server that never listens")]
#[test_case("broken", "ended before it listened on port 5201, exit code 3; it said:\nno luck today"; "a server that fails")]
#[test_case("hasty", "failed, exit code 4; it said:\ngoing already"; "a client that fails")]
fn what_is_wrong_with_a_command_is_reported_with_what_it_wrote(arm: &str, message: &str) {
    let experiment = Experiment::small();
    let ended = longhaul(&["ab", experiment.path(), "--backend", "netns", "--arms", arm, "--iterations", "1"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert!(ended.stderr.contains("--backend netns --run"), "{}", ended.stderr);
}

#[test]
fn what_a_real_path_cannot_do_is_refused() {
    let experiment = Experiment::small();
    let refused = |more: &[&str]| -> Ended {
        let ended = longhaul(&[&["ab", experiment.path(), "--backend", "netns"], more].concat());
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        ended
    };
    let by_position = refused(&["--arms", "longhaul", "--set", "path.drop=last 3"]);
    assert!(by_position.stderr.contains("use the simulator"), "{}", by_position.stderr);
    let pair = refused(&["--arms", "pair", "--set", "flow.company=arm + kernel:cubic"]);
    assert!(pair.stderr.contains("use arms that are profiles or `kernel:cubic`"), "{}", pair.stderr);
    let started = refused(&["--arms", "longhaul", "--set", "flow.startup=measured"]);
    assert!(
        started.stderr.contains("flow.startup=measured: ") && started.stderr.contains("take it out"),
        "{}",
        started.stderr
    );
    let waits = refused(&["--arms", "longhaul", "--set", "flow.company=arm x2", "--metric", "wait_p95_ms"]);
    assert!(waits.stderr.contains("--metric") && waits.stderr.contains("goodput"), "{}", waits.stderr);
    let timed = refused(&["--arms", "pair", "--set", "flow.seconds=1"]);
    assert!(timed.stderr.contains("flow.bytes"), "{}", timed.stderr);
}

#[test_case("sys_admin", "CAP_SYS_ADMIN"; "namespaces")]
#[test_case("net_admin", "CAP_NET_ADMIN"; "devices")]
fn a_missing_privilege_is_named_with_its_remedy(capability: &str, message: &str) {
    let experiment = Experiment::small();
    let without = format!("-{capability}");
    let mut command = std::process::Command::new("setpriv");
    command.args(["--bounding-set", &without, "--inh-caps", &without, env!("CARGO_BIN_EXE_longhaul")]);
    command.args(["ab", experiment.path(), "--backend", "netns", "--arms", "longhaul"]);
    let ended = Ended::from(command.output().unwrap());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains(message) && ended.stderr.contains("root"), "{}", ended.stderr);
}

/// Returns the namespaces that a process created.
fn namespaces_of(pid: u32) -> Vec<String> {
    let prefix = format!("longhaul-{pid}-");
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "still waiting until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_killed_run_leaves_behind_is_gone_after_the_next() {
    let experiment = Experiment::small();
    let mark = experiment.mark();
    let mut running = start(&["ab", experiment.path(), "--backend", "netns", "--arms", "endless"]);
    // The server writes the file once it runs; the file contains its process number.
    wait_for("the arm's server runs", || mark.exists());
    let server: u32 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
    let pid = running.id();
    assert_eq!(namespaces_of(pid).len(), 2);
    running.kill().unwrap();
    running.wait().unwrap();
    rows(&experiment, &["--arms", "longhaul", "--iterations", "1"]);
    assert_eq!(namespaces_of(pid), [""; 0]);
    wait_for("the arm's server is gone", || !is_running(server));
}

/// A process that ended without a parent waiting for it is a zombie: some containers never wait for orphans.
fn is_running(pid: u32) -> bool {
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

#[test_case(nix::sys::signal::Signal::SIGINT; "interrupted")]
#[test_case(nix::sys::signal::Signal::SIGTERM; "terminated")]
fn a_run_that_is_asked_to_end_cleans_up_first(signal: nix::sys::signal::Signal) {
    use std::os::unix::process::ExitStatusExt;
    let experiment = Experiment::small();
    let mark = experiment.mark();
    let mut running = start(&["ab", experiment.path(), "--backend", "netns", "--arms", "endless"]);
    wait_for("the arm's server runs", || mark.exists());
    let server: u32 = std::fs::read_to_string(&mark).unwrap().trim().parse().unwrap();
    let pid = running.id();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).unwrap();
    let status = running.wait().unwrap();
    // If these tests run in a shell's background, SIGINT is ignored, and an exit code shows it.
    let number = status.signal().or(status.code().map(|code| code - 128));
    assert_eq!(number, Some(signal as i32));
    assert_eq!(namespaces_of(pid), [""; 0]);
    assert!(!is_running(server));
}
