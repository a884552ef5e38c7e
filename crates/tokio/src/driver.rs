//! The task that runs the stack.

use crate::shared::{Ended, Inner, Shared, Stage};
use base::Instant;
use pipe::Next;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// Turns between two chances for other tasks: some ten microseconds each.
const TURNS: usize = 16;

/// Runs the stack: to be spawned, or awaited beside the application's own tasks. Without it nothing arrives and nothing leaves.
///
/// It ends when every handle has been dropped and no connection is left, after [`crate::Net::shutdown`], or when
/// [`crate::Packets`] is dropped; with an error only if the clock fails. Dropped earlier, it ends every wait with an error of kind
/// `NotConnected`.
#[derive(Debug)]
#[must_use = "nothing moves unless the driver is spawned or awaited"]
pub struct Driver {
    shared: Shared,
    /// To be woken after a turn.
    due: Vec<Waker>,
}

impl Driver {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared, due: Vec::new() }
    }

    /// Does what is to be done now. Pending when it has to wait.
    fn step(&mut self, cx: &mut Context<'_>) -> Step {
        let Self { shared, due } = self;
        let step = shared.with(|inner| {
            let now = inner.clock.now();
            let next = inner.turn(now, due);
            if let Some(ended) = is_over(inner, now) {
                inner.end(Stage::Ended(ended), due);
                return Step::Done(Ok(ended));
            }
            let at = match next {
                Next::Now => return Step::Again,
                Next::At(deadline) => deadline.unwrap_or(Instant::MAX),
            };
            let at = if let Stage::Closing { until } = inner.stage { at.min(until) } else { at };
            // Who has something to do now does it before the driver waits; their calls then wake it.
            match inner.poll_work(at, cx) {
                Poll::Ready(Ok(())) => Step::Again,
                Poll::Ready(Err(failed)) => {
                    inner.end(Stage::Abandoned, due);
                    Step::Done(Err(failed))
                }
                Poll::Pending => Step::Wait,
            }
        });
        due.drain(..).for_each(Waker::wake);
        step
    }
}

/// What follows a step.
enum Step {
    Again,
    Wait,
    Done(io::Result<Ended>),
}

/// Returns why the driver has nothing to do any more. When the time of a shutdown is over, the connections that are left are reset; the
/// resets leave with the next turn, unless the device has no room.
fn is_over(inner: &mut Inner, now: Instant) -> Option<Ended> {
    if inner.runner.is_cut_off() {
        return Some(Ended::CutOff);
    }
    let quiet = inner.is_quiet();
    let (stage, unused, stack) = (inner.stage, inner.is_unused(), inner.runner.stack());
    match stage {
        Stage::Resetting => quiet.then_some(Ended::Shutdown),
        Stage::Closing { until } => {
            let left = stack.connections() - stack.guarded_usage().time_wait;
            if left > 0 && now >= until {
                inner.reset_all();
                return None;
            }
            (left == 0 && quiet).then_some(Ended::Shutdown)
        }
        _ => (unused && stack.connections() == 0 && quiet).then_some(Ended::Unused),
    }
}

impl Future for Driver {
    type Output = io::Result<Ended>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        for _ in 0..TURNS {
            match self.step(cx) {
                Step::Again => {}
                Step::Wait => return Poll::Pending,
                Step::Done(result) => return Poll::Ready(result),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let Self { shared, due } = self;
        shared.with(|inner| {
            if !inner.is_over() {
                inner.end(Stage::Abandoned, due);
            }
        });
        due.drain(..).for_each(Waker::wake);
    }
}
