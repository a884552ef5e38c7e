//! Changes that the command line makes to an experiment.

use crate::spec::cells::Role;
use crate::spec::choice::{CELL, CellChoice};
use crate::spec::experiment::{Axis, Experiment, Target};
use crate::spec::keys::Key;
use crate::spec::kind::{ARM_NAMES, ArmKind, ArmSpec, is_arm_name};
use crate::spec::refusal::{Refusal, UsageError};
use cc::OutsideConfig;
use profiles::{FindError, units};

/// Options of `longhaul ab` that change the experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Names of arms or profiles, or paths of profiles; empty to leave the arms alone.
    pub arms: Vec<String>,
    /// `KEY=VALUE`; several values, separated by commas, make a sweep.
    pub set: Vec<String>,
    /// Runs of each arm in each cell.
    pub iterations: Option<u32>,
    /// The origin of all seeds.
    pub seed: Option<u64>,
    /// Which cells of a list.
    pub cells: CellChoice,
}

impl Experiment {
    /// Applies the options: arms first, then kinds, then everything else.
    ///
    /// # Errors
    /// At the first that is wrong.
    pub fn apply(&mut self, overrides: &Overrides) -> Result<(), UsageError> {
        let option = match &overrides.cells {
            CellChoice::Drawn(seed) => format!("--draw {seed}"),
            CellChoice::Of(Role::HoldOut) => "--hold-out".to_owned(),
            CellChoice::Of(Role::Train) => self.name.clone(),
        };
        self.choose(&overrides.cells).map_err(|refusal| refusal.at(option))?;
        if !overrides.arms.is_empty() {
            self.choose_arms(&overrides.arms)?;
        }
        self.iterations = overrides.iterations.unwrap_or(self.iterations);
        self.seed = overrides.seed.unwrap_or(self.seed);
        let is_kind = |set: &&String| set.split_once('=').is_some_and(|(key, _)| self.is_kind(key.trim()));
        let (kinds, others): (Vec<&String>, Vec<&String>) = overrides.set.iter().partition(is_kind);
        for set in kinds.into_iter().chain(others) {
            self.set(set).map_err(|refusal| refusal.at(format!("--set {set}")))?;
        }
        Ok(())
    }

    /// Gives an arm a program's own congestion control. An arm of this name keeps its leaves; otherwise one is added that is `profile` apart
    /// from it.
    ///
    /// # Errors
    /// If the name is not one of an arm, or the arm is not a profile.
    pub fn bring(&mut self, arm: &str, profile: &str, controller: &OutsideConfig) -> Result<(), UsageError> {
        let place = || format!("arm {arm}");
        if !self.arms.iter().any(|known| known.name == arm) {
            if !is_arm_name(arm) {
                return Err(Refusal::of_value(format!("`{arm}` cannot be the name of an arm"), ARM_NAMES).at(place()));
            }
            let found = find_profile(profile).map_err(|refusal| refusal.at(place()))?;
            self.arms.push(ArmSpec { name: arm.to_owned(), ..found });
            self.changed.push(format!("{arm}={profile} with {}", controller.name()));
        }
        for spec in self.arms.iter_mut().filter(|spec| spec.name == arm) {
            let ArmKind::Profile { controller: own, .. } = &mut spec.kind else {
                let remedy = "give it to an arm that is a profile";
                return Err(Refusal::of_value("only a profile takes a controller".to_owned(), remedy).at(place()));
            };
            *own = Some(controller.clone());
        }
        Ok(())
    }

    /// Returns whether a key of an arm determines which other leaves the arm has.
    fn is_kind(&self, key: &str) -> bool {
        matches!(self.target(key), Ok(Target::Arm { path, .. }) if profiles::resolve_leaf(path).is_ok_and(profiles::Leaf::is_kind))
    }

    fn choose_arms(&mut self, names: &[String]) -> Result<(), UsageError> {
        let mut chosen = Vec::with_capacity(names.len());
        for name in names {
            let own = self.arms.iter().find(|arm| arm.name == *name).cloned().map(Ok);
            let arm = own.or_else(|| ArmSpec::of_kernel(name)).unwrap_or_else(|| find_profile(name));
            chosen.push(arm.map_err(|refusal| refusal.at(format!("--arms {}", names.join(","))))?);
        }
        let names = |arms: &[ArmSpec]| arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>();
        self.chosen = (names(&chosen) != names(&self.arms)).then(|| names(&chosen));
        self.take_arms(chosen);
        Ok(())
    }

    /// Replaces the arms; a sweep over leaves of arms that no longer take part goes with them.
    pub(crate) fn take_arms(&mut self, arms: Vec<ArmSpec>) {
        self.arms = arms;
        let sweep = core::mem::take(&mut self.sweep);
        self.sweep = sweep.into_iter().filter(|axis| self.target(&axis.key).is_ok()).collect();
    }

    fn set(&mut self, text: &str) -> Result<(), Refusal> {
        let Some((key, values)) = text.split_once('=') else {
            return Err(Refusal::of_value(format!("`{text}` is not KEY=VALUE"), "write for example `path.rtt=25ms`"));
        };
        let key = key.trim();
        if let "run.iterations" | "run.seed" = key {
            let number = units::count(values)
                .map_err(|misread| Refusal::of_value(misread.to_string(), "write a whole number"))?;
            match u32::try_from(number).ok().filter(|n| *n > 0) {
                _ if key == "run.seed" => self.seed = number,
                Some(iterations) => self.iterations = iterations,
                None => {
                    return Err(Refusal::of_value(format!("`{values}` iterations cannot be made"), "write 1 or more"));
                }
            }
            return Ok(());
        }
        if key == CELL {
            return self.choose_cells(values);
        }
        self.is_free(key)?;
        let mut canonical: Vec<String> = Vec::new();
        for value in values.split(',') {
            let value = self.check(key, value.trim())?;
            if !canonical.contains(&value) {
                canonical.push(value);
            }
        }
        self.changed.push(format!("{key}={}", canonical.join(",")));
        // A flow has either a size or a duration: the later setting wins.
        let rival =
            [("flow.bytes", "flow.seconds"), ("flow.seconds", "flow.bytes")].into_iter().find(|(one, _)| *one == key);
        self.sweep.retain(|axis| rival.is_none_or(|(_, other)| axis.key != other));
        // Several flows have sizes of their own.
        if key == "flow.company" {
            self.sweep.retain(|axis| !matches!(axis.key.as_str(), "flow.bytes" | "flow.seconds"));
        }
        match canonical.as_slice() {
            [value] if self.cells.is_empty() => self.fix(key, value),
            _ => {
                let axis = Axis { key: key.to_owned(), values: canonical };
                match self.sweep.iter_mut().find(|axis| axis.key == key) {
                    Some(found) => *found = axis,
                    None => self.sweep.push(axis),
                }
                Ok(())
            }
        }
    }

    /// One value for all cells.
    fn fix(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        self.sweep.retain(|axis| axis.key != key);
        match self.target(key)? {
            Target::Point(found) => {
                let found: &Key = found;
                found.set(&mut self.point, value).expect("the value was checked");
            }
            Target::Arm { arm, path } => {
                for spec in self.arms.iter_mut().filter(|spec| spec.name == arm) {
                    if let ArmKind::Profile { set, .. } = &mut spec.kind {
                        set.retain(|(known, _)| known != path);
                        set.push((path.to_owned(), value.to_owned()));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Finds a built-in profile or the path of one; otherwise returns what is wrong, and the remedy.
fn find_profile(name: &str) -> Result<ArmSpec, Refusal> {
    profiles::find(name).map(ArmSpec::of_profile).map_err(|error| match error {
        FindError::Unknown(error) => Refusal::of_value(format!("unknown arm or profile `{name}`"), error.remedy),
        FindError::File(error) => Refusal::of_value(error.to_string(), "correct the file"),
        FindError::Unreadable { .. } => Refusal::of_value(error.to_string(), "name a file that can be read"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;
    use test_case::test_case;

    fn wan(arms: &[&str], set: &[&str]) -> Result<Experiment, String> {
        let mut experiment = spec::builtin("wan").unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let overrides = Overrides { arms: texts(arms), set: texts(set), ..Overrides::default() };
        experiment.apply(&overrides).map_err(|error| error.to_string())?;
        Ok(experiment)
    }

    #[test]
    fn one_value_replaces_an_axis_and_several_make_one() {
        let experiment = wan(&[], &["path.rtt=80ms", "path.loss=0.1%,1%"]).unwrap();
        let keys: Vec<&str> = experiment.sweep.iter().map(|axis| axis.key.as_str()).collect();
        assert_eq!(keys, ["flow.bytes", "path.loss"]);
        assert_eq!(experiment.sweep[1].values, ["0.1%", "1%"]);
        assert_eq!(experiment.point.rtt, base::Duration::from_millis(80));
    }

    #[test]
    fn an_axis_that_is_set_anew_keeps_its_place_and_repeats_nothing() {
        let experiment = wan(&[], &["path.rtt=25ms,0.025s,30ms"]).unwrap();
        assert_eq!(experiment.sweep[0], Axis { key: "path.rtt".into(), values: vec!["25ms".into(), "30ms".into()] });
    }

    #[test]
    fn a_timed_flow_takes_the_place_of_a_sized_one() {
        let experiment = wan(&[], &["flow.seconds=10"]).unwrap();
        assert_eq!(experiment.sweep.iter().map(|axis| axis.key.as_str()).collect::<Vec<_>>(), ["path.rtt"]);
        assert!(experiment.point.canonical().ends_with("flow.seconds=10s"));
    }

    #[test]
    fn a_summary_does_not_outlive_what_contradicts_it() {
        let title = |arms: &[&str], set: &[&str]| wan(arms, set).unwrap().title();
        assert_eq!(title(&[], &["run.iterations=3", "run.seed=2"]), spec::builtin("wan").unwrap().summary);
        let own = ["server-2016", "server-2019", "server-2022", "linux", "longhaul"];
        assert_eq!(title(&own, &[]), spec::builtin("wan").unwrap().summary);
        assert_eq!(title(&[], &["path.loss=1%", "path.rtt=5ms,0.01s"]), "changed to path.loss=1% path.rtt=5ms,10ms");
        assert_eq!(
            title(&["linux", "longhaul"], &["linux.rto.min=1s"]),
            "changed to linux.rto.min=1s arms linux,longhaul"
        );
    }

    #[test]
    fn a_group_that_stands_for_its_kind_is_set_before_its_leaves() {
        let sets = ["server-2022.cc.pacing.quantum_segments=16", "server-2022.cc.pacing=window"];
        assert!(wan(&[], &sets).unwrap().arms[2].ends(&[]).is_ok());
    }

    #[test]
    fn leaves_of_an_arm_are_set_kinds_first_and_only_together_they_must_fit() {
        let sets = ["longhaul.cc.pacing.quantum_segments=16", "longhaul.cc.pacing.kind=window"];
        let experiment = wan(&["longhaul", "longhaul"], &sets).unwrap();
        assert_eq!(experiment.arms[0], experiment.arms[1]);
        assert!(experiment.arms[0].ends(&[]).is_ok());
        assert!(wan(&[], &["longhaul.rto.min=2s", "longhaul.rto.initial=2s"]).unwrap().arms[2].ends(&[]).is_ok());
    }

    #[test_case(&[], &["path.rt=25ms"], "--set path.rt=25ms: unknown key `path.rt`; did you mean `path.rtt`?")]
    #[test_case(&[], &["longhaul.rto.mim=1s"], "--set longhaul.rto.mim=1s: unknown key `longhaul.rto.mim`; did you mean `longhaul.rto.min`?")]
    #[test_case(&[], &["path.rtt"], "--set path.rtt: `path.rtt` is not KEY=VALUE; write for example `path.rtt=25ms`")]
    #[test_case(&[], &["path.rtt=25"], "--set path.rtt=25: `25` is not a valid duration; use a number and one of ns, us, ms, s, min, h, for example `25ms`")]
    #[test_case(&["longhaul"], &["server-2016.rto.min=1s"], "--set server-2016.rto.min=1s: arm `server-2016` takes no part; the arms are longhaul")]
    #[test_case(&["server-2061"], &[], "--arms server-2061: unknown arm or profile `server-2061`; did you mean `server-2016`? There are rfc, longhaul, ")]
    #[test_case(&[], &["longhaul.rto.min=1d"], "--set longhaul.rto.min=1d: `rto.min`: `1d` is not a valid duration: use a number and one of ns, us, ms, s, min, h, for example `25ms`; `longhaul profiles longhaul` shows its values")]
    #[test_case(&["kernel:vegas"], &[], "--arms kernel:vegas: no arm `kernel:vegas`; the kernel's are `kernel:cubic`, ")]
    #[test_case(&["kernel:bbr"], &["kernel:bbr.rto.min=1s"], "--set kernel:bbr.rto.min=1s: arm `kernel:bbr` is not a profile and has no leaves; set")]
    #[test_case(&[], &["run.iterations=0"], "--set run.iterations=0: `0` iterations cannot be made; write 1 or more")]
    fn a_wrong_option_is_refused_with_what_would_be_right(arms: &[&str], set: &[&str], message: &str) {
        let refused = wan(arms, set).unwrap_err();
        assert!(refused.starts_with(message), "{refused}");
    }
}
