//! Measures how long a sender learns nothing: the time after acknowledgements whose SACK blocks report nothing the sender does not
//! know. A receiver causes it by discarding segments when it runs out of blocks.
//!
//! No counter of an endpoint shows this, so the run needs an observer, which costs a third of its speed; hence a separate
//! backend.

use crate::plan::RunSpec;
use crate::run::{Backend, Measured, RunFailure, simulate};
use base::{Duration, Instant};
use trace::{ConnId, Event, Observer};

/// The simulator, with an observer for acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub struct StaleSackBackend;

impl StaleSackBackend {
    /// Added to the run's digest, because its results contain more.
    pub const MAKER: &str = "the simulator, watched for stale SACKs";
}

impl Backend for StaleSackBackend {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let mut watch = Watch::default();
        let found = simulate(spec, &mut watch)?;
        Ok(Measured { stale_sack_ns: Some(watch.total.as_nanos()), ..found })
    }
}

/// Sums the time between an acknowledgement that reports nothing new and the next one that does.
#[derive(Debug, Default)]
struct Watch {
    /// Since when, and which connection learns nothing.
    since: Option<(Instant, ConnId)>,
    total: Duration,
}

impl Observer for Watch {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        match event {
            Event::SackReceived { news: false, .. } => self.since = self.since.or(Some((at, conn))),
            Event::SackReceived { .. } => self.end(at, conn),
            Event::AckProcessed { acked, .. } if acked > 0 => self.end(at, conn),
            _ => {}
        }
    }
}

impl Watch {
    fn end(&mut self, at: Instant, conn: ConnId) {
        if let Some((since, _)) = self.since.take_if(|(_, who)| *who == conn) {
            self.total += at.since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::SeqNum;

    fn sack(news: bool) -> Event {
        Event::SackReceived {
            ack: SeqNum(1),
            snd_una: SeqNum(1),
            snd_nxt: SeqNum(9),
            blocks: 1,
            dsacks: 0,
            news,
            sacked: 0,
            newly_sacked: 0,
            lost: 0,
            in_recovery: true,
            point: None,
        }
    }

    fn ack(acked: u32) -> Event {
        let ack = SeqNum(1);
        Event::AckProcessed { ack, acked, sacked: 0, lost: 0, dsack: None, rtt: None, pipe: 0, cwnd: 1 }
    }

    #[test]
    fn time_counts_from_the_first_stale_sack_until_something_new_is_reported() {
        let mut watch = Watch::default();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for (ms, conn, event) in [
            (10, 0, sack(true)),
            (20, 0, sack(false)),
            (30, 0, sack(false)),
            (35, 1, ack(5)),
            (40, 0, ack(0)),
            (50, 0, sack(true)),
            (60, 0, sack(false)),
            (75, 0, ack(1_460)),
            (90, 0, sack(false)),
        ] {
            watch.record(at(ms), ConnId(conn), event);
        }
        assert_eq!(watch.total, Duration::from_millis(45));
    }
}
