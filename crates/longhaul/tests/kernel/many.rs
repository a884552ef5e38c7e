//! A thousand connections of the kernel at once.

use crate::namespace::{Place, V4, command, with_stack};
use longhaul::tun::Offload;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A counter of the kernel in this namespace.
fn kernel_counter(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let value = lines.chunks(2).find_map(|pair| {
        let place = pair[0].iter().position(|word| *word == name)?;
        Some(pair[1][place].parse().unwrap())
    });
    value.unwrap_or_else(|| panic!("the kernel has no counter `{name}`"))
}

#[test]
fn a_thousand_connections_at_once_are_echoed_and_nothing_is_sent_twice_without_need() {
    with_stack(
        V4,
        Offload::On,
        |builder| builder,
        async |place: Place| {
            command("ip link set lh0 txqueuelen 10000");
            let listener = place.net.listen(place.ours(7)).unwrap();
            let server = tokio::spawn(async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(async move {
                        let (mut read, mut write) = stream.into_split();
                        tokio::io::copy(&mut read, &mut write).await.unwrap();
                    });
                }
            });
            let to = place.ours(7);
            let clients: Vec<_> = (0..1_000_usize)
                .map(|n| {
                    tokio::spawn(async move {
                        let sent: Vec<u8> = (0..10_000 + n * 40).map(|at| (at * 13 + n) as u8).collect();
                        let (mut read, mut write) = TcpStream::connect(to).await.unwrap().into_split();
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
            for client in clients {
                client.await.unwrap();
            }
            server.abort();
            // What the kernel received although it had it already.
            let duplicates = kernel_counter("TCPDSACKOldSent") + kernel_counter("TCPDSACKOfoSent");
            eprintln!("{duplicates} duplicates");
            assert!(duplicates <= 10, "{duplicates} segments were sent twice to 1,000 connections");
        },
    );
}
