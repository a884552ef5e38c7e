//! The keys of what makes a path more than a pipe.

use super::key::Key;
use crate::spec::bursts::Bursts;
use crate::spec::policer::Policer;
use crate::spec::refusal::Refusal;
use base::Ratio;
use profiles::units;

/// In the order of [`Point::settings`](crate::spec::Point::settings). A value that is the default is not shown: runs were recorded
/// before there were these keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "path.duplicate",
        set: |point, text| share(text).map(|value| point.life.duplicate = value),
        show: |point| Some(point.life.duplicate).filter(|share| !share.is_zero()).map(units::show_percent),
    },
    Key {
        name: "path.bursts",
        set: |point, text| Bursts::parse(text).map(|bursts| point.life.bursts = bursts),
        show: |point| point.life.bursts.map(|bursts| bursts.to_string()),
    },
    Key {
        name: "path.policer",
        set: |point, text| Policer::parse(text).map(|policer| point.life.policer = policer),
        show: |point| point.life.policer.map(|policer| policer.to_string()),
    },
];

/// Reads a share; `none` is zero.
fn share(text: &str) -> Result<Ratio, Refusal> {
    if text.trim().eq_ignore_ascii_case("none") { Ok(Ratio::ZERO) } else { units::ratio(text).map_err(Refusal::from) }
}
