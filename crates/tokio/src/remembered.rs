//! What connections leave to later ones on the same path (RFC 9959): half of what a path carried is the next one's window after its first
//! round trip.
//!
//! A path is a remote and a local address. A connection looks when it comes to be, and leaves what it saw when it is dropped. One
//! connection at a time has a path's memory: another one that begins meanwhile starts as if there were none. What does not hold is
//! forgotten.

use base::{Duration, Instant};
use std::collections::BTreeMap;
use std::net::IpAddr;
use tcp::{Conn, FourTuple, Resumption, SavedPath, Stack};

/// How long and how many paths are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RememberPaths {
    /// A memory that is older is forgotten.
    pub lifetime: Duration,
    /// Most paths; beyond it the one that expires first of those that are not in use makes room.
    pub paths_max: usize,
}

impl Default for RememberPaths {
    /// Five minutes, for which RFC 7661 believes an unused window, and 1,024 paths of some hundred bytes.
    fn default() -> Self {
        Self { lifetime: Duration::from_secs(300), paths_max: 1_024 }
    }
}

/// Remote and local address.
type Path = (IpAddr, IpAddr);

const fn path(tuple: &FourTuple) -> Path {
    (tuple.remote, tuple.local)
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    saved: SavedPath,
    until: Instant,
    user: Option<Conn>,
}

/// The remembered paths of a stack.
#[derive(Debug)]
pub(crate) struct Remembered {
    config: RememberPaths,
    paths: BTreeMap<Path, Memory>,
}

impl Remembered {
    pub const fn new(config: RememberPaths) -> Self {
        Self { config, paths: BTreeMap::new() }
    }

    /// Lets a new connection begin with what is remembered of its path.
    pub fn on_begin(&mut self, stack: &mut Stack, conn: Conn, tuple: &FourTuple, now: Instant) {
        let Some(memory) = self.paths.get_mut(&path(tuple)) else { return };
        if now >= memory.until && memory.user.is_none() {
            self.paths.remove(&path(tuple));
        } else if now < memory.until && memory.user.is_none() && stack.resume(conn, &memory.saved) {
            memory.user = Some(conn);
        }
    }

    /// Takes what a connection leaves that is about to be dropped.
    pub fn on_end(&mut self, stack: &Stack, conn: Conn, tuple: &FourTuple, now: Instant) {
        let Some(endpoint) = stack.endpoint(conn) else { return self.leave(conn, tuple, now, None, None) };
        self.leave(conn, tuple, now, endpoint.info().resumption, endpoint.saved_path());
    }

    fn leave(
        &mut self,
        conn: Conn,
        tuple: &FourTuple,
        now: Instant,
        resumption: Option<Resumption>,
        saved: Option<SavedPath>,
    ) {
        let key = path(tuple);
        match resumption {
            Some(Resumption::Retreated) => {
                self.paths.remove(&key);
                return;
            }
            Some(Resumption::Declined) => drop(self.paths.remove(&key)),
            _ => {}
        }
        let until = now + self.config.lifetime;
        if let Some(memory) = self.paths.get_mut(&key) {
            memory.user = memory.user.filter(|user| *user != conn);
            if let Some(saved) = saved {
                (memory.saved, memory.until) = (saved, until);
            }
        } else if let Some(saved) = saved
            && self.has_room(now)
        {
            self.paths.insert(key, Memory { saved, until, user: None });
        }
    }

    /// Returns whether another path fits, for which the one makes room that expires first.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.paths.len() < self.config.paths_max {
            return true;
        }
        self.paths.retain(|_, memory| memory.user.is_some() || now < memory.until);
        if self.paths.len() >= self.config.paths_max {
            let unused = self.paths.iter().filter(|(_, memory)| memory.user.is_none());
            let first = unused.min_by_key(|(_, memory)| memory.until).map(|(key, _)| *key);
            first.map(|key| self.paths.remove(&key));
        }
        self.paths.len() < self.config.paths_max
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.paths.len()
    }
}

#[cfg(test)]
mod tests;
