//! Makes the runs of settings: each setting of a release once in each world, whatever it is combined with later.

use super::sample::Levels;
use super::space::{self, Group, Space};
use crate::headlines::claim::{Claim, Measure};
use crate::headlines::evidence::Runs;
use crate::headlines::study::{Study, StudyArm};
use crate::plan::Plan;
use crate::run::{Measured, StoreError, execute};
use crate::spec::{ArmKind, ArmSpec, UsageError};
pub use crate::tune::Maker;
use profiles::{Profile, find_leaf};

/// Results of an arm by cell and iteration.
type Cells = Vec<Vec<Option<Measured>>>;

/// An arm that a row compares.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    /// The arm.
    pub arm: &'static StudyArm,
    /// The position of the group whose settings it takes; `None` if it stays as it is.
    pub group: Option<usize>,
}

/// All settings that are tried under the same conditions.
#[derive(Clone, Debug)]
pub struct World {
    /// The experiments' setting.
    pub levels: Levels,
    /// Settings of each group.
    pub settings: Vec<Vec<Levels>>,
}

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A tenth of a study's runs, and of the tests of HyStart++ no flows of 128 MB, which take three quarters of their time.
    Search,
    /// All runs.
    Page,
}

/// The runs of a study in a world.
#[derive(Clone, Debug)]
pub struct Made {
    /// The study.
    pub study: &'static Study,
    /// The groups that its arms belong to, in order.
    groups: Vec<usize>,
    results: Results,
}

#[derive(Clone, Debug)]
enum Results {
    /// Of a study with one group: by setting, each of which has its own cells.
    Alone(Vec<Runs>),
    /// Of a study with several: the runs of the combination that was put together last, and what each arm has.
    Shared(Box<Runs>, Vec<MadeArm>),
}

/// What an arm's settings made.
#[derive(Clone, Debug)]
struct MadeArm {
    group: Option<usize>,
    name: &'static str,
    /// By setting.
    results: Vec<Cells>,
    /// The setting whose results are in place.
    chosen: Option<usize>,
}

impl Made {
    /// The groups that some arms depend on, in order.
    pub fn groups_of(&self, is_compared: &dyn Fn(&str) -> bool) -> Vec<usize> {
        match &self.results {
            Results::Alone(_) => self.groups.clone(),
            Results::Shared(_, arms) => {
                let mut groups: Vec<usize> =
                    arms.iter().filter(|arm| is_compared(arm.name)).filter_map(|arm| arm.group).collect();
                groups.sort_unstable();
                groups.dedup();
                groups
            }
        }
    }

    /// Puts the results of a combination together; `setting` is that of a group.
    pub fn combined(&mut self, setting: &dyn Fn(usize) -> Option<usize>) -> &Runs {
        match &mut self.results {
            Results::Alone(runs) => &runs[self.groups.first().and_then(|group| setting(*group)).unwrap_or(0)],
            Results::Shared(runs, arms) => {
                for (at, arm) in arms.iter_mut().enumerate() {
                    let wanted = arm.group.map_or(Some(0), setting);
                    if let Some(wanted) = wanted.filter(|wanted| arm.chosen != Some(*wanted)) {
                        runs.put(at, &arm.results[wanted]);
                        arm.chosen = Some(wanted);
                    }
                }
                runs
            }
        }
    }
}

/// The studies of some rows, with the arms that they compare.
#[derive(Clone, Debug)]
pub struct Trials<'s> {
    space: &'s Space,
    studies: Vec<(&'static Study, Vec<Role>)>,
    /// Runs so far, those found in the store among them.
    pub runs: usize,
    /// The first failure, in a sentence.
    pub failure: Option<String>,
}

/// Why runs could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is wrong.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// A result could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'s> Trials<'s> {
    /// None yet.
    pub fn new(rows: &[&'static Claim], space: &'s Space) -> Self {
        let mut found = Self { space, studies: Vec::new(), runs: 0, failure: None };
        for claim in rows {
            let Measure::Runs(estimate) = claim.measure else { continue };
            for name in core::iter::once(&estimate.arm).chain(estimate.over) {
                let arm = estimate.study.arms.iter().find(|arm| arm.name == *name).expect("a study has its rows' arms");
                found.add(estimate.study, Role { arm, group: group_of(arm.profile, space) });
            }
        }
        found
    }

    fn add(&mut self, study: &'static Study, role: Role) {
        let known = self.studies.iter().position(|(known, _)| known.name == study.name);
        let at = known.unwrap_or_else(|| {
            self.studies.push((study, Vec::new()));
            self.studies.len() - 1
        });
        let roles = &mut self.studies[at].1;
        if !roles.iter().any(|known| known.arm.name == role.arm.name) {
            roles.push(role);
        }
    }

    /// Returns whether every arm of a group takes a setting.
    pub fn takes(&self, group: usize, levels: &Levels) -> bool {
        let mut roles = self.studies.iter().flat_map(|(_, roles)| roles).filter(|role| role.group == Some(group));
        roles.all(|role| profile(role.arm.profile).with(&overrides(role, &self.space.profiles[group], levels)).is_ok())
    }

    /// Returns how many runs a world takes.
    ///
    /// # Errors
    /// If a setting does not fit its experiment.
    pub fn count(&self, world: &World, effort: Effort) -> Result<usize, UsageError> {
        let plans = self.studies.iter().map(|(study, roles)| {
            let plans = match groups(roles).as_slice() {
                [group] => self.alone(study, roles, *group, world, effort)?,
                _ => vec![self.shared(study, roles, world, effort)?.0],
            };
            Ok(plans.iter().map(|plan| plan.runs.len()).sum::<usize>())
        });
        plans.sum()
    }

    /// Makes the runs of a world, study by study.
    ///
    /// # Errors
    /// If a setting does not fit its experiment, or a result cannot be written.
    pub fn make(&mut self, world: &World, effort: Effort, maker: &mut Maker<'_>) -> Result<Vec<Made>, Error> {
        let mut all = Vec::new();
        for (study, roles) in self.studies.clone() {
            let groups = groups(&roles);
            let results = match groups.as_slice() {
                [group] => {
                    let plans = self.alone(study, &roles, *group, world, effort)?;
                    let runs = plans.into_iter().enumerate().map(|(at, plan)| {
                        let results = self.run(&plan, maker)?;
                        let parameters = (&self.space.profiles[*group], &world.settings[*group][at]);
                        let mut runs = Runs::without_results(name_as_claims_do(plan, parameters));
                        results.iter().enumerate().for_each(|(arm, results)| runs.put(arm, results));
                        Ok(runs)
                    });
                    Results::Alone(runs.collect::<Result<_, Error>>()?)
                }
                _ => {
                    let (plan, shares) = self.shared(study, &roles, world, effort)?;
                    let mut rest = self.run(&plan, maker)?.into_iter();
                    let base = self.plan(
                        study,
                        roles.iter().map(|role| role.arm.spec()).collect(),
                        &world.levels,
                        None,
                        effort,
                    )?;
                    let arms = roles.iter().zip(shares).map(|(role, share)| MadeArm {
                        group: role.group,
                        name: role.arm.name,
                        results: rest.by_ref().take(share).collect(),
                        chosen: None,
                    });
                    Results::Shared(Box::new(Runs::without_results(base)), arms.collect())
                }
            };
            all.push(Made { study, groups, results });
        }
        Ok(all)
    }

    /// The plans of a study with one group: one for each setting, with all arms.
    fn alone(
        &self,
        study: &Study,
        roles: &[Role],
        group: usize,
        world: &World,
        effort: Effort,
    ) -> Result<Vec<Plan>, UsageError> {
        let of_group = &self.space.profiles[group];
        let plans = world.settings[group].iter().map(|levels| {
            let arms = roles.iter().map(|role| spec(role, of_group, levels)).collect();
            self.plan(study, arms, &world.levels, Some((of_group, levels)), effort)
        });
        plans.collect()
    }

    /// The plan of a study with several groups: with an arm for each setting of each role, and how many each role has.
    fn shared(
        &self,
        study: &Study,
        roles: &[Role],
        world: &World,
        effort: Effort,
    ) -> Result<(Plan, Vec<usize>), UsageError> {
        let specs = roles.iter().map(|role| match role.group {
            Some(group) => {
                let settings = world.settings[group].iter().enumerate();
                // Each has a name of its own, since repeated names draw seeds of their own.
                let named = |at: usize, spec: ArmSpec| ArmSpec { name: format!("{}-setting-{at}", spec.name), ..spec };
                settings.map(|(at, levels)| named(at, spec(role, &self.space.profiles[group], levels))).collect()
            }
            None => vec![role.arm.spec()],
        });
        let specs: Vec<Vec<ArmSpec>> = specs.collect();
        let shares = specs.iter().map(Vec::len).collect();
        Ok((self.plan(study, specs.into_iter().flatten().collect(), &world.levels, None, effort)?, shares))
    }

    /// Makes the runs of a plan, and returns them by arm.
    fn run(&mut self, plan: &Plan, maker: &mut Maker<'_>) -> Result<Vec<Cells>, StoreError> {
        let finished = execute(plan, maker.backend, maker.jobs, maker.store.as_deref_mut(), &mut *maker.done)?;
        self.runs += plan.runs.len();
        let mut by_arm: Vec<Cells> = vec![vec![Vec::new(); plan.cells.len()]; plan.arms.len()];
        for (run, measured) in plan.runs.iter().zip(&finished.measured) {
            by_arm[run.arm][run.cell].push(*measured);
        }
        if let (None, Some((index, why))) = (&self.failure, finished.failures.first()) {
            let run = &plan.runs[*index];
            let name = &plan.experiment.name;
            self.failure = Some(format!("run {} of {name}, seed {}: {why}", plan.name_of(run), run.seed));
        }
        Ok(by_arm)
    }

    /// A study's plan in a world, with the settings that a group has for its own experiments.
    fn plan(
        &self,
        study: &Study,
        arms: Vec<ArmSpec>,
        world: &Levels,
        own: Option<(&Group, &Levels)>,
        effort: Effort,
    ) -> Result<Plan, UsageError> {
        let of_world = |name: &str| value(&self.space.world, world, name);
        let of_group = |name: &str| own.and_then(|(group, levels)| value(group, levels, name));
        let experiment = match study.experiment {
            "reorder" => of_world(space::READING).unwrap_or(study.experiment),
            other => other,
        };
        let mut more: Vec<String> = Vec::new();
        let mut set = |key: &str, value: Option<&str>| more.extend(value.map(|value| format!("{key}={value}")));
        match experiment {
            // Their paths have no jitter, and are chosen to match a published number.
            "dsack" | "smb" => {}
            _ => set("path.jitter", of_world(space::JITTER)),
        }
        match experiment {
            "hystart" => {
                set("path.buffer", of_group(space::BUFFERS));
                set("path.rate", of_group(space::RATES));
                set("path.loss", of_group(space::LOSSES));
                let (short, long) = (of_group(space::SHORT), of_group(space::LONG));
                let long = long.unwrap_or("32MB,128MB");
                let long = if effort == Effort::Search { long.trim_end_matches(",128MB") } else { long };
                set("flow.bytes", Some(&format!("{},{long}", short.unwrap_or(SHORT))));
            }
            "window" => {
                set("path.loss", of_group(space::WINDOW_LOSS));
                set("path.buffer", of_group(space::WINDOW_BUFFER));
            }
            _ => {}
        }
        let iterations = if effort == Effort::Search { study.iterations.div_ceil(10) } else { study.iterations };
        Ok(study.plan_of(experiment, arms, more, iterations)?.without_repetitions())
    }
}

/// The groups of roles, in order.
fn groups(roles: &[Role]) -> Vec<usize> {
    let mut groups: Vec<usize> = roles.iter().filter_map(|role| role.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn profile(name: &str) -> &'static Profile {
    profiles::get(name).expect("studies name built-in profiles")
}

/// The group of a profile or of its nearest ancestor that has one.
fn group_of(name: &str, space: &Space) -> Option<usize> {
    let own = space.profiles.iter().position(|group| group.name == name);
    own.or_else(|| group_of(profile(name).extends.as_deref()?, space))
}

/// The arm with a setting.
fn spec(role: &Role, group: &Group, levels: &Levels) -> ArmSpec {
    let mut spec = role.arm.spec();
    if let ArmKind::Profile { set, .. } = &mut spec.kind {
        *set = overrides(role, group, levels);
    }
    spec
}

/// The arm's own changes, then the setting. The arm takes only leaves that apply to it, and, if its profile descends from the group's, only
/// those that it inherits.
fn overrides(role: &Role, group: &Group, levels: &Levels) -> Vec<(String, String)> {
    let own: Vec<(String, String)> =
        role.arm.set.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let (of_arm, of_group) = (profile(role.arm.profile), profile(&group.name));
    let config = of_arm.with(&own).expect("studies change what applies");
    let takes = |name: &str| {
        let from = |profile: &'static Profile| profile.leaf(name).map(|cited| &cited.from);
        from(of_arm) == from(of_group) && find_leaf(name).is_ok_and(|leaf| leaf.read(&config).is_some())
    };
    let mut moved = own.clone();
    for (parameter, level) in group.parameters.iter().zip(levels) {
        if *level != parameter.now && !parameter.is_setting() && takes(&parameter.name) {
            moved.push((parameter.name.clone(), parameter.values[*level].clone()));
        }
    }
    moved
}

/// The value of a parameter, if it is not the present one.
fn value<'g>(group: &'g Group, levels: &Levels, name: &str) -> Option<&'g str> {
    let mut parameters = group.parameters.iter().zip(levels);
    let moved = parameters.find(|(parameter, level)| parameter.name == name && **level != parameter.now);
    moved.map(|(parameter, level)| parameter.values[*level].as_str())
}

/// Names by which rows find short and long flows.
const SHORT: &str = "8MB";
const LONG: &str = "32MB";

/// Gives flow sizes that the claims do not know the names of those that they know.
fn name_as_claims_do(mut plan: Plan, (group, levels): (&Group, &Levels)) -> Plan {
    let short = value(group, levels, space::SHORT);
    let long = value(group, levels, space::LONG).map(|sizes| sizes.trim_end_matches(",128MB"));
    if plan.experiment.name == "hystart" {
        let sizes = plan.cells.iter_mut().flat_map(|cell| &mut cell.swept).filter(|(key, _)| *key == "flow.bytes");
        for (_, size) in sizes {
            match Some(size.as_str()) {
                known if known == short => SHORT.clone_into(size),
                known if known == long => LONG.clone_into(size),
                _ => {}
            }
        }
    }
    plan
}
