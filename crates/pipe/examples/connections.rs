//! Connections a second: `cargo run --release -p longhaul-pipe --example connections`.
//!
//! A client opens connections to a server behind a pipe, 256 at a time. Each carries a request of 200 bytes and an answer of 1,000;
//! the server closes first, so that TIME-WAIT is on its side, where it ends by its timer or by eviction. Virtual time passes as fast
//! as 50,000 connections a second need it. What counts is the processor's time for the server: its turns, its
//! application's calls, and the tunnel's calls at its pipe.

use base::{Duration, Instant, Rng};
use longhaul_pipe::{Batch, Next, Runner, RunnerConfig, Tunnel, pipe};
use nix::time::{ClockId, clock_gettime};
use std::net::{IpAddr, Ipv4Addr};
use std::time;
use tcp::config::GuardConfig;
use tcp::{
    Config, Conn, ConnEvent, DeviceCaps, Read, RequestConfig, Segmentation, Stack, StackConfig, StackCx, StackEvent,
    TxChecksum, ValidConfig,
};
use trace::Off;

const CONNECTIONS: u64 = 300_000;
/// Connections opened together.
const TOGETHER: u64 = 256;
/// Virtual time that such a group takes.
const STEP: Duration = Duration::from_micros(TOGETHER * 1_000_000 / 50_000);
const REQUEST: [u8; 200] = [1; 200];
const ANSWER: [u8; 1_000] = [2; 1_000];

struct Side {
    runner: Runner,
    tunnel: Tunnel,
    /// What has left, and what is on its way here.
    left: Batch,
    coming: Batch,
}

impl Side {
    fn new(address: IpAddr, seed: u64) -> Self {
        let device = DeviceCaps { mtu: 1500, checksum: TxChecksum::Compute, segmentation: Segmentation::Off };
        let guards = GuardConfig::default();
        let cfg = StackConfig { addresses: vec![address], device, isn_secret: [seed, 2], guards };
        let (runner, tunnel) = pipe(Stack::new(cfg, Rng::new(seed)), RunnerConfig::default());
        Self { runner, tunnel, left: Batch::default(), coming: Batch::default() }
    }
}

/// Returns the `number`th destination: each is asked 16 times in a row, so that the client finds a free port at once.
fn destination(number: u64) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(0x2d00_0000 + (number / 16) as u32))
}

struct Pair {
    client: Side,
    server: Side,
    cfg: ValidConfig,
    now: Instant,
    /// Time that the server has worked.
    spent: time::Duration,
    closed: u64,
}

impl Pair {
    fn new() -> Self {
        let (client, mut server) =
            (Side::new(Ipv4Addr::new(10, 0, 0, 1).into(), 1), Side::new(Ipv4Addr::LOCALHOST.into(), 2));
        server.runner.stack().set_requests(Some(RequestConfig::default()));
        let cfg = Config::default().validate().expect("the default is valid");
        Self { client, server, cfg, now: Instant::from_nanos(1_000_000_000), spent: time::Duration::ZERO, closed: 0 }
    }

    /// The server's part of a round: takes packets in, serves its connections, hands packets out. Returns whether it did anything.
    fn serve(&mut self) -> bool {
        let Self { server: Side { runner, tunnel, left, coming }, cfg, now, .. } = self;
        let begin = processor_time();
        let sent = tunnel.try_send(coming).expect("the stack is there");
        let mut next = runner.run(*now, &mut Off);
        let stack = runner.stack();
        while let Some((request, _)) = stack.poll_request() {
            stack.accept_request(&mut StackCx::new(*now, &mut Off), request, cfg).expect("accepted");
        }
        while let Some(event) = stack.poll_event() {
            if let StackEvent::Conn { conn, event: ConnEvent::Readable } = event {
                answer(stack, *now, conn);
            }
        }
        if stack.has_ready() {
            next = runner.run(*now, &mut Off);
        }
        let came = tunnel.try_recv(left, 256).expect("the stack is there");
        self.spent += processor_time() - begin;
        sent + came > 0 || next == Next::Now
    }

    /// The client's part.
    fn ask(&mut self) -> bool {
        let Self { client: Side { runner, tunnel, left, coming }, now, closed, .. } = self;
        let sent = tunnel.try_send(coming).expect("the stack is there");
        let mut next = runner.run(*now, &mut Off);
        let stack = runner.stack();
        while let Some(event) = stack.poll_event() {
            match event {
                StackEvent::Conn { conn, event: ConnEvent::Connected } => {
                    let written = stack.write(&mut StackCx::new(*now, &mut Off), conn, &REQUEST);
                    assert_eq!(written, Ok(REQUEST.len()));
                }
                StackEvent::Conn { conn, event: ConnEvent::Readable } => {
                    let mut bytes = [0; 2_000];
                    while let Ok(Read::Data(1..)) = stack.read(&mut StackCx::new(*now, &mut Off), conn, &mut bytes) {}
                    if stack.read(&mut StackCx::new(*now, &mut Off), conn, &mut bytes) == Ok(Read::Fin) {
                        stack.release(&mut StackCx::new(*now, &mut Off), conn);
                        *closed += 1;
                    }
                }
                _ => {}
            }
        }
        if stack.has_ready() {
            next = runner.run(*now, &mut Off);
        }
        let came = tunnel.try_recv(left, 256).expect("the stack is there");
        sent + came > 0 || next == Next::Now
    }

    /// Carries packets both ways until nothing more happens at this moment.
    fn settle(&mut self) {
        loop {
            let busy = self.ask() | self.serve();
            carry(&mut self.client.left, &mut self.server.coming);
            carry(&mut self.server.left, &mut self.client.coming);
            if !busy {
                return;
            }
        }
    }
}

/// What this thread has used of a processor; time in which others ran does not count.
fn processor_time() -> time::Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("the system counts it").into()
}

/// Reads what has come, answers a request and closes.
fn answer(stack: &mut Stack, now: Instant, conn: Conn) {
    let mut bytes = [0; 2_000];
    if let Ok(Read::Data(1..)) = stack.read(&mut StackCx::new(now, &mut Off), conn, &mut bytes) {
        let written = stack.write(&mut StackCx::new(now, &mut Off), conn, &ANSWER);
        assert_eq!(written, Ok(ANSWER.len()));
        stack.release(&mut StackCx::new(now, &mut Off), conn);
    }
}

fn carry(from: &mut Batch, to: &mut Batch) {
    for packet in from.packets() {
        let copy = to.push(packet.bytes());
        (copy.gso_size, copy.checksum) = (packet.gso_size, packet.checksum);
    }
    from.clear();
}

fn main() {
    let mut pair = Pair::new();
    let mut opened = 0;
    while opened < CONNECTIONS {
        for number in opened..opened + TOGETHER {
            let (mut off, to) = (Off, (destination(number), 80).into());
            let cx = &mut StackCx::new(pair.now, &mut off);
            pair.client.runner.stack().connect(cx, &pair.cfg, to).expect("connects");
        }
        opened += TOGETHER;
        pair.settle();
        pair.now += STEP;
    }
    for _ in 0..1_000 {
        pair.now += Duration::from_millis(100);
        pair.settle();
    }
    let left = pair.server.runner.stack().connections();
    assert_eq!((pair.closed, left), (opened, 0), "closed by the client, and left at the server");
    let guarded = *pair.server.runner.stack().guard_counters();
    let rate = opened as f64 / pair.spent.as_secs_f64();
    println!("{opened} connections in {:.3} s of the server: {rate:.0} a second on one core", pair.spent.as_secs_f64());
    println!("{} left TIME-WAIT early, because too many were in it", guarded.time_wait_evicted);
}
