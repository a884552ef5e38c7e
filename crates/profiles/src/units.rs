//! Quantities in common notation — `100Mbit`, `25ms`, `32MB`, `1%`, `0.5bdp` — parsed exactly.
//!
//! Numbers are decimal fractions of integers throughout; a value that the program could only store rounded (`0.5ns`) is rejected.
//! Unit names are case-insensitive, hence `mb` is a megabyte: bits are always spelled `bit`. MB is 10^6 bytes.

use base::{Duration, Rate, Ratio};
use core::fmt;

/// A number with decimals, as an exact fraction in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Above the line.
    pub num: u64,
    /// Below it; a power of ten's divisor.
    pub den: u64,
}

/// Maximum number of decimals; finer numbers are typing errors.
const DECIMALS_MAX: usize = 9;

const TIME: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
/// Each with the endings of [`PER_SECOND`], too.
const RATE: [(&str, u64); 4] = [("bit", 1), ("kbit", 1_000), ("mbit", 1_000_000), ("gbit", 1_000_000_000)];
/// Spellings of "bits per second" that replace `bit`, as in `100Mbps`.
const PER_SECOND: [&str; 3] = ["bit/s", "bps", "bits/s"];
const BYTES: [(&str, u64); 8] = [
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// A notation that this file reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// [`duration`].
    Time,
    /// [`rate`].
    Rate,
    /// [`bytes`].
    Bytes,
    /// [`count`].
    Count,
    /// [`ratio`].
    Share,
}

impl Notation {
    /// Returns a regular expression (ECMA 262) that the texts of this notation match, without anchors. It checks form, not size.
    pub fn pattern(self) -> String {
        let number = format!("[0-9]+(\\.[0-9]{{1,{DECIMALS_MAX}}})?");
        let one_of = |units: &[(&str, u64)]| units.iter().map(|(unit, _)| any_case(unit)).collect::<Vec<_>>().join("|");
        match self {
            Self::Time => format!("(0|{number} *({}))", one_of(&TIME)),
            Self::Rate => {
                let spelled = RATE.iter().flat_map(|(unit, _)| {
                    let scale = unit.strip_suffix("bit").unwrap_or(unit);
                    [(*unit).to_owned()].into_iter().chain(PER_SECOND.map(|ending| format!("{scale}{ending}")))
                });
                format!("{number} *({})", spelled.map(|unit| any_case(&unit)).collect::<Vec<_>>().join("|"))
            }
            Self::Bytes => format!("{number} *({})", one_of(&BYTES)),
            Self::Count => "[0-9]+".to_owned(),
            Self::Share => format!("({number} *%?|[0-9]+ */ *[0-9]+)"),
        }
    }

    /// What such a text says, with an example.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Time => "a span of time, for example `25ms`; units ns, us, ms, s, min, h",
            Self::Rate => "bits per second, for example `100Mbit`; units bit, kbit, Mbit, Gbit",
            Self::Bytes => "bytes, for example `32MB`; units B, kB, MB, GB, KiB, MiB, GiB",
            Self::Count => "a whole number, for example `10`",
            Self::Share => "a share between 0 and 1, for example `1%`, `0.01` or `7/10`",
        }
    }
}

/// Either case of each letter.
fn any_case(unit: &str) -> String {
    let either =
        |c: char| if c.is_ascii_lowercase() { format!("[{c}{}]", c.to_ascii_uppercase()) } else { c.to_string() };
    unit.chars().map(either).collect()
}

/// A text that is not a valid quantity: the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub remedy: &'static str,
}

impl Misread {
    fn new(text: &str, is_not: &str, remedy: &'static str) -> Self {
        Self { problem: format!("`{text}` is not {is_not}"), remedy }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.problem, self.remedy)
    }
}

impl core::error::Error for Misread {}

impl From<Misread> for String {
    fn from(misread: Misread) -> Self {
        misread.to_string()
    }
}

impl Fraction {
    /// A number without a unit: `12`, `0.5`.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{decimals}");
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if !plain || whole.is_empty() || decimals.len() > DECIMALS_MAX || text.ends_with('.') {
            return None;
        }
        Some(Self { num: digits.parse().ok()?, den: 10u64.pow(decimals.len() as u32) }.reduced())
    }

    /// `n` whole things.
    pub const fn whole(n: u64) -> Self {
        Self { num: n, den: 1 }
    }

    /// This times a whole number, if the result is whole and fits.
    pub fn times_exactly(self, factor: u64) -> Option<u64> {
        let product = u128::from(self.num) * u128::from(factor);
        let den = u128::from(self.den);
        product.is_multiple_of(den).then(|| u64::try_from(product / den).ok())?
    }

    fn reduced(self) -> Self {
        let (mut a, mut b) = (self.num, self.den);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self { num: self.num / a.max(1), den: self.den / a.max(1) }
    }
}

impl core::fmt::Display for Fraction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&decimal(self.num, self.den).unwrap_or_else(|| format!("{}/{}", self.num, self.den)))
    }
}

/// Splits `text` where its number ends.
pub fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = split_unit(text);
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    Fraction::parse(number)?.times_exactly(factor)
}

/// A span of time: `25ms`, `0.3s`, `100us`, `1h`, `0`.
///
/// # Errors
/// If it is not valid, or not a whole number of nanoseconds.
pub fn duration(text: &str) -> Result<Duration, Misread> {
    let zero = (text.trim() == "0").then_some(0);
    with_unit(text, &TIME).or(zero).map(Duration::from_nanos).ok_or_else(|| {
        Misread::new(text, "a valid duration", "use a number and one of ns, us, ms, s, min, h, for example `25ms`")
    })
}

/// A data rate: `100Mbit`, `34.5 Mbit/s`, `40Mbps`; never zero.
///
/// # Errors
/// If it is not valid, or not a whole number of bits per second.
pub fn rate(text: &str) -> Result<Rate, Misread> {
    let lower = text.to_ascii_lowercase();
    let spelled = PER_SECOND.iter().find_map(|ending| Some(format!("{}bit", lower.strip_suffix(ending)?)));
    with_unit(spelled.as_deref().unwrap_or(text), &RATE).and_then(Rate::from_bits_per_sec).ok_or_else(|| {
        Misread::new(
            text,
            "a valid rate",
            "use a number and one of bit, kbit, Mbit, Gbit (per second; also `Mbps`, `Mbit/s`), for example `100Mbit`",
        )
    })
}

/// A number of bytes: `32MB`, `64KiB`, `1460`.
///
/// # Errors
/// If it is not valid, or not whole.
pub fn bytes(text: &str) -> Result<u64, Misread> {
    with_unit(text, &BYTES).ok_or_else(|| {
        Misread::new(
            text,
            "a valid number of bytes",
            "use a number and one of B, kB, MB, GB, KiB, MiB, GiB, for example `32MB`",
        )
    })
}

/// A whole number without a unit.
///
/// # Errors
/// When it is none.
pub fn count(text: &str) -> Result<u64, Misread> {
    let digits = text.trim();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let parsed = if plain { digits.parse().ok() } else { None };
    parsed.ok_or_else(|| Misread::new(text, "a whole number", "write digits only, for example `10`"))
}

/// A fraction between none and all: `1%`, `0.7`, `7/10`.
///
/// # Errors
/// When it is none, or more than all.
pub fn ratio(text: &str) -> Result<Ratio, Misread> {
    let parsed = parse_ratio(text.trim());
    parsed.ok_or_else(|| Misread::new(text, "a share between 0 and 1", "use for example `1%`, `0.01` or `7/10`"))
}

fn parse_ratio(text: &str) -> Option<Ratio> {
    if let Some((num, den)) = text.split_once('/') {
        return Ratio::new(num.trim().parse().ok()?, den.trim().parse().ok()?);
    }
    let (number, percent) = text.strip_suffix('%').map_or((text, 1), |number| (number.trim_end(), 100));
    let exact = Fraction::parse(number)?;
    let Fraction { num, den } = Fraction { num: exact.num, den: exact.den.checked_mul(percent)? }.reduced();
    Ratio::new(num, den)
}

/// `num / den` with decimals, when that is exact within nine of them.
fn decimal(num: u64, den: u64) -> Option<String> {
    (0..=DECIMALS_MAX).find_map(|places| {
        let scaled = Fraction { num, den }.times_exactly(10u64.pow(places as u32))?;
        let digits = format!("{scaled:0>width$}", width = places + 1);
        let (whole, decimals) = digits.split_at(digits.len() - places);
        Some(if places == 0 { whole.to_owned() } else { format!("{whole}.{decimals}") })
    })
}

/// Formats a fraction: `0.7`, or `1/3` if decimals would not be exact.
pub fn show_ratio(ratio: Ratio) -> String {
    decimal(ratio.num(), ratio.den()).unwrap_or_else(|| format!("{}/{}", ratio.num(), ratio.den()))
}

/// Formats a probability: `1%`, or `1/300` if decimals would not be exact.
pub fn show_percent(ratio: Ratio) -> String {
    let hundredfold = ratio.num().checked_mul(100).and_then(|num| decimal(num, ratio.den()));
    hundredfold.map_or_else(|| show_ratio(ratio), |percent| format!("{percent}%"))
}

/// Formats a number of bytes: with the largest unit that divides it.
pub fn show_bytes(bytes: u64) -> String {
    const SHOWN: [(&str, u64); 6] =
        [("GB", 1_000_000_000), ("GiB", 1 << 30), ("MB", 1_000_000), ("MiB", 1 << 20), ("kB", 1_000), ("KiB", 1 << 10)];
    let unit = SHOWN.iter().find(|(_, size)| bytes != 0 && bytes.is_multiple_of(*size));
    unit.map_or_else(|| format!("{bytes}B"), |(name, size)| format!("{}{name}", bytes / size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("25ms", 25_000_000)]
    #[test_case("25 MS", 25_000_000; "case and space")]
    #[test_case("0.3s", 300_000_000)]
    #[test_case("100us", 100_000)]
    #[test_case("0", 0)]
    #[test_case("1.5us", 1_500)]
    #[test_case("2min", 120_000_000_000)]
    #[test_case("0.5h", 1_800_000_000_000)]
    fn a_time_is_read_exactly(text: &str, ns: u64) {
        assert_eq!(duration(text), Ok(Duration::from_nanos(ns)));
    }

    #[test_case("100Mbit", 100_000_000)]
    #[test_case("34.5mbit", 34_500_000)]
    #[test_case("1GBIT", 1_000_000_000)]
    #[test_case("9600bit", 9_600)]
    #[test_case("40Mbps", 40_000_000)]
    #[test_case("40 Mbit/s", 40_000_000)]
    #[test_case("1.5 kbit/s", 1_500)]
    #[test_case("8bps", 8)]
    fn a_rate_is_read_exactly(text: &str, bps: u64) {
        assert_eq!(rate(text).map(Rate::bits_per_sec), Ok(bps));
    }

    #[test_case("32MB", 32_000_000)]
    #[test_case("128mb", 128_000_000)]
    #[test_case("64KiB", 65_536)]
    #[test_case("1460", 1_460)]
    #[test_case("1.5kB", 1_500)]
    fn bytes_are_read_exactly(text: &str, expected: u64) {
        assert_eq!(bytes(text), Ok(expected));
    }

    #[test_case("1%", 1, 100)]
    #[test_case("0.01", 1, 100)]
    #[test_case("0.7", 7, 10)]
    #[test_case("7/10", 7, 10)]
    #[test_case("0", 0, 1)]
    #[test_case("100%", 1, 1)]
    #[test_case("0.05 %", 1, 2000)]
    fn a_share_is_read_exactly(text: &str, num: u64, den: u64) {
        assert_eq!(ratio(text), Ok(Ratio::new(num, den).unwrap()));
    }

    #[test]
    fn what_cannot_be_kept_exactly_is_refused_by_name() {
        for text in ["", "ms", "25", "25sec", "-1ms", "0.5ns", "1e3ms", "1.ms", "1..5ms", "99999999999s", "٣ms"] {
            assert!(duration(text).unwrap_err().to_string().contains(&format!("`{text}`")), "{text}");
        }
        for text in ["", "0Mbit", "100MB", "100", "0.5bit"] {
            assert!(rate(text).unwrap_err().to_string().contains("100Mbit"), "{text}");
        }
        for text in ["", "MB", "0.5", "1.5B", "32Mbit", "-1", "1/2"] {
            assert!(bytes(text).unwrap_err().to_string().contains("32MB"), "{text}");
        }
        for text in ["", "%", "1.01", "101%", "2/1", "1/0", "-1%", "0.0000000001"] {
            assert!(ratio(text).unwrap_err().to_string().contains("7/10"), "{text}");
        }
        for text in ["", "1.0", "-1", "10x", "+1"] {
            assert!(count(text).unwrap_err().to_string().contains("`10`"), "{text}");
        }
    }

    #[test]
    fn what_is_shown_can_be_read_back() {
        for value in [0, 1, 999, 1_000, 65_535, 65_536, 1_500_000, 16_776_960, 16 << 20, 64_000_000, 1 << 30] {
            assert_eq!(bytes(&show_bytes(value)), Ok(value));
        }
        for (num, den) in [(0, 1), (7, 10), (1, 3), (1, 400), (1, 1), (17, 20)] {
            let value = Ratio::new(num, den).unwrap();
            assert_eq!(ratio(&show_ratio(value)), Ok(value));
            assert_eq!(ratio(&show_percent(value)), Ok(value));
        }
        assert_eq!(show_bytes(16 << 20), "16MiB");
        assert_eq!(show_percent(Ratio::new(1, 1000).unwrap()), "0.1%");
    }
}
