//! A call under way, and what is left to do and to compare when it has returned.

use super::message::Expected;
use crate::engine::clock::Due;
use crate::stack::EpollEvent;

/// A call under way.
#[derive(Debug)]
pub struct Pending {
    /// Its line in the script.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// When it is to return, if it blocks.
    pub end: Option<Due>,
    /// When it began.
    pub begin: i64,
    /// What it is to return.
    pub result: i32,
    /// The error it is to report, where the script says so.
    pub errno: Option<i32>,
    /// What follows when it has returned.
    pub after: After,
}

/// What is left to do and to compare when a call has returned.
#[derive(Debug)]
pub enum After {
    /// Nothing but the result.
    Nothing,
    /// A descriptor was made: of a socket (of this protocol) or of something else.
    Descriptor(Option<i32>),
    /// A connection was taken from this listener.
    Accepted,
    /// A socket listens.
    Listening(i32),
    /// A descriptor was closed.
    Closed(i32),
    /// Two descriptors were made.
    Pipe([i32; 2]),
    /// An integer came back.
    Value(i32),
    /// An option came back: its length, and its bytes unless they do not matter.
    Option(u32, Option<Vec<u8>>),
    /// Events of descriptors came back.
    Polled(Vec<i16>),
    /// An event and the user's data came back; the data is as wide as said, in bits.
    Epoll(EpollEvent, u32),
    /// A message came back.
    Message(Expected),
}
