//! The congestion window in use (RFC 5681 §4.1, RFC 7661, RFC 2861 §3.2): how much of it was, what becomes of one that was not,
//! and what a pause does to it. [`crate::send::window`] keeps the books; the controller owns the window.

use super::Endpoint;
use crate::send::window::Standing;
use base::{Bytes, Instant};
use cc::IdleRestart;
use recovery::Episode;

impl Endpoint {
    /// Nothing more can leave for now: was the window used, and has a writer room again?
    #[inline]
    pub(super) fn after_run(&mut self, now: Instant) {
        let (window, smss) = (self.snd.cc.window(), self.snd.space.smss());
        let used = self.snd.usage.on_held(|| Standing {
            now,
            una: self.snd.space.una(),
            nxt: self.snd.space.nxt(),
            outstanding: self.snd.rec.board.len() as u32,
            in_flight: self.snd.rec.board.outstanding_segments(),
            cwnd: window.cwnd() / smss,
            in_slow_start: window.in_slow_start(),
            rto: self.snd.rec.rto.current().duration(),
        });
        if let Some(used) = used.filter(|_| self.cfg.cc.idle_restart == IdleRestart::HalvePerRto) {
            self.on_unused(now, used);
        }
        if self.cfg.cc.idle_restart == IdleRestart::HalvePerFiveMinutes {
            self.halve_if_unused(now);
        }
        // A write that was cut short makes no room by itself.
        let heard = core::mem::take(&mut self.snd.heard);
        if heard && self.snd.write_blocked && self.chunks_config().is_some() {
            self.make_room(now);
        }
    }

    /// The window was not filled for an RTO, and `used` segments of it were at most.
    fn on_unused(&mut self, now: Instant, used: u32) {
        let used =
            used.saturating_mul(self.snd.space.smss()).max(self.cfg.cc.initial_window.octets(self.snd.space.smss()));
        let cwnd = self.snd.cc.window().cwnd();
        if self.snd.rec.episode == Episode::Open && !self.snd.write_blocked && used < cwnd {
            self.snd.cc.on_unused(cwnd / 2 + used / 2);
        }
        self.snd.usage.restart(now);
    }

    /// Data is about to leave, and nothing is outstanding: what the pause before it does to the window.
    pub(super) fn restart_if_idle(&mut self, now: Instant) {
        match self.cfg.cc.idle_restart {
            IdleRestart::Off => {}
            IdleRestart::InitialWindow => self.restart_from_initial(now),
            IdleRestart::HalvePerRto => self.halve_per_rto(now),
            IdleRestart::HalvePerFiveMinutes => self.halve_if_unused(now),
        }
    }

    //= specs/rfc5681.md#restart-after-idle
    //# After more than an RTO without sending, the window is no larger than the initial one.
    fn restart_from_initial(&mut self, now: Instant) {
        let initial = self.cfg.cc.initial_window.octets(self.snd.space.smss());
        let idle = self.tally.since_data_sent(now) > self.snd.rec.rto.current().duration();
        if idle && self.snd.cc.window().cwnd() > initial {
            self.snd.cc.on_unused(initial);
        }
    }

    /// RFC 2861 §3.2: after a pause the window is halved for each RTO of it, but not below the initial one.
    fn halve_per_rto(&mut self, now: Instant) {
        let (mut idle, rto) = (self.tally.since_data_sent(now), self.snd.rec.rto.current().duration());
        if idle <= rto {
            return;
        }
        let mut halvings = 0;
        while idle > rto && halvings < Bytes::BITS {
            idle = idle.saturating_sub(rto);
            halvings += 1;
        }
        self.halve(halvings);
        self.snd.usage.restart(now);
    }

    /// RFC 7661 §4.4.3: the window is halved for each five minutes in which less than half of it was used.
    #[inline]
    fn halve_if_unused(&mut self, now: Instant) {
        if self.snd.rec.episode == Episode::Open {
            let periods = self.snd.usage.periods_unused(now);
            if periods > 0 {
                self.halve(periods);
            }
        }
    }

    /// Lowers the window by half so many times, but not below the initial one.
    fn halve(&mut self, times: u32) {
        let cwnd = self.snd.cc.window().cwnd();
        let floor = self.cfg.cc.initial_window.octets(self.snd.space.smss()).min(cwnd);
        self.snd.cc.on_unused(cwnd.checked_shr(times).unwrap_or(0).max(floor));
    }
}
