//! A program with streams over a stack of some shards: any packets, and its calls in any order — futures that are polled, or dropped
//! half-way, streams that are split, closed, reset or left. No panic, bounds that hold after every step, bytes in order where packets
//! are only lost and repeated, and no task that is left at the end.

use crate::Tally;
use crate::input::Input;
use base::{Duration, Instant};
use core::net::{IpAddr, SocketAddr};
use core::num::NonZeroU32;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use longhaul_tokio::{
    Batch, Bounds, Clock, Driver, GuardConfig, Incoming, Net, Packets, RequestConfig, ShutdownEnds, Stack,
    StackBuilder, TcpListener, TcpRequest, TcpStream, Unreachable,
};
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const MEMORY: u64 = 256 << 10;
const UNDECIDED: u32 = 2;
const LATE: u32 = 2;
/// Bytes that a connection may always write, whatever the budget says; and its record.
const CONNECTION: u64 = 4 << 10;

/// Plays the input: the first byte selects the configuration, the others the steps.
pub fn program(bytes: &[u8]) {
    play(bytes);
}

/// [`program`] with its tally.
pub fn play(bytes: &[u8]) -> Tally {
    let mut input = Input::new(bytes);
    let mut game = Game::new(input.byte());
    let mut tally = Tally::default();
    while !input.is_empty() && tally.steps < 2_000 {
        tally.steps += 1;
        game.step(&mut input);
        game.bounds_hold();
    }
    for stats in game.sides.iter().filter_map(|side| side.net.as_ref()).map(Net::stats) {
        tally.packets += stats.pipe.inbound + stats.pipe.outbound;
    }
    game.end();
    tally
}

/// Shows the time that the game says it is; a wait ends when the driver is polled again.
#[derive(Clone, Default)]
struct Hands(Arc<AtomicU64>);

impl Clock for Hands {
    fn now(&mut self) -> Instant {
        Instant::from_nanos(self.0.load(Relaxed))
    }

    fn poll_until(&mut self, _: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        if at <= self.now() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

/// One end of the wire: the program's handle, its stack's ends, and what it holds.
struct Side {
    net: Option<Net>,
    packets: Vec<Packets>,
    drivers: Vec<Driver>,
    listener: Option<TcpListener>,
    requests: Vec<TcpRequest>,
    opening: Vec<Pin<Box<dyn Future<Output = io::Result<TcpStream>>>>>,
    closing: Option<Pin<Box<dyn Future<Output = ()>>>>,
    streams: Vec<Stream>,
}

/// A stream, and how far its bytes have got: they count up modulo 251.
struct Stream {
    it: TcpStream,
    written: u64,
    read: u64,
}

struct Game {
    hands: Hands,
    sides: [Side; 2],
    /// Packets are lost and repeated, and nothing else happens to them.
    is_honest: bool,
    /// The packet that was carried last.
    last: Vec<u8>,
}

fn address(side: usize) -> IpAddr {
    [10, 0, 0, 1 + side as u8].into()
}

impl Game {
    fn new(choice: u8) -> Self {
        let hands = Hands::default();
        let shards = NonZeroU32::new(1 + u32::from(choice & 3) % 3).expect("one at least");
        let side = |own: usize, shards: NonZeroU32| {
            let narrow = Bounds { packets: 4, bytes: 8_000 };
            let guards = GuardConfig { orphan_time: Duration::from_secs(10), ..GuardConfig::default() };
            let requests = RequestConfig { undecided_max: UNDECIDED, ..RequestConfig::default() };
            let clocks = vec![hands.clone(); shards.get() as usize];
            let asks = |builder: StackBuilder| if choice & 8 == 0 { builder } else { builder.late_requests(LATE) };
            let builder = Stack::builder().addresses([address(own)]).seed(own as u64).clocks(clocks).guards(guards);
            let builder = asks(builder.memory(MEMORY).queues(narrow, narrow).others(2));
            let builder = if choice & 16 == 0 { builder.requests(requests) } else { builder };
            let (net, packets, drivers) = builder.build_shards(shards).expect("the settings fit each other");
            let (requests, opening, streams) = (Vec::new(), Vec::new(), Vec::new());
            Side { net: Some(net), packets, drivers, listener: None, requests, opening, closing: None, streams }
        };
        let sides = [side(0, NonZeroU32::MIN), side(1, shards)];
        Self { hands, sides, is_honest: choice & 4 == 0, last: Vec::new() }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        let own = input.below(2);
        match input.below(8) {
            0 => self.pass(Duration::from_millis(input.short().into())),
            1 | 2 => self.sides[own].run(),
            3 | 4 => self.carry(own, input),
            5 if !self.is_honest => self.inject(own, input),
            6 => self.sides[own].decide(address(1 - own), input),
            _ => {
                let is_honest = self.is_honest;
                self.sides[own].stream(is_honest, input);
            }
        }
    }

    fn pass(&mut self, by: Duration) {
        self.hands.0.fetch_add(by.as_nanos(), Relaxed);
    }

    /// Carries packets from one side to the other; some are lost, repeated or changed.
    fn carry(&mut self, from: usize, input: &mut Input<'_>) {
        let [mut left, mut coming] = [Batch::default(), Batch::default()];
        let fate = input.byte();
        for place in 0..self.sides[from].packets.len() {
            let _ = self.sides[from].packets[place].try_recv(&mut left, 1 + usize::from(fate & 7));
            for (n, packet) in left.packets().iter().enumerate() {
                self.last = packet.bytes().to_vec();
                match (fate >> 3, n) {
                    (1..=3, 0) => {}
                    (4 | 5, 0) => {
                        coming.push(packet.bytes());
                        coming.push(packet.bytes());
                    }
                    (6, 0) if !self.is_honest => {
                        let mut bytes = packet.bytes().to_vec();
                        let at = usize::from(input.byte()) % bytes.len().max(1);
                        bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (fate & 7));
                        coming.push(&bytes);
                    }
                    _ => {
                        coming.push(packet.bytes());
                    }
                }
            }
        }
        self.bring(1 - from, &mut coming, input);
    }

    /// Brings packets to one of a side's ends; what does not fit is lost.
    fn bring(&mut self, to: usize, coming: &mut Batch, input: &mut Input<'_>) {
        let ends = &self.sides[to].packets;
        if !ends.is_empty() {
            let _ = ends[input.below(ends.len())].try_send(coming);
        }
    }

    /// Brings a packet that no stack has sent.
    fn inject(&mut self, to: usize, input: &mut Input<'_>) {
        let mut bytes = if input.chance(128) { self.last.clone() } else { Vec::new() };
        bytes.extend((0..input.below(64)).map(|_| input.byte()));
        for _ in 0..input.below(4) {
            let (at, byte) = (usize::from(input.short()), input.byte());
            let len = bytes.len().max(1);
            bytes.iter_mut().skip(at % len).take(1).for_each(|place| *place = byte);
        }
        let mut coming = Batch::default();
        let packet = coming.push(&bytes);
        packet.gso_size = Some(input.short()).filter(|_| input.chance(64));
        if input.chance(128) {
            packet.checksum = tcp::ChecksumState::Device;
        }
        self.bring(to, &mut coming, input);
    }

    fn bounds_hold(&self) {
        for side in &self.sides {
            let Some(net) = &side.net else { continue };
            for stats in net.shard_stats() {
                let extra = CONNECTION * (stats.connections as u64 + 1);
                assert!(stats.usage.memory <= MEMORY + extra, "{stats:?}");
                assert!(stats.undecided as u64 <= u64::from(UNDECIDED + LATE), "{stats:?}");
            }
        }
    }

    /// The program drops everything, and the drivers end by themselves.
    fn end(mut self) {
        for side in &mut self.sides {
            side.streams.clear();
            side.requests.clear();
            side.opening.clear();
            (side.listener, side.closing, side.net) = (None, None, None);
        }
        for _ in 0..2_000 {
            self.pass(Duration::from_secs(1));
            for side in &mut self.sides {
                side.run();
                // A device takes what comes.
                for end in &side.packets {
                    let _ = end.try_recv(&mut Batch::default(), 64);
                }
            }
            if self.sides.iter().all(|side| side.drivers.is_empty()) {
                return;
            }
        }
        panic!("a driver has not ended: {:?}", self.sides.iter().map(|side| side.drivers.len()).collect::<Vec<_>>());
    }
}

impl Side {
    /// Polls every driver, and what waits for an end of its own.
    fn run(&mut self) {
        let cx = &mut Context::from_waker(Waker::noop());
        self.drivers.retain_mut(|driver| Pin::new(driver).poll(cx).is_pending());
        let Self { opening, streams, .. } = self;
        opening.retain_mut(|opening| match opening.as_mut().poll(cx) {
            Poll::Ready(Ok(it)) => {
                streams.push(Stream { it, written: 0, read: 0 });
                false
            }
            Poll::Ready(Err(_)) => false,
            Poll::Pending => true,
        });
        if self.closing.as_mut().is_some_and(|closing| closing.as_mut().poll(cx).is_ready()) {
            self.closing = None;
        }
    }

    /// A call of the program that concerns the stack.
    fn decide(&mut self, peer: IpAddr, input: &mut Input<'_>) {
        let cx = &mut Context::from_waker(Waker::noop());
        let Some(net) = &self.net else { return };
        match input.below(16) {
            0..=3 => {
                let (net, to, port) =
                    (net.clone(), SocketAddr::new(peer, 1 + u16::from(input.byte() & 3)), input.byte());
                let from = SocketAddr::new([0, 0, 0, 0].into(), u16::from(port & 7));
                self.opening.push(Box::pin(async move { net.connect_from(from, to).await }));
            }
            4 | 5 => match net.poll_incoming(cx) {
                Poll::Ready(Some(Incoming::Tcp(request))) => self.requests.push(request),
                Poll::Ready(_) | Poll::Pending => {}
            },
            6..=8 => {
                let Some(request) = self.requests.pop() else { return };
                match input.below(5) {
                    0 => request.refuse(),
                    1 => request.unreachable(Unreachable::Host),
                    2 => request.ignore(),
                    _ => self.streams.extend(request.accept().ok().map(|it| Stream { it, written: 0, read: 0 })),
                }
            }
            9 => self.listener = net.listen(SocketAddr::new([0, 0, 0, 0].into(), 1)).ok(),
            10 | 11 => {
                let accepted = self.listener.as_ref().map(|listener| listener.poll_accept(cx));
                if let Some(Poll::Ready(Ok((it, _)))) = accepted {
                    self.streams.push(Stream { it, written: 0, read: 0 });
                }
            }
            12 => self.listener = None,
            13 => drop(net.set_mtu(576 + input.short() % 1_000)),
            14 => drop(self.opening.pop()),
            _ if input.chance(16) => {
                let net = net.clone();
                let grace = std::time::Duration::from_millis(input.short().into());
                self.closing = Some(Box::pin(async move { net.shutdown(grace).await }));
            }
            _ => drop((net.connections(), net.stats())),
        }
    }

    /// A call of the program that concerns a stream.
    fn stream(&mut self, is_honest: bool, input: &mut Input<'_>) {
        let cx = &mut Context::from_waker(Waker::noop());
        if self.streams.is_empty() {
            return;
        }
        let at = input.below(self.streams.len().min(256));
        let stream = &mut self.streams[at];
        match input.below(16) {
            0..=4 => stream.read(is_honest, usize::from(input.short() & 0x3fff), cx),
            5..=9 => stream.write(usize::from(input.short() & 0x3fff), cx),
            10 => drop(Pin::new(&mut stream.it).poll_shutdown(cx)),
            11 => stream.it.abort(),
            12 => stream.it.set_linger(Some(std::time::Duration::ZERO).filter(|_| input.chance(128))),
            13 => stream.it.set_shutdown_ends(ShutdownEnds::Acknowledged),
            14 => {
                let (read, write) = self.streams.swap_remove(at).it.into_split();
                if input.chance(128) { drop(read) } else { drop(write) }
            }
            _ => drop(self.streams.swap_remove(at)),
        }
    }
}

impl Stream {
    fn read(&mut self, is_honest: bool, len: usize, cx: &mut Context<'_>) {
        let mut bytes = vec![0; len];
        let mut buf = ReadBuf::new(&mut bytes);
        if let Poll::Ready(Ok(())) = Pin::new(&mut self.it).poll_read(cx, &mut buf) {
            for byte in buf.filled() {
                assert!(!is_honest || u64::from(*byte) == self.read % 251, "byte {} is {byte}", self.read);
                self.read += 1;
            }
        }
    }

    fn write(&mut self, len: usize, cx: &mut Context<'_>) {
        let bytes: Vec<_> = (0..len as u64).map(|at| ((self.written + at) % 251) as u8).collect();
        if let Poll::Ready(Ok(taken)) = Pin::new(&mut self.it).poll_write(cx, &bytes) {
            self.written += taken as u64;
        }
    }
}
