//! System calls of a script: from the arguments to a live call, and from its results to a verdict.

mod args;
mod message;
mod pending;
mod prepare;

pub(super) use pending::Pending;

use super::clock::Clock;
use super::compare::field;
use super::socket::{Descriptor, Socket, Stage};
use super::worker::{Finished, Job, Wait};
use super::{Engine, Failure};
use crate::config::address;
use crate::script::{CallSpec, EventTime};
use crate::stack::{Call, PollFd, Returned};
use crate::symbols::{errno_name, number, poll_flags};
use pending::After;
use std::net::IpAddr;

impl Engine<'_> {
    pub(super) fn call(&mut self, spec: &CallSpec, line: u32, time: EventTime) -> Result<(), Failure> {
        let failure = |what: String| Failure { line, what: format!("{}: {what}", spec.name) };
        // A blocked call does not prevent a non-blocking one.
        let blocked = self.collect(Wait::Some)?;
        if blocked && spec.end.is_some() {
            return Err(failure("another blocking call is still under way".into()));
        }
        if let Some(end) = spec.end {
            let (call, mut pending) = self.prepare(spec, line).map_err(failure)?;
            let relative = matches!(time, EventTime::Relative(_));
            let offset = self.due.from - if let EventTime::Relative(after) = time { after } else { self.due.from };
            let end = if relative { EventTime::Relative(end) } else { EventTime::Absolute(end) };
            pending.end = Some(Clock::due(end, offset));
            let job = Job { clock: self.clock, due: self.due, previous: self.previous_due(), call };
            self.pending = Some(pending);
            self.worker.begin(job);
            self.collect(Wait::None)?;
            return Ok(());
        }
        self.wait("the call").map_err(failure)?;
        let (mut call, pending) = self.prepare(spec, line).map_err(failure)?;
        let returned = self.stack.perform(&mut call);
        self.complete(&pending, &call, returned).map_err(failure)
    }

    /// Collects the blocking call if it has returned; says whether one is still in progress.
    pub(super) fn collect(&mut self, wait: Wait) -> Result<bool, Failure> {
        let Some(pending) = self.pending.take() else { return Ok(false) };
        let failure = |what: String| Failure { line: pending.line, what: format!("{}: {what}", pending.name) };
        let Ok(finished) = self.worker.finished(wait) else {
            self.pending = Some(pending);
            return Ok(true);
        };
        let Some(Finished { call, returned, at }) = finished else { return Ok(false) };
        let returned = returned.map_err(failure)?;
        self.complete(&pending, &call, returned).map_err(failure)?;
        let end = pending.end.unwrap_or(self.due);
        self.clock.verify(end, Some(pending.begin), at, "its return").map_err(failure)?;
        Ok(false)
    }

    /// Whether a blocking call is in progress: its line and name.
    pub(super) fn still_blocked(&self) -> Option<(u32, &str)> {
        self.pending.as_ref().map(|pending| (pending.line, pending.name.as_str()))
    }

    fn complete(&mut self, pending: &Pending, call: &Call, returned: Returned) -> Result<(), String> {
        let Returned { value, errno } = returned;
        let makes_descriptor = matches!(pending.after, After::Descriptor(_) | After::Accepted);
        let expected = i64::from(pending.result);
        let said = if value < 0 { format!("{value} {}", errno_name(errno)) } else { value.to_string() };
        if makes_descriptor && expected >= 0 {
            if value < 0 {
                return Err(format!("expected a descriptor, returned {said}"));
            }
        } else if value != expected {
            let wanted = pending.errno.map_or(String::new(), |errno| format!(" {}", errno_name(errno)));
            return Err(format!("expected {expected}{wanted}, returned {said}"));
        }
        if let Some(wanted) = pending.errno
            && wanted != errno
        {
            return Err(format!("expected errno {}, is {}", errno_name(wanted), errno_name(errno)));
        }
        if value < 0 { Ok(()) } else { self.follow_up(pending, call, value as i32) }
    }

    fn follow_up(&mut self, pending: &Pending, call: &Call, value: i32) -> Result<(), String> {
        match (&pending.after, call) {
            (After::Descriptor(protocol), _) => {
                let socket = protocol.map(|protocol| {
                    let mut socket = Socket::new(Stage::New, protocol == libc::IPPROTO_TCP);
                    socket.fd = Some(value);
                    self.sockets.push(socket);
                    self.sockets.len() - 1
                });
                self.under_test = socket.or(self.under_test);
                self.add(pending.result, value, socket)
            }
            (After::Accepted, Call::Accept { address, .. }) => self.accepted(pending.result, value, address),
            (After::Listening(script), _) => {
                let index = self.socket_index(*script)?;
                self.sockets[index].stage = Stage::Listening;
                Ok(())
            }
            (After::Closed(script), _) => {
                self.descriptors.iter_mut().filter(|fd| fd.open && fd.script == *script).for_each(|fd| fd.open = false);
                Ok(())
            }
            (After::Pipe(script), Call::Pipe { fds }) => {
                self.add(script[0], fds[0], None)?;
                self.add(script[1], fds[1], None)
            }
            (After::Value(expected), Call::Ioctl { value: Some(actual), .. }) => field("value", expected, actual),
            (After::Option(length, bytes), Call::Getsockopt { value, length: actual, .. }) => {
                field("optlen", length, actual)?;
                bytes.as_ref().map_or(Ok(()), |bytes| option(bytes, &value[..*actual as usize]))
            }
            (After::Polled(expected), Call::Poll { fds, .. }) => polled(expected, fds),
            (After::Epoll(expected, bits), Call::EpollWait { events, .. }) => {
                let actual = events.first().copied().unwrap_or_default();
                let mask = u64::MAX >> (64 - bits);
                field("events", poll_flags(expected.events.into()), poll_flags(actual.events.into()))?;
                field("the event's data", expected.data & mask, actual.data & mask)
            }
            (After::Message(expected), Call::Recvmsg { message, .. }) => {
                expected.compare(message, self.clock, self.config.tolerance_usecs)
            }
            _ => Ok(()),
        }
    }

    fn add(&mut self, script: i32, live: i32, socket: Option<usize>) -> Result<(), String> {
        let double = self.descriptors.iter().find(|fd| fd.open && (fd.script == script || fd.live == live));
        if let Some(double) = double {
            return Err(format!("descriptor {script} ({live}) while {} ({}) is open", double.script, double.live));
        }
        self.descriptors.push(Descriptor { script, live, open: true, socket });
        Ok(())
    }

    /// Finds the connection that `accept` returned among those the script opened.
    fn accepted(&mut self, script: i32, live: i32, address: &[u8]) -> Result<(), String> {
        let (ip, port) = peer(address).ok_or("accept() returned no address")?;
        let opened = |socket: &Socket| {
            let stage = matches!(socket.stage, Stage::SynAckSent | Stage::SynAckAcked);
            stage && socket.fd.is_none() && socket.remote == Some((ip, port))
        };
        let index = self.sockets.iter().rposition(opened);
        let index = index
            .ok_or_else(|| format!("accept() returned a connection from {ip}:{port} that the script did not open"))?;
        self.sockets[index].fd = Some(live);
        self.add(script, live, Some(index))
    }

    fn descriptor(&self, script: i32) -> Result<Descriptor, String> {
        let found = self.descriptors.iter().find(|fd| fd.open && fd.script == script);
        found.copied().ok_or_else(|| format!("descriptor {script} is not open"))
    }

    fn socket_index(&self, script: i32) -> Result<usize, String> {
        self.descriptor(script)?.socket.ok_or_else(|| format!("descriptor {script} is not a socket"))
    }
}

fn option(expected: &[u8], actual: &[u8]) -> Result<(), String> {
    let shown = |bytes: &[u8]| match <[u8; 4]>::try_from(bytes) {
        Ok(bytes) => i32::from_ne_bytes(bytes).to_string(),
        Err(_) => format!("\"{}\"", bytes.escape_ascii()),
    };
    if expected == actual {
        Ok(())
    } else {
        Err(format!("optval: expected {}, actual {}", shown(expected), shown(actual)))
    }
}

fn polled(expected: &[i16], actual: &[PollFd]) -> Result<(), String> {
    for (at, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        let what = format!("revents of entry {at}");
        field(&what, poll_flags((*expected).into()), poll_flags(actual.revents.into()))?;
    }
    Ok(())
}

/// Address and port of a socket address; an IPv4-mapped IPv6 address as plain IPv4.
fn peer(bytes: &[u8]) -> Option<(IpAddr, u16)> {
    let family = i32::from(u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]));
    let port = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]);
    let range = if family == libc::AF_INET6 { 8..24 } else { 4..8 };
    Some((address(bytes.get(range)?)?.to_canonical(), port))
}

/// The number of an errno name.
fn errno(name: &str) -> Result<i32, String> {
    number(name).map(|number| number as i32)
}
