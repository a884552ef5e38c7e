//! Descriptors that tokio watches.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use tokio::io::unix::AsyncFd;

/// Watches a descriptor by a duplicate of it: for devices and timers that own theirs. To be called inside a runtime.
///
/// # Errors
/// If the descriptor cannot be duplicated, or cannot be waited for.
///
/// # Panics
/// Outside a runtime.
pub fn watch(fd: BorrowedFd<'_>) -> io::Result<AsyncFd<OwnedFd>> {
    let duplicate = fd.try_clone_to_owned()?;
    // SAFETY: an `OwnedFd` is open, always of the same number, and closed only when it is dropped, by which time tokio has forgotten it.
    #[expect(unsafe_code, reason = "tokio has no safe way to register a descriptor")]
    Ok(unsafe { AsyncFd::register(duplicate) }?)
}
