//! Threads that take work from a list. What they make is dealt with on the thread that called them.

use core::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Calls `make` for each of `0..count` on up to `jobs` threads, which take the next one in turn; gives each result to `take` as it comes, and
/// returns what `take` breaks off with: what is in progress is then finished and dropped, and the rest is not made.
///
/// # Panics
/// If `make` does, which is to return what goes wrong.
pub(crate) fn workers<T: Send, B>(
    count: usize,
    jobs: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.max(1).min(count) {
            let sender = sender.clone();
            let (make, next) = (&make, &next);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    // Sending fails once `take` has broken off.
                    if index >= count || sender.send((index, make(index))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        results.into_iter().try_for_each(|(index, result)| take(index, result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::time::Duration;

    #[test]
    fn each_is_made_once_and_taken_where_it_was_asked_for() {
        for jobs in [0, 1, 3, 50] {
            let (caller, mut threads, mut taken) = (thread::current().id(), BTreeSet::new(), Vec::new());
            let outcome = workers(
                20,
                jobs,
                |index| (index * index, format!("{:?}", thread::current().id())),
                |index, (square, thread)| {
                    assert_eq!(thread::current().id(), caller);
                    threads.insert(thread);
                    taken.push((index, square));
                    ControlFlow::<()>::Continue(())
                },
            );
            assert!(outcome.is_continue() && threads.len() <= jobs.max(1), "{threads:?}");
            taken.sort_unstable();
            assert_eq!(taken, (0..20).map(|index| (index, index * index)).collect::<Vec<_>>());
        }
    }

    /// A result; the next one is made when it is dropped.
    struct Turn(mpsc::Sender<()>);
    impl Drop for Turn {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }

    #[test]
    fn what_breaks_off_is_returned_and_the_rest_is_not_made() {
        let (turn, turns) = mpsc::channel();
        turn.send(()).unwrap();
        let (turns, made) = (Mutex::new(turns), AtomicUsize::new(0));
        let make = |_| {
            turns.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("the result before it is dropped");
            made.fetch_add(1, Ordering::Relaxed);
            Turn(turn.clone())
        };
        let outcome = workers(1_000, 1, make, |index, _| match index {
            4 => ControlFlow::Break("enough"),
            _ => ControlFlow::Continue(()),
        });
        assert_eq!(outcome, ControlFlow::Break("enough"));
        // One may have been sent already, and another been in progress.
        assert!((5..=7).contains(&made.into_inner()));
    }
}
