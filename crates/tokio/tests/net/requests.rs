//! Requests: a stack that stands for every destination, and the application decides.

use crate::two::{Two, millis, server};
use longhaul_tokio::{
    CloseReason, Duration, Incoming, Instant, Net, RequestConfig, TcpRequest, Unreachable, close_reason,
};
use std::io::ErrorKind;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn asking() -> Two {
    Two::built(millis(40), |builder| builder, |builder| builder.addresses([]).any_destination(true))
}

async fn next(net: &Net) -> TcpRequest {
    match net.incoming().await {
        Some(Incoming::Tcp(request)) => request,
        other => panic!("{other:?} instead of a request"),
    }
}

#[test]
fn an_accepted_request_is_a_stream_from_the_address_that_was_asked_for() {
    let mut two = asking();
    let (client, net, clock) = (two.client.clone(), two.server.clone(), two.world.clock());
    let wanted: SocketAddr = "93.184.216.34:443".parse().unwrap();
    two.world.spawn(async move {
        let request = next(&net).await;
        assert_eq!((request.destination(), request.source().ip().to_string()), (wanted, "10.0.0.1".to_owned()));
        // The upstream takes its time; the client's SYN is repeated and absorbed meanwhile.
        clock.sleep(Duration::from_secs(5)).await;
        let mut stream = request.accept().unwrap();
        assert_eq!((stream.original_destination(), stream.local_addr()), (wanted, wanted));
        // Written before the handshake is over.
        stream.write_all(b"welcome").await.unwrap();
        stream.established().await.unwrap();
        assert_eq!(net.stats().requests.offered, 1);
        assert!(net.stats().requests.repeated > 0);
    });
    let text = two.world.run(async move {
        let mut stream = client.connect(wanted).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    });
    assert_eq!(text.unwrap(), "welcome");
}

#[test]
fn a_request_is_refused_reported_unreachable_or_ignored() {
    // As Linux does, and unlike RFC 9293 MUST-56, the client ends its attempt when it hears that the host is unreachable.
    let mut two = Two::built(
        millis(40),
        |builder| builder.profile("linux"),
        |builder| builder.addresses([]).any_destination(true),
    );
    let (client, net) = (two.client.clone(), two.server.clone());
    two.world.spawn(async move {
        next(&net).await.refuse();
        next(&net).await.unreachable(Unreachable::Host);
        next(&net).await.ignore();
        // The client asks again.
        next(&net).await.refuse();
    });
    let kinds = two.world.run(async move {
        let mut kinds = Vec::new();
        for port in [1, 2, 3] {
            kinds.push(client.connect(server(port)).await.unwrap_err().kind());
        }
        kinds
    });
    assert_eq!(
        kinds.unwrap(),
        [ErrorKind::ConnectionRefused, ErrorKind::HostUnreachable, ErrorKind::ConnectionRefused]
    );
}

#[test]
fn a_request_that_waited_too_long_can_not_be_accepted() {
    let mut two = asking();
    let (client, net, clock) = (two.client.clone(), two.server.clone(), two.world.clock());
    two.world.spawn(async move {
        // Gives up, so that no further SYN takes the place of the request.
        let attempt = client.connect(server(9));
        let wait = client_patience(&clock);
        futures_util::future::select(Box::pin(attempt), Box::pin(wait)).await;
    });
    let clock = two.world.clock();
    let late = two.world.run(async move {
        let request = next(&net).await;
        clock.sleep(Duration::from_secs(61)).await;
        request.accept().unwrap_err()
    });
    assert_eq!(late.unwrap().kind(), ErrorKind::TimedOut);
}

async fn client_patience(clock: &longhaul_tokio::virtual_time::VirtualClock) {
    clock.sleep(Duration::from_secs(2)).await;
}

#[test]
fn a_proxy_connects_in_the_name_of_others() {
    let mut two = Two::built(
        millis(40),
        |builder| builder.addresses([]).any_destination(true),
        |builder| builder.addresses([]).any_destination(true),
    );
    let (client, net) = (two.client.clone(), two.server.clone());
    let (from, to): (SocketAddr, SocketAddr) =
        ("[2001:db8::7]:5000".parse().unwrap(), "[2001:db8::9]:80".parse().unwrap());
    two.world.spawn(async move {
        let request = next(&net).await;
        assert_eq!((request.source(), request.destination()), (from, to));
        let stream = request.accept().unwrap();
        assert_eq!(stream.closed().await.unwrap(), CloseReason::Normal);
    });
    let reached = two.world.run(async move {
        let stream = client.connect_from(from, to).await.unwrap();
        (stream.local_addr(), stream.peer_addr())
    });
    assert_eq!(reached.unwrap(), (from, to));
    two.world.settle();
}

/// The first two requests stay undecided; the others come connected, with what their peers have written.
#[test]
fn beyond_the_limit_the_decision_comes_after_the_handshake_where_that_is_allowed() {
    let requests = RequestConfig { undecided_max: 2, ..RequestConfig::default() };
    let mut two =
        Two::built(millis(40), |builder| builder, |builder| builder.addresses([]).requests(requests).late_requests(8));
    let (client, net) = (two.client.clone(), two.server.clone());
    two.world.spawn(async move {
        let early = [next(&net).await, next(&net).await];
        assert!(early.iter().all(|request| !request.is_late()));
        for _ in 0..2 {
            let request = next(&net).await;
            assert!(request.is_late());
            let mut stream = request.accept().unwrap();
            let mut text = [0; 5];
            stream.read_exact(&mut text).await.unwrap();
            stream.write_all(&text).await.unwrap();
        }
        let refused = next(&net).await;
        assert!(refused.is_late());
        refused.refuse();
        let [one, other] = early;
        one.refuse();
        other.refuse();
        assert_eq!((net.stats().requests.late, net.stats().undecided), (3, 0));
    });
    let outcome = two.world.run(async move {
        let early = [1, 2].map(|port| client.connect(server(port)));
        let late = async {
            for port in [3, 4] {
                let mut stream = client.connect(server(port)).await.unwrap();
                let mut text = [0; 5];
                stream.write_all(b"hello").await.unwrap();
                stream.read_exact(&mut text).await.unwrap();
                assert_eq!(&text, b"hello");
            }
            let mut connected = client.connect(server(5)).await.unwrap();
            connected.read_u8().await.unwrap_err().kind()
        };
        let (early, late) = futures_util::future::join(futures_util::future::join_all(early), late).await;
        (early.into_iter().map(|refused| refused.unwrap_err().kind()).collect::<Vec<_>>(), late)
    });
    assert_eq!(outcome.unwrap(), (vec![ErrorKind::ConnectionRefused; 2], ErrorKind::ConnectionReset));
}

#[test]
fn without_requests_a_port_without_a_listener_refuses() {
    let mut two = Two::new(millis(40));
    let (client, net) = (two.client.clone(), two.server.clone());
    let refused = two.world.run(async move { client.connect(server(5)).await.unwrap_err() }).unwrap();
    assert_eq!(close_reason(&refused), Some(CloseReason::Refused));
    assert_eq!(two.world.now(), Instant::ZERO + millis(40));
    assert_eq!(net.stats().requests.offered, 0);
}
