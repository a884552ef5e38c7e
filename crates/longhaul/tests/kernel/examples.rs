//! The examples, as their users run them.

use crate::namespace::{command, in_namespace};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A program that `cargo test` builds beside the tests.
fn example(name: &str) -> Command {
    let mut folder: PathBuf = std::env::current_exe().unwrap();
    folder.pop();
    folder.pop();
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "{} is missing: `cargo test -p longhaul` builds it", program.display());
    Command::new(program)
}

/// Ends with its owner, which keeps what it prints to.
struct Running {
    child: Child,
    _prints: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts an example and waits for its first line.
fn start(name: &str) -> Running {
    let mut child = example(name).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut prints = BufReader::new(child.stdout.take().unwrap());
    prints.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "{name} ended: {:?}", child.wait());
    Running { child, _prints: prints }
}

#[test]
fn echo_in_memory() {
    let output = example("echo_memory").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "hello over TCP\n");
}

#[test]
fn echo_behind_a_device() {
    in_namespace(|| {
        let _running = start("echo_tun");
        let mut stream = TcpStream::connect("10.7.0.1:7").unwrap();
        stream.write_all(b"hello").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut back = String::new();
        stream.read_to_string(&mut back).unwrap();
        assert_eq!(back, "hello");
    });
}

#[test]
fn http_by_axum() {
    in_namespace(|| {
        let _running = start("http_axum");
        let curl = Command::new("curl").args(["--silent", "--noproxy", "*", "http://10.7.0.1/"]).output();
        let output = curl.expect("this test needs `curl`: apt-get install -y curl");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "from user space\n");
    });
}

#[test]
fn a_transparent_proxy() {
    in_namespace(|| {
        let _running = start("transparent_proxy");
        command("ip route add 198.51.100.0/24 dev lh-proxy");
        let server = TcpListener::bind("127.0.0.1:8080").unwrap();
        let served = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut asked = String::new();
            stream.read_to_string(&mut asked).unwrap();
            stream.write_all(asked.to_uppercase().as_bytes()).unwrap();
        });
        let mut stream = TcpStream::connect("198.51.100.7:8080").unwrap();
        stream.write_all(b"question").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "QUESTION");
        served.join().unwrap();
        let refused = TcpStream::connect("198.51.100.7:8081").unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

        let server = UdpSocket::bind("127.0.0.1:53").unwrap();
        let client = UdpSocket::bind("10.7.0.2:0").unwrap();
        client.connect("198.51.100.53:53").unwrap();
        client.send(b"query").unwrap();
        let mut buf = [0; 100];
        let (len, from) = server.recv_from(&mut buf).unwrap();
        server.send_to(&buf[..len], from).unwrap();
        assert_eq!(client.recv(&mut buf).unwrap(), 5);
    });
}
