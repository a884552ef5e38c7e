//! `epoll`: sets of descriptors, by level or by edge.
//!
//! As in Linux a set has a list of what may be ready. A descriptor gets onto it when something happens to it that the set
//! asked for, and a wait looks again whether it still is ready; by level it stays on the list for as long as it is, by edge
//! it leaves the list with the event it brings.
//!
//! Counters ([`Wakes`]) report what has happened to a descriptor. A wait that finds no room to write is itself a wish to hear
//! of it, so room counts as an edge when the last look found none.

use crate::descriptor::Descriptor;
use crate::host::Host;
use crate::socket::{PollFlags, Wakes};
use libc::{
    EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT,
    EPOLLPRI, EPOLLRDBAND, EPOLLRDHUP, EPOLLRDNORM, EPOLLWRBAND, EPOLLWRNORM, POLLIN, POLLRDNORM, epoll_event,
};
use nix::errno::Errno;
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::RawFd;

/// Events of readers and of writers; the end of the stream is both's, as it is in Linux, where it wakes everybody.
const OF_READERS: u32 = (EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLRDBAND | EPOLLRDHUP) as u32;
const OF_WRITERS: u32 = (EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND) as u32;
/// Reported whether asked for or not.
const ALWAYS: u32 = (EPOLLERR | EPOLLHUP) as u32;
/// Sets in sets in sets, and no deeper.
const DEPTH_MAX: usize = 5;

/// One set of descriptors.
#[derive(Debug)]
pub(crate) struct Epoll {
    /// Keeps the number ours.
    #[expect(dead_code, reason = "held until the set is closed")]
    descriptor: Descriptor,
    watched: BTreeMap<RawFd, Watched>,
    /// What may be ready, in the order in which that was noticed.
    ready: VecDeque<RawFd>,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    events: u32,
    data: u64,
    trigger: Trigger,
    /// What the last look found; nothing before the first.
    seen: Option<Look>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trigger {
    Level,
    Edge,
    /// Once, by either; then not before it is asked for anew.
    Once,
    /// It was reported once.
    Spent,
}

/// A descriptor at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    flags: u32,
    wakes: Wakes,
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

    /// Whether something asked for has happened since the last look, or is so by level.
    fn is_woken(&self, now: &Look) -> bool {
        let is_ready = now.flags & self.events != 0;
        match (self.trigger, self.seen) {
            (Trigger::Spent, _) => false,
            (_, None) | (Trigger::Level, _) => is_ready,
            (Trigger::Edge | Trigger::Once, Some(then)) => {
                let read = then.wakes.readable != now.wakes.readable && self.events & OF_READERS != 0;
                let came = now.flags & !then.flags;
                let wrote = then.wakes.writable != now.wakes.writable || came & OF_WRITERS != 0;
                let told = then.wakes.told != now.wakes.told || came & ALWAYS != 0;
                read || (wrote && self.events & OF_WRITERS != 0) || told
            }
        }
    }
}

impl Host {
    /// `epoll_create(2)`.
    ///
    /// # Errors
    /// `EINVAL` unless the size is positive, and what opening a descriptor may say.
    pub fn epoll_create(&mut self, size: i32) -> Result<RawFd, Errno> {
        if size <= 0 {
            return Err(Errno::EINVAL);
        }
        let descriptor = Descriptor::open()?;
        let fd = descriptor.fd();
        // What had this number was closed behind our back.
        self.forget_watched(fd);
        self.sockets.remove(&fd);
        self.epolls.insert(fd, Epoll { descriptor, watched: BTreeMap::new(), ready: VecDeque::new() });
        Ok(fd)
    }

    /// `epoll_ctl(2)`.
    ///
    /// # Errors
    /// `EBADF`, `EINVAL` when `epfd` is not a set or the same as `fd`, `EEXIST`, `ENOENT`, `ELOOP` for sets that contain
    /// each other or too many levels of them, `EFAULT` without an event.
    pub fn epoll_ctl(&mut self, epfd: RawFd, op: i32, fd: RawFd, event: Option<epoll_event>) -> Result<(), Errno> {
        self.readiness(fd)?;
        if self.epolls.contains_key(&fd) && op == EPOLL_CTL_ADD && self.depth_below(fd, epfd, 1)? >= DEPTH_MAX {
            return Err(Errno::ELOOP);
        }
        let set = self.epoll_mut(epfd)?;
        if fd == epfd {
            return Err(Errno::EINVAL);
        }
        match op {
            EPOLL_CTL_ADD if set.watched.contains_key(&fd) => return Err(Errno::EEXIST),
            EPOLL_CTL_MOD | EPOLL_CTL_DEL if !set.watched.contains_key(&fd) => return Err(Errno::ENOENT),
            EPOLL_CTL_ADD | EPOLL_CTL_MOD => {
                let event = event.ok_or(Errno::EFAULT)?;
                set.watched.insert(fd, Watched::new(event));
                set.notice(fd);
            }
            EPOLL_CTL_DEL => set.forget(fd),
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }

    /// An attempt at `epoll_wait(2)`: fills `events` from the front and returns how many there are.
    ///
    /// # Errors
    /// `EAGAIN` while nothing is ready; `EINVAL` without room or when `epfd` is not a set; `EBADF`.
    pub fn epoll_wait(&mut self, epfd: RawFd, events: &mut [epoll_event]) -> Result<usize, Errno> {
        self.epoll_mut(epfd)?;
        if events.is_empty() {
            return Err(Errno::EINVAL);
        }
        let looks = self.looks(epfd);
        let set = self.epoll_mut(epfd)?;
        for (fd, look) in &looks {
            set.look(*fd, *look);
        }
        let count = set.take_ready(&looks, events);
        if count == 0 { Err(Errno::EAGAIN) } else { Ok(count) }
    }

    /// What a set is ready for when it is itself waited for.
    ///
    /// # Errors
    /// `EBADF`.
    pub fn epoll_readiness(&self, epfd: RawFd) -> Result<PollFlags, Errno> {
        let set = self.epolls.get(&epfd).ok_or(Errno::EBADF)?;
        let ready = self.looks(epfd).iter().any(|(fd, look)| {
            let listed = set.ready.contains(fd);
            set.watched.get(fd).is_some_and(|watched| {
                watched.is_woken(look)
                    || (listed && look.flags & watched.events != 0 && watched.trigger != Trigger::Spent)
            })
        });
        Ok(if ready { POLLIN | POLLRDNORM } else { 0 })
    }

    /// A descriptor was closed: no set watches it any more.
    pub fn forget_watched(&mut self, fd: RawFd) {
        for set in self.epolls.values_mut() {
            set.forget(fd);
        }
    }

    /// Every descriptor of a set as it is now.
    fn looks(&self, epfd: RawFd) -> BTreeMap<RawFd, Look> {
        let Some(set) = self.epolls.get(&epfd) else { return BTreeMap::new() };
        let look = |fd: &RawFd| {
            let flags = u32::from(self.readiness(*fd).ok()? as u16);
            let of_socket = self.sockets.get(fd).map(|socket| socket.wakes);
            let wakes = of_socket.or_else(|| self.pipes.wakes(*fd)).unwrap_or_default();
            Some((*fd, Look { flags, wakes }))
        };
        set.watched.keys().filter_map(look).collect()
    }

    fn epoll_mut(&mut self, epfd: RawFd) -> Result<&mut Epoll, Errno> {
        let other = self.sockets.contains_key(&epfd) || self.pipes.contains(epfd);
        self.epolls.get_mut(&epfd).ok_or(if other { Errno::EINVAL } else { Errno::EBADF })
    }

    /// How many levels of sets `fd` brings, `depth` above it included.
    ///
    /// # Errors
    /// `ELOOP` when `top` is among them, or they are too many.
    fn depth_below(&self, fd: RawFd, top: RawFd, depth: usize) -> Result<usize, Errno> {
        let Some(set) = self.epolls.get(&fd) else { return Ok(depth) };
        if fd == top && depth > 1 || depth > DEPTH_MAX {
            return Err(Errno::ELOOP);
        }
        set.watched
            .keys()
            .try_fold(depth, |deepest, inner| Ok(deepest.max(self.depth_below(*inner, top, depth + 1)?)))
    }
}

impl Epoll {
    /// It may be ready.
    fn notice(&mut self, fd: RawFd) {
        if !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }

    fn forget(&mut self, fd: RawFd) {
        self.watched.remove(&fd);
        self.ready.retain(|listed| *listed != fd);
    }

    fn look(&mut self, fd: RawFd, look: Look) {
        let Some(watched) = self.watched.get_mut(&fd) else { return };
        let woken = watched.is_woken(&look);
        watched.seen = Some(look);
        if woken {
            self.notice(fd);
        }
    }

    /// Takes from the list what still is ready.
    fn take_ready(&mut self, looks: &BTreeMap<RawFd, Look>, events: &mut [epoll_event]) -> usize {
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
