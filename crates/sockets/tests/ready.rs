//! epoll, pipes and splice through the C interface.

mod common;

use common::{Answer, Script};
use libc::{EPOLL_CTL_ADD, EPOLL_CTL_DEL, EPOLL_CTL_MOD, EPOLLERR, EPOLLET, EPOLLHUP, EPOLLIN, EPOLLONESHOT, EPOLLOUT};
use libc::{EPOLLRDHUP, F_GETPIPE_SZ, POLLERR, POLLHUP, POLLIN, POLLOUT, SHUT_WR, c_int, epoll_event};
use nix::errno::Errno;
use test_case::test_case;
use wire::Flags;

fn answer(result: c_int) -> Answer<c_int> {
    if result >= 0 { Ok(result) } else { Err(Errno::last()) }
}

fn epoll_create(script: &Script, size: c_int) -> Answer<c_int> {
    let table = script.table();
    answer(unsafe { table.epoll_create.unwrap()(table.userdata, size) })
}

fn epoll_ctl(script: &Script, epfd: c_int, op: c_int, fd: c_int, events: c_int) -> Answer<c_int> {
    let table = script.table();
    let mut event = epoll_event { events: events as u32, u64: fd as u64 };
    answer(unsafe { table.epoll_ctl.unwrap()(table.userdata, epfd, op, fd, &raw mut event) })
}

/// Descriptors with their events.
fn epoll_wait(script: &Script, epfd: c_int, max: c_int, timeout_ms: c_int) -> Answer<Vec<(c_int, c_int)>> {
    let table = script.table();
    let mut events = vec![epoll_event { events: 0, u64: 0 }; max.max(1) as usize];
    let wait = table.epoll_wait.unwrap();
    let count = answer(unsafe { wait(table.userdata, epfd, events.as_mut_ptr(), max, timeout_ms) })?;
    events.truncate(count as usize);
    Ok(events.into_iter().map(|event| (event.u64 as c_int, event.events as c_int)).collect())
}

/// The events of the one watched descriptor, zero for none.
fn ready_events(script: &Script, epfd: c_int) -> c_int {
    epoll_wait(script, epfd, 8, 0).unwrap().first().map_or(0, |(_, events)| *events)
}

fn watching(script: &Script, fd: c_int, events: c_int) -> c_int {
    let epfd = epoll_create(script, 1).unwrap();
    epoll_ctl(script, epfd, EPOLL_CTL_ADD, fd, events).unwrap();
    epfd
}

fn pipe(script: &Script) -> (c_int, c_int) {
    let table = script.table();
    let mut fds = [-1; 2];
    answer(unsafe { table.pipe.unwrap()(table.userdata, fds.as_mut_ptr()) }).unwrap();
    (fds[0], fds[1])
}

fn splice(script: &Script, from: c_int, to: c_int, len: usize, flags: u32) -> Answer<c_int> {
    let table = script.table();
    let (mut in_offset, mut out_offset) = (0, 0);
    let splice = table.splice.unwrap();
    answer(unsafe { splice(table.userdata, from, &raw mut in_offset, to, &raw mut out_offset, len, flags) })
}

struct Conversation {
    script: Script,
    fd: c_int,
    iss: base::SeqNum,
    /// The peer's next number.
    seq: u32,
}

impl Conversation {
    fn new() -> Self {
        let script = Script::new();
        let (fd, iss) = script.accepted();
        Self { script, fd, iss, seq: 1 }
    }
    fn peer_sends(&mut self, bytes: &[u8]) {
        self.script.deliver(&self.script.segment(Flags::PSH, self.seq, Some(self.iss + 1)), bytes);
        self.seq += bytes.len() as u32;
    }
    fn peer_closes(&mut self) {
        self.script.deliver(&self.script.segment(Flags::FIN, self.seq, Some(self.iss + 1)), b"");
        self.seq += 1;
    }
    fn peer_acks(&self, upto: u32) {
        self.script.deliver(&self.script.segment(Flags::NONE, self.seq, Some(self.iss + upto)), b"");
    }
}

#[test]
fn by_level_a_reader_is_woken_until_everything_is_read() {
    let mut talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLIN);
    assert_eq!(ready_events(&talk.script, epfd), 0);
    talk.peer_sends(b"ab");
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN, EPOLLIN));
    talk.script.read(talk.fd, 1).unwrap();
    assert_eq!(ready_events(&talk.script, epfd), EPOLLIN);
    talk.script.read(talk.fd, 1).unwrap();
    assert_eq!(ready_events(&talk.script, epfd), 0);
}

#[test]
fn by_edge_a_reader_is_woken_once_for_each_arrival() {
    let mut talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLIN | EPOLLET);
    talk.peer_sends(b"a");
    assert_eq!(
        (ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)),
        (EPOLLIN, 0),
        "unread, but not new"
    );
    talk.peer_sends(b"b");
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN, 0));
    talk.peer_sends(b"c");
    talk.script.read(talk.fd, 100).unwrap();
    assert_eq!(ready_events(&talk.script, epfd), 0, "it was read before anybody looked");
}

#[test]
fn by_edge_an_arrival_tells_of_everything_that_is_so() {
    let mut talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLIN | EPOLLOUT | EPOLLET);
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLOUT, 0));
    talk.peer_sends(b"a");
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN | EPOLLOUT, 0));
}

#[test]
fn by_edge_a_writer_is_woken_when_there_is_room_again() {
    let talk = Conversation::new();
    let Conversation { script, fd, .. } = &talk;
    script.setsockopt(*fd, libc::SOL_SOCKET, libc::SO_SNDBUF, &[10_000]).unwrap();
    script.set_nonblocking(*fd);
    let epfd = watching(script, *fd, EPOLLOUT | EPOLLET);
    assert_eq!((ready_events(script, epfd), ready_events(script, epfd)), (EPOLLOUT, 0));
    let mut written = 0;
    while let Ok(len) = script.write(*fd, &[0; 5_000]) {
        written += len as u32;
    }
    assert!(written > 0 && ready_events(script, epfd) == 0, "{written} bytes fit");
    talk.peer_acks(1 + 1_000);
    assert_eq!(ready_events(script, epfd), 0, "too little room to be worth it");
    for acked in (2..=written / 1_000).map(|segments| segments * 1_000) {
        talk.peer_acks(1 + acked);
    }
    assert_eq!((ready_events(script, epfd), ready_events(script, epfd)), (EPOLLOUT, 0));
}

#[test]
fn once_means_once_until_it_is_asked_for_anew() {
    let mut talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLIN | EPOLLONESHOT);
    talk.peer_sends(b"a");
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN, 0));
    talk.peer_sends(b"b");
    assert_eq!(ready_events(&talk.script, epfd), 0);
    epoll_ctl(&talk.script, epfd, EPOLL_CTL_MOD, talk.fd, EPOLLIN | EPOLLONESHOT).unwrap();
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN, 0));
}

#[test]
fn the_peers_end_and_both_ends_are_distinguished() {
    let mut talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLIN | EPOLLRDHUP | EPOLLET);
    talk.peer_closes();
    assert_eq!((ready_events(&talk.script, epfd), ready_events(&talk.script, epfd)), (EPOLLIN | EPOLLRDHUP, 0));
    talk.script.shutdown(talk.fd, SHUT_WR).unwrap();
    talk.peer_acks(2);
    assert_eq!(ready_events(&talk.script, epfd), EPOLLIN | EPOLLRDHUP | EPOLLHUP, "reported without being asked for");
}

#[test]
fn an_error_is_reported_without_being_asked_for() {
    let talk = Conversation::new();
    let epfd = watching(&talk.script, talk.fd, EPOLLET);
    talk.script.deliver(&talk.script.segment(Flags::RST, talk.seq, Some(talk.iss + 1)), b"");
    assert_eq!(ready_events(&talk.script, epfd), EPOLLERR | EPOLLHUP);
}

#[test]
fn waiting_takes_virtual_time_and_ends_with_the_event_or_without_one() {
    let script = Script::new();
    let (fd, _) = script.accepted();
    let epfd = watching(&script, fd, EPOLLIN);
    let before = script.now();
    assert_eq!(epoll_wait(&script, epfd, 1, 250), Ok(vec![]));
    assert!((250_000..251_000).contains(&(script.now() - before)));
}

#[test]
fn a_set_says_what_is_wrong_with_a_request() {
    let script = Script::new();
    let fd = script.socket();
    assert_eq!((epoll_create(&script, 0), epoll_create(&script, -1)), (Err(Errno::EINVAL), Err(Errno::EINVAL)));
    let epfd = epoll_create(&script, 10).unwrap();
    let ctl = |epfd, op, fd| epoll_ctl(&script, epfd, op, fd, EPOLLIN);
    assert_eq!(ctl(epfd, EPOLL_CTL_MOD, fd), Err(Errno::ENOENT));
    assert_eq!(ctl(epfd, EPOLL_CTL_DEL, fd), Err(Errno::ENOENT));
    assert_eq!(ctl(epfd, EPOLL_CTL_ADD, fd), Ok(0));
    assert_eq!(ctl(epfd, EPOLL_CTL_ADD, fd), Err(Errno::EEXIST));
    assert_eq!(ctl(epfd, EPOLL_CTL_ADD, epfd), Err(Errno::EINVAL));
    assert_eq!(ctl(epfd, EPOLL_CTL_ADD, 9_999), Err(Errno::EBADF));
    assert_eq!(ctl(9_999, EPOLL_CTL_ADD, fd), Err(Errno::EBADF));
    assert_eq!(ctl(fd, EPOLL_CTL_ADD, epfd), Err(Errno::EINVAL), "a socket is not a set");
    assert_eq!(ctl(epfd, 9, fd), Err(Errno::EINVAL));
    assert_eq!(epoll_wait(&script, epfd, 0, 0), Err(Errno::EINVAL));
    assert_eq!(epoll_wait(&script, fd, 1, 0), Err(Errno::EINVAL));
    assert_eq!(epoll_wait(&script, 9_999, 1, 0), Err(Errno::EBADF));
    script.close(fd).unwrap();
    assert_eq!(epoll_wait(&script, epfd, 1, 0), Ok(vec![]), "a closed descriptor is not watched any more");
    assert_eq!(script.close(epfd), Ok(0));
}

#[test]
fn sets_in_sets_are_watched_and_may_not_contain_each_other() {
    let mut talk = Conversation::new();
    let inner = watching(&talk.script, talk.fd, EPOLLIN);
    let outer = watching(&talk.script, inner, EPOLLIN);
    assert_eq!(ready_events(&talk.script, outer), 0);
    talk.peer_sends(b"a");
    assert_eq!(epoll_wait(&talk.script, outer, 1, 0), Ok(vec![(inner, EPOLLIN)]));
    assert_eq!(epoll_ctl(&talk.script, inner, EPOLL_CTL_ADD, outer, EPOLLIN), Err(Errno::ELOOP));
}

#[test]
fn who_finds_no_room_for_all_events_gets_the_rest_next() {
    let script = Script::new();
    let fds = [script.socket(), script.socket(), script.socket()];
    let epfd = epoll_create(&script, 1).unwrap();
    for fd in fds {
        epoll_ctl(&script, epfd, EPOLL_CTL_ADD, fd, EPOLLOUT).unwrap();
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.extend(epoll_wait(&script, epfd, 1, 0).unwrap().into_iter().map(|(fd, _)| fd));
    }
    assert_eq!(seen, fds, "each in its turn");
}

#[test]
fn a_pipe_carries_bytes_and_knows_its_ends() {
    let script = Script::new();
    let (from, to) = pipe(&script);
    assert_eq!((script.poll(from, POLLIN, 0), script.poll(to, POLLOUT, 0)), (0, POLLOUT));
    assert_eq!(script.write(to, b"hello"), Ok(5));
    assert_eq!(script.poll(from, POLLIN, 0), POLLIN);
    assert_eq!(script.read(from, 3), Ok(b"hel".to_vec()));
    assert_eq!((script.read(to, 1), script.write(from, b"x")), (Err(Errno::EBADF), Err(Errno::EBADF)));
    assert_eq!(script.fcntl(from, F_GETPIPE_SZ), Ok(65_536));
    script.close(to).unwrap();
    assert_eq!(script.poll(from, POLLIN, 0), POLLIN | POLLHUP);
    assert_eq!((script.read(from, 10), script.read(from, 10)), (Ok(b"lo".to_vec()), Ok(vec![])));
    let (from, to) = pipe(&script);
    script.close(from).unwrap();
    assert_eq!((script.poll(to, 0, 0), script.write(to, b"x")), (POLLERR, Err(Errno::EPIPE)));
}

#[test]
fn a_full_pipe_takes_no_part_of_a_small_write() {
    let script = Script::new();
    let (from, to) = pipe(&script);
    script.set_nonblocking(to);
    assert_eq!(script.write(to, &[1; 70_000]), Ok(65_536), "a large one is cut");
    assert_eq!(script.write(to, b"x"), Err(Errno::EAGAIN));
    script.read(from, 100).unwrap();
    assert_eq!(script.write(to, &[2; 101]), Err(Errno::EAGAIN));
    assert_eq!(script.write(to, &[2; 100]), Ok(100));
}

#[test]
fn splice_moves_bytes_between_connection_and_pipe() {
    let mut talk = Conversation::new();
    let (from, to) = pipe(&talk.script);
    let Conversation { fd, .. } = talk;
    talk.script.set_nonblocking(fd);
    assert_eq!(splice(&talk.script, fd, to, 100, 0), Err(Errno::EAGAIN));
    talk.peer_sends(b"through the pipe");
    assert_eq!(splice(&talk.script, fd, to, 7, 0), Ok(7));
    assert_eq!(splice(&talk.script, fd, to, 100, 0), Ok(9));
    assert_eq!(splice(&talk.script, from, fd, 100, 0), Ok(16));
    let echoed = std::iter::from_fn(|| talk.script.receive()).find(|seen| !seen.payload.is_empty());
    assert_eq!(echoed.map(|seen| seen.payload), Some(b"through the pipe".to_vec()));
    talk.peer_closes();
    assert_eq!(splice(&talk.script, fd, to, 100, 0), Ok(0), "the end of the stream");
}

#[test_case(true; "two pipes")]
#[test_case(false; "two sockets")]
fn splice_needs_a_pipe_and_another_descriptor(pipes: bool) {
    let script = Script::new();
    let (from, to) = pipe(&script);
    if pipes {
        let (other_from, other_to) = pipe(&script);
        script.write(to, b"abc").unwrap();
        assert_eq!(splice(&script, from, other_to, 2, 0), Ok(2));
        assert_eq!(script.read(other_from, 10), Ok(b"ab".to_vec()));
        assert_eq!(splice(&script, from, to, 1, 0), Err(Errno::EINVAL), "the same one");
    } else {
        let (a, b) = (script.socket(), script.socket());
        assert_eq!(splice(&script, a, b, 1, 0), Err(Errno::EINVAL));
        assert_eq!(splice(&script, a, 9_999, 1, 0), Err(Errno::EBADF));
    }
}
