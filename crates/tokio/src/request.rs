//! Requests for connections, which the application decides before anything is answered.

use crate::error;
use crate::shared::Handle;
use crate::stream::TcpStream;
use std::io;
use std::net::SocketAddr;
use tcp::{FourTuple, Request, ValidConfig};
use wire::Unreachable;

/// A peer's wish to connect. Nothing was answered yet: a proxy can connect to the destination first, and accept or refuse after that.
/// The peer's repetitions are absorbed meanwhile; after a minute without a decision the request is forgotten.
///
/// Dropping it ignores it, as a host does that is not there. The peer asks again.
///
/// A late one ([`crate::StackBuilder::late_requests`]) is connected already: refused, unreachable or dropped, it is reset.
#[derive(Debug)]
#[must_use = "a request that is dropped is ignored, and its peer waits for an answer until it gives up"]
pub struct TcpRequest {
    handle: Handle,
    request: Request,
    tuple: FourTuple,
}

impl TcpRequest {
    pub(crate) fn new(handle: Handle, request: Request, tuple: FourTuple) -> Self {
        Self { handle, request, tuple }
    }

    /// Returns who asks.
    pub fn source(&self) -> SocketAddr {
        SocketAddr::new(self.tuple.remote, self.tuple.remote_port)
    }

    /// Returns where the peer wants to connect to.
    pub fn destination(&self) -> SocketAddr {
        SocketAddr::new(self.tuple.local, self.tuple.local_port)
    }

    /// Returns whether the peer is connected already.
    pub fn is_late(&self) -> bool {
        self.handle.with(|inner| inner.runner.stack().is_late_request(self.request))
    }

    /// Accepts with the stack's own configuration: the SYN-ACK leaves now. The stream can be used at once; reads and writes wait for the
    /// end of the handshake.
    ///
    /// # Errors
    /// `TimedOut` if the request waited too long, `AddrInUse` if a connection with its addresses exists, `OutOfMemory` if the stack's
    /// budget is spent.
    pub fn accept(self) -> io::Result<TcpStream> {
        let config = self.handle.with(|inner| inner.config.clone());
        self.accept_with(&config)
    }

    /// Accepts with a configuration of its own.
    ///
    /// # Errors
    /// As for [`Self::accept`].
    pub fn accept_with(self, config: &ValidConfig) -> io::Result<TcpStream> {
        let accepted = self.handle.with(|inner| inner.call(|stack, at| stack.accept_request(at, self.request, config)));
        let conn = accepted.map_err(error::of_request)?;
        Ok(TcpStream::new(self.handle.clone(), conn, self.tuple))
    }

    /// Refuses with a reset, as a closed port does.
    pub fn refuse(self) {
        self.handle.with(|inner| inner.call(|stack, at| stack.refuse_request(at, self.request)));
    }

    /// Reports by ICMP, in the destination's name, that it cannot be reached.
    pub fn unreachable(self, why: Unreachable) {
        self.handle.with(|inner| inner.call(|stack, at| stack.report_unreachable(at, self.request, why)));
    }

    /// Ignores the request; the same as dropping it.
    pub fn ignore(self) {}
}

impl Drop for TcpRequest {
    fn drop(&mut self) {
        // Without effect after a decision.
        self.handle.with(|inner| inner.call(|stack, at| stack.ignore_request(at, self.request)));
    }
}
