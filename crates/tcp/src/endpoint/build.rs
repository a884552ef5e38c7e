//! Builds segments: header fields and options, and updates every counter of departing segments.

use super::books::SegmentReport;
use super::life::syn_deadline;
use super::output::{Outgoing, Then, Transmit, TxBuf};
use super::sender::Train;
use super::{EcnState, Endpoint, Probing, State};
use crate::cx::Cx;
use crate::options;
use crate::timers::TimerKind;
use base::{Bytes, Instant, SeqNum, SeqRange};
use cc::SentSample;
use trace::{Event, FlagLetters, Observer, SendCause};
use wire::{Ecn, FastOpen, Flags, IpRepr, Options, TcpRepr, Timestamps};

/// Bytes of a SACK option without its blocks, padding included, and of one block (RFC 2018 §3).
const SACK_OVERHEAD: u32 = 4;
const SACK_BLOCK: u32 = 8;

impl Endpoint {
    //= specs/rfc2018.md#negotiation
    //# Without SACK-permitted in the peer's SYN, no SACK option is sent.
    /// Returns the SACK blocks that wait to be reported and fit into a header.
    #[inline]
    fn blocks_to_report(&self) -> u32 {
        if !self.neg.sack {
            return 0;
        }
        let most = if self.neg.timestamps { 3 } else { 4 };
        self.rcv.ranges_to_report(most)
    }

    /// Returns the payload of a full-sized new segment in bytes: the SACK option is deducted while there is something to report
    /// (RFC 6691 §2).
    #[inline]
    pub(super) fn segment_size(&self) -> Bytes {
        match self.blocks_to_report() {
            0 => self.snd.full_size(),
            blocks => self.snd.full_size().saturating_sub(SACK_OVERHEAD + SACK_BLOCK * blocks).max(1),
        }
    }

    //= specs/rfc9937.md#each-transmission
    //# Every byte sent in the episode counts towards prr_out, whether new or retransmitted.
    /// Updates all counts for a data segment, and builds it.
    pub(super) fn emit_data<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        outgoing: Outgoing,
    ) -> Transmit {
        let range = outgoing.range;
        let data_end = self.snd.data_end();
        let payload = range.end.min(data_end).distance_from(range.start.min(data_end));
        self.rcv.on_data_sent(cx.now);
        let mut flags = Flags::NONE;
        if range.end.after(data_end) {
            flags = flags.with(Flags::FIN);
        }
        let push = outgoing.train == Train::Ends || self.snd.pushes(&self.cfg, range.end, outgoing.retransmits);
        if payload > 0 && (push || self.ends_syn_data(range.end)) {
            flags = flags.with(Flags::PSH);
        }
        self.stats.on_departure(cx.now, payload, self.segments_of(payload), outgoing.retransmits > 0);
        let pipe = self.snd.rec.board.pipe();
        self.snd.usage.on_sent(pipe);
        if let Some(reduction) = &mut self.snd.rec.reduction {
            reduction.on_sent(range.len());
        }
        if let Some(pacer) = &mut self.snd.pacer {
            pacer.on_sent(payload);
        }
        self.snd.cc.on_sent(&SentSample { now: cx.now, bytes: range.len(), pipe, snd_nxt: self.snd.space.nxt() });
        let transmit = self.send_segment(
            cx,
            out,
            range,
            flags,
            SegmentReport { cause: outgoing.cause, retransmits: outgoing.retransmits, dsack: None },
        );
        if self.send_moves_loss_timer() {
            self.arm_loss_timer(cx);
        }
        transmit
    }

    //= specs/rfc9293.md#acknowledgements
    //# One ACK answers all that was taken before it leaves.
    //= specs/rfc9293.md#segment-size
    //# The option stands in SYNs only.
    //= specs/rfc2018.md#receiver
    //# While data waits out of order, every ACK carries SACK blocks.
    //= specs/rfc2018.md#receiver
    //# As many blocks are sent as the option space takes.
    //= specs/rfc2883.md#receiver
    //# A segment that brings bytes a second time is reported by a block, in the next ACK and in no later one.
    //= specs/rfc7323.md#timestamps
    //# Once timestamps are in use, every segment but a reset carries them.
    /// Builds a segment with the current ACK, window and options; it carries any acknowledgement that was due.
    pub(super) fn send_segment<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        range: SeqRange,
        flags: Flags,
        mut report: SegmentReport,
    ) -> Transmit {
        let retransmit = report.retransmits;
        let rcv_nxt = self.rcv.rcv_nxt();
        let mut options = Options::default();
        if self.neg.timestamps {
            options.timestamps = Some(self.own_timestamps(cx.now));
        }
        let len = range.len() - u32::from(flags.contains(Flags::FIN));
        let (size, to_report) = (self.segment_size(), self.blocks_to_report());
        // Only new data leaves in frames of several segments; a retransmitted record keeps the size it had.
        let gso_size = (retransmit == 0 && len > size && !self.path().is_probe(range)).then_some(size as u16);
        let part = gso_size.map_or(len, u32::from);
        let room = self.snd.space.smss().saturating_sub(part).saturating_sub(SACK_OVERHEAD) / SACK_BLOCK;
        let most = if len == 0 { to_report } else { to_report.min(room) };
        if most > 0 {
            (options.sack, report.dsack) = self.rcv.take_report(most);
            if report.dsack.is_some() {
                self.stats.rare_mut().dsacks_sent += 1;
            }
        }
        let (ecn_flags, ecn) = if self.neg.ecn {
            self.ecn.of_segment(len > 0 && retransmit == 0 && self.snd.rec.probing() == Probing::Idle)
        } else {
            (Flags::NONE, Ecn::NotEct)
        };
        let mark = self.extras.as_deref().map(|extras| extras.urgent);
        let urgent = mark.and_then(|mark| mark.pointer(&self.cfg.receive, range.start));
        let urgent_flag = if urgent.is_some() { Flags::URG } else { Flags::NONE };
        let window = self.rcv.announce_window(&self.cfg.receive);
        let repr = TcpRepr {
            src_port: self.tuple.local_port,
            dst_port: self.tuple.remote_port,
            seq: range.start,
            ack: Some(rcv_nxt),
            flags: flags.with(ecn_flags).with(urgent_flag),
            window,
            urgent: urgent.unwrap_or(0),
            options,
        };
        // Blocks for which a full retransmission has no room follow at once in a separate segment.
        self.rcv.on_ack_sent(&self.cfg.ack, most >= to_report);
        self.timers.stop(TimerKind::DelayedAck);
        self.ts.on_ack_sent(rcv_nxt);
        let offset = range.start.distance_from(self.snd.space.una());
        self.put(cx, out, &repr, ecn, Transmit { header_len: 0, offset, len, gso_size, then: Then::Poll }, report)
    }

    #[inline]
    fn own_timestamps(&self, now: Instant) -> Timestamps {
        Timestamps { tsval: self.ts.tsval(now), tsecr: self.ts.tsecr() }
    }

    //= specs/rfc9293.md#network-layer
    //# The time to live can be configured.
    //= specs/rfc9293.md#network-layer
    //# The application can choose the differentiated-services field.
    /// Returns the IP header for everything that this connection sends.
    #[inline]
    pub(super) fn ip_header(&self, ecn: Ecn) -> IpRepr {
        IpRepr {
            src: self.tuple.local,
            dst: self.tuple.remote,
            ttl: self.cfg.ip.ttl,
            dscp: self.cfg.ip.dscp,
            ecn,
            fragmentation: self.fragmentation(),
        }
    }

    fn put<O: Observer>(
        &mut self,
        cx: &mut Cx<'_, O>,
        out: &mut TxBuf,
        repr: &TcpRepr,
        ecn: Ecn,
        mut transmit: Transmit,
        report: SegmentReport,
    ) -> Transmit {
        let ip = self.ip_header(ecn);
        transmit.header_len = wire::emit(&ip, repr, transmit.len, &mut out.header);
        self.stats.on_frame(self.segments_of(transmit.len));
        cx.emit(|| Event::SegmentSent {
            seq: repr.seq,
            len: transmit.len + u32::from(repr.flags.contains(Flags::FIN)),
            flags: FlagLetters::of(repr.control_bits()),
            ack: repr.ack,
            window: self.rcv.shown_window(),
            cause: report.cause,
            retransmit: report.retransmits,
            blocks: repr.options.sack.as_slice().len() as u8,
            dsack: report.dsack,
        });
        transmit
    }

    pub(super) fn send_syn<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Transmit {
        let again = self.syn_left_again();
        if !again {
            self.snd.rec.restart_rto(cx.now);
        }
        let (fast_open, len) = self.fast_open_of_syn();
        self.snd.space.on_syn_sent(len);
        let mut repr = self.syn_repr(cx.now);
        repr.options.fast_open = fast_open;
        if len > 0 {
            self.stats.on_departure(cx.now, len, self.segments_of(len), false);
        }
        let again_at = cx.now + self.snd.rec.rto.current().duration();
        let (active, began) = (self.life.state() == State::SynSent, self.snd.rec.rto_base());
        self.arm(cx, TimerKind::Retransmit, syn_deadline(&self.cfg.retries, active, began, again_at));
        let transmit = Transmit { header_len: 0, offset: 0, len, gso_size: None, then: Then::Poll };
        let report = SegmentReport {
            retransmits: self.snd.rec.retries().max(u32::from(again)).min(255) as u8,
            ..SegmentReport::of(SendCause::Syn)
        };
        self.put(cx, out, &repr, Ecn::NotEct, transmit, report)
    }

    //= specs/rfc7323.md#timestamps
    //# A reset of a connection that uses timestamps carries them, too.
    /// Sends the reset that ends this connection, with its window as in any other segment.
    pub(super) fn send_reset<O: Observer>(&mut self, cx: &mut Cx<'_, O>, out: &mut TxBuf) -> Transmit {
        let timestamps = self.neg.timestamps.then(|| self.own_timestamps(cx.now));
        let rcv_nxt = self.rcv.rcv_nxt();
        let window = self.rcv.announce_window(&self.cfg.receive);
        let repr = TcpRepr {
            src_port: self.tuple.local_port,
            dst_port: self.tuple.remote_port,
            seq: self.snd.space.nxt(),
            ack: Some(rcv_nxt),
            flags: Flags::RST,
            window,
            urgent: 0,
            options: Options { timestamps, ..Options::default() },
        };
        let transmit = Transmit { header_len: 0, offset: 0, len: 0, gso_size: None, then: Then::Poll };
        self.put(cx, out, &repr, Ecn::NotEct, transmit, SegmentReport::of(SendCause::Reset))
    }

    /// Returns whether the data of our SYN ended at `end`. It was written, and pushed, as a whole.
    #[inline]
    fn ends_syn_data(&self, end: SeqNum) -> bool {
        let bytes = self.fast_open().bytes_of_syn();
        bytes > 0 && end == self.snd.space.iss() + 1 + bytes
    }

    /// Returns the number of segments in a frame with `payload` bytes.
    #[inline]
    pub(super) fn segments_of(&self, payload: Bytes) -> u32 {
        if payload > self.snd.space.smss() { payload.div_ceil(self.segment_size()) } else { 1 }
    }

    /// Returns the option and the bytes of data in the SYN or SYN-ACK that leaves now.
    fn fast_open_of_syn(&self) -> (Option<FastOpen>, Bytes) {
        match self.life.state() {
            _ if self.syn_left_again() => (None, 0),
            State::SynSent => self.fast_open().of_first_syn(false),
            State::SynReceived => self.fast_open().of_first_syn(true),
            _ => (None, 0),
        }
    }

    //= specs/rfc9293.md#segment-size
    //# A maximum segment size is sent, and one that is received is respected.
    /// Returns the header fields and options of our SYN or SYN-ACK.
    pub(super) fn syn_repr(&self, now: Instant) -> TcpRepr {
        let mss = self.announced_mss();
        let mut opts = options::offer(&self.cfg, mss);
        let answering = self.life.state() == State::SynReceived;
        let timestamps = if answering { self.neg.timestamps } else { options::wants_timestamps(&self.cfg, None) };
        if answering {
            // A SYN-ACK carries an option only if the peer offered it.
            opts.sack_permitted = self.neg.sack;
            opts.window_scale = if self.neg.scaling { Some(self.neg.rcv_shift) } else { None };
        }
        if timestamps {
            opts.timestamps = Some(wire::Timestamps { tsval: self.ts.tsval(now), tsecr: self.ts.tsecr() });
        }
        TcpRepr {
            src_port: self.tuple.local_port,
            dst_port: self.tuple.remote_port,
            seq: self.snd.space.iss(),
            ack: answering.then(|| self.rcv.rcv_nxt()),
            flags: Flags::SYN.with(match answering {
                true => EcnState::of_syn_ack(self.neg.ecn),
                false => EcnState::of_syn(&self.cfg.ecn, self.snd.rec.retries() > 0),
            }),
            window: self.rcv.syn_window(),
            urgent: 0,
            options: opts,
        }
    }
}
