//! Times of flows: one, or two between which one is drawn.

use base::Duration;
use profiles::units;

/// Reads `2s` or `0s..4s`.
pub(super) fn span(text: &str) -> Option<(Duration, Duration)> {
    let (from, until) = text.split_once("..").unwrap_or((text, text));
    Some((units::duration(from.trim()).ok()?, units::duration(until.trim()).ok()?))
}

/// Zero in seconds, too, as such times are.
pub(super) fn time(time: Duration) -> String {
    if time.is_zero() { "0s".to_owned() } else { time.to_string() }
}
