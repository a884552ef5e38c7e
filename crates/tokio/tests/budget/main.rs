//! A thousand proxied connections within a budget of 15 MB, counted by the allocator: what the stack, its streams and its queues hold,
//! and neither the client's stack nor the buffers of the copying tasks.

mod attributed;

use attributed::{Attributed, live, peak};
use longhaul_tokio::virtual_time::{PathSpec, World};
use longhaul_tokio::{Duration, Incoming, Stack};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, copy_bidirectional, duplex};

const CONNECTIONS: usize = 1_000;
/// Bytes each way on a connection.
const BYTES: usize = 60_000;
/// The budget, in bytes.
const BUDGET: u64 = 15_000_000;

/// What a connection carries at a place.
fn byte(connection: usize, at: usize) -> u8 {
    (connection * 31 + at * 7 / 5) as u8
}

/// Echoes what comes, after a while: what has come in the meantime waits in the stack.
async fn echo(mut end: DuplexStream) {
    let mut buf = [0; 1_024];
    loop {
        match end.read(&mut buf).await.unwrap() {
            0 => break,
            len => end.write_all(&buf[..len]).await.unwrap(),
        }
    }
    end.shutdown().await.unwrap();
}

#[test]
fn a_thousand_proxied_connections_stay_within_the_budget_and_lose_nothing() {
    let mut world = World::new(1);
    let client = Stack::builder().addresses(["10.0.0.1".parse().unwrap()]).seed(1).clock(world.clock());
    let (client, one, driver) = client.build().unwrap();
    world.spawn(driver);
    let before = live();
    let clock = world.clock();
    let (proxy, other, driver) = attributed::during(|| {
        let builder = Stack::builder().any_destination(true).memory(BUDGET).seed(2).clock(clock);
        builder.build().unwrap()
    });
    world.spawn(Attributed(driver));
    let path =
        PathSpec { rate: base::Rate::from_bits_per_sec(400_000_000), ..PathSpec::ideal(Duration::from_millis(10)) };
    world.link(one, other, [path.clone(), path]);

    let (spawner, clock) = (world.spawner(), world.clock());
    let in_proxy = spawner.clone();
    world.spawn(async move {
        while let Some(Incoming::Tcp(request)) = proxy.incoming().await {
            let (mut near, far) = duplex(4_096);
            let wait = clock.sleep(Duration::from_millis(request.source().port() as u64 % 3 * 400));
            let stream = attributed::during(|| request.accept().unwrap());
            in_proxy.spawn(async move {
                wait.await;
                echo(far).await;
            });
            in_proxy.spawn(async move {
                let mut stream = Attributed(stream);
                copy_bidirectional(&mut stream, &mut near).await.unwrap();
            });
        }
    });
    let done = Arc::new(AtomicUsize::new(0));
    let finished = done.clone();
    let clock = world.clock();
    world
        .run(async move {
            for connection in 0..CONNECTIONS {
                let (client, clock, done) = (client.clone(), clock.clone(), done.clone());
                spawner.spawn(async move {
                    let to: SocketAddr = ([198, 51, 100, (connection % 250) as u8], 443).into();
                    let (mut read, mut write) = client.connect(to).await.unwrap().into_split();
                    let sent: Vec<u8> = (0..BYTES).map(|at| byte(connection, at)).collect();
                    let writing = async {
                        write.write_all(&sent).await.unwrap();
                        write.shutdown().await.unwrap();
                    };
                    let reading = async {
                        // One in four reads late.
                        clock.sleep(Duration::from_secs(u64::from(connection % 4 == 0))).await;
                        let mut back = Vec::new();
                        read.read_to_end(&mut back).await.unwrap();
                        back
                    };
                    let (_, back) = futures_util::future::join(writing, reading).await;
                    assert!(back == sent, "connection {connection}: {} bytes", back.len());
                    done.fetch_add(1, Relaxed);
                });
            }
            while done.load(Relaxed) < CONNECTIONS {
                clock.sleep(Duration::from_millis(100)).await;
            }
        })
        .unwrap();
    assert_eq!(finished.load(Relaxed), CONNECTIONS);
    println!("{} connections: {} bytes at the peak, of {BUDGET}", CONNECTIONS, peak() - before);
    assert!(peak() - before <= BUDGET, "{} bytes", peak() - before);
}
