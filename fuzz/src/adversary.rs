//! Two endpoints, and between them an adversary that drops, duplicates, delays, cuts and marks packets, and in half of the games
//! also changes headers and forges segments and ICMP messages.
//!
//! Later the adversary stops. Whatever it did before: the books balance at every step, what is read is a prefix of what was
//! written, neither endpoint waits without a timer for something unacknowledged, and all connections end once both applications
//! have closed. Where nothing was forged, every byte arrives and both sides close normally.

mod settings;
mod side;

use crate::Tally;
use crate::input::Input;
use base::{Duration, Instant, SeqNum, SeqRange};
use core::net::{IpAddr, SocketAddr};
use side::{Place, Side, first_byte, pattern};
use std::collections::BTreeMap;
use tcp::{Budget, ChecksumState, CloseReason, FinProgress, Payload, RxFrame, Sent, StackCx, State, turn};
use trace::Off;
use wire::{Ecn, Flags, IcmpKind, IpRepr, MAX_HEADER, TcpRepr, Unreachable, icmp};

const PORT: u16 = 80;
const DELAY: Duration = Duration::from_millis(10);
/// The adversary stops when the input ends, or after this time: before the peers would give up.
const PRESENCE: Duration = Duration::from_secs(20);
/// Maximum number of moments in a game at which something happens.
const MOMENTS: u32 = 50_000;

/// A packet in transit: its header (or all of an ICMP message), and which bytes of the stream it carries.
#[derive(Clone, Debug)]
struct Parcel {
    to: usize,
    header: Vec<u8>,
    offset: u64,
    len: u32,
}

/// Plays the input.
pub fn adversary(bytes: &[u8]) {
    play(bytes);
}

/// As [`adversary`], and returns how much happened.
pub fn play(bytes: &[u8]) -> Tally {
    let mut game = Game::new(Input::new(bytes));
    while game.tally.steps < u64::from(MOMENTS) && game.moment() {
        game.tally.steps += 1;
    }
    game.judge();
    game.release();
    game.tally
}

struct Game<'a> {
    input: Input<'a>,
    sides: [Side; 2],
    on_the_way: BTreeMap<(Instant, u64), Parcel>,
    sent: u64,
    now: Instant,
    begin: Instant,
    forges: bool,
    path_mtu: u32,
    /// The first number after a SYN, and the place in the stream, of the last packet that left.
    origin: (SeqNum, u64),
    tally: Tally,
}

impl<'a> Game<'a> {
    fn new(mut input: Input<'a>) -> Self {
        let choice = input.byte();
        let v6 = choice & 1 == 1;
        let ips = if v6 { ["fd00::1", "fd00::2"] } else { ["10.0.0.1", "10.0.0.2"] };
        let ips: [IpAddr; 2] = ips.map(|ip| ip.parse().expect("an address"));
        let narrow = choice & 2 != 0;
        let configs = [settings::draw(&mut input, narrow), settings::draw(&mut input, narrow)];
        let amounts = [input.short(), input.short()].map(u64::from);
        let mut sides = [Side::new(ips[0], choice, amounts[0]), Side::new(ips[1], !choice, amounts[1])];
        let now = Instant::from_nanos(1_000_000_000_000);
        let mut off = Off;
        sides[1].stack.listen(PORT, 8, &configs[1]).expect("a free port");
        let (mut cx, remote) = (StackCx::new(now, &mut off), SocketAddr::new(ips[1], PORT));
        let conn = sides[0].stack.connect(&mut cx, &configs[0], remote).expect("a free port");
        let bytes = pattern(0, amounts[0].min(700));
        let early = sides[0].stack.fast_open(&mut cx, conn, &bytes);
        sides[0].writes_bytes = early.is_ok();
        sides[0].written = early.unwrap_or(0) as u64;
        sides[0].conn = Some(conn);
        let path_mtu = if narrow { 1_280 } else { 1_500 };
        let (on_the_way, tally) = (BTreeMap::new(), Tally::default());
        let forges = choice & 4 != 0;
        let origin = (SeqNum(0), 0);
        let mut game = Self { input, sides, on_the_way, sent: 0, now, begin: now, forges, path_mtu, origin, tally };
        for side in 0..2 {
            game.turn(side, None);
        }
        game
    }

    fn is_present(&self) -> bool {
        !self.input.is_empty() && self.now < self.begin + PRESENCE
    }

    fn next(&self) -> Option<Instant> {
        let arrival = self.on_the_way.first_key_value().map(|(key, _)| key.0);
        self.sides.iter().filter_map(|side| side.stack.next_deadline()).chain(arrival).min()
    }

    /// Advances to the next event; returns whether there is one.
    fn moment(&mut self) -> bool {
        let Some(at) = self.next() else { return false };
        self.now = self.now.max(at);
        let first = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= self.now);
        match first.map(|entry| entry.remove()) {
            Some(parcel) => self.turn(parcel.to, Some(&parcel)),
            None => (0..2).for_each(|side| self.turn(side, None)),
        }
        true
    }

    fn turn(&mut self, at: usize, parcel: Option<&Parcel>) {
        let (now, mut left) = (self.now, Vec::new());
        let reads = !self.is_present() || self.input.chance(200);
        let side = &mut self.sides[at];
        let frame = parcel.map(|parcel| {
            let payload = Payload::Pattern { offset: parcel.offset, len: parcel.len };
            RxFrame {
                at: now,
                header: wire::Header::read(&parcel.header),
                payload,
                gso_size: None,
                checksum: ChecksumState::Unneeded,
            }
        });
        self.tally.packets += u64::from(frame.is_some());
        let mut off = Off;
        let mut tx = |frame: tcp::TxFrame<'_>| {
            let place = match frame.payload {
                Payload::Pattern { offset, .. } => Place::At(offset),
                Payload::Bytes(bytes) => Place::Of(bytes.to_vec()),
            };
            left.push((frame.header.to_vec(), frame.payload.len(), place));
            Sent::Accepted
        };
        turn(&mut side.stack, &mut StackCx::new(now, &mut off), frame, &mut tx, Budget::UNLIMITED);
        side.take_events(now);
        side.act(now, reads);
        turn(&mut side.stack, &mut StackCx::new(now, &mut off), None, &mut tx, Budget::UNLIMITED);
        side.take_events(now);
        assert!(left.len() < 10_000, "answers without end");
        for (header, len, place) in left {
            self.tally.packets += 1;
            self.carry(at, &header, len, &place);
        }
    }

    /// A packet leaves `from`, and enters the path under the adversary's control.
    fn carry(&mut self, from: usize, header: &[u8], len: u32, place: &Place) {
        let (ip, tcp) = wire::parse(header, len).expect("what leaves is well-formed");
        if tcp.flags.contains(Flags::SYN) {
            self.sides[from].isses.push(tcp.seq);
        }
        self.origin = (first_byte(&tcp), self.sides[from].offset_of(&tcp, len, place));
        let too_big = header.len() as u32 + len > self.path_mtu;
        if too_big && ip.fragmentation == wire::Fragmentation::Forbidden {
            let packet_len = if ip.src.is_ipv4() { (header.len() as u32 + len) as u16 } else { 0 };
            self.report(from, ip.dst, IcmpKind::TooBig { mtu: self.path_mtu, packet_len }, header);
            return;
        }
        if !self.is_present() {
            return self.post(from, ip, &tcp, len, DELAY);
        }
        let later = DELAY + Duration::from_micros(u64::from(self.input.byte()) * 2_000);
        match self.input.byte() {
            0..=139 => self.post(from, ip, &tcp, len, DELAY),
            140..=169 => {}
            170..=189 => {
                self.post(from, ip, &tcp, len, DELAY);
                self.post(from, ip, &tcp, len, later);
            }
            190..=214 => self.post(from, ip, &tcp, len, later),
            215..=222 if ip.ecn != Ecn::NotEct => self.post(from, IpRepr { ecn: Ecn::Ce, ..ip }, &tcp, len, DELAY),
            223..=228 if !tcp.flags.contains(Flags::FIN) => self.post(from, ip, &tcp, len / 2, DELAY),
            229.. if self.forges => {
                self.forge(from, ip, &tcp, len, header);
                self.post(from, ip, &tcp, len, later);
            }
            _ => self.post(from, ip, &tcp, len, DELAY),
        }
    }

    /// A forged packet: one that `from` never sent, or that the network never reported.
    fn forge(&mut self, from: usize, ip: IpRepr, tcp: &TcpRepr, len: u32, header: &[u8]) {
        let (what, near) = (self.input.byte(), u32::from(self.input.short()));
        let mut forged = *tcp;
        let shift = |seq: SeqNum| if what & 64 == 0 { seq + near % 3_000 } else { seq - near % 3_000 };
        match what & 15 {
            0 => (forged.flags, forged.ack) = (Flags::RST, None),
            1 => (forged.flags, forged.seq) = (Flags::RST, shift(tcp.seq)),
            2 => (forged.flags, forged.seq) = (Flags::SYN, shift(tcp.seq)),
            3 => forged.flags = Flags::from_bits(near as u8),
            4 | 5 => forged.ack = tcp.ack.map(shift),
            6 | 7 => forged.seq = shift(tcp.seq),
            8 => forged.window = near as u16,
            9 => forged.flags = tcp.flags.with(Flags::FIN),
            10 => forged.options.timestamps = None,
            11 => drop(forged.options.sack.push(SeqRange::new(shift(tcp.seq), shift(tcp.seq) + near))),
            12 => return self.report(from, ip.dst, IcmpKind::TooBig { mtu: near & 0x7ff, packet_len: 1_500 }, header),
            13 => return self.report(from, ip.dst, IcmpKind::Unreachable(Unreachable::Port), header),
            14 => return self.report(from, ip.dst, IcmpKind::TimeExceeded, header),
            _ => (forged.urgent, forged.flags) = (near as u16, tcp.flags.with(Flags::URG)),
        }
        self.post(from, ip, &forged, if what & 128 == 0 { 0 } else { len }, DELAY);
    }

    fn report(&mut self, to: usize, reporter: IpAddr, kind: IcmpKind, about: &[u8]) {
        let kind = match kind {
            IcmpKind::TooBig { mtu, .. } if reporter.is_ipv6() => IcmpKind::TooBig { mtu, packet_len: 0 },
            kind => kind,
        };
        let mut header = Vec::new();
        icmp::emit(kind, reporter, about, &mut header);
        self.enqueue(Parcel { to, header, offset: 0, len: 0 }, DELAY);
    }

    /// A segment goes to the other side. Its bytes are those at these positions of the sender's stream, as far as they exist.
    fn post(&mut self, from: usize, ip: IpRepr, tcp: &TcpRepr, len: u32, delay: Duration) {
        let side = &self.sides[from];
        // A forger that opens a connection in another host's name, with data accepted at once, has its own stream.
        let stranger = tcp.flags.contains(Flags::SYN) && !side.isses.contains(&tcp.seq);
        if stranger && self.sides[1 - from].conn.is_none() {
            return;
        }
        let (first, offset) = self.origin;
        let moved = i64::from(first_byte(tcp).distance_from(first) as i32);
        let offset = offset.checked_add_signed(moved).unwrap_or(u64::MAX);
        let len = u64::from(len).min(side.to_write.saturating_sub(offset)) as u32;
        let mut header = [0; MAX_HEADER];
        let header_len = wire::emit(&ip, tcp, len, &mut header);
        self.enqueue(Parcel { to: 1 - from, header: header[..header_len].to_vec(), offset, len }, delay);
    }

    fn enqueue(&mut self, parcel: Parcel, delay: Duration) {
        self.sent += 1;
        self.on_the_way.insert((self.now + delay, self.sent), parcel);
    }

    /// Whether no event remains, or the game takes too long.
    fn judge(&self) {
        assert!(self.next().is_none(), "no end: {:?}", self.states());
        for (side, other) in [(0, 1), (1, 0)].map(|(side, other)| (&self.sides[side], &self.sides[other])) {
            assert!(side.read <= other.to_write, "{} bytes read of {}", side.read, other.to_write);
            let conn = side.conn.filter(|_| !side.over());
            if let Some(queues) = conn.and_then(|conn| side.stack.queues(conn)) {
                let waits = queues.unacknowledged > 0 || matches!(queues.fin, FinProgress::Queued | FinProgress::Sent);
                assert!(!waits, "waits without a timer: {:?}", self.states());
            }
            if !self.forges {
                assert!(side.over() && side.closed.is_none_or(|why| why == CloseReason::Normal), "{:?}", self.states());
                assert!(side.fin_read && side.read == other.to_write, "{} of {}", side.read, other.to_write);
            }
        }
    }

    fn states(&self) -> [(Option<State>, Option<CloseReason>, u64, u64); 2] {
        [0, 1].map(|at| {
            let side = &self.sides[at];
            let state = side.conn.and_then(|conn| side.stack.endpoint(conn)).map(tcp::Endpoint::state);
            (state, side.closed, side.written, side.read)
        })
    }

    /// Both applications have gone: eventually so is all the state they left.
    fn release(&mut self) {
        for side in &mut self.sides {
            let mut off = Off;
            let mut cx = StackCx::new(self.now, &mut off);
            if let Some(conn) = side.conn.take() {
                side.stack.release(&mut cx, conn);
            }
        }
        (0..2).for_each(|side| self.turn(side, None));
        for _ in 0..MOMENTS {
            if !self.moment() {
                break;
            }
        }
        assert!(self.next().is_none(), "no end after the applications");
        let left = [0, 1].map(|at| self.sides[at].stack.connections());
        assert_eq!(left, [0, 0], "connections are left behind");
    }
}
