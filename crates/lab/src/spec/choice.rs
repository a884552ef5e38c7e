//! Which cells of a list an experiment makes.

use crate::spec::cells::Role;
use crate::spec::experiment::Experiment;
use crate::spec::refusal::Refusal;
use base::Rng;

/// The key under which a cell of a list has its name.
pub(crate) const CELL: &str = "cell";

/// Which of an experiment's listed cells to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellChoice {
    /// Those of a role.
    Of(Role),
    /// Cells that this text seeds, from the declared ranges.
    Drawn(String),
}

impl Default for CellChoice {
    fn default() -> Self {
        Self::Of(Role::default())
    }
}

/// How many cells are drawn.
const DRAWN: usize = 40;

impl Experiment {
    /// Makes the cells that are chosen.
    ///
    /// # Errors
    /// If the experiment has none of them.
    pub(crate) fn choose(&mut self, choice: &CellChoice) -> Result<(), Refusal> {
        match choice {
            CellChoice::Of(Role::Train) if self.cells.is_empty() => Ok(()),
            CellChoice::Of(role) => self.keep_role(*role),
            CellChoice::Drawn(seed) => self.draw_cells(seed, DRAWN),
        }
    }

    /// Keeps the cells of one role.
    ///
    /// # Errors
    /// If there is none.
    fn keep_role(&mut self, role: Role) -> Result<(), Refusal> {
        if self.cells.iter().all(|cell| cell.role != role) {
            let problem = format!("`{}` has no cells with the role `{}`", self.name, role.word());
            return Err(Refusal::of_value(problem, "use it with an experiment that lists them, such as `robust`"));
        }
        self.cells.retain(|cell| cell.role == role);
        Ok(())
    }

    /// Replaces the cells by as many as `count` that `seed` draws from the declared ranges, kind by kind in turn.
    ///
    /// # Errors
    /// If no ranges are declared, or a drawn value is not valid.
    fn draw_cells(&mut self, seed: &str, count: usize) -> Result<(), Refusal> {
        if self.draws.is_empty() {
            let problem = format!("`{}` declares no ranges to draw from", self.name);
            return Err(Refusal::of_value(problem, "use it with an experiment that has `[[draw]]`, such as `robust`"));
        }
        let mut rng = Rng::new(0).fork(seed);
        let mut cells = Vec::with_capacity(count);
        for (index, draw) in self.draws.iter().cycle().take(count).enumerate() {
            let mut cell = draw.cell(format!("{}-{}", draw.kind.replace(' ', "-"), index + 1), &mut rng)?;
            for (key, value) in cell.base.iter_mut().chain(&mut cell.disturb) {
                *value = self.check(key, value)?;
            }
            cells.push(cell);
        }
        self.cells = cells;
        Ok(())
    }

    /// Keeps the cells of these names.
    pub(crate) fn choose_cells(&mut self, names: &str) -> Result<(), Refusal> {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        for name in &names {
            if self.cells.iter().all(|cell| cell.name != *name) {
                let known = self.cells.iter().map(|cell| cell.name.as_str());
                let nearest = profiles::nearest(name, known.clone());
                let remedy = nearest.map_or_else(
                    || format!("there are {}", known.collect::<Vec<_>>().join(", ")),
                    |word| format!("did you mean `{word}`?"),
                );
                return Err(Refusal::of_value(format!("no cell `{name}`"), remedy));
            }
        }
        self.cells.retain(|cell| names.contains(&cell.name.as_str()));
        self.changed.push(format!("{CELL}={}", names.join(",")));
        Ok(())
    }

    /// Checks that a key can be set for all cells: it must not be what disturbs one.
    pub(crate) fn is_free(&self, key: &str) -> Result<(), Refusal> {
        let disturbed = self.cells.iter().find(|cell| cell.disturb.iter().any(|(known, _)| known == key));
        let Some(cell) = disturbed else { return Ok(()) };
        let problem = format!("`{key}` is what disturbs the cell `{}`", cell.name);
        Err(Refusal::of_key(problem, format!("choose other cells, for example with `--set {CELL}=NAME`")))
    }
}
