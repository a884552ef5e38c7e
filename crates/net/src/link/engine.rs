//! The loop: packets in, hops, packets out, wait for a device or for the next departure.
//!
//! One thread serves both directions. Most of a packet's cost is spent inside the kernel, from the write to the receiving socket;
//! a second thread would need locks to share the rest.

use super::capture::{Capture, Captured, Passing};
use super::direction::{Direction, Way};
use super::end::End;
use super::handle::{Inbox, LinkHandle, Request};
use super::idle::LightSleep;
use super::packet::{self, Datagram};
use super::report::{DirectionReport, Lateness, LinkReport};
use super::sched::{Raised, Scheduling, Share};
use super::wake_up::{Alarm, WakeUps};
use super::{LinkConfig, LinkError};
use crate::clock::{Clock, MonotonicClock};
use crate::pool::Pool;
use base::Instant;
use netem::PathSpec;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io::{self, Write};
use std::time::Duration as StdDuration;

/// Room for the longest frame: a header, and 65,535 bytes of IP.
const FRAME: usize = 1 << 17;

/// Frames read from a device, and packets written to it, before other work continues: neither a flood of small packets nor one
/// direction's train may delay the other's.
const BATCH: usize = 32;

/// The ends by number.
const A: usize = 0;
const B: usize = 1;

/// The kernel may delay the end of a wait by this much to save energy.
const TIMER_SLACK_NS: u64 = 1;

/// Two devices and the paths between them.
#[derive(Debug)]
pub struct Link {
    lanes: [Lane; 2],
    inbox: Inbox,
    boxes: Pool<Datagram>,
    frame: Box<[u8]>,
    clock: MonotonicClock,
    wake_ups: WakeUps,
    lateness: Lateness,
    began: Instant,
    scheduling: Scheduling,
    capture: Option<Capture>,
}

/// An end, and the direction that begins at it.
#[derive(Debug)]
struct Lane {
    end: End,
    direction: Direction,
}

/// Whether more work may be available at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    None,
    Some,
}

impl Link {
    /// Creates the namespaces and devices; packets wait in them until the link runs. All of them are removed with the link.
    ///
    /// # Errors
    /// Names what is missing or which step failed; everything created is then removed.
    pub fn open(config: &LinkConfig) -> Result<Self, LinkError> {
        if !(config.ab.drops.is_empty() && config.ba.drops.is_empty()) {
            return Err(LinkError::ByPosition);
        }
        let lane = |way, end, spec| {
            Ok::<_, LinkError>(Lane { end: End::open(end)?, direction: Direction::new(way, spec, config.seed) })
        };
        let lanes = [lane(Way::Ab, &config.a, &config.ab)?, lane(Way::Ba, &config.b, &config.ba)?];
        let rings = lanes.each_ref().map(|lane| lane.end.ring());
        Ok(Self {
            lanes,
            inbox: Inbox::new(rings).map_err(LinkError::Wait)?,
            boxes: Pool::default(),
            frame: vec![0; FRAME].into(),
            clock: MonotonicClock::default(),
            wake_ups: WakeUps::default(),
            lateness: Lateness::default(),
            began: Instant::ZERO,
            scheduling: Scheduling::Ordinary,
            capture: None,
        })
    }

    /// Returns a handle that controls the link while it runs.
    pub fn handle(&self) -> LinkHandle {
        self.inbox.handle()
    }

    /// Writes the packets at both ends to `out`, as pcapng.
    ///
    /// # Errors
    /// If its thread cannot be started. The report contains the result of writing.
    pub fn capture(&mut self, out: impl Write + Send + 'static) -> Result<(), LinkError> {
        let names = self.lanes.each_ref().map(|lane| lane.end.title().to_owned());
        self.capture = Some(Capture::new(out, names).map_err(LinkError::Capture)?);
        Ok(())
    }

    /// Carries packets until the link is asked to stop, in the calling thread, which runs with higher priority meanwhile if that
    /// is permitted. Then removes everything that was created.
    ///
    /// # Errors
    /// If a device fails.
    pub fn run(mut self) -> Result<LinkReport, LinkError> {
        let raised = Raised::new(Share::Link);
        self.scheduling = raised.now();
        let light_sleep = LightSleep::new();
        // A rejection does not matter: real-time threads have no slack.
        let _ = nix::sys::prctl::set_timerslack(TIMER_SLACK_NS);
        self.began = self.clock.now();
        self.lanes.iter_mut().for_each(|lane| lane.direction.begin(self.began));
        let ended = self.carry();
        drop((raised, light_sleep));
        let report = self.handle().with_rings(self.report());
        let captured = self.capture.take().map_or_else(Captured::default, Capture::finish);
        ended.map(|()| LinkReport { captured, ..report })
    }

    /// Carries packets until it is asked to stop.
    fn carry(&mut self) -> Result<(), LinkError> {
        while self.answer() {
            if [self.deliver(), self.collect()?] == [Rest::None, Rest::None] {
                self.wait()?;
            }
        }
        Ok(())
    }

    /// Executes requests; returns whether the link continues.
    fn answer(&mut self) -> bool {
        while let Some(request) = self.inbox.next() {
            match request {
                Request::Stop => return false,
                Request::Change(way, spec) => self.change(way, &spec),
                Request::Report(answer) => {
                    // The requester may have gone.
                    let _ = answer.send(self.report());
                }
            }
        }
        true
    }

    fn change(&mut self, way: Way, spec: &PathSpec) {
        let now = self.clock.now();
        self.lanes[way as usize].direction.change(now, spec);
    }

    /// Writes packets that are due, up to a batch to each device.
    fn deliver(&mut self) -> Rest {
        let mut rest = Rest::None;
        let [a, b] = &mut self.lanes;
        for (direction, to, number) in [(&mut a.direction, &mut b.end, B), (&mut b.direction, &mut a.end, A)] {
            for _ in 0..BATCH {
                let now = self.clock.now();
                let Some((due, packet)) = direction.poll(now, &mut self.boxes) else { break };
                rest = Rest::Some;
                to.write(packet.frame());
                self.lateness.record(now.since(due));
                if let Some(capture) = &mut self.capture {
                    capture.note(now, number, Passing::In, packet.frame());
                }
                self.boxes.put_back(packet);
            }
        }
        rest
    }

    /// Reads packets from the devices, up to a batch each.
    fn collect(&mut self) -> Result<Rest, LinkError> {
        let mut rest = Rest::None;
        for (number, Lane { end, direction }) in self.lanes.iter_mut().enumerate() {
            for _ in 0..BATCH {
                let Some(len) = end.read(&mut self.frame)? else { break };
                let now = self.clock.now();
                let read = packet::packets(&self.frame[..len], &mut self.boxes, |boxes, packet| {
                    if let Some(capture) = &mut self.capture {
                        capture.note(now, number, Passing::Out, packet.frame());
                    }
                    direction.offer(now, packet, boxes);
                });
                end.unreadable += u64::from(read.is_err());
                rest = Rest::Some;
            }
        }
        Ok(rest)
    }

    /// Waits until a packet is about to be due, a device is readable, or a request arrives.
    fn wait(&mut self) -> Result<(), LinkError> {
        let deadline = self.lanes.iter().filter_map(|lane| lane.direction.next_deadline()).min();
        let alarm = self.wake_ups.alarm(self.clock.now(), deadline);
        let timeout = match alarm {
            Alarm::None => None,
            Alarm::Ring { after, .. } => Some(TimeSpec::from_duration(StdDuration::from_nanos(after.as_nanos()))),
            Alarm::StayAwake => return Ok(()),
        };
        if let Some(capture) = &mut self.capture {
            capture.hand_over();
        }
        let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let [a, b] = &self.lanes;
        let mut fds = [readable(a.end.fd()), readable(b.end.fd()), readable(self.inbox.bell())];
        match ppoll(&mut fds, timeout, None) {
            Ok(0) => self.wake_ups.rang(alarm, self.clock.now()),
            Ok(_) if fds[2].any() == Some(true) => self.inbox.silence().map_err(LinkError::Wait)?,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(LinkError::Wait(io::Error::from(errno))),
        }
        Ok(())
    }

    /// Returns the report without the drops of the devices' queues.
    fn report(&mut self) -> LinkReport {
        let now = self.clock.now();
        let [a, b] = &self.lanes;
        LinkReport {
            elapsed: now.since(self.began),
            scheduling: self.scheduling,
            ab: report(now, a, &b.end),
            ba: report(now, b, &a.end),
            lateness: self.lateness,
            captured: Captured::default(),
        }
    }
}

/// Reports on the packets from one lane's end to another end.
fn report(now: Instant, from: &Lane, to: &End) -> DirectionReport {
    DirectionReport { unreadable: from.end.unreadable, refused: to.refused, ..from.direction.report(now) }
}
