//! Units that other processes make, on this machine or on others, and whose shards go straight to the folder. They need no lock: a shard is
//! there as a whole or not at all, and whoever makes a unit again writes the same bytes, or finds them.

use super::named::Names;
use super::tables::{RUNS, SERIES, tables};
use super::unit::{Unit, Units};
use super::{Store, StoreError, file, name_of, write_unit};
use crate::plan::Plan;
use crate::run::{Backend, RunFailure, Wanted, guarded};
use std::collections::BTreeMap;
use std::path::Path;

/// A unit to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The name of its shards: a digest of its runs and of the versions that make them.
    pub name: String,
    /// Its runs, by their place in the plan.
    pub runs: Vec<usize>,
}

/// Returns all units of a plan.
pub fn all(plan: &Plan) -> Vec<Task> {
    tasks(plan, &(0..plan.runs.len()).collect::<Vec<_>>(), &mut Names::default())
}

fn tasks(plan: &Plan, to_make: &[usize], names: &mut Names) -> Vec<Task> {
    Units::of(plan, to_make).runs().map(|runs| Task { name: name_of(plan, &runs, names), runs }).collect()
}

impl Store {
    /// Returns the units that consist of the runs whose results are not there.
    pub fn missing(&mut self, plan: &Plan) -> Vec<Task> {
        let open: Vec<usize> = (0..plan.runs.len()).filter(|index| self.find(&plan.runs[*index]).is_none()).collect();
        tasks(plan, &open, &mut self.names)
    }
}

/// Makes a unit and writes its shards, unless they are there. Returns the failed runs, by their place in the plan; the shards
/// leave them out.
///
/// # Errors
/// If the unit has another name here, because this program behaves otherwise than the one that cut it, or the shards cannot be written.
pub fn make(
    plan: &Plan,
    task: &Task,
    backend: &dyn Backend,
    folder: &Path,
    wanted: Wanted,
) -> Result<Vec<(usize, RunFailure)>, StoreError> {
    let mut names = Names::default();
    let known = task.runs.iter().all(|index| *index < plan.runs.len());
    let own = if known { name_of(plan, &task.runs, &mut names) } else { "none of its plan".to_owned() };
    if own != task.name {
        return Err(StoreError::Version { task: task.name.clone(), own });
    }
    let path = folder.join(RUNS.name).join(format!("{}.{}", task.name, file::SHARD));
    if path.exists() {
        return Ok(Vec::new());
    }
    for table in tables() {
        if *table.name != *SERIES.name || wanted == Wanted::Series {
            let folder = folder.join(table.name);
            std::fs::create_dir_all(&folder).map_err(|error| StoreError::io(&folder, error))?;
        }
    }
    let (mut made, mut failures) = (BTreeMap::new(), Vec::new());
    for index in &task.runs {
        match guarded(backend, &plan.runs[*index], wanted) {
            Ok(run) => drop(made.insert(*index, run)),
            Err(failure) => failures.push((*index, failure)),
        }
    }
    write_unit(folder, plan, (&task.name, &Unit::whole(&task.runs, made)), &mut names)?;
    Ok(failures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{SimBackend, execute};
    use crate::spec::{self, Overrides};
    use std::collections::BTreeMap;

    fn plan(iterations: u32) -> Plan {
        let mut experiment = spec::builtin("wan").unwrap();
        let set = ["path.rtt=25ms,30ms", "flow.bytes=20MB"].map(str::to_owned).to_vec();
        let arms = ["linux", "longhaul"].map(str::to_owned).to_vec();
        experiment.apply(&Overrides { set, arms, iterations: Some(iterations), ..Overrides::default() }).unwrap();
        Plan::new(experiment).unwrap()
    }

    fn shards(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let tables = ["runs", "flows"].map(|table| std::fs::read_dir(folder.join(table)).unwrap());
        let files = tables.into_iter().flatten().map(|entry| entry.unwrap().path());
        files
            .map(|path| (path.strip_prefix(folder).unwrap().display().to_string(), std::fs::read(path).unwrap()))
            .collect()
    }

    #[test]
    fn units_made_elsewhere_twice_and_in_any_order_are_the_same_bytes() {
        let plan = plan(13);
        let [here, there] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        execute(&plan, &SimBackend, 2, Some(&mut Store::open(here.path()).unwrap()), &mut |_| ()).unwrap();
        let tasks = Store::open(there.path()).unwrap().missing(&plan);
        assert!(tasks.len() > 1 && tasks == all(&plan));
        for task in tasks.iter().rev().chain(&tasks) {
            assert_eq!(make(&plan, task, &SimBackend, there.path(), Wanted::Flows).unwrap(), []);
        }
        assert_eq!(shards(here.path()), shards(there.path()));
        assert_eq!(Store::open(there.path()).unwrap().missing(&plan), []);
    }

    #[test]
    fn a_unit_of_another_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(1);
        let task = Task { name: "0".repeat(32), ..all(&plan)[0].clone() };
        let error = make(&plan, &task, &SimBackend, folder.path(), Wanted::Flows).unwrap_err().to_string();
        assert!(error.starts_with("the unit 00000000000000000000000000000000 is another one here"), "{error}");
        let task = Task { runs: vec![99], ..task };
        assert!(make(&plan, &task, &SimBackend, folder.path(), Wanted::Flows).is_err());
    }
}
