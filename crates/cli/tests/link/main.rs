//! `longhaul link` between two kernels: real packets, real time, two network namespaces.
//!
//! ```text
//!  namespace A                                              namespace B
//!  the kernel (10.77.0.1) ── TUN wa0 ── longhaul link ── TUN wb0 ── the kernel (10.77.0.2)
//! ```
//! The assertions hold however busy the machine is: what the model drops and in which order, its maximum rate, and that nothing
//! else is lost. The lateness of packets depends on the machine; it is printed.
//!
//! This needs root and /dev/net/tun. If something is missing the tests fail and name it; they do not skip.

mod kernel;
mod program;

use base::{Duration, Instant, Ratio, Rng};
use kernel::{Kernel, Pace};
use netem::{LossSpec, Packet, PathSpec, ReorderSpec};
use program::{Emulator, missing};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use test_case::test_case;

const V4: [&str; 2] = ["10.77.0.1/24", "10.77.0.2/24"];
const V6: [&str; 2] = ["fd77::1/64", "fd77::2/64"];

#[test]
fn two_kernels_with_ten_milliseconds_each_way_are_twenty_apart() {
    let link = Emulator::start(V4, "--ab delay=10ms --ba delay=10ms");
    let mut round_trips = link.a.ping(&link.b, 50);
    round_trips.sort_unstable();
    let (least, median) = (round_trips[0], round_trips[round_trips.len() / 2]);
    println!("round trips: least {least:?}, median {median:?}");
    assert_eq!(round_trips.len(), 50, "an echo was lost");
    assert!(least >= std::time::Duration::from_millis(20), "{least:?}: faster than the path");
    let report = link.stop();
    println!("{}", report["lateness"]);
    assert_eq!((report.number("/ab/offered"), report.number("/ba/delivered")), (50, 50));
    report.assert_nothing_lost_by_the_host();
}

#[test]
fn datagrams_at_95_percent_of_the_rate_all_arrive() {
    let link = Emulator::start(V4, "--ab rate=20mbit,delay=5ms,buffer=2500kB --ba delay=5ms");
    let sent = link.a.send(&link.b, Pace::Share { of_bits_per_sec: 20_000_000, per_cent: 95, packets: 1_000 });
    let received = sent.received();
    assert_eq!(received, (0..1_000).collect::<Vec<u32>>());
    let report = link.stop();
    assert_eq!((report.number("/ab/delivered"), report.number("/ab/dropped/tail")), (1_000, 0));
    report.assert_nothing_lost_by_the_host();
}

#[test]
fn what_is_sent_beyond_the_rate_is_dropped_by_the_buffer() {
    let link = Emulator::start(V4, "--ab rate=20mbit,delay=5ms,buffer=20pkt --ba delay=5ms");
    let sent = link.a.send(&link.b, Pace::Share { of_bits_per_sec: 20_000_000, per_cent: 110, packets: 1_000 });
    let received = sent.received();
    let report = link.stop();
    let (delivered, dropped) = (report.number("/ab/delivered"), report.number("/ab/dropped/tail"));
    assert_eq!((delivered + dropped, delivered), (1_000, received.len() as u64));
    let passed = report["seconds"].as_f64().unwrap() * 20e6 / 12_000.0 + 20.0;
    assert!(delivered as f64 <= passed, "{delivered} packets passed where {passed:.1} can");
    assert!(dropped > 0, "nothing was dropped");
    assert!(report.number("/ab/queue_bytes_max") <= 20 * 1_500);
    report.assert_nothing_lost_by_the_host();
}

/// A packet identified only by its number.
#[derive(Debug)]
struct Numbered(u32);

impl Packet for Numbered {
    fn wire_len(&self) -> u32 {
        1_500
    }
    fn mark_ce(&mut self) -> bool {
        false
    }
    fn duplicate(&self) -> Self {
        Self(self.0)
    }
}

/// Returns what the simulator's path from a to b does to packets that arrive all at once: when each one leaves, and which.
fn simulated(spec: &PathSpec, seed: u64, packets: u32) -> Vec<(Instant, u32)> {
    let mut path = spec.build(&Rng::new(seed).fork("link/a→b"));
    let mut ignore = |_, _, _| {};
    (0..packets).for_each(|number| path.offer(Instant::ZERO, Numbered(number), &mut ignore));
    std::iter::from_fn(|| path.poll(Instant::MAX, &mut ignore)).map(|(at, packet)| (at, packet.0)).collect()
}

fn percent(percent: u64) -> Ratio {
    Ratio::new(percent, 100).unwrap()
}

#[test]
fn the_packets_are_lost_and_doubled_that_the_simulator_chooses_for_the_same_seed() {
    let loss = LossSpec::Bernoulli(percent(10));
    let spec = PathSpec { loss, duplicate: percent(2), ..PathSpec::ideal(Duration::from_millis(1)) };
    let expected: Vec<u32> = simulated(&spec, 4711, 1_000).into_iter().map(|(_, number)| number).collect();
    let doubled = expected.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((850..950).contains(&(expected.len() - doubled)) && (5..40).contains(&doubled));
    let link = Emulator::start(V4, "--ab loss=10%,duplicate=2%,delay=1ms --ba delay=1ms --seed 4711");
    let received = link.a.send(&link.b, Pace::Every { micros: 100, packets: 1_000 }).received();
    assert_eq!(received, expected);
    link.stop().assert_nothing_lost_by_the_host();
}

/// Which of the late ones are overtaken also depends on the send times of others; but no other packet is overtaken.
#[test]
fn the_packets_are_late_that_the_simulator_chooses_for_the_same_seed() {
    let line = Duration::from_millis(5);
    let reorder = ReorderSpec::Late { probability: percent(5), extra: Duration::from_millis(20) };
    let chosen = simulated(&PathSpec { reorder, ..PathSpec::ideal(line) }, 42, 1_000);
    let late = chosen.into_iter().filter(|(at, _)| *at > Instant::ZERO + line).map(|(_, number)| number);
    let late: BTreeSet<u32> = late.collect();

    let link = Emulator::start(V4, "--ab delay=5ms,reorder=5%/20ms/late --ba delay=1ms --seed 42");
    let received = link.a.send(&link.b, Pace::Every { micros: 200, packets: 1_000 }).received();
    assert_eq!(received.iter().copied().collect::<BTreeSet<u32>>().len(), received.len());
    assert_eq!(received.len(), 1_000);
    let mut highest = 0;
    let mut overtaken = BTreeSet::new();
    for number in received {
        if number < highest {
            overtaken.insert(number);
        }
        highest = highest.max(number);
    }
    assert!(overtaken.is_subset(&late) && !overtaken.is_empty(), "{overtaken:?} of {late:?}");
    link.stop().assert_nothing_lost_by_the_host();
}

#[test_case(V4, "--ab delay=2ms --ba delay=2ms"; "as fast as it goes")]
#[test_case(V6, "--ab rate=200mbit,delay=2ms --ba delay=2ms"; "through a bottleneck, version six")]
#[test_case(V4, "--ab delay=2ms,loss=0.5%,reorder=1%/3ms/late,duplicate=0.5% --ba delay=2ms,loss=0.5%"; "through thick and thin")]
fn a_stream_between_two_kernels_arrives_whole(addresses: [&str; 2], paths: &str) {
    const BYTES: u64 = 10_000_000;
    let link = Emulator::start(addresses, paths);
    assert_eq!(link.a.stream(&link.b, BYTES), BYTES);
    assert_eq!(link.b.stream(&link.a, BYTES), BYTES);
    let report = link.stop();
    assert!(report.number("/ab/delivered_bytes") > BYTES && report.number("/ba/delivered_bytes") > BYTES);
    report.assert_nothing_lost_by_the_host();
}

/// Two kernels that negotiate ECN, over a queue that marks: it drops nothing, and keeps the stream at the link's rate.
#[test]
fn a_kernel_with_ecn_meets_marks_instead_of_drops() {
    const BYTES: u64 = 6_000_000;
    let link = Emulator::start(V4, "--ab rate=20mbit,delay=10ms,queue=fq_codel --ba delay=10ms");
    [&link.a, &link.b].into_iter().for_each(Kernel::offer_ecn);
    assert_eq!(link.a.stream(&link.b, BYTES), BYTES);
    let report = link.stop();
    assert!(report.number("/ab/marked") > 0, "the queue must have grown");
    assert_eq!((report.number("/ab/dropped/aqm"), report.number("/ab/dropped/tail")), (0, 0));
    report.assert_nothing_lost_by_the_host();
}

/// Like QUIC: one call passes a train of datagrams to the kernel, and the device gets it whole.
#[test]
fn a_train_of_datagrams_arrives_in_single_ones() {
    let link = Emulator::start(V4, "--ab delay=1ms --ba delay=1ms");
    let received = link.a.send_train(&link.b, 40, 1_000);
    let expected: Vec<Vec<u8>> = (0..40).map(|index| vec![index; 1_000]).collect();
    assert!(received == expected, "{} datagrams came", received.len());
    let report = link.stop();
    assert_eq!((report.number("/ab/offered"), report.number("/ab/offered_bytes")), (40, 40 * 1_028));
    report.assert_nothing_lost_by_the_host();
}

/// An independent reader sees every packet twice, the second time at least ten milliseconds later, with correct checksums
/// although the kernels left them to their devices.
#[test]
fn a_capture_has_both_sides_of_every_packet() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("both.pcapng");
    let options = format!("--ab delay=10ms --ba delay=10ms --pcap {}", file.display());
    let link = Emulator::start(V4, &options);
    assert_eq!(link.a.stream(&link.b, 300_000), 300_000);
    let report = link.stop();
    report.assert_nothing_lost_by_the_host();
    assert_eq!(report.number("/pcap_missed"), 0);
    let passed = report.number("/ab/offered") + report.number("/ba/offered");
    let seen = program::tshark(&file, "ip.checksum.status == Good && tcp.checksum.status == Good");
    let delivered = report.number("/ab/delivered") + report.number("/ba/delivered");
    assert_eq!(seen.len() as u64, passed + delivered);
    let first = |interface: &str| seen.iter().find(|packet| packet.interface.starts_with(interface)).unwrap().at_ns;
    assert!(first("wb0") - first("wa0") >= 10_000_000, "the SYN arrived before its time");
}

#[test]
fn a_path_changes_while_packets_are_on_it_and_none_is_lost() {
    let link = Emulator::start(V4, "--ab rate=10mbit,delay=3s,buffer=1000pkt --ba delay=1ms");
    let first = link.a.send(&link.b, Pace::Every { micros: 0, packets: 100 });
    link.send("set", "--ab rate=100mbit,delay=10ms").unwrap();
    let second = link.a.send_more(&first, Pace::Every { micros: 0, packets: 100 });
    let received = second.received_at_least(200);
    assert_eq!(received.len(), 200);
    assert_eq!(received.iter().copied().collect::<BTreeSet<u32>>().len(), 200);
    assert!(received[0] >= 100, "the new path is not faster");
    let stats = link.send("stats", "").unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&stats).unwrap()["ab"]["delivered"], 200);
    let refused = link.send("set", "--ab rate=fast").unwrap_err();
    assert!(refused.starts_with("error: --ab rate=fast: `fast` is not a valid rate"), "{refused}");
    link.stop().assert_nothing_lost_by_the_host();
}

#[test]
fn a_signal_asks_for_numbers_and_another_ends_it() {
    let mut link = Emulator::start(V4, "--ab delay=1ms --ba delay=1ms");
    link.a.ping(&link.b, 3);
    link.signal(nix::sys::signal::Signal::SIGUSR1);
    assert_eq!(link.line()["ab"]["delivered"], 3);
    link.a.ping(&link.b, 2);
    link.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(link.finish().number("/ab/delivered"), 5);
}

#[test]
fn what_was_made_is_removed_and_what_was_there_stays() {
    let names = program::names();
    let kept = net::Namespace::create(&names[0]).unwrap();
    let link = Emulator::start_in(&names, V4, "--for 0.2s");
    assert_eq!(Kernel::in_namespace(&names[0], V4[0]).devices(), ["lo", "wa0"]);
    link.finish();
    assert_eq!(Kernel::in_namespace(&names[0], V4[0]).devices(), ["lo"]);
    assert_eq!(net::Namespace::list(&names[1]).unwrap(), [""; 0]);
    assert_eq!(net::Namespace::list(kept.name()).unwrap(), [kept.name()]);
}

#[test]
fn what_a_killed_link_made_goes_when_the_next_one_starts() {
    let names = program::names();
    let kept = net::Namespace::create(&names[0]).unwrap();
    let mut killed = Emulator::start_in(&names, V4, "");
    killed.kill();
    assert_eq!(net::Namespace::list(&names[1]).unwrap(), [names[1].as_str()], "it had no time to clean up");
    Emulator::start(V4, "").stop();
    assert_eq!(net::Namespace::list(&names[1]).unwrap(), [""; 0]);
    assert_eq!(net::Namespace::list(kept.name()).unwrap(), [kept.name()], "it was there before");
}

#[test]
fn no_other_user_can_read_a_capture() {
    let directory = tempfile::tempdir().unwrap();
    let (new, old) = (directory.path().join("new"), directory.path().join("old"));
    std::fs::write(&old, "").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).unwrap();
    for file in [new, old] {
        Emulator::start(V4, &format!("--pcap {}", file.display())).stop();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn a_missing_privilege_is_named_with_its_remedy() {
    for (capability, word) in [("net_admin", "CAP_NET_ADMIN"), ("sys_admin", "CAP_SYS_ADMIN")] {
        let ended = missing(capability);
        let message = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{message}");
        assert!(message.contains(word) && message.contains("root"), "{message}");
    }
}
