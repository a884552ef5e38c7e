//! Fits the unknowns of the published story against all of its rows at once.
//!
//! A [`Space`] lists leaves and settings that no source states, with the values to try. The search makes runs of one release's settings
//! at a time and combines them afterwards, so that `n` settings of three releases give `n`³ candidates. A search has a tenth of the page's runs, so
//! it judges bounds without an interval, which accepts more than the page does; [`confirm`](confirm()) judges the best candidates as the page does.

pub mod confirm;
pub mod evaluate;
pub mod loss;
pub mod sample;
pub mod search;
pub mod space;
pub mod trials;

pub use confirm::{Confirmed, confirm};
pub use search::{Candidate, Fit, Found, Row, search};
pub use space::{Group, Parameter, Space};
pub use trials::{Error, Maker};
