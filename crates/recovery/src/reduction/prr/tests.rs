//! Proportional rate reduction against worked examples, and against its guarantees on any path.

use super::*;
use crate::config::{PrrBound, PrrConfig, ReductionConfig, build_reduction};
use proptest::prelude::*;
use std::collections::VecDeque;
use test_case::test_case;

const BOUNDS: [PrrBound; 3] = [PrrBound::SafeAck, PrrBound::Crb, PrrBound::Ssrb];

fn build(bound: PrrBound) -> Box<dyn Reduction> {
    build_reduction(&ReductionConfig::Prr(PrrConfig { bound }))
}

/// A window of whole segments, some of them lost, and a receiver that SACKs each on arrival. Retransmissions and new data leave
/// as the reduction allows, always whole.
struct Flow {
    smss: Bytes,
    reduction: Box<dyn Reduction>,
    /// In segments.
    lost_waiting: u32,
    pipe: u32,
    delivered: u32,
    sent: u32,
    log: String,
}

impl Flow {
    /// `flight` segments left, two more as limited transmit; the first two ACKs after the loss were processed, and the current
    /// third one proves `lost` segments lost.
    fn at_the_third_ack(bound: PrrBound, smss: Bytes, flight: u32, ssthresh: u32, lost: u32) -> Self {
        let mut reduction = build(bound);
        reduction.on_enter(&EpisodeEntry {
            ssthresh: ssthresh * smss,
            prior_cwnd: flight * smss,
            flight_size: (flight + 2) * smss,
            sacked_before: 2 * smss,
            newly_acked: 0,
            smss,
        });
        let pipe = flight + 2 - 3 - lost;
        let log = "N N".to_owned();
        let mut flow = Self { smss, reduction, lost_waiting: lost, pipe, delivered: 0, sent: 0, log };
        flow.ack(1, 0, lost);
        flow
    }

    /// Applies an ACK that delivers, advances and proves lost this many segments, with `pipe` updated before it.
    fn ack(&mut self, delivered: u32, acked: u32, newly_lost: u32) {
        self.delivered += delivered;
        let smss = self.smss;
        self.reduction.on_ack(&RecoveryAck {
            delivered: delivered * smss,
            pipe: self.pipe * smss,
            cwnd: Bytes::MAX,
            acked: acked * smss,
            newly_lost: newly_lost * smss,
        });
        self.log.push(' ');
        let before = self.sent;
        while self.reduction.quota() >= smss {
            self.log.push(if self.lost_waiting > 0 { 'R' } else { 'N' });
            self.lost_waiting = self.lost_waiting.saturating_sub(1);
            self.send();
        }
        if self.sent == before {
            self.log.push('-');
        }
    }

    fn send(&mut self) {
        self.reduction.on_sent(self.smss);
        self.pipe += 1;
        self.sent += 1;
    }
}

//= specs/rfc9937.md#each-transmission
//= type=test
//# Every byte sent in the episode counts towards prr_out, whether new or retransmitted.
#[test_case(PrrBound::Crb, "N N R - N - N - N - N - - N - N - - N")]
#[test_case(PrrBound::Ssrb, "N N R - N - N - N - N - - N - N - - N")]
#[test_case(PrrBound::SafeAck, "N N R - N - N - N - N - N - N - N - -")]
fn a_single_loss_among_twenty_is_repaired_with_every_other_ack(bound: PrrBound, sends: &str) {
    for smss in [1, 536, 1460] {
        let mut flow = Flow::at_the_third_ack(bound, smss, 20, 10, 1);
        for _ in 4..=19 {
            flow.pipe -= 1;
            flow.ack(1, 0, 0);
        }
        assert_eq!(flow.log, sends, "segments of {smss}");
    }
}

#[test_case(PrrBound::Crb, "N N R R R")]
#[test_case(PrrBound::Ssrb, "N N RR RR RR")]
#[test_case(PrrBound::SafeAck, "N N R R R")]
fn a_burst_of_fifteen_losses_is_repaired_as_fast_as_the_bound_allows(bound: PrrBound, sends: &str) {
    for smss in [1, 536, 1460] {
        let mut flow = Flow::at_the_third_ack(bound, smss, 20, 10, 15);
        for _ in 4..=5 {
            flow.pipe -= 1;
            flow.ack(1, 0, 0);
        }
        assert_eq!(flow.log, sends, "segments of {smss}");
    }
}

//= specs/rfc9937.md#each-ack
//= type=test
//# While more than `ssthresh` is in flight, prr_delivered · ssthresh / RecoverFS, rounded up, less prr_out may be sent.
#[test]
fn seven_tenths_of_ten_are_sent_as_a_ceiling() {
    let entry =
        EpisodeEntry { ssthresh: 7, prior_cwnd: 10, flight_size: 10, sacked_before: 0, newly_acked: 0, smss: 1 };
    for bound in BOUNDS {
        let (mut reduction, mut sent) = (build(bound), Vec::new());
        reduction.on_enter(&entry);
        for _ in 0..10 {
            reduction.on_ack(&RecoveryAck { delivered: 1, pipe: 8, cwnd: 7, acked: 0, newly_lost: 0 });
            let before = sent.last().copied().unwrap_or(0);
            sent.push(before + reduction.quota());
            reduction.on_sent(reduction.quota());
        }
        assert_eq!(sent, [1, 2, 3, 3, 4, 5, 5, 6, 7, 7], "{bound:?}");
    }
}

const ENTRY: EpisodeEntry = EpisodeEntry {
    ssthresh: 10_000,
    prior_cwnd: 20_000,
    flight_size: 20_000,
    sacked_before: 3_000,
    newly_acked: 1_000,
    smss: 1_000,
};

//= specs/rfc9937.md#beginning-of-an-episode
//= type=test
//# RecoverFS is SND.NXT − SND.UNA, less what was SACKed before this ACK, plus what this ACK cumulatively acknowledged.
#[test]
fn what_had_arrived_before_is_not_expected_again_except_by_rfc_6937() {
    assert_eq!(SafeAck::recover_fs(&ENTRY), 18_000);
    assert_eq!(Conservative::recover_fs(&ENTRY), 20_000);
    assert_eq!(SlowStart::recover_fs(&ENTRY), 20_000);
}

const ACK: RecoveryAck = RecoveryAck { delivered: 1_000, pipe: 4_000, cwnd: 10_000, acked: 1_000, newly_lost: 0 };

//= specs/rfc9937.md#each-ack
//= type=test
//# An ACK is safe if it advances SND.UNA and no further loss shows with it.
//= specs/rfc9937.md#each-ack
//= type=test
//# Otherwise the larger of prr_delivered − prr_out and what this ACK delivered may be sent.
//= specs/rfc9937.md#each-ack
//= type=test
//# A safe ACK then adds one SMSS.
//= specs/rfc9937.md#each-ack
//= type=test
//# Sending never brings what is in flight from below `ssthresh` to above it.
#[test_case(PrrBound::SafeAck, ACK => 2_000; "an ACK that advances and proves nothing lost is safe")]
#[test_case(PrrBound::SafeAck, RecoveryAck { acked: 0, ..ACK } => 1_000; "one that does not advance is not")]
#[test_case(PrrBound::SafeAck, RecoveryAck { newly_lost: 1_000, ..ACK } => 1_000; "nor one that proves a loss")]
#[test_case(PrrBound::Crb, ACK => 1_000; "the conservative bound never adds")]
#[test_case(PrrBound::Ssrb, RecoveryAck { newly_lost: 1_000, ..ACK } => 2_000; "the slow start bound always adds")]
#[test_case(PrrBound::Ssrb, RecoveryAck { pipe: 8_500, ..ACK } => 1_500; "none goes beyond the window")]
#[test_case(PrrBound::Ssrb, RecoveryAck { pipe: 9_500, ..ACK } => 500; "not by a part of a segment either")]
#[test_case(PrrBound::SafeAck, RecoveryAck { pipe: 10_000, ..ACK } => 0; "a flight that fills the window")]
fn below_the_window_the_bound_decides(bound: PrrBound, ack: RecoveryAck) -> Bytes {
    let mut reduction = build(bound);
    reduction.on_enter(&ENTRY);
    reduction.on_ack(&ack);
    reduction.quota()
}

//= specs/rfc9937.md#each-ack
//= type=test
//# Otherwise the larger of prr_delivered − prr_out and what this ACK delivered may be sent.
#[test]
fn an_overdrawn_account_is_paid_back_by_the_conservative_bound_alone() {
    for (bound, quota) in [(PrrBound::Crb, 0), (PrrBound::SafeAck, 1_000), (PrrBound::Ssrb, 2_000)] {
        let mut reduction = build(bound);
        reduction.on_enter(&ENTRY);
        reduction.on_sent(5_000);
        reduction.on_ack(&RecoveryAck { acked: 0, ..ACK });
        assert_eq!(reduction.quota(), quota, "{bound:?}");
    }
}

/// Returns the bytes of the segments that leave, each of these sizes in turn, in reply to an ACK for `delivered`.
fn leave(reduction: &mut Box<dyn Reduction>, delivered: Bytes, sizes: &[Bytes]) -> Vec<Bytes> {
    reduction.on_ack(&RecoveryAck { delivered, acked: 0, ..ACK });
    let mut left = Vec::new();
    for &size in sizes {
        if size > reduction.quota() {
            break;
        }
        reduction.on_sent(size);
        left.push(size);
    }
    left
}

#[test]
fn segments_of_any_size_leave_only_up_to_the_window() {
    for bound in BOUNDS {
        let mut reduction = build(bound);
        reduction.on_enter(&ENTRY);
        reduction.on_ack(&RecoveryAck { delivered: 3_000, pipe: 8_500, ..ACK });
        let mut left = 0;
        while reduction.quota() >= 700 {
            reduction.on_sent(700);
            left += 700;
        }
        assert_eq!(left, 1_400, "{bound:?}");
    }
}

#[test]
fn a_small_delivery_lets_one_segment_leave_whatever_its_size_and_the_overdraft_is_paid_back() {
    for bound in [PrrBound::Crb, PrrBound::SafeAck] {
        let mut reduction = build(bound);
        reduction.on_enter(&ENTRY);
        assert_eq!(leave(&mut reduction, 300, &[1_000; 9]), [1_000], "{bound:?}");
    }
    let mut reduction = build(PrrBound::Crb);
    reduction.on_enter(&ENTRY);
    let left: Vec<usize> = (0..10).map(|_| leave(&mut reduction, 300, &[1_000; 9]).len()).collect();
    assert_eq!(left, [1, 0, 0, 1, 0, 0, 1, 0, 0, 0], "three thousand bytes delivered, as many sent");
    assert_eq!(leave(&mut reduction, 1_000, &[300; 9]), [300, 300, 300], "the rest of a segment lets no other leave");
}

//= specs/rfc9937.md#each-ack
//= type=test
//# An ACK that delivers nothing and proves nothing lost changes nothing.
#[test]
fn a_stray_duplicate_buys_nothing_and_leaves_what_there_was() {
    for bound in BOUNDS {
        let mut reduction = build(bound);
        reduction.on_enter(&ENTRY);
        reduction.on_ack(&ACK);
        let before = reduction.quota();
        reduction.on_ack(&RecoveryAck { delivered: 0, acked: 0, pipe: 0, ..ACK });
        assert_eq!(reduction.quota(), before, "{bound:?}");
    }
}

#[test_case(PrrBound::SafeAck, 19_000 => 1_000; "above the window")]
#[test_case(PrrBound::SafeAck, 5_000 => 1_000; "below the window")]
#[test_case(PrrBound::Crb, 5_000 => 1_000; "below the window under the conservative bound")]
#[test_case(PrrBound::Ssrb, 5_000 => 2_000; "below the window under the slow start bound")]
fn a_timer_that_finds_losses_counts_as_one_segment_delivered(bound: PrrBound, pipe: Bytes) -> Bytes {
    let mut reduction = build(bound);
    reduction.on_enter(&ENTRY);
    reduction.on_ack(&RecoveryAck { delivered: 0, pipe, cwnd: 10_000, acked: 0, newly_lost: 7_000 });
    reduction.quota()
}

//= specs/rfc9937.md#beginning-of-an-episode
//= type=test
//# The state is initialized at the beginning of each episode.
//= specs/rfc9937.md#beginning-of-an-episode
//= type=test
//# `ssthresh` is the congestion control's, and nothing counts as delivered or sent yet.
#[test]
fn a_new_episode_knows_nothing_of_the_last() {
    let mut reduction = build(PrrBound::SafeAck);
    reduction.on_enter(&ENTRY);
    reduction.on_sent(50_000);
    reduction.on_enter(&ENTRY);
    reduction.on_ack(&ACK);
    assert_eq!(reduction.quota(), 2_000);
}

#[test]
fn numbers_at_their_limits_neither_overflow_nor_divide_by_zero() {
    for bound in BOUNDS {
        for recover_fs in [0, 1, Bytes::MAX] {
            let mut reduction = build(bound);
            let entry = EpisodeEntry { ssthresh: Bytes::MAX - 1, flight_size: recover_fs, ..ENTRY };
            reduction.on_enter(&entry);
            for pipe in [0, Bytes::MAX] {
                let ack =
                    RecoveryAck { delivered: Bytes::MAX, pipe, cwnd: Bytes::MAX, acked: Bytes::MAX, newly_lost: 0 };
                reduction.on_ack(&ack);
                reduction.on_sent(Bytes::MAX);
                reduction.on_ack(&ack);
            }
        }
    }
}

#[test]
fn its_state_is_as_small_as_eight_numbers() {
    for bound in BOUNDS {
        assert_eq!(build(bound).state_size(), 32, "{bound:?}");
    }
}

/// A path that keeps the order and loses nothing more: each segment returns as one ACK, some ACKs merged.
#[derive(Clone, Debug)]
struct Path {
    flight: u32,
    lost: u32,
    /// In hundredths of the flight.
    beta: u32,
    /// Segments that one ACK delivers, in turn.
    merged: Vec<u32>,
    /// ACKs for which the application has nothing to send, from the first.
    stalled: u32,
}

fn path() -> impl Strategy<Value = Path> {
    let merged = prop::collection::vec(1u32..4, 1..20);
    (6u32..200, 1u32..100, 30u32..95, merged, 0u32..6)
        .prop_map(|(flight, lost, beta, merged, stalled)| Path {
            flight,
            lost: 1 + lost * (flight - 5) / 100,
            beta,
            merged,
            stalled,
        })
        .prop_filter("something has to arrive", |path| path.lost + 3 < path.flight)
}

const SMSS: Bytes = 1_000;

/// One step of a run: the state after an ACK was processed, in segments.
#[derive(Clone, Copy, Debug)]
struct Seen {
    above: bool,
    stalled: bool,
    delivered: u32,
    sent: u32,
    pipe: u32,
}

impl Path {
    fn ssthresh(&self) -> u32 {
        (self.flight * self.beta / 100).max(2)
    }

    /// Runs an episode over `acks` ACKs whose cumulative number does not move.
    fn run(&self, bound: PrrBound, acks: usize) -> Vec<Seen> {
        let mut reduction = build(bound);
        reduction.on_enter(&EpisodeEntry {
            ssthresh: self.ssthresh() * SMSS,
            prior_cwnd: self.flight * SMSS,
            flight_size: self.flight * SMSS,
            sacked_before: 0,
            newly_acked: 0,
            smss: SMSS,
        });
        let mut flow =
            Flow { smss: SMSS, reduction, lost_waiting: 0, pipe: 0, delivered: 0, sent: 0, log: String::new() };
        // Positions in the pipe, identified only by their count: everything arrives in order.
        let mut arriving: VecDeque<()> = (0..self.flight - self.lost).map(|_| ()).collect();
        let mut seen = Vec::new();
        for (index, &merged) in (0..).zip(self.merged.iter().cycle().take(acks)) {
            let delivered = merged.min(arriving.len() as u32);
            if delivered == 0 {
                break;
            }
            arriving.drain(..delivered as usize);
            flow.pipe = arriving.len() as u32;
            let (before, stalled) = (flow.sent, index < self.stalled);
            let above = flow.pipe > self.ssthresh();
            if stalled {
                flow.delivered += delivered;
                flow.reduction.on_ack(&RecoveryAck {
                    delivered: delivered * SMSS,
                    pipe: flow.pipe * SMSS,
                    cwnd: Bytes::MAX,
                    acked: 0,
                    newly_lost: 0,
                });
            } else {
                flow.ack(delivered, 0, if index == 0 { self.lost } else { 0 });
            }
            arriving.extend((before..flow.sent).map(|_| ()));
            let Flow { delivered, sent, pipe, .. } = flow;
            seen.push(Seen { above, stalled, delivered, sent, pipe });
        }
        seen
    }
}

proptest! {
    //= specs/rfc9937.md#each-ack
    //= type=test
    //# While more than `ssthresh` is in flight, prr_delivered · ssthresh / RecoverFS, rounded up, less prr_out may be
    //# sent.
    //= specs/rfc9937.md#relations
    //= type=test
    //# Any congestion control that reduces to a fixed `ssthresh` uses it.
    #[test]
    fn above_the_window_sending_keeps_the_proportion_within_a_segment(path in path()) {
        for bound in BOUNDS {
            for seen in path.run(bound, 300).iter().take_while(|seen| seen.above).filter(|seen| !seen.stalled) {
                let share = (seen.delivered * path.ssthresh()).div_ceil(path.flight);
                prop_assert_eq!(seen.sent, share, "{:?}: {:?}", bound, seen);
            }
        }
    }

    //= specs/rfc9937.md#each-ack
    //= type=test
    //# Sending never brings what is in flight from below `ssthresh` to above it.
    //= specs/rfc9937.md#relations
    //= type=test
    //# Any congestion control that reduces to a fixed `ssthresh` uses it.
    #[test]
    fn the_flight_ends_at_the_window_and_never_above_it(path in path()) {
        for bound in BOUNDS {
            let mut below = false;
            for seen in path.run(bound, 300) {
                below |= !seen.above;
                prop_assert!(!below || seen.pipe <= path.ssthresh(), "{:?}: {:?}", bound, seen);
            }
        }
    }

    /// Strong packet conservation. RFC 9937 guarantees it while no ACK is safe.
    #[test]
    fn without_a_safe_ack_no_more_is_sent_than_was_delivered(path in path()) {
        for bound in [PrrBound::Crb, PrrBound::SafeAck] {
            for seen in path.run(bound, 300) {
                prop_assert!(seen.sent <= seen.delivered, "{:?}: {:?}", bound, seen);
            }
        }
    }

    /// What a stalled application did not send leaves later: the count ends as it would without the stall.
    #[test]
    fn what_a_stall_left_unsent_is_banked(path in path()) {
        let resumed = path.run(PrrBound::Crb, 300);
        let Some(first) = resumed.iter().find(|seen| !seen.stalled) else { return Ok(()) };
        let allowed = if first.above {
            (first.delivered * path.ssthresh()).div_ceil(path.flight)
        } else {
            first.delivered.min(path.ssthresh() - (first.pipe - first.sent))
        };
        prop_assert_eq!(first.sent, allowed);
    }

    /// `pipe` selects proportion or bound; its size has no other effect.
    #[test]
    fn an_error_in_pipe_above_the_window_changes_nothing(delivered in 1u32..20, error in 0u32..1_000_000, sent in 0u32..20_000) {
        for bound in BOUNDS {
            let quota = |pipe| {
                let mut reduction = build(bound);
                reduction.on_enter(&ENTRY);
                reduction.on_sent(sent);
                reduction.on_ack(&RecoveryAck { delivered: delivered * 1_000, pipe, ..ACK });
                reduction.quota()
            };
            prop_assert_eq!(quota(10_001), quota(10_001 + error));
        }
    }

    /// With the whole flight delivered and few losses, as much was sent as the window holds.
    #[test]
    fn the_window_is_filled_when_the_flight_is_drained(flight in 10u32..200, beta in 50u32..95) {
        let path = Path { flight, lost: 1, beta, merged: vec![1], stalled: 0 };
        for bound in BOUNDS {
            let seen = path.run(bound, flight as usize - 1);
            let last = seen.last().copied().expect("something arrived");
            prop_assert!(last.pipe + 1 >= path.ssthresh(), "{:?}: {:?} of {}", bound, last, path.ssthresh());
        }
    }
}
