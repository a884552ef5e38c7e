//! Estimators, verdicts and texts on known results, and the claims that are built in.

use super::claim::{Range, above, at_least, at_most, below, between};
use super::evidence::plans;
use super::*;
use crate::plan::RunSpec;
use crate::run::{Backend, Measured, MockBackend, RunFailure};
use base::Rng;
use test_case::test_case;

const ARMS: &[StudyArm] = &[
    StudyArm::profile("server-2022"),
    StudyArm::profile("server-2019"),
    StudyArm::profile("server-2016"),
    StudyArm::with("without", "server-2022", &[("recovery.probe.kind", "none")]),
];

static TEN: Study = Study::of("ten", "wan", ARMS);
static FIFTY: Study = Study { name: "fifty", iterations: 50, ..TEN };
static FIVE: Study = Study { name: "five", iterations: 5, ..TEN };
static BROKEN: Study = Study { name: "broken", set: &["flow.bytes=13B,1kB", "path.rtt=25ms"], ..TEN };

const fn estimate(study: &'static Study, what: What, across: Across) -> Estimate {
    Estimate { study, cells: &[], arm: "server-2022", over: &["server-2019", "server-2016"], what, across }
}

fn evidence_by(backend: &dyn Backend, studies: &[&'static Study]) -> Evidence {
    let mut evidence = Evidence::default();
    for (study, plan) in plans(studies).unwrap() {
        evidence.make(study, plan, Backends { plain: backend, watching: backend }, 2, None, &mut |_| ()).unwrap();
    }
    evidence
}

fn evidence(study: &'static Study) -> Evidence {
    evidence_by(&MockBackend, &[study])
}

fn number(estimate: Estimate) -> Option<f64> {
    let evidence = evidence(estimate.study);
    let value = estimate.of(&evidence.of(estimate.study).unwrap().once());
    value.map(|value| (value.number * 1e6).round() / 1e6)
}

/// The stand-in's second arm is half as fast as its first; every other run sends 100 bytes again.
#[test_case(What::Wins, Across::Sum, Some(8.0); "wins in eight cells")]
#[test_case(What::Gain, Across::Largest, Some(100.0))]
#[test_case(What::Times, Across::Smallest, Some(2.0))]
#[test_case(What::MedianGain, Across::Together, Some(100.0))]
#[test_case(What::Less(quantity::seconds), Across::Together, Some(2.0))]
#[test_case(What::Change(quantity::retransmitted), Across::Together, Some(0.0))]
#[test_case(What::Change(quantity::seconds), Across::Together, Some(-50.0))]
#[test_case(What::Share(quantity::episodes_without_timeout, quantity::episodes), Across::Together, Some(100.0))]
#[test_case(What::Share(quantity::rtos, quantity::rtos), Across::Together, None; "a share of nothing")]
#[test_case(What::Points(quantity::episodes_without_timeout, quantity::episodes,), Across::Together, Some(0.0))]
#[test_case(What::Mean(quantity::retransmitted), Across::Together, Some(50.0))]
#[test_case(What::Mean(quantity::repair_ms), Across::Together, None; "what the runs cannot tell")]
#[test_case(What::TailGain, Across::Largest, None; "a tail of ten runs")]
fn number_of_known_results(what: What, across: Across, expected: Option<f64>) {
    assert_eq!(number(estimate(&TEN, what, across)), expected);
}

#[test]
fn a_tail_needs_fifty_runs() {
    assert_eq!(number(estimate(&FIFTY, What::TailGain, Across::Smallest)), Some(100.0));
}

#[test]
fn the_slower_arm_wins_nowhere_and_the_best_of_the_others_is_named() {
    let slow = Estimate { over: &["server-2016", "server-2022"], ..estimate(&TEN, What::Times, Across::Largest) };
    let slow = slow.for_arm("server-2019");
    let evidence = evidence(&TEN);
    let value = slow.of(&evidence.of(&TEN).unwrap().once()).unwrap();
    assert!((value.number - 0.5).abs() < 1e-9);
    assert_eq!(value.over, Some("server-2022"));
    assert_eq!(number(Estimate { what: What::Wins, across: Across::Sum, ..slow }), Some(0.0));
}

#[test]
fn only_the_cells_that_are_asked_for_count() {
    let mean = |cells| Estimate { cells, ..estimate(&TEN, What::Mean(quantity::seconds), Across::Together) };
    // A megabyte at a megabit takes 8 s; the mean of ten runs is 0.55 % longer.
    let eight = |seconds: f64| Some((seconds * 1e6 * (7_992.0 + 8.0 * 5.5) / 8_000.0).round() / 1e6);
    assert_eq!(number(mean(&["flow.bytes=32MB"])), eight(256.0));
    assert_eq!(number(mean(&["flow.bytes=128MB", "path.rtt=25ms"])), eight(1_024.0));
    assert_eq!(number(mean(&["flow.bytes=64MB"])), None);
}

#[test]
fn more_is_the_difference_to_the_cell_with_the_other_setting() {
    let settings = ["flow.bytes=128MB", "flow.bytes=32MB"];
    let more = estimate(&TEN, What::More(quantity::retransmitted, settings), Across::Largest);
    assert_eq!(number(Estimate { cells: &["flow.bytes=128MB"], ..more }), Some(0.0));
    let seconds = estimate(&TEN, What::More(quantity::seconds, settings), Across::Smallest);
    let found = number(Estimate { cells: &["flow.bytes=128MB"], ..seconds }).unwrap();
    assert!((found - 768.0 * 1.0045).abs() < 1e-3, "{found}");
    assert_eq!(number(seconds), None, "a cell of 32 MB has no sibling");
}

/// Runs whose speed is their iteration; the first arm's are twice that.
struct Uneven;
impl Backend for Uneven {
    fn run(&self, spec: &RunSpec) -> Result<Measured, RunFailure> {
        let pace = u64::from(spec.iteration) * if spec.arm == 0 { 2 } else { 1 };
        Ok(Measured { rtos: Some(pace), ..Measured::of_transfer(1_000_000 * pace, base::Duration::from_secs(8)) })
    }
}

#[test]
fn intervals_hold_the_number_keep_pairs_and_need_six_seeds() {
    static CLAIM: Claim = claim(estimate(&TEN, What::Mean(quantity::rtos), Across::Together), None);
    static PAIRS: Claim = claim(estimate(&TEN, What::Times, Across::Smallest), None);
    static FEW: Claim = claim(estimate(&FIVE, What::Times, Across::Smallest), None);
    let evidence = evidence_by(&Uneven, &[&TEN, &FIVE]);
    let spread = find(&CLAIM, &evidence);
    let (lo, hi) = spread.interval.unwrap();
    assert!(lo < 11.0 && 11.0 < hi && lo > 8.0 && hi < 14.0, "{lo} {hi}");
    assert_eq!(spread.measured, Some(11.0));
    assert_eq!(find(&CLAIM, &evidence).interval, Some((lo, hi)), "equal runs give equal intervals");
    let pairs = find(&PAIRS, &evidence);
    assert_eq!((pairs.measured, pairs.interval), (Some(2.0), Some((2.0, 2.0))));
    assert_eq!(find(&FEW, &evidence).interval, None);
}

const fn claim(estimate: Estimate, band: Option<Band>) -> Claim {
    Claim {
        id: "row",
        claim: "A claim",
        source: "a test",
        published: "twice",
        unit: Unit::Times,
        band,
        measure: Measure::Runs(estimate),
        nothing: Nothing::Is(1.0),
        ablations: &[],
        facts: &[],
        shows: "{measured}, {where}.",
        reason: "It is {measured}.",
    }
}

#[test]
fn a_finding_names_number_place_verdict_and_reason() {
    const TIMES: Estimate = estimate(&TEN, What::Times, Across::Smallest);
    const MORE: Band = Band { published: Published::Number(3.0), inside: above(2.5), direction: above(1.0) };
    static CLAIM: Claim = Claim {
        ablations: &[
            Ablation { ingredient: "probes", without: TIMES.for_arm("without") },
            Ablation { ingredient: "nothing", without: TIMES },
        ],
        facts: &[Fact { name: "again", estimate: TIMES, decimals: 1 }],
        shows: "{measured}, or {again}, {where}.",
        ..claim(TIMES, Some(MORE))
    };
    let found = find(&CLAIM, &evidence(&TEN));
    assert_eq!(found.verdict, Verdict::Direction);
    assert!(found.place.starts_with("at rtt=25ms bytes=") && found.place.ends_with(", over server-2019"));
    assert_eq!(found.shows, format!("2.00, or 2.0, {}.", found.place));
    let missed = "The measured effect is 50 % of the published one; 75 to 125 % would reproduce it.";
    assert_eq!(found.reason, Some(format!("{missed} It is 2.00.")));
    // The arm without probes is the fourth, half as fast as the second: nothing is left of the effect, or less.
    let shares: Vec<(&str, f64)> = found.ablated.iter().map(|c| (c.ingredient, c.share_pct.round())).collect();
    assert_eq!(shares, [("probes", 150.0), ("nothing", 0.0)]);
    assert!(found.ablated[0].carries() && !found.ablated[1].carries());
    let leaves: Vec<&str> = found.ablated[0].differs.keys().map(String::as_str).collect();
    let probe =
        ["recovery.probe.after_ack", "recovery.probe.kind", "recovery.probe.max_ack_delay", "recovery.probe.pto_min"];
    assert_eq!((leaves.as_slice(), found.ablated[1].differs.len()), (&probe[..], 0));
}

#[test]
fn without_a_band_a_row_is_reported_and_with_a_failed_run_it_says_so() {
    static FREE: Claim = claim(estimate(&TEN, What::Times, Across::Smallest), None);
    assert_eq!(find(&FREE, &evidence(&TEN)).verdict, Verdict::Reported);
    static FAILED: Claim = claim(
        estimate(&BROKEN, What::Times, Across::Smallest),
        Some(Band { published: Published::Bound(above(1.0)), inside: above(1.0), direction: above(0.0) }),
    );
    let found = find(&FAILED, &evidence(&BROKEN));
    assert_eq!((found.verdict, found.measured, found.interval), (Verdict::NotReproduced, None, None));
    let reason = found.reason.unwrap();
    assert!(reason.starts_with("40 runs failed, first run 1/server-2022/1 of broken, seed "), "{reason}");
    assert_eq!(found.shows, "–, .");
}

#[test]
fn examples_are_counted() {
    static EXACT: Claim = Claim {
        unit: Unit::Examples,
        measure: Measure::Examples(|| (9, 10)),
        ..claim(
            estimate(&TEN, What::Wins, Across::Sum),
            Some(Band {
                published: Published::Bound(between(10.0, 10.0)),
                inside: between(10.0, 10.0),
                direction: above(0.0),
            }),
        )
    };
    let found = find(&EXACT, &Evidence::default());
    assert_eq!((found.measured, found.verdict), (Some(9.0), Verdict::Direction));
}

#[test_case(between(25.0, 100.0), above(0.0), &[(25.0, "in band"), (100.0, "in band"), (24.9, "direction"), (100.1, "direction"), (0.0, "not reproduced"), (-5.0, "not reproduced")])]
#[test_case(above(1.0), at_least(0.99), &[(1.0, "direction"), (1.000_1, "in band"), (0.99, "direction"), (0.98, "not reproduced")])]
#[test_case(at_least(5.0), above(1.0), &[(5.0, "in band"), (4.99, "direction"), (1.0, "not reproduced")])]
#[test_case(at_most(1.0), at_most(10.0), &[(0.0, "in band"), (1.0, "in band"), (1.1, "direction"), (10.1, "not reproduced")])]
#[test_case(between(-90.0, -35.0), below(0.0), &[(-35.0, "in band"), (-34.9, "direction"), (0.0, "not reproduced"), (3.0, "not reproduced"), (f64::NAN, "not reproduced")])]
fn the_edges_of_bands(inside: Range, direction: Range, expected: &[(f64, &str)]) {
    // Far from every number of the table.
    let band = Band { published: Published::Number(1_000.0), inside, direction };
    for (number, verdict) in expected {
        assert_eq!(band.judge(Unit::Percent, Some(*number), None).word(), *verdict, "{number}");
    }
    assert_eq!(band.judge(Unit::Percent, None, None), Verdict::NotReproduced);
}

/// A band that contains every number: whatever is not reproduced is in band.
fn verdict(published: Published, unit: Unit, measured: f64, interval: Option<(f64, f64)>) -> &'static str {
    let band = Band { published, inside: at_least(f64::MIN), direction: at_least(f64::MIN) };
    band.judge(unit, Some(measured), interval).word()
}

#[test_case(60.0, Unit::Percent, 36.7, "in band"; "three fifths of a gain")]
#[test_case(60.0, Unit::Percent, 45.0, "reproduced"; "three quarters of a gain")]
#[test_case(60.0, Unit::Percent, 75.1, "in band"; "more than five quarters of a gain")]
#[test_case(-50.0, Unit::Percent, -54.1, "reproduced"; "a loss of nearly the size")]
#[test_case(-50.0, Unit::Percent, 50.0, "in band"; "the wrong sign")]
#[test_case(1.75, Unit::Times, 1.66, "reproduced"; "a multiple of nearly the size")]
#[test_case(1.75, Unit::Times, 1.5, "in band"; "of a multiple the effect is what exceeds one")]
#[test_case(7.0, Unit::Mbit, 9.27, "in band"; "a rate beyond a quarter")]
fn a_published_number_is_reproduced_within_a_quarter_of_its_effect(
    published: f64,
    unit: Unit,
    measured: f64,
    expected: &str,
) {
    assert_eq!(verdict(Published::Number(published), unit, measured, None), expected);
}

#[test_case(above(40.0), 28.44, (24.67, 35.07), "in band"; "a bound that the number misses")]
#[test_case(at_least(5.0), 5.89, (5.12, 6.51), "reproduced"; "a bound that the whole interval keeps")]
#[test_case(at_least(5.0), 5.89, (4.99, 6.51), "in band"; "a bound that the interval does not keep")]
#[test_case(between(-3.0, 3.0), 2.9, (2.7, 3.1), "in band"; "an interval that leaves at the other end")]
fn a_published_bound_is_reproduced_where_the_interval_keeps_it(
    bound: Range,
    measured: f64,
    interval: (f64, f64),
    expected: &str,
) {
    for published in [Published::Bound(bound), Published::Words(bound)] {
        assert_eq!(verdict(published, Unit::Times, measured, Some(interval)), expected);
        assert_eq!(verdict(published, Unit::Times, measured, None), "in band", "without an interval nothing is sure");
    }
}

/// A row is judged by the number that its text shows.
#[test]
fn the_published_number_of_every_row_stands_in_its_text() {
    use core::ops::Bound::{Excluded, Included, Unbounded};
    for claim in claims::all() {
        let Some(band) = claim.band else { continue };
        let numbers = match band.published {
            Published::Number(number) => vec![number],
            Published::Bound((lo, hi)) => {
                let end = |end| match end {
                    Included(number) | Excluded(number) => Some(number),
                    Unbounded => None,
                };
                [lo, hi].into_iter().filter_map(end).collect()
            }
            Published::Words(_) => {
                assert!(!claim.published.contains(|c: char| c.is_ascii_digit()), "{}: words have no number", claim.id);
                continue;
            }
        };
        let stands = |number: f64| claim.published.replace('−', "-").contains(&number.to_string());
        // One is above the other, and a difference of two shares is not written as a difference.
        let exempt = ["accident-25ms", "hystart-recovery"].contains(&claim.id);
        assert!(exempt || numbers.iter().all(|number| stands(*number)), "{}: {numbers:?}", claim.id);
    }
}

#[test_case(between(8.0, 8.0), Unit::Cells, "8 cells")]
#[test_case(between(25.0, 100.0), Unit::Percent, "+25 % … +100 %")]
#[test_case(between(-90.0, -35.0), Unit::Percent, "−90 % … −35 %")]
#[test_case(at_least(5.0), Unit::Times, "≥ 5×")]
#[test_case(above(1.0), Unit::Times, "> 1×")]
#[test_case(at_most(1.0), Unit::Per10Mb, "≤ 1 per 10 MB")]
fn bands_in_words(inside: Range, unit: Unit, expected: &str) {
    assert_eq!(Band { published: Published::Words(inside), inside, direction: inside }.text(unit), expected);
}

#[test_case(Unit::Percent, 36.66, "+36.7 %")]
#[test_case(Unit::Percent, -0.04, "+0.0 %"; "what rounds to nothing has no sign of its own")]
#[test_case(Unit::Points, -3.21, "−3.2 points")]
#[test_case(Unit::Times, 1.746, "1.75×")]
#[test_case(Unit::Milliseconds, 399.4, "399 ms")]
fn numbers_in_words(unit: Unit, number: f64, expected: &str) {
    assert_eq!(unit.show(number), expected);
}

#[test]
fn seeds_are_drawn_again_cell_by_cell() {
    let evidence = evidence(&TEN);
    let runs = evidence.of(&TEN).unwrap();
    let mut rng = Rng::new(1);
    let texts: Vec<String> = (0..3).map(|_| format!("{:?}", runs.again(&mut rng).unwrap().iterations())).collect();
    assert!(texts[0] != texts[1] && texts[1] != texts[2]);
}

#[test]
fn every_claim_s_studies_unfold_and_its_words_are_in_order() {
    let mut ids: Vec<&str> = Vec::new();
    for claim in claims::all() {
        let made = plans(&claim.studies().collect::<Vec<_>>()).unwrap();
        assert!(made.iter().all(|(_, plan)| !plan.runs.is_empty()), "{}", claim.id);
        let places = claim.shows.matches('{').chain(claim.reason.matches('{')).count();
        let known = claim.facts.iter().map(|fact| fact.name).chain(["measured", "where"]);
        let filled: usize = known
            .map(|name| [claim.shows, claim.reason].map(|text| text.matches(&format!("{{{name}}}")).count()))
            .map(|n| n[0] + n[1])
            .sum();
        assert_eq!(places, filled, "{}: a place in the text has no fact", claim.id);
        let unused = claim
            .facts
            .iter()
            .find(|fact| ![claim.shows, claim.reason].iter().any(|text| text.contains(&format!("{{{}}}", fact.name))));
        assert!(unused.is_none(), "{}: {unused:?}", claim.id);
        assert!(!claim.shows.is_empty() && !claim.claim.ends_with('.'), "{}", claim.id);
        assert!(claim.band.is_some() || !claim.reason.is_empty(), "{}: no band and no reason", claim.id);
        ids.push(claim.id);
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "names are unique");
}

/// Every estimate of every claim finds its cells and arms: on known results none is empty but those that the stand-in
/// cannot provide.
#[test]
fn every_estimate_finds_its_runs() {
    for claim in claims::all() {
        let evidence = evidence_by(&MockBackend, &claim.studies().collect::<Vec<_>>());
        let estimates = claim.estimates();
        for estimate in estimates {
            let runs = evidence.of(estimate.study).unwrap();
            assert!(estimate.is_found_in(runs), "{}: {estimate:?}", claim.id);
        }
    }
}
