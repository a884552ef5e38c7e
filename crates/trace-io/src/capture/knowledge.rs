//! What a sender knew when it sent: the newest acknowledgement it had received, identified by the timestamp that it echoes (RFC
//! 7323 §4.3), wherever between the ends the capture was made.
//!
//! The time from an acknowledgement to the data that answers it is a round trip from here to the sender and back. It counts only
//! while the sender sends without a pause: after one, the data waited for the application.

use super::rtt::is_after;
use std::collections::VecDeque;

/// Timestamps that may be in flight to the sender.
const UNDER_WAY: usize = 1_024;

/// Acknowledgements in flight to the sender, the last one per tick of the receiver's clock.
#[derive(Debug, Default)]
pub(super) struct Knowledge(VecDeque<Acknowledgement>);

#[derive(Clone, Copy, Debug)]
struct Acknowledgement {
    tsval: u32,
    /// When the first and the last of this tick passed.
    at: u64,
    last: u64,
    ack: u64,
    edge: u64,
    is_echoed: bool,
}

/// What an echoing segment shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The acknowledgement that its sender had received, and the end of the bytes that it was allowed to send.
    pub ack: u64,
    pub edge: u64,
    /// Since that acknowledgement passed here.
    pub since: u64,
    /// Round trip from here to the sender and back.
    pub round_trip: Option<u64>,
}

impl Knowledge {
    /// Bytes of memory.
    #[inline]
    pub fn heap(&self) -> usize {
        self.0.capacity() * size_of::<Acknowledgement>()
    }

    /// Handles an acknowledgement of the receiver.
    #[inline]
    pub fn passed(&mut self, at: u64, tsval: u32, ack: u64, edge: u64) {
        match self.0.back_mut() {
            Some(last) if last.tsval == tsval => {
                (last.ack, last.edge, last.last) = (ack.max(last.ack), edge.max(last.edge), at);
            }
            Some(last) if !is_after(tsval, last.tsval) => {}
            _ => {
                if self.0.len() == UNDER_WAY {
                    self.0.pop_front();
                }
                self.0.push_back(Acknowledgement { tsval, at, last: at, ack, edge, is_echoed: false });
            }
        }
    }

    /// Handles an echo of the sender, `pause` after its last data. Reports a round trip once per tick.
    #[inline]
    pub fn echoed(&mut self, at: u64, tsecr: u32, pause: u64) -> Option<Answer> {
        while self.0.front().is_some_and(|known| is_after(tsecr, known.tsval)) {
            self.0.pop_front();
        }
        let known = self.0.front_mut().filter(|known| known.tsval == tsecr)?;
        let took = at.saturating_sub(known.at);
        let round_trip = (!known.is_echoed && pause <= took / 4).then_some(took);
        known.is_echoed = true;
        Some(Answer { ack: known.ack, edge: known.edge, since: at.saturating_sub(known.last), round_trip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_identifies_the_newest_acknowledgement_of_its_tick_and_one_round_trip() {
        let mut knowledge = Knowledge::default();
        knowledge.passed(1_000, 7, 10, 60);
        knowledge.passed(1_400, 7, 20, 70);
        knowledge.passed(2_000, 8, 30, 80);
        let answer = |ack, edge, since, round_trip| Some(Answer { ack, edge, since, round_trip });
        assert_eq!(knowledge.echoed(9_000, 7, 100), answer(20, 70, 7_600, Some(8_000)));
        assert_eq!(knowledge.echoed(9_100, 7, 100), answer(20, 70, 7_700, None));
        assert_eq!(knowledge.echoed(99_000, 8, 80_000), answer(30, 80, 97_000, None), "it waited for the application");
        assert_eq!(knowledge.echoed(99_100, 9, 100), None);
        assert_eq!(knowledge.echoed(99_100, 7, 100), None, "older than what it said before");
    }
}
