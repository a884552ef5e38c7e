//! One set of descriptors.
//!
//! As in Linux, a set keeps a list of descriptors that may be ready. A descriptor joins the list when an event that the set asked
//! for happens to it, and a wait checks whether it is still ready; a level-triggered one stays on the list while it is ready, an
//! edge-triggered one leaves the list once its event is reported.
//!
//! Counters ([`Wakes`]) record what has happened to a descriptor. A wait that finds no room to write implicitly asks to be woken
//! for room, so room counts as an edge when the last check found none.

use crate::descriptor::Descriptor;
use crate::wakes::Wakes;
use libc::{
    EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLPRI, EPOLLRDBAND, EPOLLRDHUP, EPOLLRDNORM,
    EPOLLWRBAND, EPOLLWRNORM, epoll_event,
};
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;

/// Events for readers and for writers; the end of the stream concerns both, as in Linux, where it wakes all of them.
const OF_READERS: u32 = (EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDBAND | EPOLLRDHUP) as u32;
const OF_WRITERS: u32 = (EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND) as u32;
/// Reported even if the caller did not ask for them.
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;

/// One set of descriptors.
#[derive(Debug)]
pub(crate) struct Epoll {
    /// Keeps the descriptor's number reserved.
    #[expect(dead_code, reason = "held until the set is closed")]
    descriptor: Descriptor,
    watched: BTreeMap<RawFd, Watched>,
    /// Descriptors that may be ready, in the order in which this was noticed.
    ready: VecDeque<RawFd>,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    events: u32,
    data: u64,
    trigger: Trigger,
    /// What the last check found; `None` before the first.
    seen: Option<Look>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    Level,
    Edge,
    /// Reports one event of either kind, then nothing until the caller re-arms it.
    Once,
    /// Its one event has been reported.
    Spent,
}

/// State of a descriptor at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub flags: u32,
    pub wakes: Wakes,
}

impl Watched {
    fn new(event: epoll_event) -> Self {
        let asked = event.events;
        let trigger = if asked & EPOLLONESHOT as u32 != 0 {
            Trigger::Once
        } else if asked & EPOLLET as u32 != 0 {
            Trigger::Edge
        } else {
            Trigger::Level
        };
        Self { events: asked & (OF_READERS | OF_WRITERS) | ALWAYS, data: event.u64, trigger, seen: None }
    }

    /// Whether a requested event has happened since the last check, or, level-triggered, still holds.
    fn is_woken(&self, now: &Look) -> bool {
        let is_ready = now.flags & self.events != 0;
        match (self.trigger, self.seen) {
            (Trigger::Spent, _) => false,
            (_, None) | (Trigger::Level, _) => is_ready,
            (Trigger::Edge | Trigger::Once, Some(then)) => {
                let read = then.wakes.readable != now.wakes.readable && self.events & OF_READERS != 0;
                let came = now.flags & !then.flags;
                let wrote = then.wakes.writable != now.wakes.writable || came & OF_WRITERS != 0;
                let reported = then.wakes.reports != now.wakes.reports || came & ALWAYS != 0;
                read || (wrote && self.events & OF_WRITERS != 0) || reported
            }
        }
    }
}

impl Epoll {
    /// An empty set.
    pub(super) fn new(descriptor: Descriptor) -> Self {
        Self { descriptor, watched: BTreeMap::new(), ready: VecDeque::new() }
    }

    /// The descriptors that it watches, in order.
    pub(super) fn watched(&self) -> impl Iterator<Item = RawFd> {
        self.watched.keys().copied()
    }

    /// Whether it watches a descriptor.
    pub(super) fn watches(&self, fd: RawFd) -> bool {
        self.watched.contains_key(&fd)
    }

    /// Watches a descriptor, or watches it for other events.
    pub(super) fn watch(&mut self, fd: RawFd, event: epoll_event) {
        self.watched.insert(fd, Watched::new(event));
        self.notice(fd);
    }

    /// Whether a wait would find one of these descriptors ready.
    pub(super) fn is_ready(&self, looks: &BTreeMap<RawFd, Look>) -> bool {
        looks.iter().any(|(fd, look)| {
            let listed = self.ready.contains(fd);
            self.watched.get(fd).is_some_and(|watched| {
                watched.is_woken(look)
                    || (listed && look.flags & watched.events != 0 && watched.trigger != Trigger::Spent)
            })
        })
    }

    /// It may be ready.
    fn notice(&mut self, fd: RawFd) {
        if !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }

    /// Watches a descriptor no longer.
    pub(super) fn forget(&mut self, fd: RawFd) {
        self.watched.remove(&fd);
        self.ready.retain(|listed| *listed != fd);
    }

    /// Notes what a descriptor is now.
    pub(super) fn look(&mut self, fd: RawFd, look: Look) {
        let Some(watched) = self.watched.get_mut(&fd) else { return };
        let woken = watched.is_woken(&look);
        watched.seen = Some(look);
        if woken {
            self.notice(fd);
        }
    }

    /// Takes from the list the descriptors that are still ready.
    pub(super) fn take_ready(&mut self, looks: &BTreeMap<RawFd, Look>, events: &mut [epoll_event]) -> usize {
        let mut count = 0;
        for _ in 0..self.ready.len() {
            if count == events.len() {
                break;
            }
            let Some(fd) = self.ready.pop_front() else { break };
            let (Some(watched), Some(look)) = (self.watched.get_mut(&fd), looks.get(&fd)) else { continue };
            let flags = look.flags & watched.events;
            if flags == 0 || watched.trigger == Trigger::Spent {
                continue;
            }
            events[count] = epoll_event { events: flags, u64: watched.data };
            count += 1;
            match watched.trigger {
                Trigger::Level => self.ready.push_back(fd),
                Trigger::Edge => {}
                Trigger::Once | Trigger::Spent => watched.trigger = Trigger::Spent,
            }
        }
        count
    }
}
