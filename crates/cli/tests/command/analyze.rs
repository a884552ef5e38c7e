//! `longhaul analyze`: its reports about captures, and its exit when a capture is damaged.

use crate::{Ended, command, longhaul, paste, text_of};
use std::path::PathBuf;
use test_case::test_case;

/// A capture of the stored corpus: one flow with a needless retransmission, a probe, a timeout and a closed window.
fn kept(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/captures").join(name);
    text_of(&path).to_owned()
}

#[test_case("pcap-micro-little.bin"; "pcap")]
#[test_case("pcapng-little.bin"; "pcapng")]
#[test_case("gzip.bin"; "gzip")]
#[test_case("vlan.bin"; "two tags")]
#[test_case("sll2.bin"; "cooked")]
fn each_flow_has_its_line_and_below_it_what_limited_it(name: &str) {
    let ended = longhaul(&["analyze", &kept(name)]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.starts_with("25 packets, 25 of TCP\n"), "{}", ended.stdout);
    let words = "      1 timeout and 1 tail loss probe after 735 ms of silence\n";
    assert!(ended.stdout.contains(words), "{}", ended.stdout);
}

#[test]
fn a_flow_is_shown_in_full_and_as_json() {
    let file = kept("pcapng-little.bin");
    let ended = longhaul(&["analyze", &file, "--flow", "1"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let line = |name: &str| ended.stdout.lines().find(|line| line.starts_with(name)).map(|line| line[29..].to_owned());
    assert_eq!(line("D-SACKs").unwrap(), "1, 1 retransmissions proved spurious");
    assert_eq!(line("captured at").unwrap(), "sender");
    assert_eq!(line("handshake").unwrap(), "complete, 0 SYNs sent again");
    let ended = longhaul(&["analyze", &file, "--format", "jsonl"]);
    let flow: serde_json::Value = serde_json::from_str(ended.stdout.trim_end()).unwrap();
    assert_eq!(flow["directions"][0]["tail_probes"], 1);
    assert_eq!(flow["verdict"][0]["evidence"]["timeouts"], 1.0);
}

#[test]
fn a_flow_is_seen_in_one_page() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("flow.html");
    let ended = longhaul(&["analyze", &kept("pcapng-little.bin"), "--view", text_of(&page)]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("flow 1: 10.0.0.1:5000 to 10.0.0.2:80"), "the page names the flow");
}

#[test_case("gzip-cut.bin", "packet 6, at offset 388: the compressed file ends in the middle of a packet; "; "cut")]
#[test_case("length-too-large.bin", "packet 2, at offset 104: a packet claims 4294967295 bytes; "; "damaged")]
fn what_is_readable_is_shown_with_where_it_ends(name: &str, message: &str) {
    let file = kept(name);
    let ended = longhaul(&["analyze", &file]);
    let remedy =
        "the packets before it are analysed; for the rest copy the file again, or end the capturing program by Ctrl-C";
    assert_eq!((ended.code, ended.stderr), (Some(1), format!("error: {file}: {message}{remedy}\n")));
    assert!(ended.stdout.contains(" 10.0.0.1:5000 "), "{}", ended.stdout);
}

#[test]
fn a_capture_without_tcp_is_not_a_success() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.pcap");
    let kept = std::fs::read(kept("fragments-and-udp.bin")).unwrap();
    // The header, and a packet of 28 bytes of UDP.
    std::fs::write(&path, &kept[..24 + 16 + 28]).unwrap();
    let ended = longhaul(&["analyze", text_of(&path)]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended
            .stderr
            .contains("packet 1, at offset 24: no packet is TCP; the first one is not TCP; capture where TCP passes"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    let here = text_of(&PathBuf::from(env!("CARGO_MANIFEST_DIR"))).to_owned();
    let manifest = format!("{here}/Cargo.toml");
    for (file, why) in [
        (manifest.as_str(), "not a capture: it begins as neither pcap nor pcapng, nor as gzip or zstd of these"),
        (here.as_str(), "Is a directory"),
        ("/no/such/file", "No such file"),
    ] {
        let ended = longhaul(&["analyze", file]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(ended.stderr.starts_with(&format!("error: cannot read {file}: {why}")), "{}", ended.stderr);
    }
    let ended = longhaul(&["analyze", &kept("gzip.bin"), "--flow", "9"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.starts_with("error: --flow 9: no such flow"), "{}", ended.stderr);
}

/// The program with a file as its stdin.
fn fed(file: &str, arguments: &[&str]) -> Ended {
    let file = std::fs::File::open(file).unwrap();
    command(arguments).stdin(file).output().expect("the program starts").into()
}

#[test]
fn a_capture_is_read_from_a_pipe() {
    for name in ["pcapng-little.bin", "gzip.bin"] {
        let file = kept(name);
        let [of_file, of_pipe] = [longhaul(&["analyze", &file]), fed(&file, &["analyze", "-"])];
        assert_eq!((of_pipe.code, of_pipe.stderr.as_str()), (Some(0), ""));
        assert_eq!(of_pipe.stdout, of_file.stdout);
    }
    let piped = paste(&format!(
        "cat {} | {} analyze - --format jsonl",
        kept("pcapng-little.bin"),
        env!("CARGO_BIN_EXE_longhaul")
    ));
    assert_eq!((piped.code, piped.stdout.lines().count()), (Some(0), 1), "{}", piped.stderr);
    let ended = fed(&kept("gzip-cut.bin"), &["analyze", "-"]);
    assert!(ended.stderr.starts_with("error: stdin: packet 6, at offset 388: "), "{}", ended.stderr);
    assert_eq!(ended.code, Some(1));
}

#[test]
fn a_page_of_a_piped_capture_is_that_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let page = |name: &str| text_of(&directory.path().join(name)).to_owned();
    let file = kept("pcapng-little.bin");
    assert_eq!(fed(&file, &["analyze", "-", "--view", &page("pipe.html")]).code, Some(0));
    let text = std::fs::read_to_string(page("pipe.html")).unwrap();
    assert!(text.contains("flow 1: 10.0.0.1:5000 to 10.0.0.2:80"), "the page names the flow");
}

#[test_case(&["--host", "10.0.0.1"], 0; "an address")]
#[test_case(&["--host", "192.0.2.9", "--host", "10.0.0.0/30", "--port", "80"], 0; "a network and a port")]
#[test_case(&["--port", "81"], 1; "another port")]
#[test_case(&["--host", "10.0.0.1", "--port", "81"], 1; "an address that has no such port")]
fn only_connections_that_are_asked_for_are_shown(filters: &[&str], code: i32) {
    let file = kept("pcap-micro-little.bin");
    let ended = longhaul(&[&["analyze", &file], filters].concat());
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert_eq!(ended.stdout.contains(" 10.0.0.1:5000 "), code == 0, "{}", ended.stdout);
    if code == 1 {
        let left_out = "25 packets, 25 of TCP, 25 of connections that --host and --port leave out\n";
        assert_eq!(ended.stdout, left_out);
        let problem =
            format!("error: {file}: none of its 25 TCP packets is of a connection that --host and --port ask for; ");
        assert!(ended.stderr.starts_with(&problem), "{}", ended.stderr);
    }
}

#[test]
fn a_filter_that_is_none_is_refused_with_examples() {
    for (arguments, why) in [
        (["--host", "example.org"], "`example.org` is neither an address nor a network; write 192.0.2.7"),
        (["--port", "http"], "invalid value 'http' for '--port <PORT>'"),
    ] {
        let ended = longhaul(&[&["analyze", &kept("gzip.bin")], &arguments[..]].concat());
        assert!(ended.code == Some(2) && ended.stderr.contains(why), "{}", ended.stderr);
    }
}

#[test]
fn each_column_has_its_line_in_the_legend() {
    let ended = longhaul(&["analyze", &kept("gzip.bin")]);
    for head in ["from", "MB", "Mbit/s", "rtt ms", "retx %", "RTOs", "seen at"] {
        assert!(ended.stdout.contains(&format!("\n{head:<8} ")), "{head}: {}", ended.stdout);
    }
}
