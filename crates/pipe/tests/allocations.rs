//! What a segment costs in allocations in the steady state: nothing, in the pipe and in the stacks at both ends, whether the flight
//! lasts or drains each time.

#[path = "../../sim/tests/counting/mod.rs"]
mod counting;
mod two;

use base::Instant;
use counting::allocations;
use longhaul_pipe::RunnerConfig;
use tcp::{Conn, Read, Segmentation, Stack, StackCx};
use trace::Off;
use two::Two;

/// Bytes of the answer to a burst.
const ANSWER: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
enum Traffic {
    /// So many bytes at a time, to which the server answers: every flight drains, in both directions.
    Bursts(u64),
    /// One flight that lasts; the client writes so many bytes ahead of the reader.
    Stream(u64),
}

/// Moves `bytes` to the server. Both ends read everything each time. Returns the number of segments that are needed.
fn transfer(two: &mut Two, (client, server): (Conn, Conn), bytes: u64, traffic: Traffic) -> u64 {
    let mut chunk = [7; 65_536];
    let (mut bursts, mut end, mut written, mut read, mut answered) = (0, 0, 0, 0, 0);
    while read < bytes {
        match traffic {
            Traffic::Stream(ahead) => end = read + ahead,
            Traffic::Bursts(len) if read == end && answered == bursts * ANSWER => {
                (bursts, end) = (bursts + 1, end + len)
            }
            Traffic::Bursts(_) => {}
        }
        loop {
            let left = (end - written).min(chunk.len() as u64) as usize;
            let taken = two.client.runner.stack().write(&mut StackCx::new(two.now, &mut Off), client, &chunk[..left]);
            let Ok(taken @ 1..) = taken else { break };
            written += taken as u64;
        }
        two.settle();
        let before = read;
        read += take(two.server.runner.stack(), two.now, server, &mut chunk);
        if read > before && read == end && bursts > 0 {
            let answer = &chunk[..ANSWER as usize];
            two.server.runner.stack().write(&mut StackCx::new(two.now, &mut Off), server, answer).expect("writes");
        }
        two.settle();
        answered += take(two.client.runner.stack(), two.now, client, &mut chunk);
        if read < end || answered < bursts * ANSWER {
            two.pass();
        }
    }
    bytes.div_ceil(1_460).max(bursts)
}

/// Reads everything; returns how much it was.
fn take(stack: &mut Stack, now: Instant, conn: Conn, chunk: &mut [u8]) -> u64 {
    let mut read = 0;
    while let Ok(Read::Data(len @ 1..)) = stack.read(&mut StackCx::new(now, &mut Off), conn, chunk) {
        read += len;
    }
    while stack.poll_event().is_some() {}
    read
}

/// Bursts of less than a segment, of ten segments and of more than a first window; and a stream.
const TRAFFIC: [Traffic; 4] =
    [Traffic::Bursts(1_400), Traffic::Bursts(14_600), Traffic::Bursts(200_000), Traffic::Stream(1_000_000)];

const LARGE: Segmentation = Segmentation::Tso { max_bytes: 64_000 };

#[test]
fn a_segment_allocates_nothing() {
    // The last wire carries single packets, into which super-segments are cut.
    for (segmentation, is_plain) in [(Segmentation::Off, false), (LARGE, false), (LARGE, true)] {
        for traffic in TRAFFIC {
            let mut two = Two::new(segmentation, RunnerConfig::default());
            two.is_plain = is_plain;
            let ends = two.connect(80);
            two.lags = true;
            transfer(&mut two, ends, 20_000_000, traffic);
            let before = allocations();
            let segments = transfer(&mut two, ends, 20_000_000, traffic);
            let allocated = allocations() - before;
            let case = format!("{segmentation:?}, {traffic:?}, plain wire: {is_plain}");
            println!("{case}: {allocated} allocations for {segments} segments");
            assert!(allocated * 50 <= segments, "{case}: {allocated} for {segments} segments");
        }
    }
}
