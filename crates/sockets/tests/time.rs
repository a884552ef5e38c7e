//! Virtual time and the second thread, through the C interface.

mod common;

use common::{PEER_ISS, Script, Seen};
use libc::POLLIN;
use nix::errno::Errno;
use std::sync::mpsc;
use std::thread;
use wire::Flags;

/// Runs a call on a second thread, as packetdrill does: its end time is asked for on that thread. `meanwhile` runs once the
/// call sleeps.
fn blocked<T: Send>(script: &Script, call: impl FnOnce(&Script) -> T + Send, meanwhile: impl FnOnce()) -> (T, i64) {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let second = scope.spawn(move || {
            sender.send(nix::unistd::gettid()).unwrap();
            let result = call(script);
            (result, script.now())
        });
        let thread_id = receiver.recv().unwrap();
        while state_of(thread_id) != Some('S') {
            assert!(!second.is_finished(), "the call does not block");
            thread::yield_now();
        }
        meanwhile();
        second.join().unwrap()
    })
}

/// The scheduler's letter for a thread of ours.
fn state_of(thread_id: nix::unistd::Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread_id}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn asking_for_the_time_takes_a_microsecond_and_sleeping_takes_what_it_says() {
    let script = Script::new();
    let first = script.now();
    assert_eq!(script.now() - first, 1);
    script.socket();
    assert_eq!(script.now() - first, 2);
    script.usleep(1_000_000);
    assert_eq!(script.now() - first, 1_000_003);
}

#[test]
fn a_blocking_call_can_be_waited_for_on_the_second_thread_by_asking() {
    let script = Script::new();
    script.socket();
    let start = script.now();
    let reached = thread::scope(|scope| {
        let spin = || (0..20).fold(0, |_, _| script.now());
        scope.spawn(spin).join().unwrap()
    });
    assert_eq!(reached, start + 20);
}

#[test]
fn retransmissions_come_at_their_times_however_they_are_waited_for() {
    let script = Script::new();
    let fd = script.socket();
    script.set_nonblocking(fd);
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    let first = script.expect();
    // Received before they are due: time passes.
    let second = script.expect();
    assert_eq!(second.at - first.at, 1_000_000);
    assert!((0..=1).contains(&(script.now() - second.at)));
    // After sleeping past its time, the packet has the time it was sent, not the time it was fetched.
    script.usleep(10_000_000);
    assert_eq!(script.expect().at - first.at, 2_000_000);
    assert_eq!(script.expect().at - first.at, 3_000_000);
}

#[test]
fn nothing_comes_when_nothing_will() {
    let script = Script::new();
    assert_eq!(script.receive(), None);
    script.accepted();
    assert_eq!(script.receive(), None, "an idle connection is silent");
}

#[test]
fn a_blocked_accept_ends_when_the_handshake_does() {
    let script = Script::new();
    let listener = script.listener();
    let start = script.now();
    let ((accepted, _), end) = {
        let (result, end) = blocked(
            &script,
            |script| script.accept(listener).unwrap(),
            || {
                script.usleep(100_000);
                script.peer_opens();
                // Main runs ahead; the call ends at the moment it was released.
                script.usleep(5_000_000);
            },
        );
        (result, end)
    };
    assert_ne!(accepted, listener);
    assert_eq!(end - start, 100_000);
}

#[test]
fn a_blocked_connect_ends_with_the_answer() {
    let script = Script::new();
    let fd = script.socket();
    script.bind(fd, script.local).unwrap();
    let start = script.now();
    let (result, end) = blocked(
        &script,
        |script| script.connect(fd, script.peer),
        || {
            let syn = script.expect();
            script.usleep(50_000);
            script.deliver(&script.segment(Flags::SYN, 0, Some(syn.tcp.seq + 1)), b"");
            assert_eq!(script.expect().tcp.ack, Some(PEER_ISS + 1));
        },
    );
    assert_eq!((result, end - start), (Ok(0), 50_000));
    let refused = script.socket();
    let (result, _) = blocked(
        &script,
        |script| script.connect(refused, script.peer),
        || {
            let syn = script.expect();
            let mut reset = script.segment(Flags::RST, 0, Some(syn.tcp.seq + 1));
            reset.dst_port = syn.tcp.src_port;
            script.deliver(&reset, b"");
        },
    );
    assert_eq!(result, Err(Errno::ECONNREFUSED));
}

#[test]
fn a_blocked_read_waits_for_all_it_wants() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    let (result, _) = blocked(
        &script,
        |script| script.recv(fd, 6, libc::MSG_WAITALL),
        || {
            script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc");
            script.usleep(10_000);
            script.deliver(&script.segment(Flags::PSH, 4, Some(iss + 1)), b"defgh");
        },
    );
    assert_eq!(result, Ok(b"abcdef".to_vec()));
    let (result, _) = blocked(
        &script,
        |script| script.recv(fd, 6, libc::MSG_WAITALL),
        || script.deliver(&script.segment(Flags::FIN, 9, Some(iss + 1)), b""),
    );
    assert_eq!(result, Ok(b"gh".to_vec()), "the end of the stream is as much as there will be");
}

#[test]
fn a_blocked_write_goes_on_as_room_appears() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    let bytes: Vec<u8> = (0..8_000_000u32).map(|n| (n / 1_000) as u8).collect();
    let mut received = Vec::new();
    let (result, _) = blocked(
        &script,
        |script| script.write(fd, &bytes),
        || {
            while received.len() < bytes.len() {
                let seen = script.expect();
                if seen.tcp.seq == iss + 1 + received.len() as u32 {
                    received.extend_from_slice(&seen.payload);
                }
                let ack = iss + 1 + received.len() as u32;
                script.deliver(&script.segment(Flags::NONE, 1, Some(ack)), b"");
            }
        },
    );
    assert_eq!(result, Ok(bytes.len() as i32));
    assert!(received == bytes);
}

#[test]
fn a_poll_ends_when_its_time_is_over_or_something_comes() {
    let script = Script::new();
    let (fd, iss) = script.accepted();
    let start = script.now();
    let (flags, end) = blocked(&script, |script| script.poll(fd, POLLIN, 300), || script.usleep(1_000_000));
    assert_eq!((flags, end - start), (0, 300_000));
    let (flags, _) = blocked(
        &script,
        |script| script.poll(fd, POLLIN, -1),
        || script.deliver(&script.segment(Flags::PSH, 1, Some(iss + 1)), b"abc"),
    );
    assert_eq!(flags, POLLIN);
    let before = script.now();
    assert_eq!(script.poll(fd, libc::POLLRDHUP, 20), 0);
    assert!((20_000..20_010).contains(&(script.now() - before)), "main's own wait takes time, too");
}

#[test]
fn a_lingering_close_ends_when_the_peer_has_everything_or_time_is_over() {
    for answers in [true, false] {
        let script = Script::new();
        let (fd, iss) = script.accepted();
        script.setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, &[1, 2]).unwrap();
        script.write(fd, b"abc").unwrap();
        let start = script.now();
        let (result, end) = blocked(
            &script,
            |script| script.close(fd),
            || {
                script.usleep(30_000);
                if answers {
                    script.deliver(&script.segment(Flags::NONE, 1, Some(iss + 5)), b"");
                }
                script.usleep(4_000_000);
            },
        );
        assert_eq!((result, end - start), (Ok(0), if answers { 30_000 } else { 2_000_000 }));
    }
}

/// All of a script's packets, with times relative to the first.
fn run(asked_before: usize) -> Vec<Seen> {
    let script = Script::new();
    for _ in 0..asked_before {
        script.now();
    }
    let fd = script.socket();
    script.set_nonblocking(fd);
    assert_eq!(script.connect(fd, script.peer), Err(Errno::EINPROGRESS));
    let syn = script.expect();
    let mut syn_ack = script.segment(Flags::SYN, 0, Some(syn.tcp.seq + 1));
    syn_ack.dst_port = syn.tcp.src_port;
    script.usleep(25_000);
    script.deliver(&syn_ack, b"");
    script.write(fd, &[7; 30_000]).unwrap();
    let start = syn.at;
    let mut seen = vec![syn];
    seen.extend((0..12).map_while(|_| script.receive()));
    seen.iter_mut().for_each(|seen| seen.at -= start);
    seen
}

#[test]
fn the_same_script_gives_the_same_packets_at_the_same_times() {
    let once = run(0);
    assert_eq!(once.len(), 13);
    assert_eq!(run(0), once);
    assert_eq!(run(5_000), once, "how often the time was asked for before the first call changes nothing");
}

#[test]
fn a_writer_that_waits_is_woken_when_a_third_of_the_buffer_is_free() {
    let bytes = vec![7; 32 << 20];
    let capacity = {
        let script = Script::new();
        let (fd, _) = script.accepted();
        script.setsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &[100_000]).unwrap();
        script.send(fd, &bytes, libc::MSG_DONTWAIT).unwrap() as u32
    };
    let script = Script::new();
    let (fd, iss) = script.accepted();
    script.setsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &[100_000]).unwrap();
    let (mut acked, mut acks) = (0, Vec::new());
    let (result, end) = blocked(
        &script,
        |script| script.write(fd, &bytes[..capacity as usize + 10]),
        || {
            while acked < capacity / 2 {
                acked += script.expect().payload.len() as u32;
                script.usleep(100);
                acks.push((script.now(), acked));
                script.deliver(&script.segment(Flags::NONE, 1, Some(iss + 1 + acked)), b"");
            }
        },
    );
    assert_eq!(result, Ok(capacity as i32 + 10));
    let (_, acked) = acks.iter().rev().find(|(at, _)| *at <= end).unwrap();
    assert!((capacity / 3..capacity / 3 + 65_536).contains(acked), "{acked} of {capacity}");
}
