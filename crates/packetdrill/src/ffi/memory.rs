//! Pointers into slices, addresses into octets.
//!
//! # Safety
//! Each function relies on its caller that a pointer to memory of this process has room for, or holds, what the length beside
//! it says. A pointer elsewhere, null above all, is taken for nothing when the length is zero and for `EFAULT` otherwise.

use crate::socket::{Address, encode};
use libc::{c_int, c_void, iovec, sockaddr, socklen_t};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::slice;

/// Most pieces of one call (`UIO_MAXIOV`).
const MOST_PIECES: usize = 1_024;

/// An octet of each page is looked at.
const PAGE: usize = 4_096;

/// Whether the memory is there, as far as the kernel says: it looks without faulting.
fn is_there(at: usize, len: usize) -> bool {
    let Some(last) = at.checked_add(len.saturating_sub(1)) else { return false };
    let first_of_pages = (at / PAGE + 1..=last / PAGE).map(|page| page * PAGE);
    let looks: Vec<usize> = std::iter::once(at).chain(first_of_pages).collect();
    looks.chunks(MOST_PIECES).all(|looks| {
        let mut found = [0_u8; MOST_PIECES];
        let into = iovec { iov_base: found.as_mut_ptr().cast(), iov_len: looks.len() };
        let octet = |at: &usize| iovec { iov_base: std::ptr::without_provenance_mut(*at), iov_len: 1 };
        let from: Vec<iovec> = looks.iter().map(octet).collect();
        // SAFETY: `into` has room for an octet each; the other addresses are the kernel's to judge.
        let read = unsafe {
            let count = from.len() as libc::c_ulong;
            libc::process_vm_readv(libc::getpid(), &raw const into, 1, from.as_ptr(), count, 0)
        };
        // A machine that forbids looking leaves the caller's word.
        read == looks.len() as isize || (read < 0 && matches!(Errno::last(), Errno::ENOSYS | Errno::EPERM))
    })
}

pub(super) unsafe fn octets<'a>(from: *const c_void, len: usize) -> Result<&'a [u8], Errno> {
    match len {
        0 => Ok(&[]),
        _ if !is_there(from.addr(), len) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(from.cast(), len) }),
    }
}

/// Like [`octets`], to be written to.
pub(super) unsafe fn room<'a, T>(at: *mut T, len: usize) -> Result<&'a mut [T], Errno> {
    match len {
        0 => Ok(&mut []),
        _ if !is_there(at.addr(), len.saturating_mul(size_of::<T>())) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise; nothing else refers to the caller's buffer during the call.
        _ => Ok(unsafe { slice::from_raw_parts_mut(at, len) }),
    }
}

unsafe fn vectors<'a>(at: *const iovec, count: usize) -> Result<&'a [iovec], Errno> {
    match count {
        0 => Ok(&[]),
        count if count > MOST_PIECES => Err(Errno::EINVAL),
        _ if !is_there(at.addr(), count * size_of::<iovec>()) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(at, count) }),
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
