//! A model of a link that changes, as experiments write it: `leo every=15s rtt=20ms..60ms`, `lte mean=20Mbit`.
//!
//! A name and, behind it, parameters that differ from its defaults. Slashes may stand for the spaces.

use crate::spec::refusal::Refusal;
use base::{Duration, Rate};
use core::fmt;
use netem::{Between, Cell, Leo, Model, ReleaseSpec, Wifi};
use profiles::{nearest, units};

/// A model with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkModel {
    name: &'static str,
    /// The same for a path.
    pub model: Model,
}

const NAMES: [&str; 4] = ["leo", "lte", "5g", "wifi"];

/// Shares of the mean rate, in thousandths. A cell of the fifth generation knows deeper shadows.
const LTE: [u64; 6] = [100, 300, 600, 1_000, 1_500, 2_500];
const NR: [u64; 6] = [10, 200, 700, 1_200, 1_700, 2_190];

const fn spans(least_ms: u64, most_ms: u64) -> Between<Duration> {
    Between { least: Duration::from_millis(least_ms), most: Duration::from_millis(most_ms) }
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000).expect("not zero")
}

impl LinkModel {
    /// Reads the text; `none` and no text are none.
    pub fn parse(text: &str) -> Result<Option<Self>, Refusal> {
        let text = text.trim().to_ascii_lowercase();
        let mut words = text.split(|c: char| c.is_whitespace() || c == '/').filter(|word| !word.is_empty());
        let Some(name) = words.next().filter(|name| *name != "none") else { return Ok(None) };
        let mut found = Self::named(name).ok_or_else(|| {
            let hint = nearest(name, NAMES).map_or("use ".to_owned(), |near| format!("did you mean `{near}`? Use "));
            Refusal::of_value(format!("`{name}` is not a known model"), format!("{hint}{}", NAMES.join(", ")))
        })?;
        let mut seen: Vec<&str> = Vec::new();
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                let remedy = format!("write for example `{name} {}=…`", found.keys()[0]);
                return Err(Refusal::of_value(format!("`{word}` has no value"), remedy));
            };
            if seen.contains(&key) {
                return Err(Refusal::of_value(format!("`{key}` is given twice"), "use it once"));
            }
            seen.push(key);
            found.set(key, value)?;
        }
        found.check()?;
        Ok(Some(found))
    }

    /// Returns the model of this name with its defaults.
    fn named(name: &str) -> Option<Self> {
        let name = NAMES.into_iter().find(|known| *known == name)?;
        let rates = |least: u64, most: u64| Between { least: mbit(least), most: mbit(most) };
        let model = match name {
            "leo" => Model::Leo(Leo {
                every: Duration::from_secs(15),
                delay: spans(10, 30),
                rate: rates(50, 200),
                outage: spans(50, 150),
            }),
            "lte" => Model::Cell(Cell { mean: mbit(20), shares: LTE, hold: spans(10, 500) }),
            "5g" => Model::Cell(Cell { mean: mbit(200), shares: NR, hold: spans(10, 200) }),
            _ => {
                let release = ReleaseSpec { least: Duration::from_millis(1), most: Duration::from_millis(5) };
                Model::Wifi(Wifi { rate: rates(20, 120), hold: spans(100, 1_000), release })
            }
        };
        Some(Self { name, model })
    }

    /// The parameters that it has, in the order in which they are shown.
    const fn keys(&self) -> &'static [&'static str] {
        match self.model {
            Model::Leo(_) => &["every", "rtt", "rate", "outage"],
            Model::Cell(_) => &["mean", "hold"],
            Model::Wifi(_) => &["rate", "hold", "release"],
        }
    }

    fn knob(&mut self, key: &str) -> Option<Knob<'_>> {
        Some(match (&mut self.model, key) {
            (Model::Leo(leo), "every") => Knob::Span(&mut leo.every),
            (Model::Leo(leo), "rtt") => Knob::BothWays(&mut leo.delay),
            (Model::Leo(leo), "rate") => Knob::Rates(&mut leo.rate),
            (Model::Leo(leo), "outage") => Knob::Spans(&mut leo.outage),
            (Model::Cell(cell), "mean") => Knob::Rate(&mut cell.mean),
            (Model::Cell(cell), "hold") => Knob::Spans(&mut cell.hold),
            (Model::Wifi(wifi), "rate") => Knob::Rates(&mut wifi.rate),
            (Model::Wifi(wifi), "hold") => Knob::Spans(&mut wifi.hold),
            (Model::Wifi(wifi), "release") => Knob::Gaps(&mut wifi.release),
            _ => return None,
        })
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), Refusal> {
        let (name, keys) = (self.name, self.keys());
        let Some(knob) = self.knob(key) else {
            let near = nearest(key, keys.iter().copied());
            let hint = near.map_or("use ".to_owned(), |near| format!("did you mean `{near}`? Use "));
            return Err(Refusal::of_value(
                format!("`{key}` is not a parameter of {name}"),
                format!("{hint}{}", keys.join(", ")),
            ));
        };
        knob.read(value)
    }

    fn check(&self) -> Result<(), Refusal> {
        let (hold, what) = match &self.model {
            Model::Leo(leo) if leo.outage.most >= leo.every => {
                let problem = format!("an outage of {} does not end within {}", leo.outage.most, leo.every);
                return Err(Refusal::of_value(problem, "use a shorter `outage`, or a longer `every`"));
            }
            Model::Leo(leo) => (leo.delay, "rtt"),
            Model::Cell(cell) => (cell.hold, "hold"),
            Model::Wifi(wifi) => (wifi.hold, "hold"),
        };
        if hold.least.is_zero() {
            let problem = format!("`{what}` begins at zero");
            return Err(Refusal::of_value(problem, "use a time above zero, for example `10ms..500ms`"));
        }
        Ok(())
    }

    /// Returns every parameter with its value, in a fixed order.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, LinkValue)> {
        let mut model = *self;
        let keys = model.keys().iter().copied();
        keys.filter_map(move |key| Some((key, model.knob(key)?.value())))
    }

    /// The word for the model.
    pub(crate) const fn word(&self) -> &'static str {
        self.name
    }

    /// Returns the round-trip time in the middle of those that it draws, if it draws any.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.model.delay().map(|delay| delay.least + delay.most)
    }
}

/// A parameter in its place.
enum Knob<'m> {
    /// A time above zero.
    Span(&'m mut Duration),
    /// Times from one to another.
    Spans(&'m mut Between<Duration>),
    /// The same, of which the model has half.
    BothWays(&'m mut Between<Duration>),
    Rate(&'m mut Rate),
    Rates(&'m mut Between<Rate>),
    Gaps(&'m mut ReleaseSpec),
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkValue {
    Spans(Between<Duration>),
    Rates(Between<Rate>),
}

impl Knob<'_> {
    fn read(self, text: &str) -> Result<(), Refusal> {
        match self {
            Self::Span(span) => {
                *span = units::duration(text)?;
                if span.is_zero() {
                    return Err(Refusal::of_value(
                        format!("`{text}` is too short"),
                        "use a time above zero, for example `15s`",
                    ));
                }
            }
            Self::Spans(range) => *range = between(text, units::duration)?,
            Self::BothWays(range) => {
                let both = between(text, units::duration)?;
                *range = Between { least: both.least / 2, most: both.most / 2 };
            }
            Self::Rate(rate) => *rate = units::rate(text)?,
            Self::Rates(range) => *range = between(text, units::rate)?,
            Self::Gaps(gaps) => {
                let Between { least, most } = between(text, units::duration)?;
                *gaps = ReleaseSpec { least, most };
            }
        }
        Ok(())
    }

    fn value(self) -> LinkValue {
        let spans = |least: Duration, most: Duration| LinkValue::Spans(Between { least, most });
        match self {
            Self::Span(span) => spans(*span, *span),
            Self::Spans(range) => LinkValue::Spans(*range),
            Self::BothWays(range) => spans(range.least * 2, range.most * 2),
            Self::Rate(rate) => LinkValue::Rates(Between { least: *rate, most: *rate }),
            Self::Rates(range) => LinkValue::Rates(*range),
            Self::Gaps(gaps) => spans(gaps.least, gaps.most),
        }
    }
}

fn between<T: Ord + Copy, E>(text: &str, read: impl Fn(&str) -> Result<T, E>) -> Result<Between<T>, Refusal>
where
    Refusal: From<E>,
{
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let range = Between { least: read(least)?, most: read(most)? };
    if range.least > range.most {
        return Err(Refusal::of_value(format!("`{text}` ends before it begins"), "write the smaller value first"));
    }
    Ok(range)
}

impl fmt::Display for LinkModel {
    /// The name, and what differs from its defaults.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let defaults = Self::named(self.name).unwrap_or(*self);
        for ((key, value), (_, usual)) in self.parameters().zip(defaults.parameters()) {
            if value != usual {
                write!(f, " {key}={value}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for LinkValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spans(Between { least, most }) if least == most => least.fmt(f),
            Self::Spans(Between { least, most }) => write!(f, "{least}..{most}"),
            Self::Rates(Between { least, most }) if least == most => least.fmt(f),
            Self::Rates(Between { least, most }) => write!(f, "{least}..{most}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("leo every=15s rtt=20ms..60ms rate=50Mbit..200Mbit outage=50ms..150ms", "leo"; "the defaults")]
    #[test_case(" LTE  mean=5000kbit ", "lte mean=5Mbit")]
    #[test_case("leo/every=10s/outage=0ms", "leo every=10s outage=0ns"; "slashes")]
    #[test_case("5g hold=20ms mean=100Mbit", "5g mean=100Mbit hold=20ms")]
    #[test_case("wifi release=2ms rate=10Mbit..10Mbit", "wifi rate=10Mbit release=2ms")]
    fn a_model_is_shown_in_canonical_form_and_reads_back(text: &str, canonical: &str) {
        let read = LinkModel::parse(text).unwrap().unwrap();
        assert_eq!(read.to_string(), canonical);
        assert_eq!(LinkModel::parse(canonical), Ok(Some(read)));
    }

    #[test_case("none"; "the word")]
    #[test_case(" "; "nothing")]
    fn no_model_is_none(text: &str) {
        assert_eq!(LinkModel::parse(text), Ok(None));
    }

    #[test_case("geo", "`geo` is not a known model: did you mean `leo`? Use leo, lte, 5g, wifi")]
    #[test_case("lte mean", "`mean` has no value: write for example `lte mean=…`")]
    #[test_case("lte hold=1ms hold=2ms", "`hold` is given twice: use it once")]
    #[test_case("lte rtt=1ms", "`rtt` is not a parameter of lte: use mean, hold")]
    #[test_case(
        "leo outages=1ms",
        "`outages` is not a parameter of leo: did you mean `outage`? Use every, rtt, rate, outage"
    )]
    #[test_case("leo rtt=60ms..20ms", "`60ms..20ms` ends before it begins: write the smaller value first")]
    #[test_case("leo rate=fast", "`fast` is not a valid rate: use")]
    #[test_case("leo every=0s", "`0s` is too short: use a time above zero")]
    #[test_case("leo every=1s outage=1s", "an outage of 1s does not end within 1s: use a shorter `outage`")]
    #[test_case("wifi hold=0ms..5ms", "`hold` begins at zero: use a time above zero")]
    fn a_wrong_model_is_refused_with_what_would_be_right(text: &str, message: &str) {
        let problem = LinkModel::parse(text).unwrap_err().to_string();
        assert!(problem.starts_with(message), "{problem}");
    }

    #[test]
    fn shares_of_a_cell_have_their_mean_at_a_thousand() {
        for shares in [LTE, NR] {
            assert_eq!((shares.iter().sum::<u64>(), shares.is_sorted()), (6_000, true));
        }
    }
}
