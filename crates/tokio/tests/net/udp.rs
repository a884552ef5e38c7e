//! UDP sockets and flows, echo requests, packets that are handed up.

use crate::two::{CLIENT, SERVER, Two, any, millis, server};
use longhaul_tokio::{Duration, Incoming, Instant, Stack, UdpFlow, UdpSocket};
use std::io::ErrorKind;
use std::net::SocketAddr;

fn client(port: u16) -> SocketAddr {
    SocketAddr::new(CLIENT.parse().unwrap(), port)
}

async fn echo_once(socket: UdpSocket) {
    let mut buf = [0; 2_000];
    let (len, from) = socket.recv_from(&mut buf).await.unwrap();
    socket.send_to(&buf[..len], from).await.unwrap();
}

#[test]
fn datagrams_go_both_ways_between_sockets() {
    let mut two = Two::new(millis(30));
    let (net, peer) = (two.client.clone(), two.server.clone());
    let spawner = two.world.spawner();
    two.world
        .run(async move {
            let socket = peer.udp_bind(any(53)).unwrap();
            assert_eq!(peer.udp_bind(any(53)).unwrap_err().kind(), ErrorKind::AddrInUse);
            spawner.spawn(echo_once(socket));
            let socket = net.udp_bind(client(0)).unwrap();
            assert_ne!(socket.local_addr().port(), 0);
            assert_eq!(socket.send_to(&[7; 1_472], server(53)).await.unwrap(), 1_472);
            let mut buf = [0; 100];
            let received = socket.recv_message(&mut buf).await.unwrap();
            assert_eq!((received.len, received.full_len, received.source), (100, 1_472, server(53)));
            let large = socket.send_to(&[7; 1_473], server(53)).await.unwrap_err();
            assert_eq!(
                (large.kind(), large.to_string()),
                (ErrorKind::InvalidInput, "a datagram holds at most 1472 bytes here".into())
            );
            // What was bound is free again once its owner is gone.
            peer.udp_bind(any(53)).unwrap();
        })
        .unwrap();
    assert_eq!(two.world.now(), Instant::ZERO + millis(30));
}

#[test]
fn a_port_without_a_socket_is_reported_to_who_sent_there() {
    let mut two = Two::new(millis(30));
    let net = two.client.clone();
    two.world
        .run(async move {
            let flow = net.udp_connect(client(0), server(9)).unwrap();
            flow.send(b"anyone?").await.unwrap();
            assert_eq!(flow.recv(&mut [0; 10]).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        })
        .unwrap();
    assert_eq!(two.world.now(), Instant::ZERO + millis(30));
}

async fn next_flow(net: &longhaul_tokio::Net) -> UdpFlow {
    match net.incoming().await {
        Some(Incoming::Udp(flow)) => flow,
        other => panic!("{other:?} instead of a flow"),
    }
}

#[test]
fn a_stack_that_stands_for_all_offers_flows_which_end_when_they_are_idle() {
    let mut two = Two::built(
        millis(30),
        |builder| builder,
        |builder| {
            let idle = Duration::from_secs(5);
            builder.addresses([]).any_destination(true).datagrams(move |cfg| cfg.flow_idle = idle)
        },
    );
    let (net, peer, clock) = (two.client.clone(), two.server.clone(), two.world.clock());
    let resolver: SocketAddr = "9.9.9.9:53".parse().unwrap();
    two.world
        .run(async move {
            let socket = net.udp_bind(client(4_000)).unwrap();
            socket.send_to(b"who is it?", resolver).await.unwrap();
            let flow = next_flow(&peer).await;
            assert_eq!((flow.peer_addr(), flow.local_addr()), (client(4_000), resolver));
            let mut buf = [0; 100];
            let len = flow.recv(&mut buf).await.unwrap();
            assert_eq!(&buf[..len], b"who is it?");
            flow.send(b"me").await.unwrap();
            assert_eq!(socket.recv_from(&mut buf).await.unwrap(), (2, resolver));
            let from = clock.time();
            assert_eq!(flow.recv(&mut buf).await.unwrap_err().kind(), ErrorKind::TimedOut);
            assert_eq!(clock.time().since(from), millis(4_985));
            assert_eq!(flow.send(b"late").await.unwrap_err().kind(), ErrorKind::TimedOut);
            // A second flow is refused, and its peer learns of it.
            let asking = net.udp_connect(client(0), resolver).unwrap();
            asking.send(b"again").await.unwrap();
            next_flow(&peer).await.refuse();
            assert_eq!(asking.recv(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
            assert_eq!(peer.stats().datagrams.unwrap().flows, 2);
        })
        .unwrap();
}

#[test]
fn who_sends_faster_than_the_device_takes_waits_for_room() {
    let mut world = longhaul_tokio::virtual_time::World::new(1);
    let (net, packets, driver) =
        Stack::builder().addresses([CLIENT.parse().unwrap()]).clock(world.clock()).build().unwrap();
    world.spawn(driver);
    let spawner = world.spawner();
    let sent = world
        .run(async move {
            let socket = net.udp_bind(client(1)).unwrap();
            let mut batch = longhaul_tokio::Batch::default();
            // The device takes nothing at first.
            let mut sent = 0_u64;
            loop {
                let sending = Box::pin(socket.send_to(&[1; 1_000], server(2)));
                let turn = Box::pin(async {
                    for _ in 0..50 {
                        yield_now().await;
                    }
                });
                match futures_util::future::select(sending, turn).await {
                    futures_util::future::Either::Left((done, _)) => sent += done.unwrap() as u64 / 1_000,
                    futures_util::future::Either::Right(_) => break,
                }
            }
            assert!(sent > 100, "{sent}");
            let before = sent;
            spawner.spawn(async move { while packets.recv(&mut batch, 64).await.is_ok() {} });
            for _ in 0..1_000 {
                socket.send_to(&[1; 1_000], server(2)).await.unwrap();
                sent += 1;
            }
            assert_eq!(net.stats().datagrams.unwrap().sent, before + 1_000);
            sent
        })
        .unwrap();
    assert!(sent > 1_100);
}

async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[test]
fn without_datagrams_their_packets_are_handed_up_as_they_came() {
    let mut two = Two::built(millis(30), |builder| builder, |builder| builder.without_datagrams());
    let (net, peer) = (two.client.clone(), two.server.clone());
    two.world
        .run(async move {
            assert_eq!(peer.udp_bind(any(1)).unwrap_err().kind(), ErrorKind::Unsupported);
            let socket = net.udp_bind(client(7)).unwrap();
            socket.send_to(b"hello", server(8)).await.unwrap();
            let Some(Incoming::Other(packet)) = peer.incoming().await else { panic!("no packet") };
            assert_eq!((packet.bytes().len(), &packet.bytes()[28..]), (33, &b"hello"[..]));
            assert_eq!((peer.stats().pipe.others, peer.addresses()[0].to_string()), (1, SERVER.to_owned()));
        })
        .unwrap();
}

#[test]
fn a_socket_waits_until_the_driver_is_gone() {
    let mut world = longhaul_tokio::virtual_time::World::new(1);
    let (net, _packets, driver) =
        Stack::builder().addresses([CLIENT.parse().unwrap()]).clock(world.clock()).build().unwrap();
    let spawner = world.spawner();
    world
        .run(async move {
            let socket = net.udp_bind(client(1)).unwrap();
            spawner.spawn(async move {
                yield_now().await;
                drop(driver);
            });
            assert_eq!(socket.recv_from(&mut [0]).await.unwrap_err().kind(), ErrorKind::NotConnected);
        })
        .unwrap();
}
