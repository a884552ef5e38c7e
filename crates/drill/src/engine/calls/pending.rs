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
    /// When the call should return, if it blocks.
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

/// What remains to be done and compared once a call has returned.
#[derive(Debug)]
pub enum After {
    /// Only the return value.
    Nothing,
    /// The call created a descriptor: of a socket (of this protocol) or of something else.
    Descriptor(Option<i32>),
    /// The call accepted a connection from this listener.
    Accepted,
    /// A socket listens.
    Listening(i32),
    /// A descriptor was closed.
    Closed(i32),
    /// The call created two descriptors.
    Pipe([i32; 2]),
    /// An integer came back.
    Value(i32),
    /// The call returned an option: its length, and its bytes unless they do not matter.
    Option(u32, Option<Vec<u8>>),
    /// The call returned events of descriptors.
    Polled(Vec<i16>),
    /// The call returned an event and the user's data; the number is the width of the data in bits.
    Epoll(EpollEvent, u32),
    /// A message came back.
    Message(Expected),
}
