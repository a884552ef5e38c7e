//! Cells that are listed one by one, not swept: each with what is ordinary about its path and what disturbs it.
//!
//! A run of such a cell has a twin without the disturbance. Cells have a role: those of `train` may be looked at while
//! something is tuned, those of `hold-out` judge it. Kinds also declare ranges, from which more cells can be drawn.

use crate::spec::refusal::Refusal;
use base::Rng;

/// A cell of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCell {
    /// Unique in its experiment.
    pub name: String,
    /// What disturbs it, in a word or two.
    pub kind: String,
    /// What it serves for.
    pub role: Role,
    /// The network and the flow: key and canonical value.
    pub base: Vec<(String, String)>,
    /// The disturbance.
    pub disturb: Vec<(String, String)>,
}

/// A kind of cells from which more can be drawn: as a cell, with ranges in its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The kind.
    pub kind: String,
    /// Key and template.
    pub base: Vec<(String, String)>,
    /// Key and template.
    pub disturb: Vec<(String, String)>,
}

/// What a cell serves for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Tuning.
    #[default]
    Train,
    /// Judging what was tuned.
    HoldOut,
}

impl Role {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::HoldOut => "hold-out",
        }
    }

    /// Reads `train` or `hold-out`.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        match text {
            "train" => Ok(Self::Train),
            "hold-out" => Ok(Self::HoldOut),
            _ => Err(Refusal::of_value(format!("`{text}` is not a role"), "write `train` or `hold-out`")),
        }
    }
}

impl Draw {
    /// Draws a cell called `name`.
    ///
    /// # Errors
    /// If a template is not one.
    pub(crate) fn cell(&self, name: String, rng: &mut Rng) -> Result<NamedCell, Refusal> {
        let mut fill = |settings: &[(String, String)]| {
            settings
                .iter()
                .map(|(key, template)| Ok((key.clone(), filled(template, rng)?)))
                .collect::<Result<Vec<_>, Refusal>>()
        };
        let (base, disturb) = (fill(&self.base)?, fill(&self.disturb)?);
        Ok(NamedCell { name, kind: self.kind.clone(), role: Role::Train, base, disturb })
    }
}

/// Fills each `{3..7}` and `{a|b}` of a template with a drawn value.
fn filled(template: &str, rng: &mut Rng) -> Result<String, Refusal> {
    let wrong = || {
        let problem = format!("`{template}` is not a template");
        Refusal::of_value(problem, "write ranges of whole numbers as `{10..200}ms` and choices as `{a|b}`")
    };
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, behind)) = rest.split_once('{') {
        let (range, after) = behind.split_once('}').ok_or_else(wrong)?;
        text.push_str(before);
        text.push_str(&drawn(range, rng).ok_or_else(wrong)?);
        rest = after;
    }
    if rest.contains('}') {
        return Err(wrong());
    }
    text.push_str(rest);
    Ok(text)
}

/// Draws from `3..7`, both included, or from `a|b`.
fn drawn(range: &str, rng: &mut Rng) -> Option<String> {
    if let Some((from, to)) = range.split_once("..") {
        let (from, to): (u64, u64) = (from.parse().ok()?, to.parse().ok()?);
        return (from <= to && to < 1 << 32).then(|| (from + rng.below(to - from + 1)).to_string());
    }
    let choices: Vec<&str> = range.split('|').collect();
    let chosen = rng.below(choices.len() as u64) as usize;
    (choices.len() > 1).then(|| choices[chosen].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test]
    fn templates_are_filled_from_their_ranges() {
        let mut rng = Rng::new(1);
        for _ in 0..200 {
            let text = filled("{10..12}ms x{1|3}", &mut rng).unwrap();
            let (length, count) = text.split_once("ms x").unwrap();
            assert!((10..=12).contains(&length.parse::<u64>().unwrap()) && ["1", "3"].contains(&count), "{text}");
        }
        assert_eq!(filled("1bdp", &mut rng).as_deref(), Ok("1bdp"));
    }

    #[test_case("{10..}ms"; "an open range")]
    #[test_case("{12..10}ms"; "backwards")]
    #[test_case("{10ms"; "no end")]
    #[test_case("10}ms"; "no beginning")]
    #[test_case("{a}"; "no choice")]
    fn what_is_no_template_is_refused(template: &str) {
        assert!(filled(template, &mut Rng::new(1)).unwrap_err().remedy.contains("{10..200}ms"));
    }
}
