//! The shared object itself, loaded as packetdrill loads it.

use longhaul_packetdrill::abi::{InitFn, Interface};
use std::ffi::CString;
use std::path::PathBuf;

/// In the directory of this test program, where cargo puts what it tests.
fn shared_object() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.with_file_name("liblonghaul_packetdrill.so")
}

#[test]
fn the_shared_object_exports_the_one_symbol_and_fills_the_whole_table() {
    let path = CString::new(shared_object().to_str().unwrap()).unwrap();
    let mode = libc::RTLD_NOW | libc::RTLD_LOCAL | libc::RTLD_NODELETE | libc::RTLD_DEEPBIND;
    // SAFETY: the library was built from this source; the symbol is exported with this type.
    let init = unsafe {
        let library = libc::dlopen(path.as_ptr(), mode);
        assert!(!library.is_null(), "{path:?} cannot be loaded");
        let symbol = libc::dlsym(library, c"packetdrill_interface_init".as_ptr());
        assert!(!symbol.is_null());
        std::mem::transmute::<*mut libc::c_void, InitFn>(symbol)
    };
    // One process runs several scripts in turn, each with its own state.
    for _ in 0..2 {
        let mut table = Interface::zeroed();
        // SAFETY: no flags, and a table; calls with numbers only; nothing is called after `free`.
        unsafe {
            init(std::ptr::null(), &raw mut table);
            // Every field is a pointer that packetdrill calls without a check.
            let fields = std::slice::from_raw_parts((&raw const table).cast::<usize>(), 33);
            assert!(fields.iter().all(|field| *field != 0), "{table:?}");
            let socket = table.socket.unwrap();
            assert!(socket(table.userdata, libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_TCP) >= 0);
            table.free.unwrap()(table.userdata);
        }
    }
}
