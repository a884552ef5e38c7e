//! A transparent proxy: the kernel's programs connect to any address, and the stack stands for it.

use crate::namespace::{Place, V4, command, with_stack};
use longhaul::tun::Offload;
use longhaul::{Incoming, TcpRequest, Unreachable};
use std::io::ErrorKind;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn next(place: &Place) -> TcpRequest {
    loop {
        // The kernel also sends packets of its own accord, such as router solicitations.
        if let Incoming::Tcp(request) = place.net.incoming().await.unwrap() {
            return request;
        }
    }
}

#[test]
fn the_application_decides_about_connections_to_anywhere() {
    with_stack(
        V4,
        Offload::On,
        |builder| builder.any_destination(true),
        async |place: Place| {
            command("ip route add 198.51.100.0/24 dev lh0");
            let to: SocketAddr = "198.51.100.7:443".parse().unwrap();
            let client = tokio::spawn(async move {
                let mut stream = TcpStream::connect(to).await.unwrap();
                let mut all = String::new();
                stream.read_to_string(&mut all).await.unwrap();
                all
            });
            let request = next(&place).await;
            assert_eq!((request.destination(), request.source().ip()), (to, place.kernel));
            // The kernel's SYN is repeated after a second, and absorbed.
            tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
            let mut stream = request.accept().unwrap();
            assert_eq!(stream.original_destination(), to);
            stream.write_all(b"welcome").await.unwrap();
            drop(stream);
            assert_eq!(client.await.unwrap(), "welcome");
            assert!(place.net.stats().requests.repeated > 0);

            let attempt = tokio::spawn(TcpStream::connect(to));
            next(&place).await.refuse();
            assert_eq!(attempt.await.unwrap().unwrap_err().kind(), ErrorKind::ConnectionRefused);
            let attempt = tokio::spawn(TcpStream::connect(to));
            next(&place).await.unreachable(Unreachable::Host);
            assert_eq!(attempt.await.unwrap().unwrap_err().kind(), ErrorKind::HostUnreachable);
        },
    );
}
