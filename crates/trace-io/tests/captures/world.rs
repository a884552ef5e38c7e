//! Our own sender and receiver on a path in virtual time, and a capture at each end: everything is known that an analysis of the
//! captures has to find out.

use base::{Duration, Instant, Rng};
use netem::{Path, PathSpec};
use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, TsResolution};
use std::net::{IpAddr, SocketAddr};
use tcp::config::GuardConfig;
use tcp::{
    Budget, ChecksumState, Conn, DeviceCaps, Payload, Read, RxFrame, Segmentation, Sent, Stack, StackConfig, StackCx,
    StackEvent, State, TcpInfo, TxChecksum, TxFrame, ValidConfig, turn,
};
use trace::Off;

const PORT: u16 = 80;
/// The epoch of the captures.
const BEGAN: u64 = 1_700_000_000;
/// No test takes longer.
const LONGEST: Duration = Duration::from_secs(600);

const MOST_STEPS: u64 = 1_000_000;

/// What happens.
#[derive(Clone, Debug)]
pub struct Story {
    pub sender: ValidConfig,
    pub receiver: ValidConfig,
    pub forward: PathSpec,
    pub reverse: PathSpec,
    pub bytes: u64,
    /// The receiver reads so many bytes at a time, and then waits.
    pub reads: Option<(u64, Duration)>,
    pub seed: u64,
}

impl Story {
    /// A profile at both ends, with changes to it, over a path of this round trip.
    pub fn new(profile: &str, changes: &[(&str, &str)], rtt: Duration) -> Self {
        let changes: Vec<_> = changes.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let config = profiles::get(profile).unwrap().with(&changes).unwrap();
        let line = PathSpec::ideal(rtt / 2);
        let (forward, reverse) = (line.clone(), line);
        Self { sender: config.clone(), receiver: config, forward, reverse, bytes: 1_000_000, reads: None, seed: 1 }
    }
}

/// What happened.
pub struct Outcome {
    /// Captures at the sender and at the receiver: headers only, in nanoseconds.
    pub captures: [Vec<u8>; 2],
    /// What the ends counted.
    pub ends: [TcpInfo; 2],
}

#[derive(Clone, Debug)]
struct Parcel {
    header: Vec<u8>,
    offset: u64,
    len: u32,
}

impl netem::Packet for Parcel {
    fn wire_len(&self) -> u32 {
        self.header.len() as u32 + self.len
    }
    fn mark_ce(&mut self) -> bool {
        false
    }
    fn duplicate(&self) -> Self {
        self.clone()
    }
    fn stream(&self) -> Option<std::ops::Range<u64>> {
        (self.len > 0).then(|| self.offset..self.offset + u64::from(self.len))
    }
}

struct Side {
    stack: Stack,
    conn: Option<Conn>,
    info: Option<TcpInfo>,
    capture: PcapWriter<Vec<u8>>,
    done: u64,
    wakes: Instant,
    has_shut: bool,
}

impl Side {
    fn new(ip: IpAddr, seed: u64) -> Self {
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off };
        let config = StackConfig { addresses: vec![ip], device, isn_secret: [seed, 7], guards: GuardConfig::default() };
        let header =
            PcapHeader { datalink: DataLink::RAW, ts_resolution: TsResolution::NanoSecond, ..PcapHeader::default() };
        let capture = PcapWriter::with_header(Vec::new(), header).unwrap();
        let stack = Stack::new(config, Rng::new(seed));
        Self { stack, conn: None, info: None, capture, done: 0, wakes: Instant::MAX, has_shut: false }
    }

    fn note(&mut self, at: Instant, parcel: &Parcel) {
        let at = std::time::Duration::from_secs(BEGAN) + std::time::Duration::from_nanos(at.as_nanos());
        let bytes = parcel.header.len() as u32 + parcel.len;
        self.capture.write_packet(&PcapPacket::new(at, bytes, &parcel.header)).unwrap();
    }

    fn take_events(&mut self) {
        while let Some(event) = self.stack.poll_event() {
            if let StackEvent::Accepted { conn, .. } = event {
                self.stack.accept(conn);
                self.conn = Some(conn);
            }
        }
    }

    /// The application: the first side writes, the second reads.
    fn act(&mut self, now: Instant, story: &Story, writes: bool) {
        let Some(conn) = self.conn else { return };
        let mut off = Off;
        let mut cx = StackCx::new(now, &mut off);
        let state = self.stack.endpoint(conn).map(tcp::Endpoint::state);
        if matches!(state, None | Some(State::SynSent | State::SynReceived)) {
            return;
        }
        if writes && self.done < story.bytes {
            self.done += self.stack.write_pattern(&mut cx, conn, story.bytes - self.done).unwrap_or(0);
            if self.done == story.bytes && !self.has_shut {
                self.has_shut = true;
                self.stack.shutdown(&mut cx, conn);
            }
        } else if !writes {
            self.read(now, story, conn);
        }
        if let Some(endpoint) = self.stack.endpoint(conn) {
            self.info = Some(endpoint.info());
        }
    }

    fn read(&mut self, now: Instant, story: &Story, conn: Conn) {
        let (mut left, pause) = story.reads.unwrap_or((u64::MAX, Duration::ZERO));
        if story.reads.is_some() && self.wakes != Instant::MAX && self.wakes > now {
            return;
        }
        let mut off = Off;
        let mut cx = StackCx::new(now, &mut off);
        while left > 0 {
            match self.stack.read_pattern(&mut cx, conn, left.min(1 << 20)) {
                Ok(Read::Data(len)) if len > 0 => {
                    self.done += len;
                    left -= len;
                }
                Ok(Read::Fin) if !self.has_shut => {
                    self.has_shut = true;
                    self.stack.shutdown(&mut cx, conn);
                    break;
                }
                _ => break,
            }
        }
        if story.reads.is_some() {
            self.wakes = now + pause;
        }
    }
}

/// Runs the story.
pub fn run(story: &Story) -> Outcome {
    let ips: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
    let mut sides = [Side::new(ips[0], story.seed), Side::new(ips[1], story.seed + 1)];
    let rng = Rng::new(story.seed);
    let mut paths: [Path<Parcel>; 2] =
        [story.forward.build(&rng.fork("there")), story.reverse.build(&rng.fork("back"))];
    sides[1].stack.listen(PORT, 8, &story.receiver).unwrap();
    let mut off = Off;
    let mut cx = StackCx::new(Instant::ZERO, &mut off);
    sides[0].conn = Some(sides[0].stack.connect(&mut cx, &story.sender, SocketAddr::new(ips[1], PORT)).unwrap());
    let mut now = Instant::ZERO;
    serve(0, now, story, &mut sides, &mut paths);
    let mut steps = 0;
    loop {
        let wakes = sides.iter().filter_map(|side| side.stack.next_deadline().into_iter().chain([side.wakes]).min());
        let next = wakes.chain(paths.iter().filter_map(Path::next_deadline)).min();
        let ended = sides[1].has_shut && paths.iter().all(|path| path.next_deadline().is_none());
        match next {
            Some(at) if at != Instant::MAX && !ended => now = now.max(at),
            _ => break,
        }
        steps += 1;
        assert!(now < Instant::ZERO + LONGEST && steps < MOST_STEPS, "the story has no end");
        (0..2).for_each(|side| serve(side, now, story, &mut sides, &mut paths));
    }
    assert_eq!(sides[1].done, story.bytes, "everything arrives");
    let ends = [0, 1].map(|side: usize| sides[side].info.unwrap());
    let captures = sides.map(|side| side.capture.into_writer());
    Outcome { captures, ends }
}

fn serve(index: usize, now: Instant, story: &Story, sides: &mut [Side; 2], paths: &mut [Path<Parcel>; 2]) {
    let side = &mut sides[index];
    let mut arrivals = Vec::new();
    while let Some((at, parcel)) = paths[1 - index].poll(now, &mut |_, _, _| {}) {
        side.note(at, &parcel);
        arrivals.push((at, parcel));
    }
    let mut left = Vec::new();
    for round in 0.. {
        let frames = arrivals.iter().filter(|_| round == 0).map(|(at, parcel)| RxFrame {
            at: *at,
            header: wire::Header::read(&parcel.header),
            payload: Payload::Pattern { offset: parcel.offset, len: parcel.len },
            gso_size: None,
            checksum: ChecksumState::Unneeded,
        });
        let (before, done, had_shut) = (left.len(), side.done, side.has_shut);
        let mut tx = |frame: TxFrame<'_>| {
            let (offset, len) = match frame.payload {
                Payload::Pattern { offset, len } => (offset, len),
                Payload::Bytes(bytes) => (0, bytes.len() as u32),
            };
            left.push(Parcel { header: frame.header.to_vec(), offset, len });
            Sent::Accepted
        };
        let mut off = Off;
        turn(&mut side.stack, &mut StackCx::new(now, &mut off), frames, &mut tx, Budget::UNLIMITED);
        side.take_events();
        side.act(now, story, index == 0);
        if (left.len(), side.done, side.has_shut) == (before, done, had_shut) {
            break;
        }
    }
    for parcel in left {
        side.note(now, &parcel);
        paths[index].offer(now, parcel, &mut |_, _, _| {});
    }
}
