//! Stacks of several shards, whose drivers run in several threads.

use longhaul_tokio::{Batch, BuildError, Driver, Incoming, Net, Packets, Stack, StackBuilder, TokioClock};
use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

const CLIENT: [&str; 2] = ["10.0.0.1", "fd00::1"];
const SERVER: [&str; 2] = ["10.0.0.2", "fd00::2"];

fn count(shards: u32) -> NonZeroU32 {
    NonZeroU32::new(shards).unwrap()
}

fn addresses(of: [&str; 2]) -> [IpAddr; 2] {
    of.map(|address| address.parse().unwrap())
}

fn server(version: usize, port: u16) -> SocketAddr {
    SocketAddr::new(addresses(SERVER)[version], port)
}

/// Two stacks, and the tasks of their drivers.
struct Two {
    client: Net,
    server: Net,
    drivers: Vec<JoinHandle<()>>,
}

/// Moves the packets of each end to some end of the other stack, each to another one than the last.
fn carry(from: &Arc<Vec<Packets>>, to: &Arc<Vec<Packets>>) {
    for own in 0..from.len() {
        let (from, to) = (from.clone(), to.clone());
        tokio::spawn(async move {
            let (mut left, mut one) = (Batch::default(), Batch::default());
            let mut next = own;
            while from[own].recv(&mut left, 64).await.is_ok() {
                for packet in left.packets() {
                    next += 1;
                    one.push(packet.bytes());
                    if to[next % to.len()].send(&mut one).await.is_err() {
                        return;
                    }
                }
            }
        });
    }
}

fn two(client: impl FnOnce(StackBuilder) -> StackBuilder, server: impl FnOnce(StackBuilder) -> StackBuilder) -> Two {
    let (client, one, first) = client(Stack::builder().addresses(addresses(CLIENT))).build_shards(count(2)).unwrap();
    let (server, other, second) = server(Stack::builder().addresses(addresses(SERVER))).build_shards(count(3)).unwrap();
    let (one, other) = (Arc::new(one), Arc::new(other));
    carry(&one, &other);
    carry(&other, &one);
    let run = |driver: Driver| tokio::spawn(async move { assert!(driver.await.is_ok()) });
    let drivers = first.into_iter().chain(second).map(run).collect();
    Two { client, server, drivers }
}

/// Sixty connections over both IP versions, each with bytes of its own both ways.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_connection_has_its_bytes_and_every_shard_connections() {
    let Two { client, server: net, drivers } = two(|builder| builder, |builder| builder);
    let listener = net.listen("0.0.0.0:7".parse().unwrap()).unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.into_split();
                tokio::io::copy(&mut read, &mut write).await.unwrap();
            });
        }
    });
    let streams: Vec<_> = (0..60_usize)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move {
                let sent: Vec<u8> = (0..50_000 + n).map(|at| (at * 7 + n) as u8).collect();
                let stream = client.connect(server(n % 2, 7)).await.unwrap();
                let (mut read, mut write) = stream.into_split();
                let mut back = Vec::new();
                let writing = async {
                    write.write_all(&sent).await.unwrap();
                    write.shutdown().await.unwrap();
                };
                let (_, read) = tokio::join!(writing, read.read_to_end(&mut back));
                read.unwrap();
                assert!(back == sent, "connection {n}: {} of {} bytes", back.len(), sent.len());
            })
        })
        .collect();
    for stream in streams {
        stream.await.unwrap();
    }
    for net in [&client, &net] {
        let shards = net.shard_stats();
        assert!(shards.iter().all(|shard| shard.stack.frames_sent > 100), "{shards:?}");
        let total = net.stats();
        assert_eq!(total.stack.frames_sent, shards.iter().map(|shard| shard.stack.frames_sent).sum::<u64>());
        // A last window update may come after the end.
        assert!(total.stack.no_connection <= 60, "{total:?}");
        assert!(total.pipe.handed_over > 1_000, "{total:?}");
    }
    let owners: BTreeSet<_> = client.connections().iter().map(|connection| connection.shard).collect();
    assert!(owners.iter().all(|shard| *shard < 2));
    tokio::join!(client.shutdown(Duration::ZERO), net.shutdown(Duration::ZERO));
    for driver in drivers {
        driver.await.unwrap();
    }
}

/// A named port decides the shard; requests come from every shard; datagrams have the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn named_ports_requests_and_datagrams_work_as_without_shards() {
    let Two { client, server: net, .. } = two(|builder| builder, |builder| builder.any_destination(true));
    let asked = net.clone();
    tokio::spawn(async move {
        while let Some(Incoming::Tcp(request)) = asked.incoming().await {
            let source = request.source();
            let mut stream = request.accept().unwrap();
            stream.write_all(source.to_string().as_bytes()).await.unwrap();
        }
    });
    for port in 5_000..5_020 {
        let from = SocketAddr::new(addresses(CLIENT)[usize::from(port) % 2], port);
        let mut stream = client.connect_from(from, server(usize::from(port) % 2, 9)).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, from.to_string());
    }
    assert!(net.shard_stats().iter().all(|shard| shard.requests.offered > 0), "{:?}", net.shard_stats());
    let socket = net.udp_bind(server(0, 53)).unwrap();
    let flow = client.udp_connect("10.0.0.1:0".parse().unwrap(), server(0, 53)).unwrap();
    flow.send(b"ping").await.unwrap();
    let mut buf = [0; 16];
    let (len, _) = socket.recv_from(&mut buf).await.unwrap();
    assert_eq!(&buf[..len], b"ping");
}

#[test]
fn what_belongs_to_one_stack_is_refused_for_several() {
    let clocks = Stack::builder().addresses(addresses(CLIENT)).clock(TokioClock::new()).build_shards(count(2));
    assert!(matches!(clocks, Err(BuildError::Shards { shards: 2, .. })), "{clocks:?}");
}
