//! The output of `longhaul` for valid requests.

use crate::{SMALL, ab, command, longhaul, objects, paste, replay_of, text_of};
use test_case::test_case;

/// Arms of one family of profiles, and our own.
const THREE: &str = "server-2016,server-2022,longhaul";

#[test]
fn a_line_per_cell_and_arm_has_everything_the_contract_names() {
    let ended = ab("wan", &["--format", "jsonl", "--arms", THREE]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines = objects(&ended.stdout);
    let arms: Vec<&str> = lines.iter().map(|line| line["arm"].as_str().unwrap()).collect();
    assert_eq!(arms, ["server-2016", "server-2022", "longhaul"]);
    for line in &lines {
        assert_eq!((line["experiment"].as_str(), line["runs"].as_u64()), (Some("wan"), Some(2)));
        let cell = &line["cell"];
        assert_eq!((cell["rtt_ms"].as_f64(), cell["bytes"].as_u64()), (Some(25.0), Some(200_000)));
        assert_eq!((cell["rate_mbit"].as_f64(), cell["buffer_bytes"].as_u64()), (Some(100.0), Some(312_500)));
        let goodput = &line["goodput_mbps"];
        assert!(goodput["median"].as_f64().unwrap() > 1.0 && goodput["mean"].as_f64().unwrap() > 1.0);
        assert!(goodput["p10"].is_null() && goodput["p90"].is_null());
        let efficiency = line["efficiency"].as_f64().unwrap();
        assert!(efficiency > 0.05 && efficiency <= 1.0, "{efficiency}");
        for number in ["retransmitted_pct", "rtos", "fast_retransmits"] {
            assert!(line[number].as_f64().unwrap() >= 0.0);
        }
        assert!(line.as_object().unwrap().contains_key("recovery_success_pct"));
    }
    assert!(lines[0]["vs_reference"].is_null());
    let versus = &lines[2]["vs_reference"];
    assert!(versus["median_ratio"].as_f64().unwrap() > 0.1);
    assert!(versus["lo"].is_null() && versus["hi"].is_null() && versus["verdict"].is_string());
}

#[test]
fn rows_as_csv_have_the_numbers_of_jsonl_under_flat_names() {
    let lines = objects(&ab("wan", &["--format", "jsonl", "--arms", THREE]).stdout);
    let csv = ab("wan", &["--format", "csv", "--arms", THREE]).stdout;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    assert_eq!(names[..3], ["experiment", "cell_rtt_ms", "cell_bytes"]);
    assert_eq!(rows.count(), lines.len());
    let first = csv.lines().nth(1).unwrap();
    let goodput = lines[0]["goodput_mbps"]["median"].to_string();
    assert!(first.contains(&format!(",server-2016,2,false,{goodput},")), "{first}");
    let expected =
        ["goodput_mbps_median", "vs_reference_median_ratio", "vs_reference_verdict", "efficiency", "median_run_seed"];
    assert!(expected.iter().all(|name| names.contains(name)), "{names:?}");
    assert!(names.iter().all(|name| !name.contains(['.', ' '])), "{names:?}");
}

#[test]
fn the_table_in_markdown_has_the_cells_of_the_terminals() {
    let table = ab("wan", &["--arms", THREE]).stdout;
    let markdown = ab("wan", &["--format", "markdown", "--arms", THREE]).stdout;
    let lines: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.len(), 2 + 3);
    assert!(lines.iter().all(|line| line.matches('|').count() == lines[0].matches('|').count()), "{markdown}");
    let cells: Vec<&str> = lines[4].split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let goodput = cells[cells.iter().position(|cell| *cell == "longhaul").unwrap() + 1];
    assert!(table.lines().any(|line| line.contains("longhaul") && line.contains(goodput)), "{goodput}: {table}");
}

#[test]
fn the_number_of_jobs_cannot_be_seen_in_results() {
    let cells = ["ab", "reorder", "--set", "path.rtt=25ms,50ms", "--set", "flow.bytes=300kB", "--iterations", "3"];
    let with_jobs = |jobs: &str| longhaul(&[&cells[..], &["--format", "jsonl", "--jobs", jobs]].concat());
    let (one, two) = (with_jobs("1"), with_jobs("2"));
    assert_eq!(one.stdout.lines().count(), 10);
    assert_eq!(one.stdout, two.stdout);
    assert!(two.stderr.trim_end().ends_with("packets/s per job)"));
}

#[test]
fn another_seed_gives_other_runs_and_a_repeated_arm_its_own() {
    let goodputs = |seed: &str| -> Vec<f64> {
        let ended = ab("reorder", &["--format", "jsonl", "--arms", "longhaul,longhaul", "--seed", seed]);
        let lines = objects(&ended.stdout);
        assert_eq!(lines[1]["arm"], "longhaul#2");
        lines.iter().map(|line| line["goodput_mbps"]["mean"].as_f64().unwrap()).collect()
    };
    let (one, two) = (goodputs("1"), goodputs("2"));
    assert!(one[0] != one[1] && one[0] != two[0], "{one:?} {two:?}");
}

#[test]
fn the_last_line_on_stderr_sums_up_and_processor_time_stands_before_it() {
    let ended = ab("wan", &["--backend", "mock", "--jobs", "2"]);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let last = lines.last().unwrap();
    assert!(last.starts_with("done: 10 runs, 1000 packets in ") && last.contains(" s on 2 jobs ("), "{last}");
    assert!(last.ends_with(" packets/s per job)"), "{last}");
    assert!(lines[lines.len() - 2].starts_with("cpu: "), "{}", ended.stderr);
}

#[test]
fn the_table_shows_what_is_known_and_fits_into_a_hundred_columns() {
    // With a value set by hand, the experiment's expectations are not checked.
    let ended = longhaul(&[
        "ab",
        "reorder",
        "--backend",
        "mock",
        "--iterations",
        "6",
        "--set",
        "path.jitter=100us",
        "--arms",
        THREE,
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in ended.stdout.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
    let rows: Vec<&str> = ended.stdout.lines().filter(|line| line.contains("server-2022 ")).collect();
    assert_eq!(rows.len(), 8);
    assert!(rows[0].contains("0.500 [0.500, 0.500] ▼"), "{}", rows[0]);
    assert!(ended.stdout.contains("rate=100Mbit buffer=1bdp jitter=100us reorder.probability=1%"));
}

#[test]
fn templates_are_written_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| text_of(&directory.path().join(name)).to_owned();
    let mine = path("mine.toml");
    assert_eq!(longhaul(&["init", &mine]).code, Some(0));
    let again = longhaul(&["init", &mine]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("; name another file"), "{}", again.stderr);
    let (profile, experiment) = (path("tcp.toml"), path("paths.toml"));
    std::fs::write(&profile, longhaul(&["profiles", "longhaul", "--toml"]).stdout).unwrap();
    std::fs::write(&experiment, longhaul(&["experiments", "robust", "--toml"]).stdout).unwrap();
    let checked = longhaul(&["check", &mine, &profile, &experiment]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let lines: Vec<&str> = checked.stdout.lines().collect();
    assert!(
        lines[0].ends_with(": an experiment of 2 cells, 2 arms and 10 runs of each, without an error"),
        "{lines:?}"
    );
    assert!(lines[1].contains(": a profile that extends rfc, without an error"), "{lines:?}");
    assert!(lines[2].contains(": an experiment of "), "{lines:?}");
    std::fs::write(&profile, "extends = \"rfc\"\nsummary = \"x\"\n[rto]\nmim = 1\n").unwrap();
    let wrong = longhaul(&["check", &profile]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert!(wrong.stderr.contains("tcp.toml:4:1: "), "{}", wrong.stderr);
}

#[test]
fn a_table_shows_both_bottlenecks_within_a_hundred_columns() {
    let short = ["--set", "flow.window=5s..10s", "--iterations", "1", "--arms", "linux,longhaul"];
    let ended = longhaul(&[&["ab", "parking-lot"], &short[..]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let head = ended.stdout.lines().find(|line| line.starts_with("second.rate")).expect("the table has a head");
    assert!(head.contains("use  wait  use 2  wait 2"), "{head}");
    assert!(head.chars().count() <= 100, "{head}");
    assert!(ended.stdout.contains("use 2    the same of the second bottleneck"), "{}", ended.stdout);
}

#[test]
fn a_table_says_in_what_its_arms_differ_and_why_verdicts_are_open() {
    let set = ["--set", "longhaul.cc.slow_start.kind=classic"];
    let ended = ab("wan", &[&["--arms", "longhaul,longhaul,linux", "--backend", "mock"][..], &set].concat());
    let head = "wan: changed to longhaul.cc.slow_start.kind=classic flow.bytes=200kB path.rtt=25ms arms longhaul,longhaul,linux";
    let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with(head), "{}", ended.stdout);
    assert!(ended.stdout.contains("  longhaul#2: nothing but the seeds\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("set in longhaul: cc.slow_start.kind=classic"), "{}", ended.stdout);
    assert!(ended.stdout.contains("there is none of fewer than 6 runs"), "{}", ended.stdout);
    assert!(ended.stderr.contains("note: [expect] is not checked: "), "{}", ended.stderr);
    let enough = longhaul(&["ab", "wan", "--backend", "mock", "--arms", "rfc,longhaul", "--iterations", "6"]);
    assert!(!enough.stdout.contains("there is none of fewer"), "{}", enough.stdout);
    assert!(enough.stderr.contains("it speaks of 10 runs per arm and cell, and these are 6"), "{}", enough.stderr);
}

#[test]
fn a_run_names_the_leaves_that_were_set_in_its_arm() {
    let small = ["--set", "flow.bytes=200kB", "--set", "path.rtt=25ms", "--arm", "longhaul"];
    let first = |set: &[&str]| {
        let ended = longhaul(&[&["run", "wan"], &small[..], set].concat());
        ended.stdout.lines().next().unwrap_or_default().to_owned()
    };
    assert!(first(&[]).starts_with("run         wan with longhaul, iteration 1,"), "{}", first(&[]));
    let set = ["--set", "longhaul.rto.min=1s", "--set", "longhaul.ack.delay=10ms,20ms", "--cell", "2"];
    let begin = "run         wan with longhaul (rto.min=1s ack.delay=20ms), iteration 1,";
    assert!(first(&set).starts_with(begin), "{}", first(&set));
}

#[test]
fn a_path_that_draws_nothing_is_run_once_and_says_so() {
    let set = ["--set", "path.jitter=0", "--set", "flow.bytes=200kB", "--set", "path.rtt=25ms"];
    let ended = longhaul(&[&["ab", "wan", "--arms", "rfc,longhaul", "--iterations", "9"], &set[..]].concat());
    assert!(ended.stderr.contains("done: 2 runs"), "{}", ended.stderr);
    let sentence = "runs per arm and cell: 1, since the path draws nothing and all runs would be equal\n";
    assert!(ended.stdout.contains(sentence), "{}", ended.stdout);
    let row = ended.stdout.lines().find(|line| line.starts_with("longhaul ")).unwrap();
    assert!(row.contains(" = "), "{row}");
}

#[test]
fn where_losses_are_placed_the_table_shows_what_they_cost() {
    let ended = longhaul(&["ab", "tail-loss", "--set", "flow.bytes=50kB", "--iterations", "6"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in ended.stdout.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
    assert!(ended.stdout.contains("repair  round trips that the losses cost, median"), "{}", ended.stdout);
    let rows = ended.stdout.lines().filter(|line| line.contains("no-probe "));
    let timeouts: Vec<&str> = rows.filter_map(|row| row.split_whitespace().last()).collect();
    assert_eq!(timeouts, ["1.0"; 6]);
}

#[test]
fn a_failed_run_is_reported_with_its_seed_and_one_command_that_replays_it() {
    let arguments =
        ["ab", "wan", "--backend", "mock", "--set", "flow.bytes=13B,1kB", "--iterations", "2", "--arms", "rfc,rfc"];
    let ended = longhaul(&[&arguments[..], &["--format", "jsonl"]].concat());
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("error: run 1/rfc/1 (path.rtt=25ms flow.bytes=13B, seed "), "{}", ended.stderr);
    assert!(ended.stderr.contains("more runs failed") && ended.stderr.lines().last().unwrap().starts_with("done: "));
    assert_eq!(objects(&ended.stdout).iter().filter(|line| line["runs"] == 2).count(), 8);
    let again = paste(replay_of(&ended.stderr));
    assert_eq!(again.code, Some(1));
    assert_eq!(again.stderr.lines().next(), ended.stderr.lines().next());
    assert!(again.stderr.contains("done: 1 runs"), "{}", again.stderr);
}

#[test]
fn an_expectation_that_is_not_met_fails_with_a_command_for_its_cell() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("claim.toml");
    let text = "summary = \"a claim\"\n[arms]\nuse = [\"rfc\", \"longhaul\"]\n[sweep]\n\"flow.bytes\" = [\"1kB\", \"2kB\"]\n\
                [expect]\n\"longhaul.goodput / rfc.goodput\" = { at_least = 0.9 }\n";
    std::fs::write(&path, text).unwrap();
    let ended = longhaul(&["ab", text_of(&path), "--backend", "mock", "--format", "jsonl"]);
    assert_eq!(ended.code, Some(1));
    let complaint =
        "error: flow.bytes=2kB, seed 1: `longhaul.goodput / rfc.goodput` is 0.500, at least 0.9 was expected";
    assert!(ended.stderr.contains(complaint), "{}", ended.stderr);
    let again = paste(&format!("{} --format jsonl", replay_of(&ended.stderr)));
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let (all, cell) = (objects(&ended.stdout), objects(&again.stdout));
    assert_eq!(cell.len(), 2);
    assert_eq!(cell[1]["goodput_mbps"], all[1]["goodput_mbps"]);
    let (mut alone, mut in_table) = (cell[1]["vs_reference"].clone(), all[1]["vs_reference"].clone());
    // What the whole table says depends on its other cells.
    assert!(alone["p_table"].take().as_f64() < in_table["p_table"].take().as_f64());
    assert_eq!(alone, in_table);
}

#[test]
fn a_trace_of_one_run_is_the_same_every_time() {
    let directory = tempfile::tempdir().unwrap();
    let trace = |name: &str| {
        let path = directory.path().join(name);
        let ended = ab("wan", &["--run", "1/longhaul/2", "--trace", text_of(&path)]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        std::fs::read_to_string(path).unwrap()
    };
    let (one, two) = (trace("one"), trace("two"));
    assert_eq!(one, two);
    assert!(one.lines().count() > 100 && one.lines().all(|line| line.contains('{') && line.ends_with('}')), "{one}");
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let arguments = [&["ab", "wan", "--backend", "mock"], &SMALL[..]].concat();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command(&arguments).stdout(writer).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""));
}

#[test_case(&["experiments"], "wan              Bulk transfers over a clean 100 Mbit/s path"; "experiments")]
#[test_case(&["experiments", "wan"], "8 cells × 10 runs of server-2016"; "an experiment")]
#[test_case(&["experiments", "wan", "--toml"], "\"path.rtt\" = [\"25ms\", \"50ms\", \"100ms\", \"200ms\"]"; "an experiment's file")]
#[test_case(&["profiles", "longhaul", "--toml"], "extends = \"rfc\" summary = "; "a profile's file")]
#[test_case(&["completions", "bash"], "longhaul__subcmd__experiments"; "words for bash")]
#[test_case(&["completions", "zsh"], "#compdef longhaul"; "words for zsh")]
#[test_case(&["man"], ".SH \"LONGHAUL CHECK\""; "a man page")]
#[test_case(&["profiles"], "server-2016         Windows Server 2016"; "all profiles")]
#[test_case(&["profiles", "server-2022"], "recovery.probe"; "a profile says what is not modelled")]
#[test_case(&["profiles", "server-2016", "server-2022"], "rack_ring     documented   rack             documented"; "two profiles")] // variant: rack_ring
#[test_case(&["profiles", "rfc", "server-2016"], "      server-2016: Microsoft's account of its TCP up to Server 2022: a circular array"; "and on what evidence")]
#[test_case(&["profiles", "longhaul", "longhaul"], "They do not differ."; "the same profile twice")]
#[test_case(&["profiles", "--unproven"], "server-2016: assumed values"; "unproven values")]
#[test_case(&["profiles", "rfc", "--unproven"], "ack.delay"; "unproven values of one")]
fn lists_are_printed(arguments: &[&str], expected: &str) {
    let ended = longhaul(arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    // The width of the columns depends on their longest word.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&ended.stdout).contains(&words(expected)), "{}", ended.stdout);
}

#[test]
fn a_profile_warns_of_what_is_probably_not_meant() {
    let ended = longhaul(&["profiles", "windows-2000-tuned"]);
    assert_eq!(ended.code, Some(0));
    let expected =
        "warning: windows-2000-tuned.toml:8:1: `GlobalTcpMaxWindowSize` is a name that the system does not know";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
    assert!(ended.stdout.contains("TcpWindowSize 131400: a published note"), "{}", ended.stdout);
}

#[test]
fn a_profile_of_ones_own_is_shown_compared_and_takes_part() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.toml");
    let setting = "{ value = 131400, source = \"here\", confidence = \"assumed\" }";
    let text =
        format!("extends = \"windows-2000\"\nsummary = \"mine\"\n[registry]\nGlobalTcpMaxWindowSize = {setting}\n");
    std::fs::write(&path, text).unwrap();
    let own = text_of(&path);
    assert!(longhaul(&["profiles", own]).stdout.contains("GlobalMaxTcpWindowSize 131400: here"));
    let two = longhaul(&["profiles", "windows-2000", own]).stdout;
    assert!(
        two.contains("\n      windows-2000: ") && two.contains("\n      mine: GlobalMaxTcpWindowSize 131400: here"),
        "{two}"
    );
    let ended = ab("wan", &["--arms", &format!("rfc,{own}"), "--format", "jsonl", "--set", "path.rtt=25ms"]);
    assert!(ended.stdout.contains("\"arm\":\"mine\""), "{}", ended.stdout);
    assert!(ended.stderr.starts_with("warning: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("mine.toml:4:1: `GlobalTcpMaxWindowSize` is a name"), "{}", ended.stderr);
}

#[test]
fn lists_fit_into_a_hundred_columns() {
    for arguments in [
        &["profiles", "server-2016"][..],
        &["profiles", "--unproven"],
        &["profiles"],
        &["profiles", "rfc", "server-2016"],
        &["experiments"],
    ] {
        let ended = longhaul(arguments);
        let long = ended.stdout.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None);
    }
}
