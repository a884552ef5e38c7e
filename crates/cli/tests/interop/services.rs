//! `longhaul serve` over the library's streams, `longhaul connections` and the metrics: `curl` and the kernel's sockets as clients.

use crate::netns::Lab;
use crate::peer::Running;
use crate::program::Longhaul;
use crate::{V4, V6, longhaul, own, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use test_case::test_case;

const BYTES: usize = 30_000_000;
const METRICS: &str = "127.0.0.1:9091";

/// Runs `curl` where longhaul runs; returns its exit code and what came.
fn curl(lab: &Lab, words: &str) -> (i32, Vec<u8>) {
    let mut curl = lab.on_router("curl");
    curl.args(["--silent", "--max-time", "60"]).args(words.split_whitespace());
    let output = curl.output().unwrap();
    (output.status.code().unwrap(), output.stdout)
}

fn text(came: (i32, Vec<u8>)) -> String {
    assert_eq!(came.0, 0);
    String::from_utf8(came.1).unwrap()
}

/// A folder with a large file and a small one, and a secret beside it.
fn files() -> (tempfile::TempDir, Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let mut large = vec![0; BYTES];
    tcp::fill_pattern(0, &mut large);
    std::fs::create_dir_all(directory.path().join("www/sub")).unwrap();
    std::fs::write(directory.path().join("secret"), "secret").unwrap();
    std::fs::write(directory.path().join("www/large"), &large).unwrap();
    std::fs::write(directory.path().join("www/sub/small.txt"), "small\n").unwrap();
    (directory, large)
}

fn web(lab: &Lab, cidr: &str, files: &Path, options: &str) -> Longhaul {
    let www = files.join("www");
    let mut server = longhaul(lab, &["serve", "http", www.to_str().unwrap()], cidr, options);
    assert!(server.ready().starts_with("READY http "));
    server
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off"; "without offload")]
#[test_case(V6, "--offload on"; "version six")]
fn curl_gets_files_parts_and_listings(cidr: &str, options: &str) {
    let (lab, (files, large)) = (Lab::new(), files());
    let server = web(&lab, cidr, files.path(), options);
    let url = format!("http://{}", own(cidr, 80));
    let (code, came) = curl(&lab, &format!("{url}/large"));
    assert!(code == 0 && came == large, "{} bytes came", came.len());
    let (code, came) = curl(&lab, &format!("--range 1000000-1999999 {url}/large"));
    assert!(code == 0 && came == large[1_000_000..2_000_000], "{} bytes came", came.len());
    assert!(text(curl(&lab, &format!("--head {url}/large"))).contains(&format!("content-length: {BYTES}\r\n")));
    assert!(text(curl(&lab, &format!("--location {url}/sub"))).contains("<a href=\"./small.txt\">small.txt</a>"));
    // Both come over one connection.
    let twice = format!("--write-out %{{num_connects}} {url}/sub/small.txt {url}/sub/small.txt");
    assert_eq!(text(curl(&lab, &twice)), "small\n1small\n0");
    let status = |words: &str| text(curl(&lab, &format!("--output /dev/null --write-out %{{http_code}} {words}")));
    assert_eq!(status(&format!("--path-as-is {url}/../secret")), "404");
    assert_eq!(status(&format!("--path-as-is {url}/%2e%2e/secret")), "404");
    assert_eq!(status(&format!("{url}/%00")), "400");
    assert_eq!(status(&format!("--request DELETE {url}/large")), "405");
    assert_eq!(status(&format!("--range {BYTES}- {url}/large")), "416");
    for request in ["GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n"] {
        let reply = exchange(&lab, own(cidr, 80), request.into()).join();
        assert!(reply.starts_with(b"HTTP/1.1 400 "), "{request}: {}", String::from_utf8_lossy(&reply));
    }
    server.interrupt();
    let summary = server.finish(0);
    assert_eq!(summary.text("/end"), "closed");
}

/// A kernel client that sends, closes its direction, and reads to the end.
fn exchange(lab: &Lab, to: SocketAddr, sent: Vec<u8>) -> Running<Vec<u8>> {
    lab.host().inside(move || {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(&sent).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        back
    })
}

#[test]
fn the_small_services_do_what_their_rfcs_say() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let control = directory.path().join("control");
    let options = format!("--once --control {}", control.display());
    let sent: Vec<u8> = (0..200_000).map(|at| at as u8).collect();
    for (service, port) in [("discard", 9), ("echo", 7)] {
        let mut server = longhaul(&lab, &["serve", service], V4, &options);
        server.ready();
        let back = exchange(&lab, own(V4, port), sent.clone()).join();
        assert!(back == if service == "echo" { sent.clone() } else { Vec::new() }, "{service}: {} bytes", back.len());
        let summary = server.finish(0);
        assert_eq!((summary.number("/read/bytes"), summary.text("/end")), (200_000, "closed".to_owned()));
        assert_eq!(summary.number("/written/bytes"), back.len() as u64);
    }
    let mut server = longhaul(&lab, &["serve", "chargen", "--once"], V4, "");
    server.ready();
    let client = lab.host().inside(|| {
        let mut stream = TcpStream::connect(own(V4, 19)).unwrap();
        let mut lines = vec![0; 74 * 1_000];
        stream.read_exact(&mut lines).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        lines
    });
    let lines = client.join();
    let lines: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
    assert!(lines[0].starts_with(b" !\"#$%&'()*+") && lines[1].starts_with(b"!\"#") && lines[94].starts_with(b"~ !"));
    assert!(lines.iter().all(|line| line.len() == 74 && line.ends_with(b"\r\n")));
    assert!(server.finish(0).number("/written/bytes") >= 74_000);
}

/// Runs `longhaul connections`.
fn connections(control: &Path, format: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_longhaul"));
    command.args(["connections", "--control", control.to_str().unwrap(), "--format", format]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_running_stack_shows_its_connections_and_its_totals() {
    let (lab, (files, _)) = (Lab::new(), files());
    let control = files.path().join("control");
    let options = format!("--control {} --metrics {METRICS}", control.display());
    let server = web(&lab, V4, files.path(), &options);
    assert_eq!(std::fs::metadata(&control).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(connections(&control, "json"), "[]\n");
    // A client that asks for a file and reads little of it.
    let client = lab.host().inside(|| {
        let mut stream = TcpStream::connect(own(V4, 80)).unwrap();
        stream.write_all(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
        stream
    });
    let client = client.join();
    wait_until(|| connections(&control, "json").contains("bytes_sent"));
    let all: Value = serde_json::from_str(&connections(&control, "json")).unwrap();
    let one = &all[0];
    assert_eq!((&one["local"], &one["state"]), (&"10.9.0.2:80".into(), &"ESTABLISHED".into()));
    assert_eq!(one["remote"], client.local_addr().unwrap().to_string());
    for name in ["srtt_us", "cwnd_bytes", "bytes_sent", "bytes_received", "smss_bytes"] {
        assert!(one[name].as_u64().is_some_and(|number| number > 0), "{name}: {one}");
    }
    for name in ["in_flight_bytes", "bytes_retransmitted", "bytes_acked"] {
        assert!(one[name].as_u64().is_some(), "{name}: {one}");
    }
    let table = connections(&control, "table");
    assert_eq!(table.lines().count(), 3, "{table}");
    assert!(table.contains("10.9.0.2:80") && table.contains("ESTABLISHED"), "{table}");
    let fields = text(curl(&lab, &format!("--head http://{METRICS}/metrics")));
    assert!(fields.contains("content-type: text/plain; version=0.0.4"), "{fields}");
    let metrics = parse(&text(curl(&lab, &format!("http://{METRICS}/metrics"))));
    assert_eq!(metrics["longhaul_connections{state=\"ESTABLISHED\"}"], 1);
    assert!(metrics["longhaul_frames_received_total"] >= 3 && metrics["longhaul_frames_sent_total"] >= 3);
    assert_eq!(metrics["longhaul_checksum_errors_total"], 0);
    assert_eq!(metrics["longhaul_dropped_packets_total{reason=\"checksum\"}"], 0);
    assert_eq!(metrics["longhaul_dropped_packets_total{reason=\"datagram_udp_checksum\"}"], 0);
    assert!(metrics.contains_key("longhaul_payload_received_bytes_total"));
    drop(client);
    wait_until(|| connections(&control, "json") == "[]\n");
    server.interrupt();
    server.finish(0);
    assert!(!control.exists());
}

/// Reads the text format strictly, and returns the samples by name and labels.
fn parse(text: &str) -> BTreeMap<String, u64> {
    assert!(text.ends_with('\n'));
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let (mut samples, mut families) = (BTreeMap::new(), BTreeSet::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = line.strip_prefix("# HELP ").and_then(|line| line.split_once(' ')).expect(line);
        assert!(is_name(name) && help.ends_with('.') && families.insert(name.to_owned()), "{line}");
        let line = lines.next().expect("a type follows");
        let kind = line.strip_prefix(&format!("# TYPE {name} ")).expect(line);
        assert!(matches!(kind, "counter" | "gauge"), "{line}");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            let (series, value) = sample.rsplit_once(' ').expect(sample);
            let labels = series.strip_prefix(name).expect(sample);
            let is_label = labels.is_empty()
                || ["{state=\"", "{reason=\""]
                    .iter()
                    .find_map(|begin| labels.strip_prefix(begin))
                    .and_then(|rest| rest.strip_suffix("\"}"))
                    .is_some_and(|value| !value.contains(['"', '\\']));
            assert!(is_label, "{sample}");
            assert!(samples.insert(series.to_owned(), value.parse().expect(sample)).is_none(), "twice: {sample}");
        }
    }
    assert!(families.len() > 30, "{families:?}");
    samples
}

/// Bytes of payload that a trace saw leave, counted once, and arrive.
fn payload(trace: &Path) -> (u64, u64) {
    let read = trace_io::dir::read(trace).unwrap();
    let (mut left, mut came) = (0, 0);
    for record in &read.records {
        match record.event {
            trace_io::Event::SegmentSent { len, retransmit: 0, .. } => left += u64::from(len),
            trace_io::Event::SegmentReceived { len, .. } => came += u64::from(len),
            _ => {}
        }
    }
    (left, came)
}

#[test_case("--loss 1% --seed 5"; "by the loop that loses packets")]
#[test_case(""; "by the library")]
fn each_connection_that_is_served_leaves_a_trace(options: &str) {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let traces = directory.path().join("traces");
    let mut server = longhaul(&lab, &["serve", "echo", "--trace", traces.to_str().unwrap()], V4, options);
    server.ready();
    for bytes in [300_000, 200_000] {
        assert_eq!(exchange(&lab, own(V4, 7), vec![7; bytes]).join().len(), bytes);
    }
    server.interrupt();
    server.finish(0);
    for (number, bytes) in [("0", 300_000), ("1", 200_000)] {
        let (left, came) = payload(&traces.join(number));
        // The FIN counts one; what the network duplicates or we send again can come twice.
        assert!(left == bytes + 1 && came >= bytes, "{left} and {came} of {bytes}");
        let summary: Value =
            serde_json::from_slice(&std::fs::read(traces.join(number).join("summary.json")).unwrap()).unwrap();
        assert_eq!(summary["run"]["experiment"], "serve");
    }
    assert!(!traces.join("2").exists());
}

#[test]
fn what_is_received_leaves_a_trace_of_the_receiver() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, trace) = (lab.peer_address(V4, 9), directory.path().join("trace"));
    let source = lab.peer.pattern_server(remote, 5_000_000);
    let command = ["recv", &remote.to_string(), "--trace", trace.to_str().unwrap()];
    let summary = longhaul(&lab, &command, V4, "--loss 1% --seed 7").finish(0);
    source.join();
    assert_eq!(summary.number("/read/bytes"), 5_000_000);
    assert!(payload(&trace).1 >= 5_000_000);
    let read = trace_io::dir::read(&trace).unwrap();
    assert_eq!(read.meta.ends[0].name, "receiver");
}
