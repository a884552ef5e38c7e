//! UDP and echo requests of the kernel.

use crate::namespace::{Place, V4, V6, command, with_stack};
use longhaul::Incoming;
use longhaul::tun::Offload;
use std::io::ErrorKind;
use test_case::test_case;
use tokio::net::UdpSocket;

#[test_case(V4, Offload::On)]
#[test_case(V4, Offload::Off)]
#[test_case(V6, Offload::On)]
fn datagrams_arrive_whole_or_not_at_all(cidr: &'static str, offload: Offload) {
    with_stack(
        cidr,
        offload,
        |builder| builder,
        async |place: Place| {
            let ours = place.net.udp_bind(place.ours(53)).unwrap();
            let kernel = UdpSocket::bind(place.kernel(5_300)).await.unwrap();
            kernel.connect(place.ours(53)).await.unwrap();
            let mut buf = vec![0; 70_000];
            // The largest ones come in fragments.
            for len in [0, 1, 1_400, 1_473, 9_000, 60_000] {
                let sent: Vec<u8> = (0..len).map(|at| at as u8).collect();
                kernel.send(&sent).await.unwrap();
                let (got, from) = ours.recv_from(&mut buf).await.unwrap();
                assert_eq!((got, from, buf[..got] == sent), (len, place.kernel(5_300), true));
                if len <= 1_400 {
                    ours.send_to(&sent, from).await.unwrap();
                    assert_eq!((kernel.recv(&mut buf).await.unwrap(), buf[..len] == sent), (len, true));
                }
            }
            // No socket: each side's kernel, or stack, says so.
            let flow = place.net.udp_connect(place.ours(0), place.kernel(9)).unwrap();
            flow.send(b"x").await.unwrap();
            assert_eq!(flow.recv(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
            let lost = UdpSocket::bind(place.kernel(0)).await.unwrap();
            lost.connect(place.ours(9)).await.unwrap();
            lost.send(b"x").await.unwrap();
            assert_eq!(lost.recv(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
            assert_eq!(place.net.stats().datagrams.unwrap().sent, 4);
        },
    );
}

/// The kernel hands a train of datagrams to its device in one piece.
#[test]
fn a_train_of_datagrams_arrives_as_datagrams() {
    with_stack(
        V4,
        Offload::On,
        |builder| builder,
        async |place: Place| {
            let ours = place.net.udp_bind(place.ours(53)).unwrap();
            let kernel = UdpSocket::bind(place.kernel(5_300)).await.unwrap();
            nix::sys::socket::setsockopt(&kernel, nix::sys::socket::sockopt::UdpGsoSegment, &1_000).unwrap();
            let sent: Vec<u8> = (0..10_500_u32).map(|at| (at / 3) as u8).collect();
            kernel.send_to(&sent, place.ours(53)).await.unwrap();
            let mut got = Vec::new();
            let mut buf = vec![0; 2_000];
            for n in 0..11 {
                let (len, _) = ours.recv_from(&mut buf).await.unwrap();
                assert_eq!(len, if n < 10 { 1_000 } else { 500 });
                got.extend_from_slice(&buf[..len]);
            }
            assert!(got == sent);
        },
    );
}

#[test]
fn the_stack_answers_pings() {
    for cidr in [V4, V6] {
        with_stack(
            cidr,
            Offload::On,
            |builder| builder,
            async |place: Place| {
                let line = format!("ping -n -q -c 5 -i 0.02 -W 5 {}", place.ours);
                tokio::task::spawn_blocking(move || command(&line)).await.unwrap();
                assert_eq!(place.net.stats().datagrams.unwrap().echoes, 5);
            },
        );
    }
}

#[test]
fn a_stack_that_stands_for_all_gets_flows_to_anywhere() {
    with_stack(
        V4,
        Offload::On,
        |builder| builder.any_destination(true),
        async |place: Place| {
            command("ip route add 198.51.100.0/24 dev lh0");
            let kernel = UdpSocket::bind(place.kernel(0)).await.unwrap();
            kernel.connect("198.51.100.53:53").await.unwrap();
            kernel.send(b"query").await.unwrap();
            let flow = loop {
                if let Some(Incoming::Udp(flow)) = place.net.incoming().await {
                    break flow;
                }
            };
            assert_eq!(
                (flow.local_addr(), flow.peer_addr()),
                ("198.51.100.53:53".parse().unwrap(), kernel.local_addr().unwrap())
            );
            let mut buf = [0; 100];
            assert_eq!(flow.recv(&mut buf).await.unwrap(), 5);
            flow.send(b"answer").await.unwrap();
            assert_eq!(kernel.recv(&mut buf).await.unwrap(), 6);
        },
    );
}
