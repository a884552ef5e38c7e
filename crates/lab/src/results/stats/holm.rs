//! What a whole table says (S. Holm, "A simple sequentially rejective multiple test procedure", 1979).

/// Share of tables of equal arms in which at least one comparison may seem to differ.
pub const TABLE_ERROR: f64 = 0.05;

/// Returns each probability as the table has it: a comparison that is at or below [`TABLE_ERROR`] there differs, and the chance
/// that any of all such statements is false is at most that.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut greatest: f64 = 0.0;
    for (left, at) in (1..=p_values.len()).rev().zip(order) {
        greatest = greatest.max((left as f64 * p_values[at]).min(1.0));
        adjusted[at] = greatest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_multiplied_by_those_that_are_left_and_never_below_a_smaller_one() {
        let found = adjusted(&[0.01, 0.04, 0.03, 0.005]);
        let expected = [0.03, 0.06, 0.06, 0.02];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
        assert_eq!(adjusted(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
    }
}
