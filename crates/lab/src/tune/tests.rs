//! The search finds what was planted, and says so only where it is there.

use super::objective::{Broken, percent};
use super::search::Task;
use super::*;
use crate::plan::RunSpec;
use crate::run::{Backend, Measured, RunFailure, Store};
use crate::spec::{self, Ends, Experiment, Overrides};
use base::{Duration, Rng};
use profiles::Profile;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A hundred milliseconds and noise of 2 %, times what leaves cost: `ack.delay` is best at 30 ms, `rto.min` does nothing, and a
/// `cc.slow_start.growth_percent` of 100 sends a tenth again and gains much.
#[derive(Default)]
struct Planted {
    made: AtomicUsize,
}

impl Backend for Planted {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        self.made.fetch_add(1, Ordering::Relaxed);
        let Ends::Profile(config) = &*run.ends else { return Err(RunFailure("profiles only".to_owned())) };
        let leaf = |path: &str| profiles::find_leaf(path).unwrap().read(config).unwrap_or_default();
        let cost = match leaf("ack.delay").as_str() {
            "30ms" => 0,
            "20ms" | "40ms" => 100,
            "60ms" => return Err(RunFailure("on purpose".to_owned())),
            _ => 300,
        };
        let greedy = leaf("cc.slow_start.growth_percent") == "100";
        let noise = Rng::new(run.seed).next_u64() % 200 + Rng::new(run.seed).fork(&leaf("ack.delay")).next_u64() % 20;
        let per_mille = 1_000 + cost + noise / 10 - if greedy { 400 } else { 0 };
        let elapsed = Duration::from_micros(100 * per_mille);
        let again = Some(if greedy { 100_000 } else { 0 });
        Ok(Measured {
            bytes_sent: Some(1_000_000),
            bytes_retransmitted: again,
            ..Measured::of_transfer(1_000_000, elapsed)
        })
    }
}

fn experiment() -> Experiment {
    let set = vec!["path.rtt=25ms,50ms".to_owned(), "flow.bytes=1MB".to_owned()];
    let mut experiment = spec::builtin("wan").unwrap();
    experiment.apply(&Overrides { set, ..Overrides::default() }).unwrap();
    experiment
}

fn ground(seed: u64) -> Ground {
    Ground::new(vec![experiment()], 8, seed).unwrap()
}

fn profile(name: &str) -> Arc<Profile> {
    profiles::find(name).unwrap()
}

fn choices(texts: &[&str]) -> Vec<Choices> {
    texts.iter().map(|text| Choices::parse(text, &profile("longhaul")).unwrap()).collect()
}

fn searched(texts: &[&str], budget: usize, jobs: usize, backend: &Planted, store: Option<&mut Store>) -> Found {
    let (profile, against, choices) = (profile("longhaul"), profile("linux"), choices(texts));
    let task = Task { profile: &profile, against: &against, choices: &choices, budget };
    let maker = Maker { backend, jobs, store, begins: &mut |_| {}, done: &mut |_| {} };
    search(&task, &ground(77), &ground(78), maker).unwrap()
}

const LEAVES: [&str; 3] = ["rto.min=300ms", "longhaul.ack.delay=20ms,30ms,50ms", "cc.slow_start.growth_percent=100"];

#[test]
fn a_planted_best_is_found_and_confirmed_and_what_breaks_a_bound_is_not_taken() {
    let found = searched(&LEAVES, 10_000, 2, &Planted::default(), None);
    assert_eq!(found.best.to_string(), "ack.delay=30ms");
    let (gain, broken) = found.confirmed.unwrap();
    let (lo, hi) = gain.interval.unwrap();
    assert!(broken.is_empty() && lo > 0.0 && percent(gain.gain) > 8.0 && percent(hi) < 12.0, "{gain:?}");
    let of = |text: &str| &found.steps.iter().find(|step| step.setting.to_string() == text).unwrap().outcome;
    assert_eq!((of("as it is"), of("rto.min=300ms")), (&Outcome::Present, &Outcome::NoGain));
    assert_eq!((of("ack.delay=30ms"), of("ack.delay=50ms")), (&Outcome::Taken, &Outcome::NoGain));
    let Outcome::Breaks(broken) = of("ack.delay=30ms cc.slow_start.growth_percent=100") else {
        panic!("{:?}", found.steps)
    };
    assert!(
        matches!(broken.as_slice(), [Broken::SentAgain(cell, points)] if cell.starts_with("wan ") && (*points - 8.0).abs() < 1e-9),
        "{broken:?}"
    );
}

#[test]
fn where_nothing_is_better_the_search_says_so() {
    let found = searched(&["rto.min=300ms,400ms", "ack.delay=50ms"], 10_000, 1, &Planted::default(), None);
    assert!(found.best.is_empty() && found.confirmed.is_none() && !found.out_of_budget);
    assert_eq!(found.steps.len(), 4);
}

#[test]
fn a_setting_whose_runs_fail_is_not_taken_and_the_first_failure_is_named() {
    let found = searched(&["ack.delay=60ms"], 10_000, 1, &Planted::default(), None);
    assert_eq!(found.steps[1].outcome, Outcome::Breaks(vec![Broken::Failed(16)]));
    let failure = found.failure.unwrap();
    assert!(failure.starts_with("run 1/longhaul ack.delay=60ms/1 of wan (path.rtt=25ms, seed "), "{failure}");
}

#[test]
fn neither_threads_nor_what_a_store_holds_change_the_result_and_nothing_is_made_twice() {
    let folder = tempfile::tempdir().unwrap();
    let same = |one: &Found, other: &Found| {
        let texts = |found: &Found| found.steps.iter().map(|step| format!("{step:?}")).collect::<Vec<_>>();
        assert_eq!(texts(one), texts(other));
        assert_eq!((&one.best, &one.confirmed, one.runs), (&other.best, &other.confirmed, other.runs));
    };
    let whole = searched(&LEAVES, 10_000, 1, &Planted::default(), None);
    // A budget that ends the search early stands for a kill: what was made is kept.
    let first = Planted::default();
    let early = searched(&LEAVES, 150, 3, &first, Some(&mut Store::open(folder.path()).unwrap()));
    assert!(early.out_of_budget && early.steps.len() < whole.steps.len());
    let second = Planted::default();
    let later = searched(&LEAVES, 10_000, 3, &second, Some(&mut Store::open(folder.path()).unwrap()));
    same(&whole, &later);
    let made = |backend: &Planted| backend.made.load(Ordering::Relaxed);
    assert_eq!(made(&first) + made(&second), whole.runs);
    assert!(made(&first) > 0 && made(&second) > 0);
    let third = Planted::default();
    same(&whole, &searched(&LEAVES, 10_000, 2, &third, Some(&mut Store::open(folder.path()).unwrap())));
    assert_eq!(made(&third), 0);
}

#[test]
fn a_budget_is_never_exceeded() {
    for budget in [130, 150, 200, 260] {
        let backend = Planted::default();
        let found = searched(&LEAVES, budget, 1, &backend, None);
        assert!(found.runs <= budget && backend.made.load(Ordering::Relaxed) == found.runs, "{budget}: {}", found.runs);
    }
}

#[test]
fn a_leaf_without_effect_is_a_candidate_for_deletion_and_one_with_an_effect_is_not() {
    let (profile, against) = (profile("longhaul"), profile("linux"));
    let around = |leaf| Choices::around(leaf, &profile).unwrap();
    let delays = choices(&["ack.delay=20ms,60ms,200ms"]).remove(0);
    let choices = [around("rto.min"), delays, around("recovery.undo.dsack")];
    let (backend, ground) = (Planted::default(), ground(77));
    let maker = Maker { backend: &backend, jobs: 2, store: None, begins: &mut |_| {}, done: &mut |_| {} };
    let found = sensitivity(&profile, &against, &choices, &mut Trials::new(&ground, maker)).unwrap();
    let candidates: Vec<&str> =
        found.leaves.iter().filter(|leaf| leaf.is_candidate_for_deletion()).map(|leaf| leaf.choices.leaf).collect();
    assert_eq!(candidates, ["rto.min", "recovery.undo.dsack"]);
    assert_eq!(found.leaves[0].cells(), Vec::<usize>::new());
    assert_eq!(found.leaves[1].cells(), [0, 1]);
    let tried: Vec<&str> = found.leaves[1].effects.iter().map(|effect| effect.value.as_str()).collect();
    assert_eq!(tried, ["20ms", "60ms", "200ms"]);
    let [(setting, effect)] = found.together.as_slice() else { panic!("{:?}", found.together) };
    assert_eq!(setting.to_string(), "recovery.undo.dsack=off rto.min=1s");
    assert!(effect.gain.gain.abs() < 0.001);
}

#[test]
fn values_that_do_not_fit_are_refused_and_the_rest_is_searched() {
    let found = searched(&["rto.min=5s", "ack.delay=30ms"], 10_000, 1, &Planted::default(), None);
    let Outcome::Refused(why) = &found.steps[1].outcome else { panic!("{:?}", found.steps[1]) };
    assert!(why.starts_with("rto.initial: must lie between rto.min and rto.max"), "{why}");
    assert_eq!(found.best.to_string(), "ack.delay=30ms");
}

#[test]
fn the_seed_that_judges_is_refused() {
    let refused = Ground::new(vec![experiment()], 6, 1).unwrap_err().to_string();
    assert_eq!(refused, "--seed 1: with this seed `wan` judges what was tuned; take another");
}

#[test]
fn the_ground_has_no_cell_that_judges_and_its_weights_make_one() {
    let ground = Ground::new(Ground::train().unwrap(), 6, 1_000).unwrap();
    let sum: f64 = ground.places().iter().map(|place| place.weight).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    let judging = spec::builtin("robust").unwrap().cells;
    let hold_out = |cell: &str| judging.iter().any(|known| known.name == cell && known.role == spec::Role::HoldOut);
    let robust: Vec<&str> =
        ground.places().iter().filter(|place| place.experiment == "robust").map(|place| place.cell.as_str()).collect();
    assert!(robust.len() > 20 && !robust.iter().any(|cell| hold_out(cell)), "{robust:?}");
}

#[test]
fn one_path_is_that_of_the_command_line() {
    let set = vec!["path.rate=20Mbit".to_owned(), "path.rtt=20ms,80ms".to_owned()];
    let ground = Ground::new(Ground::path(set).unwrap(), 6, 1_000).unwrap();
    let rtts: Vec<Duration> = ground.places().iter().map(|place| place.point.rtt).collect();
    assert_eq!(rtts, [20, 80].map(Duration::from_millis));
    assert_eq!((ground.names(), ground.runs()), (vec!["path"], 12));
}

#[test]
fn what_differs_from_the_root_is_varied() {
    let profile = profile("longhaul");
    let all = Choices::of_profile(&profile);
    let of = |leaf: &str| {
        all.iter().find(|choices| choices.leaf == leaf).map(|choices| choices.values.clone()).unwrap_or_default()
    };
    assert_eq!(of("rto.min"), ["100ms", "300ms", "1s"]);
    assert_eq!(of("recovery.undo.dsack"), ["off"]);
    assert_eq!(of("cc.slow_start.kind"), ["classic"]);
    assert_eq!(of("cc.slow_start.growth_percent"), ["100", "300"]);
    assert!(all.iter().all(|choices| choices.leaf != "rto.initial"), "as the root has it");
}

#[test]
fn a_wrong_leaf_is_refused_with_a_remedy() {
    let refused = |text: &str| Choices::parse(text, &profile("longhaul")).unwrap_err().to_string();
    for (text, message) in [
        (
            "rto.mim=1s",
            "--leaf rto.mim=1s: unknown leaf `rto.mim`: did you mean `rto.min`?; `longhaul profiles longhaul` shows its leaves",
        ),
        (
            "rto.min",
            "--leaf rto.min: `rto.min` is not LEAF=VALUE,…; write for example `recovery.detector.lateness_max_srtts=4,16`",
        ),
        (
            "rto.min=2d",
            "--leaf rto.min=2d: `rto.min`: `2d` is not a valid duration: use a number and one of ns, us, ms, s, min, h, for example `25ms`; `longhaul profiles longhaul` shows its leaves",
        ),
        (
            "rto.min=200ms",
            "--leaf rto.min=200ms: `rto.min` has that value in `longhaul` already; name at least one other",
        ),
    ] {
        assert_eq!(refused(text), message);
    }
    let error = Choices::around("cc.avoidance.gamma", &profile("longhaul")).unwrap_err().to_string();
    assert!(error.starts_with("--leaf cc.avoidance.gamma: "), "{error}");
}
