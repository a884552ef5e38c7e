//! Careful Resume at an endpoint: what it leaves to a later connection, and how it begins with what an earlier one left (RFC 9959). Who
//! remembers it in between, and for how long, is the caller's to decide.

use super::Endpoint;
use crate::config::Config;
use base::{Bytes, Rate};
use cc::{ControllerConfig, SavedPath};

/// A path is worth remembering from this many initial windows on (RFC 9959 §3.1).
const WORTH: Bytes = 4;

impl Endpoint {
    /// Lets a connection that has sent no data begin with what an earlier one found on the path. Returns whether it does: not after a lost
    /// SYN, and not with a controller that models the path.
    pub(crate) fn resume(&mut self, saved: &SavedPath) -> bool {
        let (smss, iss) = (self.snd.space.smss(), self.snd.space.iss());
        let reduced = self.snd.cc.window().cwnd() < self.cfg.cc.initial_window.bytes(smss);
        let models = self.cfg.cc.controller != ControllerConfig::LossBased;
        if self.counters().bytes_sent > 0 || reduced || models {
            return false;
        }
        let mut config = Config::clone(&self.cfg);
        config.cc.resume = Some(*saved);
        let Ok(config) = config.validate() else { return false };
        self.snd.cc = cc::build(&config.cc, smss, iss);
        self.cfg = config;
        true
    }

    /// Returns what a later connection may begin with: what the path delivered in a round trip without a queue, by the latest meaningful
    /// delivery rate. `None` if that is too little to be worth it.
    pub fn saved_path(&self) -> Option<SavedPath> {
        let (bytes, time) = self.stats.rate();
        let rtt = self.snd.rec.rtt.min_rtt().filter(|rtt| !rtt.is_zero())?;
        let delivered = Rate::from_delivery(bytes, time)?.bytes_in(rtt);
        let cwnd = Bytes::try_from(delivered).unwrap_or(Bytes::MAX);
        let least = self.cfg.cc.initial_window.bytes(self.snd.space.smss()).saturating_mul(WORTH);
        (cwnd >= least).then_some(SavedPath { cwnd, rtt })
    }
}
