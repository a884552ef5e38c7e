//! What carries packets: streams and sinks, devices that read and write one packet a call.

use futures_util::{SinkExt, StreamExt};
use longhaul_tokio::device::{PacketHeader, PacketIo, PacketStream, over_io};
use longhaul_tokio::{Net, Packets, Stack};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
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
