//! `longhaul proxy`: `curl` and the kernel's sockets through it, both ways round.

use crate::netns::Lab;
use crate::peer::{Peer, Running};
use crate::program::Longhaul;
use crate::{V4, V6, wait_until};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, socket};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use test_case::test_case;

const PROXY: &str = "127.0.0.1:1080";
/// How `curl` speaks with the proxy.
const WAYS: [&str; 2] = ["--socks5-hostname 127.0.0.1:1080", "--proxytunnel --proxy http://127.0.0.1:1080"];
/// Bytes of a response.
const BYTES: usize = 5_000_000;
/// Without a byte for this long, something hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

fn pattern(bytes: usize) -> Vec<u8> {
    let mut pattern = vec![0; bytes];
    tcp::fill_pattern(0, &mut pattern);
    pattern
}

/// The proxy on the device `lh0`, ready.
fn proxy(lab: &Lab, cidr: &str, options: &str) -> Longhaul {
    let options: Vec<&str> = options.split_whitespace().collect();
    let mut proxy = Longhaul::start(lab, &[&["proxy", "--tun", "lh0", "--addr", cidr][..], &options].concat());
    proxy.ready();
    proxy
}

/// A web server for requests one after the other, as long as the test lasts.
fn web(peer: &Peer, address: SocketAddr) {
    let (ready, listening) = mpsc::channel();
    drop(peer.inside(move || {
        let listener = TcpListener::bind(address).unwrap();
        ready.send(()).unwrap();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            let fields = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\nConnection: close\r\n\r\n");
            stream.write_all(fields.as_bytes()).unwrap();
            stream.write_all(&pattern(BYTES)).unwrap();
        }
    }));
    listening.recv().unwrap();
}

/// Runs `curl` beside the proxy; returns its exit code, what came, and what it said.
fn curl(lab: &Lab, words: &str) -> (i32, Vec<u8>, String) {
    let mut curl = lab.on_router("curl");
    curl.args(["--silent", "--show-error", "--max-time", "60"]).args(words.split_whitespace());
    let output = curl.output().unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

#[test_case(V4, "--offload on"; "with offload")]
#[test_case(V4, "--offload off --mtu 1280"; "without offload")]
#[test_case(V6, "--offload on"; "version six")]
fn curl_gets_every_byte_by_either_protocol(cidr: &str, options: &str) {
    let lab = Lab::new();
    let address = lab.peer_address(cidr, 80);
    lab.name("peer.test", &address.ip().to_string());
    web(&lab.peer, address);
    let _proxy = proxy(&lab, cidr, options);
    for way in WAYS {
        for url in [format!("http://{address}/"), "http://peer.test/".to_owned()] {
            let (code, came, said) = curl(&lab, &format!("{way} {url}"));
            assert_eq!((code, came.len(), said.as_str()), (0, BYTES, ""), "{way} {url}");
            assert!(came == pattern(BYTES), "{way} {url}: other bytes came");
        }
    }
}

#[test_case("--offload on"; "with offload")]
#[test_case("--offload off --shards 2"; "shards without offload")]
fn one_proxy_reaches_destinations_of_both_ip_versions(options: &str) {
    let lab = Lab::new();
    let _proxy = proxy(&lab, V4, &format!("--second-addr {V6} {options}"));
    for address in [V4, V6].map(|cidr| lab.peer_address(cidr, 80)) {
        web(&lab.peer, address);
        for way in WAYS {
            let (code, came, said) = curl(&lab, &format!("{way} http://{address}/"));
            assert_eq!((code, said.as_str()), (0, ""), "{way} {address}");
            assert!(came == pattern(BYTES), "{way} {address}: {} bytes came", came.len());
        }
    }
}

/// The resolver names the address of version four first. Waiting for it would take all of the patience.
#[test]
fn a_name_is_reached_by_the_ip_version_that_answers() {
    let lab = Lab::new();
    no_host_answers_at(&lab, "192.0.2.0/24 via 10.8.0.77");
    let address = lab.peer_address(V6, 80);
    lab.name("both.test", "192.0.2.1");
    lab.name("both.test", &address.ip().to_string());
    web(&lab.peer, address);
    let _proxy = proxy(&lab, V4, &format!("--second-addr {V6} --patience 4s"));
    let (code, came, said) = curl(&lab, "--socks5-hostname 127.0.0.1:1080 http://both.test/");
    assert_eq!((code, came.len(), said.as_str()), (0, BYTES, ""));
}

#[test]
fn clients_give_their_user_name_and_password_where_one_is_asked_for() {
    let lab = Lab::new();
    let address = lab.peer_address(V4, 80);
    web(&lab.peer, address);
    let _proxy = proxy(&lab, V4, "--user me:secret");
    let through = |protocol: &str, user: &str| {
        let (code, came, said) =
            curl(&lab, &format!("--proxytunnel --proxy {protocol}://{user}{PROXY} http://{address}/"));
        assert!((code == 0) == (came.len() == BYTES), "{protocol} {user}: {code} {said}");
        code
    };
    // 97: the handshake with the proxy failed; 56: its answer was not 200.
    assert_eq!(["me:secret@", "me:wrong@", ""].map(|user| through("socks5h", user)), [0, 97, 97]);
    assert_eq!(["me:secret@", "me:wrong@", ""].map(|user| through("http", user)), [0, 56, 56]);
}

/// Says something to the proxy, and returns its reply until it closes.
fn raw(lab: &Lab, said: &[u8]) -> Vec<u8> {
    let said = said.to_vec();
    let replied = lab.host().inside(move || {
        let mut stream = TcpStream::connect(PROXY).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(&said).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        reply
    });
    replied.join()
}

/// A SOCKS request for a name or an address, with the choice of no authentication before it.
fn socks(host: &str, port: u16) -> Vec<u8> {
    let mut said = vec![5, 1, 0, 5, 1, 0, 3, host.len() as u8];
    said.extend(host.bytes());
    said.extend(port.to_be_bytes());
    said
}

#[test]
fn each_failure_has_the_reply_of_its_protocol() {
    let lab = Lab::new();
    let _proxy = proxy(&lab, V4, "--ports 80,81 --patience 8s");
    // A port without a listener, a host that is not there, a name that is none, a port that is forbidden, an address of the other
    // version.
    let cases = [
        ("10.8.0.2", 81, 5, "502"),
        ("10.8.0.99", 80, 4, "502"),
        ("no-such-name.invalid", 80, 4, "502"),
        ("10.8.0.2", 22, 2, "403"),
        ("fd08::2", 80, 3, "502"),
    ];
    for (host, port, code, status) in cases {
        assert_eq!(raw(&lab, &socks(host, port)), [5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0], "{host}");
        let authority = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let reply = raw(&lab, format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n").as_bytes());
        assert!(reply.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{}", String::from_utf8_lossy(&reply));
    }
    assert!(raw(&lab, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").starts_with(b"HTTP/1.1 405 "));
    assert!(raw(&lab, b"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n").starts_with(b"HTTP/1.1 400 "));
}

/// Adds a route to a next hop with a hardware address that nothing has.
fn no_host_answers_at(lab: &Lab, route: &str) {
    lab.route(route);
    let ip = lab.on_router("ip").args("neigh add 10.8.0.77 lladdr 02:00:00:00:00:77 dev cable".split(' ')).status();
    assert!(ip.unwrap().success());
}

#[test]
fn a_host_that_drops_everything_is_given_up_after_the_patience() {
    let lab = Lab::new();
    no_host_answers_at(&lab, "192.0.2.0/24 via 10.8.0.77");
    let _proxy = proxy(&lab, V4, "--patience 700ms");
    assert_eq!(raw(&lab, &socks("192.0.2.1", 80))[3], 4);
    assert!(raw(&lab, b"CONNECT 192.0.2.1:80 HTTP/1.0\r\n\r\n").starts_with(b"HTTP/1.1 504 "));
}

/// Opens a connection through the proxy; to be called in the namespace of the proxy.
fn through_socks(to: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(PROXY).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(&socks(&to.ip().to_string(), to.port())).unwrap();
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..4], [5, 0, 5, 0], "{reply:?}");
    stream
}

/// Each side sends all it has after the other has closed its direction.
fn half_closes(lab: &Lab, to: SocketAddr, connect: fn(SocketAddr) -> TcpStream) {
    let all = |stream: &mut TcpStream| {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all
    };
    for server_first in [false, true] {
        let late = move |mut stream: TcpStream| {
            let came = all(&mut stream);
            stream.write_all(&pattern(BYTES)).unwrap();
            came
        };
        let early = move |mut stream: TcpStream| {
            stream.write_all(&pattern(BYTES)).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            all(&mut stream)
        };
        let server = lab.peer.listen(to, move |stream| if server_first { early(stream) } else { late(stream) });
        let client = lab.host().inside(move || {
            let stream = connect(to);
            if server_first { late(stream) } else { early(stream) }
        });
        assert!(client.join() == pattern(BYTES), "server first: {server_first}; the client misses bytes");
        assert!(server.join() == pattern(BYTES), "server first: {server_first}; the server misses bytes");
    }
}

/// A reset goes through, whichever side it comes from.
fn resets(lab: &Lab, to: SocketAddr, connect: fn(SocketAddr) -> TcpStream) {
    let begin = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    };
    // A reset overtakes bytes that are on their way, so it waits until the other side has read all.
    let leave = move |mut stream: TcpStream| {
        begin(&mut stream);
        stream.read_exact(&mut [0]).unwrap();
        nix::sys::socket::setsockopt(
            &stream,
            nix::sys::socket::sockopt::Linger,
            &nix::libc::linger { l_onoff: 1, l_linger: 0 },
        )
        .unwrap();
        ErrorKind::ConnectionReset
    };
    let stay = move |mut stream: TcpStream| {
        begin(&mut stream);
        stream.write_all(b"y").unwrap();
        stream.read(&mut [0]).unwrap_err().kind()
    };
    for server_leaves in [false, true] {
        let server = lab.peer.listen(to, move |stream| if server_leaves { leave(stream) } else { stay(stream) });
        let client: Running<ErrorKind> = lab.host().inside(move || {
            let stream = connect(to);
            if server_leaves { stay(stream) } else { leave(stream) }
        });
        let both = [client.join(), server.join()];
        assert_eq!(both, [ErrorKind::ConnectionReset; 2], "the server leaves: {server_leaves}");
    }
}

#[test]
fn ends_and_resets_go_through_the_proxy() {
    let lab = Lab::new();
    let _proxy = proxy(&lab, V4, "");
    half_closes(&lab, lab.peer_address(V4, 90), through_socks);
    resets(&lab, lab.peer_address(V4, 91), through_socks);
}

/// Many connections that are all open before any ends.
fn many(lab: &Lab, to: SocketAddr, connect: fn(SocketAddr) -> TcpStream) {
    const CLIENTS: usize = 200;
    let (ready, listening) = mpsc::channel();
    drop(lab.peer.inside(move || {
        let listener = TcpListener::bind(to).unwrap();
        ready.send(()).unwrap();
        for stream in listener.incoming() {
            let (mut read, mut write) = (stream.as_ref().unwrap().try_clone().unwrap(), stream.unwrap());
            std::thread::spawn(move || {
                std::io::copy(&mut read, &mut write).unwrap();
                write.shutdown(Shutdown::Write).unwrap();
            });
        }
    }));
    listening.recv().unwrap();
    let clients = lab.host().inside(move || {
        let mut streams: Vec<TcpStream> = (0..CLIENTS).map(|_| connect(to)).collect();
        for (n, stream) in streams.iter_mut().enumerate() {
            stream.write_all(&pattern(10_000 + n)).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
        }
        for (n, stream) in streams.iter_mut().enumerate() {
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            let mut back = Vec::new();
            stream.read_to_end(&mut back).unwrap();
            assert!(back == pattern(10_000 + n), "connection {n}: {} bytes came back", back.len());
        }
    });
    clients.join();
}

#[test]
fn two_hundred_connections_are_open_at_once() {
    let lab = Lab::new();
    let _proxy = proxy(&lab, V4, "");
    many(&lab, lab.peer_address(V4, 92), through_socks);
}

#[test]
fn connections_beyond_the_limit_wait_and_idle_ones_make_room() {
    let lab = Lab::new();
    let to = lab.peer_address(V4, 93);
    let _proxy = proxy(&lab, V4, "--connections 1 --idle 500ms");
    let (first, second) = (lab.peer.listen(to, |mut stream| stream.read(&mut [0]).unwrap_err().kind()), Instant::now());
    let mut idle = lab.host().inside(move || through_socks(to)).join();
    let other = lab.peer_address(V4, 94);
    let server = lab.peer.listen(other, |mut stream| stream.write_all(b"y").unwrap());
    let client = lab.host().inside(move || through_socks(other).read_exact(&mut [0]).unwrap());
    client.join();
    server.join();
    assert!(second.elapsed() >= Duration::from_millis(500), "the second did not wait");
    assert_eq!(idle.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(first.join(), ErrorKind::ConnectionReset);
}

#[test]
fn an_interrupted_proxy_gives_connections_time_and_a_second_interrupt_none() {
    let lab = Lab::new();
    for in_peace in [true, false] {
        let to = lab.peer_address(V4, 95);
        let proxy = proxy(&lab, V4, "--grace 30s");
        let server = lab.peer.listen(to, |mut stream| {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).map(|_| all).map_err(|error| error.kind())
        });
        let mut client = lab.host().inside(move || through_socks(to)).join();
        client.write_all(b"before").unwrap();
        proxy.interrupt();
        wait_until(|| lab.host().inside(|| TcpStream::connect(PROXY).is_err()).join());
        client.write_all(b" and after").unwrap();
        if in_peace {
            drop(client);
        } else {
            proxy.interrupt();
        }
        let began = Instant::now();
        let summary = proxy.finish(0);
        assert!(began.elapsed() < Duration::from_secs(20), "the end took {:?}", began.elapsed());
        assert!(summary.stderr.contains("for at most 30 s; Ctrl-C"), "{summary:?}");
        let came = server.join();
        if in_peace {
            assert_eq!(came, Ok(b"before and after".to_vec()));
        } else {
            assert_eq!(came, Err(ErrorKind::ConnectionReset));
        }
    }
}

/// What the kernel routes to the peer goes into the device, and the proxy's own connections through the cable.
fn transparent(lab: &Lab, options: &str) -> Longhaul {
    let proxy = proxy(lab, V4, &format!("--transparent {options}"));
    lab.route("10.8.0.2/32 dev lh0");
    proxy
}

fn directly(to: SocketAddr) -> TcpStream {
    TcpStream::connect(to).unwrap()
}

#[test]
fn the_transparent_proxy_stands_for_every_destination() {
    let lab = Lab::new();
    let _proxy = transparent(&lab, "--out cable --ports 80,90,91,92,81");
    let address = lab.peer_address(V4, 80);
    web(&lab.peer, address);
    let (code, came, said) = curl(&lab, &format!("http://{address}/"));
    assert_eq!((code, said.as_str()), (0, ""));
    assert!(came == pattern(BYTES), "{} bytes came", came.len());
    half_closes(&lab, lab.peer_address(V4, 90), directly);
    resets(&lab, lab.peer_address(V4, 91), directly);
    many(&lab, lab.peer_address(V4, 92), directly);
}

#[test]
fn the_transparent_proxy_stands_for_destinations_of_both_ip_versions() {
    let lab = Lab::new();
    let _proxy = transparent(&lab, &format!("--out cable --second-addr {V6}"));
    lab.route("fd08::2/128 dev lh0");
    for cidr in [V4, V6] {
        let address = lab.peer_address(cidr, 80);
        web(&lab.peer, address);
        let (code, came, said) = curl(&lab, &format!("http://{address}/"));
        assert_eq!((code, said.as_str()), (0, ""), "{address}");
        assert!(came == pattern(BYTES), "{address}: {} bytes came", came.len());
        half_closes(&lab, lab.peer_address(cidr, 90), directly);
    }
}

/// Two clients wait for hosts that do not answer; to be called in the namespace of the proxy. The kernel sends their SYNs at once, so the
/// proxy has them before those of later clients.
fn two_wait() -> [OwnedFd; 2] {
    ["192.0.2.1:80", "192.0.2.2:80"].map(|to| {
        let to: SocketAddrV4 = to.parse().unwrap();
        let fd = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_NONBLOCK, None).unwrap();
        assert_eq!(connect(fd.as_raw_fd(), &SockaddrIn::from(to)), Err(Errno::EINPROGRESS));
        fd
    })
}

#[test_case("", false; "ignored")]
#[test_case("--late-requests 8", true; "late")]
fn beyond_the_undecided_clients_are(options: &str, are_connected: bool) {
    let lab = Lab::new();
    no_host_answers_at(&lab, "192.0.2.0/24 via 10.8.0.77 dev cable metric 100");
    let _proxy = transparent(&lab, &format!("--out cable --patience 60s --undecided 2 {options}"));
    lab.route("192.0.2.0/24 dev lh0 metric 10");
    let (to, closed) = (lab.peer_address(V4, 96), lab.peer_address(V4, 97));
    let server = lab.peer.listen(to, |mut stream| {
        let mut came = [0; 5];
        if stream.read_exact(&mut came).is_ok() {
            stream.write_all(&came).unwrap();
        }
    });
    let client = lab.host().inside(move || {
        let _waiting = two_wait();
        let connect = |to| TcpStream::connect_timeout(&to, Duration::from_secs(4));
        let mut stream = match connect(to) {
            Ok(stream) => stream,
            Err(ignored) => {
                assert_eq!(ignored.kind(), ErrorKind::TimedOut);
                // The server is not to wait.
                return false;
            }
        };
        let mut back = [0; 5];
        stream.write_all(b"hello").unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"hello");
        // Connected before the destination has refused; the reset may come before the connection is handed over.
        let refused = connect(closed).and_then(|mut stream| {
            stream.set_read_timeout(Some(TIMEOUT))?;
            stream.read(&mut back)
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionReset);
        true
    });
    assert_eq!(client.join(), are_connected);
    if are_connected {
        server.join();
    }
}

#[test]
fn the_transparent_proxy_answers_as_the_destination_does() {
    let lab = Lab::new();
    lab.route("10.8.0.99/32 dev cable");
    let _proxy = transparent(&lab, "--out cable --ports 80,81");
    let refused = |to: &str| {
        let to: SocketAddr = to.parse().unwrap();
        lab.host().inside(move || TcpStream::connect_timeout(&to, TIMEOUT).unwrap_err().kind()).join()
    };
    assert_eq!(refused("10.8.0.2:81"), ErrorKind::ConnectionRefused);
    // A host that is not there: the kernel's own neighbour discovery fails on the cable.
    assert!(lab.on_router("ip").args("route replace 10.8.0.99/32 dev lh0".split(' ')).status().unwrap().success());
    assert_eq!(refused("10.8.0.99:80"), ErrorKind::HostUnreachable);
    // A port that is not allowed.
    assert_eq!(refused("10.8.0.2:22"), ErrorKind::HostUnreachable);
}

#[test]
fn a_transparent_proxy_that_would_connect_to_itself_says_so() {
    let lab = Lab::new();
    let proxy = transparent(&lab, "");
    let to = lab.peer_address(V4, 80);
    let kind = lab.host().inside(move || TcpStream::connect_timeout(&to, TIMEOUT).unwrap_err().kind()).join();
    assert_eq!(kind, ErrorKind::NetworkUnreachable);
    proxy.interrupt();
    let summary = proxy.finish(0);
    assert!(summary.stderr.contains("routes the proxy's own connection back into the device"), "{summary:?}");
}
