//! Stacks driven by `turn`: two of them joined by a wire, devices with and without offload, full devices, order of time.

mod bench;
mod bounds;
mod cookies;
mod handshake;
mod late_requests;
mod listener;
mod requests;
mod restart;
mod shards;
mod time_wait;

use super::*;
use crate::config::Config;
use crate::cx::StackCx;
use crate::pattern::Payload;
use crate::testing::{MSS, PEER, Script, US, plain_device, quick, valid};
use crate::turn::{Budget, ChecksumState, RxFrame, Sent, TurnResult, TxFrame, turn};
use crate::{CloseReason, ConnEvent, Read};
use base::{Duration, Instant};
use core::net::{Ipv6Addr, SocketAddr};
use trace::{Off, TextSink};
use wire::{Flags, MAX_HEADER};

/// A frame with its bytes, as a wire between two stacks carries it.
#[derive(Clone, Debug)]
struct Carried {
    header: Vec<u8>,
    payload: Vec<u8>,
    gso_size: Option<u16>,
    checksum: ChecksumState,
}

fn carry(frame: &TxFrame<'_>) -> Carried {
    let payload = match frame.payload {
        Payload::Bytes(bytes) => bytes.to_vec(),
        Payload::Pattern { .. } => panic!("these tests move bytes"),
    };
    Carried { header: frame.header.to_vec(), payload, gso_size: frame.gso_size, checksum: frame.checksum }
}

struct Pair {
    stacks: [Stack; 2],
    now: Instant,
    /// Frames in flight towards each stack.
    wire: [Vec<Carried>; 2],
    carried: usize,
}

impl Pair {
    fn new(addresses: [IpAddr; 2], device: DeviceCaps) -> Self {
        let stack = |address, seed| {
            let cfg =
                StackConfig { addresses: vec![address], device, isn_secret: [seed, 2], guards: GuardConfig::default() };
            Stack::new(cfg, Rng::new(seed))
        };
        let stacks = [stack(addresses[0], 1), stack(addresses[1], 2)];
        Self { stacks, now: Instant::from_nanos(1), wire: [Vec::new(), Vec::new()], carried: 0 }
    }

    /// One turn of one stack; its frames are then in flight to the other.
    fn turn(&mut self, who: usize) -> TurnResult {
        let arrived = core::mem::take(&mut self.wire[who]);
        let frames = arrived.iter().map(|frame| RxFrame {
            at: self.now,
            header: wire::Header::read(&frame.header),
            payload: Payload::Bytes(&frame.payload),
            gso_size: frame.gso_size,
            checksum: frame.checksum,
        });
        let mut sent = Vec::new();
        let mut tx = |frame: TxFrame<'_>| {
            sent.push(carry(&frame));
            Sent::Accepted
        };
        let mut off = Off;
        let mut cx = StackCx::new(self.now, &mut off);
        let result = turn(&mut self.stacks[who], &mut cx, frames, &mut tx, Budget::UNLIMITED);
        self.carried += sent.len();
        self.wire[1 - who].append(&mut sent);
        result
    }
}

/// Moves `data` from the first stack to the second over a wire with 5 ms each way; returns what arrived.
fn transfer(pair: &mut Pair, data: &[u8], cfg: &Config) -> Vec<u8> {
    let cfg = valid(cfg.clone());
    let to = SocketAddr::new(pair.stacks[1].addresses[0], 80);
    pair.stacks[1].listen(80, 8, &cfg).expect("listens");
    let mut off = Off;
    let mut cx = StackCx::new(pair.now, &mut off);
    let client = pair.stacks[0].connect(&mut cx, &cfg, to).expect("connects");
    let (mut written, mut received, mut server) = (0, Vec::new(), None);
    let mut buf = [0; 3000];
    for _ in 0..20_000 {
        for who in [0, 1] {
            pair.turn(who);
            while let Some(event) = pair.stacks[who].poll_event() {
                if let StackEvent::Accepted { conn, .. } = event {
                    server = Some(conn);
                    pair.stacks[who].accept(conn);
                }
            }
        }
        let mut off = Off;
        let mut cx = StackCx::new(pair.now, &mut off);
        if pair.stacks[0].info(client).is_some_and(|info| info.state.is_synchronized()) && written < data.len() {
            written += pair.stacks[0].write(&mut cx, client, &data[written..]).expect("may write");
            if written == data.len() {
                pair.stacks[0].shutdown(&mut cx, client);
            }
        }
        if let Some(conn) = server {
            loop {
                match pair.stacks[1].read(&mut cx, conn, &mut buf).expect("readable") {
                    Read::Data(0) => break,
                    Read::Data(n) => received.extend_from_slice(&buf[..n as usize]),
                    Read::Fin => return received,
                }
            }
        }
        pair.now += Duration::from_millis(5);
    }
    panic!("no end after 100 s: {} of {} bytes", received.len(), data.len());
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251) as u8).collect()
}

//= specs/rfc9293.md#opening
//= type=test
//# One local address is chosen when the application chooses none, and every segment of the connection carries it.
#[test]
fn bytes_arrive_unchanged_over_both_ip_versions() {
    let (a, b) = (Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2));
    let device = DeviceCaps { checksum: TxChecksum::Compute, ..plain_device() };
    for addresses in [[US, PEER], [IpAddr::V6(a), IpAddr::V6(b)]] {
        let mut pair = Pair::new(addresses, device);
        let data = bytes(300_000);
        assert_eq!(transfer(&mut pair, &data, &Config::default()), data);
        for stack in &pair.stacks {
            assert_eq!((stack.counters.bad_checksum, stack.counters.malformed), (0, 0));
        }
    }
}

#[test]
fn a_device_that_cuts_segments_gets_few_large_frames_and_the_same_bytes() {
    let plain = DeviceCaps { checksum: TxChecksum::Device, ..plain_device() };
    let tso = DeviceCaps { segmentation: Segmentation::Tso { max_bytes: 60_000 }, ..plain };
    let data = bytes(1_000_000);
    let mut frames = Vec::new();
    for device in [plain, tso] {
        let mut pair = Pair::new([US, PEER], device);
        assert_eq!(transfer(&mut pair, &data, &Config::default()), data);
        frames.push(pair.carried);
    }
    assert!(frames[1] * 3 < frames[0], "{frames:?}");
}

#[test]
fn small_buffers_on_both_sides_only_slow_it_down() {
    let mut cfg = Config::default();
    cfg.send.buffer = 2000;
    cfg.receive.window = crate::config::ReceiveWindowConfig::Fixed { bytes: 3000 };
    let mut pair = Pair::new([US, PEER], plain_device());
    let data = bytes(60_000);
    assert_eq!(transfer(&mut pair, &data, &cfg), data);
}

//= specs/rfc9293.md#segments
//= type=test
//# A segment with a wrong checksum is dropped in silence.
#[test]
fn a_frame_with_a_flipped_bit_is_silently_dropped_and_counted() {
    let device = DeviceCaps { checksum: TxChecksum::Compute, ..plain_device() };
    let mut pair = Pair::new([US, PEER], device);
    pair.stacks[1].listen(80, 8, &valid(quick())).expect("listens");
    let mut off = Off;
    let mut cx = StackCx::new(pair.now, &mut off);
    pair.stacks[0].connect(&mut cx, &valid(quick()), SocketAddr::new(PEER, 80)).expect("connects");
    pair.turn(0);
    // A bit of the window field: still a well-formed SYN.
    pair.wire[1][0].header[20 + 15] ^= 1;
    pair.turn(1);
    assert_eq!(pair.stacks[1].counters.bad_checksum, 1);
    assert_eq!(pair.stacks[1].connections(), 0);
    assert!(pair.wire[0].is_empty());
}

#[test]
fn a_device_that_expects_no_more_room_is_offered_no_other_frame_in_that_turn() {
    let mut script = Script::established(quick());
    let mut off = Off;
    let mut cx = StackCx::new(script.now, &mut off);
    script.stack.write_pattern(&mut cx, script.conn, 3 * u64::from(MSS)).expect("may write");
    let mut turns = Vec::new();
    while turns.last().is_none_or(|(_, more)| *more) {
        let mut seen = Vec::new();
        let mut tx = |frame: TxFrame<'_>| {
            let (_, repr) = wire::parse(frame.header, frame.payload.len()).expect("parses");
            seen.push(repr.seq.distance_from(script.iss));
            Sent::Last
        };
        let result = turn(&mut script.stack, &mut cx, None, &mut tx, Budget::UNLIMITED);
        turns.push((seen, result.more_to_send));
    }
    let one = |n: u32| (vec![1 + n * MSS], true);
    assert_eq!(turns, [one(0), one(1), one(2), (Vec::new(), false)], "one at a time, and none kept");
}

#[test]
fn a_full_device_loses_nothing_and_gets_the_same_frame_again() {
    let mut script = Script::established(quick());
    let mut off = Off;
    let mut cx = StackCx::new(script.now, &mut off);
    script.stack.write_pattern(&mut cx, script.conn, 20_000).expect("may write");
    let (mut room, mut seen) = (1, Vec::new());
    for _ in 0..20 {
        let mut tx = |frame: TxFrame<'_>| {
            if room == 0 {
                return Sent::Full;
            }
            room -= 1;
            let (_, repr) = wire::parse(frame.header, frame.payload.len()).expect("parses");
            seen.push(repr.seq.distance_from(script.iss));
            Sent::Accepted
        };
        let result = turn(&mut script.stack, &mut cx, None, &mut tx, Budget::UNLIMITED);
        if !result.more_to_send {
            break;
        }
        room = 1;
    }
    let expected: Vec<u32> = (0..10).map(|n| 1 + n * MSS).collect();
    assert_eq!(seen, expected, "the initial window, each segment once");
}

#[test]
fn a_budget_bounds_a_turn_and_the_rest_follows() {
    let mut script = Script::established(quick());
    let mut off = Off;
    let mut cx = StackCx::new(script.now, &mut off);
    script.stack.write_pattern(&mut cx, script.conn, 100_000).expect("may write");
    let mut counts = Vec::new();
    loop {
        let mut frames = 0;
        let mut tx = |_: TxFrame<'_>| {
            frames += 1;
            Sent::Accepted
        };
        let more =
            turn(&mut script.stack, &mut cx, None, &mut tx, Budget { frames: 4, ..Budget::UNLIMITED }).more_to_send;
        counts.push(frames);
        if !more {
            break;
        }
    }
    assert_eq!(counts, [4, 4, 2]);
}

/// A timer due before a frame's ingress is served before it, at its own instant, although both enter one turn.
#[test]
fn a_late_turn_serves_timers_and_frames_in_the_order_of_their_times() {
    let mut script = Script::established(quick());
    script.write(100);
    let deadline = script.stack.next_deadline().expect("a retransmission timer");
    let mut header = [0; MAX_HEADER];
    let repr = script.segment(Flags::NONE, 1, Some(101));
    let ip = IpRepr {
        src: PEER,
        dst: US,
        ttl: 64,
        dscp: 0,
        ecn: wire::Ecn::NotEct,
        fragmentation: wire::Fragmentation::Forbidden,
    };
    let len = wire::emit(&ip, &repr, 0, &mut header);
    let frame = |at| RxFrame {
        at,
        header: wire::Header::read(&header[..len]),
        payload: Payload::Bytes(&[]),
        gso_size: None,
        checksum: ChecksumState::Unneeded,
    };
    let mut sink = TextSink::default();
    let late = deadline + Duration::from_secs(1);
    let mut cx = StackCx::new(late, &mut sink);
    turn(
        &mut script.stack,
        &mut cx,
        [frame(deadline + Duration::from_nanos(1))],
        &mut |_| Sent::Accepted,
        Budget::UNLIMITED,
    );
    let lines: Vec<&str> = sink.0.lines().collect();
    let place =
        |what: &str| lines.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}: {lines:#?}"));
    assert!(place("TimerFired{kind=retransmit}") < place("SegmentReceived"));
    assert!(lines[0].starts_with(&format!("{} ", deadline.as_nanos())), "{lines:#?}");

    let mut script = Script::established(quick());
    script.write(100);
    let deadline = script.stack.next_deadline().expect("a retransmission timer");
    let mut off = Off;
    let mut cx = StackCx::new(deadline, &mut off);
    turn(&mut script.stack, &mut cx, [frame(deadline)], &mut |_| Sent::Accepted, Budget::UNLIMITED);
    assert_eq!(script.info().counters.timeouts, 0, "at equal times the frame goes first");
}

//= specs/rfc9293.md#opening
//= type=test
//# A connection to a broadcast or multicast address is refused.
#[test]
fn ports_are_refused_taken_and_given_back() {
    let mut stack = crate::testing::stack(plain_device());
    assert_eq!(stack.listen(0, 8, &valid(quick())), Err(ListenError::ZeroPort));
    assert_eq!(stack.listen(80, 8, &valid(quick())), Ok(()));
    assert_eq!(stack.listen(80, 8, &valid(quick())), Err(ListenError::InUse));
    let mut off = Off;
    let mut cx = StackCx::new(Instant::ZERO, &mut off);
    let nowhere: SocketAddr = "[fd00::1]:80".parse().expect("an address");
    assert_eq!(stack.connect(&mut cx, &valid(quick()), nowhere).err(), Some(ConnectError::NoLocalAddress));
    let everybody: SocketAddr = "224.0.0.1:80".parse().expect("an address");
    assert_eq!(stack.connect(&mut cx, &valid(quick()), everybody).err(), Some(ConnectError::InvalidRemote));
}

//= specs/rfc9293.md#opening
//= type=test
//# Segments from or to broadcast and multicast addresses are dropped in silence.
#[test]
fn frames_for_others_and_noise_are_counted_and_dropped() {
    let mut script = Script::established(quick());
    let noise = [0x45u8; 30];
    let frame = RxFrame {
        at: script.now,
        header: wire::Header::read(&noise),
        payload: Payload::Bytes(&[]),
        gso_size: None,
        checksum: ChecksumState::InHeader,
    };
    turn(
        &mut script.stack,
        &mut StackCx::new(script.now, &mut Off),
        [frame],
        &mut |_| Sent::Accepted,
        Budget::UNLIMITED,
    );
    assert_eq!(script.stack.counters().malformed, 1);
    assert!(script.stack.counters().last_malformed.is_some());
}

#[test]
fn a_connection_that_ended_is_freed_when_released_and_its_number_is_not_reused() {
    let mut script = Script::established(quick());
    let first = script.conn;
    let reset = script.segment(Flags::RST, 1, None);
    script.deliver(reset, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Reset)));
    let mut off = Off;
    let mut cx = StackCx::new(script.now, &mut off);
    script.stack.release(&mut cx, first);
    assert_eq!(script.stack.connections(), 0);
    let again = script.stack.connect(&mut cx, &valid(quick()), SocketAddr::new(PEER, 7)).expect("connects");
    assert_ne!(again, first);
    assert!(script.stack.info(first).is_none());
}
