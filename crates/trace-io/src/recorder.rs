//! From an observer to files: events go in chunks to one thread per file, so that no encoder delays the run until one falls
//! behind. The chunks in transit bound the memory.

use crate::Record;
use base::Instant;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use trace::{ConnId, Event, Observer, PacketPayload, PacketSent};

/// Events per chunk: waking a waiting thread takes as long as a hundred events.
const CHUNK: usize = 16_384;
/// Chunks that may wait for a file.
const WAITING: usize = 8;
/// Bytes of the longest header.
const MAX_HEADER: usize = 128;

/// What was observed in a row.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// The events.
    pub records: Vec<Record>,
    /// The packets, if they are wanted.
    pub packets: Vec<Packet>,
}

/// A packet as it left a host.
#[derive(Clone, Debug)]
pub struct Packet {
    /// When.
    pub at: Instant,
    /// Which host.
    pub host: u32,
    /// How many of the chunk's events came before it.
    pub behind: usize,
    header: [u8; MAX_HEADER],
    header_len: usize,
    /// What follows the header.
    pub payload: Payload,
}

/// A packet's payload, or where to have it from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The bytes themselves.
    Bytes(Vec<u8>),
    /// Bytes of the position-coded stream.
    Stream {
        /// Bytes of the stream before the first one.
        offset: u64,
        /// Number of bytes.
        len: u32,
    },
}

impl Packet {
    /// IP and TCP header.
    pub fn header(&self) -> &[u8] {
        &self.header[..self.header_len]
    }

    fn new(at: Instant, behind: usize, sent: &PacketSent<'_>) -> Self {
        let mut header = [0; MAX_HEADER];
        let header_len = sent.header.len().min(MAX_HEADER);
        header[..header_len].copy_from_slice(&sent.header[..header_len]);
        let payload = match sent.payload {
            PacketPayload::Bytes(bytes) => Payload::Bytes(bytes.to_vec()),
            PacketPayload::Stream { offset, len } => Payload::Stream { offset, len },
        };
        Self { at, host: sent.host, behind, header, header_len, payload }
    }
}

/// A file that takes what was observed.
pub trait Sink: Send {
    /// Takes a chunk.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn take(&mut self, chunk: &Chunk) -> io::Result<()>;
    /// Ends the file.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Observes a run and passes it to its files. `PACKETS` tells whether packets are recorded too.
#[derive(Debug)]
pub struct Recorder<const PACKETS: bool> {
    chunk: Chunk,
    workers: Vec<Worker>,
    /// Chunks that every file has taken, for their memory.
    used: Receiver<Chunk>,
}

#[derive(Debug)]
struct Worker {
    feed: SyncSender<Arc<Chunk>>,
    thread: JoinHandle<io::Result<()>>,
}

impl<const PACKETS: bool> Recorder<PACKETS> {
    /// Hands what is observed to these files.
    pub fn new(sinks: Vec<Box<dyn Sink>>) -> Self {
        let (empty, used) = channel();
        let workers = sinks.into_iter().map(|sink| {
            let ((feed, chunks), empty) = (sync_channel(WAITING), empty.clone());
            Worker { feed, thread: std::thread::spawn(move || work(sink, &chunks, &empty)) }
        });
        Self { chunk: Chunk::default(), workers: workers.collect(), used }
    }

    /// Ends the files, in the order in which they were given.
    ///
    /// # Errors
    /// The first that could not be written: its position, and why.
    pub fn finish(mut self) -> Result<(), (usize, io::Error)> {
        self.send();
        let mut result = Ok(());
        for (index, Worker { feed, thread }) in self.workers.into_iter().enumerate() {
            drop(feed);
            let ended = thread.join().unwrap_or_else(|_| Err(io::Error::other("its writer panicked")));
            result = result.and(ended.map_err(|error| (index, error)));
        }
        result
    }

    /// A file that cannot be written ignores further chunks, and reports the error when it is finished.
    #[cold]
    fn send(&mut self) {
        let new = || Chunk { records: Vec::with_capacity(CHUNK), packets: Vec::new() };
        let next = self.used.try_recv().unwrap_or_else(|_| new());
        let chunk = Arc::new(core::mem::replace(&mut self.chunk, next));
        for worker in &self.workers {
            let _ = worker.feed.send(Arc::clone(&chunk));
        }
    }
}

fn work(mut sink: Box<dyn Sink>, chunks: &Receiver<Arc<Chunk>>, empty: &Sender<Chunk>) -> io::Result<()> {
    for chunk in chunks {
        sink.take(&chunk)?;
        // The last owner returns it; at the end it is no longer needed.
        if let Some(mut chunk) = Arc::into_inner(chunk) {
            chunk.records.clear();
            chunk.packets.clear();
            let _ = empty.send(chunk);
        }
    }
    sink.finish()
}

impl<const PACKETS: bool> Observer for Recorder<PACKETS> {
    const PACKETS: bool = PACKETS;
    #[inline]
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.chunk.records.push(Record { at, conn, event });
        if self.chunk.records.len() == CHUNK {
            self.send();
        }
    }
    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        self.chunk.packets.push(Packet::new(at, self.chunk.records.len(), packet));
    }
}

/// Two observers of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Observer, B: Observer> Observer for Both<A, B> {
    const ENABLED: bool = A::ENABLED || B::ENABLED;
    const PACKETS: bool = A::PACKETS || B::PACKETS;
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        self.0.record(at, conn, event);
        self.1.record(at, conn, event);
    }
    fn packet(&mut self, at: Instant, packet: &PacketSent<'_>) {
        self.0.packet(at, packet);
        self.1.packet(at, packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Counts(Arc<Mutex<(u64, u64, bool)>>, u64);
    impl Sink for Counts {
        fn take(&mut self, chunk: &Chunk) -> io::Result<()> {
            let mut counts = self.0.lock().unwrap();
            for record in &chunk.records {
                assert_eq!(record.at.as_nanos(), counts.0, "in order, each once");
                counts.0 += 1;
            }
            for packet in &chunk.packets {
                assert!(packet.behind <= chunk.records.len());
                assert_eq!((packet.header(), &packet.payload), (&[7; 20][..], &Payload::Bytes(vec![1, 2])));
                counts.1 += 1;
            }
            if counts.0 > self.1 { Err(io::Error::other("full")) } else { Ok(()) }
        }
        fn finish(self: Box<Self>) -> io::Result<()> {
            self.0.lock().unwrap().2 = true;
            Ok(())
        }
    }

    const EVENT: Event = Event::ReceiveBuffer { bytes: 1 };

    #[test]
    fn every_file_gets_every_event_in_order_and_is_ended() {
        let counts: [Arc<Mutex<_>>; 2] = Default::default();
        let sinks = counts.iter().map(|counts| Box::new(Counts(Arc::clone(counts), u64::MAX)) as Box<dyn Sink>);
        let mut recorder = Recorder::<true>::new(sinks.collect());
        let events = 3 * CHUNK as u64 + 5;
        for number in 0..events {
            recorder.record(Instant::from_nanos(number), ConnId(0), EVENT);
            if number % 1_000 == 0 {
                let sent = PacketSent { host: 1, header: &[7; 20], payload: PacketPayload::Bytes(&[1, 2]) };
                recorder.packet(Instant::from_nanos(number), &sent);
            }
        }
        recorder.finish().unwrap();
        for counts in counts {
            assert_eq!(*counts.lock().unwrap(), (events, events.div_ceil(1_000), true));
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_and_the_others_go_on() {
        let counts: [Arc<Mutex<_>>; 2] = Default::default();
        let limits = [u64::MAX, 10];
        let sinks = counts.iter().zip(limits).map(|(counts, limit)| Box::new(Counts(Arc::clone(counts), limit)) as _);
        let mut recorder = Recorder::<false>::new(sinks.collect());
        let events = 40 * CHUNK as u64;
        (0..events).for_each(|number| recorder.record(Instant::from_nanos(number), ConnId(0), EVENT));
        let (index, error) = recorder.finish().unwrap_err();
        assert_eq!((index, error.to_string().as_str()), (1, "full"));
        assert_eq!(*counts[0].lock().unwrap(), (events, 0, true));
    }
}
