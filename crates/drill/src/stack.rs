//! What the engine needs from a stack under test: socket calls, packets in both directions, and its clock.
//!
//! A call carries its memory with it, so that it can be handed to the thread of blocking calls whole and come back with
//! what the stack wrote.

use std::fmt::Debug;

/// A stack under test, called from two threads.
pub trait Stack: Debug + Send + Sync {
    /// Makes a call; results in memory are stored in `call`.
    fn perform(&self, call: &mut Call) -> Returned;

    /// Hands the stack a packet.
    ///
    /// # Errors
    /// That it did not take it.
    fn send(&self, packet: &[u8]) -> Result<(), String>;

    /// The stack's next packet and the time it left, in microseconds of [`Stack::now`]. A stack in real time stops waiting at
    /// `deadline`; one in virtual time knows when no packet will come.
    ///
    /// # Errors
    /// That none will come.
    fn receive(&self, deadline: i64) -> Result<(Vec<u8>, i64), String>;

    /// Lets time pass, microseconds.
    fn sleep(&self, usecs: u32);

    /// The time, microseconds since 1970.
    fn now(&self) -> i64;
}

/// What a call gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned {
    /// Return value.
    pub value: i64,
    /// `errno` after it, whatever the value.
    pub errno: i32,
}

/// `struct pollfd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollFd {
    /// Descriptor.
    pub fd: i32,
    /// Asked for.
    pub events: i16,
    /// Answered.
    pub revents: i16,
}

/// `struct epoll_event`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EpollEvent {
    /// Events.
    pub events: u32,
    /// The user's data.
    pub data: u64,
}

/// `struct msghdr`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Address, or room for one.
    pub name: Vec<u8>,
    /// Buffers.
    pub buffers: Vec<Vec<u8>>,
    /// Control data, or room for it; truncated to what was written.
    pub control: Vec<u8>,
    /// Flags, written by `recvmsg`.
    pub flags: i32,
}

/// A system call with its memory. Fields have the names from the manual pages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the call of its name, each field its argument")]
pub enum Call {
    Socket { domain: i32, kind: i32, protocol: i32 },
    Bind { fd: i32, address: Vec<u8> },
    Listen { fd: i32, backlog: i32 },
    Accept { fd: i32, address: Vec<u8> },
    Connect { fd: i32, address: Vec<u8> },
    Read { fd: i32, buffer: Buffer },
    Readv { fd: i32, buffers: Vec<Vec<u8>> },
    Recv { fd: i32, buffer: Buffer, flags: i32 },
    Recvfrom { fd: i32, buffer: Buffer, flags: i32, address: Vec<u8> },
    Recvmsg { fd: i32, message: Message, flags: i32 },
    Write { fd: i32, buffer: Buffer },
    Writev { fd: i32, buffers: Vec<Vec<u8>> },
    Send { fd: i32, buffer: Buffer, flags: i32 },
    Sendto { fd: i32, buffer: Buffer, flags: i32, address: Vec<u8> },
    Sendmsg { fd: i32, message: Message, flags: i32 },
    Fcntl { fd: i32, command: i32, argument: Option<i32> },
    Ioctl { fd: i32, request: u64, value: Option<i32> },
    Close { fd: i32 },
    Shutdown { fd: i32, how: i32 },
    Getsockopt { fd: i32, level: i32, name: i32, value: Vec<u8>, length: u32 },
    Setsockopt { fd: i32, level: i32, name: i32, value: Vec<u8>, length: u32 },
    Poll { fds: Vec<PollFd>, timeout: i32 },
    EpollCreate { size: i32 },
    EpollCtl { epfd: i32, op: i32, fd: i32, event: EpollEvent },
    EpollWait { epfd: i32, events: Vec<EpollEvent>, timeout: i32 },
    Pipe { fds: [i32; 2] },
    Splice { fd_in: i32, fd_out: i32, length: usize, flags: u32 },
    Open { path: Vec<u8>, flags: i32 },
    Sendfile { fd_out: i32, fd_in: i32, offset: i64, length: usize },
}

/// The memory of a call that reads or writes: that many zeros, or a null pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// That many bytes.
    Bytes(Vec<u8>),
    /// A null pointer with a length.
    Null(usize),
}
