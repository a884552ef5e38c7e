//! What carries packets: streams and sinks, devices that read and write one packet a call.

use futures_util::{SinkExt, StreamExt};
use longhaul_tokio::device::{PacketHeader, PacketIo, PacketStream, over_io};
use longhaul_tokio::{Net, Packets, Stack, TokioClock};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use test_case::test_case;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::sync::PollSender;

fn stack(address: &str) -> (Net, Packets) {
    let (net, packets, driver) = Stack::builder().addresses([address.parse().unwrap()]).build().unwrap();
    tokio::spawn(driver);
    (net, packets)
}

/// Moves bytes from one stack to the other.
async fn transfer(client: Net, server: Net) {
    let listener = server.listen("0.0.0.0:7".parse().unwrap()).unwrap();
    let sent: Vec<u8> = (0..2_000_000_u32).map(|n| (n / 3) as u8).collect();
    let expected = sent.clone();
    tokio::spawn(async move {
        let mut out = client.connect("10.0.0.2:7".parse().unwrap()).await.unwrap();
        out.write_all(&sent).await.unwrap();
        out.shutdown().await.unwrap();
        let _ = out.closed().await;
    });
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert!(received == expected, "{} bytes", received.len());
}

async fn over_streams<T: From<Vec<u8>> + AsRef<[u8]> + 'static>() {
    let ((client, one), (server, other)) = (stack("10.0.0.1"), stack("10.0.0.2"));
    let (to_other, from_one) = PacketStream::<T>::new(one).split();
    let (to_one, from_other) = PacketStream::<T>::new(other).split();
    tokio::task::LocalSet::new()
        .run_until(async move {
            tokio::task::spawn_local(from_one.forward(to_one));
            tokio::task::spawn_local(from_other.forward(to_other));
            transfer(client, server).await;
        })
        .await;
}

#[tokio::test]
async fn packets_are_a_stream_and_a_sink_of_vectors_or_bytes() {
    over_streams::<Vec<u8>>().await;
    over_streams::<bytes::Bytes>().await;
}

/// A device of channels: each read and each write is one packet.
struct Channels {
    out: PollSender<Vec<u8>>,
    inward: Receiver<Vec<u8>>,
}

impl AsyncRead for Channels {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.inward.poll_recv(cx).map(|packet| {
            buf.put_slice(&packet.unwrap_or_default());
            Ok(())
        })
    }
}

impl AsyncWrite for Channels {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if std::task::ready!(self.out.poll_reserve(cx)).is_ok() {
            let _ = self.out.send_item(buf.to_vec());
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test_case(PacketHeader::None; "without a header")]
#[test_case(PacketHeader::Linux; "with packet information")]
#[test_case(PacketHeader::Utun; "with an address family")]
#[tokio::test]
async fn a_device_reads_and_writes_packets(header: PacketHeader) {
    let ((client, one), (server, other)) = (stack("10.0.0.1"), stack("10.0.0.2"));
    // Few places, so that the devices hold back.
    let ((to_other, at_other), (to_one, at_one)) = (channel(4), channel(4));
    let cfg = PacketIo { header, mtu: 1_500 };
    let first = Channels { out: PollSender::new(to_other), inward: at_one };
    let second = Channels { out: PollSender::new(to_one), inward: at_other };
    let first = tokio::spawn(over_io(one, first, cfg));
    let second = tokio::spawn(over_io(other, second, cfg));
    let sides = [client.clone(), server.clone()];
    transfer(client, server).await;
    let [sent, came] = sides.map(|side| (side.stats().stack.frames_sent, side.stats().stack.frames_received));
    assert_eq!(came.1 * 10 < sent.0 * 9, header == PacketHeader::None, "{} of {} frames are merged", came.1, sent.0);
    // Both stacks end with their handles; the devices' futures end with them.
    let _ = tokio::join!(first, second);
}

/// What a device and the future that serves it saw.
#[derive(Default)]
struct Seen {
    /// Polls of the future, and packets either way.
    polls: AtomicU64,
    packets: AtomicU64,
    /// Reads of the device that found nothing although packets waited in it.
    unfounded: AtomicU64,
}

/// Channels whose reads and writes are counted.
struct Counted {
    channels: Channels,
    seen: Arc<Seen>,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.channels).poll_read(cx, buf);
        let of = if read.is_ready() { &self.seen.packets } else { &self.seen.unfounded };
        of.fetch_add(u64::from(read.is_ready() || !self.channels.inward.is_empty()), Relaxed);
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.channels).poll_write(cx, buf);
        self.seen.packets.fetch_add(u64::from(written.is_ready()), Relaxed);
        written
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Serves the device in a task whose polls are counted.
fn serve(packets: Packets, channels: Channels) -> Arc<Seen> {
    let seen = Arc::new(Seen::default());
    let mut served = Box::pin(over_io(packets, Counted { channels, seen: seen.clone() }, PacketIo::plain(1_500)));
    let counts = seen.clone();
    tokio::spawn(poll_fn(move |cx| {
        counts.polls.fetch_add(1, Relaxed);
        served.as_mut().poll(cx).map(drop)
    }));
    seen
}

/// Two stacks over counted devices with room for `places` packets each way.
fn counted(places: usize) -> [(Net, Arc<Seen>); 2] {
    let ((client, one), (server, other)) = (paused("10.0.0.1"), paused("10.0.0.2"));
    let ((to_other, at_other), (to_one, at_one)) = (channel(places), channel(places));
    let first = serve(one, Channels { out: PollSender::new(to_other), inward: at_one });
    let second = serve(other, Channels { out: PollSender::new(to_one), inward: at_other });
    [(client, first), (server, second)]
}

fn paused(address: &str) -> (Net, Packets) {
    let builder = Stack::builder().addresses([address.parse().unwrap()]).clock(TokioClock::new());
    let (net, packets, driver) = builder.build().unwrap();
    tokio::spawn(driver);
    (net, packets)
}

#[tokio::test(start_paused = true)]
async fn a_device_is_not_taken_for_empty_while_packets_wait_in_it() {
    let [(client, first), (server, second)] = counted(1_024);
    transfer(client, server).await;
    for seen in [first, second] {
        let [polls, packets, unfounded] =
            [&seen.polls, &seen.packets, &seen.unfounded].map(|count| count.load(Relaxed));
        assert_eq!(unfounded, 0, "of {polls} polls for {packets} packets");
        assert!(polls * 4 < packets, "{polls} polls for {packets} packets");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_polled_while_a_connection_is_idle() {
    let [(client, first), (server, second)] = counted(4);
    let listener = server.listen("0.0.0.0:7".parse().unwrap()).unwrap();
    let mut out = client.connect("10.0.0.2:7".parse().unwrap()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    out.write_all(b"a line").await.unwrap();
    stream.read_exact(&mut [0; 6]).await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let polls = || [&first, &second].map(|seen| seen.polls.load(Relaxed));
    let before = polls();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(polls(), before);
    assert!(before.iter().all(|polls| (1..40).contains(polls)), "{before:?}");
}

#[tokio::test]
async fn each_packet_has_the_header_of_its_version() {
    for (address, protocol) in [("10.0.0.1", [0x08, 0x00]), ("fd00::1", [0x86, 0xdd])] {
        let (net, packets) = stack(address);
        let (out, mut leaves) = channel(4);
        let (_keeps_it_open, inward) = channel(4);
        let device = Channels { out: PollSender::new(out), inward };
        tokio::spawn(over_io(packets, device, PacketIo { header: PacketHeader::Linux, mtu: 1_500 }));
        let to = if address.contains(':') { "[fd00::2]:80" } else { "10.0.0.2:80" };
        tokio::spawn(async move { net.connect(to.parse().unwrap()).await.map(drop) });
        let packet = leaves.recv().await.unwrap();
        assert_eq!((&packet[..2], &packet[2..4]), (&[0, 0][..], &protocol[..]));
        assert_eq!(packet[4] >> 4, if address.contains(':') { 6 } else { 4 });
    }
}

/// Takes half of each packet.
struct Half;

impl AsyncRead for Half {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Half {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len() / 2))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn a_device_that_takes_a_part_of_a_packet_is_an_error() {
    let (net, packets) = stack("10.0.0.1");
    tokio::spawn(async move { net.connect("10.0.0.2:80".parse().unwrap()).await.map(drop) });
    let failed = over_io(packets, Half, PacketIo::plain(1_500)).await.unwrap_err();
    assert_eq!(failed.kind(), io::ErrorKind::InvalidData);
    assert!(failed.to_string().starts_with("the device took "), "{failed}");
}

#[tokio::test]
async fn a_sink_that_is_cut_off_says_so() {
    let (net, packets) = stack("10.0.0.1");
    let mut stream = PacketStream::<Vec<u8>>::new(packets);
    drop(net);
    assert!(stream.next().await.is_none());
    assert_eq!(stream.send(vec![0; 20]).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
