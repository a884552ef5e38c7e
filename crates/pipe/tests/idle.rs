//! What connections cost that no application uses: memory, by a counting allocator, and no work.

#[path = "../../sim/tests/counting/mod.rs"]
mod counting;
mod two;

use base::{Duration, Instant};
use counting::live;
use longhaul_pipe::RunnerConfig;
use tcp::{Config, Conn, Read, Segmentation, Stack, StackCx, ValidConfig};
use trace::Off;
use two::Two;

/// Memory of an idle connection at one end, in bytes. Those with equal configurations share one.
const MOST: u64 = 1_400;
/// The same for one whose configuration no other has.
const MOST_ALONE: u64 = 2_048;
/// What both stacks keep for any number of connections: the pools of pages and packets.
const POOLS: u64 = 3 << 20;
/// Ports of the server, so that the client's ports suffice.
const PORTS: u32 = 32;

/// Opens so many connections, each with the configuration that `with` makes of its number.
fn open(two: &mut Two, count: u32, with: impl Fn(u32) -> ValidConfig) -> Vec<(Conn, Conn)> {
    let ends = (0..count).map(|number| two.connect_with(80 + (number % PORTS) as u16, || with(number))).collect();
    while two.server.runner.stack().poll_event().is_some() || two.client.runner.stack().poll_event().is_some() {}
    ends
}

/// Writes `bytes` on one end of each connection, which the other end reads.
fn exchange(two: &mut Two, ends: &[(Conn, Conn)], bytes: usize) {
    let mut chunk = vec![7; bytes];
    for some in ends.chunks(50) {
        for (client, server) in some {
            write(two.client.runner.stack(), two.now, *client, &chunk);
            write(two.server.runner.stack(), two.now, *server, &chunk);
        }
        let mut left = some.len() * bytes * 2;
        while left > 0 {
            two.pass();
            for (client, server) in some {
                left -= read(two.client.runner.stack(), two.now, *client, &mut chunk);
                left -= read(two.server.runner.stack(), two.now, *server, &mut chunk);
            }
        }
    }
    while two.server.runner.stack().poll_event().is_some() || two.client.runner.stack().poll_event().is_some() {}
}

fn write(stack: &mut Stack, now: Instant, conn: Conn, bytes: &[u8]) {
    assert_eq!(stack.write(&mut StackCx::new(now, &mut Off), conn, bytes), Ok(bytes.len()));
}

fn read(stack: &mut Stack, now: Instant, conn: Conn, chunk: &mut [u8]) -> usize {
    match stack.read(&mut StackCx::new(now, &mut Off), conn, chunk) {
        Ok(Read::Data(len)) => len as usize,
        other => panic!("{other:?} of an open connection"),
    }
}

/// Lets time pass until neither end has a deadline; then nothing happens for a minute.
fn rest(two: &mut Two) {
    let deadline = |two: &mut Two| {
        let ends = [two.client.runner.stack().next_deadline(), two.server.runner.stack().next_deadline()];
        ends.into_iter().flatten().min()
    };
    let begin = two.now;
    while deadline(two).is_some() {
        two.pass();
        assert!(two.now < begin + Duration::from_secs(10), "a deadline is left at {:?}", deadline(two));
    }
    let packets = [two.client.tunnel.counters(), two.server.tunnel.counters()];
    two.now += Duration::from_secs(60);
    two.settle();
    assert_eq!((deadline(two), [two.client.tunnel.counters(), two.server.tunnel.counters()]), (None, packets));
}

/// `LONGHAUL_IDLE=100000` asks for more connections; then `--release` saves time.
#[test]
fn an_idle_connection_takes_little_memory_and_no_time() {
    idle("with equal configurations", MOST, |_| two::config());
    idle("with one each", MOST_ALONE, |number| {
        let mut own = Config::default();
        own.send.buffer += number;
        own.validate().expect("valid")
    });
}

/// Opens connections, uses them a little, and weighs both ends; `most` bytes are allowed for a connection at one of them.
fn idle(kind: &str, most: u64, with: impl Fn(u32) -> ValidConfig) {
    let count = std::env::var("LONGHAUL_IDLE").map_or(20_000, |count| count.parse().expect("a number"));
    let nothing = live();
    let mut two = Two::new(Segmentation::Off, RunnerConfig::default());
    let ends = open(&mut two, count, with);
    let most = u64::from(count) * most;
    for (when, bytes) in [("after the handshake", 0), ("after a segment each way", 1_000), ("after ten", 14_600)] {
        exchange(&mut two, &ends, bytes);
        rest(&mut two);
        let taken = live() - nothing;
        println!("{count} connections {kind}, {when}: {} bytes for each end", taken / u64::from(2 * count));
        assert!(taken <= 2 * most + POOLS, "{taken} bytes {when}");
    }
    let Two { client, server, .. } = two;
    let both = live();
    drop(client);
    let (client, nothing_else) = (both - live(), live());
    drop(server);
    let server = nothing_else - live();
    println!("{} bytes at the end that opened, {} at the other", client / u64::from(count), server / u64::from(count));
    assert!(client.max(server) <= most + POOLS, "{client} and {server} bytes");
}
