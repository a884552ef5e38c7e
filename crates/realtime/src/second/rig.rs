//! One transfer over the second path: two namespaces, the emulator between them, and a program at either end.
//!
//! ```text
//!  namespace a                                                namespace b
//!  send ── lh0 ── the kernel ── y0 ═══ the emulator ═══ y0 ── the kernel ── lh0 ── serve
//!                     └ source, the kernel's TCP           sink, the kernel's TCP ┘
//! ```
//! Every program is a separate process that this one starts and reads lines from.

use super::cell::{Arm, Cell};
use crate::interrupt::{Interrupt, let_through};
use crate::world::namespace;
use net::Namespace;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The kernel's addresses on the path.
const PATH_A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 76, 0, 1));
const PATH_B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 76, 0, 2));

/// Destination port of all transfers.
const PORT: u16 = 9;

/// A program that only has to start has failed if it prints nothing for this long.
const SILENCE: Duration = Duration::from_secs(120);

/// A transfer may take this many times as long as its bytes take at the path's rate: a window that has not grown yet, and losses
/// at the end of slow start, cost long paths about half of the rate.
const SLACK: u64 = 4;

/// Returns when to give up on a transfer that reports nothing.
fn silence(cell: &Cell, bytes: u64) -> Duration {
    SILENCE + Duration::from_secs(bytes.saturating_mul(8 * SLACK) / cell.rate_bps)
}

/// Interval at which to check whether this program was asked to end.
const GLANCE: Duration = Duration::from_millis(50);

/// Two namespaces with the emulator between them.
pub struct Rig<'i> {
    path: Program<'i>,
    a: Namespace,
    b: Namespace,
    interrupt: &'i Interrupt,
}

/// The emulator's statistics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Packets that the full buffer dropped.
    pub dropped: f64,
    /// Packets that the machine lost: a device's queue was full.
    pub lost: f64,
    /// How late packets left, at the 99th percentile, milliseconds.
    pub late_p99_ms: f64,
    /// At most.
    pub late_max_ms: f64,
}

/// The result of one transfer.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Payload over the time from the accept to the last byte, at the receiver, Mbit/s.
    pub goodput_mbps: f64,
    /// Retransmissions, per cent: of bytes for our TCP, of segments for the kernel's.
    pub again_pct: f64,
    /// What the emulator saw meanwhile.
    pub seen: Seen,
}

/// The path as measured by datagrams.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Bottleneck, Mbit/s of IP packets.
    pub rate_mbps: f64,
    /// From sending to receiving one full-sized packet through the empty path, milliseconds.
    pub delay_ms: f64,
    /// What the emulator saw meanwhile.
    pub seen: Seen,
}

impl<'i> Rig<'i> {
    /// Builds it for a cell.
    pub fn build(cell: &Cell, interrupt: &'i Interrupt) -> Result<Self, String> {
        let side = |side| namespace(side).map_err(|error| error.to_string());
        let (a, b) = (side("a")?, side("b")?);
        let file = |namespace: &Namespace| format!("/run/netns/{}", namespace.name());
        let options = [
            format!("a={}", file(&a)),
            format!("b={}", file(&b)),
            format!("a-address={PATH_A}"),
            format!("b-address={PATH_B}"),
            format!("rate={}", cell.rate_bps),
            format!("buffer={}", cell.buffer_bytes()),
            format!("delay={}", cell.rtt_us * 1_000 / 2),
        ];
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let mut path = Program::start(None, &[&["yardstick", "path"], &options[..]].concat(), interrupt)?;
        path.next_line()?;
        let route =
            |namespace: &Namespace, gateway| namespace.route_all_via(gateway).map_err(|error| error.to_string());
        route(&a, PATH_B)?;
        route(&b, PATH_A)?;
        Ok(Self { path, a, b, interrupt })
    }

    fn start(&self, inside: &Namespace, arguments: &[&str]) -> Result<Program<'i>, String> {
        Program::start(Some(inside), arguments, self.interrupt)
    }

    /// Measures the path: its rate by sending at a higher one, its delay by sending little.
    pub fn check(mut self, cell: &Cell) -> Result<Check, String> {
        let (on, to) = (format!("on={PATH_B}:{PORT}"), format!("to={PATH_B}:{PORT}"));
        let probe = |rate: u64, count: u64| {
            let mut sink = self.start(&self.b, &["yardstick", "datagram-sink", &on])?;
            sink.next_line()?;
            let (rate, count) = (format!("rate={rate}"), format!("count={count}"));
            self.start(&self.a, &["yardstick", "datagram-source", &to, &rate, &count])?.next_line()?;
            pairs(&sink.next_line()?)
        };
        let a_second_of_packets = cell.rate_bps / 12_000;
        let flood = probe(cell.rate_bps * 13 / 10, a_second_of_packets * 3 / 2)?;
        // Below the rate the queue stays empty, and processors stay awake as in a transfer.
        let trickle = probe(cell.rate_bps / 2, a_second_of_packets / 2)?;
        let check = Check {
            rate_mbps: number(&flood, "rate_bps")? / 1e6,
            delay_ms: number(&trickle, "delay_us")? / 1e3,
            seen: self.path.seen()?,
        };
        Ok(check)
    }

    /// Makes one transfer over the path of `cell`.
    pub fn transfer(mut self, cell: &Cell, arm: Arm, bytes: u64) -> Result<Outcome, String> {
        let kernel = (format!("on={PATH_B}:{PORT}"), format!("to={PATH_B}:{PORT}"), format!("bytes={bytes}"));
        let bytes_text = bytes.to_string();
        let ours = |host: &'static str| ["--tun", "lh0", "--addr", host, "--format", "json"];
        let mut receiver = match arm {
            Arm::Kernel | Arm::Send => self.start(&self.b, &["yardstick", "sink", &kernel.0])?,
            Arm::SendServe => {
                self.start(&self.b, &[&["serve", "discard", "--once"], &ours("10.78.2.2/24")[..]].concat())?
            }
        };
        receiver.next_line()?;
        let to = if arm == Arm::SendServe { format!("10.78.2.2:{PORT}") } else { format!("{PATH_B}:{PORT}") };
        let mut sender = match arm {
            Arm::Kernel => self.start(&self.a, &["yardstick", "source", &kernel.1, &kernel.2])?,
            Arm::Send | Arm::SendServe => {
                let what = ["send", &to, "--bytes", &bytes_text];
                self.start(&self.a, &[&what, &ours("10.78.1.2/24")[..]].concat())?
            }
        };
        // The sender has ended when its line arrives, so the receiver's follows soon.
        let (sent, came) = (sender.next_line_within(silence(cell, bytes))?, receiver.next_line()?);
        let again_pct = match arm {
            Arm::Kernel => {
                let sent = pairs(&sent)?;
                // The kernel does not include retransmissions in the segments sent.
                let again = number(&sent, "again")?;
                again * 100.0 / (number(&sent, "segments")? + again)
            }
            Arm::Send | Arm::SendServe => field(&sent, &["retransmitted_pct"])?,
        };
        let (read, seconds) = if arm == Arm::SendServe {
            (field(&came, &["read", "bytes"])?, field(&came, &["last_byte_seconds"])?)
        } else {
            let came = pairs(&came)?;
            (number(&came, "bytes")?, number(&came, "seconds")?)
        };
        if read != bytes as f64 {
            return Err(format!("{read} of {bytes} bytes came through"));
        }
        Ok(Outcome { goodput_mbps: read * 8.0 / seconds / 1e6, again_pct, seen: self.path.seen()? })
    }
}

/// A running program; it is killed on drop.
pub struct Program<'i> {
    what: String,
    child: Child,
    lines: Receiver<String>,
    interrupt: &'i Interrupt,
}

impl<'i> Program<'i> {
    /// Starts this program with other arguments, inside a namespace or in the current one.
    pub fn start(inside: Option<&Namespace>, arguments: &[&str], interrupt: &'i Interrupt) -> Result<Self, String> {
        let what = arguments.join(" ");
        let spawn = || {
            let_through();
            let mut command = Command::new(std::env::current_exe()?);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn()
        };
        let failed = |error: &dyn std::fmt::Display| format!("cannot start `{what}`: {error}");
        let spawned = match inside {
            Some(namespace) => namespace.run(spawn).map_err(|error| failed(&error))?,
            // A separate thread keeps the signals blocked here.
            None => std::thread::scope(|scope| scope.spawn(spawn).join().expect("it does not panic")),
        };
        let mut child = spawned.map_err(|error| failed(&error))?;
        let (sender, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Self { what, child, lines, interrupt })
    }

    /// Returns the next line of the program, which is expected soon.
    fn next_line(&mut self) -> Result<String, String> {
        self.next_line_within(SILENCE)
    }

    /// Returns the next line of the program, unless it takes longer than `silence`.
    fn next_line_within(&mut self, silence: Duration) -> Result<String, String> {
        let deadline = Instant::now() + silence;
        loop {
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    let words = self.last_words();
                    return Err(format!("`{}` failed: {words}", self.what));
                }
                Err(RecvTimeoutError::Timeout) if self.interrupt.came() => return Err("interrupted".to_owned()),
                Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => {
                    return Err(format!("`{}` said nothing for {} s", self.what, silence.as_secs()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Returns what it wrote to standard error before it ended.
    fn last_words(&mut self) -> String {
        let mut words = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            let _ = errors.read_to_string(&mut words);
        }
        words.trim().to_owned()
    }

    /// Ends the emulator, and returns its report.
    fn seen(&mut self) -> Result<Seen, String> {
        drop(self.child.stdin.take());
        let report = pairs(&self.next_line()?)?;
        let number = |name| number(&report, name);
        Ok(Seen {
            dropped: number("dropped")?,
            lost: number("lost")?,
            late_p99_ms: number("late_p99_us")? / 1e3,
            late_max_ms: number("late_max_us")? / 1e3,
        })
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a line of `name=value` pairs.
fn pairs(line: &str) -> Result<BTreeMap<String, f64>, String> {
    let pair = |word: &str| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    line.split_whitespace().map(pair).collect::<Option<_>>().ok_or_else(|| format!("`{line}` is not understood"))
}

fn number(pairs: &BTreeMap<String, f64>, name: &str) -> Result<f64, String> {
    pairs.get(name).copied().ok_or_else(|| format!("no {name} in {pairs:?}"))
}

/// A number inside an object.
fn field(line: &str, path: &[&str]) -> Result<f64, String> {
    let object: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("`{line}`: {error}"))?;
    let found = path.iter().try_fold(&object, |object, name| object.get(name));
    found.and_then(serde_json::Value::as_f64).ok_or_else(|| format!("`{line}` has no number {}", path.join(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_transfer_is_waited_for() {
        let of = |cell: &str, bytes| silence(&cell.parse().unwrap(), bytes).as_secs();
        // 1 GB takes 134 s at 60 Mbit/s, and 229 s at 35 Mbit/s.
        assert_eq!(of("37ms@60Mbit", 1_000_000_000), 120 + 533);
        assert!(of("130ms@35Mbit", 1_000_000_000) > 3 * 229);
        assert_eq!(of("25ms@100Mbit", 32_000_000), 120 + 10);
        assert!(of("1s@30kbit", u64::MAX) > 1_000_000, "no overflow");
    }

    #[test]
    fn reports_are_read_by_name() {
        let read = pairs("bytes=12 seconds=0.5").unwrap();
        assert_eq!((number(&read, "bytes"), number(&read, "seconds")), (Ok(12.0), Ok(0.5)));
        assert!(number(&read, "rate").is_err() && pairs("served: closed").is_err());
        assert_eq!(field(r#"{"read":{"bytes":7}}"#, &["read", "bytes"]), Ok(7.0));
        assert!(field(r#"{"read":{}}"#, &["read", "bytes"]).is_err());
    }
}
