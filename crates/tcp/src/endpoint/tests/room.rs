//! Room in the send buffer as an application sees it: how much a write takes, when writing is worthwhile, and when a
//! writer is woken.

use crate::Config;
use crate::config::SendAccounting;
use crate::cx::StackCx;
use crate::endpoint::Boundary;
use crate::event::ConnEvent;
use crate::testing::{MSS, Script, quick};
use test_case::test_case;
use trace::Off;

/// A connection to a peer whose window is closed, so that what is written stays unsent.
fn shut(cfg: Config) -> Script {
    let mut script = Script::established(cfg);
    script.peer_window = 0;
    script.ack(1);
    script
}

fn with_buffer(buffer: u32) -> Config {
    let mut cfg = quick();
    cfg.send.buffer = buffer;
    cfg
}

fn is_writable(script: &mut Script) -> bool {
    script.stack.poll_writable(&mut StackCx::new(script.now, &mut Off), script.conn)
}

/// Whether a writer was woken since this was asked last.
fn was_woken(script: &mut Script) -> bool {
    let woken = script.saw(ConnEvent::Writable);
    script.events.clear();
    woken
}

#[test_case(10_000, 5_000; "half of a small buffer")]
#[test_case(1 << 20, (1 << 20) - (128 << 10); "128 KiB of a large one")]
fn writing_is_worth_while_while_so_much_is_free(buffer: u32, most: u64) {
    let mut script = shut(with_buffer(buffer));
    script.write(most);
    assert!(is_writable(&mut script));
    script.write(1);
    assert!(!is_writable(&mut script));
}

#[test]
fn who_asks_in_vain_is_woken_once_when_half_of_the_buffer_is_free() {
    let mut script = Script::established(with_buffer(8 * MSS));
    script.write(u64::from(6 * MSS));
    script.events.clear();
    assert!(!is_writable(&mut script));
    script.ack(1 + MSS);
    assert!(!was_woken(&mut script), "five of eight are in use");
    script.ack(1 + 2 * MSS);
    assert!(was_woken(&mut script));
    script.ack(1 + 3 * MSS);
    assert!(!was_woken(&mut script), "the writer knows");
}

#[test]
fn a_changed_setting_wakes_no_writer_while_the_buffer_is_full() {
    let mut script = Script::established(with_buffer(8 * MSS));
    script.write(u64::from(9 * MSS));
    script.events.clear();
    let mut cfg = with_buffer(8 * MSS);
    cfg.send.nagle = crate::config::NagleConfig::Rfc896;
    script.reconfigure(cfg);
    assert!(!was_woken(&mut script));
    script.reconfigure(with_buffer(32 * MSS));
    assert!(was_woken(&mut script));
}

#[test]
fn a_writer_that_knows_of_room_is_not_woken() {
    let mut script = Script::established(with_buffer(8 * MSS));
    script.write(u64::from(2 * MSS));
    script.events.clear();
    assert!(is_writable(&mut script));
    script.ack(1 + MSS);
    assert!(!was_woken(&mut script));
}

#[test]
fn who_was_cut_short_still_waits_after_asking_whether_there_is_room() {
    let mut script = Script::established(with_buffer(8 * MSS));
    script.write(u64::from(9 * MSS));
    script.events.clear();
    assert!(!is_writable(&mut script) && !is_writable(&mut script));
    script.ack(1 + 4 * MSS);
    assert!(was_woken(&mut script));
}

/// The SYN's number does not count as data that waits.
#[test]
fn a_limit_on_unsent_data_holds_before_the_connection_is_open() {
    let mut cfg = with_buffer(100_000);
    cfg.send.notsent_lowat = Some(4_000);
    let mut script = Script::connecting(cfg);
    assert!(is_writable(&mut script));
    assert_eq!(script.write_with(10_000, Boundary::None), 4_000);
    assert!(!is_writable(&mut script));
}

#[test]
fn no_more_than_a_limit_is_taken_that_is_not_sent_and_half_of_it_is_enough() {
    let mut cfg = quick();
    cfg.send.notsent_lowat = Some(4_000);
    let mut script = shut(cfg);
    script.write(1_999);
    assert!(is_writable(&mut script));
    script.write(1);
    assert!(!is_writable(&mut script));
    script.write(10_000);
    let unsent = |script: &Script| script.stack.details(script.conn, script.now).expect("exists").unsent;
    assert_eq!(unsent(&script), 4_000);
    script.events.clear();
    script.peer_window = 10_000;
    script.ack(1);
    assert_eq!(unsent(&script), 0);
    script.ack(1 + MSS);
    assert!(was_woken(&mut script), "all of it has left");
}

#[test]
fn a_device_that_takes_single_segments_counts_bytes() {
    let mut cfg = with_buffer(10_000);
    cfg.send.accounting = SendAccounting::Chunks { head: 900, record: 100 };
    let mut script = shut(cfg);
    script.write(5_000);
    assert!(is_writable(&mut script));
    script.write(1);
    assert!(!is_writable(&mut script));
}
