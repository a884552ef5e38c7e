//! State that most connections never need, in a box of its own: an idle connection stays within a kibibyte.
//!
//! Owns nothing by itself; each field names the file that does.

use super::Endpoint;

/// What rare events leave behind; every field's default means that the event has not happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras {}

impl Endpoint {
    /// The box, made on first use.
    #[expect(dead_code, reason = "its first field brings its first user")]
    pub(super) fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}
