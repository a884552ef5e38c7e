//! What all comparisons of a table say together: how many differ when the chance of one false statement in the whole table is 5 %.

use crate::plan::Plan;
use crate::results::rows::Row;
use crate::results::stats::{Design, TABLE_ERROR, least_p};

/// All comparisons with the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// Comparisons of arms that vary.
    pub comparisons: usize,
    /// Those that differ from the reference, by Holm's procedure.
    pub differ: usize,
    /// Runs of each arm from which on a comparison can differ at all; `None` if there are so many, or a thousand do not suffice.
    pub needs: Option<usize>,
}

/// Returns what the table says; `None` below two comparisons, whose verdicts say it.
pub fn together(plan: &Plan, rows: &[Row]) -> Option<Together> {
    let tested: Vec<(&Row, f64, f64)> = rows
        .iter()
        .filter_map(|row| row.vs_reference.as_ref().and_then(|versus| Some((row, versus.p?, versus.p_table?))))
        .collect();
    let comparisons = tested.len();
    if comparisons < 2 {
        return None;
    }
    let own_seeds = tested.iter().all(|(row, ..)| row.own_seeds());
    let design = Design { own_seeds, until_decided: plan.until_decided };
    let reaches = |runs: usize| least_p(runs, design) * comparisons as f64 <= TABLE_ERROR;
    let most = tested.iter().map(|(row, ..)| row.runs).max().unwrap_or(0);
    Some(Together {
        comparisons,
        differ: tested.iter().filter(|(_, _, p)| *p <= TABLE_ERROR).count(),
        needs: if reaches(most) { None } else { (1..=1_000).find(|runs| reaches(*runs)) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RunSpec;
    use crate::results::rows;
    use crate::run::{Backend, Finished, Measured, RunFailure, execute};
    use crate::spec::{self, Overrides};
    use base::{Duration, Rng};

    /// The second arm is faster in the first cell.
    struct Noisy;
    impl Backend for Noisy {
        fn run(&self, run: &RunSpec) -> Result<Measured, RunFailure> {
            let noise = Rng::new(run.seed).fork(&run.arm.to_string()).next_u64() % 1_000;
            let elapsed = if run.cell == 0 && run.arm == 1 { 50_000 } else { 100_000 } + noise;
            Ok(Measured::of_transfer(1_000_000, Duration::from_micros(elapsed)))
        }
    }

    fn table(cells: &str, arms: &[&str], iterations: u32) -> Option<Together> {
        let mut experiment = spec::builtin("reorder").unwrap();
        let set = ["path.rtt=25ms".to_owned(), format!("flow.bytes={cells}")].to_vec();
        let arms = arms.iter().map(|arm| (*arm).to_owned()).collect();
        experiment.apply(&Overrides { set, arms, iterations: Some(iterations), ..Overrides::default() }).unwrap();
        let plan = Plan::new(experiment).unwrap();
        let finished: Finished = execute(&plan, &Noisy, 1, None, &mut |_| {}).unwrap();
        together(&plan, &rows(&plan, &finished))
    }

    #[test]
    fn a_clear_cell_differs_in_its_table_and_the_noise_does_not() {
        let found = table("1kB,2kB,3kB,4kB", &["server-2016", "server-2022"], 20);
        assert_eq!(found, Some(Together { comparisons: 4, differ: 1, needs: None }));
    }

    #[test]
    fn too_few_runs_cannot_show_a_difference_and_the_table_says_how_many_can() {
        let found = table("1kB,2kB,3kB,4kB", &["server-2016", "server-2022"], 6);
        assert_eq!(found, Some(Together { comparisons: 4, differ: 0, needs: Some(8) }));
    }

    #[test]
    fn one_comparison_is_no_table() {
        assert_eq!(table("1kB", &["server-2016", "server-2022"], 20), None);
    }
}
