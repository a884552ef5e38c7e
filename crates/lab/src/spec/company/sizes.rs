//! Sizes of transfers as experiments write them: `12kB`, `10kB..1MB`, `pareto:12kB..10MB:1.2`.

use crate::spec::refusal::Refusal;
use profiles::units::{self, Fraction};
use sim::Sizes;

const REMEDY: &str =
    "write `12kB`, `10kB..1MB` for sizes between two, or `pareto:12kB..10MB:1.2` for many small and few large ones";
/// Largest transfer: more than any run carries.
const LARGEST: u64 = 1_000_000_000_000;
/// Before a law's bounds.
const PARETO: &str = "pareto:";
/// Largest exponent of Pareto's law, thousandths: beyond it all sizes are alike.
const STEEPEST: u64 = 10_000;

/// Reads sizes.
pub(super) fn parse(text: &str) -> Result<Sizes, Refusal> {
    let read = match text.strip_prefix(PARETO) {
        Some(law) => pareto(law),
        None => even(text),
    };
    read.ok_or_else(|| Refusal::of_value(format!("`{text}` are not sizes"), REMEDY))
}

fn even(text: &str) -> Option<Sizes> {
    match text.split_once("..") {
        None => Some(Sizes::One(size(text)?)),
        Some(bounds) => bounded(bounds).map(|(from, to)| Sizes::Uniform { from, to }),
    }
}

fn pareto(law: &str) -> Option<Sizes> {
    let (bounds, shape) = law.rsplit_once(':')?;
    let (from, to) = bounded(bounds.split_once("..")?)?;
    let shape = Fraction::parse(shape)?.times_exactly(1_000).filter(|shape| (1..=STEEPEST).contains(shape))?;
    Some(Sizes::Pareto { from, to, shape_milli: u32::try_from(shape).ok()? })
}

fn bounded((from, to): (&str, &str)) -> Option<(u64, u64)> {
    Some((size(from)?, size(to)?)).filter(|(from, to)| from < to)
}

fn size(text: &str) -> Option<u64> {
    units::bytes(text).ok().filter(|bytes| (1..=LARGEST).contains(bytes))
}

/// Shows what [`parse`] reads.
pub(super) fn show(sizes: Sizes) -> String {
    let range = |from, to| format!("{}..{}", units::show_bytes(from), units::show_bytes(to));
    match sizes {
        Sizes::One(bytes) => units::show_bytes(bytes),
        Sizes::Uniform { from, to } => range(from, to),
        Sizes::Pareto { from, to, shape_milli } => {
            let (whole, rest) = (shape_milli / 1_000, shape_milli % 1_000);
            let decimals = format!("{rest:03}");
            let decimals = decimals.trim_end_matches('0');
            let point = if decimals.is_empty() { "" } else { "." };
            format!("{PARETO}{}:{whole}{point}{decimals}", range(from, to))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("12000", "12kB")]
    #[test_case("10kB..1000kB", "10kB..1MB")]
    #[test_case("pareto:12kB..10MB:1.20", "pareto:12kB..10MB:1.2")]
    #[test_case("pareto:1kB..1GB:1", "pareto:1kB..1GB:1")]
    #[test_case("pareto:1kB..1GB:0.05", "pareto:1kB..1GB:0.05")]
    fn sizes_are_shown_as_they_are_read(text: &str, canonical: &str) {
        let read = parse(text).unwrap();
        assert_eq!((show(read).as_str(), parse(canonical).unwrap()), (canonical, read));
    }

    #[test_case("0"; "nothing")]
    #[test_case("1MB..1MB"; "no range")]
    #[test_case("2TB"; "no such unit")]
    #[test_case("pareto:1kB..1MB"; "no shape")]
    #[test_case("pareto:1kB..1MB:0"; "shape of nothing")]
    #[test_case("pareto:1kB..1MB:1.2345"; "too fine")]
    #[test_case("pareto:1MB:1.2"; "one bound")]
    #[test_case("normal:1kB..1MB"; "another law")]
    fn other_sizes_are_refused(text: &str) {
        let refusal = parse(text).unwrap_err();
        assert!(refusal.problem.contains("are not sizes") && refusal.remedy.contains("pareto"), "{refusal}");
    }
}
