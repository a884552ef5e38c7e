//! The congestion window in use (RFC 7661, RFC 2861 §3.2): how much of it was, what becomes of one that was not, and what a pause
//! does to it. [`crate::send::window`] keeps the books; the controller owns the window.

use super::Endpoint;
use crate::send::window::Standing;
use base::Instant;
use cc::IdleRestart;
use recovery::Episode;

impl Endpoint {
    /// Nothing more can leave for now: was the window used, and has a writer room again?
    #[inline]
    pub(super) fn after_run(&mut self, now: Instant) {
        let (window, smss) = (self.cc.window(), self.snd.smss);
        let used = self.usage.on_held(|| Standing {
            now,
            una: self.snd.una,
            nxt: self.snd.nxt,
            outstanding: self.rec.board.len() as u32,
            in_flight: self.rec.board.outstanding_segments(),
            cwnd: window.cwnd() / smss,
            in_slow_start: window.in_slow_start(),
            rto: self.rec.rto.current().duration(),
        });
        if let Some(used) = used.filter(|_| self.cfg.cc.idle_restart == IdleRestart::HalvePerRto) {
            self.on_unused(now, used);
        }
        // A write that was cut short makes no room by itself.
        let heard = core::mem::take(&mut self.heard);
        if heard && self.write_blocked && self.chunks_config().is_some() {
            self.make_room(now);
        }
    }

    /// The window was not filled for an RTO, and `used` segments of it were at most.
    fn on_unused(&mut self, now: Instant, used: u32) {
        let used = used.saturating_mul(self.snd.smss).max(self.cfg.cc.initial_window.octets(self.snd.smss));
        let cwnd = self.cc.window().cwnd();
        if self.rec.episode == Episode::Open && !self.write_blocked && used < cwnd {
            self.cc.on_unused(cwnd / 2 + used / 2);
        }
        self.usage.restart(now);
    }

    /// RFC 2861 §3.2: after a pause the window is halved for each RTO of it, but not below the initial one.
    pub(super) fn restart_if_idle(&mut self, now: Instant) {
        if self.cfg.cc.idle_restart == IdleRestart::Off {
            return;
        }
        let (mut idle, rto) = (self.tally.since_data_sent(now), self.rec.rto.current().duration());
        if idle <= rto {
            return;
        }
        let mut cwnd = self.cc.window().cwnd();
        let floor = self.cfg.cc.initial_window.octets(self.snd.smss).min(cwnd);
        while idle > rto && cwnd > floor {
            idle = idle.saturating_sub(rto);
            cwnd /= 2;
        }
        self.cc.on_unused(cwnd.max(floor));
        self.usage.restart(now);
    }
}
