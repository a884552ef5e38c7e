//! ProbeRTT: now and then little is in flight, so that the round trip shows itself without a queue (draft §5.3.4); and what a
//! pause changes (draft §5.4.1).

use super::Bbr3;
use super::state::{ProbeRtt, State};
use crate::sample::{AckSample, FlightStart};
use base::{Duration, Instant};

/// How long little stays in flight, at least.
const HOLD: Duration = Duration::from_millis(200);

impl Bbr3 {
    /// Step 10: whether to begin or end a ProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, ack: &AckSample) {
        if self.state != State::ProbeRtt && self.min_rtt.expired() && !self.idle_restart {
            self.prior_cwnd = self.cwnd_to_save();
            self.probing.stop();
            self.rounds.restart(self.delivered);
            self.probe_rtt = ProbeRtt::Draining;
            self.state = State::ProbeRtt;
        }
        if self.state == State::ProbeRtt {
            self.advance_probe_rtt(ack.now);
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn advance_probe_rtt(&mut self, now: Instant) {
        match self.probe_rtt {
            ProbeRtt::Draining if self.pipe <= self.probe_rtt_cwnd() => {
                self.probe_rtt = ProbeRtt::Holding { until: now + HOLD, round_over: false };
                self.rounds.restart(self.delivered);
            }
            ProbeRtt::Draining => {}
            ProbeRtt::Holding { until, round_over } => {
                let round_over = round_over || self.rounds.starts();
                self.probe_rtt = ProbeRtt::Holding { until, round_over };
                if round_over {
                    self.leave_probe_rtt_in_time(now);
                }
            }
        }
    }

    /// Leaves ProbeRTT if little was in flight for long enough.
    fn leave_probe_rtt_in_time(&mut self, now: Instant) {
        let ProbeRtt::Holding { until, .. } = self.probe_rtt else { return };
        if now <= until {
            return;
        }
        self.min_rtt.renew(now);
        self.short = Default::default();
        if self.was_full {
            self.enter_down(now);
            self.enter_cruise();
        } else {
            self.enter_startup();
        }
        self.restore_cwnd();
    }

    /// Prepares the first departure of a flight.
    pub(super) fn begin_flight(&mut self, start: &FlightStart) {
        self.pipe = 0;
        if self.delivered == 0 && self.min_rtt.get().is_none() {
            self.min_rtt.begin(start.now, start.srtt);
            self.extra_acked.restart(start.now);
            self.output.begin(self.initial_cwnd, start.srtt, self.window.smss());
        }
        if !start.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(start.now);
        if self.state.probes_bandwidth() {
            self.set_rate_at((1, 1));
        } else if self.state == State::ProbeRtt {
            self.leave_probe_rtt_in_time(start.now);
        }
    }
}
