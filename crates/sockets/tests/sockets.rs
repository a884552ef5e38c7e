//! Socket calls through the C interface: what they return, and what they make the stack send.

mod common;

use common::{Answer, LOCAL_PORT, PEER_ISS, Script, sockaddr_of};
use libc::{FIONREAD, MSG_DONTWAIT, MSG_PEEK, MSG_TRUNC, MSG_WAITALL, SO_ERROR, SO_LINGER, SOL_SOCKET, TIOCOUTQ};
use libc::{POLLERR, POLLHUP, POLLIN, POLLOUT, POLLRDHUP, SHUT_RD, SHUT_RDWR, SHUT_WR};
use nix::errno::Errno;
use std::net::SocketAddr;
use test_case::test_case;
use wire::Flags;

const ALL: i16 = POLLIN | POLLOUT | POLLRDHUP;
const SIOCOUTQNSD: u64 = 0x894b;

#[test]
fn a_server_accepts_reads_writes_and_closes() {
    let script = Script::new();
    let listener = script.listener();
    assert_eq!(script.poll(listener, ALL, 0), 0);
    let iss = script.peer_opens();
    assert_eq!(script.poll(listener, ALL, 0), POLLIN);
    let (fd, peer) = script.accept(listener).unwrap();
    assert_eq!(peer, sockaddr_of(script.peer));
    assert_ne!(fd, listener);

    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"question");
    assert_eq!(script.read(fd, 100), Ok(b"question".to_vec()));
    assert_eq!(script.write(fd, b"answer"), Ok(6));
    let ack = script.expect();
    assert_eq!(ack.tcp.ack, Some(PEER_ISS + 9));
    let data = if ack.payload.is_empty() { script.expect() } else { ack };
    assert_eq!((data.payload.as_slice(), data.tcp.seq), (b"answer".as_slice(), iss + 1));

    assert_eq!(script.close(fd), Ok(0));
    let fin = script.expect();
    assert!(fin.has(Flags::FIN) && fin.tcp.seq == iss + 7);
    script.deliver(&script.segment(Flags::FIN, 9, Some(iss + 8)), b"");
    assert_eq!(script.expect().tcp.ack, Some(PEER_ISS + 10));
    assert_eq!(script.receive(), None);
    assert_eq!(script.read(fd, 1), Err(Errno::EBADF));
}

#[test]
fn a_client_connects_without_waiting_and_learns_the_outcome() {
    let script = Script::new();
    let fd = script.socket();
    assert_eq!(script.fcntl(fd, libc::F_GETFL), Ok(libc::O_RDWR));
    script.set_nonblocking(fd);
    assert_eq!(script.fcntl(fd, libc::F_GETFL), Ok(libc::O_RDWR | libc::O_NONBLOCK));
    script.bind(fd, script.local).unwrap();
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EALREADY));
    assert_eq!(script.poll(fd, ALL, 0), 0);
    assert_eq!((script.read(fd, 1), script.write(fd, b"x")), (Err(Errno::EAGAIN), Err(Errno::EAGAIN)));
    let syn = script.expect();
    assert!(syn.has(Flags::SYN) && syn.ip.src == script.local.ip() && syn.tcp.src_port == LOCAL_PORT);
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(syn.tcp.seq + 1));
    syn_ack.options.mss = Some(1_460);
    script.deliver(&syn_ack, b"");
    assert_eq!(script.expect().tcp.ack, Some(PEER_ISS + 1));
    assert_eq!(script.poll(fd, ALL, 0), POLLOUT);
    assert_eq!(script.getsockopt(fd, SOL_SOCKET, SO_ERROR), Ok(0));
    assert_eq!(script.connect(fd, script.peer), Ok(0));
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EISCONN));
    assert_eq!(script.write(fd, b"x"), Ok(1));
}

#[test]
fn a_socket_that_is_not_bound_connects_from_the_local_address() {
    let script = Script::new();
    let fd = script.socket();
    script.set_nonblocking(fd);
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    let syn = script.expect();
    assert_eq!((syn.ip.src, syn.ip.dst, syn.tcp.dst_port), (script.local.ip(), script.peer.ip(), script.peer.port()));
}

#[test]
fn a_refused_connection_says_so_once_and_may_be_tried_again() {
    let script = Script::new();
    let fd = script.socket();
    script.set_nonblocking(fd);
    script.bind(fd, script.local).unwrap();
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    let syn = script.expect();
    script.deliver(&script.segment(Flags::RST, 0, Some(syn.tcp.seq + 1)), b"");
    assert_eq!(script.poll(fd, ALL, 0), POLLIN | POLLOUT | POLLRDHUP | POLLERR | POLLHUP);
    assert_eq!(script.getsockopt(fd, SOL_SOCKET, SO_ERROR), Ok(Errno::ECONNREFUSED as i32));
    assert_eq!(script.getsockopt(fd, SOL_SOCKET, SO_ERROR), Ok(0));
    assert_eq!(script.connect(fd, script.peer), Err(Errno::ECONNABORTED));
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    assert!(script.expect().has(Flags::SYN));
}

#[test]
fn a_blocking_call_on_the_main_thread_ends_when_the_timers_end_it() {
    let script = Script::new();
    let fd = script.socket();
    let before = script.now();
    assert_eq!(script.connect(fd, script.peer), Err(Errno::ETIMEDOUT));
    assert!(script.now() - before > 60_000_000, "the handshake's retransmissions take minutes");
    let listener = script.listener();
    assert_eq!(script.accept(listener).err(), Some(Errno::EAGAIN), "no other call could release it");
}

#[test]
fn a_reset_is_reported_once_and_then_the_stream_is_at_its_end() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc");
    script.deliver(&script.segment(Flags::RST, 4, None), b"");
    assert_eq!(script.poll(fd, ALL, 0), ALL | POLLERR | POLLHUP);
    assert_eq!(script.read(fd, 10), Ok(b"abc".to_vec()), "what had arrived is still read");
    assert_eq!(script.read(fd, 10), Err(Errno::ECONNRESET));
    assert_eq!(script.read(fd, 10), Ok(vec![]));
    assert_eq!(script.write(fd, b"x"), Err(Errno::EPIPE));
    assert_eq!(script.shutdown(fd, SHUT_WR), Err(Errno::ENOTCONN));
    assert_eq!(script.close(fd), Ok(0));
}

#[test]
fn a_writer_learns_of_a_reset_first() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    script.deliver(&script.segment(Flags::RST, 1, None), b"");
    assert_eq!(script.write(fd, b"x"), Err(Errno::ECONNRESET));
    assert_eq!(script.write(fd, b"x"), Err(Errno::EPIPE));
}

#[test]
fn a_reset_behind_the_peers_fin_is_a_broken_pipe() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.deliver(&script.segment(Flags::FIN, 1, Some(iss + 1)), b"");
    assert_eq!(script.poll(fd, ALL, 0), ALL);
    script.deliver(&script.segment(Flags::RST, 2, None), b"");
    assert_eq!(script.getsockopt(fd, SOL_SOCKET, SO_ERROR), Ok(Errno::EPIPE as i32));
    assert_eq!(script.read(fd, 10), Ok(vec![]));
}

#[test]
fn closing_with_unread_data_resets_the_connection() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc");
    script.expect();
    assert_eq!(script.close(fd), Ok(0));
    assert!(script.expect().has(Flags::RST));
    assert_eq!(script.receive(), None);
}

#[test]
fn a_socket_that_does_not_linger_resets_the_connection() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    script.setsockopt(fd, SOL_SOCKET, SO_LINGER, &[1, 0]).unwrap();
    assert_eq!(script.close(fd), Ok(0));
    assert!(script.expect().has(Flags::RST));
}

#[test]
fn closing_a_listener_resets_who_waits_and_forgets_who_has_only_knocked() {
    let script = Script::new();
    let listener = script.listener();
    script.peer_opens();
    let mut knock = script.segment(Flags::SYN, 0, None);
    knock.src_port += 1;
    script.deliver(&knock, b"");
    let syn_ack = script.expect();
    assert_eq!(script.close(listener), Ok(0));
    let reset = script.expect();
    assert!(reset.has(Flags::RST) && reset.tcp.dst_port == script.peer.port());
    let mut ack = script.segment(Flags::NONE, 1, Some(syn_ack.tcp.seq + 1));
    ack.src_port += 1;
    script.deliver(&ack, b"");
    assert!(script.expect().has(Flags::RST));
    assert_eq!(script.receive(), None);
}

#[test]
fn one_direction_is_shut_and_the_other_goes_on() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    assert_eq!(script.shutdown(fd, 7), Err(Errno::EINVAL));
    assert_eq!(script.shutdown(fd, SHUT_WR), Ok(0));
    assert!(script.expect().has(Flags::FIN));
    assert_eq!(script.write(fd, b"x"), Err(Errno::EPIPE));
    assert_eq!(script.poll(fd, ALL, 0), POLLOUT);
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 2)), b"late");
    assert_eq!(script.read(fd, 10), Ok(b"late".to_vec()));
    script.deliver(&script.segment(Flags::FIN, 5, Some(iss + 2)), b"");
    assert_eq!(script.poll(fd, ALL, 0), ALL | POLLHUP);
    assert_eq!(script.read(fd, 10), Ok(vec![]));
}

#[test]
fn a_reader_that_wants_no_more_reads_the_end() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    assert_eq!(script.shutdown(fd, SHUT_RD), Ok(0));
    assert_eq!(script.read(fd, 10), Ok(vec![]));
    assert_eq!(script.poll(fd, ALL, 0), ALL);
    assert_eq!(script.shutdown(fd, SHUT_RDWR), Ok(0));
    assert_eq!(script.poll(fd, ALL, 0), ALL | POLLHUP);
}

#[test]
fn flags_of_a_receiving_call_are_obeyed() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    assert_eq!(script.recv(fd, 10, MSG_DONTWAIT), Err(Errno::EAGAIN));
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abcdefgh");
    assert_eq!(script.recv(fd, 3, MSG_PEEK), Ok(b"abc".to_vec()));
    assert_eq!(script.recv(fd, 100, MSG_PEEK), Ok(b"abcdefgh".to_vec()));
    assert_eq!(script.recv(fd, 2, MSG_TRUNC).map(|bytes| bytes.len()), Ok(2));
    assert_eq!(script.recv(fd, 3, MSG_WAITALL), Ok(b"cde".to_vec()));
    assert_eq!(script.recv(fd, 10, MSG_WAITALL | MSG_DONTWAIT), Ok(b"fgh".to_vec()));
    assert_eq!(script.read(fd, 0), Ok(vec![]));
}

#[test]
fn pieces_are_filled_and_sent_in_order() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abcdefgh");
    script.expect();
    let (mut first, mut second) = ([0u8; 3], [0u8; 10]);
    let mut pieces = [
        libc::iovec { iov_base: first.as_mut_ptr().cast(), iov_len: first.len() },
        libc::iovec { iov_base: second.as_mut_ptr().cast(), iov_len: second.len() },
    ];
    let table = script.table();
    // SAFETY: the pieces live as long as the calls.
    unsafe {
        assert_eq!(table.readv.unwrap()(table.userdata, fd, pieces.as_ptr(), 2), 8);
        assert_eq!((&first, &second[..5]), (b"abc", b"defgh".as_slice()));
        pieces[1].iov_len = 2;
        assert_eq!(table.writev.unwrap()(table.userdata, fd, pieces.as_ptr(), 2), 5);
        assert_eq!(script.expect().payload, b"abcde");

        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (pieces.as_mut_ptr(), 2);
        assert_eq!(table.sendmsg.unwrap()(table.userdata, fd, &raw const message, 0), 5);
        script.deliver(&script.segment(Flags::PSH, 9, Some(iss + 6)), b"xyz");
        message.msg_flags = -1;
        assert_eq!(table.recvmsg.unwrap()(table.userdata, fd, &raw mut message, 0), 3);
        assert_eq!((message.msg_flags, &first), (0, b"xyz"));
    }
}

#[test]
fn ioctl_reports_queues() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    assert_eq!([FIONREAD, TIOCOUTQ, SIOCOUTQNSD].map(|request| script.ioctl(fd, request)), [Ok(0); 3]);
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc");
    assert_eq!(script.write(fd, &[7; 20_000]), Ok(20_000));
    // Ten segments of 1000 bytes are the initial window.
    let queues: [Answer<i32>; 3] = [FIONREAD, TIOCOUTQ, SIOCOUTQNSD].map(|request| script.ioctl(fd, request));
    assert_eq!(queues, [Ok(3), Ok(20_000), Ok(10_000)]);
    assert_eq!(script.ioctl(fd, 0x1234), Err(Errno::ENOTTY));
    let listener = script.listener();
    assert_eq!(script.ioctl(listener, FIONREAD), Err(Errno::EINVAL));
}

#[test]
fn a_full_buffer_takes_a_part_and_then_nothing() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    script.set_nonblocking(fd);
    let bytes = vec![7; 32 << 20];
    let taken = script.write(fd, &bytes).unwrap();
    assert!((1..bytes.len() as i32).contains(&taken));
    assert_eq!(script.write(fd, b"x"), Err(Errno::EAGAIN));
    assert_eq!(script.poll(fd, ALL, 0), 0);
}

#[test]
fn calls_that_make_no_sense_say_why() {
    let script = Script::new();
    let table = script.table();
    // SAFETY: numbers only.
    let socket = |domain, kind, protocol| unsafe {
        let fd = table.socket.unwrap()(table.userdata, domain, kind, protocol);
        if fd >= 0 { Ok(fd) } else { Err(Errno::last()) }
    };
    assert_eq!(socket(libc::AF_UNIX, libc::SOCK_STREAM, 0), Err(Errno::EAFNOSUPPORT));
    assert_eq!(socket(libc::AF_INET, libc::SOCK_DGRAM, 0), Err(Errno::ESOCKTNOSUPPORT));
    assert_eq!(socket(libc::AF_INET, libc::SOCK_STREAM, libc::IPPROTO_UDP), Err(Errno::EPROTONOSUPPORT));
    assert_eq!(script.listen(99_999, 1), Err(Errno::EBADF));
    let fd = script.socket();
    assert_eq!(script.read(fd, 1), Err(Errno::ENOTCONN));
    assert_eq!(script.write(fd, b"x"), Err(Errno::EPIPE));
    assert_eq!(script.shutdown(fd, SHUT_WR), Err(Errno::ENOTCONN));
    assert_eq!(script.accept(fd).err(), Some(Errno::EINVAL));
    assert_eq!(script.poll(fd, ALL, 0), POLLOUT | POLLHUP);
    assert_eq!(script.poll(99_999, ALL, 0), libc::POLLNVAL);
    let v6: SocketAddr = "[2001:db8::1]:80".parse().unwrap();
    assert_eq!(script.connect(fd, v6), Err(Errno::EAFNOSUPPORT));
    assert_eq!(script.connect_bytes(fd, &[2, 0, 0]), Err(Errno::EINVAL));
    assert_eq!(script.bind(fd, script.local), Ok(0));
    assert_eq!(script.bind(fd, script.local), Err(Errno::EINVAL));
    let other = script.socket();
    assert_eq!(script.bind(other, script.local), Err(Errno::EADDRINUSE));
    assert_eq!(script.listen(fd, 1), Ok(0));
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EISCONN));
    assert_eq!(script.read(fd, 1), Err(Errno::ENOTCONN));
}

#[test]
fn disconnecting_resets_and_frees_the_socket() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    assert_eq!(script.connect_bytes(fd, &[0; 16]), Ok(0));
    assert!(script.expect().has(Flags::RST));
    assert_eq!(script.read(fd, 1), Err(Errno::ECONNRESET));
    assert_eq!(script.read(fd, 1), Err(Errno::ENOTCONN));
}

#[test_case("192.168.0.1", "192.0.2.1", 40; "version 4")]
#[test_case("fd3d:0a0b:17d6::1", "fd3d:0a0b:17d6:8888::1", 60; "version 6")]
fn segments_larger_than_the_device_come_in_and_bursts_go_out_in_one_packet(local: &str, peer: &str, headers: usize) {
    let script = Script::between("", local.parse().unwrap(), peer.parse().unwrap());
    let (fd, iss) = script.accepted();
    let question: Vec<u8> = (0..20_000u32).map(|n| n as u8).collect();
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), &question);
    let ack = script.expect();
    assert_eq!(ack.tcp.ack, Some(PEER_ISS + 20_001));
    assert_eq!(script.recv(fd, 30_000, MSG_WAITALL | MSG_DONTWAIT), Ok(question));
    assert_eq!(script.write(fd, &[7; 10_000]), Ok(10_000));
    let mut bursts = [0, 0];
    for burst in &mut bursts {
        while *burst == 0 {
            *burst = script.expect().payload.len();
        }
    }
    assert_eq!(bursts, [5_000, 5_000], "half the window of ten segments each; {headers} bytes of headers");
}

/// Connects with as much of `data` in the SYN as possible; the call carries the peer's address.
fn send_with_syn(script: &Script, fd: i32, data: &[u8]) -> Answer<i32> {
    script.send_to(fd, data, libc::MSG_FASTOPEN, script.peer)
}

#[test]
fn a_client_asks_for_a_cookie_and_uses_it_for_the_next_connection() {
    let script = Script::new();
    let first = script.socket();
    script.set_nonblocking(first);
    assert_eq!(send_with_syn(&script, first, b"hello"), Err(Errno::EINPROGRESS), "there is no cookie yet");
    let syn = script.expect();
    assert!(syn.has(Flags::SYN) && syn.payload.is_empty());
    assert_eq!(syn.tcp.options.fast_open.map(|option| option.cookie), Some(None));
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(syn.tcp.seq + 1));
    syn_ack.dst_port = syn.tcp.src_port;
    syn_ack.options.mss = Some(1_000);
    let cookie = wire::Cookie::new(&[7; 8]);
    syn_ack.options.fast_open = Some(wire::FastOpen { kind: wire::FastOpenKind::Assigned, cookie });
    script.deliver(&syn_ack, b"");
    script.expect();

    let second = script.socket();
    script.set_nonblocking(second);
    assert_eq!(send_with_syn(&script, second, b"hello"), Ok(5));
    let syn = script.expect();
    assert_eq!(syn.payload, b"hello");
    assert_eq!(syn.tcp.options.fast_open.and_then(|option| option.cookie), cookie);
    assert_eq!(send_with_syn(&script, second, b"hello"), Err(Errno::EALREADY));

    let third = script.socket();
    script.setsockopt(third, libc::SOL_TCP, libc::TCP_FASTOPEN_CONNECT, &[1]).unwrap();
    assert_eq!(script.connect(third, script.peer), Ok(0), "nothing leaves before there is data");
    assert_eq!(script.connect(third, script.peer), Err(Errno::EISCONN));
    assert_eq!(script.poll(third, ALL, 0), POLLOUT);
    script.set_nonblocking(third);
    assert_eq!(script.write(third, b"world"), Ok(5));
    assert_eq!(script.expect().payload, b"world");
    assert_eq!(script.close(third), Ok(0));
}

#[test]
fn a_pointer_that_leads_nowhere_is_a_bad_address() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc");
    let table = script.table();
    let (u, last_page) = (table.userdata, usize::MAX - 4_095);
    for address in [8, last_page, usize::MAX] {
        let nowhere = std::ptr::without_provenance_mut::<libc::c_void>(address);
        // SAFETY: the test passes invalid pointers on purpose.
        let results = unsafe {
            let vector = libc::iovec { iov_base: nowhere, iov_len: 8 };
            [
                table.write.unwrap()(u, fd, nowhere, 8),
                table.read.unwrap()(u, fd, nowhere, 8),
                table.writev.unwrap()(u, fd, &raw const vector, 1),
                table.readv.unwrap()(u, fd, nowhere.cast(), 1),
                table.setsockopt.unwrap()(u, fd, SOL_SOCKET, libc::SO_KEEPALIVE, nowhere, 4) as isize,
                table.poll.unwrap()(u, nowhere.cast(), 1, 0) as isize,
            ]
        };
        assert_eq!((results, Errno::last()), ([-1; 6], Errno::EFAULT), "{address:#x}");
    }
    assert_eq!(script.read(fd, 10), Ok(b"abc".to_vec()), "nothing was lost");
}
