//! Tests of the engine against a stack that is a table of answers.

use super::*;
use crate::packet::{Addresses, Live, tcp};
use crate::script::{PacketSpec, TcpOption, Transport, parse};
use crate::stack::Returned;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex};
use test_case::test_case;

/// A stack that answers `socket` with 100, `accept` with 101 from the script's side, and every other call with 0; that
/// sends what it was asked to and remembers what it got.
#[derive(Debug, Default)]
struct Mock {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    now: i64,
    /// Packets to send: the delay after the query, and the packet in script notation with live numbers.
    outbox: VecDeque<(i64, &'static str)>,
    inbox: Vec<Live>,
    calls: Vec<Call>,
    sleeps: Vec<u32>,
    /// Reads that block until a packet with payload has arrived.
    unread: usize,
    /// The clock does not move.
    stopped: bool,
}

/// The stack's initial sequence number.
const ISN: u32 = 5_000;
const TIMESTAMP: u32 = 70_000;

fn spec(text: &str) -> PacketSpec {
    let script = parse(&format!("0 {text}"), &BTreeMap::new()).unwrap_or_else(|error| panic!("{text}: {error}"));
    match &script.events[0].action {
        Action::Packet(packet) => packet.clone(),
        other => panic!("{other:?}"),
    }
}

/// A segment from the mock: numbers are relative to its own initial one, timestamps to its own clock.
fn live(text: &str) -> Vec<u8> {
    let PacketSpec { ip, transport, .. } = spec(text);
    let Transport::Tcp(mut segment) = transport else { panic!("{text}") };
    segment.seq += ISN;
    segment.window = segment.window.or(Some(1_000));
    for option in segment.options.iter_mut().flatten() {
        if let TcpOption::Timestamps { val, .. } = option {
            *val += TIMESTAMP;
        }
    }
    let parse = |text: &str| text.parse().unwrap();
    let (source, destination) = (parse("192.168.0.1"), parse("192.0.2.1"));
    tcp(Addresses { source, destination, source_port: 8080, destination_port: FIRST_REMOTE_PORT }, ip, &segment)
}

impl Stack for Mock {
    fn perform(&self, call: &mut Call) -> Returned {
        let mut inner = self.inner.lock().unwrap();
        let value = match call {
            Call::Socket { .. } => 100,
            Call::Accept { address, .. } => {
                address.truncate(16);
                address[..8].copy_from_slice(&[2, 0, 0x9c, 0x40, 192, 0, 2, 1]);
                101
            }
            Call::Read { .. } => {
                while inner.unread == 0 {
                    inner = self.changed.wait(inner).unwrap();
                }
                i64::try_from(std::mem::take(&mut inner.unread)).unwrap()
            }
            Call::Getsockopt { value, name: 11, .. } => {
                value[80..84].copy_from_slice(&10_u32.to_ne_bytes());
                value[6] = 0x87;
                0
            }
            Call::Getsockopt { value, length, .. } => {
                value[..4].copy_from_slice(&7_u32.to_ne_bytes());
                *length = (*length).min(36);
                0
            }
            Call::Listen { backlog: 99, .. } => -1,
            _ => 0,
        };
        inner.calls.push(call.clone());
        Returned { value, errno: libc::EINVAL }
    }

    fn send(&self, packet: &[u8]) -> Result<(), String> {
        let mut inner = self.inner.lock().unwrap();
        let at = inner.now;
        let live = Live::parse(packet.to_vec(), at).unwrap();
        inner.unread += live.payload().len();
        inner.inbox.push(live);
        self.changed.notify_all();
        Ok(())
    }

    fn receive(&self, _deadline: i64) -> Result<(Vec<u8>, i64), String> {
        let mut inner = self.inner.lock().unwrap();
        let (after, text) = inner.outbox.pop_front().ok_or("nothing will come")?;
        inner.now += after;
        Ok((live(text), inner.now))
    }

    fn sleep(&self, usecs: u32) {
        let mut inner = self.inner.lock().unwrap();
        inner.now += i64::from(usecs);
        inner.sleeps.push(usecs);
    }

    fn now(&self) -> i64 {
        let mut inner = self.inner.lock().unwrap();
        inner.now += i64::from(!inner.stopped);
        inner.now
    }
}

/// The result of a script: the outcome and the mock.
fn run(text: &str, outbox: &[(i64, &'static str)]) -> (Result<(), Failure>, Arc<Mock>) {
    let mock = Arc::new(Mock::default());
    mock.inner.lock().unwrap().outbox.extend(outbox.iter().copied());
    (run_on(&mock, text), mock)
}

fn run_on(mock: &Arc<Mock>, text: &str) -> Result<(), Failure> {
    let script = parse(text, &BTreeMap::new()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let config = Config::new(&script, &[]).unwrap();
    let stack: Arc<dyn Stack> = Arc::<Mock>::clone(mock);
    let mut log = |_| {};
    let engine = Engine::start(&script, &config, stack, PathBuf::from("."), &mut log);
    engine.and_then(Engine::run)
}

const LISTEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n";
const OPEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                    +0 < S 0:0(0) win 1000 <mss 1000,sackOK,TS val 1 ecr 0>\n\
                    +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 1>\n\
                    +.1 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 2 ecr 100>\n+0 accept(3, ..., ...) = 4\n";
const SYN_ACK: (i64, &str) = (0, "> S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 0 ecr 1>");

fn opened(rest: &str, outbox: &[(i64, &'static str)]) -> (Result<(), Failure>, Arc<Mock>) {
    let outbox: Vec<_> = std::iter::once(SYN_ACK).chain(outbox.iter().copied()).collect();
    run(&format!("{OPEN}{rest}"), &outbox)
}

fn failure(outcome: Result<(), Failure>) -> String {
    outcome.expect_err("the script should fail").to_string()
}

#[test]
fn numbers_of_the_script_become_live_ones_and_back() {
    let (outcome, mock) = opened(
        "+0 > P. 1:501(500) ack 1 <nop,nop,TS val 101 ecr 2>\n\
         +.1 < . 1:1001(1000) ack 501 win 257 <nop,nop,TS val 3 ecr 101,nop,nop,sack 1:11>\n",
        &[(0, "> P. 1:501(500) ack 1 <nop,nop,TS val 1 ecr 2>")],
    );
    assert_eq!(outcome, Ok(()));
    let inner = mock.inner.lock().unwrap();
    let last = &inner.inbox[2];
    assert_eq!((last.seq(), last.ack()), (1, ISN + 501));
    assert!(last.options().contains(&TcpOption::Timestamps { val: 3, ecr: TIMESTAMP + 1 }), "{:?}", last.options());
    assert!(last.options().contains(&TcpOption::Sack(vec![(ISN + 1, ISN + 11)])));
    let reset = &inner.inbox[3];
    assert_eq!((reset.flags().byte, reset.seq(), reset.ack()), (0x14, 1_001, ISN + 501), "the end resets");
    assert_eq!(inner.calls.iter().filter(|call| matches!(call, Call::Close { .. })).count(), 2, "and closes");
}

#[test]
fn the_first_event_is_waited_for_by_asking_and_later_ones_by_sleeping() {
    let (outcome, mock) = run("0 socket(..., SOCK_STREAM, 6) = 3\n+.5 bind(3, ..., ...) = 0\n", &[]);
    assert_eq!(outcome, Ok(()));
    let inner = mock.inner.lock().unwrap();
    assert_eq!(inner.sleeps.len(), 1);
    assert!((499_970..=499_980).contains(&inner.sleeps[0]), "until 20 us before: {:?}", inner.sleeps);
}

#[test]
fn consecutive_segments_make_up_the_length_the_script_says() {
    let pieces = [(0, "> . 1:1001(1000) ack 1"), (0, "> . 1001:2001(1000) ack 1"), (0, "> P. 2001:2501(500) ack 1")];
    assert_eq!(opened("+0 > P. 1:2501(2500) ack 1", &pieces).0, Ok(()));
    let strict = format!("--strict_segments\n{OPEN}+0 > P. 1:2501(2500) ack 1");
    let outbox: Vec<_> = std::iter::once(SYN_ACK).chain(pieces).collect();
    assert!(failure(run(&strict, &outbox).0).contains("payload: expected 2500 bytes, actual 1000"));
}

#[test]
fn segments_that_do_not_belong_together_are_not_joined() {
    let pieces = [(0, "> . 1:1001(1000) ack 1"), (0, "> . 1501:2501(1000) ack 1")];
    let text = failure(opened("+0 > . 1:2001(2000) ack 1", &pieces).0);
    assert!(text.contains("the packet ended early: seq: expected 1001, actual 1501"), "{text}");
    assert!(text.contains("script: ") && text.contains("then: "), "{text}");
}

#[test_case("+0 > . 1:1(0) ack 1", (0, "> P. 1:1(0) ack 1"), "flags: expected ., actual P."; "flags")]
#[test_case("+0 > . 1:1(0) ack 1", (0, "> . 2:2(0) ack 1"), "seq: expected 1, actual 2"; "sequence number")]
#[test_case("+0 > . 1:1(0) ack 1", (0, "> . 1:1(0) ack 2"), "ack: expected 1, actual 2"; "acknowledgement")]
#[test_case("+0 > . 1:1(0) ack 1 win 5", (0, "> . 1:1(0) ack 1 win 6"), "win: expected 5, actual 6"; "window")]
#[test_case("+0 > . 1:1(0) ack 1", (0, "> E. 1:1(0) ack 1"), "ECN flags as a number: expected 0, actual 1"; "ECE")]
#[test_case("+0 > [ect0] . 1:1(0) ack 1", (0, "> . 1:1(0) ack 1"), "ECN bits: expected 2, actual 0"; "a mark")]
#[test_case("+0 > . 1:1(0) ack 1 <mss 1,sackOK,nop,nop>", (0, "> . 1:1(0) ack 1 <mss 2,sackOK,nop,nop>"), "TCP option 1: expected mss 1, actual mss 2"; "an option's value")]
#[test_case("+0 > . 1:1(0) ack 1 <nop,nop,sackOK>", (0, "> . 1:1(0) ack 1 <sackOK,nop,nop>"), "TCP option 1: expected nop, actual sackOK"; "their order")]
#[test_case("+0 > . 1:1(0) ack 1", (0, "> . 1:1(0) ack 1 <nop,nop,sackOK>"), "bytes of TCP options: expected 0, actual 4"; "their absence")]
#[test_case("+0 > . 1:2(1) ack 1", (0, "> . 1:3(2) ack 1"), "payload: expected 1 bytes, actual 2"; "a longer packet")]
#[test_case("+.2 > . 1:1(0) ack 1", (100_000, "> . 1:1(0) ack 1"), "the packet expected at 0.3"; "too early")]
#[test_case("+.2~+.3 > . 1:1(0) ack 1", (350_000, "> . 1:1(0) ack 1"), "happened at 0.45"; "behind the range")]
fn a_wrong_packet_is_reported_with_both_in_the_scripts_notation(rest: &str, sent: (i64, &'static str), part: &str) {
    let text = failure(opened(rest, &[sent]).0);
    assert!(text.starts_with("8: "), "{text}");
    assert!(text.contains(part), "{text}");
    assert!(text.contains("\n  script: ") && text.contains("\n  actual: "), "{text}");
}

#[test_case("+.2 > . 1:1(0) ack 1", 203_000; "within the least tolerance")]
#[test_case("+2 > . 1:1(0) ack 1", 2_200_000; "within an eighth of the time since the event before")]
#[test_case("* > . 1:1(0) ack 1", 9_000_000; "at any time")]
#[test_case("+.1~+.3 > . 1:1(0) ack 1", 200_000; "in the range")]
#[test_case("+0 > . 1:1(0) ack 1 <...>", 0; "any options")]
fn a_packet_in_time_passes(rest: &str, after: i64) {
    let (outcome, _) = opened(rest, &[(after, "> . 1:1(0) ack 1")]);
    assert_eq!(outcome, Ok(()));
}

#[test]
fn a_packet_that_never_comes_fails_at_once() {
    let text = failure(opened("+0 > . 1:1(0) ack 1", &[]).0);
    assert!(text.contains("nothing will come") && text.contains("script: "), "{text}");
}

#[test]
fn an_echo_of_nothing_is_refused_unless_it_may_be_scaled() {
    let rest = "+0 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 3 ecr 150>\n";
    assert!(failure(opened(rest, &[]).0).contains("`ecr 150` is not a timestamp"));
    let (outcome, mock) = run(&format!("--tcp_ts_ecr_scaled\n{OPEN}{rest}"), &[SYN_ACK]);
    assert_eq!(outcome, Ok(()));
    let inner = mock.inner.lock().unwrap();
    assert!(inner.inbox[2].options().contains(&TcpOption::Timestamps { val: 3, ecr: TIMESTAMP + 50 }));
}

#[test]
fn timestamps_are_compared_when_their_tick_is_known() {
    let rest = "+0 > . 1:1(0) ack 1 <nop,nop,TS val 200 ecr 2>";
    let sent = (0, "> . 1:1(0) ack 1 <nop,nop,TS val 1 ecr 2>");
    assert_eq!(opened(rest, &[sent]).0, Ok(()));
    let text = failure(run(&format!("--tcp_ts_tick_usecs=1000\n{OPEN}{rest}"), &[SYN_ACK, sent]).0);
    assert!(text.contains("the timestamp is -99 ticks off"), "{text}");
}

#[test]
fn a_blocking_call_returns_while_the_script_goes_on() {
    let rest = "+0...0.25 read(4, ..., 100) = 10\n+.25 < P. 1:11(10) ack 1 win 257 <nop,nop,TS val 3 ecr 100>\n";
    assert_eq!(opened(rest, &[]).0, Ok(()));
    let late = rest.replace("0.25 read", "0.2 read");
    assert!(failure(opened(&late, &[]).0).contains("its return expected at 0.3"));
}

#[test]
fn a_blocking_call_that_never_returns_is_reported_at_the_end() {
    let text = failure(opened("+0...0.25 read(4, ..., 100) = 10\n", &[]).0);
    assert_eq!(text, "8: read: still blocked at the end of the script");
}

#[test_case("0 socket(..., SOCK_STREAM, 6) = 3\n+0 listen(3, 99) = 0", "2: listen: expected 0, returned -1 EINVAL")]
#[test_case(
    "0 socket(..., SOCK_STREAM, 6) = 3\n+0 listen(3, 99) = -1 EADDRINUSE (x)",
    "2: listen: expected errno EADDRINUSE, is EINVAL"
)]
#[test_case("0 socket(..., SOCK_STREAM, 6) = 3\n+0 close(4) = 0", "2: close: descriptor 4 is not open")]
#[test_case(
    "0 socket(..., SOCK_STREAM, 6) = 3\n+0 socket(..., SOCK_STREAM, 6) = 3",
    "2: socket: descriptor 3 (100) while 3 (100) is open"
)]
#[test_case("0 frobnicate(3) = 0", "1: frobnicate: the call `frobnicate` is not supported")]
#[test_case("0 socket(..., SOCK_NONSENSE, 6) = 3", "1: socket: argument 2: unknown symbol `SOCK_NONSENSE`")]
#[test_case(
    "0 socket(..., SOCK_STREAM, 6) = 3\n+0 getsockopt(3, SOL_TCP, TCP_MAXSEG, [8], [4]) = 0",
    "2: getsockopt: optval: expected 8, actual 7"
)]
#[test_case("0.5 close(3) = 0", "1: the first event is at time 0")]
#[test_case("0 socket(..., SOCK_STREAM, 6) = 3\n1 close(3) = 0\n0.5 close(3) = 0", "3: time goes backwards")]
#[test_case("0 socket(..., SOCK_STREAM, 6) = 3\n+0 `exit 3`", "2: the command failed (exit status: 3): ")]
#[test_case("`exit 3`\n0 socket(..., SOCK_STREAM, 6) = 3", "1: the command failed (exit status: 3): ")]
#[test_case(
    "0 socket(..., SOCK_STREAM, 6) = 3\n+0 %{ x = 1\nassert tcpi_snd_cwnd == 11 }%",
    "3: assertion failed (tcpi_snd_cwnd = 10)"
)]
#[test_case("0 > . 1:1(0)", "1: no socket that the packet could belong to")]
fn a_failure_names_its_line(text: &str, expected: &str) {
    assert_eq!(failure(run(text, &[]).0), expected);
}

#[test]
fn a_clock_that_stands_still_is_reported_and_ends_the_wait() {
    let mock = Arc::new(Mock::default());
    mock.inner.lock().unwrap().stopped = true;
    let text = failure(run_on(&mock, "0 socket(..., SOCK_STREAM, 6) = 3"));
    assert_eq!(text, "1: socket: the stack's clock stands still 250 us before the call");
}

#[test]
fn a_code_block_sees_what_the_options_say() {
    let text =
        format!("{LISTEN}+0 %{{ assert tcpi_snd_cwnd == 10 and tcpi_snd_wscale == 7 and tcpi_rcv_wscale == 8 }}%");
    assert_eq!(run(&text, &[]).0, Ok(()));
}

#[test]
fn the_cleanup_command_runs_after_a_failure_too() {
    let file = std::env::temp_dir().join(format!("longhaul-drill-{}", std::process::id()));
    let text = format!("0 socket(..., SOCK_STREAM, 6) = 3\n+0 close(4) = 0\n`touch {}`", file.display());
    assert!(run(&text, &[]).0.is_err());
    assert!(file.exists());
    std::fs::remove_file(file).unwrap();
}
