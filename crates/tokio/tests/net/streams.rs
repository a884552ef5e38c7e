//! Streams: bytes both ways, halves, errors, options.

use crate::two::{CLIENT, Two, any, millis, server};
use longhaul_tokio::{CloseReason, Duration, Instant, ShutdownEnds, TcpStream, close_reason};
use std::io::{ErrorKind, IoSlice};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A connection from the client to the server.
pub async fn connected(two: &(longhaul_tokio::Net, longhaul_tokio::Net)) -> (TcpStream, TcpStream) {
    let listener = two.1.listen(any(80)).unwrap();
    let out = two.0.connect(server(80)).await.unwrap();
    let (inward, peer) = listener.accept().await.unwrap();
    assert_eq!((peer, inward.local_addr()), (out.local_addr(), out.peer_addr()));
    (out, inward)
}

fn with_connection<T>(
    rtt: Duration,
    test: impl AsyncFnOnce(TcpStream, TcpStream, longhaul_tokio::virtual_time::VirtualClock) -> T,
) -> T {
    let mut two = Two::new(rtt);
    let (nets, clock) = ((two.client.clone(), two.server.clone()), two.world.clock());
    two.world
        .run(async move {
            let (out, inward) = connected(&nets).await;
            test(out, inward, clock).await
        })
        .unwrap()
}

#[test]
fn bytes_arrive_in_order_and_their_end_is_seen() {
    with_connection(millis(20), async |mut out, mut inward, _| {
        let sent: Vec<u8> = (0..3_000_000_u32).map(|n| (n / 7) as u8).collect();
        let (mut read, write) = (Vec::new(), async {
            out.write_all(&sent).await.unwrap();
            out.shutdown().await.unwrap();
            out.shutdown().await.unwrap();
            assert_eq!(out.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
        let (_, arrived) = futures_util::future::join(write, inward.read_to_end(&mut read)).await;
        assert_eq!((arrived.unwrap(), read == sent), (sent.len(), true));
        // The other direction is open.
        inward.write_all(b"bye").await.unwrap();
        drop(inward);
        let mut end = Vec::new();
        out.read_to_end(&mut end).await.unwrap();
        assert_eq!(end, b"bye");
        assert_eq!(out.closed().await.unwrap(), CloseReason::Normal);
    });
}

#[test]
fn a_closed_port_refuses_after_one_round_trip() {
    let mut two = Two::new(millis(100));
    let client = two.client.clone();
    let refused = two.world.run(async move { client.connect(server(81)).await.unwrap_err() }).unwrap();
    assert_eq!((refused.kind(), close_reason(&refused)), (ErrorKind::ConnectionRefused, Some(CloseReason::Refused)));
    assert_eq!(two.world.now(), Instant::ZERO + millis(100));
}

#[test]
fn a_reset_is_an_error_for_reader_and_writer() {
    with_connection(millis(10), async |mut out, mut inward, _| {
        out.write_all(b"lost").await.unwrap();
        out.abort();
        let mut buf = [0; 8];
        let failed = loop {
            match inward.read(&mut buf).await {
                Ok(_) => {}
                Err(failed) => break failed,
            }
        };
        assert_eq!((failed.kind(), close_reason(&failed)), (ErrorKind::ConnectionReset, Some(CloseReason::Reset)));
        assert_eq!(inward.write(b"x").await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(out.read(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        assert_eq!(
            (out.closed().await.unwrap(), inward.closed().await.unwrap()),
            (CloseReason::Aborted, CloseReason::Reset)
        );
    });
}

#[test]
fn dropping_with_unread_data_resets_and_without_closes() {
    with_connection(millis(10), async |mut out, mut inward, clock| {
        out.write_all(b"unread").await.unwrap();
        clock.sleep(millis(50)).await;
        let mut buf = [0; 3];
        inward.read_exact(&mut buf).await.unwrap();
        drop(inward);
        assert_eq!(out.read(&mut buf).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
    with_connection(millis(10), async |mut out, mut inward, clock| {
        out.write_all(b"all").await.unwrap();
        clock.sleep(millis(50)).await;
        let mut buf = [0; 3];
        inward.read_exact(&mut buf).await.unwrap();
        drop(inward);
        assert_eq!(out.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn a_linger_time_of_zero_makes_a_drop_a_reset() {
    with_connection(millis(10), async |mut out, inward, _| {
        assert_eq!(inward.linger(), None);
        inward.set_linger(Some(std::time::Duration::ZERO));
        assert_eq!(inward.linger(), Some(std::time::Duration::ZERO));
        drop(inward);
        assert_eq!(out.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn shutting_down_ends_at_once_or_when_everything_is_acknowledged() {
    with_connection(millis(100), async |mut out, inward, clock| {
        let from = clock.time();
        out.write_all(&[1; 10_000]).await.unwrap();
        out.shutdown().await.unwrap();
        assert_eq!(clock.time(), from);
        out.set_shutdown_ends(ShutdownEnds::Acknowledged);
        out.shutdown().await.unwrap();
        assert_eq!(clock.time(), from + millis(100));
        out.shutdown().await.unwrap();
        drop(inward);
    });
    // A reset instead of the acknowledgement is an error: the peer may not have everything.
    with_connection(millis(100), async |mut out, inward, _| {
        out.set_shutdown_ends(ShutdownEnds::Acknowledged);
        out.write_all(&[1; 10_000]).await.unwrap();
        inward.abort();
        assert_eq!(out.shutdown().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn the_reader_that_does_not_read_holds_the_writer_back() {
    with_connection(millis(10), async |mut out, mut inward, clock| {
        let mut written = 0;
        let chunk = vec![7; 1 << 20];
        let held = loop {
            let wait = clock.sleep(Duration::from_secs(2));
            match futures_util::future::select(Box::pin(out.write(&chunk)), Box::pin(wait)).await {
                futures_util::future::Either::Left((taken, _)) => written += taken.unwrap(),
                futures_util::future::Either::Right(_) => break written,
            }
        };
        assert!(held < 200 << 20, "{held} bytes written to a reader that does not read");
        let mut read = 0;
        let mut buf = vec![0; 1 << 16];
        while read < held {
            read += inward.read(&mut buf).await.unwrap();
        }
        assert_eq!(read, held);
        out.write_all(b"again").await.unwrap();
        inward.read_exact(&mut buf[..5]).await.unwrap();
    });
}

#[test]
fn peeked_bytes_can_be_read_again() {
    with_connection(millis(10), async |mut out, mut inward, _| {
        out.write_all(b"hello").await.unwrap();
        out.shutdown().await.unwrap();
        let mut buf = [0; 4];
        assert_eq!((inward.peek(&mut buf).await.unwrap(), &buf), (4, b"hell"));
        let mut all = Vec::new();
        inward.read_to_end(&mut all).await.unwrap();
        assert_eq!((all, inward.peek(&mut buf).await.unwrap()), (b"hello".to_vec(), 0));
    });
}

#[test]
fn halves_work_apart_and_dropping_the_writer_closes_its_direction() {
    with_connection(millis(10), async |out, mut inward, _| {
        let (mut read, mut write) = out.into_split();
        assert_eq!((read.peer_addr(), write.local_addr().ip().to_string()), (server(80), CLIENT.to_owned()));
        let text = [IoSlice::new(b"he"), IoSlice::new(b""), IoSlice::new(b"llo")];
        assert!(write.is_write_vectored());
        assert_eq!(write.write_vectored(&text).await.unwrap(), 5);
        drop(write);
        let mut all = Vec::new();
        inward.read_to_end(&mut all).await.unwrap();
        inward.write_all(b"back").await.unwrap();
        inward.shutdown().await.unwrap();
        let mut back = Vec::new();
        read.read_to_end(&mut back).await.unwrap();
        assert_eq!((all, back), (b"hello".to_vec(), b"back".to_vec()));
    });
    with_connection(millis(10), async |out, mut inward, clock| {
        let (read, write) = out.into_split();
        let mut out = TcpStream::reunite(read, write).unwrap();
        clock.sleep(millis(50)).await;
        let (mut read, mut write) = out.split();
        write.write_all(b"open").await.unwrap();
        inward.write_all(b"too").await.unwrap();
        let mut buf = [0; 4];
        inward.read_exact(&mut buf).await.unwrap();
        read.read_exact(&mut buf[..3]).await.unwrap();
        let (read, write) = out.into_split();
        write.forget();
        clock.sleep(millis(50)).await;
        assert!(futures_util::FutureExt::now_or_never(inward.read(&mut buf)).is_none(), "the direction is open");
        drop(read);
        assert_eq!(inward.read(&mut buf).await.unwrap(), 0);
    });
}

#[test]
fn options_of_a_stream_change_what_leaves() {
    with_connection(millis(100), async |mut out, mut inward, clock| {
        // Two small segments in a row: the second one waits for the first one's acknowledgement, or does not.
        let mut buf = [0; 2];
        for (nodelay, rounds) in [(false, 1), (true, 0)] {
            out.set_nodelay(nodelay).unwrap();
            assert_eq!(out.nodelay(), nodelay);
            let from = clock.time();
            out.write_all(b"a").await.unwrap();
            clock.sleep(millis(1)).await;
            out.write_all(b"b").await.unwrap();
            inward.read_exact(&mut buf).await.unwrap();
            let took = clock.time().since(from);
            let least = millis(50 + 100 * rounds);
            assert!(took >= least && took < least + millis(60), "{took:?} with nodelay {nodelay}");
            clock.sleep(millis(500)).await;
        }
        assert_eq!(out.config().unwrap().send.notsent_lowat, Some(512 << 10), "a named profile's default");
        out.set_not_sent_lowat(Some(4_096)).unwrap();
        let config = out.config().unwrap();
        assert_eq!(config.send.notsent_lowat, Some(4_096));
        assert!(out.info().unwrap().counters.bytes_acked > 0);
    });
}
