//! What a segment costs in allocations in the steady state: nothing in the pipe. The receiving stack allocates the pages in which it
//! keeps bytes, one for every 2,048, and a sender whose flight drains makes the records of the next flight anew.

#[path = "../../sim/tests/counting/mod.rs"]
mod counting;
mod two;

use counting::allocations;
use longhaul_pipe::RunnerConfig;
use tcp::{Read, Segmentation, StackCx};
use trace::Off;
use two::Two;

/// Bytes of a page of the receive buffer.
const PAGE: u64 = 2_048;

/// Moves `bytes` to the server; returns the packets it took.
fn transfer(two: &mut Two, (client, server): (tcp::Conn, tcp::Conn), bytes: u64) -> u64 {
    let mut chunk = [7; 65_536];
    let before = two.server.tunnel.counters().inbound;
    let (mut written, mut read) = (0, 0);
    while read < bytes {
        let (mut off, now) = (Off, two.now);
        let cx = &mut StackCx::new(now, &mut off);
        let stack = two.client.runner.stack();
        loop {
            let left = (bytes - written).min(chunk.len() as u64) as usize;
            let taken = stack.write(cx, client, &chunk[..left]).expect("writes");
            written += taken as u64;
            if taken == 0 {
                break;
            }
        }
        two.settle();
        let (mut off, now) = (Off, two.now);
        let cx = &mut StackCx::new(now, &mut off);
        while let Ok(Read::Data(len @ 1..)) = two.server.runner.stack().read(cx, server, &mut chunk) {
            read += len;
        }
        while two.server.runner.stack().poll_event().is_some() || two.client.runner.stack().poll_event().is_some() {}
        two.pass();
    }
    two.server.tunnel.counters().inbound - before
}

#[test]
fn segments_allocate_nothing_but_the_receivers_pages() {
    for segmentation in [Segmentation::Off, Segmentation::Tso { max_bytes: 64_000 }] {
        let mut two = Two::new(segmentation, RunnerConfig::default());
        let ends = two.connect();
        two.lags = true;
        transfer(&mut two, ends, 20_000_000);
        let [(few, first), (many, second)] = [5_000_000, 20_000_000].map(|bytes| {
            let before = allocations();
            let packets = transfer(&mut two, ends, bytes);
            (packets, allocations() - before)
        });
        assert!(many > 3 * few, "{few} and {many} packets");
        let (more, pages, segments) = (second.saturating_sub(first), 15_000_000 / PAGE, 15_000_000 / 1_460);
        let others = more.saturating_sub(pages);
        assert!(others * 10 <= segments, "{segmentation:?}: {others} allocations for {segments} segments");
    }
}
