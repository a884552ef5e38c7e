//! The flows' own parts of a path, behind the part that all share: each delays by its own amount and keeps the order.

use crate::packet::Parcel;
use base::{Duration, Instant};
use std::collections::VecDeque;

/// The server of flow `f` listens on this port plus `f`.
pub(crate) const FIRST_PORT: u16 = 5_001;

/// Lines of equal delay. Their packets wait in the order in which they came, so that the first of each line is due first.
#[derive(Debug)]
pub(crate) struct Access {
    lines: Vec<Line>,
    /// Each flow's line.
    of_flow: Vec<usize>,
    /// Port of the first flow's server; the others follow.
    first_port: u16,
}

#[derive(Debug)]
struct Line {
    delay: Duration,
    waiting: VecDeque<(Instant, Parcel)>,
}

impl Access {
    /// Creates lines for flows with these delays; `None` if all are zero.
    pub(crate) fn new(delays: impl Iterator<Item = Duration>, first_port: u16) -> Option<Self> {
        let (mut lines, mut of_flow): (Vec<Line>, Vec<usize>) = (Vec::new(), Vec::new());
        for delay in delays {
            let line = lines.iter().position(|line| line.delay == delay).unwrap_or(lines.len());
            if line == lines.len() {
                lines.push(Line { delay, waiting: VecDeque::new() });
            }
            of_flow.push(line);
        }
        lines.iter().any(|line| !line.delay.is_zero()).then_some(Self { lines, of_flow, first_port })
    }

    /// A packet leaves the shared part at `at`.
    pub(crate) fn enter(&mut self, at: Instant, packet: Parcel) {
        let flow = flow_of(&packet, self.first_port);
        let line = &mut self.lines[self.of_flow[flow]];
        line.waiting.push_back((at + line.delay, packet));
    }

    /// Returns when the next packet arrives; `Instant::MAX` for none.
    pub(crate) fn next_deadline(&self) -> Instant {
        let first = self.lines.iter().filter_map(|line| line.waiting.front());
        first.map(|(at, _)| *at).min().unwrap_or(Instant::MAX)
    }

    /// Returns a packet that has arrived by `now`, the earliest first.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(Instant, Parcel)> {
        let due = |line: &Line| line.waiting.front().map(|(at, _)| *at).filter(|at| *at <= now);
        let lines = self.lines.iter_mut().filter_map(|line| Some((due(line)?, line)));
        let (_, line) = lines.min_by_key(|(at, _)| *at)?;
        line.waiting.pop_front()
    }

    /// Packets inside.
    pub(crate) fn in_flight(&self) -> usize {
        self.lines.iter().map(|line| line.waiting.len()).sum()
    }
}

/// Returns the flow of a packet: one of its ports is the server's.
pub(crate) fn flow_of(packet: &Parcel, first_port: u16) -> usize {
    let [source, destination] = packet.ports();
    // Servers listen below the ephemeral ports.
    usize::from(source.min(destination) - first_port)
}
