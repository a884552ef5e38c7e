//! A sans-I/O TCP: endpoints, and the host stack that owns them.
//!
//! The core is a pure function of (state, now, input). Time and randomness come in with each call ([`Cx`]), bytes with
//! frames; what leaves, leaves through [`turn`], the one loop body that virtual time, a real device and conformance
//! scripts share.
//!
//! An [`Endpoint`]'s methods fall into four families: constructors consume the configuration once; `handle_*` takes input from
//! the network and the clock; `write`, `read`, `shutdown`, `abort` take the application's requests; `poll_*` returns output, and
//! is to be called until `None`. Input from the network never fails: it yields a [`Disposition`] and a counter.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

mod chunked;
pub mod config;
mod cx;
mod endpoint;
mod event;
mod info;
mod options;
mod pattern;
mod recv;
mod send;
mod stack;
#[cfg(test)]
mod testing;
mod timers;
mod timestamps;
mod turn;

pub use cc::{Resumption, SavedPath};
pub use config::{Config, ConfigError, ValidConfig};
pub use cx::{Cx, StackCx};
pub use endpoint::{
    Boundary, Endpoint, FinProgress, FourTuple, Origin, Queues, Segment, Source, State, Transmit, TxBuf,
};
pub use event::{CloseReason, ConnEvent, Disposition, DropReason, IcmpError, Read, ReadError, UrgentError, WriteError};
pub use info::{CongestionState, Counters, Details, EcnInfo, FlightSegments, RateLimit, ReceiveMemory, TcpInfo};
pub use pattern::{Payload, fill_pattern, pattern_byte};
pub use recv::AckPace;
pub use stack::{
    Conn, ConnectError, Destinations, DeviceCaps, FastOpenError, FastOpenKeys, GuardCounters, GuardedUsage,
    LateRequests, ListenError, ListenOn, LocalEnd, Request, RequestConfig, RequestCounters, RequestError, Segmentation,
    Shards, Stack, StackConfig, StackCounters, StackEvent, TxChecksum,
};
pub use timers::TimerKind;
pub use turn::{Budget, ChecksumState, RxFrame, Sent, Timers, TurnResult, TxFrame, turn};
