//! The kernel's end of a flow: a socket with its default settings, in a thread of the caller's namespace.

use crate::case::{Case, PORT, THEIRS};
use nix::sys::{self, socket::shutdown};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

/// Bytes that it reads or writes at once.
pub const CALL: usize = 1 << 20;

/// Counts what it has read.
#[derive(Debug, Default)]
pub struct Kernel {
    read: Arc<AtomicU64>,
    works: Option<Works>,
}

#[derive(Debug)]
struct Works {
    thread: JoinHandle<()>,
    listener: TcpListener,
    /// The connection, once the peer has come.
    stream: Receiver<TcpStream>,
}

impl Kernel {
    /// Listens. To be called when the device is up.
    pub fn listen(&mut self, case: Case) {
        let listener = TcpListener::bind((Ipv4Addr::from(THEIRS), PORT)).expect("the device has the address");
        let waits = listener.try_clone().expect("a descriptor is free");
        let ((tells, stream), read) = (channel(), self.read.clone());
        let works = move || {
            let Ok((mut stream, _)) = waits.accept() else { return };
            let _ = tells.send(stream.try_clone().expect("a descriptor is free"));
            let mut buf = vec![7; CALL];
            loop {
                let moved = if case.sends { stream.read(&mut buf) } else { stream.write(&buf) };
                match moved {
                    Ok(0) | Err(_) => return,
                    Ok(len) => read.fetch_add(len as u64, Relaxed),
                };
            }
        };
        let thread = std::thread::Builder::new().name("kernel".into()).spawn(works).expect("a thread");
        self.works = Some(Works { thread, listener, stream });
    }

    /// Bytes that it has read or written.
    pub fn moved(&self) -> u64 {
        self.read.load(Relaxed)
    }
}

impl Drop for Kernel {
    /// Ends the thread, also while it waits for the peer.
    fn drop(&mut self) {
        let Some(Works { thread, listener, stream }) = self.works.take() else { return };
        // Ends the wait for a peer that never came.
        let _ = shutdown(listener.as_raw_fd(), sys::socket::Shutdown::Both);
        if let Ok(stream) = stream.recv() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = thread.join();
    }
}
