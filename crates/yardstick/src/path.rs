//! The emulator: reads packets from two TUN devices, and writes each to the other when the model says so.
//!
//! One thread waits for packets and for the next departure. At the end, when standard input closes, it prints how late packets
//! left and what the machine dropped.

use crate::clock::{SECOND, now};
use crate::line::Line;
use crate::options::Options;
use crate::priority;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, setns};
use nix::sys::time::TimeSpec;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Largest IP packet, bytes. The devices have no offload, so the kernel cuts all packets to this size.
const MTU: u16 = 1_500;

/// How many packets may wait in a device for this process.
const DEVICE_QUEUE: u32 = 4_000;

/// Departures closer than this are awaited in a busy loop, nanoseconds.
const SPIN: u64 = 30_000;

/// Runs the emulator until standard input closes. Options: `a`, `b` (files of network namespaces), `a-address`,
/// `b-address` (IPv4, both of one /24 network), `rate` (bits in a second, from a to b), `buffer` (bytes), `delay` (each way,
/// nanoseconds).
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let (a, b): (String, String) = (options.get("a")?, options.get("b")?);
    let devices = [device(&a, options.get("a-address")?)?, device(&b, options.get("b-address")?)?];
    let delay = options.get("delay")?;
    let lines = [Line::new(Some(options.get("rate")?), delay, options.get("buffer")?), Line::new(None, delay, 0)];
    let raised = priority::raise();
    say("ready=1")?;
    let mut emulator = Emulator { devices, lines, ways: Default::default(), late: Vec::new() };
    emulator.serve().map_err(|error| format!("the emulator: {error}"))?;
    let lost = dropped_by_device(&a)? + dropped_by_device(&b)?;
    say(&emulator.report(raised, lost))
}

fn say(line: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}

/// Name of the device in either namespace.
const DEVICE: &str = "y0";

fn inside<T: Send>(namespace: &str, work: impl FnOnce() -> io::Result<T> + Send) -> Result<T, String> {
    let enter = || {
        setns(File::open(namespace)?, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    let done = std::thread::scope(|scope| scope.spawn(enter).join());
    done.expect("no panic in there").map_err(|error| format!("in {namespace}: {error}"))
}

fn device(namespace: &str, address: Ipv4Addr) -> Result<SyncDevice, String> {
    inside(namespace, || {
        let device = DeviceBuilder::new().name(DEVICE).ipv4(address, 24, None).mtu(MTU).build_sync()?;
        device.set_tx_queue_len(DEVICE_QUEUE)?;
        device.set_nonblocking(true)?;
        Ok(device)
    })
}

/// Packets that the kernel could not queue in the device because its queue was full.
fn dropped_by_device(namespace: &str) -> Result<u64, String> {
    let table = inside(namespace, || std::fs::read_to_string("/proc/thread-self/net/dev"))?;
    let line = table.lines().find_map(|line| line.trim().strip_prefix(&format!("{DEVICE}:")));
    // Eight columns for received packets, then bytes, packets, errors and drops for sent ones.
    let drops = line.and_then(|line| line.split_whitespace().nth(8 + 3)?.parse().ok());
    drops.ok_or_else(|| format!("in {namespace}: /proc/net/dev does not have {DEVICE}"))
}

/// What one direction has seen.
#[derive(Debug, Default)]
struct Way {
    /// On their way: when they arrive.
    flying: VecDeque<(u64, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    offered: u64,
    dropped: u64,
    delivered: u64,
    /// The kernel did not take them back.
    refused: u64,
}

struct Emulator {
    devices: [SyncDevice; 2],
    lines: [Line; 2],
    ways: [Way; 2],
    /// How late each packet left, nanoseconds.
    late: Vec<u32>,
}

impl Emulator {
    fn serve(&mut self) -> io::Result<()> {
        loop {
            self.read()?;
            self.deliver();
            let next = self.ways.iter().filter_map(|way| Some(way.flying.front()?.0)).min();
            let left = next.map(|next| next.saturating_sub(now()).saturating_sub(SPIN));
            if left == Some(0) {
                continue;
            }
            let stdin = io::stdin();
            let readable = |fd| PollFd::new(fd, PollFlags::POLLIN);
            let mut fds =
                [readable(stdin.as_fd()), readable(self.devices[0].as_fd()), readable(self.devices[1].as_fd())];
            let timeout = left.map(|left| TimeSpec::new((left / SECOND) as i64, (left % SECOND) as i64));
            match ppoll(&mut fds, timeout, None) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if fds[0].any() == Some(true) {
                return Ok(());
            }
        }
    }

    /// Takes what waits in the devices.
    fn read(&mut self) -> io::Result<()> {
        for ((device, line), way) in self.devices.iter().zip(&mut self.lines).zip(&mut self.ways) {
            loop {
                let mut packet = way.spare.pop().unwrap_or_default();
                packet.resize(usize::from(MTU), 0);
                let len = match device.recv(&mut packet) {
                    Ok(len) => len,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        way.spare.push(packet);
                        break;
                    }
                    Err(error) => return Err(error),
                };
                way.offered += 1;
                packet.truncate(len);
                match line.offer(now(), len) {
                    Some(arrives) => way.flying.push_back((arrives, packet)),
                    None => {
                        way.dropped += 1;
                        way.spare.push(packet);
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes what has arrived.
    fn deliver(&mut self) {
        for (index, way) in self.ways.iter_mut().enumerate() {
            while let Some((arrives, _)) = way.flying.front() {
                let at = now();
                let Some(late) = at.checked_sub(*arrives) else { break };
                self.late.push(u32::try_from(late).unwrap_or(u32::MAX));
                let (_, packet) = way.flying.pop_front().expect("it was looked at");
                match self.devices[1 - index].send(&packet) {
                    Ok(_) => way.delivered += 1,
                    Err(_) => way.refused += 1,
                }
                way.spare.push(packet);
            }
        }
    }

    fn report(&mut self, raised: bool, lost: u64) -> String {
        self.late.sort_unstable();
        let late = |share: usize| self.late.get((self.late.len() * share / 1000).min(self.late.len().max(1) - 1));
        let micros = |share| f64::from(late(share).copied().unwrap_or(0)) / 1e3;
        let [ab, ba] = &self.ways;
        format!(
            "offered={} dropped={} delivered={} back={} lost={} late_median_us={:.1} late_p99_us={:.1} late_max_us={:.1} \
             real_time={}",
            ab.offered,
            ab.dropped + ba.dropped,
            ab.delivered,
            ba.delivered,
            lost + ab.refused + ba.refused,
            micros(500),
            micros(990),
            micros(1000),
            u8::from(raised),
        )
    }
}
