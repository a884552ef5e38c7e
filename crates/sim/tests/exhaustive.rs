//! Every way to lose some of twelve segments, for every detector, with and without tail loss probes, sending by `pipe` and by
//! proportional rate reduction: is the loss repaired without a timeout, in how many round trips, and with how many needless
//! retransmissions? The tables are snapshots for human readers.

use base::{Duration, Rate};
use core::fmt::Write;
use longhaul_sim::{FlowSpec, Scenario, Workload, run};
use netem::{Buffer, LossSpec, PathSpec};
use recovery::{DetectorConfig, PrrConfig, RecoveryConfig, ReductionConfig, TlpConfig};
use tcp::{Config, ValidConfig};
use trace::Off;

const SEGMENTS: u32 = 12;
const SMSS: u64 = 1460;
/// The forward path carries the SYN and the ACK of the SYN-ACK before the first segment.
const FIRST: u64 = 2;
const ONE_WAY: Duration = Duration::from_millis(50);

fn config(recovery: RecoveryConfig) -> ValidConfig {
    let mut config = Config { recovery, ..Config::default() };
    config.cc.initial_window = cc::InitialWindow::plain(SEGMENTS);
    // Far beyond the duration of any recovery, so that a timeout cannot be mistaken for one.
    config.rto.min = Duration::from_secs(3);
    config.rto.initial = Duration::from_secs(3);
    config.validate().expect("within bounds")
}

#[derive(Default)]
struct Row {
    masks: u32,
    without_timeout: u32,
    round_trips: u64,
    most_round_trips: u64,
    needless: u64,
}

/// Loses the segments of `mask` once; their retransmissions arrive.
fn transfer(mask: u32, config: &ValidConfig) -> longhaul_sim::Outcome {
    let lost = (0..SEGMENTS).filter(|bit| mask & (1 << bit) != 0).map(|bit| FIRST + u64::from(bit)).collect();
    let forward = PathSpec {
        rate: Rate::from_bits_per_sec(1_000_000_000),
        buffer: Buffer::Unlimited,
        loss: LossSpec::Mask(lost),
        ..PathSpec::ideal(ONE_WAY)
    };
    let mut scenario = Scenario::new(1, forward, PathSpec::ideal(ONE_WAY));
    let workload = Workload::Bytes(u64::from(SEGMENTS) * SMSS);
    scenario.flows.push(FlowSpec::new(config.clone(), config.clone(), workload));
    run(&scenario, &mut Off).unwrap_or_else(|failure| panic!("mask {mask:012b}: {failure}"))
}

fn table(recovery: RecoveryConfig) -> String {
    let config = config(recovery);
    let mut rows: Vec<Row> = (0..=SEGMENTS).map(|_| Row::default()).collect();
    for mask in 0..1 << SEGMENTS {
        let outcome = transfer(mask, &config);
        let flow = &outcome.flows[0];
        assert!(flow.is_complete(), "mask {mask:012b}");
        let counters = flow.sender.info.expect("connected").counters;
        let row = &mut rows[mask.count_ones() as usize];
        row.masks += 1;
        // A probe that crosses its answer on the way is a needless retransmission too.
        row.needless += counters.bytes_retransmitted / SMSS - u64::from(mask.count_ones());
        if counters.timeouts == 0 {
            row.without_timeout += 1;
            // Round trips after the flight itself, which takes one and a half with the handshake before it.
            let elapsed = flow.elapsed().expect("read").as_nanos();
            let trips = (elapsed / ONE_WAY.as_nanos()).saturating_sub(3).div_ceil(2);
            row.round_trips += trips;
            row.most_round_trips = row.most_round_trips.max(trips);
        }
    }
    let mut text = String::from("lost  masks  no timeout  mean round trips  most  needless retransmissions\n");
    for (lost, row) in rows.iter().enumerate() {
        let hundredths = (row.round_trips * 100).checked_div(u64::from(row.without_timeout));
        let mean = hundredths.map_or("-".into(), |h| format!("{}.{:02}", h / 100, h % 100));
        let most = if row.without_timeout == 0 { "-".into() } else { row.most_round_trips.to_string() };
        let _ = writeln!(
            text,
            "{lost:>4}  {:>5}  {:>10}  {mean:>16}  {most:>4}  {:>24}",
            row.masks, row.without_timeout, row.needless
        );
    }
    text
}

/// The four tables of a detector.
fn tables(detector: DetectorConfig) -> String {
    let mut text = String::new();
    for (probe, with) in [(None, "no probe"), (Some(TlpConfig::default()), "tail loss probe")] {
        for (reduction, by) in
            [(ReductionConfig::Pipe, "pipe"), (ReductionConfig::Prr(PrrConfig::default()), "rate reduction")]
        {
            let recovery = RecoveryConfig { detector, probe, reduction, ..RecoveryConfig::default() };
            let _ = writeln!(text, "{with}, {by}\n{}", table(recovery));
        }
    }
    text
}

#[test]
fn every_loss_mask_by_count() {
    insta::assert_snapshot!(tables(DetectorConfig::DupThresh(Default::default())));
}

#[test]
fn every_loss_mask_by_time() {
    insta::assert_snapshot!(tables(DetectorConfig::Rack(Default::default())));
}

// variant: rack_ring {
#[test]
fn every_loss_mask_by_time_over_a_block_ring() {
    insta::assert_snapshot!(tables(DetectorConfig::RackRing(Default::default())));
}
// variant: rack_ring }
