//! The loop between two drivers on one cable: super-segments, emulated loss, full and broken devices, a request to stop.

mod allowance;
mod times;

use super::*;
use crate::apps::{ALLOWANCE, Discard, Payload, Sender, Transfer};
use crate::device::{Frame, Received};
use base::Duration;
use netem::{LossSpec, PathSpec};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::rc::Rc;
use tcp::{ChecksumState, CloseReason, Config, DeviceCaps, TxChecksum};
use test_case::test_case;
use trace::{Off, TextSink};

/// One direction of a cable between two devices: packets with their device metadata.
type Wire = Rc<RefCell<VecDeque<(Vec<u8>, Option<u16>)>>>;

/// A device with super-segments whose free room and errors the test controls.
struct Plug {
    reads: Wire,
    writes: Wire,
    /// Frames it still accepts before it is full.
    room: Rc<Cell<usize>>,
    broken: Rc<Cell<bool>>,
    /// Super-segments written.
    supers: Rc<Cell<u32>>,
    fd: UnixDatagram,
}

impl Device for Plug {
    fn caps(&self) -> DeviceCaps {
        let segmentation = Segmentation::Tso { max_bytes: 65_000 };
        DeviceCaps { mtu: 1500, checksum: TxChecksum::Device, segmentation }
    }
    fn queue(&self) -> usize {
        512
    }
    fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
    fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let (packet, gso_size) = self.reads.borrow_mut().pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        buf[..packet.len()].copy_from_slice(&packet);
        Ok(Received { len: packet.len(), gso_size, checksum: ChecksumState::Device })
    }
    fn transmit(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        if self.broken.get() {
            return Err(io::Error::other("unplugged"));
        }
        self.room.set(self.room.get().checked_sub(1).ok_or(io::ErrorKind::WouldBlock)?);
        self.supers.set(self.supers.get() + u32::from(frame.gso_size.is_some()));
        self.writes.borrow_mut().push_back(([frame.header, frame.payload].concat(), frame.gso_size));
        Ok(())
    }
}

struct Watch(Rc<Cell<Instant>>);

impl Clock for Watch {
    fn now(&mut self) -> Instant {
        self.0.get()
    }
    fn wait(&mut self, _: BorrowedFd<'_>, _: Interest, _: Option<Instant>) -> io::Result<Wake> {
        Ok(Wake::Stop)
    }
}

/// Two drivers on one cable: a sender of 200,000 bytes and a server that discards them.
struct Bench {
    now: Rc<Cell<Instant>>,
    room: Rc<Cell<usize>>,
    broken: Rc<Cell<bool>>,
    cable: [Wire; 2],
    client: Driver<Plug, Watch>,
    sender: Sender,
    server: Driver<Plug, Watch>,
    discard: Discard,
    served: Rc<Cell<Option<Transfer>>>,
}

const BYTES: u64 = 200_000;

impl Bench {
    fn new(impairments: [Impairment; 2]) -> Self {
        Self::sending(BYTES, |_, _| {}, impairments)
    }

    /// A sender of this many bytes; `progress` receives the clock, and the bytes written so far.
    fn sending(
        bytes: u64,
        progress: impl Fn(&Cell<Instant>, u64) + 'static,
        [for_client, for_server]: [Impairment; 2],
    ) -> Self {
        let cable = [Wire::default(), Wire::default()];
        let (now, room, broken) = (Rc::new(Cell::new(Instant::ZERO)), Rc::new(Cell::new(usize::MAX)), Rc::default());
        let driver = |side: usize, room: &Rc<Cell<usize>>, broken: &Rc<Cell<bool>>, impairment| {
            let plug = Plug {
                reads: cable[1 - side].clone(),
                writes: cable[side].clone(),
                room: room.clone(),
                broken: broken.clone(),
                supers: Rc::default(),
                fd: UnixDatagram::unbound().unwrap(),
            };
            let addresses = vec![IpAddr::from([10, 9, 0, side as u8 + 1])];
            let config =
                DriverConfig { addresses, isn_secret: [1, 2], rng: Rng::new(1), impairment, allowance: ALLOWANCE };
            Driver::new(plug, Watch(now.clone()), config)
        };
        let config = Config::default().validate().unwrap();
        let served = Rc::new(Cell::new(None));
        let report = served.clone();
        let remote = (IpAddr::from([10, 9, 0, 2]), 9).into();
        let clock = now.clone();
        let progress = Box::new(move |written: &u64| progress(&clock, *written));
        let mut bench = Self {
            client: driver(0, &room, &broken, for_client),
            server: driver(1, &Rc::new(Cell::new(usize::MAX)), &Rc::default(), for_server),
            sender: Sender::new(remote, config.clone(), Payload::Pattern(bytes), progress),
            discard: Discard::new(9, config, Some(1), Box::new(move |transfer| report.set(Some(*transfer)))),
            now,
            room,
            broken,
            cable,
            served,
        };
        bench.server.start(&mut bench.discard, &mut Off).unwrap();
        bench.client.start(&mut bench.sender, &mut Off).unwrap();
        bench
    }

    fn after(&self, span: Duration) {
        self.now.set(self.now.get() + span);
    }

    fn step_server(&mut self) {
        self.server.step(&mut self.discard, &mut Off).unwrap();
    }

    fn step_client(&mut self) -> Result<Option<Instant>, DriverError> {
        self.client.step(&mut self.sender, &mut Off)
    }

    /// Runs both in turn, a millisecond apart or up to the next deadline if nothing moves, until both end.
    fn run(&mut self) -> Transfer {
        for _ in 0..100_000 {
            let wakes = [self.step_client().unwrap(), self.server.step(&mut self.discard, &mut Off).unwrap()];
            if self.sender.is_done() && self.discard.is_done() {
                return self.served.get().unwrap();
            }
            let soon = self.now.get() + Duration::from_millis(1);
            let idle = self.cable.iter().all(|wire| wire.borrow().is_empty());
            let next = wakes.into_iter().flatten().min().unwrap_or(soon);
            self.now.set(if idle { next.max(soon) } else { soon });
        }
        panic!("it does not come to an end")
    }
}

fn lossy(percent: u64) -> Option<PathSpec> {
    let loss = LossSpec::Bernoulli(base::Ratio::new(percent, 100).unwrap());
    Some(PathSpec { loss, ..PathSpec::ideal(Duration::from_millis(2)) })
}

fn assert_whole(served: &Transfer) {
    let mut expected = vec![0; BYTES as usize];
    tcp::fill_pattern(0, &mut expected);
    let mut crc = crate::Crc32::default();
    crc.update(&expected);
    assert_eq!((served.end, served.read.bytes, served.read.crc), (CloseReason::Normal, BYTES, crc));
}

#[test]
fn super_segments_cross_whole() {
    let mut bench = Bench::new(Default::default());
    assert_whole(&bench.run());
    assert!(bench.client.outlet.device.supers.get() > 1);
}

#[test]
fn emulated_paths_carry_plain_packets_and_lose_some_in_each_direction() {
    let mut bench = Bench::new([Impairment { ingress: lossy(10), egress: lossy(10), seed: 1 }, Impairment::default()]);
    assert_whole(&bench.run());
    let [ingress, egress] = bench.client.path_stats().map(Option::unwrap);
    assert!(egress.offered >= BYTES / 1460);
    assert_eq!(bench.client.outlet.device.supers.get(), 0, "hops carry packets one by one");
    assert!(ingress.dropped.loss > 0 && egress.dropped.loss > 0);
}

#[test]
fn super_segments_are_cut_before_they_enter_an_emulated_path() {
    let mut bench = Bench::new([Impairment::default(), Impairment { ingress: lossy(5), egress: None, seed: 1 }]);
    assert_whole(&bench.run());
    let [ingress, egress] = bench.server.path_stats();
    assert!(ingress.unwrap().offered >= BYTES / 1460 && egress.is_none());
}

#[test]
fn a_full_device_is_waited_for_and_loses_nothing() {
    let mut bench = Bench::new(Default::default());
    bench.room.set(0);
    assert_eq!(bench.step_client().unwrap(), bench.client.stack().next_deadline());
    assert_eq!(bench.client.outlet.room(), Room::None);
    for _ in 0..5 {
        // One frame at a time.
        bench.room.set(1);
        bench.step_client().unwrap();
        bench.server.step(&mut bench.discard, &mut Off).unwrap();
    }
    bench.room.set(usize::MAX);
    assert_whole(&bench.run());
    assert_eq!(bench.served.get().unwrap().info.counters.dsacks_sent, 0, "nothing had to be sent twice");
}

#[test]
fn a_broken_device_ends_the_run_with_its_own_words() {
    let mut bench = Bench::new(Default::default());
    bench.broken.set(true);
    let error = bench.client.run(&mut bench.sender, &mut Off).unwrap_err();
    assert!(matches!(&error, DriverError::Write(_)) && error.to_string().contains("unplugged"), "{error}");
}

#[test]
fn a_request_to_end_resets_the_connection() {
    let mut bench = Bench::new(Default::default());
    for _ in 0..4 {
        bench.step_client().unwrap();
        bench.server.step(&mut bench.discard, &mut Off).unwrap();
    }
    assert_eq!(bench.client.run(&mut bench.sender, &mut Off).unwrap(), Ended::Stopped);
    bench.server.step(&mut bench.discard, &mut Off).unwrap();
    assert_eq!(bench.served.get().unwrap().end, CloseReason::Reset);
}

#[test]
fn a_request_to_end_resets_a_connection_too_that_is_open_only_for_the_peer() {
    let mut bench = Bench::new(Default::default());
    bench.step_client().unwrap();
    bench.step_server();
    // The ACK of the handshake waits behind more than a batch when the stop request arrives.
    bench.cable[0].borrow_mut().extend(std::iter::repeat_with(noise).take(40));
    bench.step_client().unwrap();
    assert_eq!(bench.server.run(&mut bench.discard, &mut Off).unwrap(), Ended::Stopped);
    bench.step_client().unwrap();
    assert_eq!(bench.sender.finish().unwrap().map(|transfer| transfer.end), Some(CloseReason::Reset));
}

/// Returns one of our packets as a router quotes it, in the report that it was too large.
fn too_big(sent: &[u8], mtu: u32) -> Vec<u8> {
    let mut message = Vec::new();
    let kind = wire::IcmpKind::TooBig { mtu, packet_len: 0 };
    wire::icmp::emit(kind, IpAddr::from([192, 0, 2, 1]), sent, &mut message);
    message
}

#[test_case(Impairment::default(); "at once")]
#[test_case(Impairment { ingress: lossy(0), egress: None, seed: 1 }; "over an emulated path")]
fn what_routers_say_reaches_the_stack_and_what_has_no_receiver_is_counted(impairment: Impairment) {
    let mut bench = Bench::new([impairment, Impairment::default()]);
    let mut reported = false;
    for _ in 0..100_000 {
        bench.step_client().unwrap();
        let large =
            bench.cable[0].borrow().iter().map(|(packet, _)| packet).find(|packet| packet.len() > 1400).cloned();
        if let Some(packet) = large.filter(|_| !reported) {
            reported = true;
            bench.cable[0].borrow_mut().clear();
            let noise = vec![0x45; 40];
            bench.cable[1].borrow_mut().extend([(too_big(&packet, 1200), None), (noise, None)]);
        }
        bench.server.step(&mut bench.discard, &mut Off).unwrap();
        bench.now.set(bench.now.get() + Duration::from_millis(1));
        if bench.sender.is_done() && bench.discard.is_done() {
            break;
        }
    }
    let served = bench.served.get().expect("it comes to an end");
    assert_whole(&served);
    assert!(reported);
    assert_eq!((bench.client.stack().counters().icmp, bench.client.refused()), (1, 1));
}

/// Returns fields of the events of one kind, by name, as numbers.
fn values(trace: &TextSink, event: &str, field: &str) -> Vec<u64> {
    let number = |line: &str| line.split_once(&format!("{field}="))?.1.split([',', '}']).next()?.parse().ok();
    trace.0.lines().filter(|line| line.contains(event)).map(|line| number(line).expect(line)).collect()
}

const ONE_WAY: Duration = Duration::from_millis(5);
const FILLING: Duration = Duration::from_millis(25);

#[test]
fn time_that_the_application_takes_is_not_time_on_the_path() {
    let mut bench = Bench::sending(4_000_000, |clock, _| clock.set(clock.get() + FILLING), Default::default());
    let mut trace = TextSink::default();
    let (mut ends, mut samples) = (Vec::new(), Vec::new());
    // The SYN, the first flight, and its acknowledgement.
    for _ in 0..3 {
        bench.client.step(&mut bench.sender, &mut trace).unwrap();
        ends.push(bench.now.get().as_nanos());
        samples.push(values(&trace, "RttUpdated", "sample"));
        bench.after(ONE_WAY);
        bench.step_server();
        bench.after(ONE_WAY);
    }
    let sent: Vec<u64> = trace.0.lines().filter(|line| line.contains("SegmentSent")).map(stamp).collect();
    // The SYN leaves at once, the ACK before the application is called, and the first flight when it has filled the buffer.
    let path = (ONE_WAY * 2).as_nanos();
    assert!(ends[1] >= path + FILLING.as_nanos(), "{ends:?}");
    assert_eq!(sent[..3], [0, path, ends[1]], "{sent:?}");
    assert!(samples[2].len() > samples[1].len(), "the flight was acknowledged");
    assert!(samples[2].iter().all(|sample| *sample == path), "{samples:?}");
}

/// Returns the time of an event.
fn stamp(line: &str) -> u64 {
    line.split(' ').next().and_then(|at| at.parse().ok()).expect(line)
}

#[test]
fn an_application_moves_a_quarter_of_a_megabyte_a_step_and_goes_on_in_the_next() {
    let written = Rc::new(Cell::new(0));
    let report = written.clone();
    let mut bench = Bench::sending(4_000_000, move |_, so_far| report.set(so_far), Default::default());
    let (mut before, mut most, mut steps) = (0, 0, 0);
    while !bench.sender.is_done() {
        let wake = bench.step_client().unwrap();
        let moved = written.get() - before;
        (before, most) = (written.get(), most.max(moved));
        steps += u64::from(moved > 0);
        if moved == ALLOWANCE as u64 {
            assert_eq!(wake, Some(bench.now.get()), "the rest is not waited for");
        }
        bench.step_server();
        bench.after(Duration::from_millis(1));
    }
    assert_eq!((most, before), (ALLOWANCE as u64, 4_000_000));
    assert!(steps >= 16, "{steps}");
}

/// A packet that no stack accepts.
fn noise() -> (Vec<u8>, Option<u16>) {
    (vec![0x45; 40], None)
}

#[test]
fn acks_that_wait_behind_a_batch_are_handled_before_timers_that_became_due_meanwhile() {
    let mut bench = Bench::new(Default::default());
    for _ in 0..3 {
        bench.step_client().unwrap();
        bench.after(ONE_WAY);
        // The answer waits behind more than three batches.
        bench.cable[1].borrow_mut().extend(std::iter::repeat_with(noise).take(100));
        bench.step_server();
        bench.after(ONE_WAY);
        while !bench.cable[1].borrow().is_empty() {
            // The thread was suspended, for longer than any timeout.
            bench.after(Duration::from_secs(3));
            bench.step_client().unwrap();
        }
    }
    assert_whole(&bench.run());
    let sent = bench.sender.finish().unwrap().unwrap().info.counters;
    assert_eq!((sent.timeouts, sent.probes, sent.bytes_retransmitted), (0, 0, 0));
}

#[test]
fn timers_are_served_though_the_device_is_never_empty() {
    let mut bench = Bench::new(Default::default());
    bench.step_client().unwrap();
    // The SYN is lost.
    bench.cable[0].borrow_mut().clear();
    let mut steps = 0;
    while bench.cable[0].borrow().is_empty() {
        bench.cable[1].borrow_mut().extend(std::iter::repeat_with(noise).take(64));
        bench.after(Duration::from_millis(100));
        bench.step_client().unwrap();
        steps += 1;
        assert!(steps < 100, "it is never sent again");
    }
    // The timer was due after ten steps. Sixteen steps read as much as a device's queue holds.
    assert!((10..=10 + 2 * 16).contains(&steps), "{steps}");
}
