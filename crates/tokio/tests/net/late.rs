//! What timers cost that ring late, as tokio's do where the kernel has none of its own for the driver: up to a millisecond.

use crate::two::{CLIENT, SERVER, any, server};
use base::{Rate, Ratio};
use longhaul_tokio::virtual_time::{LossSpec, PathSpec, VirtualClock, World};
use longhaul_tokio::{Clock, Duration, Instant, Stack};
use netem::Buffer;
use std::io;
use std::task::{Context, Poll};
use test_case::test_case;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How a clock's timers ring.
#[derive(Clone, Copy, Debug)]
enum Rings {
    OnTime,
    /// With the first whole millisecond that is not earlier.
    AtMilliseconds,
    /// A millisecond after they should.
    AMillisecondLate,
}

/// A clock that shows the exact time, and whose timers ring late.
struct Late {
    clock: VirtualClock,
    rings: Rings,
}

impl Clock for Late {
    fn now(&mut self) -> Instant {
        self.clock.now()
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) -> Poll<io::Result<()>> {
        if at == Instant::MAX {
            return self.clock.poll_until(cx, at);
        }
        let at = match self.rings {
            Rings::OnTime => at,
            Rings::AtMilliseconds => Instant::from_nanos(at.as_nanos().next_multiple_of(1_000_000)),
            Rings::AMillisecondLate => at + Duration::from_millis(1),
        };
        self.clock.poll_until(cx, at)
    }
}

/// Moves 20 MB over 100 Mbit/s and 20 ms with a buffer of one bandwidth-delay product, and returns how long it takes.
fn takes(profile: &str, per_mille: u64, seed: u64, rings: Rings) -> Duration {
    let rtt = Duration::from_millis(20);
    let rate = Rate::from_bits_per_sec(100_000_000).unwrap();
    let buffer = Buffer::Bytes(rate.bytes_in(rtt));
    let loss = LossSpec::Bernoulli(Ratio::new(per_mille, 1_000).unwrap());
    let there = PathSpec { rate: Some(rate), buffer, loss, ..PathSpec::ideal(rtt / 2) };
    let mut world = World::new(seed);
    let build = |address: &str| {
        let clock = Late { clock: world.clock(), rings };
        let builder = Stack::builder().addresses([address.parse().unwrap()]).seed(seed).profile(profile);
        builder.clock(clock).build().unwrap()
    };
    let ((client, one, first), (accepting, other, second)) = (build(CLIENT), build(SERVER));
    world.link(one, other, [there, PathSpec::ideal(rtt / 2)]);
    world.spawn(first);
    world.spawn(second);
    let sent = [7; 20_000_000 / 100];
    world.spawn(async move {
        let mut out = client.connect(server(80)).await.unwrap();
        for _ in 0..100 {
            out.write_all(&sent).await.unwrap();
        }
        out.shutdown().await.unwrap();
        let _ = out.closed().await;
    });
    let received = world.run(async move {
        let listener = accepting.listen(any(80)).unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = vec![0; 1 << 16];
        let mut received = 0;
        loop {
            match stream.read(&mut buffer).await.unwrap() {
                0 => return received,
                read => received += read,
            }
        }
    });
    assert_eq!(received, Ok(20_000_000));
    world.now().since(Instant::ZERO)
}

/// Only `bbr` paces, and so waits for a timer all the time. ACKs release what the others send.
#[test_case("longhaul", 0)]
#[test_case("linux", 0)]
#[test_case("bbr", 0)]
#[test_case("longhaul", 1; "longhaul, one packet in a thousand is lost")]
#[test_case("bbr", 1; "bbr, one packet in a thousand is lost")]
fn timers_that_are_a_millisecond_late_cost_at_most_two_percent(profile: &str, per_mille: u64) {
    // Losses come at other times, so one run says little.
    let seeds = 1 + 7 * per_mille;
    let all = |rings| (1..=seeds).map(|seed| takes(profile, per_mille, seed, rings).as_nanos()).sum::<u64>();
    let exact = all(Rings::OnTime);
    for rings in [Rings::AtMilliseconds, Rings::AMillisecondLate] {
        let late = all(rings);
        assert!(late * 100 <= exact * 102, "{rings:?}: {late} ns instead of {exact} ns");
        assert!(late != exact || profile != "bbr", "{rings:?}: {late} ns and {exact} ns");
    }
}
