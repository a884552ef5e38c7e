//! Reports of an endpoint: counters, the snapshot for monitoring programs, and the invariants that must hold between any two
//! calls. `audit` recomputes them from scratch in O(window), so only checkers call it. Changes no state.

use super::counters::{RareStatistics, RateOf, Statistics, TimeAccounts};
use super::labels;
use super::queues::{FinProgress, Queues};
use crate::config::ValidConfig;
use crate::endpoint::life::Life;
use crate::endpoint::receiver::Receiver;
use crate::endpoint::sender::Sender;
use crate::endpoint::state::{Probing, SendSide, State};
use crate::info::{CongestionState, Counters, Details, FlightSegments, RateLimit, TcpInfo};
use crate::options::Negotiated;
use base::{Bytes, Instant, Rate};
use recovery::{Episode, Mark};

/// The parts of a connection that an account reads.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Account<'a> {
    pub cfg: &'a ValidConfig,
    pub life: &'a Life,
    pub neg: &'a Negotiated,
    pub snd: &'a Sender,
    pub rcv: &'a Receiver,
    pub stats: &'a Statistics,
    /// Whether data in a SYN was accepted, on either side.
    pub syn_data_taken: bool,
}

/// Values that the network layer and the clock add.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct Around {
    pub path_mtu: u16,
    pub advertised_mss: u16,
    /// The timestamp that a segment would carry now.
    pub timestamp: u32,
}

impl Account<'_> {
    /// Returns totals since the connection began.
    #[inline]
    pub fn counters(&self) -> Counters {
        let none = RareStatistics::default();
        let rare = self.stats.rare().unwrap_or(&none);
        Counters {
            segments_sent: self.stats.segments_sent(),
            segments_received: self.stats.segments_received(),
            bytes_sent: self.snd.buffer.start_offset() + u64::from(self.sent_in_buffer()) + rare.bytes_retransmitted,
            bytes_retransmitted: rare.bytes_retransmitted,
            bytes_acked: self.snd.buffer.start_offset(),
            bytes_received: self.rcv.received(),
            data_segments_sent: self.stats.data_segments_sent,
            data_segments_received: self.stats.data_segments_received,
            segments_retransmitted: rare.segments_retransmitted,
            segments_delivered: self.stats.delivered_segments,
            segments_out_of_order: rare.out_of_order_segments,
            episodes: rare.episodes,
            fast_retransmits: rare.fast_retransmits,
            episodes_without_timeout: rare.episodes_without_timeout,
            timeouts: rare.timeouts,
            lost_retransmissions: rare.lost_retransmissions,
            probes: rare.probes,
            undone: rare.undone,
            bytes_lost: rare.bytes_lost,
            dsacks_received: rare.dsacks_received,
            dsacks_sent: rare.dsacks_sent,
            sacks_received: rare.sacks_received,
            stale_sacks: rare.stale_sacks,
            dropped: rare.dropped,
        }
    }

    /// Returns a snapshot for people and checkers.
    pub fn info(&self) -> TcpInfo {
        let window = self.snd.cc.window();
        TcpInfo {
            state: self.life.state(),
            closed: self.life.closed(),
            smss: self.snd.space.smss(),
            cwnd: window.cwnd(),
            ssthresh: window.ssthresh(),
            pipe: self.snd.rec.board.pipe(),
            flight_size: self.snd.space.flight_size(),
            snd_wnd: self.snd.space.wnd(),
            rcv_wnd: self.rcv.shown_window(),
            srtt: self.snd.rec.rtt.srtt(),
            rttvar: self.snd.rec.rtt.rttvar(),
            min_rtt: self.snd.rec.rtt.min_rtt(),
            reo_wnd_mult: self.snd.rec.detector.reordering().map(|state| state.multiplier),
            rto: self.snd.rec.rto.current().duration(),
            episode: labels::episode(self.snd.rec.episode()),
            readable: self.rcv.readable(),
            mismatches: self.rcv.mismatches(),
            negotiated: (self.neg.sack, self.neg.timestamps, self.neg.scaling),
            ecn: self.stats.ecn(self.neg.ecn),
            syn_data_taken: self.syn_data_taken,
            resumption: self.snd.cc.resumption(),
            counters: self.counters(),
        }
    }

    /// Returns the sent payload bytes of the send buffer: SYN and FIN have sequence numbers, but no place in it.
    fn sent_in_buffer(&self) -> Bytes {
        let syn = u32::from(self.snd.syn_is_out());
        self.snd.space.flight_size().saturating_sub(syn).min(self.snd.buffer.len())
    }

    /// Returns all statistics of the connection. Iterates over the flight: call it occasionally, not for each ACK.
    pub fn details(&self, now: Instant, around: &Around) -> Details {
        let none = RareStatistics::default();
        let rare = self.stats.rare().unwrap_or(&none);
        let TimeAccounts { busy, window: window_limited, buffer } = self.stats.time_accounts(now);
        let (rate_bytes, rate_time) = self.stats.rate();
        Details {
            info: self.info(),
            origin: self.life.origin(),
            congestion: self.congestion_state(),
            window: match &self.snd.rec.reduction {
                Some(reduction) => self.snd.rec.board.pipe() + reduction.quota(),
                None => self.snd.cc.window().cwnd(),
            },
            consecutive_timeouts: self.snd.rec.retries(),
            window_probes: match self.snd.rec.probing() {
                Probing::Idle => 0,
                Probing::Waiting(probes) | Probing::Due(probes) => probes,
            },
            back_off: self.back_off(),
            shifts: self.neg.scaling.then_some((self.neg.snd_shift, self.neg.rcv_shift)),
            ack_delay: self.rcv.ack_delay(&self.cfg.ack),
            rmss: self.rcv.largest_segment(),
            advertised_mss: around.advertised_mss,
            timestamp: around.timestamp,
            path_mtu: around.path_mtu,
            flight: self.flight_segments(),
            unsent: self.snd.buffer.len() - self.sent_in_buffer(),
            send_buffer: self.snd.buffer.capacity(),
            send_memory: self.snd.queued_memory(self.cfg),
            since_data_sent: self.stats.since_data_sent(now),
            since_data_received: self.stats.since_data_received(now),
            since_ack_received: self.stats.since_ack_received(now),
            receive_limit: self.rcv.window_limit(),
            receive_memory: self.rcv.frame_memory(),
            receiver_rtt: self.rcv.rtt(),
            receiver_space: self.rcv.taken_in_round_trip(),
            reordering_extent: rare.reordering_extent,
            reorderings: rare.reorderings,
            pacing: self.snd.cc.pacing(),
            delivery_rate: Rate::from_delivery(rate_bytes, rate_time),
            rate_limit: match self.stats.rate_of {
                RateOf::Path => RateLimit::Path,
                RateOf::Application => RateLimit::Application,
            },
            busy,
            window_limited,
            buffer_limited: buffer,
            all_timeouts: rare.all_timeouts,
            timeout_recoveries: rare.timeout_recoveries,
            timeout_time: rare.timeout_time(now),
        }
    }

    fn congestion_state(&self) -> CongestionState {
        let board = &self.snd.rec.board;
        match self.snd.rec.episode() {
            Episode::Cwr { .. } => CongestionState::Cwr,
            Episode::Recovery { .. } => CongestionState::Recovery,
            Episode::Loss { .. } => CongestionState::Loss,
            Episode::Open if board.sacked_bytes() + board.departed_bytes() > 0 => CongestionState::Disorder,
            Episode::Open => CongestionState::Open,
        }
    }

    /// Returns how often the timeout in force was doubled.
    fn back_off(&self) -> u32 {
        let (base, now) = (self.snd.rec.rtt.rto(&self.cfg.rto).duration(), self.snd.rec.rto.current().duration());
        (0..32).find(|&n| base.scale(1 << n, 1) >= now).unwrap_or(32)
    }

    fn flight_segments(&self) -> FlightSegments {
        let board = &self.snd.rec.board;
        let mut out = FlightSegments { outstanding: board.len() as u32, ..FlightSegments::default() };
        let Some(first) = board.first() else { return out };
        for number in 0..board.len() as u64 {
            let Some(segment) = board.get(recovery::SegmentId(first.id.0 + number)) else { break };
            match segment.mark {
                Mark::Sacked => out.sacked += 1,
                Mark::Lost => out.lost += 1,
                Mark::Outstanding if segment.retransmits > 0 => out.retransmitted += 1,
                Mark::Outstanding => {}
            }
        }
        if self.snd.rec.episode() != Episode::Open {
            // A segment that was lost and retransmitted counts as both until it is acknowledged. Outside an episode it was a
            // probe.
            out.lost += out.retransmitted;
        }
        out
    }

    /// Returns the bytes that wait in the buffers.
    pub fn queues(&self) -> Queues {
        let fin = match self.snd.space.side() {
            SendSide::Open => FinProgress::Open,
            SendSide::FinQueued => FinProgress::Queued,
            // The FIN is the last thing in flight.
            SendSide::FinSent if self.snd.space.una() == self.snd.space.nxt() => FinProgress::Acknowledged,
            SendSide::FinSent => FinProgress::Sent,
        };
        Queues {
            readable: self.rcv.readable(),
            fin_received: self.rcv.fin_received(),
            unacknowledged: self.snd.buffer.len(),
            unsent: self.snd.buffer.len() - self.sent_in_buffer(),
            room: self.snd.buffer.capacity().saturating_sub(self.snd.queued_memory(self.cfg)),
            fin,
        }
    }

    /// Returns the bytes of the boxes of both halves and of the counters.
    pub fn heap_size(&self) -> usize {
        let reduction = self.snd.rec.reduction.as_ref().map_or(0, |reduction| reduction.state_size());
        let boxes = self.snd.cc.state_size() + self.snd.rec.detector.state_size() + reduction;
        let delivered = self.snd.rec.delivered.as_deref().map_or(0, |d| size_of_val(d) + d.heap_size());
        let undo = self.snd.rec.undo.as_deref().map_or(0, |undo| size_of_val(undo) + undo.heap_size());
        let pacer = self.snd.pacer.as_deref().map_or(0, size_of_val);
        self.snd.rec.rtt.heap_size()
            + self.stats.heap_size()
            + self.rcv.heap_size()
            + pacer
            + self.snd.segmenter_heap_size()
            + undo
            + boxes
            + self.snd.rec.board.heap_size()
            + delivered
    }

    /// Checks the invariants of the connection; `timer_runs` says whether any timer runs.
    ///
    /// # Errors
    /// Names the violated invariant and its numbers.
    pub fn audit(&self, timer_runs: bool) -> Result<(), String> {
        let (pipe, recount) = (self.snd.rec.board.pipe(), self.snd.rec.board.recount_pipe());
        let smss = self.snd.space.smss();
        let cwnd = self.snd.cc.window().cwnd();
        let (flight, buffered) = (self.snd.space.flight_size(), self.snd.buffer.len());
        let synchronized = self.life.state().is_synchronized();
        let watched =
            self.life.state() == State::Closed || self.snd.rec.board.is_empty() || !self.life.state().may_send();
        let reduces = match self.snd.rec.episode() {
            Episode::Recovery { .. } => !self.snd.cc.governs_recovery(),
            // The configuration decides whether a reduction follows a mark.
            Episode::Cwr { .. } => self.snd.rec.reduction.is_some(),
            Episode::Open | Episode::Loss { .. } => false,
        };
        // Formats the numbers only when an invariant is violated.
        let problem = if pipe != recount {
            format!("pipe is {pipe} but the scoreboard adds up to {recount}")
        } else if self.snd.space.una().after(self.snd.space.nxt()) {
            "SND.UNA is beyond SND.NXT".to_owned()
        } else if pipe > flight && !self.snd.syn_is_out() {
            format!("pipe {pipe} exceeds the flight {flight}")
        } else if synchronized && cwnd < smss {
            format!("cwnd {cwnd} is below one segment of {smss}")
        } else if synchronized && flight > buffered + 1 {
            format!("{flight} bytes are in flight but only {buffered} are buffered")
        } else if reduces != self.snd.rec.reduction.is_some() {
            format!(
                "a reduction rules is {} in the episode {}",
                !reduces,
                labels::episode(self.snd.rec.episode()).name()
            )
        } else if self.life.state() == State::Closed && timer_runs {
            "a timer runs in CLOSED".to_owned()
        } else if !watched && !timer_runs {
            "data is in flight and no timer runs".to_owned()
        } else {
            return Ok(());
        };
        Err(format!(
            "{problem} (state {}, una {}, nxt {})",
            self.life.state().name(),
            self.snd.space.una(),
            self.snd.space.nxt()
        ))
    }
}
