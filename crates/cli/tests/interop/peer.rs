//! The kernel's side: ordinary sockets, in threads that have moved into the peer's namespace.
//!
//! A namespace belongs to a thread, so no process has to be started for it, and the stream can be compared byte by byte with the
//! pattern.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Without a byte for this long, something hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A namespace to have sockets in.
pub struct Peer {
    namespace: PathBuf,
}

/// A thread's result.
pub struct Running<T>(JoinHandle<T>);

impl<T> Running<T> {
    pub fn join(self) -> T {
        self.0.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What came in.
#[derive(Debug, PartialEq, Eq)]
pub struct Received {
    pub bytes: u64,
    /// Position of the first byte that is not the pattern's.
    pub first_wrong: Option<u64>,
    pub crc32: String,
}

/// What went out.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    pub crc32: String,
    /// Segments that the namespace's kernel has retransmitted so far.
    pub retransmitted: u64,
}

impl Peer {
    pub fn new(namespace: PathBuf) -> Self {
        Self { namespace }
    }

    pub fn inside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Running<T> {
        let namespace = File::open(&self.namespace).unwrap();
        Running(thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
            work()
        }))
    }

    /// Accepts one connection and handles it with `serve`; listens already when this returns.
    pub fn listen<T: Send + 'static>(
        &self,
        address: SocketAddr,
        serve: impl FnOnce(TcpStream) -> T + Send + 'static,
    ) -> Running<T> {
        let (ready, listening) = mpsc::channel();
        let running = self.inside(move || {
            let listener = TcpListener::bind(address).unwrap();
            ready.send(()).unwrap();
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            serve(stream)
        });
        listening.recv().expect("the listener could not be made");
        running
    }

    /// Accepts one connection and reads it to its end.
    pub fn sink(&self, address: SocketAddr) -> Running<Received> {
        self.listen(address, |mut stream| receive(&mut stream))
    }

    /// Accepts one connection and echoes what arrives.
    pub fn reflector(&self, address: SocketAddr) -> Running<()> {
        self.listen(address, |mut stream| {
            let mut reader = stream.try_clone().unwrap();
            io::copy(&mut reader, &mut stream).unwrap();
        })
    }

    /// Accepts one connection, sends the pattern and closes. Returns the checksum of the sent bytes.
    pub fn pattern_server(&self, address: SocketAddr, bytes: u64) -> Running<String> {
        self.listen(address, move |mut stream| {
            let crc32 = send(&mut stream, bytes);
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(receive(&mut stream).bytes, 0);
            crc32
        })
    }

    /// Accepts one connection, reads a little, and leaves in the middle, which makes the kernel send a reset.
    pub fn deserter(&self, address: SocketAddr) -> Running<()> {
        self.listen(address, |mut stream| stream.read_exact(&mut [0; 1000]).unwrap())
    }

    /// Accepts one connection and reads until that fails or ends. The channel signals that the stream has begun.
    pub fn reader(&self, address: SocketAddr) -> (mpsc::Receiver<()>, Running<Option<ErrorKind>>) {
        self.one_way(address, |stream, chunk| stream.read(chunk))
    }

    /// Accepts one connection and writes until that fails. The channel signals that the stream has begun.
    pub fn writer(&self, address: SocketAddr) -> (mpsc::Receiver<()>, Running<Option<ErrorKind>>) {
        self.one_way(address, |stream, chunk| stream.write(chunk))
    }

    fn one_way(
        &self,
        address: SocketAddr,
        step: impl Fn(&mut TcpStream, &mut [u8]) -> io::Result<usize> + Send + 'static,
    ) -> (mpsc::Receiver<()>, Running<Option<ErrorKind>>) {
        let (begun, beginning) = mpsc::channel();
        let running = self.listen(address, move |mut stream| {
            let (mut chunk, mut moved) = (vec![0; CHUNK], 0);
            loop {
                match unless_interrupted(|| step(&mut stream, &mut chunk)) {
                    Ok(0) => return None,
                    Ok(len) => moved += len,
                    Err(error) => return Some(error.kind()),
                }
                if moved > 10 * CHUNK {
                    let _ = begun.send(());
                }
            }
        });
        (beginning, running)
    }

    /// Opens `count` connections, sends a byte on each, and reads each until that fails or ends. All of them are open when this
    /// returns.
    pub fn waiting_clients(&self, address: SocketAddr, count: usize) -> Running<Vec<Option<ErrorKind>>> {
        let (ready, opened) = mpsc::channel();
        let running = self.inside(move || {
            let mut streams: Vec<TcpStream> = (0..count).map(|_| connect(address)).collect();
            streams.iter_mut().for_each(|stream| stream.write_all(&[7]).unwrap());
            ready.send(()).unwrap();
            let end = |mut stream: TcpStream| io::copy(&mut stream, &mut io::sink()).err();
            streams.into_iter().map(|stream| end(stream).map(|error| error.kind())).collect()
        });
        opened.recv().expect("the connections could not be opened");
        running
    }

    /// Connects, sends the pattern, closes, and waits for the other side's end.
    pub fn source(&self, address: SocketAddr, bytes: u64) -> Running<Sent> {
        self.inside(move || {
            let mut stream = connect(address);
            let crc32 = send(&mut stream, bytes);
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(receive(&mut stream).bytes, 0);
            Sent { crc32, retransmitted: retransmitted_segments() }
        })
    }

    /// Connects, sends the pattern, and reads the echo at the same time.
    pub fn echo_client(&self, address: SocketAddr, bytes: u64) -> Running<Received> {
        self.inside(move || {
            let mut stream = connect(address);
            let mut writer = stream.try_clone().unwrap();
            let sending = thread::spawn(move || {
                send(&mut writer, bytes);
                writer.shutdown(Shutdown::Write).unwrap();
            });
            let received = receive(&mut stream);
            sending.join().unwrap();
            received
        })
    }

    /// Tries to connect; returns the kind of failure.
    pub fn refused(&self, address: SocketAddr) -> Option<ErrorKind> {
        let attempt = move || TcpStream::connect_timeout(&address, TIMEOUT).err().map(|error| error.kind());
        self.inside(attempt).join()
    }
}

/// Calls again what a signal interrupts. A call on a socket with a time limit is not resumed when this process is stopped and
/// continued, as a host does that freezes it for a moment.
pub fn unless_interrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    stream
}

/// The kernel's own count for this thread's namespace.
fn retransmitted_segments() -> u64 {
    counter("snmp", "Tcp:", "RetransSegs")
}

/// A counter of this thread's namespace, in a file of lines in pairs: names, then numbers.
pub fn counter(file: &str, group: &str, name: &str) -> u64 {
    let counters = std::fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap();
    let mut lines = counters.lines().filter(|line| line.starts_with(group)).map(str::split_whitespace);
    let (names, numbers) = (lines.next().unwrap(), lines.next().unwrap());
    names.zip(numbers).find(|(found, _)| *found == name).unwrap().1.parse().unwrap()
}

const CHUNK: usize = 256 << 10;

fn send(stream: &mut TcpStream, bytes: u64) -> String {
    let (mut chunk, mut crc, mut sent) = (vec![0; CHUNK], net::Crc32::default(), 0);
    while sent < bytes {
        let piece = (bytes - sent).min(CHUNK as u64) as usize;
        tcp::fill_pattern(sent, &mut chunk[..piece]);
        stream.write_all(&chunk[..piece]).unwrap();
        crc.update(&chunk[..piece]);
        sent += piece as u64;
    }
    format!("{:08x}", crc.value())
}

fn receive(stream: &mut TcpStream) -> Received {
    let (mut chunk, mut expected) = (vec![0; CHUNK], vec![0; CHUNK]);
    let (mut crc, mut bytes, mut first_wrong) = (net::Crc32::default(), 0, None);
    loop {
        let len = unless_interrupted(|| stream.read(&mut chunk)).unwrap();
        if len == 0 {
            return Received { bytes, first_wrong, crc32: format!("{:08x}", crc.value()) };
        }
        let (chunk, expected) = (&chunk[..len], &mut expected[..len]);
        tcp::fill_pattern(bytes, expected);
        if first_wrong.is_none() && chunk != expected {
            let at = chunk.iter().zip(expected.iter()).position(|(came, due)| came != due);
            first_wrong = at.map(|at| bytes + at as u64);
        }
        crc.update(chunk);
        bytes += len as u64;
    }
}
