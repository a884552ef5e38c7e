//! The simulator and real time, side by side: which cells, which pairs, and how much they may differ.
//!
//! Two pairs in each cell: our own TCP in both, which shows what the simulator omits, and the `linux` profile against the
//! kernel's CUBIC, which shows what the profile omits. Both sides of a pair have the same seeds, hence the same decisions for
//! each packet index.

use lab::plan::Cell;
use lab::{Finished, Overrides, Plan, Row, UsageError, results, spec};

/// Cells that are one experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Clean paths.
    Wan,
    /// One packet in a hundred is late.
    Reorder,
    /// One packet in a hundred takes a shorter route.
    ReorderEarly,
    /// Random loss.
    Loss,
    /// A short path with much reordering.
    Dsack,
}

/// The pairs: an arm of the simulator and one of real time.
pub const PAIRS: [(&str, &str); 2] = [("longhaul", "longhaul"), ("linux", "kernel:cubic")];

/// One line of the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The group, and what it sweeps.
    pub cell: String,
    /// Both arms.
    pub pair: String,
    /// Median goodput in the simulator, Mbit/s.
    pub sim_mbps: f64,
    /// The same in real time.
    pub real_mbps: f64,
    /// The fraction by which the two may differ.
    pub band: f64,
    /// Real runs that the machine disturbed, even in the second attempt.
    pub disturbed: usize,
}

impl Comparison {
    /// Real time by simulator.
    pub fn ratio(&self) -> f64 {
        self.real_mbps / self.sim_mbps
    }

    /// Whether the two differ by no more than the band.
    pub fn is_inside(&self) -> bool {
        (self.ratio() - 1.0).abs() <= self.band
    }
}

impl Group {
    /// In the order of the table.
    pub const ALL: [Self; 5] = [Self::Wan, Self::Reorder, Self::ReorderEarly, Self::Loss, Self::Dsack];

    /// The experiment that is varied, and how.
    fn origin(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Wan => ("wan", &["flow.bytes=32MB"]),
            Self::Reorder => ("reorder", &["flow.bytes=32MB"]),
            Self::ReorderEarly => ("reorder", &["flow.bytes=32MB", "path.reorder.mode=early"]),
            Self::Loss => ("wan", &["path.rtt=100ms", "path.loss=0.01%,0.1%,1%", "flow.bytes=32MB"]),
            Self::Dsack => ("dsack", &[]),
        }
    }

    /// As the command line writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wan => "wan",
            Self::Reorder => "reorder",
            Self::ReorderEarly => "reorder-early",
            Self::Loss => "loss",
            Self::Dsack => "dsack",
        }
    }

    /// What its cells are.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Wan => "Clean paths",
            Self::Reorder => "One packet in a hundred comes late",
            Self::ReorderEarly => "One packet in a hundred takes a short cut",
            Self::Loss => "Random loss",
            Self::Dsack => "A short path with much reordering",
        }
    }

    /// How far apart the two sides may be.
    fn band(self, pair: usize) -> f64 {
        match (self, pair) {
            // A few losses determine the result, and they hit different segments.
            (Self::Loss, _) => 0.25,
            (_, 0) => 0.05,
            _ => 0.10,
        }
    }

    /// The runs of one side, each arm of them in every cell.
    ///
    /// # Errors
    /// If an arm does not exist, which a test excludes for [`PAIRS`].
    pub fn plan(self, arms: [&str; 2], iterations: u32, seed: u64) -> Result<Plan, UsageError> {
        let (name, set) = self.origin();
        let mut experiment = spec::builtin(name).expect("it is built in");
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let (arms, set) = (owned(&arms), owned(set));
        experiment.apply(&Overrides {
            arms,
            set,
            iterations: Some(iterations),
            seed: Some(seed),
            ..Overrides::default()
        })?;
        Plan::new(experiment)
    }

    /// A cell's name in the table: the group and what it sweeps.
    fn title(self, cell: &Cell) -> String {
        let axis = if self == Self::Loss { "path.loss" } else { "path.rtt" };
        let found = cell.swept.iter().find(|(key, _)| key == axis);
        found.map_or_else(|| self.name().to_owned(), |(_, value)| format!("{} {value}", self.name()))
    }
}

/// The pairs of every cell of a group; the plans of both sides have the same cells, and each has an arm of every pair.
///
/// # Panics
/// If a side has no run of an arm in a cell.
pub fn compare(group: Group, sides: [(&Plan, &Finished); 2]) -> Vec<Comparison> {
    let [there, here] = sides.map(|(plan, finished)| results::rows(plan, finished));
    let median = |row: &Row| row.goodput_mbps.median.expect("a side of which a run failed is not compared");
    let compare = |(index, (sim, real)): (usize, (&Row, &Row))| {
        let arm = index % PAIRS.len();
        Comparison {
            cell: group.title(&sides[0].0.cells[index / PAIRS.len()]),
            pair: format!("{}/{}", sim.arm, real.arm),
            sim_mbps: median(sim),
            real_mbps: median(real),
            band: group.band(arm),
            disturbed: real.disturbed_runs.unwrap_or(0),
        }
    };
    there.iter().zip(&here).enumerate().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::execute;

    #[test]
    fn both_sides_of_a_pair_have_the_same_cells_and_seeds() {
        let mut titles = Vec::new();
        for group in Group::ALL {
            let sim = group.plan(PAIRS.map(|pair| pair.0), 2, 1).unwrap();
            let real = group.plan(PAIRS.map(|pair| pair.1), 2, 1).unwrap();
            assert_eq!(sim.cells, real.cells);
            assert!(sim.runs.iter().zip(&real.runs).all(|(a, b)| (a.seed, a.arm) == (b.seed, b.arm)));
            titles.extend(sim.cells.iter().map(|cell| group.title(cell)));
        }
        assert_eq!(titles.len(), 16);
        assert_eq!(
            [&titles[0], &titles[8], &titles[13], &titles[15]],
            ["wan 25ms", "reorder-early 25ms", "loss 0.1%", "dsack"]
        );
    }

    #[test]
    fn a_cell_s_arms_are_paired_in_their_order() {
        let plan = Group::Loss.plan(PAIRS.map(|pair| pair.0), 1, 1).unwrap();
        let made = execute(&plan, &lab::MockBackend, 1, None, &mut |_| ()).unwrap();
        let found = compare(Group::Loss, [(&plan, &made), (&plan, &made)]);
        assert_eq!(found.len(), 6);
        assert_eq!((found[3].cell.as_str(), found[3].pair.as_str()), ("loss 0.1%", "linux/linux"));
        // The stand-in's second arm is half as fast as its first.
        assert!((found[2].sim_mbps / found[3].real_mbps - 2.0).abs() < 1e-6);
    }

    #[test]
    fn a_pair_is_inside_when_its_ratio_is_within_the_band_on_either_side() {
        let of = |real_mbps| Comparison {
            cell: "wan 25ms".into(),
            pair: "longhaul/longhaul".into(),
            sim_mbps: 80.0,
            real_mbps,
            band: 0.05,
            disturbed: 0,
        };
        for (real, inside) in [(76.1, true), (75.9, false), (83.9, true), (84.1, false)] {
            assert_eq!(of(real).is_inside(), inside, "{real}");
        }
    }
}
