//! Packets as a stream and a sink of byte strings, the form in which many programs pass them about.

use futures_core::Stream;
use futures_sink::Sink;
use pipe::{Batch, Tunnel};
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Packets that are taken from the pipe at once.
const BATCH: usize = 64;

/// The device's end as `Stream` and `Sink` of one IP packet each: of `Vec<u8>`, or `Bytes`. A packet out costs one allocation, which is
/// the item itself; a packet in is copied into a buffer of the pipe.
#[derive(Debug)]
pub struct PacketStream<T> {
    packets: Tunnel,
    /// From the stack; the first `taken` were returned.
    leaves: Batch,
    taken: usize,
    /// For the stack.
    came: Batch,
    item: PhantomData<fn() -> T>,
}

impl<T> PacketStream<T> {
    /// Wraps the device's end of a stack.
    pub fn new(packets: Tunnel) -> Self {
        Self { packets, leaves: Batch::default(), taken: 0, came: Batch::default(), item: PhantomData }
    }

    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.came.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.packets.poll_send(cx, &mut self.came).map_err(|closed| io::Error::new(io::ErrorKind::BrokenPipe, closed))
    }
}

impl<T: From<Vec<u8>>> Stream for PacketStream<T> {
    type Item = io::Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { packets, leaves, taken, .. } = &mut *self;
        if *taken == leaves.len() {
            *taken = 0;
            if ready!(packets.poll_recv(cx, leaves, BATCH)).is_err() {
                return Poll::Ready(None);
            }
        }
        *taken += 1;
        Poll::Ready(Some(Ok(leaves.packets()[*taken - 1].bytes().to_vec().into())))
    }
}

impl<T: AsRef<[u8]>> Sink<T> for PacketStream<T> {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.came.len() < BATCH { Poll::Ready(Ok(())) } else { self.poll_sent(cx) }
    }

    fn start_send(mut self: Pin<&mut Self>, packet: T) -> io::Result<()> {
        self.came.push(packet.as_ref());
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_sent(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_sent(cx)
    }
}
