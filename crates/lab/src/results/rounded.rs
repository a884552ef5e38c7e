//! Formats figures.

/// To nine decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// Shows a ratio with four digits.
pub fn ratio(value: f64) -> String {
    let decimals = if value >= 100.0 {
        1
    } else if value >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_four_digits() {
        let shown: Vec<String> = [0.5, 9.4, 12.62, 135.39].into_iter().map(ratio).collect();
        assert_eq!(shown, ["0.500", "9.400", "12.62", "135.4"]);
    }
}
