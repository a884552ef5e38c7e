//! Bytes both ways, opened from either side.

use crate::namespace::{Place, V4, V6, kernel_counter, with_stack};
use longhaul::CloseReason;
use longhaul::tun::Offload;
use std::io::ErrorKind;
use test_case::test_case;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of a transfer each way.
const BYTES: usize = 30_000_000;

fn byte(at: usize) -> u8 {
    (at * 7 / 11) as u8
}

async fn send(mut to: impl AsyncWrite + Unpin) {
    let mut at = 0;
    while at < BYTES {
        let chunk: Vec<u8> = (at..BYTES.min(at + 100_003)).map(byte).collect();
        to.write_all(&chunk).await.unwrap();
        at += chunk.len();
    }
    to.shutdown().await.unwrap();
}

async fn check(mut from: impl AsyncRead + Unpin) {
    let (mut at, mut buf) = (0, vec![0; 1 << 17]);
    loop {
        let len = from.read(&mut buf).await.unwrap();
        if len == 0 {
            break;
        }
        assert!(buf[..len].iter().enumerate().all(|(n, got)| *got == byte(at + n)), "within {len} bytes from {at}");
        at += len;
    }
    assert_eq!(at, BYTES);
}

/// Both sides send and check at once.
async fn exchange(ours: longhaul::TcpStream, kernel: tokio::net::TcpStream) {
    let ((our_read, our_write), (their_read, their_write)) = (ours.into_split(), kernel.into_split());
    tokio::join!(send(our_write), send(their_write), check(our_read), check(their_read));
}

#[test_case(V4, Offload::On)]
#[test_case(V4, Offload::Off)]
#[test_case(V6, Offload::On)]
#[test_case(V6, Offload::Off)]
fn every_byte_arrives_both_ways(cidr: &'static str, offload: Offload) {
    with_stack(
        cidr,
        offload,
        |builder| builder,
        async |place| {
            let ours = place.net.listen(place.ours(80)).unwrap();
            let theirs = tokio::net::TcpListener::bind(place.kernel(81)).await.unwrap();
            let (accepted, connected) = tokio::join!(ours.accept(), tokio::net::TcpStream::connect(place.ours(80)));
            exchange(accepted.unwrap().0, connected.unwrap()).await;
            let (accepted, connected) = tokio::join!(theirs.accept(), place.net.connect(place.kernel(81)));
            exchange(connected.unwrap(), accepted.unwrap().0).await;
            assert_eq!(place.net.stats().stack.bad_checksum, 0);
            assert_eq!(kernel_counter("snmp", "Tcp", "InCsumErrors"), 0);
        },
    );
}

#[test]
fn errors_are_those_of_the_kernel_and_the_kernel_s_are_ours() {
    with_stack(
        V4,
        Offload::On,
        |builder| builder,
        async |place: Place| {
            let refused = place.net.connect(place.kernel(9)).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            let refused = tokio::net::TcpStream::connect(place.ours(9)).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            // A reset from the kernel: it closes with data unread.
            let theirs = tokio::net::TcpListener::bind(place.kernel(81)).await.unwrap();
            let (accepted, connected) = tokio::join!(theirs.accept(), place.net.connect(place.kernel(81)));
            let mut ours = connected.unwrap();
            ours.write_all(b"unread").await.unwrap();
            let (kernel, _) = accepted.unwrap();
            kernel.peek(&mut [0]).await.unwrap();
            drop(kernel);
            assert_eq!(ours.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
            // And one from us.
            let (accepted, connected) = tokio::join!(theirs.accept(), place.net.connect(place.kernel(81)));
            connected.unwrap().abort();
            let mut kernel = accepted.unwrap().0;
            assert_eq!(kernel.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
            // A close from either side is one.
            let (accepted, connected) = tokio::join!(theirs.accept(), place.net.connect(place.kernel(81)));
            let (mut kernel, ours) = (accepted.unwrap().0, connected.unwrap());
            kernel.shutdown().await.unwrap();
            let (mut read, mut write) = ours.into_split();
            assert_eq!(read.read(&mut [0]).await.unwrap(), 0);
            write.write_all(b"half-closed").await.unwrap();
            drop(write);
            let mut all = Vec::new();
            kernel.read_to_end(&mut all).await.unwrap();
            assert_eq!(all, b"half-closed");
        },
    );
}

#[test]
fn a_stream_outlives_the_mtu_that_it_began_with() {
    with_stack(
        V4,
        Offload::Off,
        |builder| builder,
        async |place: Place| {
            let theirs = tokio::net::TcpListener::bind(place.kernel(81)).await.unwrap();
            let (accepted, connected) = tokio::join!(theirs.accept(), place.net.connect(place.kernel(81)));
            let (mut kernel, mut ours) = (accepted.unwrap().0, connected.unwrap());
            for mtu in [1_500, 600, 1_280] {
                place.net.set_mtu(mtu).unwrap();
                let mut buf = vec![0; 500_000];
                let sent = vec![mtu as u8; buf.len()];
                let (written, read) = tokio::join!(ours.write_all(&sent), kernel.read_exact(&mut buf));
                written.unwrap();
                read.unwrap();
                assert_eq!(buf, sent);
                assert!(ours.info().unwrap().smss <= u32::from(mtu) - 40);
            }
            drop(kernel);
            assert_eq!(ours.read(&mut [0]).await.unwrap(), 0);
            ours.shutdown().await.unwrap();
            assert_eq!(ours.closed().await.unwrap(), CloseReason::Normal);
        },
    );
}
