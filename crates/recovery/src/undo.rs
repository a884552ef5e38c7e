//! Detects that an episode's reduction was unnecessary (RFC 2883 §5, RFC 3522, RFC 3708, RFC 5682).
//!
//! Decides *when*; `CongestionControl::undo` knows *how*. An episode was spurious if every one of its retransmissions proves
//! needless: the receiver reported it as a duplicate (D-SACK, RFC 3708 §2), or the acknowledgement that delivered the segment
//! answers the original: its echoed timestamp is older than the copy (Eifel, RFC 3522 §3.2) or, if configured, it came in less
//! than half the minimum RTT after the copy left. A receiver that delays its ACKs makes every round trip of single segments look
//! long, but answers at once a segment that fills a hole; so the path must also be known from segments that arrived above a hole.
//! [`Frto`] proves a spurious timeout as a whole.
//!
//! One record per episode, kept a little beyond its end because duplicates are reported a round trip later. Episodes with more
//! than `CAPACITY` retransmissions in doubt at once are not undone.
//! Deviations: RFC 3522 judges by the first retransmission alone; here all of them must prove needless, so that a real loss
//! beside a delay keeps its consequence. The half-RTT rule is RFC 8985's (§6.2, step 2) for distinguishing copies without
//! timestamps, with a margin for paths that became faster.

use crate::detect::DetectCx;
use crate::detect::rack::config::EarlyAnswer;
use crate::detect::rack::rules::{echo_of, is_early, is_older};
use crate::frto::Frto;
use crate::scoreboard::SentSegment;
use base::{Duration, SeqNum, SeqRange};

/// Most retransmissions in doubt.
const CAPACITY: usize = 256;

/// Which evidence undoes a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UndoConfig {
    /// Duplicate reports.
    pub dsack: DsackUndo,
    /// Answers that came too early to belong to a retransmission.
    pub eifel: Eifel,
    /// Examination of timeouts.
    pub frto: FrtoDetection,
}

/// Undo by duplicate reports (RFC 3708).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DsackUndo {
    /// No.
    #[default]
    Off,
    /// When every retransmission of the episode was reported.
    On,
}

/// Undo by identifying the copy that was answered (RFC 3522).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Eifel {
    /// No.
    #[default]
    Off,
    /// By the echoed timestamp.
    Timestamps,
    /// Also by an answer in less than half the minimum RTT, and in less than half that of any SACKed segment.
    TimestampsOrRtt,
}

/// F-RTO (RFC 5682).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrtoDetection {
    /// No.
    #[default]
    Off,
    /// Examines timeouts that begin an episode.
    On,
}

impl UndoConfig {
    /// Returns whether no record needs to be kept.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

/// What proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Duplicate reports.
    Dsack,
    /// An answer to an original.
    Eifel,
    /// The original flight arrived after a timeout.
    Frto,
}

/// Whether all retransmissions in doubt are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hope {
    /// Nothing was retransmitted yet.
    NothingSent,
    /// They are.
    Open,
    /// There were too many.
    Gone,
}

/// The record of one episode.
#[derive(Clone, Debug)]
pub struct Undo {
    /// Retransmissions not proven needless.
    doubtful: Vec<SeqRange>,
    hope: Hope,
    /// The record can be dropped once this is acknowledged; `None` during the episode.
    until: Option<SeqNum>,
    /// Minimum round trip of ACKs that no receiver delays, before the episode.
    prompt_rtt: Option<Duration>,
    /// The examination of the timeout that began the episode.
    pub frto: Frto,
}

impl Undo {
    /// Begins an episode. `prompt_rtt` is the minimum round trip so far of ACKs that no receiver delays.
    pub const fn new(frto: Frto, prompt_rtt: Option<Duration>) -> Self {
        Self { doubtful: Vec::new(), hope: Hope::NothingSent, until: None, prompt_rtt, frto }
    }

    /// Notes a retransmission during the episode.
    pub fn on_retransmitted(&mut self, range: SeqRange) {
        match self.hope {
            Hope::Gone => {}
            _ if self.doubtful.len() == CAPACITY => {
                self.hope = Hope::Gone;
                self.doubtful = Vec::new();
            }
            Hope::NothingSent | Hope::Open => {
                self.hope = Hope::Open;
                self.doubtful.push(range);
            }
        }
    }

    /// Ends the episode with `snd_nxt` sent: reports of its duplicates may still arrive.
    pub fn on_exit(&mut self, snd_nxt: SeqNum) {
        (self.until, self.frto) = (Some(snd_nxt), Frto::Idle);
    }

    /// Returns whether no further report is awaited: data sent after the episode is acknowledged.
    #[inline]
    pub fn is_stale(&self, snd_una: SeqNum) -> bool {
        self.until.is_some_and(|until| snd_una.after(until))
    }

    //= specs/rfc9438.md#spurious-congestion-events
    //# Spurious fast retransmits are detected.
    /// Evaluates an acknowledgement: its duplicate report, and what it newly delivered.
    pub fn on_ack(
        &mut self,
        config: &UndoConfig,
        dsack: Option<SeqRange>,
        delivered: &[SentSegment],
        cx: &DetectCx,
    ) -> Option<Proof> {
        if self.hope == Hope::NothingSent && self.until.is_some() {
            return (config.eifel != Eifel::Off).then_some(Proof::Eifel);
        }
        if self.hope != Hope::Open {
            return None;
        }
        let mut proof = None;
        if let Some(range) = dsack.filter(|_| config.dsack == DsackUndo::On) {
            proof = self.clear(range).then_some(Proof::Dsack);
        }
        if config.eifel != Eifel::Off {
            for (index, segment) in delivered.iter().enumerate() {
                let echo = echo_of(index, segment, cx);
                if answers_original(config.eifel, segment, echo, self.prompt_rtt, cx) && self.clear(segment.range()) {
                    proof = Some(Proof::Eifel);
                }
            }
        }
        proof.filter(|_| self.doubtful.is_empty())
    }

    /// Removes what lies inside `range` from the list; returns whether there was any. A range listed twice was sent twice, and
    /// one report covers one copy.
    fn clear(&mut self, range: SeqRange) -> bool {
        let found = self.doubtful.iter().position(|doubtful| range.covers(*doubtful));
        let Some(mut at) = found else { return false };
        let mut last = None;
        while let Some(&doubtful) = self.doubtful.get(at) {
            if range.covers(doubtful) && last != Some(doubtful) {
                self.doubtful.remove(at);
                last = Some(doubtful);
            } else {
                at += 1;
            }
        }
        true
    }

    /// Bytes behind this.
    pub fn heap_size(&self) -> usize {
        self.doubtful.capacity() * size_of::<SeqRange>()
    }
}

/// Returns whether the original delivered this segment, which was sent twice in all.
fn answers_original(
    eifel: Eifel,
    segment: &SentSegment,
    echo: Option<u32>,
    prompt_rtt: Option<Duration>,
    cx: &DetectCx,
) -> bool {
    if segment.retransmits != 1 {
        return false;
    }
    match echo {
        // An echo is more reliable than a clock.
        Some(tsecr) => is_older(tsecr, segment.tsval),
        None => {
            let undelayed = prompt_rtt.is_some_and(|prompt| cx.now.since(segment.xmit.at) < prompt / 2);
            eifel == Eifel::TimestampsOrRtt && undelayed && is_early(segment, EarlyAnswer::HalfMinRtt, cx)
        }
    }
}

#[cfg(test)]
mod tests;
