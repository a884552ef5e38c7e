//! The script language: the parsed form of a script, before anything runs.
//!
//! The language is packetdrill's, so that existing scripts run unchanged. Nothing here depends on the options of a run: a packet
//! is stored in script notation and becomes bytes only when the engine knows the IP version.

mod cursor;
mod events;
mod expr;
mod options;
mod packets;

pub use cursor::ParseError;
pub use events::parse;
pub use options::TcpOption;
pub use packets::{Direction, EchoedSegment, Icmp, IpFields, PacketSpec, Tcp, TcpFlags, TosCheck, Transport};

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// `--name=value` lines at its head, in order.
    pub options: Vec<ScriptOption>,
    /// Shell command before time zero.
    pub init: Option<Command>,
    /// What happens, in order.
    pub events: Vec<Event>,
    /// Shell command after the last event, run whether the script passed or not.
    pub cleanup: Option<Command>,
}

/// One `--name=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptOption {
    /// Without the dashes.
    pub name: String,
    /// What follows `=`; a flag has none.
    pub value: Option<String>,
    /// Line in the script.
    pub line: u32,
}

/// A shell command in backticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The text between the backticks.
    pub text: String,
    /// Line on which it begins.
    pub line: u32,
}

/// One timed line.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line of its time.
    pub line: u32,
    /// When.
    pub time: EventTime,
    /// What.
    pub action: Action,
}

/// When an event happens, in microseconds of script time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventTime {
    /// Since the first event.
    Absolute(i64),
    /// Since the previous event.
    Relative(i64),
    /// Between two moments since the first event (outbound packets only).
    AbsoluteRange(i64, i64),
    /// Between two moments since the previous event (outbound packets only).
    RelativeRange(i64, i64),
    /// Whenever (outbound packets only).
    Any,
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Injects a packet, or expects one.
    Packet(PacketSpec),
    /// Makes a system call.
    Call(CallSpec),
    /// Runs a shell command.
    Command(Command),
    /// Evaluates statements over the connection's `TCP_INFO`.
    Code(String),
}

/// A system call with its expected result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSpec {
    /// When a blocking call returns, in microseconds (relative if the event's time is relative).
    /// `None`: the call does not block.
    pub end: Option<i64>,
    /// Name of the call.
    pub name: String,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Expected return value.
    pub result: Expr,
    /// Expected `errno`, by name.
    pub errno: Option<String>,
}

/// An argument or result.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `...`: whatever the engine fills in.
    Ellipsis,
    /// A number.
    Int(i64),
    /// A name, resolved when the call is made.
    Word(String),
    /// A string's bytes, escapes resolved.
    Str(Vec<u8>),
    /// `a | b`.
    Or(Box<Expr>, Box<Expr>),
    /// `name(arguments)`: `htons(8080)`, `inet_addr("…")`.
    Apply(String, Vec<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b = c, d(e) = f}`.
    Braces(Vec<Field>),
}

/// One item between braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `name` in `name = value`; absent for a bare value.
    pub name: Option<String>,
    /// The argument of `name(argument) = value`.
    pub length: Option<Expr>,
    /// The value.
    pub value: Expr,
}

#[cfg(test)]
mod tests;
