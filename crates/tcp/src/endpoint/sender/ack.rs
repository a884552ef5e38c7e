//! What an ACK means for the sender: the window it offers, whether it is a duplicate, what it delivered, and what controller and
//! detector learn from it.

use super::Sender;
use crate::config::{Config, SendConfig, ValidConfig, WindowShrinking};
use crate::endpoint::{Probing, Segment};
use base::{Bytes, Duration, Instant, SeqNum, SeqRange};
use cc::{AckSample, CcNote, EpisodeKind, GrowthCount};
use recovery::rate_sample::RateSample;
use recovery::sack::{BlockClass, BlockCx};
use recovery::{Arrival, Delivered, DetectCx, Episode};
use wire::tcp::MAX_SACK_BLOCKS;
use wire::{Flags, TcpRepr};

/// An ACK's SACK blocks, classified.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    genuine: [SeqRange; MAX_SACK_BLOCKS],
    count: usize,
    pub dsack: Option<SeqRange>,
    /// Number of blocks in the option, and of those that report duplicates.
    pub total: u8,
    pub dsacks: u8,
}

impl Blocks {
    /// Returns the blocks that acknowledge something.
    #[inline]
    pub fn genuine(&self) -> &[SeqRange] {
        &self.genuine[..self.count]
    }
}

/// Evidence of reordering: a segment arrived after one that was sent later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overtaken {
    /// Bytes from the segment's first sequence number to the highest one that had arrived.
    pub extent: Bytes,
    /// The highest sequence number that had arrived.
    pub fack: SeqNum,
    /// End of the late segment.
    pub end: SeqNum,
}

/// The effects of one ACK, collected during the steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub acked: Bytes,
    pub sacked: Bytes,
    pub delivered: Bytes,
    pub newly_lost: Bytes,
    pub prior_pipe: Bytes,
    /// Bytes beyond `SND.UNA` known to have arrived before the ACK: selectively acknowledged, or announced by duplicate ACKs.
    pub sacked_before: Bytes,
    pub departed_before: Bytes,
    pub dsack: Option<SeqRange>,
    pub rtt: Option<Duration>,
    pub rate: Option<RateSample>,
    pub arrival: Arrival,
    pub cwnd_limited: bool,
    /// The ACK echoes a congestion mark.
    pub echo: bool,
}

impl Sender {
    //= specs/rfc9293.md#acceptance
    //# The send window is updated by no older segment than the last that did.
    //= specs/rfc7323.md#window-scale
    //# In all other segments the window field is shifted, to the right when sent and to the left when received.
    /// Step 1: updates the send window to the `wnd` bytes that a segment offers, if the segment is newer (RFC 9293 §3.10.7.4,
    /// fifth). An ACK that advances SND.UNA updates the window whatever SEG.SEQ is, since every earlier segment was sent before
    /// it: otherwise a forged number far ahead would close the window indefinitely.
    #[inline]
    pub fn update_window(&mut self, send: &SendConfig, repr: &TcpRepr, ack: SeqNum, wnd: Bytes) {
        let newer = self.space.is_news(repr.seq, ack);
        // Without progress in either direction a narrower window may come from an older segment.
        let doubtful = send.shrinking == WindowShrinking::WithProgress
            && self.space.repeats(repr.seq)
            && ack == self.space.una()
            && (1..self.space.wnd()).contains(&wnd);
        if newer && !doubtful && ack.at_or_after(self.space.una()) && !repr.flags.contains(Flags::SYN) {
            self.space.take_window(wnd, repr.seq, ack);
        }
    }

    //= specs/rfc2883.md#sender
    //# A duplicate report marks nothing on the scoreboard.
    /// Step 2: separates SACK, D-SACK and invalid blocks of a connection that uses `sack`, and passes each with its class to
    /// `judged`.
    #[inline]
    pub fn classify(
        &self,
        cfg: &ValidConfig,
        sack: bool,
        seg: &Segment<'_>,
        ack: SeqNum,
        mut judged: impl FnMut(SeqRange, BlockClass),
    ) -> Blocks {
        let mut out = Blocks::default();
        let wire_blocks = seg.repr.options.sack.as_slice();
        if wire_blocks.is_empty() || !sack {
            return out;
        }
        let classify = cfg.classify();
        out.total = wire_blocks.len() as u8;
        for (position, &block) in wire_blocks.iter().enumerate() {
            let about = BlockCx {
                seg_ack: ack,
                snd_una: self.space.una(),
                snd_nxt: self.space.nxt(),
                max_window: self.space.max_wnd(),
                position,
                second: if position == 0 { wire_blocks.get(1).copied() } else { None },
            };
            let class = classify(block, &about);
            judged(block, class);
            match class {
                BlockClass::Sack => {
                    out.genuine[out.count] = block;
                    out.count += 1;
                }
                BlockClass::Dsack => {
                    out.dsack = Some(block);
                    out.dsacks += 1;
                }
                BlockClass::Reject(_) => {}
            }
        }
        out
    }

    /// Returns evidence of reordering (RFC 4737), if a segment never retransmitted was delivered after one sent later. `fack` is
    /// the highest sequence number SACKed before this ACK.
    #[inline]
    pub fn overtaken(&self, d: &Delivered, fack: Option<SeqNum>) -> Option<Overtaken> {
        let fack = fack?;
        // The batch is in sequence order, so its first segment was overtaken by the most others.
        let late = d.batch.iter().find(|s| s.retransmits == 0).filter(|s| s.start.before(fack))?;
        let fack = self.rec.board.highest_sacked().unwrap_or(fack).max(fack);
        Some(Overtaken { extent: fack.distance_from(late.start), fack, end: late.xmit.end })
    }

    //= specs/rfc5681.md#fast-retransmit-and-fast-recovery
    //# Only an ACK without data, SYN, FIN or a new window, while data is outstanding, is a duplicate.
    /// Returns whether an ACK is a duplicate acknowledgement (RFC 5681 §2), for peers without SACK.
    pub fn is_duplicate_ack(&self, seg: &Segment<'_>, ack: SeqNum, wnd_before: Bytes) -> bool {
        ack == self.space.una()
            && seg.seq_len() == 0
            && self.space.wnd() == wnd_before
            && self.space.wnd() > 0
            && !self.rec.board.is_empty()
            && self.rec.probing() == Probing::Idle
    }

    /// Returns the detector's inputs at this moment.
    pub fn detect_cx(&self, now: Instant, tsecr: Option<u32>) -> DetectCx {
        DetectCx {
            now,
            smss: self.space.smss(),
            snd_una: self.space.una(),
            snd_nxt: self.space.nxt(),
            srtt: self.rec.rtt.srtt(),
            min_rtt: self.rec.rtt.min_rtt(),
            tsecr,
            arrival: Arrival::InTurn,
            episode: self.rec.episode().of_losses(),
        }
    }

    /// Returns the bytes that an ACK delivered. Without SACK a duplicate ACK delivers a segment, which a later ACK does not
    /// deliver again (RFC 6937 §2).
    pub fn delivered_by(&self, p: &Progress) -> Bytes {
        (p.delivered + self.rec.board.departed_bytes()).saturating_sub(p.departed_before)
    }

    /// Returns the bytes by which an ACK may open the window.
    fn counts_for_growth(&self, cfg: &Config, reordering_extent: Bytes, p: &Progress) -> Bytes {
        // More reordering than a loss detector by count tolerates.
        let reorders_widely =
            || reordering_extent > cfg.recovery.detector.dup_thresh().saturating_mul(self.space.smss());
        match cfg.cc.growth {
            GrowthCount::Acknowledged => p.acked,
            GrowthCount::Delivered if p.acked > 0 || reorders_widely() => self.delivered_by(p),
            GrowthCount::Delivered => 0,
        }
    }

    //= specs/rfc3168.md#sender
    //# An ACK that echoes a mark does not open the window.
    /// Step 8: passes the ACK to the controller. `reordering_extent` is the largest reordering seen on the path, in bytes.
    #[inline]
    pub fn inform_controller(
        &mut self,
        cfg: &Config,
        now: Instant,
        reordering_extent: Bytes,
        p: &Progress,
    ) -> Option<CcNote> {
        let episode = match self.rec.episode() {
            // RFC 3168 §6.1.2: an echo does not open the window.
            Episode::Cwr { .. } if p.echo || self.rec.reduction.is_some() => EpisodeKind::Recovery,
            Episode::Open | Episode::Cwr { .. } => EpisodeKind::Open,
            Episode::Recovery { .. } => EpisodeKind::Recovery,
            Episode::Loss { .. } => EpisodeKind::Loss,
        };
        let note = self.cc.on_ack(&AckSample {
            now,
            acked: self.counts_for_growth(cfg, reordering_extent, p),
            sacked: p.sacked,
            delivered: p.delivered,
            marked: if p.echo { p.delivered } else { 0 },
            newly_lost: p.newly_lost,
            pipe: self.rec.board.pipe(),
            prior_pipe: p.prior_pipe,
            rtt: p.rtt,
            srtt: self.rec.rtt.srtt(),
            min_rtt: self.rec.rtt.min_rtt(),
            rate: p.rate,
            total_delivered: self.rec.sampler.total_delivered(),
            snd_una: self.space.una(),
            snd_nxt: self.space.nxt(),
            episode,
            cwnd_limited: p.cwnd_limited,
        });
        if self.cc.limits_itself() {
            self.rec.sampler.on_app_limited(self.rec.board.pipe());
        }
        note
    }
}
