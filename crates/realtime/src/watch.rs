//! Supervises a run while its threads work: checks for requests to end, a failed link, and a stall.

use crate::interrupt::Interrupt;
use crate::world::World;
use lab::RunFailure;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often it looks.
const GLANCE: Duration = Duration::from_millis(50);

/// A run fails if no packet is delivered for this long (docs/MEASUREMENT.md).
const STALL: Duration = Duration::from_secs(300);

/// Interval at which packets are counted.
const COUNT: Duration = Duration::from_secs(1);

/// Watches one run.
pub struct Watch<'w> {
    world: &'w World,
    interrupt: &'w Interrupt,
    counted: Instant,
    delivered: u64,
    moved: Instant,
}

impl<'w> Watch<'w> {
    pub fn new(world: &'w World, interrupt: &'w Interrupt) -> Self {
        let now = Instant::now();
        Self { world, interrupt, counted: now, delivered: 0, moved: now }
    }

    /// Checks whether the run may continue.
    ///
    /// # Errors
    /// Why it may not.
    pub fn go_on(&mut self) -> Result<(), RunFailure> {
        if self.interrupt.came() {
            return Err(RunFailure("interrupted".to_owned()));
        }
        let now = Instant::now();
        if now.duration_since(self.counted) < COUNT {
            return Ok(());
        }
        self.counted = now;
        let delivered = self.world.delivered().ok_or_else(|| RunFailure("the link failed".to_owned()))?;
        if delivered != self.delivered {
            (self.delivered, self.moved) = (delivered, now);
        }
        if now.duration_since(self.moved) > STALL {
            return Err(RunFailure(format!("Stalled: no packet arrived for {} s", STALL.as_secs())));
        }
        Ok(())
    }

    /// Waits for a thread's result.
    ///
    /// # Errors
    /// If the run may not continue, or the thread ended without a result.
    pub fn receive<T>(&mut self, from: &Receiver<T>) -> Result<T, RunFailure> {
        loop {
            match from.recv_timeout(GLANCE) {
                Ok(said) => return Ok(said),
                Err(RecvTimeoutError::Timeout) => self.go_on()?,
                Err(RecvTimeoutError::Disconnected) => return Err(RunFailure("a thread of the run ended".to_owned())),
            }
        }
    }

    /// Waits until `ready` returns a value.
    ///
    /// # Errors
    /// If the run may not continue, or `ready` fails.
    pub fn until<T>(&mut self, mut ready: impl FnMut() -> Result<Option<T>, RunFailure>) -> Result<T, RunFailure> {
        loop {
            if let Some(found) = ready()? {
                return Ok(found);
            }
            self.go_on()?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
