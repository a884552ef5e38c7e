//! The books: what every socket has written, where every reader is, and what the pipes contain.

use super::peer::byte_at;
use base::SeqNum;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::Flags;

/// A socket of the script.
#[derive(Clone, Debug, Default)]
struct Writer {
    written: Vec<u8>,
    /// Where connections of this socket began, with the peer's port.
    begun: Vec<(usize, u16)>,
}

/// Everything that is known to be true.
#[derive(Debug, Default)]
pub struct Books {
    fds: BTreeMap<i32, Kind>,
    /// All bytes ever written on a connection, including those from closed descriptors.
    writers: Vec<Writer>,
    /// Numbers of delivered SYNs: where the peer's streams may begin.
    opened_at: BTreeSet<u32>,
    /// Positions that were marked urgent: the byte there may be kept out of the stream.
    urgent: BTreeSet<u32>,
    /// The stack's initial numbers, by the peer's port.
    isses: BTreeSet<(u16, u32)>,
    pipes: Vec<VecDeque<u8>>,
}

/// What a descriptor is.
#[derive(Clone, Debug)]
enum Kind {
    Socket {
        writer: usize,
        /// Positions in the peer's sequence space at which the next byte to be read may be.
        reader: BTreeSet<u32>,
        /// A connection may have begun since the last read.
        fresh: bool,
    },
    Pipe(usize),
    Other,
}

impl Books {
    pub fn add_socket(&mut self, fd: i32) {
        self.writers.push(Writer::default());
        self.fds.insert(fd, Kind::Socket { writer: self.writers.len() - 1, reader: BTreeSet::new(), fresh: false });
    }

    /// A connection to this port may be beginning: its streams begin.
    pub fn connects(&mut self, fd: i32, peer_port: u16) {
        if let Some(Kind::Socket { writer, fresh, .. }) = self.fds.get_mut(&fd) {
            let writer = &mut self.writers[*writer];
            writer.begun.push((writer.written.len(), peer_port));
            *fresh = true;
        }
    }

    pub fn add_pipe(&mut self, fds: [i32; 2]) {
        self.pipes.push(VecDeque::new());
        for fd in fds {
            self.fds.insert(fd, Kind::Pipe(self.pipes.len() - 1));
        }
    }

    pub fn add_other(&mut self, fd: i32) {
        self.fds.insert(fd, Kind::Other);
    }

    pub fn closed(&mut self, fd: i32) {
        self.fds.remove(&fd);
    }

    pub fn everything(&self) -> Vec<i32> {
        self.fds.keys().copied().collect()
    }

    pub fn sockets(&self) -> Vec<i32> {
        let socket = |(fd, kind): (&i32, &Kind)| matches!(kind, Kind::Socket { .. }).then_some(*fd);
        self.fds.iter().filter_map(socket).collect()
    }

    pub fn is_socket(&self, fd: i32) -> bool {
        matches!(self.fds.get(&fd), Some(Kind::Socket { .. }))
    }

    /// How many bytes were written to a connection, so that the next ones continue.
    pub fn written_len(&self, fd: i32) -> usize {
        match self.fds.get(&fd) {
            Some(Kind::Socket { writer, .. }) => self.writers[*writer].written.len(),
            _ => 0,
        }
    }

    /// A call has brought these bytes under.
    pub fn wrote(&mut self, fd: i32, bytes: &[u8]) {
        match self.fds.get(&fd) {
            Some(Kind::Socket { writer, .. }) => self.writers[*writer].written.extend_from_slice(bytes),
            Some(Kind::Pipe(pipe)) => self.pipes[*pipe].extend(bytes),
            _ => assert!(bytes.is_empty(), "{fd} takes no bytes"),
        }
    }

    /// A call has read `len` bytes, and returned these.
    pub fn read(&mut self, fd: i32, count: usize, shown: Option<&[u8]>, peeked: bool) {
        if count == 0 {
            return;
        }
        match self.fds.get_mut(&fd) {
            Some(Kind::Pipe(pipe)) => {
                let expected: Vec<u8> = self.pipes[*pipe].drain(..count).collect();
                assert_eq!(Some(expected.as_slice()), shown, "a pipe gives what it was given");
            }
            Some(Kind::Socket { reader, fresh, .. }) => {
                let mut from = reader.clone();
                if *fresh {
                    from.extend(self.opened_at.iter().map(|at| at.wrapping_add(1)));
                }
                let past_mark = |at: &u32| self.urgent.contains(at).then(|| at.wrapping_add(1));
                from.extend(from.iter().filter_map(past_mark).collect::<Vec<_>>());
                let fits = |at: &u32| {
                    let place = |n: usize| byte_at(SeqNum(at.wrapping_add(n as u32)));
                    shown.is_none_or(|shown| shown.iter().enumerate().all(|(n, byte)| *byte == place(n)))
                };
                let still: BTreeSet<u32> = from.into_iter().filter(fits).collect();
                assert!(!still.is_empty(), "{fd} has read bytes that stand nowhere in the peer's stream: {shown:?}");
                let moved = if peeked { 0 } else { count as u32 };
                *reader = still.into_iter().map(|at| at.wrapping_add(moved)).collect();
                *fresh = false;
            }
            _ => panic!("{fd} has read {count} bytes"),
        }
    }

    /// Bytes that a splice has moved between a pipe and something else.
    pub fn spliced(&mut self, from: i32, to: i32, count: usize, peeked: &[u8]) {
        match self.fds.get(&from) {
            Some(Kind::Pipe(pipe)) => {
                let moved: Vec<u8> = self.pipes[*pipe].drain(..count).collect();
                self.wrote(to, &moved);
            }
            _ => {
                assert!(peeked.len() >= count, "more was moved than there was to be seen");
                self.read(from, count, Some(&peeked[..count]), false);
                self.wrote(to, &peeked[..count]);
            }
        }
    }

    /// A packet goes to the stack.
    pub fn note_arrival(&mut self, packet: &[u8]) {
        let Ok(split) = wire::split(packet) else { return };
        let Ok((_, tcp)) = split.header.parse(split.payload.len() as u32) else { return };
        if tcp.flags.contains(Flags::SYN) {
            self.opened_at.insert(tcp.seq.0);
        }
        if tcp.flags.contains(Flags::URG) {
            // The two interpretations of the pointer (RFC 1122 §4.2.2.4), and the SYN's own number.
            let last = tcp.seq + u32::from(tcp.urgent);
            self.urgent.extend([last - 1, last, last + 1].map(|at| at.0));
        }
    }

    /// A call has read the urgent byte.
    pub fn read_urgent(&self, fd: i32, byte: u8) {
        let known = self.urgent.iter().any(|at| byte_at(SeqNum(*at)) == byte);
        assert!(known, "{fd} has read {byte} as urgent, but no packet marked it so");
    }

    /// A packet has left the stack: it must be well-formed and carry what was written.
    pub fn check_departure(&mut self, packet: &[u8]) {
        let split = wire::split(packet).expect("what leaves is a segment");
        let parsed = split.header.parse(split.payload.len() as u32);
        let (_, tcp) = parsed.expect("what leaves is well-formed");
        assert!(wire::checksum::verify(&split.header, split.payload), "what leaves has right checksums");
        if tcp.flags.contains(Flags::SYN) {
            self.isses.insert((tcp.dst_port, tcp.seq.0));
        }
        if split.payload.is_empty() {
            return;
        }
        let first = tcp.seq + u32::from(tcp.flags.contains(Flags::SYN));
        let isses = self.isses.range((tcp.dst_port, 0)..=(tcp.dst_port, u32::MAX));
        let offsets: Vec<usize> = isses.map(|(_, iss)| first.distance_from(SeqNum(*iss) + 1) as usize).collect();
        let carries = |writer: &Writer| {
            let begun = writer.begun.iter().filter(|(_, port)| *port == tcp.dst_port);
            let mut places = begun.flat_map(|(begin, _)| offsets.iter().map(move |offset| begin + offset));
            places.any(|at| writer.written.get(at..at + split.payload.len()) == Some(split.payload))
        };
        let known = self.writers.iter().any(carries);
        assert!(known, "no socket wrote the {} bytes at {:?} to {}", split.payload.len(), tcp.seq, tcp.dst_port);
    }
}
