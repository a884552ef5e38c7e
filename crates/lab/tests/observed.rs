//! A run's trace: why segments leave, and what limits the sender.

use longhaul_lab::run::observed::{RECEIVER, SENDER};
use longhaul_lab::run::simulate;
use longhaul_lab::{Overrides, Plan, spec};
use test_case::test_case;
use trace::{Limit, SendCause};
use trace_io::summary::{Summarizer, Summary};

/// The first run of an experiment with one arm.
fn observe(experiment: &str, arm: &str, set: &[&str]) -> Summary {
    let mut experiment = spec::builtin(experiment).unwrap();
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let overrides =
        Overrides { arms: vec![arm.to_owned()], set, iterations: Some(1), seed: Some(1), ..Overrides::default() };
    experiment.apply(&overrides).unwrap();
    let plan = Plan::new(experiment).unwrap();
    let mut summarizer = Summarizer::new(SENDER, RECEIVER);
    let measured = simulate(&plan.runs[0], &mut summarizer).unwrap();
    let summary = summarizer.finish();
    assert_eq!(summary.limited.shares.iter().map(|share| share.ns).sum::<u64>(), summary.limited.total_ns);
    let again: u64 = summary.retransmitted.values().map(|count| count.bytes).sum();
    // A FIN retransmitted with data has a sequence number, but is not a byte of the stream.
    let fins = again - measured.bytes_retransmitted.unwrap();
    assert!(fins <= 5, "{fins}");
    assert_eq!(Some(summary.timeouts), measured.rtos);
    assert_eq!(Some(summary.dsacks.recognised), measured.dsacks_received);
    assert_eq!(Some(summary.dsacks.sent), measured.dsacks_sent);
    summary
}

fn percent(summary: &Summary, by: Limit) -> f64 {
    summary.limited.shares.iter().find(|share| share.by == by).map_or(0.0, |share| share.percent)
}

#[test_case("windows-2000", &["path.rtt=100ms", "flow.bytes=1MB"], Limit::Rwnd; "a window of 17 kB")]
#[test_case("rfc", &["path.rtt=100ms", "flow.bytes=300kB"], Limit::Cwnd; "slow start")]
#[test_case("rfc", &["path.rtt=100ms", "flow.bytes=10kB"], Limit::Application; "less than a first window")]
#[test_case("rfc", &["path.rtt=25ms", "flow.bytes=2MB", "rfc.cc.pacing.kind=window", "rfc.cc.pacing.avoidance_percent=100", "rfc.cc.pacing.slow_start_percent=100"], Limit::Pacing; "a pacer no faster than the window")]
#[test_case("rfc", &["path.rtt=100ms", "flow.bytes=60kB", "path.drop=50kB x5"], Limit::Recovery; "a retransmission that is lost")]
fn most_of_the_time_is_limited_by(arm: &str, set: &[&str], by: Limit) {
    let summary = observe("wan", arm, set);
    assert!(percent(&summary, by) > 50.0, "{:?}", summary.limited);
}

#[test_case("longhaul", "path.drop=50kB x1", SendCause::FastRetransmit; "one loss")]
#[test_case("longhaul", "path.drop=50kB x1 + 60kB x1 + 70kB x1", SendCause::SackRetransmit; "three in a flight")]
#[test_case("rfc", "path.drop=50kB x1", SendCause::LimitedTransmit; "data that the first duplicates let out")]
#[test_case("longhaul", "path.drop=last 1", SendCause::TailProbe; "the last segment, with probes")]
#[test_case("longhaul", "path.drop=last 1 x5", SendCause::Timeout; "the last segment, and its probes")]
fn segments_leave_because_of(arm: &str, drop: &str, cause: SendCause) {
    let summary = observe("wan", arm, &["path.rtt=100ms", "flow.bytes=300kB", drop]);
    let sent = &summary.sent;
    assert!(sent.get(&cause).is_some_and(|count| count.segments > 0), "{sent:?}");
}
