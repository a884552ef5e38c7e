//! `longhaul run` and `longhaul replay` from the outside, and tshark as an independent reader of their files. This needs
//! `tshark`; if it is missing the tests fail and name it.

#[path = "../outside/program.rs"]
mod outside;
#[path = "../outside/kept.rs"]
mod tables;

use outside::longhaul;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tables::rows;
use trace_io::Event;

fn text_of(path: &Path) -> &str {
    path.to_str().expect("temporary directories have plain names")
}

fn run_dsack(arm: &str, directory: &Path, more: &[&str]) -> String {
    let ended = longhaul(&[&["run", "dsack", "--arm", arm, "--trace", text_of(directory)], more].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

fn summary(directory: &Path) -> Value {
    let text = std::fs::read_to_string(directory.join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the number of packets in the trace that match a tshark filter.
fn tshark(directory: &Path, filter: &str) -> u64 {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(directory.join("trace.pcapng")).args(["-Y", filter]);
    command.args([
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "ip.check_checksum:TRUE",
        "-T",
        "fields",
        "-e",
        "frame.number",
    ]);
    let output =
        command.output().expect("this test needs `tshark` as an independent reader: apt-get install -y tshark");
    assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().count() as u64
}

fn segments(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count["segments"].as_u64().unwrap()).sum()
}

/// With D-SACKs recognised, and without.
#[test]
fn tshark_finds_nothing_wrong_and_counts_what_we_count() {
    for (arm, recognises) in [("windows-11-21h2", false), ("windows-11-22h2", true)] {
        let directory = tempfile::tempdir().unwrap();
        run_dsack(arm, directory.path(), &[]);
        let observed = summary(directory.path())["observed"].clone();
        let again = segments(&observed["retransmitted"]);
        let dsacks = observed["dsacks"]["sent"].as_u64().unwrap();
        let count = |filter| tshark(directory.path(), filter);
        assert_eq!(count("_ws.malformed || _ws.expert.severity == \"Error\""), 0, "{arm}");
        assert_eq!(count("tcp.checksum.status == Bad || ip.checksum.status == Bad"), 0, "{arm}");
        assert!(
            count("tcp.checksum.status == Good && ip.checksum.status == Good") > 1_000,
            "{arm}: packets without data"
        );
        assert!(dsacks > 0 && again > 0, "{arm}");
        assert_eq!(count("tcp.options.sack.dsack"), dsacks, "{arm}");
        // tshark classifies a retransmission soon after a later segment as an out-of-order packet.
        assert_eq!(count("tcp.analysis.retransmission || tcp.analysis.out_of_order"), again, "{arm}");
        assert_eq!(observed["dsacks"]["recognised"], if recognises { dsacks } else { 0 }, "{arm}");
        analysis_agrees(directory.path(), &observed, again, dsacks);
    }
}

/// Truncated packets have checksums that cannot be verified.
#[test]
fn packets_are_kept_whole_on_request_and_every_checksum_is_right() {
    let directory = tempfile::tempdir().unwrap();
    run_dsack("longhaul", directory.path(), &["--set", "flow.bytes=1MB", "--snaplen", "65535"]);
    let count = |filter| tshark(directory.path(), filter);
    let all = count("frame");
    assert!(all > 700, "{all} packets");
    assert_eq!(count("tcp.checksum.status == Good && ip.checksum.status == Good"), all);
    assert_eq!(count("frame.cap_len == frame.len"), all);
}

/// The comments contain the events, including those after the last packet.
#[test]
fn every_event_is_a_comment() {
    let directory = tempfile::tempdir().unwrap();
    run_dsack("longhaul", directory.path(), &["--set", "flow.bytes=300kB"]);
    let bytes = std::fs::read(directory.path().join("trace.pcapng")).unwrap();
    let mut file = pcap_file::pcapng::PcapNgReader::new(&bytes[..]).unwrap();
    let (mut comments, mut packets, mut counted) = (Vec::new(), 0, None);
    while let Some(block) = file.next_block() {
        use pcap_file::pcapng::Block;
        use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
        use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
        match block.unwrap() {
            Block::EnhancedPacket(packet) => {
                packets += 1;
                for option in &packet.options {
                    if let EnhancedPacketOption::Comment(text) = option {
                        comments.extend(text.lines().map(str::to_owned));
                    }
                }
            }
            Block::InterfaceStatistics(block) => {
                for option in &block.options {
                    match option {
                        InterfaceStatisticsOption::Comment(text) => comments.extend(text.lines().map(str::to_owned)),
                        InterfaceStatisticsOption::IsbIfRecv(count) => counted = Some(*count),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    assert_eq!(counted, Some(packets));
    comments.retain(|line| !line.ends_with(':'));
    let trace = trace_io::dir::read(directory.path()).unwrap();
    let mut happened: Vec<String> =
        trace.records.iter().map(|record| format!("{} {}", record.at.as_nanos(), record.event)).collect();
    happened.sort_unstable();
    comments.sort_unstable();
    assert_eq!(comments, happened);
}

/// Runs our own reader of captures on the packets: it does not see the events.
fn analysis(directory: &Path) -> Value {
    let ended = longhaul(&["analyze", text_of(&directory.join("trace.pcapng")), "--format", "jsonl"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut flows: Vec<Value> = ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(flows.len(), 1, "both ends are one connection");
    flows.remove(0)
}

fn analysis_agrees(directory: &Path, observed: &Value, again: u64, dsacks: u64) {
    let flow = analysis(directory);
    let data = &flow["directions"][0];
    assert_eq!((&data["retransmissions"], &data["dsacks"]), (&Value::from(again), &Value::from(dsacks)));
    // Packets are captured where they leave, so the way to either end and back covers the whole path.
    let (seen, known) = (flow["rtt"]["min_ms"].as_f64().unwrap(), observed["rtt"]["min_ns"].as_f64().unwrap() / 1e6);
    assert!((seen - known).abs() < 1e-3 * known, "{seen} ms, {known} ms");
}

/// Collects every time span in an object, with its place: fields whose names end in `_ms`.
fn spans(value: &Value, place: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let place = format!("{place}/{name}");
            if let (true, Some(span)) = (name.ends_with("_ms"), value.as_f64()) {
                found.push((place, span));
            } else {
                spans(value, &place, found);
            }
        }),
        Value::Array(values) => values.iter().for_each(|value| spans(value, place, found)),
        _ => {}
    }
}

/// Returns the shortest round trip of nothing, and that of a full segment with its transmission time at the bottleneck; `None` if a
/// model draws them.
fn shortest_round_trips_ms(run: &Value) -> Option<(f64, f64)> {
    let network = |name: &str| run["network"][name].as_f64().unwrap();
    let (mut forward, reverse) = (network("forward_ns") / 1e6, network("reverse_ns") / 1e6);
    let cell = |key: &str| {
        let setting = run["cell"].as_array().unwrap().iter().find(|setting| setting[0] == key)?;
        setting[1].as_str().map(str::to_owned)
    };
    if cell("path.model").is_some_and(|model| model.starts_with("leo")) {
        return None;
    }
    // A packet that overtakes takes a shorter route.
    if cell("path.reorder.mode").as_deref() == Some("early") {
        let way = profiles::units::duration(&cell("path.reorder.delay").unwrap()).unwrap();
        forward = forward.min(way.as_nanos() as f64 / 1e6);
    }
    let bare = forward + reverse;
    Some((bare, bare + 1500.0 * 8e3 / network("rate_bps")))
}

/// An analysis that adds waits which overlap, or takes the wrong packet for an answer, exceeds what the experiment is known to
/// have taken.
#[test]
fn no_time_in_the_analysis_of_an_experiment_exceeds_the_flow_and_the_round_trip_is_the_path_s() {
    let mut wrong = Vec::new();
    for (name, _) in lab::spec::BUILTIN {
        let experiment = lab::spec::builtin(name).unwrap();
        if experiment.has_company() {
            continue;
        }
        let arms = experiment.arms;
        let last = arms.len() - 1;
        // The reference, which is the oldest in most experiments, the newest, and the one with timestamps.
        let chosen = arms.iter().enumerate().filter(|(index, arm)| [0, last].contains(index) || arm.name == "linux");
        for (_, arm) in chosen {
            let directory = tempfile::tempdir().unwrap();
            let small = ["--set", "flow.bytes=2MB", "--trace", text_of(directory.path())];
            let ended = longhaul(&[&["run", name, "--arm", &arm.name], &small[..]].concat());
            assert_eq!(ended.code, Some(0), "{name} {}: {}", arm.name, ended.stderr);
            let (flow, run) = (analysis(directory.path()), summary(directory.path())["run"].clone());
            let at = format!("{name} {}", arm.name);
            let mut found = Vec::new();
            spans(&flow, "", &mut found);
            found.retain(|(place, _)| place != "/start_unix_ms");
            let duration = flow["duration_ms"].as_f64().unwrap();
            let longer: Vec<_> = found.iter().filter(|(_, span)| *span > duration + 1e-6).collect();
            if found.len() <= 5 || !longer.is_empty() {
                wrong.push(format!("{at}: {duration} ms, {longer:?}"));
            }
            let Some((bare, path)) = shortest_round_trips_ms(&run) else { continue };
            let seen = flow["rtt"]["min_ms"].as_f64().unwrap();
            println!("{at}: {} spans in {duration:.1} ms; RTT {seen:.2} ms on a path of {path:.2} ms", found.len());
            // On a slow path a short segment takes much less time than a full one, and one of two that are acknowledged together waits
            // behind the other.
            if seen < 0.9 * bare || seen > 1.1 * (path + path - bare) {
                wrong.push(format!("{at}: {seen} ms on a path of {path} ms"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_trace_directory_holds_the_run_and_its_summary_adds_up() {
    let directory = tempfile::tempdir().unwrap();
    let printed = run_dsack("windows-11-22h2", directory.path(), &[]);
    let last = printed.lines().last().unwrap();
    assert!(last.starts_with("limited by") && last.contains('%'), "{printed}");
    let (trace, summary) = (trace_io::dir::read(directory.path()).unwrap(), summary(directory.path()));
    assert_eq!((trace.meta.experiment.as_str(), trace.meta.arm.as_str()), ("dsack", "windows-11-22h2"));
    let sent = trace.records.iter().filter(|record| record.conn.0 == trace.meta.ends[0].conn);
    let sent = sent.filter(|record| matches!(record.event, Event::SegmentSent { .. })).count() as u64;
    assert_eq!(segments(&summary["observed"]["sent"]), sent);
    let again = summary["observed"]["retransmitted"].as_object().unwrap().values();
    let bytes: u64 = again.map(|count| count["bytes"].as_u64().unwrap()).sum();
    assert_eq!(summary["measured"]["bytes_retransmitted"], bytes);
    let shares = summary["observed"]["limited"]["shares"].as_array().unwrap();
    let percent: f64 = shares.iter().map(|share| share["percent"].as_f64().unwrap()).sum();
    assert!((percent - 100.0).abs() < 1e-6, "{percent}");
    let qlog = std::fs::read(directory.path().join("trace.qlog")).unwrap();
    let texts = qlog.split(|byte| *byte == 0x1e).skip(1);
    let texts: Vec<Value> = texts.map(|text| serde_json::from_slice(text).unwrap()).collect();
    assert_eq!(texts.len(), trace.records.len() + 1);
}

#[test]
fn a_row_of_a_comparison_is_made_again_with_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let (out, trace) = (directory.path().join("out"), directory.path().join("trace"));
    let small = ["--set", "flow.bytes=300kB", "--iterations", "2", "--jobs", "1", "--out", text_of(&out)];
    let ended = longhaul(&[&["ab", "dsack", "--arms", "windows-11-22h2,longhaul"], &small[..]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let kept = rows(&out, "runs");
    assert_eq!(kept.len(), 4);
    for (index, then) in kept.iter().enumerate() {
        let row = (index + 1).to_string();
        let ended = longhaul(&["replay", text_of(&out), &row, "--trace", text_of(&trace)]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let now = summary(&trace);
        for (name, value) in now["measured"].as_object().unwrap() {
            assert_eq!(then[name], *value, "row {row}: {name}");
        }
        assert_eq!((&then["seed"], &then["arm"]), (&now["run"]["seed"], &now["run"]["arm"]));
    }
    // A row describes both, and its median run is the slower one.
    let printed =
        longhaul(&[&["ab", "dsack", "--arms", "windows-11-22h2,longhaul", "--format", "jsonl"], &small[..]].concat());
    let file = directory.path().join("rows.jsonl");
    std::fs::write(&file, &printed.stdout).unwrap();
    for (row, arm) in [("1", "windows-11-22h2"), ("2", "longhaul")] {
        let ended = longhaul(&["replay", text_of(&file), row, "--trace", text_of(&trace)]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let runs = kept.iter().filter(|row| row["arm"] == arm);
        let slower = runs.max_by_key(|line| line["elapsed_ns"].as_u64()).unwrap();
        let now = summary(&trace);
        assert_eq!((&slower["seed"], &slower["elapsed_ns"]), (&now["run"]["seed"], &now["measured"]["elapsed_ns"]));
    }
    let ended = longhaul(&["replay", text_of(&out), "5"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("row 5: no such row; rows are 1 to 4"), "{}", ended.stderr);
}

/// Each flow is a connection of the packets, with the events that name it as their comments.
#[test]
fn a_run_of_several_flows_is_traced_with_the_first_of_each_group() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let small = ["flow.company=arm x2 + linux start=500ms", "flow.window=1s..3s", "path.rate=10Mbit", "path.rtt=25ms"];
    let small: Vec<&str> = small.iter().flat_map(|set| ["--set", set]).collect();
    let ended = longhaul(
        &[&["run", "fairness", "--arm", "longhaul", "--trace", text_of(&trace), "--flows", "2"], &small[..]].concat(),
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("note: the trace holds 2 of 3 flows: arm 1, linux; `--flows`"), "{}", ended.stderr);
    assert!(ended.stdout.contains("arm 2") && ended.stdout.contains("linux         limited by"), "{}", ended.stdout);
    let (written, read) = (summary(&trace), trace_io::dir::read(&trace).unwrap());
    let ends: Vec<&str> = read.meta.ends.iter().map(|end| end.name.as_str()).collect();
    assert_eq!(ends, ["arm 1 sender", "arm 1 receiver", "linux sender", "linux receiver"]);
    let flows = written["flows"].as_array().unwrap();
    let shares: u64 = flows.iter().map(|flow| flow["share_ppm"].as_u64().unwrap()).sum();
    assert!(flows.len() == 3 && (999_990..=1_000_000).contains(&shares), "{flows:?}");
    assert_eq!(tshark(&trace, "_ws.malformed || _ws.expert.severity == \"Error\""), 0);
    for (index, (flow, port)) in [(0, 5_001), (2, 5_003)].into_iter().enumerate() {
        let observed = &written["observed"][index];
        assert_eq!(observed["flow"], flows[flow]["name"]);
        let again: u64 =
            observed["retransmitted"].as_object().unwrap().values().map(|count| count["bytes"].as_u64().unwrap()).sum();
        assert_eq!(flows[flow]["bytes_retransmitted"], again);
        let sent = read.records.iter().filter(|record| {
            let mut ends = read.meta.ends[2 * index..].iter().take(2);
            matches!(record.event, Event::SegmentSent { .. }) && ends.any(|end| end.conn == record.conn.0)
        });
        let of_flow = format!("tcp.port == {port}");
        assert_eq!(tshark(&trace, &of_flow), sent.count() as u64);
        // What a packet's comment says was sent is that packet.
        let own = format!("{of_flow} && tcp.len == 1460 && frame.comment contains \"len=1460\"");
        assert_eq!(tshark(&trace, &own), tshark(&trace, &format!("{of_flow} && tcp.len == 1460")));
    }
    assert_eq!(tshark(&trace, "tcp.port == 5002"), 0);
    // The same run again, of a line, and nothing is written without a trace.
    let out = directory.path().join("out");
    let of_line = ["ab", "fairness", "--arms", "longhaul", "--iterations", "1", "--jobs", "1", "--out", text_of(&out)];
    let ended = longhaul(&[&of_line, &small[..]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let again = longhaul(&["replay", text_of(&out), "1"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let (row, company) = (rows(&out, "runs").remove(0), &written["measured"]["company"]);
    assert!(company["share_ppm"].is_u64());
    for (name, value) in company.as_object().unwrap().iter().filter(|(_, value)| value.is_u64()) {
        assert_eq!(row[name], *value, "{name}");
    }
    assert!(again.stdout.contains("\narm 2 "), "{}", again.stdout);
}

#[test]
fn what_cannot_be_run_is_refused_with_what_would_be_right() {
    for (arguments, message) in [
        (&["run", "dsack", "--cell", "2"][..], "--cell 2: cells are 1 to 1"),
        (&["run", "dsack", "--arm", "longhual"], "did you mean `longhaul`?"),
        (&["run", "dsack", "--arm", "kernel:cubic"], "only profiles can be simulated"),
        (
            &["run", "dsack", "--set", "flow.bytes=1kB", "--trace", "/dev/null/x"],
            "--trace: cannot write `/dev/null/x`: ",
        ),
        (&["replay", "/dev/null/x", "1"], "name the directory that was given to `ab --out`"),
    ] {
        let ended = longhaul(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(message), "{arguments:?}: {}", ended.stderr);
    }
}
