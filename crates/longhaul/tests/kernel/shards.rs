//! A stack of several shards behind a device of several queues, each in its own task of several threads.

use crate::namespace::{V4, in_namespace};
use longhaul::Stack;
use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use test_case::test_case;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;

/// Connections in each direction.
const CONNECTIONS: usize = 48;

/// Writes bytes of its own and reads them back.
async fn converse(n: usize, mut read: impl AsyncRead + Unpin, mut write: impl AsyncWrite + Unpin) {
    let sent: Vec<u8> = (0..300_000 + n).map(|at| (at * 13 + n) as u8).collect();
    let mut back = Vec::new();
    let writing = async {
        write.write_all(&sent).await.unwrap();
        write.shutdown().await.unwrap();
    };
    let (_, read) = tokio::join!(writing, read.read_to_end(&mut back));
    read.unwrap();
    assert!(back == sent, "connection {n}: {} of {} bytes", back.len(), sent.len());
}

async fn echo(mut read: impl AsyncRead + Unpin, mut write: impl AsyncWrite + Unpin) {
    tokio::io::copy(&mut read, &mut write).await.unwrap();
    write.shutdown().await.unwrap();
}

#[test_case(Offload::On, 2)]
#[test_case(Offload::Off, 3)]
fn connections_both_ways_have_their_bytes_over_every_queue(offload: Offload, queues: u32) {
    in_namespace(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        runtime.block_on(all_connections(offload, NonZeroU32::new(queues).unwrap()));
    });
}

async fn all_connections(offload: Offload, queues: NonZeroU32) {
    let address: Cidr = V4.parse().unwrap();
    let config = TunConfig { name: "lh0".into(), address, mtu: 1_500, offload };
    let tuns = Tun::create_queues(&config, queues).unwrap_or_else(|error| panic!("{error}"));
    let builder = Stack::builder().addresses([address.address()]).device(tuns[0].caps());
    let (net, packets, drivers) = builder.build_shards(queues).unwrap();
    drivers.into_iter().for_each(|driver| drop(tokio::spawn(driver)));
    let movers: Vec<_> =
        tuns.into_iter().zip(packets).map(|(tun, packets)| tokio::spawn(longhaul::tun::run(tun, packets))).collect();
    let (ours, kernel) = (SocketAddr::new(address.address(), 7), SocketAddr::new(address.kernel_address(), 7));
    let listener = net.listen(ours).unwrap();
    let theirs = tokio::net::TcpListener::bind(kernel).await.unwrap();
    let servers = [
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (read, write) = stream.into_split();
                tokio::spawn(echo(read, write));
            }
        }),
        tokio::spawn(async move {
            loop {
                let (read, write) = theirs.accept().await.unwrap().0.into_split();
                tokio::spawn(echo(read, write));
            }
        }),
    ];
    let mut clients = JoinSet::new();
    for n in 0..CONNECTIONS {
        let net = net.clone();
        clients.spawn(async move {
            let (read, write) = net.connect(kernel).await.unwrap().into_split();
            converse(n, read, write).await;
        });
        clients.spawn(async move {
            let (read, write) = tokio::net::TcpStream::connect(ours).await.unwrap().into_split();
            converse(n, read, write).await;
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let shards = net.shard_stats();
    let brief = shards.iter().map(|shard| (shard.pipe.inbound, shard.pipe.outbound, shard.pipe.handed_over));
    let brief: Vec<_> = brief.collect();
    assert!(brief.iter().all(|(inbound, outbound, _)| *inbound > 100 && *outbound > 100), "{brief:?}");
    // A flow's first packets come to any queue; then the kernel knows which one is its own.
    assert!(brief.iter().any(|(.., handed_over)| *handed_over > 0), "{brief:?}");
    assert!(brief.iter().all(|(inbound, _, handed_over)| *handed_over < inbound / 4), "{brief:?}");
    // A last window update may come after the end.
    assert!(net.stats().stack.no_connection <= 2 * CONNECTIONS as u64, "{shards:?}");
    eprintln!("{offload:?}, {queues} queues: inbound, outbound, handed over: {brief:?}");
    servers.iter().for_each(tokio::task::JoinHandle::abort);
    assert!(movers.iter().all(|mover| !mover.is_finished()));
}
