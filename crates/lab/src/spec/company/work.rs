//! What the applications of a group do, from its words; and which words do not go together.

use super::arrivals::Arrivals;
use super::group::Group;
use crate::spec::refusal::Refusal;
use base::Duration;
use sim::Sizes;

/// What the applications of a group do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Each sends as much as it can.
    Bulk,
    /// Each sends this much.
    Bytes(u64),
    /// Flows arrive, and each sends what it draws.
    Arrivals(Arrivals, Sizes),
}

impl Work {
    /// What `group` does.
    pub(crate) fn of(group: &Group) -> Result<Self, Refusal> {
        let refuse = |problem: &str, remedy: &str| Err(Refusal::of_value(format!("`{group}`: {problem}"), remedy));
        match (group.arrivals, group.sizes) {
            (Some(_), Some(_)) if group.bytes.is_some() => {
                refuse("flows that arrive have sizes", "leave `bytes` out, or write `sizes` of one value")
            }
            (Some(arrivals), Some(sizes)) => Ok(Self::Arrivals(arrivals, sizes)),
            (Some(_), None) => refuse("flows that arrive need sizes", "add for example `sizes=12kB`"),
            (None, Some(_)) => {
                refuse("sizes need something that draws them", "add for example `arrivals=10/s`, or write `bytes`")
            }
            (None, None) => Ok(group.bytes.map_or(Self::Bulk, Self::Bytes)),
        }
    }

    /// Returns whether the seed decides anything about it.
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Self::Arrivals(..))
    }

    /// The number of flows that a run may have of one flow of the group that acts for this long: of arrivals, more than any run in a
    /// million has.
    pub(crate) fn flows_in(self, time: Duration) -> u64 {
        match self {
            Self::Arrivals(arrivals, _) => {
                let expected = arrivals.expected_in(time);
                // Five deviations of a Poisson distribution, and some for small means.
                expected.saturating_add(5 * expected.isqrt() + 10)
            }
            _ => 1,
        }
    }
}
