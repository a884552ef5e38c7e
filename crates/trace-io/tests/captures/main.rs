//! Captures with known truth: the analysis must agree with the ends' own counters, and with an independent
//! analyser.

mod truth;
mod tshark;
mod world;

use base::{Duration, Rate, Ratio};
use longhaul_trace_io::capture::{DirectionReport, FlowReport, Only, analyze, records};
use longhaul_trace_io::{ConnId, Event};
use netem::{Buffer, Jitter, JitterKind, LossSpec, Place, ReorderSpec, StreamLoss};
use world::{Outcome, Story, run};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn mbit(mbit: u64) -> Option<Rate> {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

fn percent(percent: u64) -> Ratio {
    Ratio::new(percent, 100).unwrap()
}

/// The only flow of a capture.
fn flow(capture: &[u8]) -> FlowReport {
    let analysis = analyze(capture).unwrap();
    assert_eq!((analysis.first_bad(), analysis.flows.len()), (None, 1));
    analysis.flows.into_iter().next().unwrap()
}

/// Its direction of data.
fn data(capture: &[u8]) -> DirectionReport {
    let flow = flow(capture);
    assert_eq!((flow.sender, flow.handshake), ("client", "complete"));
    flow.directions[0].clone()
}

/// Losses at random over a bottleneck.
fn lossy(profile: &str, percents: u64) -> Story {
    let mut story = Story::new(profile, &[], ms(40));
    story.forward.rate = mbit(20);
    story.forward.buffer = Buffer::Packets(100);
    story.forward.loss = LossSpec::Bernoulli(percent(percents));
    story
}

/// Packets that take longer than others.
fn reordering(profile: &str, extra: Duration) -> Story {
    let mut story = Story::new(profile, &[], ms(40));
    story.forward.rate = mbit(50);
    story.forward.reorder = ReorderSpec::Late { probability: percent(2), extra };
    story
}

/// The last segments are lost.
fn tail(profile: &str, segments: u32, times: u32) -> Story {
    let mut story = Story::new(profile, &[], ms(40));
    story.bytes = 200_000;
    story.forward.drops = vec![StreamLoss { place: Place::Last { segments, stream: 200_000 }, times }];
    story
}

/// A segment in the middle is lost, and then so is its retransmission.
fn lost_again(profile: &str) -> Story {
    let mut story = Story::new(profile, &[], ms(40));
    story.forward.drops = vec![StreamLoss { place: Place::Within(500_000..500_001), times: 2 }];
    story
}

/// A window too small for the path.
fn narrow(profile: &str) -> Story {
    let changes =
        [("receive.window.kind", "fixed"), ("receive.window.bytes", "64kB"), ("options.window_scale.kind", "off")];
    Story::new(profile, &changes, ms(100))
}

/// A receiver that reads slowly.
fn slow_reader(profile: &str) -> Story {
    let changes = [("receive.window.kind", "fixed"), ("receive.window.bytes", "64kB")];
    let mut story = Story::new(profile, &changes, ms(40));
    story.reads = Some((64_000, ms(500)));
    story
}

/// The order is kept, the spacing is not.
fn jittery(profile: &str) -> Story {
    let mut story = lossy(profile, 1);
    story.forward.jitter = Some(Jitter { max: ms(10), kind: JitterKind::KeepOrder });
    story
}
