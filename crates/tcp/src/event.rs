//! Events of an endpoint for its application, and the fate of an arriving segment.

use core::fmt;
pub use trace::DropReason;

/// An event that the application may want to handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnEvent {
    /// The handshake is complete.
    Connected,
    /// There is data to read: bytes or the end of the stream.
    Readable,
    /// A write that was cut short may continue.
    Writable,
    /// The peer has marked urgent data that is unread or will arrive (RFC 9293 MUST-32).
    Urgent,
    /// The same data was retransmitted `retries.notify` times without an acknowledgement (RFC 9293 §3.8.3: R1). The connection
    /// continues.
    Unresponsive,
    /// The network reported an error on the path (RFC 9293 MUST-47). The connection continues, but may end soon.
    Icmp(IcmpError),
    /// The peer has acknowledged our FIN, and with it everything that was written.
    FinAcknowledged,
    /// The connection has ended; no event follows.
    Closed(CloseReason),
}

/// The network's report about one of our segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// It cannot be delivered.
    Unreachable(wire::Unreachable),
    /// It exceeded its lifetime in transit.
    TimeExceeded,
    /// A router could not process its IP header.
    ParameterProblem,
}

impl IcmpError {
    /// Returns the error as text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable(why) => why.name(),
            Self::TimeExceeded => "time exceeded in transit",
            Self::ParameterProblem => "parameter problem",
        }
    }
}

/// How a connection ended (RFC 9293 MUST-12: a normal close is distinguished from an abort).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// Both directions were closed and acknowledged.
    Normal,
    /// The peer refused the connection attempt.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The application aborted it.
    Aborted,
    /// The peer stopped answering: R2, the user timeout, or keep-alive (RFC 9293 §3.8.3, §3.8.4).
    TimedOut,
    /// The peer was unreachable: the network ended a connection attempt, or the peer stopped answering after the network had
    /// reported this error.
    Icmp(IcmpError),
}

impl CloseReason {
    /// Returns the reason as text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "closed",
            Self::Refused => "connection refused",
            Self::Reset => "connection reset by peer",
            Self::Aborted => "aborted locally",
            Self::TimedOut => "timed out",
            Self::Icmp(error) => error.name(),
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an arriving segment was handled. Not an error: input from the network cannot cause one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Processed.
    Accepted,
    /// Not processed, but answered with an ACK that lets a legitimate peer correct itself (RFC 5961).
    Challenge(DropReason),
    /// Not processed.
    Dropped(DropReason),
}

/// Result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// This many bytes; zero means that none have arrived.
    Data(u64),
    /// The peer closed its direction and everything has been read.
    Fin,
}

/// Why nothing can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The connection ended abnormally.
    Closed(CloseReason),
    /// The connection does not exist.
    NoConnection,
}

/// Why nothing can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// This direction was closed by `shutdown`.
    Shutdown,
    /// The connection ended.
    Closed(CloseReason),
    /// The connection does not exist.
    NoConnection,
}

/// Why an urgent byte is not available out of band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrgentError {
    /// No mark lies ahead, or its byte was fetched, or is in the stream.
    NoneAhead,
    /// It has not arrived.
    NotYet,
    /// The connection does not exist.
    NoConnection,
}

impl fmt::Display for UrgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoneAhead => "no urgent byte is kept out of the stream",
            Self::NotYet => "the urgent byte has not arrived",
            Self::NoConnection => "no such connection",
        })
    }
}
impl core::error::Error for UrgentError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => write!(f, "cannot read: {reason}"),
            Self::NoConnection => f.write_str("cannot read: no such connection"),
        }
    }
}
impl core::error::Error for ReadError {}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shutdown => f.write_str("cannot write: this direction is shut down"),
            Self::Closed(reason) => write!(f, "cannot write: {reason}"),
            Self::NoConnection => f.write_str("cannot write: no such connection"),
        }
    }
}
impl core::error::Error for WriteError {}
