//! How often verdicts are wrong, tried on goodputs of lossy cells, and probabilities against scipy and statsmodels.
//!
//! `how_sure/make.py` made the data and says how.

use base::Rng;
use longhaul_lab::results::stats::{Comparison, Design, TABLE_ERROR, Verdict, adjusted, compare, judge};
use serde::Deserialize;

#[derive(Deserialize)]
struct Vectors {
    signed_rank: Vec<SignedRank>,
    rank_sum: Vec<RankSum>,
    holm: Vec<Holm>,
    runs_for_three_per_cent: usize,
}

#[derive(Deserialize)]
struct SignedRank {
    ratios: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
struct RankSum {
    one: Vec<f64>,
    other: Vec<f64>,
    p: f64,
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("how_sure/vectors.json")).unwrap()
}

fn pools() -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split(' ').map(|number| number.parse().unwrap()).collect();
    include_str!("how_sure/pools.txt").lines().map(numbers).collect()
}

const SHARED: Design = Design { own_seeds: false, until_decided: false };
const OWN: Design = Design { own_seeds: true, until_decided: false };
const UNTIL_DECIDED: Design = Design { own_seeds: false, until_decided: true };

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn probabilities_are_those_of_scipy_and_statsmodels() {
    let vectors = vectors();
    for SignedRank { ratios, p } in &vectors.signed_rank {
        let pairs: Vec<(f64, f64)> = ratios.iter().map(|ratio| (*ratio, 1.0)).collect();
        let found = judge(&pairs, SHARED).unwrap().p.unwrap();
        assert!(close(found, *p), "{ratios:?}: {found}, not {p}");
    }
    for RankSum { one, other, p } in &vectors.rank_sum {
        let pairs: Vec<(f64, f64)> = one.iter().copied().zip(other.iter().copied()).collect();
        let found = judge(&pairs, OWN).unwrap().p.unwrap();
        assert!(close(found, *p), "{one:?} {other:?}: {found}, not {p}");
    }
    for Holm { p, adjusted: expected } in &vectors.holm {
        assert!(adjusted(p).iter().zip(expected).all(|(found, expected)| close(*found, *expected)), "{p:?}");
    }
}

/// Draws a run of a cell.
fn drawn(pool: &[f64], rng: &mut Rng) -> f64 {
    pool[rng.below(pool.len() as u64) as usize]
}

/// An arm's goodput and the reference's.
type Pair = (f64, f64);

/// Draws as many pairs of equal arms.
fn equal_arms(pool: &[f64], runs: usize, rng: &mut Rng) -> Vec<Pair> {
    (0..runs).map(|_| (drawn(pool, rng), drawn(pool, rng))).collect()
}

/// Returns whether the interval lies on one side of no difference.
fn excludes_one(found: &Comparison) -> bool {
    found.interval.is_some_and(|(lo, hi)| lo > 1.0 || hi < 1.0)
}

fn differs(found: &Comparison) -> bool {
    matches!(found.verdict, Verdict::Better | Verdict::Worse)
}

#[test]
fn two_thousand_tables_of_equal_arms_err_as_seldom_as_they_say() {
    const TABLES: usize = 2_000;
    const RUNS: usize = 20;
    let pools = pools();
    let mut rng = Rng::new(1);
    let (mut without_band, mut with_band, mut tables) = (0, 0, 0);
    for _ in 0..TABLES {
        let found: Vec<Comparison> =
            pools.iter().map(|pool| judge(&equal_arms(pool, RUNS, &mut rng), SHARED).unwrap()).collect();
        without_band += found.iter().filter(|found| excludes_one(found)).count();
        with_band += found.iter().filter(|found| differs(found)).count();
        let p_values: Vec<f64> = found.iter().map(|found| found.p.unwrap()).collect();
        tables += usize::from(adjusted(&p_values).iter().any(|p| *p <= TABLE_ERROR));
    }
    let per_cent = |count: usize, of: usize| count as f64 * 100.0 / of as f64;
    let cells = TABLES * pools.len();
    let (without_band, with_band) = (per_cent(without_band, cells), per_cent(with_band, cells));
    let tables = per_cent(tables, TABLES);
    println!("false: {without_band:.2} % of cells without the band, {with_band:.2} % with it, {tables:.2} % of tables");
    assert!((2.0..=6.0).contains(&without_band) && with_band <= 5.0 && tables <= 6.5);
}

#[test]
fn whoever_looks_after_every_run_errs_no_more_often() {
    const WALKS: usize = 1_000;
    const MOST: usize = 200;
    let pools = pools();
    let mut rng = Rng::new(2);
    let (mut sequential, mut naive) = (0, 0);
    for walk in 0..WALKS {
        let pairs = equal_arms(&pools[walk % pools.len()], MOST, &mut rng);
        let at_some_look = |errs: fn(&[Pair]) -> bool| usize::from((9..=MOST).any(|runs| errs(&pairs[..runs])));
        sequential += at_some_look(|pairs| excludes_one(&judge(pairs, UNTIL_DECIDED).unwrap()));
        naive += at_some_look(|pairs| excludes_one(&compare(pairs).unwrap()));
    }
    println!("of {WALKS} walks, {sequential} err with intervals for every look, {naive} with those for one");
    assert!(sequential <= WALKS / 20 && naive > WALKS / 5);
}

/// The pool with the same shape, but a standard deviation of its logarithms of 5 %.
fn of_five_per_cent(pool: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = pool.iter().map(|goodput| goodput.ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
    logs.iter().map(|log| ((log - mean) / deviation * 0.05).exp()).collect()
}

#[test]
fn three_per_cent_are_found_at_the_runs_of_a_power_calculation_and_soon_when_runs_are_added() {
    const TRIALS: usize = 100;
    const MOST: usize = 1_000;
    let runs = vectors().runs_for_three_per_cent;
    let pools: Vec<Vec<f64>> = pools().iter().map(|pool| of_five_per_cent(pool)).collect();
    let mut rng = Rng::new(3);
    let mut found = 0;
    let mut stops = Vec::new();
    for trial in 0..TRIALS {
        let pool = &pools[trial % pools.len()];
        let planted = |rng: &mut Rng| -> Vec<Pair> {
            equal_arms(pool, MOST, rng).into_iter().map(|(arm, reference)| (arm * 1.03, reference)).collect()
        };
        found += usize::from(judge(&planted(&mut rng)[..runs], SHARED).unwrap().verdict == Verdict::Better);
        let pairs = planted(&mut rng);
        let decided = |runs: &usize| differs(&judge(&pairs[..*runs], UNTIL_DECIDED).unwrap());
        stops.push((9..=MOST).find(decided).unwrap_or(MOST));
    }
    stops.sort_unstable();
    let median = stops[TRIALS / 2];
    println!("{found} of {TRIALS} found with {runs} runs; adding runs stopped at a median of {median}");
    assert!(found >= 80 && median * 2 <= runs * 3);
}
