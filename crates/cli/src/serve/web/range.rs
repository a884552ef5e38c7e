//! The field `Range` (RFC 9110 §14.2): one range of bytes. Several at once, other units and malformed fields are ignored, as the RFC allows.

/// The part of a file that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// From the first of these bytes to the last.
    Of(u64, u64),
    /// A part that the file does not have.
    Unsatisfiable,
}

/// Reads the field for a file of `len` bytes.
pub fn parse(field: &str, len: u64) -> Part {
    let Some((unit, range)) = field.split_once('=') else { return Part::Whole };
    let Some((first, last)) = range.trim_matches([' ', '\t']).split_once('-') else { return Part::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Part::Whole;
    }
    match (number(first), number(last)) {
        // The last so many bytes.
        (Some(None), Some(Some(0))) => Part::Unsatisfiable,
        (Some(None), Some(Some(_))) if len == 0 => Part::Unsatisfiable,
        (Some(None), Some(Some(count))) => Part::Of(len.saturating_sub(count), len - 1),
        (Some(Some(first)), Some(last)) => {
            let last = last.unwrap_or(u64::MAX);
            if last < first {
                return Part::Whole;
            }
            if first >= len { Part::Unsatisfiable } else { Part::Of(first, last.min(len - 1)) }
        }
        _ => Part::Whole,
    }
}

/// A number, which may be absent; a number too large for the type is the largest.
fn number(text: &str) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| Some(text.parse().unwrap_or(u64::MAX)))
}
