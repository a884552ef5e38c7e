//! What is kept is found again, whatever happened to the program or to the folder in between.

use super::*;
use crate::run::{Backend, Finished, MockBackend, RunFailure, SimBackend, execute, stamp};
use crate::spec::{self, Overrides};
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

fn plan(experiment: &str, set: &[&str], iterations: u32) -> Plan {
    let mut experiment = spec::builtin(experiment).unwrap();
    let set = set.iter().map(|text| (*text).to_owned()).collect();
    let arms = ["server-2022", "longhaul"].map(str::to_owned).to_vec();
    experiment.apply(&Overrides { set, arms, iterations: Some(iterations), ..Overrides::default() }).unwrap();
    Plan::new(experiment).unwrap()
}

/// Several units: large transfers, which nothing makes.
fn large() -> Plan {
    plan("wan", &["path.rtt=25ms", "flow.bytes=200MB,300MB"], 3)
}

fn make(plan: &Plan, backend: &dyn Backend, jobs: usize, folder: &Path) -> Finished {
    execute(plan, backend, jobs, Some(&mut Store::open(folder).unwrap()), &mut |_| {}).unwrap()
}

/// All files of a folder's tables, by path below it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for table in ["runs", "flows", "series"] {
        for path in file::shards(&folder.join(table)).unwrap() {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// The numbers of all runs, in the order of the files.
fn numbers(folder: &Path) -> Vec<u64> {
    let column = [RUNS.columns[0].clone()];
    let of_file = |path: &PathBuf| {
        let (sheet, _) = Sheet::read(fs::read(path).unwrap(), &column).unwrap();
        sheet.each_row().map(|row| format!("{row:?}")).collect::<Vec<_>>()
    };
    let words = file::shards(&folder.join("runs")).unwrap().iter().flat_map(of_file).collect::<Vec<_>>();
    words.iter().map(|word| word.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte))).collect()
}

#[test]
fn what_was_written_is_found_again_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let plan = plan("wan", &["flow.bytes=32MB"], 2);
    let mut half = plan.clone();
    half.runs.truncate(4);
    make(&half, &MockBackend, 2, folder.path());
    let mut store = Store::open(folder.path()).unwrap();
    assert_eq!(store.notes(), [""; 0]);
    for (index, run) in plan.runs.iter().enumerate() {
        let expected = (index < 4).then(|| MockBackend.run(run).unwrap());
        assert_eq!(store.find(run), expected, "{index}");
    }
    let mut other = plan.runs[0].clone();
    other.seed += 1;
    assert_eq!(store.find(&other), None);
    let mut other = plan.runs[0].clone();
    other.digest.push('0');
    assert_eq!(store.find(&other), None);
}

#[test]
fn files_are_the_same_for_any_number_of_jobs_and_each_run_is_one_row() {
    let plan = plan("short-flows", &["flow.window=2s..6s"], 3);
    let folders = [1, 3].map(|jobs| {
        let folder = TempDir::new().unwrap();
        let mut store = Store::open(folder.path()).unwrap().with_series().unwrap();
        execute(&plan, &SimBackend, jobs, Some(&mut store), &mut |_| {}).unwrap();
        folder
    });
    let [one, three] = folders.each_ref().map(|folder| files(folder.path()));
    assert!(one.keys().any(|name| name.starts_with("series")) && one.keys().any(|name| name.starts_with("flows")));
    assert!(one == three, "{:?} and {:?}", one.keys(), three.keys());
    let numbers = numbers(folders[0].path());
    assert_eq!((numbers.len(), numbers.iter().collect::<BTreeSet<_>>().len()), (plan.runs.len(), plan.runs.len()));
}

#[test]
fn runs_that_were_kept_without_series_are_counted_when_series_are_wanted() {
    let folder = TempDir::new().unwrap();
    let narrow = plan("wan", &["path.rtt=25ms", "flow.bytes=100kB"], 1);
    let wide = plan("wan", &["path.rtt=25ms", "flow.bytes=100kB"], 2);
    let again = |plan: &Plan, series: bool| {
        let store = Store::open(folder.path()).unwrap();
        let mut store = if series { store.with_series().unwrap() } else { store };
        let finished = execute(plan, &SimBackend, 1, Some(&mut store), &mut |_| {}).unwrap();
        (finished.made, store.without_series())
    };
    assert_eq!(again(&narrow, false), (2, 0));
    assert_eq!(again(&narrow, false), (0, 0), "no series are asked for");
    assert_eq!(again(&wide, true), (2, 2));
    assert_eq!(again(&wide, true), (0, 2), "those of the second seed are there");
}

#[test]
fn a_unit_that_lacks_its_shard_is_made_again_and_gives_the_same_file() {
    let folder = TempDir::new().unwrap();
    let plan = large();
    make(&plan, &MockBackend, 2, folder.path());
    let before = files(folder.path());
    assert!(before.len() > 3, "{:?}", before.keys());
    let (first, content) = before.iter().next().unwrap();
    // Killed on the way: a piece of a file that has no name yet.
    let name = Path::new(first).file_name().unwrap().to_string_lossy().into_owned();
    fs::remove_file(folder.path().join(first)).unwrap();
    let torn = folder.path().join(format!("runs/.{name}.tmp"));
    fs::write(&torn, &content[..content.len() / 2]).unwrap();
    let again = make(&plan, &MockBackend, 1, folder.path());
    assert!(again.made > 0 && again.made < plan.runs.len() && again.made + again.resumed == plan.runs.len());
    assert!(!torn.exists());
    assert!(files(folder.path()) == before);
    assert_eq!(make(&plan, &MockBackend, 1, folder.path()).made, 0);
}

/// Fails with the second seed.
struct Sometimes(bool);
impl Backend for Sometimes {
    fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
        if self.0 && run.iteration == 2 { Err(RunFailure("on purpose".to_owned())) } else { MockBackend.run(run) }
    }
}

#[test]
fn a_failed_run_leaves_no_row_and_is_made_again() {
    let folder = TempDir::new().unwrap();
    let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 3);
    assert_eq!(make(&plan, &Sometimes(true), 2, folder.path()).failures.len(), 2);
    assert_eq!(numbers(folder.path()).len(), 4);
    let again = make(&plan, &Sometimes(false), 2, folder.path());
    assert_eq!((again.made, again.resumed), (2, 4));
    assert_eq!(numbers(folder.path()).len(), 6);
}

#[test]
fn a_wider_experiment_uses_what_is_there_and_doubles_nothing() {
    let folder = TempDir::new().unwrap();
    make(&plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 3), &MockBackend, 2, folder.path());
    let wide = plan("wan", &["path.rtt=25ms,50ms", "flow.bytes=1MB"], 5);
    let finished = make(&wide, &MockBackend, 2, folder.path());
    assert_eq!((finished.made, finished.resumed), (14, 6));
    let numbers = numbers(folder.path());
    assert_eq!((numbers.len(), numbers.iter().collect::<BTreeSet<_>>().len()), (20, 20));
    assert_eq!(finished.measured, make(&wide, &MockBackend, 1, TempDir::new().unwrap().path()).measured);
}

#[test]
fn arms_that_are_equal_but_for_their_names_have_rows_of_their_own() {
    let folder = TempDir::new().unwrap();
    let mut plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 1);
    let first = plan.runs[0].clone();
    plan.runs[1] = RunSpec { arm: 1, ..first };
    make(&plan, &MockBackend, 1, folder.path());
    assert_eq!(numbers(folder.path()).iter().collect::<BTreeSet<_>>().len(), 2);
}

fn refused(change: impl FnOnce(&Path)) -> String {
    let folder = TempDir::new().unwrap();
    make(&plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 1), &MockBackend, 1, folder.path());
    change(&file::shards(&folder.path().join("runs")).unwrap()[0]);
    Store::open(folder.path()).unwrap_err().to_string().replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn what_is_no_shard_of_this_name_is_refused_with_the_remedy() {
    let cut = refused(|path| fs::write(path, &fs::read(path).unwrap()[..1_000]).unwrap());
    assert!(cut.starts_with("`DIR/runs/") && cut.contains("` is not a shard of longhaul's results: "), "{cut}");
    assert!(cut.ends_with("; remove it, and its runs are made again"), "{cut}");
    let renamed = refused(|path| fs::rename(path, path.with_file_name("mine.parquet")).unwrap());
    assert!(
        renamed.contains("`DIR/runs/mine.parquet` is not a shard of longhaul's results: it holds the unit "),
        "{renamed}"
    );
    let sheet = Sheet::new(&SERIES.columns);
    let other = refused(|path| sheet.write(fs::File::create(path).unwrap(), "mine", &[]).unwrap());
    assert!(other.contains("it has no `longhaul.unit`"), "{other}");
}

#[test]
fn another_experiments_shard_under_the_name_of_a_unit_is_refused() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 1);
    make(&plan, &MockBackend, 1, folder.path());
    let name = files(folder.path()).into_keys().next().unwrap();
    fs::create_dir(other.path().join("runs")).unwrap();
    let mut store = Store::open(other.path()).unwrap();
    fs::write(other.path().join(&name), "not what it is called").unwrap();
    let error = execute(&plan, &MockBackend, 1, Some(&mut store), &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("it has the name of a unit of this experiment, and other content"), "{error}");
    assert_eq!(fs::read(other.path().join(&name)).unwrap(), b"not what it is called", "it is left alone");
}

#[test]
fn shards_of_another_layout_are_kept_and_not_used() {
    let folder = TempDir::new().unwrap();
    let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 1);
    make(&plan, &MockBackend, 1, folder.path());
    let path = file::shards(&folder.path().join("runs")).unwrap().remove(0);
    let unit = path.file_stem().unwrap().to_string_lossy().into_owned();
    let older = [RUNS.columns[0].clone()];
    let metadata = [(UNIT, unit), (LAYOUT, "older".to_owned())];
    let moved = path.with_file_name("0123.parquet");
    Sheet::new(&older).write(fs::File::create(&path).unwrap(), "runs", &metadata).unwrap();
    fs::rename(&path, &moved).unwrap();
    assert!(Store::open(folder.path()).unwrap_err().to_string().contains("and has another name"));
    fs::rename(&moved, &path).unwrap();
    assert_eq!(Store::open(folder.path()).unwrap().find(&plan.runs[0]), None);
    assert_eq!(identities(folder.path()).unwrap(), []);
}

#[test]
fn two_writers_do_not_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let _first = Store::open(folder.path()).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Busy(_))));
}

#[test]
fn a_folder_that_cannot_be_is_an_error_with_its_path() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let message = Store::open(&file.join("below")).unwrap_err().to_string();
    assert!(message.starts_with("cannot write `") && message.contains("file"), "{message}");
}

/// A line as earlier releases wrote it.
fn line(run: &RunSpec) -> String {
    let origin =
        format!("{{\"version\":\"{}\",\"spec\":\"{}\",\"seed\":{},", stamp::version_of(run), run.digest, run.seed);
    let measured = serde_json::to_string(&MockBackend.run(run).unwrap()).unwrap();
    measured.replacen('{', &origin, 1) + "\n"
}

#[test]
fn lines_of_earlier_releases_count_and_stay() {
    let folder = TempDir::new().unwrap();
    let plan = plan("wan", &["path.rtt=25ms", "flow.bytes=1MB"], 2);
    let path = folder.path().join(LINES);
    let (whole, cut) = (line(&plan.runs[0]) + &line(&plan.runs[2]), line(&plan.runs[1]));
    let text = whole + &cut[..cut.len() - 9];
    fs::write(&path, &text).unwrap();
    let notes = Store::open(folder.path()).unwrap().notes().join(" ");
    assert!(notes.contains("holds 2 runs of an earlier release") && notes.contains("cut off"), "{notes}");
    let finished = make(&plan, &MockBackend, 1, folder.path());
    assert_eq!((finished.made, finished.resumed), (2, 2));
    assert_eq!(finished.measured[2], Some(MockBackend.run(&plan.runs[2]).unwrap()));
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    fs::write(&path, "{\"a\":1}\n").unwrap();
    let message = Store::open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("line 1 is not a longhaul result"), "{message}");
}

#[test]
fn every_table_has_distinct_columns_with_a_meaning() {
    for table in [&*RUNS, &*FLOWS, &*SERIES] {
        let names: BTreeSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!((names.len(), table.meanings.len()), (table.columns.len(), table.columns.len()), "{}", table.name);
        let of_machine = |name: &&str| name.contains("host") || name.contains("wall") || name.contains("cpu");
        assert_eq!(names.iter().find(|name| of_machine(name)), None);
    }
}
