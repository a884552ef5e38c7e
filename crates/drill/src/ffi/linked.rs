//! The stack behind packetdrill's table of functions: linked in, or in a shared object.

use super::perform::perform;
use crate::stack::{Call, Returned, Stack};
use libc::{c_char, timeval};
use sockets::abi::{InitFn, Interface};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::{null, null_mut};

/// Room for one packet, the same size as packetdrill's.
const RECEIVE_BYTES: usize = 65_536;

/// A stack behind the table.
#[derive(Debug)]
pub struct Linked {
    table: Interface,
}

// SAFETY: packetdrill calls the table from two threads at once, and stacks behind it support that.
unsafe impl Send for Linked {}
// SAFETY: as above.
unsafe impl Sync for Linked {}

impl Linked {
    /// This project's stack, with `flags` as in `--so_flags`.
    pub fn own(flags: Option<&str>) -> Self {
        Self::init(sockets::packetdrill_interface_init, flags)
    }

    /// The stack of a shared object.
    ///
    /// # Errors
    /// The library cannot be loaded or does not export the interface.
    pub fn load(path: &Path, flags: Option<&str>) -> Result<Self, String> {
        let name =
            CString::new(path.as_os_str().as_encoded_bytes()).map_err(|_| "a path with a zero byte".to_owned())?;
        // SAFETY: the name ends with a zero; the library stays loaded until the process ends.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            return Err(last_error());
        }
        // SAFETY: the handle is valid and the name ends with a zero.
        let symbol = unsafe { libc::dlsym(library, c"packetdrill_interface_init".as_ptr()) };
        if symbol.is_null() {
            return Err(last_error());
        }
        // SAFETY: by packetdrill's convention a symbol of that name has this type.
        Ok(Self::init(unsafe { std::mem::transmute::<*mut libc::c_void, InitFn>(symbol) }, flags))
    }

    fn init(init: InitFn, flags: Option<&str>) -> Self {
        let flags = flags.map(|flags| CString::new(flags).unwrap_or_default());
        let flags: *const c_char = flags.as_ref().map_or(null(), |flags| flags.as_ptr());
        let mut table = Interface::zeroed();
        // SAFETY: the flags are null or end with a zero, and the table is zeroed, as the convention requires.
        unsafe { init(flags, &raw mut table) };
        Self { table }
    }
}

fn last_error() -> String {
    // SAFETY: after a failed dl call the text exists and ends with a zero.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the shared object cannot be loaded".into();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl Stack for Linked {
    fn perform(&self, call: &mut Call) -> Returned {
        perform(&self.table, call)
    }

    fn send(&self, packet: &[u8]) -> Result<(), String> {
        let send = self.table.netdev_send.expect("the stack has no netdev_send");
        // SAFETY: the packet is valid for the call.
        match unsafe { send(self.table.userdata, packet.as_ptr().cast(), packet.len()) } {
            0 => Ok(()),
            value => Err(format!("netdev_send returned {value}")),
        }
    }

    fn receive(&self, _deadline: i64) -> Result<(Vec<u8>, i64), String> {
        let receive = self.table.netdev_receive.expect("the stack has no netdev_receive");
        let mut packet = vec![0; RECEIVE_BYTES];
        let (mut length, mut at) = (packet.len(), 0);
        // SAFETY: the room is as large as it says, length and time outlive the call.
        let value = unsafe { receive(self.table.userdata, packet.as_mut_ptr().cast(), &raw mut length, &raw mut at) };
        if value != 0 {
            return Err(format!(
                "netdev_receive returned {value}, which packetdrill would answer by asking indefinitely"
            ));
        }
        if length == 0 {
            return Err("no packet will come".into());
        }
        packet.truncate(length);
        Ok((packet, at))
    }

    fn sleep(&self, usecs: u32) {
        let usleep = self.table.usleep.expect("the stack has no usleep");
        // SAFETY: no pointers.
        unsafe { usleep(self.table.userdata, usecs) };
    }

    fn now(&self) -> i64 {
        let clock = self.table.gettimeofday.expect("the stack has no gettimeofday");
        let mut time = timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the time outlives the call, and the time zone may be null.
        unsafe { clock(self.table.userdata, &raw mut time, null_mut()) };
        time.tv_sec * 1_000_000 + time.tv_usec
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        if let Some(free) = self.table.free {
            // SAFETY: called once, and nothing calls the table afterwards.
            unsafe { free(self.table.userdata) };
        }
    }
}
