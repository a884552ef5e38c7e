//! Our TCP behind a TUN device against the kernel's TCP, with real packets, in two network namespaces.
//!
//! ```text
//!  namespace R                                               namespace P
//!  longhaul (10.9.0.2) ── TUN lh0 ── kernel, forwarding ── veth ── the kernel's TCP (10.8.0.2)
//! ```
//! Checked are every byte of the stream by its position, both sides' checksums, how connections end and, with an independent
//! reader, that none of our packets is malformed. Our own hops inside the loop cause the loss.
//!
//! This needs root, /dev/net/tun, `ip`, `tshark` and `curl`. If something is missing the tests fail and name it; they do not
//! skip.

mod capture;
mod ends;
#[path = "../outside/machine.rs"]
mod machine;
mod many;
mod netns;
mod peer;
mod program;
mod proxy;
mod services;

use capture::Capture;
use netns::Lab;
use peer::Received;
use program::Longhaul;
use std::io::ErrorKind;
use std::net::SocketAddr;
use test_case::test_case;
use trace::SendCause;

/// Bytes of a transfer.
const BYTES: u64 = 100_000_000;

/// The address of our own stack.
const V4: &str = "10.9.0.2/24";
const V6: &str = "fd09::2/64";

fn own(cidr: &str, port: u16) -> SocketAddr {
    let (address, _) = cidr.split_once('/').unwrap();
    SocketAddr::new(address.parse().unwrap(), port)
}

/// Starts a subcommand on the device `lh0`; `options` are words.
fn longhaul(lab: &Lab, subcommand: &[&str], cidr: &str, options: &str) -> Longhaul {
    let link = ["--tun", "lh0", "--addr", cidr, "--format", "json"];
    let options: Vec<&str> = options.split_whitespace().collect();
    Longhaul::start(lab, &[subcommand, &link, &options].concat())
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off"; "without offload")]
#[test_case(V4, "--offload on --loss 1% --seed 7"; "with offload and loss")]
#[test_case(V4, "--offload off --loss 1% --seed 8"; "without offload but with loss")]
#[test_case(V6, "--offload on"; "version six with offload")]
#[test_case(V6, "--offload off --mtu 1280"; "version six without offload on the smallest mtu")]
fn the_kernel_gets_exactly_what_longhaul_sends(cidr: &str, options: &str) {
    let lab = Lab::new();
    let remote = lab.peer_address(cidr, 9);
    let sink = lab.peer.sink(remote);
    let sender = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "100MB"], cidr, options);
    let summary = sender.finish(0);
    assert_eq!(sink.join(), Received { bytes: BYTES, first_wrong: None, crc32: summary.text("/written/crc32") });
    assert_eq!((summary.number("/written/bytes"), summary.text("/end")), (BYTES, "closed".to_owned()));
    let lossy = options.contains("--loss");
    assert!(!lossy || summary.number("/bytes_retransmitted") > 0, "nothing was repaired: {summary:?}");
}

/// The trace of a transfer over a real network agrees with its counters, and can be viewed like any other.
#[test]
fn a_transfer_to_the_kernel_leaves_a_trace() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, trace) = (lab.peer_address(V4, 9), directory.path().join("trace"));
    let sink = lab.peer.sink(remote);
    let (to, trace_option) = (remote.to_string(), trace.to_str().unwrap());
    let subcommand = ["send", &to, "--bytes", "10MB", "--trace", trace_option];
    let summary = longhaul(&lab, &subcommand, V4, "--loss 1% --seed 7").finish(0);
    assert_eq!(sink.join().bytes, 10_000_000);
    let read = trace_io::dir::read(&trace).unwrap();
    assert_eq!((read.meta.arm.as_str(), read.meta.ends.len()), ("longhaul", 1));
    let (mut sent, mut again) = (0_u64, 0_u64);
    for record in &read.records {
        if let trace_io::Event::SegmentSent { len, retransmit, cause, .. } = record.event
            && cause != SendCause::Syn
        {
            sent += u64::from(len);
            again += if retransmit > 0 { len.into() } else { 0 };
        }
    }
    // The FIN occupies a sequence number, but is not payload.
    assert!((1..=3).contains(&(sent - summary.number("/bytes_sent"))), "{sent} bytes: {summary:?}");
    assert!(again > 0 && again - summary.number("/bytes_retransmitted") <= 2, "{again} bytes: {summary:?}");
    let page = directory.path().join("page.html");
    let mut view = std::process::Command::new(env!("CARGO_BIN_EXE_longhaul"));
    let viewed = view.arg("view").arg(&trace).arg("-o").arg(&page).output().unwrap();
    assert!(viewed.status.success() && page.is_file(), "{}", String::from_utf8_lossy(&viewed.stderr));
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off"; "without offload")]
#[test_case(V4, "--offload on --loss 1% --seed 7"; "with offload and loss")]
#[test_case(V4, "--offload off --loss 1% --seed 8"; "without offload but with loss")]
#[test_case(V6, "--offload on"; "version six with offload")]
fn longhaul_gets_exactly_what_the_kernel_sends(cidr: &str, options: &str) {
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", "discard", "--once"], cidr, options);
    assert!(server.ready().contains(&own(cidr, 9).to_string()));
    let sent = lab.peer.source(own(cidr, 9), BYTES).join();
    let summary = server.finish(0);
    assert_eq!((summary.number("/read/bytes"), summary.text("/read/crc32")), (BYTES, sent.crc32));
    assert_eq!(summary.text("/end"), "closed");
    assert!(!options.contains("--loss") || sent.retransmitted > 100, "only {} were lost", sent.retransmitted);
}

/// The kernel routes over a path narrower than both ends: it reports that, and the large segments are retransmitted.
#[test_case(V4, "--offload off", 1400; "version four")]
#[test_case(V4, "--offload on", 1400; "version four with offload")]
#[test_case(V4, "--offload off --loss 1% --seed 3", 1000; "version four with loss")]
#[test_case(V6, "--offload off", 1400; "version six")]
#[test_case(V6, "--offload on", 1280; "version six with offload")]
fn a_path_narrower_than_both_ends_is_discovered(cidr: &str, options: &str, mtu: u32) {
    const BYTES: u64 = 10_000_000;
    let lab = Lab::new();
    lab.narrow(mtu);
    let remote = lab.peer_address(cidr, 9);
    let sink = lab.peer.sink(remote);
    let summary = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "10MB"], cidr, options).finish(0);
    assert_eq!(sink.join(), Received { bytes: BYTES, first_wrong: None, crc32: summary.text("/written/crc32") });
    if !options.contains("--loss") {
        assert!(summary.number("/bytes_retransmitted") > 0, "the first flight was not too large: {summary:?}");
        assert_eq!((summary.number("/rtos"), summary.number("/fast_retransmits")), (0, 0), "{summary:?}");
    }
}

/// Large packets vanish without a report.
#[test_case(V4; "version four")]
#[test_case(V6; "version six")]
fn a_black_hole_is_got_out_of_by_searching(cidr: &str) {
    const BYTES: u64 = 3_000_000;
    let lab = Lab::new();
    lab.black_hole(1300);
    let directory = tempfile::tempdir().unwrap();
    let profile = directory.path().join("searching.toml");
    std::fs::write(&profile, SEARCHING).unwrap();
    let options = format!("--offload off --profile {}", profile.display());
    let remote = lab.peer_address(cidr, 9);
    let sink = lab.peer.sink(remote);
    let summary = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "3MB"], cidr, &options).finish(0);
    assert_eq!(sink.join(), Received { bytes: BYTES, first_wrong: None, crc32: summary.text("/written/crc32") });
    assert!(summary.number("/rtos") >= 2, "there was no black hole: {summary:?}");
}

const SEARCHING: &str = r#"
extends = "linux"
summary = "searches once timeouts speak of a black hole"

[path_mtu]
probing             = { value = "after_black_hole", source = "this test", confidence = "assumed" }
black_hole_timeouts = { value = 2, source = "this test", confidence = "assumed" }
"#;

#[test]
fn a_client_of_ours_receives_into_a_file() {
    const BYTES: u64 = 10_000_000;
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, file) = (lab.peer_address(V4, 19), directory.path().join("came"));
    let server = lab.peer.pattern_server(remote, BYTES);
    let arguments = ["recv", &remote.to_string(), file.to_str().unwrap(), "--bytes", "10MB"];
    let summary = longhaul(&lab, &arguments, V4, "").finish(0);
    assert_eq!(summary.text("/read/crc32"), server.join());
    let mut expected = vec![0; BYTES as usize];
    tcp::fill_pattern(0, &mut expected);
    assert!(std::fs::read(file).unwrap() == expected, "the file is not what was sent");
}

#[test]
fn a_host_that_does_not_forward_is_named_at_once() {
    let lab = Lab::new();
    assert!(lab.on_router("sysctl").args(["-qw", "net.ipv4.ip_forward=0"]).status().unwrap().success());
    let remote = lab.peer_address(V4, 9).to_string();
    let summary = longhaul(&lab, &["send", &remote, "--bytes", "1MB"], V4, "").finish(2);
    assert!(
        summary.stderr.contains("does not forward") && summary.stderr.contains("net.ipv4.ip_forward=1"),
        "{summary:?}"
    );
}

#[test]
fn a_receiver_that_never_connects_says_so_and_leaves_no_file() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let file = directory.path().join("came");
    // No host has this address.
    let receiving = longhaul(&lab, &["recv", "10.8.0.99:19", file.to_str().unwrap()], V4, "");
    wait_until(|| file.with_extension("part").exists());
    std::thread::sleep(std::time::Duration::from_millis(300));
    receiving.interrupt();
    let summary = receiving.finish(1);
    assert!(summary.stderr.contains("connecting to 10.8.0.99:19"), "{summary:?}");
    assert!(summary.stderr.contains("cannot connect to 10.8.0.99:19: interrupted"), "{summary:?}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn an_interrupted_receiver_says_what_it_keeps_and_a_full_disk_keeps_nothing() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, file) = (lab.peer_address(V4, 19), directory.path().join("came"));
    let part = file.with_extension("part");
    let server = lab.peer.pattern_server(remote, 1_000_000_000);
    let receiving = longhaul(&lab, &["recv", &remote.to_string(), file.to_str().unwrap()], V4, "");
    wait_until(|| std::fs::metadata(&part).is_ok_and(|part| part.len() > 1_000_000));
    receiving.interrupt();
    let summary = receiving.finish(1);
    assert!(summary.stderr.contains(&format!("kept in {}", part.display())), "{summary:?}");
    assert!(part.exists() && !file.exists());
    drop(server);
    let remote = lab.peer_address(V4, 20);
    let _server = lab.peer.pattern_server(remote, 10_000_000);
    let summary = longhaul(&lab, &["recv", &remote.to_string(), "/dev/full"], V4, "").finish(1);
    assert!(summary.stderr.contains("cannot write what came") && summary.stderr.contains("nothing"), "{summary:?}");
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let began = std::time::Instant::now();
    while !holds() {
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "still waiting");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_file_is_sent_as_it_is() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, file) = (lab.peer_address(V4, 9), directory.path().join("leaves"));
    let mut bytes = vec![0; 1_234_567];
    tcp::fill_pattern(0, &mut bytes);
    std::fs::write(&file, &bytes).unwrap();
    let sink = lab.peer.sink(remote);
    let summary = longhaul(&lab, &["send", &remote.to_string(), file.to_str().unwrap()], V4, "").finish(0);
    let crc32 = summary.text("/written/crc32");
    assert_eq!(sink.join(), Received { bytes: bytes.len() as u64, first_wrong: None, crc32 });
}

#[test_case("--offload on"; "with offload")]
#[test_case("--offload off --loss 1%"; "without offload but with loss")]
fn our_echo_server_gives_back_what_it_gets(options: &str) {
    const BYTES: u64 = 20_000_000;
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", "echo", "--once"], V4, options);
    server.ready();
    let back = lab.peer.echo_client(own(V4, 7), BYTES).join();
    let summary = server.finish(0);
    assert_eq!((back.bytes, back.first_wrong), (BYTES, None));
    assert_eq!((summary.text("/written/crc32"), summary.text("/read/crc32")), (back.crc32.clone(), back.crc32));
}

#[test]
fn our_sender_gets_back_what_the_kernel_echoes() {
    let lab = Lab::new();
    let remote = lab.peer_address(V4, 7);
    let reflector = lab.peer.reflector(remote);
    let summary = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "20MB"], V4, "").finish(0);
    reflector.join();
    assert_eq!(summary.number("/read/bytes"), 20_000_000);
    assert_eq!(summary.text("/read/crc32"), summary.text("/written/crc32"));
}

#[test]
fn a_server_serves_one_after_the_other_until_it_is_interrupted() {
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", "discard"], V4, "--port 4000");
    server.ready();
    let streams = [1, 3_000_000, 0].map(|bytes| lab.peer.source(own(V4, 4000), bytes).join().crc32);
    server.interrupt();
    assert_eq!(server.finish(0).text("/read/crc32"), streams[2], "the last one's summary comes last");
}

#[test]
fn a_closed_port_refuses_in_both_directions() {
    let lab = Lab::new();
    let remote = lab.peer_address(V4, 81);
    let summary = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "1"], V4, "").finish(1);
    assert!(summary.stderr.contains("refused"), "{summary:?}");

    let mut server = longhaul(&lab, &["serve", "discard"], V4, "");
    server.ready();
    assert_eq!(lab.peer.refused(own(V4, 81)), Some(ErrorKind::ConnectionRefused));
    server.interrupt();
    server.finish(0);
}

#[test]
fn a_peer_that_goes_away_in_the_middle_is_an_error() {
    let lab = Lab::new();
    let remote = lab.peer_address(V4, 9);
    let deserter = lab.peer.deserter(remote);
    let summary = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "100MB"], V4, "").finish(1);
    deserter.join();
    assert!(summary.stderr.contains("reset"), "{summary:?}");
}

#[test]
fn what_the_user_got_wrong_is_reported_with_exit_code_2() {
    let lab = Lab::new();
    let cases = [
        (vec!["--tun", "cable", "--addr", V4, "10.8.0.2:9"], "`cable` exists"),
        (vec!["--tun", "lh/0", "--addr", V4, "10.8.0.2:9"], "`lh/0`"),
        (vec!["--tun", "lh0", "--addr", "10.9.0.2", "10.8.0.2:9"], "10.9.0.2/24"),
        (vec!["--tun", "lh0", "--addr", V4, "[fd08::2]:9"], "IP version"),
        (vec!["--tun", "lh0", "--addr", V4, "--loss", "2", "10.8.0.2:9"], "`2`"),
        (vec!["--tun", "lh0", "--addr", V4, "--profile", "no-such", "10.8.0.2:9"], "no-such"),
    ];
    for (arguments, message) in cases {
        let summary = Longhaul::start(&lab, &[&["send", "--bytes", "1"][..], &arguments].concat()).finish(2);
        assert!(summary.stderr.contains(message), "{arguments:?}: {}", summary.stderr);
    }
}

#[test]
fn a_missing_privilege_is_named_with_its_remedy() {
    let lab = Lab::new();
    let mut command = lab.on_router("setpriv");
    command.args(["--bounding-set", "-net_admin", "--inh-caps", "-net_admin", env!("CARGO_BIN_EXE_longhaul")]);
    command.args(["serve", "discard", "--tun", "lh0", "--addr", V4]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("CAP_NET_ADMIN") && message.contains("root"), "{message}");
}

#[test_case(V4, "--offload off --loss 1%"; "as on a wire")]
#[test_case(V6, "--offload off"; "as on a wire, version six")]
fn an_independent_reader_finds_nothing_wrong_with_our_packets(cidr: &str, options: &str) {
    let lab = Lab::new();
    lab.add_tun("lh0");
    let capture = Capture::start(&lab, "lh0");
    let remote = lab.peer_address(cidr, 7);
    let reflector = lab.peer.reflector(remote);
    longhaul(&lab, &["send", &remote.to_string(), "--bytes", "2MB"], cidr, options).finish(0);
    reflector.join();
    let captured = capture.stop();
    let wrong = [
        "frame.len > 1500",
        "_ws.malformed && !icmp",
        "tcp.checksum.status == Bad || ip.checksum.status == Bad",
        "icmp.type == 3 || icmpv6.type < 5",
    ];
    for filter in wrong {
        let found = captured.matching(filter);
        assert!(
            found.is_empty(),
            "{} packets match `{filter}`, like\n{}",
            found.len(),
            found[..found.len().min(5)].join("\n")
        );
    }
    let (address, _) = cidr.split_once('/').unwrap();
    let source = if cidr == V4 { "ip.src" } else { "ipv6.src" };
    let ours = format!("tcp.len > 0 && tcp.checksum.status == Good && {source} == {address}");
    assert!(captured.matching(&ours).len() > 1000, "hardly a segment of ours was seen");
}

#[test]
fn an_independent_reader_understands_super_segments() {
    let lab = Lab::new();
    lab.add_tun("lh0");
    let capture = Capture::start(&lab, "lh0");
    let remote = lab.peer_address(V4, 7);
    let reflector = lab.peer.reflector(remote);
    longhaul(&lab, &["send", &remote.to_string(), "--bytes", "2MB"], V4, "--offload on").finish(0);
    reflector.join();
    let captured = capture.stop();
    assert_eq!(captured.matching("_ws.malformed"), Vec::<String>::new());
    let both_ways = ["ip.src == 10.9.0.2 && tcp.len > 1460", "ip.dst == 10.9.0.2 && tcp.len > 1460"];
    assert!(both_ways.iter().all(|filter| !captured.matching(filter).is_empty()), "no super-segments were seen");
}
