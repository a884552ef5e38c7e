//! Pointers into slices, addresses into octets.
//!
//! # Safety
//! Each function relies on its caller that a pointer which is not null has room for, or holds, what the length beside it
//! says. A null pointer is taken for nothing when the length is zero and for `EFAULT` otherwise.

use crate::socket::{Address, encode};
use libc::{c_int, c_void, iovec, sockaddr, socklen_t};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::slice;

/// Most pieces of one call (`UIO_MAXIOV`).
const MOST_PIECES: usize = 1_024;

pub(super) unsafe fn octets<'a>(from: *const c_void, len: usize) -> Result<&'a [u8], Errno> {
    match (from.is_null(), len) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { slice::from_raw_parts(from.cast(), len) }),
    }
}

/// Like [`octets`], to be written to.
pub(super) unsafe fn room<'a, T>(at: *mut T, len: usize) -> Result<&'a mut [T], Errno> {
    match (at.is_null(), len) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise; nothing else refers to the caller's buffer during the call.
        (false, _) => Ok(unsafe { slice::from_raw_parts_mut(at, len) }),
    }
}

unsafe fn vectors<'a>(at: *const iovec, count: usize) -> Result<&'a [iovec], Errno> {
    match (at.is_null(), count) {
        (_, 0) => Ok(&[]),
        (_, count) if count > MOST_PIECES => Err(Errno::EINVAL),
        (true, _) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { slice::from_raw_parts(at, count) }),
    }
}

pub(super) fn vector_count(count: c_int) -> Result<usize, Errno> {
    usize::try_from(count).map_err(|_| Errno::EINVAL)
}

/// The pieces of a gathering call.
pub(super) unsafe fn pieces<'a>(at: *const iovec, count: usize) -> Result<Vec<&'a [u8]>, Errno> {
    // SAFETY: the caller's promise, for the vector and for each of its pieces.
    unsafe { vectors(at, count)?.iter().map(|piece| octets(piece.iov_base, piece.iov_len)).collect() }
}

/// The pieces of a scattering call.
pub(super) unsafe fn rooms<'a>(at: *const iovec, count: usize) -> Result<Vec<&'a mut [u8]>, Errno> {
    // SAFETY: the caller's promise, for the vector and for each of its pieces.
    unsafe { vectors(at, count)?.iter().map(|piece| room(piece.iov_base.cast(), piece.iov_len)).collect() }
}

/// The address a caller gives.
pub(super) unsafe fn address(at: *const sockaddr, len: socklen_t) -> Result<Address, Errno> {
    // SAFETY: the caller's promise.
    Address::read(unsafe { octets(at.cast(), len as usize)? })
}

/// Leaves an address with the caller, as much of it as there is room for, and its length. Whoever gives no room wants none.
pub(super) unsafe fn put_address(peer: SocketAddr, at: *mut sockaddr, len: *mut socklen_t) -> Result<(), Errno> {
    if at.is_null() || len.is_null() {
        return Ok(());
    }
    let octets = encode(peer);
    // SAFETY: the caller's promise.
    let (room, len) = unsafe { (room(at.cast::<u8>(), *len as usize)?, &mut *len) };
    let fits = room.len().min(octets.len());
    room[..fits].copy_from_slice(&octets[..fits]);
    *len = octets.len() as socklen_t;
    Ok(())
}
