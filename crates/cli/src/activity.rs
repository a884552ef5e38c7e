//! When something last happened on a connection, and how long nothing has.

use std::cell::Cell;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The time of the last byte.
#[derive(Debug)]
pub struct Activity(Cell<Instant>);

impl Default for Activity {
    fn default() -> Self {
        Self(Cell::new(Instant::now()))
    }
}

impl Activity {
    /// Notes that something happens.
    pub fn touch(&self) {
        self.0.set(Instant::now());
    }

    /// Waits until nothing has happened for `limit`.
    pub async fn idle_for(&self, limit: Duration) {
        loop {
            let until = self.0.get() + limit;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }
}
