//! Formats figures.

/// To nine decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}
