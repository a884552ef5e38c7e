//! Writing to stdout. A reader that goes away ends the program quietly, as it does any other in a pipe.

use crate::failure::Failure;
use std::io::{ErrorKind, Write};

/// Writes all of `text`.
///
/// # Errors
/// When it cannot be written.
pub fn write(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Unread,
        _ => Failure::Failed(format!("cannot write to stdout: {error}")),
    })
}
