//! Under tokio itself: its paused clock, and several threads with the machine's clock.

use longhaul_tokio::{Ended, Net, Packets, Stack, TokioClock, device};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn stack(address: &str, paused: bool) -> (Net, Packets, longhaul_tokio::Driver) {
    let builder = Stack::builder().addresses([address.parse().unwrap()]);
    if paused { builder.clock(TokioClock::new()) } else { builder }.build().unwrap()
}

/// Echoes on port 7 until it is dropped.
fn serve(net: Net) {
    let listener = net.listen("0.0.0.0:7".parse().unwrap()).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.into_split();
                tokio::io::copy(&mut read, &mut write).await
            });
        }
    });
}

async fn echoed(net: &Net, bytes: usize) {
    let stream = net.connect("10.0.0.2:7".parse().unwrap()).await.unwrap();
    let sent: Vec<u8> = (0..bytes).map(|n| (n * 7 / 11) as u8).collect();
    let (mut read, mut write) = stream.into_split();
    let expected = sent.clone();
    let writer = tokio::spawn(async move {
        write.write_all(&sent).await.unwrap();
        write.shutdown().await.unwrap();
    });
    let mut back = Vec::new();
    read.read_to_end(&mut back).await.unwrap();
    writer.await.unwrap();
    assert!(back == expected, "{} of {bytes} bytes came back", back.len());
}

#[tokio::test(start_paused = true)]
async fn under_a_paused_clock_an_hour_of_silence_takes_no_time() {
    let (client, one, first) = stack("10.0.0.1", true);
    let (server, other, second) = stack("10.0.0.2", true);
    tokio::spawn(device::join(one, other));
    let driver = tokio::spawn(first);
    tokio::spawn(second);
    serve(server);
    let mut stream = client.connect("10.0.0.2:7".parse().unwrap()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    stream.write_all(b"still there").await.unwrap();
    let mut back = [0; 11];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(&back, b"still there");
    drop(stream);
    drop(client);
    assert_eq!(driver.await.unwrap().unwrap(), Ended::Unused);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn streams_drivers_and_device_run_in_several_threads() {
    let (client, one, first) = stack("10.0.0.1", false);
    let (server, other, second) = stack("10.0.0.2", false);
    tokio::spawn(device::join(one, other));
    tokio::spawn(first);
    tokio::spawn(second);
    serve(server);
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { echoed(&client, 1_000_000 + n).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(client.stats().pipe.malformed, 0);
}

#[tokio::test]
async fn one_thread_is_enough() {
    let (client, one, first) = stack("10.0.0.1", false);
    let (server, other, second) = stack("10.0.0.2", false);
    tokio::spawn(device::join(one, other));
    tokio::spawn(first);
    tokio::spawn(second);
    serve(server);
    echoed(&client, 20_000_000).await;
}
