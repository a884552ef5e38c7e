//! A pair of commands available on every machine: this test itself, whose environment makes it one end of a transfer.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};

const ROLE: &str = "LONGHAUL_TEST_ROLE";
const NAME: &str = "programs::the_two_programs_understand_each_other";

/// A line of shell that accepts one connection on `{port}`, reads it to its end, and closes.
pub fn sink() -> String {
    program("sink 0.0.0.0:{port} 0")
}

/// A line that sends `{bytes}` to `{host}` and `{port}`, and ends when the other side has closed.
pub fn source() -> String {
    program("source {host}:{port} {bytes}")
}

fn program(role: &str) -> String {
    let this = std::env::current_exe().unwrap();
    format!("{ROLE}='{role}' exec {} --exact {NAME}", this.display())
}

fn receive(listener: &TcpListener) -> u64 {
    let (mut stream, _) = listener.accept().unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
}

fn send(address: SocketAddr, bytes: u64) {
    let mut stream = TcpStream::connect(address).unwrap();
    std::io::copy(&mut std::io::repeat(7).take(bytes), &mut stream).unwrap();
    stream.flush().unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}

/// Plays the role from its environment. Without one it is a normal test, and plays both.
#[test]
fn the_two_programs_understand_each_other() {
    if let Ok(role) = std::env::var(ROLE) {
        let words: Vec<&str> = role.split(' ').collect();
        let [what, address, bytes] = words[..] else { panic!("no role: {role}") };
        return match what {
            "sink" => drop(receive(&TcpListener::bind(address).unwrap())),
            _ => send(address.parse().unwrap(), bytes.parse().unwrap()),
        };
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let line = source().replace("{host}:{port}", &address.to_string()).replace("{bytes}", "100000");
    let mut child = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(receive(&listener), 100_000);
    assert!(child.wait().unwrap().success());
}
