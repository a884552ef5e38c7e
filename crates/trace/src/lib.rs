//! The event vocabulary and the observer seam. No I/O, no serialisation library.
//!
//! Events speak the wire's language. Every `by` and `cause` answers *why*, which is what a trace is read for.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

mod digest;
mod event;
mod flag_letters;
mod labels;
mod observer;
mod packet;
mod schema;
mod text;

pub use digest::Digest;
pub use event::{Event, Listener, VERSION, VOCABULARY};
pub use labels::{
    BlockClass, Detector, DropCause, DropReason, Episode, EpisodeCause, ExitCause, FlagLetters, Hop, Limit, Moved,
    Phase, Proof, SendCause, State, TimerKind,
};
pub use observer::{ConnId, Observer, Off};
pub use packet::{PacketPayload, PacketSent};
pub use schema::{EventInfo, FieldInfo, Kind, Value};
pub use text::{TextSink, write_line};
