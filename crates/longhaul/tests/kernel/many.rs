//! A thousand connections of the kernel at once.

use crate::namespace::{Place, V4, command, kernel_counter, with_stack};
use longhaul::GuardConfig;
use longhaul::tun::Offload;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::time::Instant;
use test_case::test_case;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How many: a thousand, or as many as `LONGHAUL_CROWD` says.
fn crowd() -> usize {
    std::env::var("LONGHAUL_CROWD").map_or(1_000, |text| text.parse().expect("LONGHAUL_CROWD is a number"))
}

#[test_case(Offload::On)]
#[test_case(Offload::Off)]
fn a_thousand_connections_at_once_are_echoed_and_nothing_is_sent_twice_without_need(offload: Offload) {
    let crowd = crowd();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // Two tests run at once.
    let files = soft.max(2 * crowd as u64 + 200).min(hard);
    setrlimit(Resource::RLIMIT_NOFILE, files, hard).expect("a file for each of the kernel's sockets (ulimit -Hn)");
    with_stack(
        V4,
        offload,
        // All of them may be closing at once.
        move |builder| builder.guards(GuardConfig { orphans_max: crowd as u32, ..GuardConfig::default() }),
        async move |place: Place| {
            // So that none of the kernel's packets is lost.
            command(&format!("ip link set lh0 txqueuelen {}", 10 * crowd));
            let began = Instant::now();
            // A listener's usual backlog is that of the kernel's programs; here all come at once.
            let config = longhaul::sans_io::profiles::get("longhaul").unwrap().config().clone();
            let listener = place.net.listen_with(place.ours(7), crowd as u32, &config).unwrap();
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
            let clients: Vec<_> = (0..crowd)
                .map(|n| {
                    tokio::spawn(async move {
                        let sent: Vec<u8> = (0..10_000 + n % 1_000 * 40).map(|at| (at * 13 + n) as u8).collect();
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
            let counter = |name| kernel_counter("netstat", "TcpExt", name);
            let duplicates = counter("TCPDSACKOldSent") + counter("TCPDSACKOfoSent");
            eprintln!("{crowd} connections, {offload:?}: {duplicates} duplicates, {:?}", began.elapsed());
            assert!(duplicates <= crowd as u64 / 100, "{duplicates} segments were sent twice to {crowd} connections");
        },
    );
}
