//! A comparison of two arms out of several.

use crate::plan::Plan;
use crate::spec::{Refusal, UsageError};

impl Plan {
    /// Returns the same plan with these two arms alone, the first as the reference, and where its runs stand in this one.
    ///
    /// # Errors
    /// If an arm is unknown, or both are the same.
    pub fn pair(&self, reference: &str, other: &str) -> Result<(Self, Vec<usize>), UsageError> {
        let labels: Vec<&str> = self.arms.iter().map(|arm| arm.label.as_str()).collect();
        let find = |label: &str| {
            let known =
                || Refusal::of_value(format!("no arm `{label}`"), format!("the arms are {}", labels.join(", ")));
            labels.iter().position(|known| *known == label).ok_or_else(|| known().at("compare"))
        };
        let both = [find(reference)?, find(other)?];
        if both[0] == both[1] {
            let refusal = Refusal::of_value(format!("`{other}` would be compared with itself"), "name two arms");
            return Err(refusal.at("compare"));
        }
        let own = |arm: usize| both.iter().position(|chosen| *chosen == arm);
        let mut found: Vec<(usize, usize)> =
            self.runs.iter().enumerate().filter_map(|(index, run)| Some((own(run.arm)?, index))).collect();
        found.sort_by_key(|(arm, index)| (self.runs[*index].cell, self.runs[*index].iteration, *arm));
        let mut plan = self.without_runs();
        plan.arms = both.map(|arm| self.arms[arm].clone()).into();
        plan.runs =
            found.iter().map(|(arm, index)| crate::RunSpec { arm: *arm, ..self.runs[*index].clone() }).collect();
        Ok((plan, found.into_iter().map(|(_, index)| index).collect()))
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Finished, MockBackend, execute};
    use crate::spec::{self, Overrides};
    use crate::{Plan, results};

    #[test]
    fn a_pair_is_compared_as_if_there_were_no_other_arms() {
        let plan = |arms: &[&str]| {
            let mut experiment = spec::builtin("reorder").unwrap();
            let arms = arms.iter().map(|arm| (*arm).to_owned()).collect();
            let set = vec!["path.rtt=25ms".to_owned(), "flow.bytes=1kB,2kB".to_owned()];
            experiment.apply(&Overrides { arms, set, iterations: Some(10), ..Overrides::default() }).unwrap();
            Plan::new(experiment).unwrap()
        };
        let made = |plan: &Plan| execute(plan, &MockBackend, 1, None, &mut |_| ()).unwrap();
        let all = plan(&["rfc", "linux", "longhaul"]);
        let finished = made(&all);
        let (pair, places) = all.pair("longhaul", "linux").unwrap();
        let measured = places.iter().map(|place| finished.measured[*place]).collect();
        let rows = results::rows(&pair, &Finished { measured, ..Finished::default() });
        // The mock's arms differ by a factor of their number.
        let ratios: Vec<Option<f64>> =
            rows.iter().map(|row| row.vs_reference.as_ref().map(|versus| versus.median_ratio)).collect();
        assert_eq!(ratios, [None, Some(1.5), None, Some(1.5)]);
        assert_eq!(rows[1].arm, "linux");
        let refused = |one: &str, other: &str| all.pair(one, other).unwrap_err().to_string();
        assert_eq!(refused("linux", "cubic"), "compare: no arm `cubic`; the arms are rfc, linux, longhaul");
        assert_eq!(refused("linux", "linux"), "compare: `linux` would be compared with itself; name two arms");
    }
}
