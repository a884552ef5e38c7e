//! Ends that differ from the request: a stream of another length, and Ctrl-C. What is kept, what is reported, what the peer sees.

use crate::netns::Lab;
use crate::{V4, longhaul, own, wait_until};
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use test_case::test_case;

/// Shorter than a peer waits for its own timer.
const SOON: Duration = Duration::from_secs(10);

#[test_case("9kB"; "longer")]
#[test_case("11kB"; "shorter")]
fn a_stream_of_another_length_than_asked_for_is_an_error_and_does_not_replace_the_file(asked: &str) {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, file) = (lab.peer_address(V4, 19), directory.path().join("came"));
    std::fs::write(&file, "of yesterday").unwrap();
    let server = lab.peer.pattern_server(remote, 10_000);
    let arguments = ["recv", &remote.to_string(), file.to_str().unwrap(), "--bytes", asked];
    let summary = longhaul(&lab, &arguments, V4, "").finish(1);
    server.join();
    let (part, asked) = (file.with_extension("part"), asked.replace("kB", "000"));
    let message =
        format!("{remote} sent 10000 bytes, not the {asked} of --bytes; what came is kept in {}", part.display());
    assert!(summary.stderr.contains(&message), "{summary:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "of yesterday");
    assert_eq!(std::fs::metadata(&part).unwrap().len(), 10_000);
}

#[test]
fn an_interrupted_sender_resets_its_connection_and_says_how_to_go_on() {
    let lab = Lab::new();
    let remote = lab.peer_address(V4, 9);
    let (begun, reader) = lab.peer.reader(remote);
    let sending = longhaul(&lab, &["send", &remote.to_string(), "--bytes", "100GB"], V4, "");
    begun.recv().unwrap();
    let interrupted = Instant::now();
    sending.interrupt();
    let summary = sending.finish(1);
    assert_eq!(reader.join(), Some(ErrorKind::ConnectionReset));
    assert!(interrupted.elapsed() < SOON, "{:?}", interrupted.elapsed());
    let message = format!("{remote}: interrupted; the same command sends it again from the beginning");
    assert!(summary.stderr.contains(&message), "{summary:?}");
    assert_eq!(summary.text("/end"), "aborted locally");
}

#[test]
fn an_interrupted_receiver_resets_its_connection_and_says_how_to_go_on() {
    let (lab, directory) = (Lab::new(), tempfile::tempdir().unwrap());
    let (remote, file) = (lab.peer_address(V4, 19), directory.path().join("came"));
    let (begun, writer) = lab.peer.writer(remote);
    let receiving = longhaul(&lab, &["recv", &remote.to_string(), file.to_str().unwrap()], V4, "");
    begun.recv().unwrap();
    let part = file.with_extension("part");
    wait_until(|| std::fs::metadata(&part).is_ok_and(|part| part.len() > 0));
    let interrupted = Instant::now();
    receiving.interrupt();
    let summary = receiving.finish(1);
    let end = writer.join();
    // Which of the two depends on whether the writer waited for room.
    assert!(matches!(end, Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)), "{end:?}");
    assert!(interrupted.elapsed() < SOON, "{:?}", interrupted.elapsed());
    let message = format!("what came is kept in {}; the same command receives it again", part.display());
    assert!(summary.stderr.contains(&message), "{summary:?}");
}

#[test_case("discard", 9)]
#[test_case("echo", 7)]
fn an_interrupted_server_resets_every_open_connection(service: &str, port: u16) {
    const CLIENTS: usize = 100;
    let lab = Lab::new();
    let mut server = longhaul(&lab, &["serve", service], V4, "");
    server.ready();
    let clients = lab.peer.waiting_clients(own(V4, port), CLIENTS);
    // A client's connection opens a round trip before the server's.
    std::thread::sleep(Duration::from_millis(500));
    let interrupted = Instant::now();
    server.interrupt();
    let summary = server.finish(0);
    assert_eq!(clients.join(), [Some(ErrorKind::ConnectionReset); CLIENTS]);
    assert!(interrupted.elapsed() < SOON, "{:?}", interrupted.elapsed());
    let message = "interrupted: every open connection was reset; the same command serves again";
    assert!(summary.stderr.contains(message), "{summary:?}");
    assert_eq!((summary.text("/end"), summary.number("/read/bytes")), ("aborted locally".to_owned(), 1));
}
