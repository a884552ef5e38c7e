//! What names a run in a table. Most of it is common to many runs, and is computed once.

use crate::plan::{Plan, RunSpec, fnv128};
use crate::run::identity::Identity;
use crate::run::stamp;
use crate::spec::{Ends, Point};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A run's names.
#[derive(Debug)]
pub(crate) struct Named {
    /// That of the run in all tables.
    pub(crate) number: u64,
    pub(crate) identity: Identity,
    /// What the sweep set in its cell.
    pub(crate) swept: String,
    /// The leaves of its arm, as text.
    pub(crate) config: String,
}

/// What was computed for the last run of each arm.
#[derive(Debug, Default)]
pub(crate) struct Names {
    versions: BTreeMap<usize, Version>,
    last: BTreeMap<usize, Last>,
}

/// A version, and what it is the version of.
#[derive(Debug)]
struct Version {
    ends: Arc<Ends>,
    point: Arc<Point>,
    version: String,
}

/// A cell's names for an arm.
#[derive(Debug)]
struct Last {
    ends: Arc<Ends>,
    point: Arc<Point>,
    identity: Identity,
    config: String,
}

impl Names {
    /// Returns the version of a run.
    pub(crate) fn version(&mut self, run: &RunSpec) -> &str {
        let is_same = |known: &Version| {
            let same_ends = Arc::ptr_eq(&known.ends, &run.ends) || known.ends == run.ends;
            let others = || known.point.others() == run.point.others();
            same_ends && (Arc::ptr_eq(&known.point, &run.point) || others())
        };
        if !self.versions.get(&run.arm).is_some_and(is_same) {
            let (ends, point) = (Arc::clone(&run.ends), Arc::clone(&run.point));
            self.versions.insert(run.arm, Version { ends, point, version: stamp::version_of(run) });
        }
        &self.versions[&run.arm].version
    }

    /// Returns the names of a run.
    pub(crate) fn of(&mut self, plan: &Plan, run: &RunSpec) -> Named {
        let version = self.version(run).to_owned();
        let same_ends = |last: &Last| last.ends == run.ends;
        let same_cell = |last: &Last| Arc::ptr_eq(&last.point, &run.point) && same_ends(last);
        let known = self.last.get(&run.arm);
        let (identity, config) = match known.filter(|last| same_cell(last)) {
            Some(last) => (last.identity.clone(), last.config.clone()),
            None => {
                let leaves = known.filter(|last| same_ends(last)).map(|last| last.identity.config.clone());
                let identity = Identity::with(plan, run, version.clone(), leaves);
                let config = serde_json::to_string(&identity.config).expect("leaves are text");
                let (ends, point) = (Arc::clone(&run.ends), Arc::clone(&run.point));
                let last = Last { ends, point, identity: identity.clone(), config: config.clone() };
                self.last.insert(run.arm, last);
                (identity, config)
            }
        };
        let (iteration, seed) = (run.iteration, run.seed);
        let identity = Identity { iteration, seed, spec: run.digest.clone(), version, ..identity };
        let number = number(&identity);
        Named { number, identity, swept: plan.cells[run.cell].title(), config }
    }
}

/// Returns the number of a run. Two arms may be equal but for their names.
fn number(run: &Identity) -> u64 {
    let digest = fnv128(&format!("{} {} {} {}", run.spec, run.seed, run.version, run.arm));
    u64::from_str_radix(&digest[..16], 16).expect("a digest is hexadecimal")
}
