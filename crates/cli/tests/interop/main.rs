//! Our TCP behind a TUN device against the kernel's TCP, with real packets, in two network namespaces.
//!
//! ```text
//!  namespace R                                              namespace P
//!  longhaul (10.9.0.2) ── TUN lh0 ── kernel, forwarding ── veth ── the kernel's TCP (10.8.0.2)
//! ```
//! What is checked: every octet of the stream by its position, both sides' checksums, how connections end, and, by an
//! independent reader, that no packet of ours is malformed. Loss is made by our own hops inside the loop.
//!
//! This needs root, /dev/net/tun, `ip` and `tshark`. Where something is missing the tests fail and name it; they do not
//! skip.

mod capture;
mod netns;
mod peer;
mod program;

use netns::Lab;
use peer::Received;
use program::Longhaul;
use test_case::test_case;

/// Octets of a transfer.
const BYTES: u64 = 100_000_000;

const V4: &str = "10.9.0.2/24";
const V6: &str = "fd09::2/64";

fn link(address: &'static str, options: &str) -> Vec<String> {
    let mut arguments: Vec<String> = ["--tun", "lh0", "--addr", address, "--format", "json"].map(String::from).into();
    arguments.extend(options.split_whitespace().map(String::from));
    arguments
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off"; "without offload")]
#[test_case(V4, "--offload on --loss 1% --seed 7"; "with offload and loss")]
#[test_case(V4, "--offload off --loss 1% --seed 8"; "without offload and with loss")]
#[test_case(V6, "--offload on"; "version six with offload")]
#[test_case(V6, "--offload off --mtu 1280"; "version six without offload on the smallest mtu")]
fn the_kernel_discards_exactly_what_longhaul_sends(address: &'static str, options: &str) {
    let lab = Lab::new();
    let (remote, sink) = lab.peer.sink(lab.peer_address(address, 9));
    let longhaul = Longhaul::start(&lab, "send", &link(address, options), &[&remote.to_string(), "--bytes", "100MB"]);
    let summary = longhaul.finish(0);
    let received = sink.join();
    assert_eq!(received, Received { bytes: BYTES, first_wrong: None, crc32: summary.text("/written/crc32") });
    assert_eq!(summary.number("/written/bytes"), BYTES);
    assert_eq!(summary.text("/end"), "closed");
    assert_eq!(summary.number("/bytes_retransmitted") > 0, options.contains("loss"), "{summary:?}");
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off"; "without offload")]
#[test_case(V4, "--offload on --loss 1% --seed 7"; "with offload and loss")]
#[test_case(V4, "--offload off --loss 1% --seed 8"; "without offload and with loss")]
#[test_case(V6, "--offload on"; "version six with offload")]
fn longhaul_discards_exactly_what_the_kernel_sends(address: &'static str, options: &str) {
    let lab = Lab::new();
    let mut longhaul = Longhaul::start(&lab, "serve", &["discard".to_owned()], &[]).with(&link(address, options));
    longhaul = longhaul.with(&["--once".to_owned()]).ready();
    let crc32 = lab.peer.source(lab.own_address(address, 9), BYTES).join();
    let summary = longhaul.finish(0);
    assert_eq!((summary.number("/read/bytes"), summary.text("/read/crc32")), (BYTES, crc32));
    assert_eq!(summary.text("/end"), "closed");
}
