//! Conversions from pointers to slices, and from addresses to bytes.
//!
//! # Safety
//! Each function relies on the caller's promise that a pointer to memory of this process has room for, or holds, as much as the
//! accompanying length says. An invalid pointer, in particular null, counts as empty when the length is zero and gives `EFAULT`
//! otherwise.

use crate::socket::{Address, encode};
use libc::{c_int, c_void, iovec, sockaddr, socklen_t};
use nix::errno::Errno;
use std::net::SocketAddr;
use std::slice;

/// Most buffers one call may pass (`UIO_MAXIOV`).
const MOST_PIECES: usize = 1_024;

/// One byte of each page is probed.
const PAGE: usize = 4_096;

/// Whether the memory is mapped, according to the kernel, which checks without faulting.
fn is_there(at: usize, len: usize) -> bool {
    if cfg!(miri) {
        // Miri has no kernel to ask, and checks every access itself.
        return at != 0;
    }
    let Some(last) = at.checked_add(len.saturating_sub(1)) else { return false };
    let first_of_pages = (at / PAGE + 1..=last / PAGE).map(|page| page * PAGE);
    let looks: Vec<usize> = std::iter::once(at).chain(first_of_pages).collect();
    looks.chunks(MOST_PIECES).all(|looks| {
        let mut found = [0_u8; MOST_PIECES];
        let into = iovec { iov_base: found.as_mut_ptr().cast(), iov_len: looks.len() };
        let byte = |at: &usize| iovec { iov_base: std::ptr::without_provenance_mut(*at), iov_len: 1 };
        let from: Vec<iovec> = looks.iter().map(byte).collect();
        // SAFETY: `into` has room for one byte each; the kernel validates the other addresses.
        let read = unsafe {
            let count = from.len() as libc::c_ulong;
            libc::process_vm_readv(libc::getpid(), &raw const into, 1, from.as_ptr(), count, 0)
        };
        // Where the machine forbids the check, the caller is trusted.
        read == looks.len() as isize || (read < 0 && matches!(Errno::last(), Errno::ENOSYS | Errno::EPERM))
    })
}

pub(super) unsafe fn bytes<'a>(from: *const c_void, len: usize) -> Result<&'a [u8], Errno> {
    match len {
        0 => Ok(&[]),
        _ if !is_there(from.addr(), len) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { slice::from_raw_parts(from.cast(), len) }),
    }
}

/// Like [`bytes`], but writable.
pub(super) unsafe fn room<'a, T>(at: *mut T, len: usize) -> Result<&'a mut [T], Errno> {
    match len {
        0 => Ok(&mut []),
        _ if !is_there(at.addr(), len.saturating_mul(size_of::<T>())) => Err(Errno::EFAULT),
        // SAFETY: the caller's promise; no other reference to the caller's buffer exists during the call.
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

/// The buffers of a gathering call (`writev` and the like).
pub(super) unsafe fn pieces<'a>(at: *const iovec, count: usize) -> Result<Vec<&'a [u8]>, Errno> {
    // SAFETY: the caller's promise, for the vector and for each of its pieces.
    unsafe { vectors(at, count)?.iter().map(|piece| bytes(piece.iov_base, piece.iov_len)).collect() }
}

/// The buffers of a scattering call (`readv` and the like).
pub(super) unsafe fn rooms<'a>(at: *const iovec, count: usize) -> Result<Vec<&'a mut [u8]>, Errno> {
    // SAFETY: the caller's promise, for the vector and for each of its pieces.
    unsafe { vectors(at, count)?.iter().map(|piece| room(piece.iov_base.cast(), piece.iov_len)).collect() }
}

/// The address a caller gives.
pub(super) unsafe fn address(at: *const sockaddr, len: socklen_t) -> Result<Address, Errno> {
    // SAFETY: the caller's promise.
    Address::read(unsafe { bytes(at.cast(), len as usize)? })
}

/// Writes an address into the caller's buffer, truncated to its room, and the address's length. Null room means the caller wants
/// none.
pub(super) unsafe fn put_address(peer: SocketAddr, at: *mut sockaddr, len: *mut socklen_t) -> Result<(), Errno> {
    if at.is_null() || len.is_null() {
        return Ok(());
    }
    let bytes = encode(peer);
    // SAFETY: the caller's promise.
    let (room, len) = unsafe { (room(at.cast::<u8>(), *len as usize)?, &mut *len) };
    let fits = room.len().min(bytes.len());
    room[..fits].copy_from_slice(&bytes[..fits]);
    *len = bytes.len() as socklen_t;
    Ok(())
}

#[cfg(test)]
mod tests {
    //! `cargo xtask miri` runs these as well: what is built from a caller's pointers has to be sound, whatever the call returns.
    use super::*;
    use std::ptr;

    fn piece(bytes: &mut [u8]) -> iovec {
        iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
    }

    #[test]
    fn bytes_are_read_and_room_is_written_where_the_caller_says() {
        let mut memory = *b"abcdef";
        // SAFETY: the memory is ours.
        assert_eq!(unsafe { bytes(memory[1..].as_ptr().cast(), 3) }, Ok(b"bcd".as_slice()));
        // SAFETY: as above.
        unsafe { room(memory[2..].as_mut_ptr(), 2) }.unwrap().fill(b'x');
        assert_eq!(&memory, b"abxxef");
    }

    #[test]
    fn nothing_may_be_anywhere_and_something_may_not() {
        // SAFETY: no byte is touched.
        unsafe {
            assert_eq!(bytes(ptr::null(), 0), Ok(&[][..]));
            assert_eq!(room(ptr::null_mut::<u64>(), 0), Ok(&mut [][..]));
            assert!(pieces(ptr::null(), 0).unwrap().is_empty());
            assert_eq!(bytes(ptr::null(), 1), Err(Errno::EFAULT));
            assert_eq!(room(ptr::null_mut::<u64>(), 1), Err(Errno::EFAULT));
            assert_eq!(rooms(ptr::null(), 1), Err(Errno::EFAULT));
            assert_eq!(pieces(ptr::null(), MOST_PIECES + 1), Err(Errno::EINVAL));
        }
    }

    #[test]
    fn pieces_are_gathered_and_rooms_filled_in_order() {
        let (mut first, mut last) = (*b"one", *b"three");
        let vector = [piece(&mut first), iovec { iov_base: ptr::null_mut(), iov_len: 0 }, piece(&mut last)];
        // SAFETY: the buffers are ours, and no other reference to them exists in the meantime.
        unsafe {
            assert_eq!(pieces(vector.as_ptr(), 3).unwrap(), [b"one".as_slice(), b"", b"three"]);
            for (index, room) in rooms(vector.as_ptr(), 3).unwrap().into_iter().enumerate() {
                room.fill(b'0' + index as u8);
            }
        }
        assert_eq!((&first, &last), (b"000", b"22222"));
    }

    #[test]
    fn an_address_comes_back_as_it_went_in_as_far_as_there_is_room() {
        for peer in ["10.0.0.1:80", "[fd00::1]:443"].map(|text| text.parse::<SocketAddr>().unwrap()) {
            for room in [0, 4, 128] {
                // As C lays it out: aligned, and longer than any address.
                let mut storage = [0_u64; 16];
                let (at, mut len) = (storage.as_mut_ptr(), room as socklen_t);
                // SAFETY: the memory is ours and has the room.
                unsafe { put_address(peer, at.cast(), &raw mut len) }.unwrap();
                let whole = encode(peer);
                assert_eq!(len as usize, whole.len());
                // SAFETY: as above.
                let seen = unsafe { bytes(at.cast(), 128) }.unwrap();
                let fits = room.min(whole.len());
                assert_eq!(&seen[..fits], &whole[..fits]);
                assert!(seen[fits..].iter().all(|byte| *byte == 0), "nothing beyond the room");
            }
        }
        // SAFETY: nothing is touched.
        assert_eq!(unsafe { put_address("10.0.0.1:80".parse().unwrap(), ptr::null_mut(), ptr::null_mut()) }, Ok(()));
    }
}
