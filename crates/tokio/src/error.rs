//! How a connection's end becomes an [`io::Error`]: of the kind that a kernel gives, with our reason as its source.

use datagram::{BindError, SendError};
use std::io;
use tcp::{CloseReason, ConnectError, IcmpError, ListenError, ReadError, RequestError, WriteError};
use wire::Unreachable;

/// Why a connection can no longer be used: the source of an [`io::Error`] of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectionEnded(pub CloseReason);

/// The driver has ended, so that nothing more can come or leave: the source of an [`io::Error`] of kind `NotConnected`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stack's driver has ended")]
pub struct DriverGone;

/// Returns why the connection ended of which a stream's error speaks.
pub fn close_reason(error: &io::Error) -> Option<CloseReason> {
    error.get_ref()?.downcast_ref::<ConnectionEnded>().map(|ended| ended.0)
}

pub(crate) fn driver_gone() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, DriverGone)
}

/// Returns the error of a connection that ended for `reason`.
pub(crate) fn ended(reason: CloseReason) -> io::Error {
    io::Error::new(kind(reason), ConnectionEnded(reason))
}

fn kind(reason: CloseReason) -> io::ErrorKind {
    match reason {
        CloseReason::Normal => io::ErrorKind::BrokenPipe,
        CloseReason::Refused => io::ErrorKind::ConnectionRefused,
        CloseReason::Reset => io::ErrorKind::ConnectionReset,
        CloseReason::Aborted => io::ErrorKind::ConnectionAborted,
        CloseReason::TimedOut => io::ErrorKind::TimedOut,
        CloseReason::Icmp(error) => match error {
            IcmpError::Unreachable(Unreachable::Port) => io::ErrorKind::ConnectionRefused,
            IcmpError::Unreachable(Unreachable::Network | Unreachable::NetworkUnknown) => {
                io::ErrorKind::NetworkUnreachable
            }
            _ => io::ErrorKind::HostUnreachable,
        },
        _ => io::ErrorKind::Other,
    }
}

pub(crate) fn of_read(error: ReadError) -> io::Error {
    match error {
        ReadError::Closed(reason) => ended(reason),
        _ => io::ErrorKind::NotConnected.into(),
    }
}

pub(crate) fn of_write(error: WriteError) -> io::Error {
    match error {
        WriteError::Closed(reason) => ended(reason),
        WriteError::Shutdown => io::ErrorKind::BrokenPipe.into(),
        _ => io::ErrorKind::NotConnected.into(),
    }
}

pub(crate) fn of_connect(error: ConnectError) -> io::Error {
    let kind = match error {
        ConnectError::InvalidRemote => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::AddrNotAvailable,
    };
    io::Error::new(kind, error)
}

pub(crate) fn of_listen(error: ListenError) -> io::Error {
    let kind = match error {
        ListenError::ZeroPort => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::AddrInUse,
    };
    io::Error::new(kind, error)
}

pub(crate) fn of_request(error: RequestError) -> io::Error {
    let kind = match error {
        RequestError::Gone => io::ErrorKind::TimedOut,
        RequestError::InUse => io::ErrorKind::AddrInUse,
        _ => io::ErrorKind::OutOfMemory,
    };
    io::Error::new(kind, error)
}

pub(crate) fn of_bind(error: BindError) -> io::Error {
    let kind = match error {
        BindError::InUse => io::ErrorKind::AddrInUse,
        BindError::NotOwn | BindError::NoPorts => io::ErrorKind::AddrNotAvailable,
        BindError::FlowsFull => io::ErrorKind::OutOfMemory,
        BindError::BadPeer => io::ErrorKind::InvalidInput,
    };
    io::Error::new(kind, error)
}

pub(crate) fn of_send(error: SendError) -> io::Error {
    let kind = match error {
        SendError::Full => io::ErrorKind::WouldBlock,
        SendError::TooLarge { .. } | SendError::BadDestination => io::ErrorKind::InvalidInput,
        SendError::Gone => io::ErrorKind::TimedOut,
        SendError::NoAddress => io::ErrorKind::AddrNotAvailable,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case(CloseReason::Refused => io::ErrorKind::ConnectionRefused)]
    #[test_case(CloseReason::Reset => io::ErrorKind::ConnectionReset)]
    #[test_case(CloseReason::Aborted => io::ErrorKind::ConnectionAborted)]
    #[test_case(CloseReason::TimedOut => io::ErrorKind::TimedOut)]
    #[test_case(CloseReason::Normal => io::ErrorKind::BrokenPipe)]
    #[test_case(CloseReason::Icmp(IcmpError::Unreachable(Unreachable::Host)) => io::ErrorKind::HostUnreachable)]
    #[test_case(CloseReason::Icmp(IcmpError::Unreachable(Unreachable::Network)) => io::ErrorKind::NetworkUnreachable)]
    #[test_case(CloseReason::Icmp(IcmpError::Unreachable(Unreachable::Port)) => io::ErrorKind::ConnectionRefused)]
    #[test_case(CloseReason::Icmp(IcmpError::TimeExceeded) => io::ErrorKind::HostUnreachable)]
    fn an_end_has_the_kind_that_a_kernel_gives_and_names_its_reason(reason: CloseReason) -> io::ErrorKind {
        let error = of_read(ReadError::Closed(reason));
        assert_eq!(close_reason(&error), Some(reason));
        assert_eq!(error.to_string(), reason.to_string());
        error.kind()
    }
}
