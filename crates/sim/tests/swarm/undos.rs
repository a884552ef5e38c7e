//! World 5000011002: a receiver delays its ACKs for much longer than a round trip, and segments are lost one at a time. The test
//! judges each undo by what the receiver got, not by what the sender believes.

use crate::{judge, world};
use base::{Duration, Instant, SeqNum};
use longhaul_sim::run;
use std::collections::BTreeMap;
use trace::{ConnId, Episode, Event, Observer, Proof};

const WORLD: u64 = 5_000_011_002;
/// The sender of the flow that has time stamps, and where its segments arrive.
const WITH_TIMESTAMPS: [ConnId; 2] = [ConnId(0), ConnId(1_000_000)];
/// The sender of the flow that connects last.
const WITHOUT_TIMESTAMPS: ConnId = ConnId(1);

/// The episodes that the flow without timestamps undid for an early answer, and its retransmissions.
#[derive(Default)]
struct Undone {
    by_early_answer: u32,
    retransmissions: u32,
}

impl Observer for Undone {
    fn record(&mut self, _at: Instant, conn: ConnId, event: Event) {
        if conn != WITHOUT_TIMESTAMPS {
            return;
        }
        match event {
            Event::Undone { proof: Proof::Eifel, .. } => self.by_early_answer += 1,
            Event::SegmentSent { retransmit: 1.., .. } => self.retransmissions += 1,
            _ => {}
        }
    }
}

/// Each answer to a repair comes early, but none of them proves anything.
#[test]
fn delayed_acks_do_not_make_an_answer_early() {
    let mut undone = Undone::default();
    judge(&run(&world::random(WORLD), &mut undone).expect("the world comes to an end"));
    assert!(undone.retransmissions > 28, "{}", undone.retransmissions);
    assert_eq!(undone.by_early_answer, 0);
}

/// The episodes that the flow with timestamps undid, rightly or not.
struct Judged {
    /// Of the path to the receiver, without any queue.
    delay: Duration,
    arrived: BTreeMap<u32, Instant>,
    /// The first repair of the episode, and when it left.
    repair: Option<(SeqNum, Instant)>,
    rightly: u32,
    wrongly: Vec<Instant>,
}

impl Observer for Judged {
    fn record(&mut self, at: Instant, conn: ConnId, event: Event) {
        let [sender, receiver] = WITH_TIMESTAMPS;
        match event {
            Event::SegmentReceived { seq, len: 1.., .. } if conn == receiver => {
                self.arrived.entry(seq.0).or_insert(at);
            }
            Event::EpisodeChanged { from: Episode::Open, .. } if conn == sender => self.repair = None,
            Event::SegmentSent { seq, retransmit: 1.., .. } if conn == sender => {
                self.repair = self.repair.or(Some((seq, at)));
            }
            Event::Undone { .. } if conn == sender => {
                let arrived = self.repair.and_then(|(seq, sent)| Some((self.arrived.get(&seq.0)?, sent)));
                // A segment that arrived before the repair could was the original.
                if arrived.is_some_and(|(&arrived, sent)| arrived < sent + self.delay) {
                    self.rightly += 1;
                } else {
                    self.wrongly.push(at);
                }
            }
            _ => {}
        }
    }
}

/// Many timeouts of this world are spurious, and timestamp echoes prove it.
#[test]
fn what_time_stamps_undo_had_arrived_before_it_was_repaired() {
    let scenario = world::random(688);
    let delay = scenario.forward.delay;
    let mut judged = Judged { delay, arrived: BTreeMap::new(), repair: None, rightly: 0, wrongly: Vec::new() };
    judge(&run(&scenario, &mut judged).expect("the world comes to an end"));
    assert_eq!(judged.wrongly, []);
    assert!(judged.rightly > 200, "{}", judged.rightly);
}
