//! Logarithms and powers of two in fixed point, each bit computed: for distributions that have to be the same on every machine.

/// Bits behind the point.
pub(super) const FRACTION_BITS: u32 = 40;
/// The natural logarithm of 2, in units of 2^-40.
pub(super) const LN_2: u128 = 762_123_384_786;

/// One, in the form in which powers are multiplied.
const ONE: u128 = 1 << 62;

/// The roots 2^(1/2), 2^(1/4), … in units of 2^-62.
const ROOTS: [u128; FRACTION_BITS as usize] = {
    let mut roots = [0; FRACTION_BITS as usize];
    let (mut index, mut root) = (0, 2 * ONE);
    while index < roots.len() {
        root = (root << 62).isqrt();
        roots[index] = root;
        index += 1;
    }
    roots
};

/// Returns the logarithm of a number from 1 to 2^64, rounded down to a multiple of 2^-40.
pub(super) fn log2(number: u128) -> u128 {
    let whole = u128::from(number.max(1).ilog2());
    // Between one and two, in units of 2^-62; squaring it doubles the logarithm.
    let mut rest = if whole > 62 { number >> (whole - 62) } else { number << (62 - whole) };
    let mut log = whole;
    for _ in 0..FRACTION_BITS {
        rest = (rest * rest) >> 62;
        let bit = rest >> 63;
        rest >>= bit;
        log = log << 1 | bit;
    }
    log
}

/// Returns 2 to the power of `plus` minus `minus`, rounded down; both in units of 2^-40, and the difference at most 64.
pub(super) fn exp2(plus: u128, minus: u128) -> u128 {
    let Some(power) = plus.checked_sub(minus) else { return 0 };
    let (whole, fraction) = (power >> FRACTION_BITS, power & ((1 << FRACTION_BITS) - 1));
    let product = ROOTS.iter().enumerate().fold(ONE, |product, (index, root)| {
        let is_set = fraction >> (FRACTION_BITS as usize - 1 - index) & 1 == 1;
        if is_set { (product * root) >> 62 } else { product }
    });
    (product << whole) >> 62
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    const UNIT: u128 = 1 << FRACTION_BITS;

    #[test_case(1, 0)]
    #[test_case(2, UNIT)]
    #[test_case(1 << 64, 64 * UNIT; "the largest")]
    // log2(3) = 1.584962500721156…, log2(10) = 3.321928094887362…
    #[test_case(3, 1_584_962_500_721_156 * UNIT / 1_000_000_000_000_000; "three")]
    #[test_case(10, 3_321_928_094_887_362 * UNIT / 1_000_000_000_000_000; "ten")]
    fn logarithms_are_known(number: u128, expected: u128) {
        assert!(log2(number).abs_diff(expected) <= 4, "{} {expected}", log2(number));
    }

    #[test]
    fn a_power_undoes_a_logarithm() {
        for number in [1, 2, 3, 1_000, 12_000, 10_000_000, 987_654_321] {
            let back = exp2(log2(number), 0);
            assert!(back <= number && number - back <= number / 1_000_000_000 + 1, "{number} {back}");
        }
        assert_eq!((exp2(0, 0), exp2(UNIT, 2 * UNIT), exp2(3 * UNIT, UNIT)), (1, 0, 4));
    }
}
