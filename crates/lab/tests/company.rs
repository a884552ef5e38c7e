//! Several flows on one path, from the words of an experiment to a row.

use longhaul_lab::{Overrides, Plan, Row, SimBackend, execute, results, spec};

fn rows(experiment: &str, set: &[&str], arms: &[&str], iterations: u32) -> Vec<Row> {
    let mut found = spec::builtin(experiment).expect("built in");
    let own = |words: &[&str]| words.iter().map(|&text| text.to_owned()).collect::<Vec<String>>();
    let overrides = Overrides { set: own(set), arms: own(arms), iterations: Some(iterations), ..Overrides::default() };
    found.apply(&overrides).expect("the overrides are right");
    let plan = Plan::new(found).expect("the plan stands");
    let finished = execute(&plan, &SimBackend, 2, None, &mut |_| ()).expect("nothing is written");
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    results::rows(&plan, &finished)
}

const SHORT: [&str; 3] = ["path.rate=10Mbit", "path.rtt=25ms", "flow.window=10s..30s"];

#[test]
fn two_equals_have_half_each_in_the_mean_of_both_orders() {
    let set = [&SHORT[..], &["flow.company=arm start=0s..4s + linux start=0s..4s"]].concat();
    let rows = rows("fairness", &set, &["linux"], 3);
    let metrics = &rows[0].metrics;
    assert!((metrics.share_pct.unwrap() - 50.0).abs() < 1e-3, "{metrics:?}");
    assert!((metrics.early_share_pct.unwrap() - 50.0).abs() < 1e-3);
    assert!(metrics.jain.unwrap() > 0.9 && metrics.utilisation.unwrap() > 0.95, "{metrics:?}");
    assert!((15.0..30.0).contains(&metrics.wait_p95_ms.unwrap()), "a buffer of 25 ms: {metrics:?}");
    // Half of 10 Mbit/s of packets whose payload is 1,448 bytes.
    let goodput = rows[0].goodput_mbps.median.unwrap();
    assert!((4.5..4.87).contains(&goodput), "{goodput}");
}

/// Who comes first within one instant is a side to be on, too: where packets are lost at random, it was worth three points of the share.
#[test]
fn two_equals_that_start_at_one_time_have_half_each() {
    let set = [&SHORT[..], &["flow.company=arm + linux", "flow.window=0s..10s", "path.loss=0.5%"]].concat();
    let metrics = &rows("fairness", &set, &["linux"], 3)[0].metrics;
    assert!((metrics.share_pct.unwrap() - 50.0).abs() < 1e-3, "{metrics:?}");
}

#[test]
fn three_of_four_flows_have_about_three_quarters() {
    let set = [&SHORT[..], &["flow.company=arm x3 start=0s..2s + linux start=0s..2s", "flow.window=20s..60s"]].concat();
    let rows = rows("fairness", &set, &["linux"], 6);
    let metrics = &rows[0].metrics;
    assert!((65.0..85.0).contains(&metrics.share_pct.unwrap()), "{metrics:?}");
    let (low, high) = (metrics.share_lo_pct.unwrap(), metrics.share_hi_pct.unwrap());
    assert!(low <= metrics.share_pct.unwrap() && metrics.share_pct.unwrap() <= high, "{metrics:?}");
}

#[test]
fn a_flow_that_comes_late_or_from_far_away_has_less() {
    let share = |company: &str| {
        let set = [&SHORT[..], &["flow.orders=given", company]].concat();
        rows("fairness", &set, &["linux"], 1)[0].metrics.share_pct.unwrap()
    };
    assert!(share("flow.company=arm + linux rtt=200ms") > 60.0);
    assert!(share("flow.company=arm start=28s + linux") < 10.0);
    assert!(share("flow.company=arm pace=1Mbit + linux") < 15.0);
    // What goes back takes no share of the data's direction.
    assert!(share("flow.company=arm + linux direction=back") > 99.9);
}

/// The bottleneck's queue bridges 25 ms of a pause of 100 ms, and pauses come in the first ten round trips of the run.
#[test]
fn the_ideal_time_of_a_flow_among_others_knows_the_pauses_of_its_host() {
    let removed_ms = |company: &str, pause: &str| {
        let set = [&SHORT[..], &["flow.orders=given", "path.buffer=1bdp", "path.jitter=0", pause, company]].concat();
        rows("fairness", &set, &["linux"], 1).remove(0).metrics.removed_ms
    };
    let sized = "flow.company=arm bytes=1MB + linux";
    assert_eq!(removed_ms(sized, "host.sender.pause=100ms x1"), Some(75.0));
    assert_eq!(removed_ms(sized, "host.sender.pause=none"), None);
    let late = "flow.company=arm bytes=1MB start=5s + linux";
    assert_eq!(removed_ms(late, "host.sender.pause=100ms x1"), Some(0.0), "they are over when the flow begins");
}

#[test]
fn the_result_of_several_flows_repeats_to_the_bit() {
    let made = || rows("late-comer", &["path.rate=5Mbit", "path.rtt=25ms", "flow.window=36s..40s"], &["longhaul"], 2);
    assert_eq!(made(), made());
}

#[test]
fn a_file_says_the_same_as_the_text() {
    let text =
        |flows: &str| format!("summary = \"x\"\n[flow]\nwindow = \"1s..2s\"\n[arms]\nuse = [\"linux\"]\n{flows}");
    let file =
        "[[flows]]\nprofile = \"arm\"\ncount = 2\nstart = \"0s..1s\"\n[[flows]]\nprofile = \"rfc\"\nrtt = \"10ms\"\n";
    let read = spec::read("x", "x.toml", &text(file)).unwrap();
    let (key, company) = read.point.settings().find(|(key, _)| *key == "flow.company").unwrap();
    assert_eq!((key, company.as_str()), ("flow.company", "arm x2 start=0s..1s + rfc x1 rtt=10ms"));
    let wrong = |flows: &str| spec::read("x", "x.toml", &text(flows)).unwrap_err().to_string();
    assert!(
        wrong("[[flows]]\nprofil = \"arm\"\n").contains("x.toml:7:1: unknown key `profil`; did you mean `profile`?")
    );
    assert!(wrong("[[flows]]\ncount = 0\n").contains("x.toml:7:9: `0` is not a number of flows"));
    assert!(wrong("[[flows]]\nprofile = \"linux\"\n").contains("no group of flows is the arm's"));
    assert!(wrong("[flows]\nprofile = \"arm\"\n").contains("each under `[[flows]]`"));
}

#[test]
fn several_flows_replace_a_sweep_of_one_flow_s_size() {
    let rows = rows("wan", &["flow.company=arm x2", "path.rtt=25ms", "flow.window=0s..1s"], &["linux"], 1);
    assert_eq!(rows.len(), 1);
}

#[test]
fn short_flows_arrive_and_are_the_same_for_each_arm() {
    let set =
        [&SHORT[..], &["flow.orders=given", "flow.company=arm arrivals=20/s sizes=pareto:2kB..200kB:1.2"]].concat();
    let found = rows("fairness", &set, &["linux", "longhaul"], 2);
    // 20 a second of 7.5 kB in the mean are 1.2 Mbit/s.
    let goodput: Vec<f64> = found.iter().map(|row| row.goodput_mbps.median.unwrap()).collect();
    assert!(
        goodput.iter().all(|mbps| (0.8..1.7).contains(mbps)) && (goodput[0] - goodput[1]).abs() < 0.05,
        "{goodput:?}"
    );
    assert_eq!(found, rows("fairness", &set, &["linux", "longhaul"], 2));
}

#[test]
fn a_flow_stops_and_leaves_the_path_to_others() {
    let stop = ["flow.orders=given", "flow.company=arm stop=5s + linux"];
    let set = [&SHORT[..], &stop].concat();
    let metrics = &rows("fairness", &set, &["linux"], 1)[0].metrics;
    assert!(metrics.share_pct.unwrap() < 1.0 && metrics.early_share_pct.unwrap() > 20.0, "{metrics:?}");
}

#[test]
fn applications_take_what_they_ask_for() {
    let goodput = |company: &str| {
        let set = [&SHORT[..], &["flow.orders=given", company]].concat();
        rows("fairness", &set, &["linux"], 2)[0].goodput_mbps.median.unwrap()
    };
    // 100 kB in every 500 ms are 1.6 Mbit/s.
    let repeated = goodput("flow.company=arm bytes=100kB every=500ms");
    assert!((1.55..1.65).contains(&repeated), "{repeated}");
    // Half of the time at 10 Mbit/s, and some more until the send buffer is empty.
    let bursts = goodput("flow.company=arm app=onoff on=1s off=1s");
    assert!((4.6..5.6).contains(&bursts), "{bursts}");
    // 100 kB take 80 ms and a round trip; then half a second to think.
    let asked = goodput("flow.company=arm app=request sizes=100kB think=400ms..600ms");
    assert!((1.1..1.4).contains(&asked), "{asked}");
}

#[test]
fn transfers_pings_and_datagrams_have_figures_of_their_own() {
    let metrics = |company: &str| {
        let set = [&SHORT[..], &["flow.orders=given", company]].concat();
        rows("fairness", &set, &["linux"], 2)[0].metrics.clone()
    };
    let alone = metrics("flow.company=arm arrivals=5/s sizes=20kB");
    // 14 packets take 16.8 ms, and with the handshake and half a round trip 54.3 ms; slow start needs two round trips more.
    assert!((60.0..110.0).contains(&alone.completion_p50_ms.unwrap()), "{alone:?}");
    assert!((1.0..2.1).contains(&alone.slowdown_p50.unwrap()) && alone.unfinished_pct.unwrap() < 3.0, "{alone:?}");
    assert_eq!((alone.jain, alone.worst_flow, alone.ping_p95_ms), (None, None, None));
    let beside = metrics("flow.company=arm arrivals=5/s sizes=20kB + linux + ping every=100ms");
    assert!(beside.completion_p50_ms > alone.completion_p50_ms, "{beside:?}");
    assert!((10.0..26.0).contains(&beside.ping_p95_ms.unwrap()), "a buffer of 25 ms: {beside:?}");
    assert!((20.0..26.0).contains(&beside.wait_max_ms.unwrap()) && beside.filled_s.unwrap() < 5.0, "{beside:?}");
    let flooded = metrics("flow.company=arm + datagrams pace=8Mbit size=1250");
    assert!(flooded.datagrams_lost_pct.unwrap() < 10.0 && flooded.utilisation.unwrap() > 0.9, "{flooded:?}");
    assert_eq!((flooded.transfers, flooded.ping_p50_ms, flooded.share_pct), (None, None, Some(100.0)));
    // The others' transfers count where the arm has none.
    let others = metrics("flow.company=arm + linux arrivals=5/s sizes=20kB");
    assert!((60..140).contains(&(others.transfers.unwrap() as u64)), "{others:?}");
    let bulk = metrics("flow.company=arm + linux");
    assert_eq!((bulk.wait_max_ms, bulk.transfers, bulk.harm_pct), (None, None, None), "rows of bulk stay as they were");
}

#[test]
fn harm_is_measured_against_flows_that_are_alone() {
    let set = [&SHORT[..], &["flow.company=arm + linux x3", "flow.harm=measured"]].concat();
    let metrics = &rows("fairness", &set, &["linux"], 1)[0].metrics;
    // One of four equals loses some three quarters; the three lose some quarter.
    assert!((60.0..90.0).contains(&metrics.harm_pct.unwrap()), "{metrics:?}");
    assert!((10.0..40.0).contains(&metrics.harm_done_pct.unwrap()), "{metrics:?}");
    let alone = rows("fairness", &[&SHORT[..], &["flow.company=arm x2", "flow.harm=measured"]].concat(), &["linux"], 1);
    assert_eq!((alone[0].metrics.harm_pct, alone[0].metrics.harm_delay_pct), (None, None));
}

#[test]
fn harm_in_delay_is_that_of_the_queue_and_a_fair_one_does_none_to_pings() {
    let company = "flow.company=arm + linux pace=2Mbit + ping every=50ms";
    let of = |queue: &str| {
        let set = [&SHORT[..], &[company, "flow.harm=measured", "flow.orders=given", queue]].concat();
        rows("fairness", &set, &["linux"], 1)[0].metrics.clone()
    };
    // A path of 25 ms with a buffer of as much: who fills it doubles the round trip of what would not have waited.
    let shared = of("path.queue=droptail");
    for harm in [shared.harm_done_delay_pct, shared.harm_done_ping_pct] {
        assert!((35.0..51.0).contains(&harm.unwrap()), "{shared:?}");
    }
    assert!(shared.harm_delay_pct.unwrap().abs() < 10.0, "the arm fills the queue alone, too: {shared:?}");
    let apart = of("path.queue=fq_codel");
    assert!(apart.harm_done_ping_pct.unwrap() < 10.0 && apart.harm_done_delay_pct.unwrap() < 25.0, "{apart:?}");
}

#[test]
fn applications_are_the_same_for_any_number_of_jobs() {
    let everything = "flow.company=arm app=request sizes=pareto:2kB..200kB:1.1 think=0s..100ms + linux arrivals=9/s sizes=1kB..90kB \
                      + arm app=onoff on=100ms..2s off=100ms..1s + datagrams pace=1Mbit + ping every=50ms";
    let made = |jobs: usize| {
        let mut found = spec::builtin("fairness").expect("built in");
        let set =
            [&SHORT[..], &["flow.harm=measured", everything]].concat().iter().map(|&text| text.to_owned()).collect();
        let overrides =
            Overrides { set, arms: vec!["longhaul".to_owned()], iterations: Some(2), ..Overrides::default() };
        found.apply(&overrides).expect("the overrides are right");
        let finished = execute(&Plan::new(found).unwrap(), &SimBackend, jobs, None, &mut |_| ()).unwrap();
        assert!(finished.failures.is_empty(), "{:?}", finished.failures);
        finished.measured
    };
    let one = made(1);
    assert_eq!(one, made(2));
    assert_ne!(one[0], one[1], "seeds differ");
}

/// Two flows over 10 Mbit/s and 25 ms for 20 seconds, on a path that is more than a pipe.
fn living(life: &str) -> Row {
    let set = [&SHORT[..], &["flow.orders=given", "flow.company=arm + linux", life]].concat();
    let [found, again] = [0, 1].map(|_| rows("fairness", &set, &["linux"], 2).remove(0));
    assert_eq!(found, again, "{life} does not repeat");
    found
}

#[test]
fn a_schedule_changes_the_path_of_several_flows() {
    let goodput = |row: &Row| row.goodput_mbps.median.unwrap() / row.metrics.share_pct.unwrap() * 100.0;
    let plain = living("path.changes=none");
    // Half of the window at half of the rate, of which four fifths of a second are an outage; the use counts what is left.
    let slower = living("path.changes=15s loss=0.01% + 18s outage=800ms + 20s rate=5Mbit + 20s rtt=50ms");
    let expected = goodput(&plain) * (1.0 - 0.25 - 0.04);
    assert!((goodput(&slower) / expected - 1.0).abs() < 0.06, "{slower:?}");
    assert!((0.9..1.0).contains(&slower.metrics.utilisation.unwrap()), "{slower:?}");
    assert!(slower.metrics.wait_p99_ms > plain.metrics.wait_p99_ms, "{slower:?}");
}

#[test]
fn a_model_sets_the_path_of_several_flows() {
    let cell = living("path.model=lte mean=10Mbit hold=100ms..1s");
    let metrics = &cell.metrics;
    assert!((0.6..1.0).contains(&metrics.utilisation.unwrap()), "{metrics:?}");
    assert!(
        metrics.wait_p99_ms.unwrap() > 50.0,
        "at a tenth of the rate the queue takes ten times as long: {metrics:?}"
    );
    let leo = living("path.model=leo every=5s rate=5Mbit..20Mbit");
    assert!(leo.metrics.utilisation.unwrap() > 0.3 && leo.metrics.dropped_of_arm.unwrap() > 0.0, "{leo:?}");
}

#[test]
fn a_policer_limits_several_flows_together() {
    let metrics = living("path.policer=5Mbit/32kB").metrics;
    assert!((0.8..=1.0).contains(&metrics.utilisation.unwrap()), "of what the policer lets pass: {metrics:?}");
    assert!(
        metrics.wait_p99_ms.unwrap() < 15.0 && metrics.dropped_of_arm.unwrap() > 50.0,
        "nothing waits: {metrics:?}"
    );
}

#[test]
fn a_mix_divides_the_flows_and_says_what_one_of_each_side_gets() {
    let mixes = ["flow.company=arm x2 start=0s..2s + linux x2 start=0s..2s", "flow.mix=25%,75%"];
    let set = [&SHORT[..], &["flow.orders=given", "path.buffer=2bdp"], &mixes[..]].concat();
    let found = rows("fairness", &set, &["linux", "server-2016"], 2);
    let figures = |row: &Row| {
        let metrics = &row.metrics;
        let [each, others] = [metrics.each_mbps, metrics.others_each_mbps].map(Option::unwrap);
        (each, others, metrics.share_pct.unwrap())
    };
    for (row, arms, others) in [(0, 1.0, 3.0), (1, 1.0, 3.0), (2, 3.0, 1.0), (3, 3.0, 1.0)] {
        let (each, other, share) = figures(&found[row]);
        assert!((each * arms + other * others - 9.65).abs() < 0.15, "{:?}", found[row]);
        assert!((each * arms / (each * arms + other * others) * 100.0 - share).abs() < 2.0, "{:?}", found[row]);
    }
    let plain = rows("fairness", &[&SHORT[..], &["flow.company=arm x2 + linux x2"]].concat(), &["linux"], 1);
    assert_eq!((plain[0].metrics.each_mbps, plain[0].metrics.others_each_mbps), (None, None));
}

/// Two fair queues of 10 and 5 Mbit/s: the long flow has half of the tighter one, and the others what it leaves.
#[test]
fn a_parking_lot_has_figures_of_both_bottlenecks() {
    let set = [
        "path.rate=10Mbit",
        "path.second.rate=5Mbit",
        "path.queue=fq_codel",
        "path.second.queue=fq_codel",
        "flow.window=10s..30s",
    ];
    let made = || rows("parking-lot", &set, &["linux"], 2);
    let rows = made();
    let (metrics, goodput) = (&rows[0].metrics, rows[0].goodput_mbps.median.unwrap());
    assert!((2.2..2.5).contains(&goodput), "half of 5 Mbit/s: {goodput}");
    // What the bottlenecks carry is 10 + 5 Mbit/s less the long flow's, which counts at both.
    assert!((18.0..22.0).contains(&metrics.share_pct.unwrap()), "2.5 of 12.5: {metrics:?}");
    assert!(metrics.utilisation.unwrap() > 0.95 && metrics.second_utilisation.unwrap() > 0.95, "{metrics:?}");
    assert!(metrics.second_wait_p95_ms > metrics.second_wait_p50_ms && metrics.second_dropped > Some(0.0));
    assert!(metrics.dropped > metrics.second_dropped, "{metrics:?}");
    // The long flow alone would have all of the tighter bottleneck.
    assert!((0.45..0.5).contains(&metrics.efficiency.unwrap()), "{metrics:?}");
    assert_eq!(made(), rows, "the same seed, the same bytes");
}

#[test]
fn an_arm_at_each_bottleneck_has_the_ideal_time_of_the_one_that_takes_longer() {
    let company = "flow.company=arm + arm hops=first + arm hops=second";
    let set = ["path.rate=10Mbit", "path.second.rate=5Mbit", "flow.window=10s..30s", company];
    let metrics = &rows("parking-lot", &set, &["linux"], 1)[0].metrics;
    assert!((0.95..1.02).contains(&metrics.efficiency.unwrap()), "both are full: {metrics:?}");
    assert_eq!(metrics.share_pct, Some(100.0));
}

#[test]
fn one_flow_crosses_both_bottlenecks() {
    let set = ["path.rtt=20ms", "path.rate=20Mbit", "path.second.rate=5Mbit", "path.second.rtt=30ms", "flow.bytes=2MB"];
    let row = &rows("wan", &set, &["linux"], 1)[0];
    let goodput = row.goodput_mbps.median.unwrap();
    assert!((3.5..4.87).contains(&goodput), "{goodput}");
    assert!((0.8..1.0).contains(&row.metrics.efficiency.unwrap()), "{:?}", row.metrics);
    assert_eq!(row.metrics.second_utilisation, None, "figures of several flows");
}
