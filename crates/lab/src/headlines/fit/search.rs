//! The search: a Latin hypercube in several worlds, then neighbours of the best candidates.

use super::confirm::{Confirmed, confirm};
use super::evaluate::{Numbers, digits, evaluate};
use super::sample::{Levels, hypercube, neighbours, present};
use super::space::{Group, Space};
use super::trials::{Effort, Error, Maker, Trials, World};
use crate::headlines::claim::Claim;
use base::Rng;
use core::cmp::Reverse;

/// What to do.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The unknowns.
    pub space: Space,
    /// Settings of the experiments to draw, the present one first.
    pub worlds: usize,
    /// Settings of each profile to draw in each world.
    pub settings: usize,
    /// Refinements, each as large as a world.
    pub rounds: usize,
    /// Origin of what is drawn.
    pub seed: u64,
}

/// One setting of everything.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Position among all worlds.
    pub world: usize,
    /// The setting of each group, by its position in the world.
    pub settings: Vec<usize>,
    /// The sum of the rows' losses.
    pub loss: f64,
    /// A bit for each row that it reproduces.
    pub met: u32,
}

/// What became of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub claim: &'static Claim,
    /// The smallest and the largest number of all candidates.
    pub range: Option<(f64, f64)>,
    /// Candidates that reproduce it.
    pub met: usize,
}

/// What the search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Row by row.
    pub rows: Vec<Row>,
    /// Those that reproduce the most rows first; of equals, those with the least loss.
    pub candidates: Vec<Candidate>,
    /// Worlds that were drawn or found near the best.
    pub worlds: Vec<World>,
    /// With all runs: everything as it is, then the best candidates.
    pub confirmed: Vec<Confirmed>,
    /// Runs, those found in the store among them.
    pub runs: usize,
    /// The first failure, in a sentence.
    pub failure: Option<String>,
}

/// Candidates whose neighbourhood is searched.
const GOOD: usize = 20;
/// Candidates that are confirmed.
const CONFIRMED: usize = 2;

/// Searches for settings that reproduce as many rows as possible.
///
/// # Errors
/// When the space moves what is documented, a setting does not fit its experiment, or a result cannot be written.
///
/// # Panics
/// With more than 32 rows.
pub fn search(fit: &Fit, rows: &[&'static Claim], maker: &mut Maker<'_>) -> Result<Found, Error> {
    fit.space.check()?;
    assert!(rows.len() <= 32, "a word has a bit for each row");
    let trials = Trials::new(rows, &fit.space);
    let mut search = Search { fit, rows, trials, worlds: Vec::new(), numbers: Vec::new(), candidates: Vec::new() };
    let rng = Rng::new(fit.seed).fork("fit");
    for (index, levels) in hypercube(&fit.space.world, fit.worlds, &rng.fork("worlds")).into_iter().enumerate() {
        let draw = |group: &Group| hypercube(group, fit.settings, &rng.fork(&format!("{} {index}", group.name)));
        let world = search.world(levels, &draw);
        if index == 0 {
            // Every world takes about as many runs as the first, and one setting with all runs ten times its share.
            let of_world = search.trials.count(&world, Effort::Search)?;
            let all = of_world * (fit.worlds + fit.rounds) + of_world * 10 * (1 + CONFIRMED) / fit.settings;
            (maker.begins)(all);
        }
        search.make(world, maker)?;
    }
    for round in 0..fit.rounds {
        let world = search.near(round, &rng.fork(&format!("round {round}")));
        search.make(world, maker)?;
    }
    search.conclude(maker)
}

struct Search<'f> {
    fit: &'f Fit,
    rows: &'f [&'static Claim],
    trials: Trials<'f>,
    worlds: Vec<World>,
    /// By world and row.
    numbers: Vec<Vec<Numbers>>,
    candidates: Vec<Candidate>,
}

impl Search<'_> {
    /// A world with those settings that their profiles take.
    fn world(&self, levels: Levels, draw: &dyn Fn(&Group) -> Vec<Levels>) -> World {
        let groups = self.fit.space.profiles.iter().enumerate();
        let settings = groups.map(|(at, group)| {
            let mut found: Vec<Levels> = Vec::new();
            for levels in draw(group) {
                if !found.contains(&levels) && self.trials.takes(at, &levels) {
                    found.push(levels);
                }
            }
            found
        });
        World { levels, settings: settings.collect() }
    }

    /// Settings near the best candidates, in a world near that of one of them; a third of the best settings are kept.
    fn near(&self, round: usize, rng: &Rng) -> World {
        let best = &self.candidates[..GOOD.min(self.candidates.len())];
        let mut homes: Vec<Levels> = Vec::new();
        for candidate in best {
            let levels = &self.worlds[candidate.world].levels;
            if !homes.contains(levels) {
                homes.push(levels.clone());
            }
        }
        let home = &homes[round / 2 % homes.len()];
        let levels = match round % 2 {
            0 => neighbours(&self.fit.space.world, core::slice::from_ref(home), 1, &rng.fork("world")).remove(0),
            _ => home.clone(),
        };
        self.world(levels, &|group| {
            let at = self.fit.space.profiles.iter().position(|known| known.name == group.name).expect("it is ours");
            let mut good: Vec<Levels> = Vec::new();
            for candidate in best {
                let levels = &self.worlds[candidate.world].settings[at][candidate.settings[at]];
                if !good.contains(levels) {
                    good.push(levels.clone());
                }
            }
            let kept = good.len().min(self.fit.settings.div_ceil(3));
            let near = neighbours(group, &good, self.fit.settings - kept, &rng.fork(&group.name));
            good[..kept].iter().cloned().chain(near).collect()
        })
    }

    /// Makes the runs of a world, and judges all combinations of its settings.
    fn make(&mut self, world: World, maker: &mut Maker<'_>) -> Result<(), Error> {
        let mut made = self.trials.make(&world, Effort::Search, maker)?;
        let numbers = evaluate(self.rows, &world, &mut made);
        let counts: Vec<usize> = world.settings.iter().map(Vec::len).collect();
        for at in 0..counts.iter().product() {
            let settings = digits(at, &counts);
            let (mut loss, mut met) = (0.0, 0);
            for (row, numbers) in numbers.iter().enumerate() {
                let judged = numbers.of(&settings);
                loss += judged.loss;
                met |= u32::from(judged.met) << row;
            }
            self.candidates.push(Candidate { world: self.worlds.len(), settings, loss, met });
        }
        self.worlds.push(world);
        self.numbers.push(numbers);
        // Stable: equals keep their order.
        self.candidates.sort_by(|a, b| {
            let key = |candidate: &Candidate| Reverse(candidate.met.count_ones());
            key(a).cmp(&key(b)).then(a.loss.total_cmp(&b.loss))
        });
        Ok(())
    }

    fn levels(&self, candidate: &Candidate) -> Vec<Levels> {
        let world = &self.worlds[candidate.world];
        let settings = candidate.settings.iter().zip(&world.settings).map(|(at, settings)| settings[*at].clone());
        core::iter::once(world.levels.clone()).chain(settings).collect()
    }

    fn conclude(mut self, maker: &mut Maker<'_>) -> Result<Found, Error> {
        let best: Vec<Vec<Levels>> = self.candidates.iter().take(CONFIRMED).map(|best| self.levels(best)).collect();
        let now: Vec<Levels> = self.fit.space.groups().map(present).collect();
        let mut confirmed = Vec::new();
        for levels in core::iter::once(now).chain(best) {
            // The present setting of everything can be among the best.
            if confirmed.iter().any(|known: &Confirmed| known.levels == levels) {
                continue;
            }
            confirmed.push(confirm(levels, self.rows, &mut self.trials, maker)?);
        }
        let rows = (0..self.rows.len()).map(|row| self.row(row)).collect();
        let Self { trials, worlds, candidates, .. } = self;
        Ok(Found { rows, candidates, worlds, confirmed, runs: trials.runs, failure: trials.failure })
    }

    fn row(&self, row: usize) -> Row {
        let numbers = self
            .candidates
            .iter()
            .filter_map(|candidate| self.numbers[candidate.world][row].of(&candidate.settings).number);
        let range = numbers.fold(None, |range: Option<(f64, f64)>, number| {
            let (lo, hi) = range.unwrap_or((number, number));
            Some((lo.min(number), hi.max(number)))
        });
        let met = self.candidates.iter().filter(|candidate| candidate.has(row)).count();
        Row { claim: self.rows[row], range, met }
    }
}

impl Candidate {
    /// Returns whether it reproduces a row.
    pub fn has(&self, row: usize) -> bool {
        self.met & (1 << row) != 0
    }
}

impl Found {
    /// Returns how many candidates reproduce so many rows, from none on.
    pub fn by_rows(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rows.len() + 1];
        self.candidates.iter().for_each(|candidate| counts[candidate.met.count_ones() as usize] += 1);
        counts
    }

    /// The pairs of rows that some candidates reproduce and none reproduces both of, by their positions.
    pub fn never_together(&self) -> Vec<(usize, usize)> {
        let pairs = (0..self.rows.len()).flat_map(|a| (a + 1..self.rows.len()).map(move |b| (a, b)));
        let together =
            |a: usize, b: usize| self.candidates.iter().any(|candidate| candidate.has(a) && candidate.has(b));
        pairs.filter(|(a, b)| self.rows[*a].met > 0 && self.rows[*b].met > 0 && !together(*a, *b)).collect()
    }

    /// The sets of rows that the candidates with the most rows miss, and how many miss each set, the most frequent first.
    pub fn missed_by_best(&self) -> Vec<(Vec<&'static str>, usize)> {
        let most = self.candidates.first().map_or(0, |best| best.met.count_ones());
        let mut sets: Vec<(&Candidate, usize)> = Vec::new();
        for candidate in self.candidates.iter().take_while(|candidate| candidate.met.count_ones() == most) {
            match sets.iter_mut().find(|(known, _)| known.met == candidate.met) {
                Some((_, count)) => *count += 1,
                None => sets.push((candidate, 1)),
            }
        }
        sets.sort_by_key(|(candidate, count)| (Reverse(*count), candidate.met));
        let missed = |candidate: &Candidate| {
            let rows = self.rows.iter().enumerate().filter(|(row, _)| !candidate.has(*row));
            rows.map(|(_, row)| row.claim.id).collect()
        };
        sets.into_iter().map(|(candidate, count)| (missed(candidate), count)).collect()
    }

    /// The confirmed candidate that reproduces the most rows, the earliest of equals; everything as it is comes first.
    pub fn best(&self) -> &Confirmed {
        let later = |best: &'_ Confirmed, other: &'_ Confirmed| other.reproduced() > best.reproduced();
        let mut best = &self.confirmed[0];
        for other in &self.confirmed[1..] {
            if later(best, other) {
                best = other;
            }
        }
        best
    }
}
