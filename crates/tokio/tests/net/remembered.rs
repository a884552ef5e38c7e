//! What a connection leaves to the next one: 100 Mbit/s, 200 ms, receivers that do not limit it.

use crate::two::{Two, any, millis, server};
use base::Rate;
use longhaul_tokio::virtual_time::PathSpec;
use longhaul_tokio::{Config, Duration, Net, RememberPaths, Resumption, StackBuilder, ValidConfig};
use netem::{Buffer, Course, Stretch};
use tcp::config::ReceiveWindowConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BYTES: usize = 16 << 20;

fn config() -> ValidConfig {
    let mut config = Config::clone(profiles::get("linux").unwrap().config());
    config.receive.window = ReceiveWindowConfig::Fixed { bytes: 6 << 20 };
    config.validate().unwrap()
}

fn rate(mbit: u64) -> Option<Rate> {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

fn stretch(from: Duration, mbit: u64) -> Stretch {
    Stretch { from, rate: rate(mbit), delay: None }
}

/// Two stacks; after twenty seconds the path carries so many Mbit/s.
fn two(buffer: u64, slower: Option<u64>, client: impl FnOnce(StackBuilder) -> StackBuilder) -> Two {
    let mut there = PathSpec { rate: rate(100), buffer: Buffer::Bytes(buffer), ..PathSpec::ideal(millis(100)) };
    let later = Duration::from_secs(20);
    there.rates = slower.and_then(|mbit| Course::given(vec![stretch(Duration::ZERO, 100), stretch(later, mbit)]));
    let of = |builder: StackBuilder| builder.config(config());
    Two::over([there, PathSpec::ideal(millis(100))], 1, |builder| client(of(builder)), of)
}

fn remembering(builder: StackBuilder) -> StackBuilder {
    builder.remember_paths(RememberPaths::default())
}

/// Sends this much over a connection of its own, and waits until it has arrived. Returns the time that took, and what came of the memory.
async fn transfer(
    client: &Net,
    port: u16,
    clock: &longhaul_tokio::virtual_time::VirtualClock,
) -> (Duration, Option<Resumption>) {
    let from = clock.time();
    let mut out = client.connect(server(port)).await.unwrap();
    out.write_all(&vec![1; BYTES]).await.unwrap();
    out.shutdown().await.unwrap();
    // The peer answers once it has read everything.
    assert_eq!(out.read(&mut [0; 1]).await.unwrap(), 1);
    (clock.time().since(from), out.info().and_then(|info| info.resumption))
}

async fn serve(net: Net, port: u16) {
    let listener = net.listen(any(port)).unwrap();
    loop {
        let (mut inward, _) = listener.accept().await.unwrap();
        let mut all = Vec::new();
        inward.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), BYTES);
        inward.write_all(b"!").await.unwrap();
    }
}

/// Transfers one after the other, with pauses before them.
fn transfers(mut two: Two, pauses: &[u64]) -> Vec<(Duration, Option<Resumption>)> {
    let (client, clock) = (two.client.clone(), two.world.clock());
    two.world.spawn(serve(two.server.clone(), 80));
    two.world
        .run(async move {
            let mut seen = Vec::new();
            for pause in pauses {
                clock.sleep(Duration::from_secs(*pause)).await;
                seen.push(transfer(&client, 80, &clock).await);
            }
            seen
        })
        .unwrap()
}

#[test]
fn a_second_contact_resumes_and_is_faster() {
    let seen = transfers(two(2_500_000, None, remembering), &[0, 1, 299, 301]);
    let [first, second, third, late] = seen[..] else { panic!("four") };
    assert_eq!([first.1, second.1, third.1], [None, Some(Resumption::Confirmed), Some(Resumption::Confirmed)]);
    assert!(second.0 + millis(600) < first.0, "three round trips of six are spared: {} and {}", first.0, second.0);
    assert_eq!(late, first, "the memory was too old");
}

#[test]
fn without_a_memory_every_contact_is_a_first_one() {
    let seen = transfers(two(2_500_000, None, |builder| builder), &[0, 1]);
    assert_eq!(seen[0], seen[1]);
}

/// The path carries a tenth of what it did. The first flight shows it, so the second contact is as a first one, and the third uses what the
/// second one found.
#[test]
fn a_memory_that_the_first_flight_refutes_is_replaced() {
    let seen = transfers(two(300_000, Some(10), remembering), &[0, 30, 1]);
    let outcomes: Vec<_> = seen.iter().map(|(_, outcome)| *outcome).collect();
    assert_eq!(outcomes, [None, Some(Resumption::Declined), Some(Resumption::Confirmed)]);
    let without = transfers(two(300_000, Some(10), |builder| builder), &[0, 30]);
    assert_eq!(seen[1].0, without[1].0);
    assert!(seen[2].0 <= seen[1].0);
}
