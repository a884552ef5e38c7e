//! The packets at both ends of a link, written as pcapng (draft-ietf-opsawg-pcapng) with timestamps in nanoseconds.
//!
//! The file contains a packet when it leaves a kernel for the link and when it reaches one, each time under that end's interface,
//! so that the difference shows the path's effect. A separate thread writes the file: the link's must not wait for a disk. If the
//! disk is too slow for long, packets are missing from the file, never from the link, and are counted.

use super::packet;
use crate::clock::{Clock, MonotonicClock};
use base::Instant;
use nix::time::{ClockId, clock_gettime};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{self, Receiver, SyncSender, TryRecvError, TrySendError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes collected before the writer gets them, and how many such batches may wait for it: 64 MiB.
const BATCH: usize = 1 << 18;
const BATCHES: usize = 256;

/// Decimal exponent of the time unit.
const NANOSECONDS: u8 = 9;

/// A packet's direction at an interface, as seen by the kernel behind it; the numbers are those of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    /// It arrives from the link.
    In = 1,
    /// It leaves for the link.
    Out = 2,
}

/// The result of writing a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// Packets that are missing from the file because it could not be written fast enough.
    pub missed: u64,
    /// Why the file ends before the link did.
    pub error: Option<String>,
}

/// Packets, one behind the other, and where each ends.
#[derive(Debug, Default)]
struct Batch {
    frames: Vec<u8>,
    packets: Vec<Noted>,
}

#[derive(Debug)]
struct Noted {
    at: Instant,
    end: usize,
    passing: Passing,
    len: usize,
}

/// The link's side: records packets in memory.
#[derive(Debug)]
pub(super) struct Capture {
    batch: Batch,
    full: SyncSender<Batch>,
    written: Receiver<Batch>,
    thread: JoinHandle<io::Result<()>>,
    missed: u64,
}

impl Capture {
    /// Starts a file for ends with these names.
    pub(super) fn new(out: impl Write + Send + 'static, ends: [String; 2]) -> io::Result<Self> {
        let (full, batches) = mpsc::sync_channel(BATCHES);
        let (back, written) = mpsc::channel();
        let began = real_time_of_the_clock();
        let work = move || {
            let mut file = File::begin(out, ends, began)?;
            file.write_all(&batches, &back)
        };
        let thread = std::thread::Builder::new().name("capture".to_owned()).spawn(work)?;
        Ok(Self { batch: Batch::default(), full, written, thread, missed: 0 })
    }

    /// Records a frame at an end.
    pub(super) fn note(&mut self, at: Instant, end: usize, passing: Passing, frame: &[u8]) {
        self.batch.frames.extend_from_slice(frame);
        self.batch.packets.push(Noted { at, end, passing, len: frame.len() });
        if self.batch.frames.len() >= BATCH {
            self.hand_over();
        }
    }

    /// Passes the recorded packets to the writer, without waiting for it.
    pub(super) fn hand_over(&mut self) {
        if self.batch.packets.is_empty() {
            return;
        }
        let next = self.written.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.batch, next);
        if let Err(TrySendError::Full(mut refused) | TrySendError::Disconnected(mut refused)) =
            self.full.try_send(batch)
        {
            self.missed += refused.packets.len() as u64;
            refused.clear();
            self.batch = refused;
        }
    }

    /// Waits until everything is written.
    pub(super) fn finish(mut self) -> Captured {
        self.hand_over();
        drop(self.full);
        let ended = self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Captured { missed: self.missed, error: ended.err().map(|error| error.to_string()) }
    }
}

impl Batch {
    fn clear(&mut self) {
        self.frames.clear();
        self.packets.clear();
    }
}

/// Returns the time of day at which the monotonic clock was zero.
fn real_time_of_the_clock() -> Duration {
    let day = clock_gettime(ClockId::CLOCK_REALTIME).expect("every kernel has the time of day");
    Duration::from(day).saturating_sub(Duration::from_nanos(MonotonicClock::default().now().as_nanos()))
}

/// Returns the cause of an error, without the library's own wording around it.
fn plain(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// The writer's side.
struct File<W: Write> {
    writer: PcapNgWriter<BufWriter<W>>,
    began: Duration,
    packet: Vec<u8>,
}

impl<W: Write> File<W> {
    fn begin(out: W, ends: [String; 2], began: Duration) -> io::Result<Self> {
        let mut writer = PcapNgWriter::new(BufWriter::new(out)).map_err(plain)?;
        for name in ends {
            let name = InterfaceDescriptionOption::IfName(Cow::Owned(name));
            let options = vec![name, InterfaceDescriptionOption::IfTsResol(NANOSECONDS)];
            let interface = InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options };
            writer.write_pcapng_block(interface).map_err(plain)?;
        }
        writer.get_mut().flush()?;
        Ok(Self { writer, began, packet: Vec::new() })
    }

    /// Writes batches until the sender hangs up, and flushes the file whenever no batch waits.
    fn write_all(&mut self, batches: &Receiver<Batch>, back: &mpsc::Sender<Batch>) -> io::Result<()> {
        loop {
            let mut batch = match batches.try_recv() {
                Ok(batch) => batch,
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {
                    self.writer.get_mut().flush()?;
                    let Ok(batch) = batches.recv() else { break };
                    batch
                }
            };
            self.write(&batch)?;
            batch.clear();
            // The link may have ended meanwhile.
            let _ = back.send(batch);
        }
        self.writer.get_mut().flush()?;
        Ok(())
    }

    fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let mut frames = &batch.frames[..];
        for noted in &batch.packets {
            let (frame, rest) = frames.split_at(noted.len);
            packet::finish_into(frame, &mut self.packet);
            let block = EnhancedPacketBlock {
                interface_id: noted.end as u32,
                timestamp: self.began + Duration::from_nanos(noted.at.as_nanos()),
                original_len: self.packet.len() as u32,
                data: Cow::Borrowed(&self.packet),
                options: vec![EnhancedPacketOption::Flags(noted.passing as u32)],
            };
            self.writer.write_pcapng_block(block).map_err(plain)?;
            frames = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use std::sync::{Arc, Mutex};

    /// A file in memory; with a limit, one on a full disk.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>, Option<usize>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut file = self.0.lock().unwrap();
            if self.1.is_some_and(|limit| file.len() + bytes.len() > limit) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            file.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn frame(last: u8) -> Vec<u8> {
        let mut frame = vec![0; 10];
        frame.extend([0x45; 39]);
        frame.push(last);
        frame
    }

    #[test]
    fn packets_are_found_in_the_file_with_end_way_and_time() {
        let file = Shared::default();
        let before = clock_gettime(ClockId::CLOCK_REALTIME).unwrap();
        let mut capture = Capture::new(file.clone(), ["wa0 in x".to_owned(), "wb0".to_owned()]).unwrap();
        let at = MonotonicClock::default().now();
        capture.note(at, 0, Passing::Out, &frame(1));
        capture.hand_over();
        capture.note(at + base::Duration::from_nanos(5), 1, Passing::In, &frame(2));
        assert_eq!(capture.finish(), Captured::default());
        let bytes = file.0.lock().unwrap().clone();
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let (mut names, mut seen) = (Vec::new(), Vec::new());
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::InterfaceDescription(interface) => {
                    names.extend(interface.options.into_iter().map(|one| format!("{one:?}")))
                }
                Block::EnhancedPacket(packet) => {
                    let packet = packet.into_owned();
                    seen.push((packet.interface_id, packet.options, packet.data.into_owned(), packet.timestamp));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(names, [r#"IfName("wa0 in x")"#, "IfTsResol(9)", r#"IfName("wb0")"#, "IfTsResol(9)"]);
        assert_eq!(
            (seen[0].0, &seen[0].1, &seen[0].2),
            (0, &vec![EnhancedPacketOption::Flags(2)], &frame(1)[10..].to_vec())
        );
        assert_eq!(
            (seen[1].0, &seen[1].1, &seen[1].2),
            (1, &vec![EnhancedPacketOption::Flags(1)], &frame(2)[10..].to_vec())
        );
        assert_eq!(seen[1].3 - seen[0].3, Duration::from_nanos(5));
        assert!(seen[0].3 >= Duration::from(before) && seen[0].3 < Duration::from(before) + Duration::from_secs(600));
        assert_eq!(seen.len(), 2);
    }

    #[test]
    fn a_full_disk_ends_the_file_and_is_reported() {
        let mut capture =
            Capture::new(Shared(Arc::default(), Some(100_000)), ["a".to_owned(), "b".to_owned()]).unwrap();
        for _ in 0..50_000 {
            capture.note(Instant::ZERO, 0, Passing::Out, &frame(1));
        }
        let captured = capture.finish();
        assert!(captured.error.is_some_and(|error| !error.is_empty()));
    }
}
