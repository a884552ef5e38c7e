//! Any sequence of packetdrill's calls, and of packets to the connections they create: no panic, no overflow of time, no leaked
//! descriptor, and no byte lost, added or changed in either direction.
//!
//! The calls go through the C interface as packetdrill's do. What the application reads must continue from its last position in
//! the peer's stream (`peer::byte_at`), and what a segment carries must be what was written (`books`).

mod books;
mod peer;
mod steps;

use crate::Tally;
use crate::input::Input;
use books::Books;
use drill::ffi::Linked;
use drill::stack::{Call, Returned, Stack};
use peer::Peer;
use std::sync::{Mutex, PoisonError};

/// Most steps of one input.
const STEPS: usize = 400;
/// Virtual time of one input, microseconds: a week. An input that only waits for timers cannot run indefinitely.
const TIME_US: i64 = 7 * 24 * 3_600 * 1_000_000;

/// Plays the input: the first byte selects flags, each step consumes as many as it needs.
pub fn packetdrill_calls(bytes: &[u8]) {
    play(bytes);
}

/// As [`packetdrill_calls`], and returns how much happened.
pub fn play(bytes: &[u8]) -> Tally {
    // Descriptors are counted, so only one run may be active at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = descriptors();
    let mut game = Game::new(Input::new(bytes));
    let begin = game.stack.now();
    while !game.input.is_empty() && game.tally.steps < STEPS as u64 {
        game.tally.steps += 1;
        game.step();
        if game.stack.now() - begin > TIME_US {
            break;
        }
    }
    game.finish();
    let tally = game.tally;
    drop(game);
    assert_eq!(descriptors(), before, "descriptors are left behind");
    tally
}

/// How many of the adapter's descriptors are open.
fn descriptors() -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").expect("a list of descriptors");
    let ours = |entry: std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().contains("memfd:longhaul"))
    };
    entries.flatten().map(ours).filter(|ours| *ours).count()
}

/// One script's world.
struct Game<'a> {
    input: Input<'a>,
    stack: Linked,
    peer: Peer,
    books: Books,
    tally: Tally,
}

impl<'a> Game<'a> {
    fn new(mut input: Input<'a>) -> Self {
        let choice = input.byte();
        let profile = ["linux", "linux", "linux", "rfc"][usize::from(choice & 3)];
        let mtu = [1_500, 1_500, 576, 9_000][usize::from(choice >> 2 & 3)];
        let v6 = choice & 16 != 0;
        let peer = Peer::new(v6);
        let flags = format!("profile={profile},mtu={mtu},local={}", peer.local);
        Self { stack: Linked::own(Some(&flags)), peer, books: Books::default(), input, tally: Tally::default() }
    }

    fn call(&mut self, mut call: Call) -> (Returned, Call) {
        let returned = self.stack.perform(&mut call);
        (returned, call)
    }

    /// Hands the stack a packet.
    fn deliver(&mut self, packet: &[u8]) {
        self.tally.packets += 1;
        self.books.note_arrival(packet);
        self.stack.send(packet).expect("the device takes every packet");
    }

    /// Fetches a packet, if one comes.
    fn fetch(&mut self) -> Option<Vec<u8>> {
        let (packet, _) = self.stack.receive(0).ok()?;
        self.tally.packets += 1;
        self.books.check_departure(&packet);
        self.peer.note(&packet);
        Some(packet)
    }

    /// Reads everything readable, and checks every packet that waits to leave.
    fn finish(&mut self) {
        for fd in self.books.sockets() {
            self.call(Call::Fcntl { fd, command: libc::F_SETFL, argument: Some(libc::O_NONBLOCK) });
            self.read(fd, 1 << 20, 0, 0);
        }
        for _ in 0..40 {
            if self.fetch().is_none() {
                break;
            }
        }
        if self.input.byte() & 1 == 0 {
            for fd in self.books.everything() {
                self.call(Call::Close { fd });
            }
        }
    }
}
