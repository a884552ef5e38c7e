//! State that most connections never need, in a box of its own: an idle connection stays within a kibibyte.
//!
//! Owns nothing by itself; each field names the file that does.

use super::Endpoint;
use super::challenge::Allowance;
use super::ecn::Marks;
use super::fastopen::FastOpenState;
use super::patience::Silence;
use super::tally::RareTally;

/// What rare events leave behind; every field's default means that the event has not happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    /// `tally.rs`: what losses, resets and duplicates count.
    pub rare: RareTally,
    /// What congestion marks left behind: `ecn`.
    pub marks: Marks,
    /// Data in SYNs: `fastopen`.
    pub fast_open: FastOpenState,
    /// `patience.rs`: since when the peer has not answered.
    pub silence: Silence,
    /// `challenge.rs`: ACKs that may still answer what was not processed.
    pub answers: Option<Allowance>,
}

impl Endpoint {
    /// The box, made on first use.
    #[inline]
    pub(super) fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}
