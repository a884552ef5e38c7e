//! The library asserts what damaged files break.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether the library is running in this thread.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Catches the library's assertions about damaged files. Their message is not shown; all other panics behave as usual.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let former = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                former(panic);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err("it is damaged".to_owned()));
    GUARDED.set(false);
    result
}
