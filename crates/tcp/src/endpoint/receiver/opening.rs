//! The receiver while a connection opens: the peer's SYN, the first window, and data in the SYN.

use super::arrival::Arrived;
use super::{Around, Received, Receiver, first_window};
use crate::config::{Config, ValidConfig, WindowRounding};
use crate::endpoint::Segment;
use crate::recv::{Assembler, ReceiveWindow};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use wire::{Flags, TcpRepr};

/// Segment sizes, in bytes, when the first window opens.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct FirstSizes {
    /// The size that our SYN announces.
    pub announced: Bytes,
    /// The size known when the window was first advertised.
    pub known: Bytes,
    /// The largest size that we may send.
    pub smss: Bytes,
}

impl Receiver {
    /// Notes the sequence number of the peer's SYN; `rmss` is the largest segment that the peer may send.
    pub fn on_peer_syn(&mut self, seq: SeqNum, rmss: Bytes) {
        self.irs = seq;
        self.assembler = Assembler::new(seq + 1);
        self.rmss = rmss;
    }

    /// Opens the window that our SYN or SYN-ACK advertises; `shift` scales later ones.
    pub(in crate::endpoint) fn open_window(&mut self, cfg: &ValidConfig, shift: u8, sizes: FirstSizes) {
        self.window = ReceiveWindow::new(self.rcv_nxt(), first_window(cfg, sizes.known), shift);
        if cfg.receive.rounding == WindowRounding::Segments {
            let limit = self.window.limit();
            self.window.set_limit(limit.next_multiple_of(sizes.smss));
        }
        self.begin_memory(&cfg.receive, sizes.announced, sizes.smss);
    }

    /// Returns the window field of our SYN or SYN-ACK.
    pub fn syn_window(&self) -> u16 {
        self.window.syn_window(self.rcv_nxt())
    }

    /// Notes that the handshake took `rtt`.
    pub fn on_handshake(&mut self, cfg: &Config, now: Instant, rtt: Duration) {
        self.autotune.on_handshake(&cfg.receive.window, now, rtt);
    }

    /// Accepts the data of a SYN before the handshake ends (RFC 7413). Returns its sequence range inside the window.
    pub fn take_early(&mut self, cfg: &Config, syn: &Segment<'_>) -> SeqRange {
        let start = syn.repr.seq + 1;
        let range = SeqRange::new(start, (start + syn.payload.len()).min(self.window.right_edge()));
        if range.is_empty() {
            return range;
        }
        self.store(&syn.payload, range);
        self.assembler.insert(range);
        self.buffer.commit(range.len());
        // The window in the SYN-ACK counts from the end of the data.
        let (limit, shift) = (self.window.limit(), self.window.shift());
        self.window = ReceiveWindow::new(range.end, cfg.receive.window.initial(), shift);
        self.window.set_limit(limit);
        range
    }

    //= specs/rfc9293.md#opening
    //# Data in a SYN waits until the connection is established.
    /// Keeps the data and the FIN of a SYN.
    ///
    /// The buffer holds the data, but it is neither acknowledged nor delivered before the connection is established: a SYN may be
    /// an old duplicate or a forgery.
    pub fn keep_syn_data(&mut self, syn: &Segment<'_>) {
        if syn.seq_len() == 1 {
            return;
        }
        let fin = syn.repr.flags.contains(Flags::FIN);
        let start = syn.repr.seq + 1;
        let end = start + syn.payload.len();
        let range = SeqRange::new(start, end.min(self.window.right_edge()));
        let fin = fin && range.end == end;
        self.store(&syn.payload, range);
        if fin {
            self.fin = Some(end);
        }
        let taken = SeqRange::new(start, range.end + u32::from(fin));
        self.rare_mut().syn_data = Some(taken).filter(|taken| !taken.is_empty());
    }

    /// Returns whether data of a SYN waits for the connection to be established.
    pub fn keeps_syn_data(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.syn_data.is_some())
    }

    /// Handles the `repr` that established the connection: stored data of the SYN, if any, counts as arrived now.
    pub(in crate::endpoint) fn take_kept_syn_data(&mut self, around: &Around<'_>, repr: &TcpRepr) -> Option<Received> {
        let taken = self.rare.as_mut()?.syn_data.take()?;
        let len = taken.len() - u32::from(self.fin.is_some());
        let push = repr.flags.contains(Flags::PSH);
        Some(self.take(around, &Arrived { seq: repr.seq, payload: len, len, push }, taken))
    }

    /// Delays the acknowledgement of the peer's SYN-ACK for data that is about to leave. Returns the latest time for it.
    pub fn delay_answer_of_syn_ack(&mut self, cfg: &Config, now: Instant) -> Instant {
        let window = self.shown_window();
        self.policy.on_syn_ack(&cfg.ack, now, window, self.rmss)
    }
}
