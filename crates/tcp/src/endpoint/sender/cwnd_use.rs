//! Usage of the congestion window (RFC 5681 §4.1, RFC 7661, RFC 2861 §3.2): how much of it was used, and how it shrinks when it
//! stays unused or after a pause. [`crate::send::window`] keeps the counts; the controller owns the window.

use super::Sender;
use crate::config::Config;
use crate::send::window::Standing;
use base::{Bytes, Duration, Instant};
use cc::IdleRestart;
use recovery::Episode;

impl Sender {
    /// Records how much of the window was used, when nothing more can leave. Returns whether to wake a writer.
    #[inline]
    pub fn on_held(&mut self, cfg: &Config, now: Instant) -> bool {
        let standing = || {
            let window = self.cc.window();
            Standing {
                now,
                una: self.space.una(),
                nxt: self.space.nxt(),
                outstanding: self.rec.board.len() as u32,
                in_flight: self.rec.board.outstanding_segments(),
                cwnd: window.cwnd() / self.space.smss(),
                in_slow_start: window.in_slow_start(),
                rto: self.rec.rto.current().duration(),
            }
        };
        let used = self.usage.on_held(standing);
        if let Some(used) = used.filter(|_| cfg.cc.idle_restart == IdleRestart::HalvePerRto) {
            self.on_unused(cfg, now, used);
        }
        if cfg.cc.idle_restart == IdleRestart::HalvePerFiveMinutes {
            self.halve_if_unused(cfg, now);
        }
        // A write that was cut short makes no room.
        let heard = self.buffer.take_heard();
        heard && self.wakes_on_held(cfg, now)
    }

    /// Shrinks a window that was not filled for an RTO; at most `used` segments of it were used.
    fn on_unused(&mut self, cfg: &Config, now: Instant, used: u32) {
        let used = used.saturating_mul(self.space.smss()).max(cfg.cc.initial_window.bytes(self.space.smss()));
        let cwnd = self.cc.window().cwnd();
        if self.rec.episode() == Episode::Open && !self.buffer.writer_waits() && used < cwnd {
            self.cc.on_unused(cwnd / 2 + used / 2);
        }
        self.usage.restart(now);
    }

    /// Applies the effect of a pause of `idle` to the window, before data leaves while nothing is outstanding.
    pub fn restart_if_idle(&mut self, cfg: &Config, now: Instant, idle: Duration) {
        match cfg.cc.idle_restart {
            IdleRestart::Off => {}
            IdleRestart::InitialWindow => self.restart_from_initial(cfg, idle),
            IdleRestart::HalvePerRto => self.halve_per_rto(cfg, now, idle),
            IdleRestart::HalvePerFiveMinutes => self.halve_if_unused(cfg, now),
        }
    }

    //= specs/rfc5681.md#restart-after-idle
    //# After more than an RTO without sending, the window is no larger than the initial one.
    fn restart_from_initial(&mut self, cfg: &Config, idle: Duration) {
        let initial = cfg.cc.initial_window.bytes(self.space.smss());
        let paused = idle > self.rec.rto.current().duration();
        if paused && self.cc.window().cwnd() > initial {
            self.cc.on_unused(initial);
        }
    }

    /// RFC 2861 §3.2: halves the window for each RTO of a pause, down to the initial window.
    fn halve_per_rto(&mut self, cfg: &Config, now: Instant, mut idle: Duration) {
        let rto = self.rec.rto.current().duration();
        if idle <= rto {
            return;
        }
        let mut halvings = 0;
        while idle > rto && halvings < Bytes::BITS {
            idle = idle.saturating_sub(rto);
            halvings += 1;
        }
        self.halve(cfg, halvings);
        self.usage.restart(now);
    }

    /// RFC 7661 §4.4.3: halves the window for each five minutes in which less than half of it was used.
    #[inline]
    fn halve_if_unused(&mut self, cfg: &Config, now: Instant) {
        if self.rec.episode() == Episode::Open {
            let periods = self.usage.periods_unused(now);
            if periods > 0 {
                self.halve(cfg, periods);
            }
        }
    }

    /// Halves the window this many times, down to the initial window.
    fn halve(&mut self, cfg: &Config, times: u32) {
        let cwnd = self.cc.window().cwnd();
        let floor = cfg.cc.initial_window.bytes(self.space.smss()).min(cwnd);
        self.cc.on_unused(cwnd.checked_shr(times).unwrap_or(0).max(floor));
    }
}
