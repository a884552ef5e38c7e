//! The kernel's end of a flow: a socket with its default settings, in a thread of the caller's namespace.

use crate::case::{Case, PORT, THEIRS};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
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
    works: Option<(JoinHandle<()>, Receiver<TcpStream>)>,
}

impl Kernel {
    /// Listens. To be called when the device is up.
    pub fn listen(&mut self, case: Case) {
        let listener = TcpListener::bind((Ipv4Addr::from(THEIRS), PORT)).expect("the device has the address");
        let ((tells, hears), read) = (channel(), self.read.clone());
        let works = move || {
            let (mut stream, _) = listener.accept().expect("our side connects");
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
        self.works = Some((std::thread::Builder::new().name("kernel".into()).spawn(works).expect("a thread"), hears));
    }

    /// Bytes that it has read or written.
    pub fn moved(&self) -> u64 {
        self.read.load(Relaxed)
    }
}

impl Drop for Kernel {
    /// Ends the thread, also while it waits for the peer.
    fn drop(&mut self) {
        let Some((thread, stream)) = self.works.take() else { return };
        if let Ok(stream) = stream.recv() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let _ = thread.join();
    }
}
