//! Settings to try: a Latin hypercube over the values of the parameters, and neighbours of what was good.

use super::space::Group;
use base::Rng;

/// The position of each parameter's value.
pub type Levels = Vec<usize>;

/// The setting as it is.
pub fn present(group: &Group) -> Levels {
    group.parameters.iter().map(|parameter| parameter.now).collect()
}

/// Draws `count` settings, each value of a parameter as often as any other to within one; the first is the present one.
pub fn hypercube(group: &Group, count: usize, rng: &Rng) -> Vec<Levels> {
    let mut drawn = vec![present(group)];
    let more = count.saturating_sub(1);
    let columns: Vec<Vec<usize>> = group
        .parameters
        .iter()
        .map(|parameter| {
            let mut rng = rng.fork(&parameter.name);
            let values = parameter.values.len();
            // Where the values do not divide the count, which of them come once more is drawn, too.
            let first = rng.below(values as u64) as usize;
            let mut column: Vec<usize> = (0..more).map(|at| (first + at) % values).collect();
            shuffle(&mut column, &mut rng);
            column
        })
        .collect();
    drawn.extend((0..more).map(|at| columns.iter().map(|column| column[at]).collect::<Levels>()));
    drawn.truncate(count);
    drawn
}

/// Draws `count` settings beside good ones, taken in turn: one parameter in each goes to a value beside its own, or, every other time, to any.
pub fn neighbours(group: &Group, good: &[Levels], count: usize, rng: &Rng) -> Vec<Levels> {
    let mut rng = rng.clone();
    let mut found: Vec<Levels> = Vec::with_capacity(count);
    for at in 0..count {
        let mut levels = good[at % good.len()].clone();
        if group.parameters.is_empty() {
            found.push(levels);
            continue;
        }
        let which = rng.below(group.parameters.len() as u64) as usize;
        let (values, now) = (group.parameters[which].values.len(), levels[which]);
        let any = rng.below(values as u64) as usize;
        let up = any >= values / 2;
        levels[which] = match at % 2 {
            0 if up && now + 1 < values => now + 1,
            0 if now > 0 => now - 1,
            0 => (now + 1).min(values - 1),
            _ => any,
        };
        found.push(levels);
    }
    found
}

fn shuffle(column: &mut [usize], rng: &mut Rng) {
    for last in (1..column.len()).rev() {
        let other = rng.below(last as u64 + 1) as usize;
        column.swap(last, other);
    }
}
