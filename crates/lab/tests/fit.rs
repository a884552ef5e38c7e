//! The fit finds what was planted, alike from equal seeds, and moves nothing that is documented.

use base::{Duration, Rng};
use longhaul_lab::headlines::claim::{above, at_least, between};
use longhaul_lab::headlines::fit::evaluate::evaluate;
use longhaul_lab::headlines::fit::sample::{hypercube, neighbours, present};
use longhaul_lab::headlines::fit::trials::{Effort, Trials, World};
use longhaul_lab::headlines::fit::{Fit, Found, Group, Maker, Parameter, Space, loss, search, space};
use longhaul_lab::headlines::{
    Across, Band, Claim, Estimate, Measure, Nothing, Published, Study, StudyArm, Unit, Verdict, What, claims,
};
use longhaul_lab::{Backend, Ends, Measured, RunFailure, RunSpec};
use test_case::test_case;

const ARMS: &[StudyArm] = &[
    StudyArm::profile("server-2022"),
    StudyArm::profile("server-2019"),
    StudyArm::with("no-prr", "server-2019", &[("recovery.reduction.kind", "pipe")]),
    StudyArm::profile("linux"),
];

static STUDY: Study = Study { set: &["path.rtt=25ms,200ms", "flow.bytes=1MB"], ..Study::of("planted", "wan", ARMS) };

const fn row(id: &'static str, arm: &'static str, over: &'static [&'static str], published: Published) -> Claim {
    let measure =
        Measure::Runs(Estimate { study: &STUDY, cells: &[], arm, over, what: What::Times, across: Across::Together });
    let band = Some(Band { published, inside: above(0.0), direction: above(0.0) });
    Claim {
        id,
        claim: "A claim",
        source: "a test",
        published: "a number",
        unit: Unit::Times,
        band,
        measure,
        nothing: Nothing::Is(1.0),
        ablations: &[],
        facts: &[],
        shows: "{measured}",
        reason: "",
    }
}

/// The first two are what the planted settings make; none makes the third together with the first; the fourth is arithmetic.
static ROWS: [Claim; 4] = [
    row("of-2022", "server-2022", &["linux"], Published::Number(4.0)),
    row("of-2019", "server-2019", &["linux"], Published::Number(3.0)),
    row("fast-2022", "server-2022", &["linux"], Published::Bound(at_least(8.0))),
    Claim {
        measure: Measure::Examples(|| (1, 1)),
        ..row("examples", "linux", &[], Published::Bound(between(1.0, 1.0)))
    },
];

fn rows() -> Vec<&'static Claim> {
    ROWS.iter().collect()
}

/// The leaf's value in the configuration of a run.
fn leaf(run: &RunSpec, path: &str) -> String {
    let Ends::Profile(config) = &*run.ends else { panic!("arms are profiles") };
    profiles::find_leaf(path).unwrap().read(config).unwrap_or_default()
}

/// `linux` takes 8 s for a run; the servers' speed depends on two leaves.
struct Planted;

impl Backend for Planted {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let of = |path| leaf(run, path);
        let speed: u64 = match (of("receive.window.factor_percent").as_str(), of("receive.window.share").as_str()) {
            ("300", "0.25") => 3_000,
            ("300", "0.125") => 4_000,
            ("800", _) => 9_000,
            ("150", _) => 1_500,
            _ => 1_000,
        };
        Ok(Measured::of_transfer(1_000_000, Duration::from_micros(8_000_000 * 1_000 / speed)))
    }
}

fn parameter(name: &str, values: &[&str], now: usize) -> Parameter {
    Parameter { name: name.to_owned(), values: values.iter().map(|value| (*value).to_owned()).collect(), now }
}

fn space() -> Space {
    let parameters = || {
        vec![
            parameter("receive.window.factor_percent", &["150", "300", "800"], 2),
            parameter("receive.window.share", &["0.125", "0.25"], 0),
            parameter("ack.delay", &["20ms", "30ms", "40ms", "50ms"], 2),
        ]
    };
    let group = |name: &str| Group { name: name.to_owned(), parameters: parameters() };
    Space {
        world: Group { name: space::WORLD.to_owned(), parameters: vec![parameter(space::JITTER, &["0", "100us"], 1)] },
        profiles: vec![group("server-2019"), group("server-2022")],
    }
}

fn fitted(jobs: usize, seed: u64) -> (Fit, Found) {
    let fit = Fit { space: space(), worlds: 2, settings: 24, rounds: 2, seed };
    let (mut begun, mut made) = (0, 0);
    let (mut begins, mut done) = (|runs: usize| begun += runs, |_: &RunSpec| made += 1);
    let mut maker = Maker { backend: &Planted, jobs, store: None, begins: &mut begins, done: &mut done };
    let found = search(&fit, &rows(), &mut maker).unwrap();
    assert!(begun > 0);
    assert_eq!(made, found.runs);
    (fit, found)
}

#[test]
fn a_planted_truth_is_found_and_confirmed_with_all_runs() {
    let (fit, found) = fitted(2, 1);
    let best = found.best();
    assert_eq!((found.confirmed[0].reproduced(), best.reproduced()), (2, 3));
    let verdicts: Vec<&str> = best.rows.iter().map(|row| row.verdict.word()).collect();
    assert_eq!(verdicts, ["reproduced", "reproduced", "in band", "reproduced"]);
    let changes = best.changes(&fit.space);
    for planted in [
        ("server-2019", "receive.window.factor_percent", "300"),
        ("server-2019", "receive.window.share", "0.25"),
        ("server-2022", "receive.window.factor_percent", "300"),
    ] {
        assert!(changes.contains(&planted), "{planted:?} in {changes:?}");
    }
    assert!(!changes.iter().any(|(group, name, _)| (*group, *name) == ("server-2022", "receive.window.share")));
}

#[test]
fn rows_that_exclude_each_other_are_named() {
    let (_, found) = fitted(2, 1);
    assert_eq!(found.never_together(), [(0, 2)], "one release cannot be four and eight times as fast");
    let by_rows = found.by_rows();
    assert_eq!((by_rows[0], by_rows[4]), (0, 0), "arithmetic holds always, and all four never");
    assert!(by_rows[3] > 0);
    assert_eq!(by_rows.iter().sum::<usize>(), found.candidates.len());
    let mut sets: Vec<Vec<&str>> = found.missed_by_best().into_iter().map(|(rows, _)| rows).collect();
    sets.sort_unstable();
    assert_eq!(sets, [["fast-2022"], ["of-2022"]]);
    let fast = &found.rows[2];
    assert_eq!(fast.range.map(|(lo, hi)| (lo.round(), hi.round())), Some((2.0, 9.0)));
    assert!(fast.met > 0);
    assert_eq!(found.rows[3].met, found.candidates.len());
}

#[test]
fn equal_seeds_give_equal_findings_at_any_number_of_jobs() {
    let (_, one) = fitted(1, 7);
    let (_, four) = fitted(4, 7);
    assert_eq!(one.candidates, four.candidates);
    assert_eq!(one.confirmed, four.confirmed);
    assert_ne!(one.candidates, fitted(4, 8).1.candidates, "the seed decides what is drawn");
}

/// Makes of each run what its digest and its seed say.
struct ByDigest;

impl Backend for ByDigest {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        let mut rng = Rng::new(run.seed).fork(&run.digest);
        let mut below = |most: u64| rng.below(most);
        let elapsed = Duration::from_millis(1_000 + below(1_000));
        Ok(Measured {
            bytes_sent: Some(2_000_000),
            bytes_retransmitted: Some(below(100_000)),
            rtos: Some(1 + below(9)),
            episodes: Some(20),
            episodes_without_timeout: Some(below(20)),
            fast_retransmits: Some(below(20)),
            undropped_ns: Some(elapsed.as_nanos() - below(900_000_000)),
            ..Measured::of_transfer(1_000_000, elapsed)
        })
    }
}

/// What is confirmed as it is has to be what the command without a fit shows, to the last digit.
#[test]
fn what_is_confirmed_as_it_is_is_what_the_page_shows() {
    use longhaul_lab::headlines::{Backends, Evidence, evidence, find};
    let rows: Vec<&'static Claim> = claims::all().filter(|claim| claim.band.is_some()).collect();
    let fit = Fit { space: Space::servers(), worlds: 1, settings: 1, rounds: 0, seed: 1 };
    let mut maker =
        Maker { backend: &ByDigest, jobs: 2, store: None, begins: &mut |_| {}, done: &mut |_: &RunSpec| {} };
    let found = search(&fit, &rows, &mut maker).unwrap();
    let mut all = Evidence::default();
    let studies: Vec<_> = rows.iter().flat_map(|claim| claim.studies()).collect();
    let backends = Backends { plain: &ByDigest, watching: &ByDigest };
    for (study, plan) in evidence::plans(&studies).unwrap() {
        all.make(study, plan, backends, 2, None, &mut |_| {}).unwrap();
    }
    for (claim, own) in rows.iter().zip(&found.confirmed[0].rows) {
        let page = find(claim, &all);
        assert!(own.number.is_some(), "{}", claim.id);
        assert_eq!(
            (own.number, own.interval, own.verdict),
            (page.measured, page.interval, page.verdict),
            "{}",
            claim.id
        );
        assert_ne!(own.verdict, Verdict::Reported);
    }
}

/// An arm takes a setting's leaves where they apply to it: the bound of proportional rate reduction is none of an arm without it.
#[test]
fn an_arm_without_an_ingredient_takes_the_rest_of_the_setting() {
    struct Watching;
    impl Backend for Watching {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            let [kind, bound, delay] =
                ["recovery.reduction.kind", "recovery.reduction.bound", "ack.delay"].map(|path| leaf(run, path));
            let seconds = match (kind.as_str(), bound.as_str(), delay.as_str()) {
                ("prr", "crb", "20ms") => 1,
                ("pipe", "", "20ms") => 2,
                ("prr", "ssrb", "40ms") => 3,
                ("pipe", "", "40ms") => 4,
                other => return Err(RunFailure(format!("{other:?}"))),
            };
            Ok(Measured::of_transfer(1_000_000, Duration::from_secs(seconds)))
        }
    }
    static ROW: Claim = row("prr", "server-2019", &["no-prr"], Published::Number(1.2));
    let parameters =
        vec![parameter("recovery.reduction.bound", &["ssrb", "crb"], 0), parameter("ack.delay", &["40ms", "20ms"], 0)];
    let space = Space {
        world: Group { name: space::WORLD.to_owned(), parameters: Vec::new() },
        profiles: vec![Group { name: "server-2019".to_owned(), parameters }],
    };
    // Of the second setting both leaves differ, or none or one: the seed is one that draws both.
    let fit = |seed| Fit { space: space.clone(), worlds: 1, settings: 2, rounds: 0, seed };
    let both = (0..100_u64).find_map(|seed| {
        let mut maker =
            Maker { backend: &Watching, jobs: 1, store: None, begins: &mut |_| {}, done: &mut |_: &RunSpec| {} };
        let found = search(&fit(seed), &[&ROW], &mut maker).unwrap();
        (found.worlds[0].settings[0].get(1) == Some(&vec![1, 1])).then_some(found)
    });
    let found = both.unwrap();
    assert_eq!(found.failure, None);
    assert_eq!(found.rows[0].range.map(|(lo, hi)| ((lo * 100.0).round(), (hi * 100.0).round())), Some((133.0, 200.0)));
}

#[test_case("cc.slow_start.lss_divisor", &["0.25", "0.5"], "is documented"; "a constant from the slides")]
#[test_case("ack.dely", &["1ms"], "ack.dely"; "a misspelt leaf")]
#[test_case("ack.delay", &["40ms", "soon"], "soon"; "a value that does not fit")]
#[test_case("ack.delay", &["50ms", "40ms"], "its present value is `40ms`"; "another present value")]
#[test_case("cc.avoidance.gamma_gain", &["0.5"], "does not apply to `server-2019`"; "a leaf of another kind")]
fn a_space_that_moves_what_it_may_not_is_refused(name: &str, values: &[&str], why: &str) {
    let mut space = space();
    space.check().unwrap();
    space.profiles[0].parameters.push(parameter(name, values, 0));
    let error = space.check().unwrap_err();
    assert!(error.problem.contains(why) && error.place == format!("server-2019.{name}"), "{error:?}");
}

#[test]
fn the_servers_space_moves_nothing_documented_and_starts_from_the_profiles() {
    let space = Space::servers();
    space.check().unwrap();
    let all = space.groups().flat_map(|group| &group.parameters);
    let settings: Vec<&str> = all.filter(|known| known.is_setting()).map(|known| known.name.as_str()).collect();
    assert_eq!(settings.len(), 9, "{settings:?}");
}

/// Rows find their cells under every value, those of flow sizes that they do not know among them.
#[test]
fn each_value_of_an_experiment_gives_every_row_a_number_and_changes_runs() {
    let space = Space::servers();
    let rows: Vec<&'static Claim> = claims::all().filter(|claim| claim.band.is_some()).collect();
    let now: Vec<Vec<usize>> = space.groups().map(present).collect();
    let (_, as_it_is) = runs_of(&space, &rows, &now);
    for (group, of_group) in space.groups().enumerate() {
        for (at, known) in of_group.parameters.iter().enumerate().filter(|(_, known)| known.is_setting()) {
            for level in (0..known.values.len()).filter(|level| *level != known.now) {
                let mut levels = now.clone();
                levels[group][at] = level;
                let (lacking, digests) = runs_of(&space, &rows, &levels);
                let name = format!("{} = {}", known.name, known.values[level]);
                assert_eq!(lacking, None, "{name}");
                assert_ne!(digests, as_it_is, "{name} changes no run");
            }
        }
    }
}

/// The first row without a number, and the digests of all runs.
fn runs_of(space: &Space, rows: &[&'static Claim], levels: &[Vec<usize>]) -> (Option<&'static str>, Vec<String>) {
    let mut digests = Vec::new();
    let mut done = |run: &RunSpec| digests.push(run.digest.clone());
    let mut maker = Maker { backend: &ByDigest, jobs: 2, store: None, begins: &mut |_| {}, done: &mut done };
    let settings = levels[1..].iter().map(|levels| vec![levels.clone()]).collect();
    let world = World { levels: levels[0].clone(), settings };
    let mut made = Trials::new(rows, space).make(&world, Effort::Search, &mut maker).unwrap();
    let numbers = evaluate(rows, &world, &mut made);
    let first = vec![0; space.profiles.len()];
    let lacking = rows.iter().zip(&numbers).find(|(_, numbers)| numbers.of(&first).number.is_none());
    digests.sort_unstable();
    (lacking.map(|(row, _)| row.id), digests)
}

/// Settings are compared on equal seeds, as arms of an experiment are.
#[test]
fn every_setting_draws_the_seeds_of_the_present_one() {
    struct Seeds(std::sync::Mutex<std::collections::BTreeMap<String, std::collections::BTreeSet<u64>>>);
    impl Backend for Seeds {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            let own = format!("{:?} {}", run.point, run.iteration);
            self.0.lock().unwrap().entry(own).or_default().insert(run.seed);
            Planted.run(run)
        }
    }
    let backend = Seeds(std::sync::Mutex::default());
    let fit = Fit { space: space(), worlds: 1, settings: 12, rounds: 0, seed: 1 };
    let mut made = 0;
    let mut done = |_: &RunSpec| made += 1;
    let mut maker = Maker { backend: &backend, jobs: 2, store: None, begins: &mut |_| {}, done: &mut done };
    search(&fit, &rows(), &mut maker).unwrap();
    let seeds = backend.0.into_inner().unwrap();
    assert_eq!(seeds.len(), 20, "two paths, ten iterations");
    assert!(made > 100, "{made} runs");
    assert!(seeds.values().all(|seeds| seeds.len() == 1), "{seeds:?}");
}

#[test]
fn a_hypercube_uses_each_value_equally_often_and_starts_with_the_present() {
    let space = Space::servers();
    let group = &space.profiles[2];
    let drawn = hypercube(group, 43, &Rng::new(3));
    assert_eq!((drawn.len(), &drawn[0]), (43, &present(group)));
    for (at, parameter) in group.parameters.iter().enumerate() {
        let counts: Vec<usize> = (0..parameter.values.len())
            .map(|level| drawn[1..].iter().filter(|levels| levels[at] == level).count())
            .collect();
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(most - least <= 1, "{}: {counts:?}", parameter.name);
    }
    assert_ne!(drawn, hypercube(group, 43, &Rng::new(4)));
}

#[test]
fn neighbours_differ_in_one_parameter_at_most() {
    let space = Space::servers();
    let group = &space.profiles[3];
    let good = [present(group)];
    let near = neighbours(group, &good, 40, &Rng::new(5));
    let differs = |levels: &[usize]| levels.iter().zip(&good[0]).filter(|(a, b)| a != b).count();
    assert!(near.iter().all(|levels| differs(levels) <= 1));
    assert!(near.iter().filter(|levels| differs(levels) == 1).count() > 20);
    let is_valid =
        |levels: &Vec<usize>| levels.iter().zip(&group.parameters).all(|(at, known)| *at < known.values.len());
    assert!(near.iter().all(is_valid));
}

#[test_case(Published::Number(3.0), Some(3.0), 0.0, true)]
#[test_case(Published::Number(3.0), Some(2.0), 0.480_453, false; "half the effect")]
#[test_case(Published::Number(3.0), Some(0.5), 21.16, false; "the wrong sign counts as the most")]
#[test_case(Published::Bound(at_least(5.0)), Some(7.0), 0.0, true; "a bound that is kept costs nothing")]
#[test_case(Published::Bound(at_least(5.0)), Some(2.5), 0.480_453, false; "half of a bound")]
#[test_case(Published::Words(between(1.0, 2.0)), Some(4.0), 0.480_453, false; "beyond the other end")]
#[test_case(Published::Number(3.0), None, 21.16, false; "without a number")]
fn losses(published: Published, number: Option<f64>, expected: f64, met: bool) {
    let claim = row("row", "server-2022", &["linux"], published);
    assert!((loss::loss(&claim, number) - expected).abs() < 1e-4, "{}", loss::loss(&claim, number));
    assert_eq!(loss::meets(&claim, number), met);
}
