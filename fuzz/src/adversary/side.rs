//! One end of a game: a stack and the application on it.

use base::{Instant, Rng, SeqNum};
use core::net::IpAddr;
use tcp::config::GuardConfig;
use tcp::{
    CloseReason, Conn, ConnEvent, DeviceCaps, Segmentation, Stack, StackConfig, StackCx, StackEvent, State, TxChecksum,
};
use trace::Off;
use wire::{Flags, TcpRepr};

/// One end and its application.
pub(super) struct Side {
    pub stack: Stack,
    pub conn: Option<Conn>,
    pub to_write: u64,
    pub written: u64,
    pub read: u64,
    /// Initial numbers of connections: forged SYNs create more than one.
    pub isses: Vec<SeqNum>,
    /// The SYN was to carry data, which is counted in bytes, and so is the rest.
    pub writes_bytes: bool,
    pub fin_read: bool,
    pub shut: bool,
    pub closed: Option<CloseReason>,
}

/// The position of a packet's payload in its stream.
pub(super) enum Place {
    At(u64),
    /// Unknown, but these are its bytes.
    Of(Vec<u8>),
}

pub(super) fn first_byte(tcp: &TcpRepr) -> SeqNum {
    tcp.seq + u32::from(tcp.flags.contains(Flags::SYN))
}

pub(super) fn pattern(offset: u64, len: u64) -> Vec<u8> {
    let mut bytes = vec![0; len as usize];
    tcp::fill_pattern(offset, &mut bytes);
    bytes
}

impl Side {
    pub fn new(ip: IpAddr, seed: u8, to_write: u64) -> Self {
        let device = DeviceCaps { mtu: 1_500, checksum: TxChecksum::Unneeded, segmentation: Segmentation::Off };
        let cfg = StackConfig {
            addresses: vec![ip],
            device,
            isn_secret: [u64::from(seed), 7],
            guards: GuardConfig::default(),
        };
        let stack = Stack::new(cfg, Rng::new(u64::from(seed)));
        let (conn, isses, closed) = (None, Vec::new(), None);
        Self {
            stack,
            conn,
            to_write,
            written: 0,
            read: 0,
            isses,
            writes_bytes: false,
            fin_read: false,
            shut: false,
            closed,
        }
    }

    /// The place of a segment's payload in the stream. Numbers alone do not tell: forged SYNs make connections that begin in the
    /// midst of another one's numbers.
    pub fn offset_of(&self, tcp: &TcpRepr, len: u32, place: &Place) -> u64 {
        let mut by_number = self.isses.iter().rev().map(|iss| u64::from(first_byte(tcp).distance_from(*iss + 1)));
        match place {
            Place::At(offset) => *offset,
            Place::Of(_) if len == 0 => by_number.min().unwrap_or(0),
            Place::Of(bytes) => by_number
                .find(|offset| pattern(*offset, bytes.len() as u64) == *bytes)
                .expect("what leaves stands somewhere in the stream"),
        }
    }

    pub fn over(&self) -> bool {
        self.closed.is_some() || self.conn.is_some_and(|conn| self.stack.endpoint(conn).is_none())
    }

    /// The application: writes and reads as much as it can.
    pub fn act(&mut self, now: Instant, reads: bool) {
        let Some(conn) = self.conn else { return };
        let mut off = Off;
        let mut cx = StackCx::new(now, &mut off);
        // Shutting a connection that is not open yet abandons it.
        if matches!(self.stack.endpoint(conn).map(tcp::Endpoint::state), Some(State::SynSent | State::SynReceived)) {
            return;
        }
        let left = self.to_write - self.written;
        if left > 0 {
            self.written += if self.writes_bytes {
                let bytes = pattern(self.written, left);
                self.stack.write(&mut cx, conn, &bytes).unwrap_or(0) as u64
            } else {
                self.stack.write_pattern(&mut cx, conn, left).unwrap_or(0)
            };
        }
        if self.written == self.to_write && !self.shut {
            self.shut = true;
            self.stack.shutdown(&mut cx, conn);
        }
        if !reads {
            return;
        }
        loop {
            match self.stack.read_pattern(&mut cx, conn, 5_000) {
                Ok(tcp::Read::Data(len)) if len > 0 => self.read += len,
                Ok(tcp::Read::Fin) => {
                    self.fin_read = true;
                    break;
                }
                _ => break,
            }
        }
    }

    pub fn take_events(&mut self, now: Instant) {
        while let Some(event) = self.stack.poll_event() {
            match event {
                StackEvent::Accepted { conn, .. } => {
                    self.stack.accept(conn);
                    // A duplicated SYN creates two connections from one: the application serves the first.
                    if *self.conn.get_or_insert(conn) != conn {
                        self.stack.release(&mut StackCx::new(now, &mut Off), conn);
                    }
                }
                StackEvent::Conn { conn, event: ConnEvent::Closed(reason) } if self.conn == Some(conn) => {
                    self.closed = Some(reason);
                }
                StackEvent::Conn { .. } => {}
            }
        }
        if let Some(endpoint) = self.conn.and_then(|conn| self.stack.endpoint(conn)) {
            endpoint.audit().unwrap_or_else(|problem| panic!("{problem}"));
            assert_eq!(endpoint.info().mismatches, 0, "a byte at the wrong place");
        }
    }
}
