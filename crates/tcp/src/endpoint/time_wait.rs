//! TIME-WAIT and the connection that may come after (RFC 9293 §3.6.1, RFC 6191, RFC 1337).
//!
//! Old segments are waited out for twice their lifetime. A new connection between the same addresses and ports need not
//! wait where its numbers distinguish its segments from the old ones: the peer's SYN by its timestamp or its sequence number,
//! ours by both.
//!
//! Deviations: a SYN that is found too old is answered with a challenge ACK, as RFC 9293 §3.10.7.4 asks, and not in
//! silence (RFC 6191 §2). And once a SYN was taken, TIME-WAIT cannot resume, although RFC 9293 asks for that where sequence
//! numbers alone decide: the peer that sent the old SYN resets its duplicate, and the wait is over then.

use super::{Endpoint, News, State};
use crate::config::TimeWaitReuse;
use crate::cx::Cx;
use crate::event::CloseReason;
use crate::timers::TimerKind;
use base::{Instant, SeqNum};
use trace::Observer;
use wire::TcpRepr;

/// What the next connection between the same addresses and ports has to know of the last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Predecessor {
    snd_nxt: SeqNum,
    recent: Option<u32>,
}

impl Predecessor {
    /// Room between the last connection's numbers and the next one's, beyond any window without scaling.
    const GAP: u32 = 1 << 16;

    //= specs/rfc9293.md#time-wait
    //# The connection that follows begins beyond the sequence numbers of the last.
    /// The initial sequence number, given what the clock and the hash say. They have nearly always passed the old
    /// connection; only one that sent faster than the clock ticks is ahead of them.
    pub fn iss(&self, proposed: SeqNum) -> SeqNum {
        if proposed.after(self.snd_nxt) { proposed } else { self.snd_nxt + Self::GAP }
    }
}

impl Endpoint {
    //= specs/rfc9293.md#closing
    //# Who closes first waits in TIME-WAIT for twice the maximum segment lifetime.
    pub(super) fn enter_time_wait<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        self.set_state(cx, State::TimeWait);
        self.timers.stop_all();
        self.life.close(CloseReason::Normal);
        self.pending.add(News::Closed);
        self.restart_time_wait(cx);
    }

    pub(super) fn restart_time_wait<O: Observer>(&mut self, cx: &mut Cx<'_, O>) {
        self.arm(cx, TimerKind::TimeWait, cx.now + self.cfg.timers.time_wait);
    }

    //= specs/rfc6191.md#table
    //# With timestamps on both, a SYN with a later timestamp is taken.
    //= specs/rfc6191.md#table
    //# With timestamps on both, a SYN with the same timestamp is taken if its sequence number is beyond the last one seen.
    //= specs/rfc6191.md#table
    //# A SYN without timestamps is taken if its sequence number is beyond the last one seen.
    //= specs/rfc6191.md#table
    //# After a connection without timestamps, a SYN with them is taken.
    //= specs/rfc6191.md#table
    //# Any other SYN leaves the connection in TIME-WAIT.
    /// Whether a SYN may end the wait (RFC 6191 §2). `timestamps` says whether the new connection would use those that the
    /// SYN offers.
    pub(crate) fn yields_to(&self, syn: &TcpRepr, timestamps: bool) -> bool {
        let beyond = syn.seq.at_or_after(self.rcv.rcv_nxt());
        let offered = syn.options.timestamps.filter(|_| timestamps);
        let recent = self.ts.recent().filter(|_| self.neg.timestamps);
        self.life.state() == State::TimeWait
            && match (recent, offered) {
                (Some((recent, _)), Some(offered)) => match offered.tsval.wrapping_sub(recent) as i32 {
                    later if later > 0 => true,
                    same => same == 0 && beyond,
                },
                (None, Some(_)) => true,
                (_, None) => beyond,
            }
    }

    /// Whether a connection that is opened here may end the wait now.
    pub(crate) fn yields_to_active_open(&self, reuse: TimeWaitReuse, now: Instant) -> bool {
        match (reuse, self.timers.deadline(TimerKind::TimeWait)) {
            (TimeWaitReuse::After(wait), Some(end)) => {
                // The wait ends `time_wait` after it began.
                self.neg.timestamps && now + self.cfg.timers.time_wait >= end + wait
            }
            _ => false,
        }
    }

    /// Ends the wait for the sake of the next connection.
    pub(crate) fn yield_to_next<O: Observer>(&mut self, cx: &mut Cx<'_, O>) -> Predecessor {
        self.finish(cx, CloseReason::Normal);
        Predecessor { snd_nxt: self.snd.space.nxt(), recent: self.ts.recent().map(|(tsval, _)| tsval) }
    }

    /// Goes on where `last` ended: the first SYN echoes the peer's last timestamp, which lets the peer, that may have been
    /// slower to forget, recognise it.
    pub(crate) fn succeed<O: Observer>(&mut self, cx: &mut Cx<'_, O>, last: &Predecessor) {
        if let Some(recent) = last.recent {
            self.ts.on_syn(recent, cx.now);
        }
    }
}
