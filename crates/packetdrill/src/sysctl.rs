//! The network namespace's settings, as scripts change them before they open a socket.

use crate::settings::Settings;

/// Puts what the namespace says over what the profile says.
pub(crate) fn apply(_config: &mut tcp::Config, _settings: &mut Settings) {}
