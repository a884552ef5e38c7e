//! Models of links that change: satellites in low orbit, cells, Wi-Fi. Each draws stretches of time, from a seed and without end.
//!
//! The shapes are simple on purpose, and their numbers are knobs; none is fitted to a measurement. A satellite's rate and delay stay for
//! an interval and then change after an outage, as terminals that are reassigned at fixed times see it. A cell's rate walks at random
//! between six shares of its mean, each for a drawn time; the walk visits all of them equally often, so that the mean is as asked. On
//! Wi-Fi the rate is drawn anew for each drawn time, and packets leave in groups.
//!
//! Draws: three per interval of a satellite, two per stretch of the others; both directions of a path draw the same from one seed.

use crate::release::ReleaseSpec;
use crate::stretch::Stretch;
use base::{Duration, Rate, Rng};

/// A range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between<T> {
    /// The least.
    pub least: T,
    /// The most; not less.
    pub most: T,
}

/// A link that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Satellites in low orbit.
    Leo(Leo),
    /// A cell.
    Cell(Cell),
    /// Wi-Fi.
    Wifi(Wifi),
}

/// A satellite takes over from another at fixed times; meanwhile nothing leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leo {
    /// Time from one to the next; longer than any outage.
    pub every: Duration,
    /// One-way delay of each.
    pub delay: Between<Duration>,
    /// Rate of each.
    pub rate: Between<Rate>,
    /// How long nothing leaves, from the moment of the change.
    pub outage: Between<Duration>,
}

/// The number of rates of a cell.
pub const CELL_STATES: usize = 6;

/// A walk between shares of a mean rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Rate in the long run.
    pub mean: Rate,
    /// Shares of it in thousandths, increasing; their mean is a thousand.
    pub shares: [u64; CELL_STATES],
    /// How long a rate stays.
    pub hold: Between<Duration>,
}

/// A rate that is drawn anew, and groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wifi {
    /// The rate.
    pub rate: Between<Rate>,
    /// How long it stays.
    pub hold: Between<Duration>,
    /// Gaps between releases.
    pub release: ReleaseSpec,
}

impl Model {
    /// Returns the one-way delays that it draws, if it draws any.
    pub const fn delay(&self) -> Option<Between<Duration>> {
        match self {
            Self::Leo(leo) => Some(leo.delay),
            Self::Cell(_) | Self::Wifi(_) => None,
        }
    }

    /// Returns the gaps between releases, if packets leave in groups.
    pub const fn release(&self) -> Option<ReleaseSpec> {
        match self {
            Self::Wifi(wifi) => Some(wifi.release),
            Self::Cell(_) | Self::Leo(_) => None,
        }
    }

    /// Returns the mean of the rates, outages apart.
    pub fn mean_rate(&self) -> Rate {
        let middle = |rate: Between<Rate>| {
            let bps = u64::midpoint(rate.least.bits_per_sec(), rate.most.bits_per_sec());
            Rate::from_bits_per_sec(bps).unwrap_or(rate.most)
        };
        match self {
            Self::Leo(leo) => middle(leo.rate),
            Self::Cell(cell) => cell.mean,
            Self::Wifi(wifi) => middle(wifi.rate),
        }
    }
}

/// The stretches of a model, as they are drawn.
#[derive(Clone, Debug)]
pub struct Weather {
    model: Model,
    rng: Rng,
    /// When the next interval begins.
    at: Duration,
    /// A stretch that follows an outage.
    behind: Option<Stretch>,
    /// Which of a cell's rates was the last one.
    state: usize,
}

impl Weather {
    /// Creates the stretches that `model` draws from `seed`.
    pub fn new(model: Model, seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork("model");
        let state = rng.below(CELL_STATES as u64) as usize;
        Self { model, rng, at: Duration::ZERO, behind: None, state }
    }

    fn between(&mut self, range: Between<u64>) -> u64 {
        range.least + self.rng.below((range.most - range.least).saturating_add(1))
    }

    fn span(&mut self, range: Between<Duration>) -> Duration {
        Duration::from_nanos(self.between(Between { least: range.least.as_nanos(), most: range.most.as_nanos() }))
    }

    fn rate(&mut self, range: Between<Rate>) -> Rate {
        let bps = self.between(Between { least: range.least.bits_per_sec(), most: range.most.bits_per_sec() });
        Rate::from_bits_per_sec(bps).unwrap_or(range.most)
    }

    fn satellite(&mut self, leo: &Leo) -> Stretch {
        let (rate, delay, outage) = (self.rate(leo.rate), self.span(leo.delay), self.span(leo.outage));
        let from = self.at;
        self.at += leo.every;
        let open = Stretch { from, rate: Some(rate), delay: Some(delay) };
        if from.is_zero() || outage.is_zero() {
            return open;
        }
        self.behind = Some(Stretch { from: from + outage, ..open });
        Stretch { rate: None, ..open }
    }

    fn cell(&mut self, cell: &Cell) -> Stretch {
        let rate = cell.mean.scale(cell.shares[self.state], 1_000);
        let (from, up, held) = (self.at, self.rng.below(2) == 1, self.span(cell.hold));
        self.at += held;
        // Who would leave at an end stays: all states are equally frequent.
        self.state = if up { (self.state + 1).min(CELL_STATES - 1) } else { self.state.saturating_sub(1) };
        Stretch { from, rate: Some(rate), delay: None }
    }

    fn wifi(&mut self, wifi: &Wifi) -> Stretch {
        let (from, rate, held) = (self.at, self.rate(wifi.rate), self.span(wifi.hold));
        self.at += held;
        Stretch { from, rate: Some(rate), delay: None }
    }
}

impl Iterator for Weather {
    type Item = Stretch;
    /// Ends with time.
    fn next(&mut self) -> Option<Stretch> {
        if let Some(stretch) = self.behind.take() {
            return Some(stretch);
        }
        if self.at.as_nanos() == u64::MAX {
            return None;
        }
        Some(match self.model {
            Model::Leo(leo) => self.satellite(&leo),
            Model::Cell(cell) => self.cell(&cell),
            Model::Wifi(wifi) => self.wifi(&wifi),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capacity::Capacity;
    use crate::course::Course;
    use crate::testing::rate;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
    fn spans(least: u64, most: u64) -> Between<Duration> {
        Between { least: ms(least), most: ms(most) }
    }
    fn rates(least: u64, most: u64) -> Between<Rate> {
        Between { least: rate(least * 1_000_000), most: rate(most * 1_000_000) }
    }
    fn leo() -> Leo {
        Leo { every: ms(15_000), delay: spans(10, 30), rate: rates(50, 200), outage: spans(50, 150) }
    }
    fn cell() -> Cell {
        Cell { mean: rate(20_000_000), shares: [100, 300, 600, 1_000, 1_500, 2_500], hold: spans(10, 500) }
    }

    #[test]
    fn a_satellite_takes_over_at_fixed_times_after_an_outage() {
        let drawn: Vec<_> = Weather::new(Model::Leo(leo()), 7).take(9).collect();
        let range = leo();
        assert!(drawn[0].from.is_zero() && drawn[0].rate.is_some(), "it begins without an outage");
        for (pair, number) in drawn[1..].chunks(2).zip(1u32..) {
            let [outage, open] = pair else { panic!("nine stretches are four takeovers") };
            assert_eq!((outage.from, outage.rate), (range.every * number, None));
            let silent = open.from.saturating_sub(outage.from);
            assert!((range.outage.least..=range.outage.most).contains(&silent));
            assert!((range.rate.least..=range.rate.most).contains(&open.rate.unwrap()));
            assert!((range.delay.least..=range.delay.most).contains(&open.delay.unwrap()));
            assert_eq!(outage.delay, open.delay);
        }
        assert!(drawn.windows(2).all(|pair| pair[0].from < pair[1].from));
        assert_eq!(drawn, Weather::new(Model::Leo(leo()), 7).take(9).collect::<Vec<_>>());
        assert_ne!(drawn, Weather::new(Model::Leo(leo()), 8).take(9).collect::<Vec<_>>());
    }

    #[test]
    fn a_cell_has_its_mean_in_the_long_run_and_moves_by_a_step() {
        let model = Model::Cell(cell());
        let bytes = Capacity::new(&Course::Drawn(model, 1)).bytes_between(ms(0), ms(3_600_000));
        let mean_kbit = bytes * 8 / 3_600_000;
        assert!((18_500..21_500).contains(&mean_kbit), "{mean_kbit} kbit/s in an hour");
        let drawn: Vec<_> = Weather::new(model, 1).take(1_000).collect();
        let place = |stretch: &Stretch| {
            cell().shares.iter().position(|share| stretch.rate == Some(cell().mean.scale(*share, 1_000)))
        };
        assert!(drawn.iter().all(|stretch| place(stretch).is_some()));
        assert!(drawn.windows(2).all(|pair| place(&pair[0]).unwrap().abs_diff(place(&pair[1]).unwrap()) <= 1));
        assert!(drawn.windows(2).all(|pair| {
            let held = pair[1].from.saturating_sub(pair[0].from);
            (cell().hold.least..=cell().hold.most).contains(&held)
        }));
    }

    #[test]
    fn a_rate_on_wifi_stays_for_a_drawn_time() {
        let release = ReleaseSpec { least: ms(1), most: ms(5) };
        let model = Model::Wifi(Wifi { rate: rates(20, 120), hold: spans(100, 1_000), release });
        let drawn: Vec<_> = Weather::new(model, 3).take(500).collect();
        assert!(drawn.iter().all(|stretch| (rate(20_000_000)..=rate(120_000_000)).contains(&stretch.rate.unwrap())));
        assert!(
            drawn.windows(2).all(|pair| (ms(100)..=ms(1_000)).contains(&pair[1].from.saturating_sub(pair[0].from)))
        );
        assert_eq!((model.release(), model.mean_rate()), (Some(release), rate(70_000_000)));
    }
}
