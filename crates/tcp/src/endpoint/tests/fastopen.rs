//! Fast Open (RFC 7413), from both ends.

use crate::config::{
    AnnouncedMss, Config, FastOpenClient, FastOpenServer, OpeningErrors, ReceiveWindowConfig, TimestampConfig,
    ValidConfig,
};
use crate::cx::StackCx;
use crate::event::CloseReason;
use crate::stack::{FastOpenError, FastOpenKeys, StackEvent};
use crate::testing::{MSS, Out, PEER, PEER_PORT, Script, peer_options, quick, valid};
use crate::{ConnEvent, Read, ReadError};
use base::{Duration, SeqRange};
use core::net::SocketAddr;
use test_case::test_case;
use trace::Off;
use wire::{Cookie, FastOpen, FastOpenKind, Flags, IcmpKind, Options, Timestamps, Unreachable};

const RTT: Duration = Duration::from_millis(100);
const SYN_ACK: Flags = Flags::SYN;

fn cookie(bytes: &[u8]) -> Option<FastOpen> {
    Some(FastOpen { kind: FastOpenKind::Assigned, cookie: Cookie::new(bytes) })
}

const REQUEST: Option<FastOpen> = Some(FastOpen { kind: FastOpenKind::Assigned, cookie: None });

// ---- the client ----

fn client() -> Config {
    let mut cfg = quick();
    cfg.fastopen.client = FastOpenClient::WithCookie;
    cfg
}

/// A host that has not opened a connection yet.
fn host(cfg: &Config) -> Script {
    Script::listening(cfg.clone())
}

fn try_to_open(script: &mut Script, cfg: &ValidConfig, len: usize) -> Result<usize, FastOpenError> {
    let (mut off, peer) = (Off, SocketAddr::new(PEER, PEER_PORT));
    let mut cx = StackCx::new(script.now, &mut off);
    let (conn, taken) = script.stack.connect_with_data(&mut cx, cfg, peer, &vec![7; len])?;
    script.conn = conn;
    script.local_port = script.stack.endpoint(conn).unwrap().tuple().local_port;
    script.peer_seq = 1;
    script.sent();
    script.events.clear();
    script.pass(Duration::ZERO);
    Ok(taken)
}

/// Opens a connection with `len` bytes of data; returns the number accepted, and the SYN.
fn open(script: &mut Script, cfg: &Config, len: usize) -> (usize, Out) {
    let taken = try_to_open(script, &valid(cfg.clone()), len).unwrap();
    let syn = script.sent();
    assert_eq!((syn.len(), syn[0].flags, syn[0].seq), (1, Flags::SYN, 0));
    (taken, syn[0])
}

fn write(script: &mut Script, len: usize) {
    let written = script.stack.write(&mut StackCx::new(script.now, &mut Off), script.conn, &vec![7; len]);
    assert_eq!(written, Ok(len));
    script.pass(Duration::ZERO);
}

/// The peer's SYN-ACK.
fn answer(script: &mut Script, ack: u32, fast_open: Option<FastOpen>, mss: u32) -> Vec<Out> {
    let mut syn_ack = script.segment(SYN_ACK, 0, Some(ack));
    syn_ack.options = Options { mss: Some(mss as u16), fast_open, ..peer_options() };
    script.deliver(syn_ack, 0);
    script.sent()
}

/// A host that has a cookie from the peer.
fn host_with_cookie(cfg: &Config, mss: u32) -> Script {
    let mut script = host(cfg);
    assert_eq!(open(&mut script, cfg, 0).1.options.fast_open, REQUEST);
    script.pass(RTT);
    answer(&mut script, 1, cookie(b"abcd"), mss);
    script
}

//= specs/rfc7413.md#client
//= type=test
//# A client without a cookie asks for one, and sends no data with the SYN.
//= specs/rfc7413.md#client
//= type=test
//# With a cookie, the SYN carries it, and no more data than the server's segment size allows.
#[test]
fn the_first_connection_asks_for_a_cookie_and_the_second_sends_data() {
    let mut script = host(&client());
    let (taken, syn) = open(&mut script, &client(), 1000);
    assert_eq!((taken, syn.len, syn.options.fast_open), (0, 0, REQUEST));
    let sent = answer(&mut script, 1, cookie(b"abcd"), 1000);
    assert_eq!((sent.len(), sent[0].len, sent[0].ack), (1, 0, Some(1)));
    assert!(!script.info().syn_data_taken);
    let (taken, syn) = open(&mut script, &client(), 5000);
    assert_eq!((taken, syn.len, syn.options.fast_open), (960, 960, cookie(b"abcd")));
    let sent = answer(&mut script, 961, None, 1000);
    assert_eq!((sent.len(), sent[0].seq, sent[0].len, sent[0].ack), (1, 961, 0, Some(1)));
    assert!(script.saw(ConnEvent::Connected));
    assert!(script.info().syn_data_taken);
    assert_eq!(script.info().counters.bytes_retransmitted, 0);
    write(&mut script, 100);
    assert_eq!(script.data(), [(961, 100)]);
}

#[test]
fn an_empty_write_sends_the_cookie_alone() {
    let mut script = host_with_cookie(&client(), MSS);
    let (taken, syn) = open(&mut script, &client(), 0);
    assert_eq!((taken, syn.len, syn.options.fast_open), (0, 0, cookie(b"abcd")));
    answer(&mut script, 1, None, MSS);
    assert_eq!((script.state(), script.info().syn_data_taken), ("ESTABLISHED", false));
}

//= specs/rfc7413.md#client
//= type=test
//# Data of the SYN that the SYN-ACK does not acknowledge is sent again at once.
#[test_case(1, MSS, &[(1, 1420)]; "nothing was taken")]
#[test_case(1, 1000, &[(1, 1000), (1001, 420)]; "nothing was taken, and the peer takes less at once")]
#[test_case(101, 1000, &[(101, 1000), (1101, 320)]; "some was taken")]
#[test_case(1420, MSS, &[(1420, 1)]; "a byte is missing")]
fn what_was_not_taken_is_sent_again(ack: u32, mss: u32, again: &[(u32, u32)]) {
    let mut script = host_with_cookie(&client(), MSS);
    assert_eq!(open(&mut script, &client(), 5000).0, 1420);
    script.pass(RTT);
    let sent = answer(&mut script, ack, None, mss);
    assert_eq!(sent.iter().map(Out::data).collect::<Vec<_>>(), again);
    assert!(sent.iter().all(|out| out.ack == Some(1)));
    assert_eq!(sent.last().unwrap().flags, Flags::PSH, "it was written as a whole");
    let info = script.info();
    assert_eq!((info.syn_data_taken, info.counters.episodes, info.cwnd), (false, 0, 10 * mss));
    assert_eq!(info.counters.bytes_acked, u64::from(ack - 1));
    write(&mut script, 10);
    assert_eq!(script.data(), [(1421, 10)]);
    script.pass(RTT);
    script.ack(1431);
    assert_eq!(script.info().flight_size, 0);
}

#[test]
fn data_that_is_lost_again_is_recovered_like_any_other() {
    let mut script = host_with_cookie(&client(), MSS);
    open(&mut script, &client(), 1420);
    script.pass(RTT);
    answer(&mut script, 1, None, MSS);
    write(&mut script, 4 * MSS as usize);
    script.sent();
    script.pass(RTT);
    script.sack(1, &[(1421, 1421 + 4 * MSS)]);
    assert_eq!(script.data(), [(1, 1420)]);
    assert_eq!(script.info().episode.name(), "recovery");
    script.pass(RTT);
    script.ack(1421 + 4 * MSS);
    assert_eq!((script.info().flight_size, script.info().counters.timeouts), (0, 0));
}

//= specs/rfc7413.md#client
//= type=test
//# A SYN that is sent again leaves without data and without the option.
#[test_case(1, &[(1, 1000)]; "the second SYN is answered")]
#[test_case(1001, &[]; "the first one is, late")]
fn a_repeated_syn_is_a_plain_one(ack: u32, again: &[(u32, u32)]) {
    let mut script = host_with_cookie(&client(), MSS);
    open(&mut script, &client(), 1000);
    script.pass(Duration::from_millis(1100));
    let syn = script.sent();
    assert_eq!((syn.len(), syn[0].flags, syn[0].seq, syn[0].len), (1, Flags::SYN, 0, 0));
    assert_eq!(syn[0].options.fast_open, None);
    let sent = answer(&mut script, ack, None, MSS);
    assert_eq!(sent.iter().filter(|out| out.len > 0).map(Out::data).collect::<Vec<_>>(), again);
}

#[test_case(AnnouncedMss::Interface => 1460; "the size of the interface is announced")]
#[test_case(AnnouncedMss::Path => 860; "that of the path is")]
fn a_syn_that_is_too_big_for_the_path_leaves_at_once_without_its_data(announced: AnnouncedMss) -> u16 {
    let mut cfg = client();
    cfg.path_mtu.announced = announced;
    let mut script = host_with_cookie(&cfg, MSS);
    open(&mut script, &cfg, 1400);
    script.icmp(IcmpKind::TooBig { mtu: 900, packet_len: 1440 }, 0);
    let syn = script.sent();
    assert_eq!((syn.len(), syn[0].flags, syn[0].seq, syn[0].len), (1, Flags::SYN, 0, 0));
    assert_eq!(syn[0].options.fast_open, None);
    script.pass(RTT);
    let sent = answer(&mut script, 1, None, MSS);
    assert_eq!(sent.iter().map(Out::data).collect::<Vec<_>>(), [(1, 860), (861, 540)]);
    syn[0].options.mss.unwrap()
}

#[test_case(100_001)]
#[test_case(102; "one too many")]
fn an_acknowledgement_of_more_than_was_sent_is_refused_and_teaches_nothing(ack: u32) {
    let mut script = host_with_cookie(&client(), 900);
    open(&mut script, &client(), 100);
    let sent = answer(&mut script, ack, cookie(b"new cookie"), MSS);
    assert_eq!((sent[0].flags, sent[0].seq), (Flags::RST, ack));
    assert_eq!(script.state(), "SYN-SENT");
    let (taken, syn) = open(&mut script, &client(), 2000);
    assert_eq!((taken, syn.options.fast_open), (860, cookie(b"abcd")));
}

#[test]
fn a_reset_that_acknowledges_the_syn_alone_refuses_the_attempt() {
    let mut script = host_with_cookie(&client(), MSS);
    open(&mut script, &client(), 1000);
    let reset = script.segment(Flags::RST, 0, Some(1));
    script.deliver(reset, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Refused)));
}

//= specs/rfc7413.md#client
//= type=test
//# Data in the SYN-ACK is taken.
#[test]
fn data_in_the_syn_ack_is_taken() {
    let mut script = host_with_cookie(&client(), MSS);
    open(&mut script, &client(), 1000);
    let mut syn_ack = script.segment(SYN_ACK.with(Flags::FIN), 0, Some(1001));
    syn_ack.options = peer_options();
    script.deliver(syn_ack, 1400);
    assert_eq!(script.sent().last().and_then(|out| out.ack), Some(1402));
    assert_eq!(script.read(5000), Ok(Read::Data(1400)));
    assert_eq!((script.read(5000), script.state()), (Ok(Read::Fin), "CLOSE-WAIT"));
}

//= specs/rfc7413.md#client
//= type=test
//# A cookie that was not requested is not kept.
#[test]
fn without_cookies_data_leaves_at_once_and_a_cookie_is_not_kept() {
    let mut cfg = client();
    cfg.fastopen.client = FastOpenClient::WithoutCookie;
    let mut script = host(&cfg);
    let (taken, syn) = open(&mut script, &cfg, 5000);
    assert_eq!((taken, syn.len, syn.options.fast_open), (1420, 1420, None));
    answer(&mut script, 1421, cookie(b"abcd"), 940);
    let (taken, syn) = open(&mut script, &cfg, 5000);
    assert_eq!((taken, syn.options.fast_open), (900, None));
    assert_eq!(open(&mut script, &client(), 5000).1.options.fast_open, REQUEST);
}

#[test]
fn two_fast_opens_that_cross_make_one_connection() {
    let mut script = host_with_cookie(&client(), MSS);
    open(&mut script, &client(), 1000);
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = Options { fast_open: cookie(b"efgh"), ..peer_options() };
    script.deliver(syn, 500);
    let sent = script.sent();
    assert_eq!((sent.len(), sent[0].seq, sent[0].len, sent[0].ack), (1, 0, 0, Some(1)), "its data is not taken");
    assert_eq!(sent[0].options.fast_open, None);
    answer(&mut script, 1001, None, MSS);
    assert_eq!(script.state(), "ESTABLISHED");
    let data = script.segment(Flags::PSH, 1, Some(1001));
    script.deliver(data, 500);
    assert_eq!(script.sent()[0].ack, Some(501));
    write(&mut script, 10);
    assert_eq!(script.data(), [(1001, 10)]);
}

//= specs/rfc7413.md#client
//= type=test
//# Fast Open is not tried for a while on a path on which it failed.
#[test]
fn silence_pauses_data_in_syns_for_every_server() {
    let mut cfg = client();
    cfg.fastopen.pause = Some(Duration::from_secs(100));
    let mut script = host_with_cookie(&cfg, MSS);
    open(&mut script, &cfg, 1000);
    // The third timeout in a row.
    script.pass(Duration::from_secs(8));
    assert_eq!(script.sent().len(), 3);
    let (taken, syn) = open(&mut script, &cfg, 1000);
    assert_eq!((taken, syn.len, syn.options.fast_open), (0, 0, None));
    assert_eq!(open(&mut script, &client(), 1000).0, 0, "whoever asks");
    script.pass(Duration::from_secs(100));
    assert_eq!(open(&mut script, &cfg, 1000).0, 1000);
}

#[test]
fn a_server_may_be_forgotten() {
    let mut script = host_with_cookie(&client(), MSS);
    let ready = |script: &Script| script.stack.fast_open_is_ready(&valid(client()), PEER, script.now);
    assert!(ready(&script));
    script.stack.forget_fast_open_servers();
    assert!(!ready(&script));
    assert_eq!(open(&mut script, &client(), 1000).1.options.fast_open, REQUEST);
}

#[test]
fn data_cannot_be_sent_with_a_syn_against_the_configuration_or_too_late() {
    let mut script = host(&client());
    assert_eq!(try_to_open(&mut script, &valid(quick()), 10), Err(FastOpenError::Off));
    open(&mut script, &client(), 0);
    let conn = script.conn;
    let late = script.stack.fast_open(&mut StackCx::new(script.now, &mut Off), conn, b"late");
    assert_eq!(late, Err(FastOpenError::TooLate));
}

// ---- the server ----

const KEYS: FastOpenKeys = FastOpenKeys { current: [1; 16], previous: Some([2; 16]) };

fn server() -> Config {
    let mut cfg = quick();
    cfg.fastopen.server = FastOpenServer::WithCookie;
    cfg.fastopen.pending_max = 2;
    cfg.receive.window = ReceiveWindowConfig::Fixed { bytes: 60_000 };
    cfg
}

fn listening(cfg: Config, keys: FastOpenKeys) -> Script {
    let mut script = Script::listening(cfg);
    script.stack.set_fast_open_keys(keys);
    script
}

fn syn_from(script: &mut Script, port: u16, fast_open: Option<FastOpen>, len: u32) -> Vec<Out> {
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.src_port = port;
    syn.options = Options { fast_open, ..peer_options() };
    script.sent();
    script.deliver(syn, len);
    script.sent()
}

/// A SYN with `len` bytes of data; what it was answered.
fn syn(script: &mut Script, fast_open: Option<FastOpen>, len: u32) -> Out {
    let sent = syn_from(script, 40_000, fast_open, len);
    assert_eq!((sent.len(), sent[0].seq, sent[0].flags, sent[0].len), (1, 0, Flags::SYN, 0));
    sent[0]
}

fn accepted(script: &Script) -> bool {
    script.events.iter().any(|event| matches!(event, StackEvent::Accepted { .. }))
}

/// The valid cookie of the script's peer.
fn valid_cookie(keys: FastOpenKeys) -> Option<FastOpen> {
    syn(&mut listening(server(), keys), REQUEST, 0).options.fast_open
}

/// A connection whose SYN brought ten bytes and a valid cookie.
fn gone_ahead(cfg: Config) -> Script {
    let mut script = listening(cfg, KEYS);
    let syn_ack = syn(&mut script, valid_cookie(KEYS), 10);
    assert_eq!((syn_ack.ack, syn_ack.options.fast_open), (Some(11), None));
    script
}

//= specs/rfc7413.md#server
//= type=test
//# A request for a cookie, and a cookie that is not valid, are answered with a valid one, and the data is left.
#[test_case(REQUEST; "a request")]
#[test_case(cookie(&[9; 8]); "a wrong cookie")]
#[test_case(cookie(&[9; 4]); "a cookie of a wrong length")]
fn who_has_no_valid_cookie_gets_one_and_waits_for_the_handshake(offer: Option<FastOpen>) {
    let mut script = listening(server(), KEYS);
    let syn_ack = syn(&mut script, offer, 10);
    assert_eq!((syn_ack.ack, syn_ack.options.fast_open), (Some(1), valid_cookie(KEYS)));
    assert!(!accepted(&script));
    let data = script.segment(Flags::NONE, 1, Some(1));
    script.deliver(data, 10);
    assert!(accepted(&script));
    assert_eq!((script.read(100), script.info().syn_data_taken), (Ok(Read::Data(10)), false));
}

#[test]
fn a_request_by_the_experiments_number_is_answered_by_it_with_the_same_cookie() {
    let experiment = |cookie| Some(FastOpen { kind: FastOpenKind::Experimental, cookie });
    let mut script = listening(server(), KEYS);
    let valid = valid_cookie(KEYS).unwrap().cookie;
    assert_eq!(syn(&mut script, experiment(None), 0).options.fast_open, experiment(valid));
    let mut script = listening(server(), KEYS);
    assert_eq!(syn(&mut script, experiment(valid), 10).ack, Some(11));
}

//= specs/rfc7413.md#server
//= type=test
//# Data in a SYN with a valid cookie is given to the application before the handshake is over.
//= specs/rfc7413.md#server
//= type=test
//# The SYN-ACK acknowledges the data that was taken.
//= specs/rfc7413.md#server
//= type=test
//# Before the handshake is over the server may send as much as the initial window allows.
#[test]
fn data_with_a_valid_cookie_is_read_and_answered_before_the_handshake_is_over() {
    let mut cfg = server();
    cfg.cc.initial_window = cc::InitialWindow::plain(3);
    let mut script = gone_ahead(cfg);
    assert!(accepted(&script));
    assert_eq!(script.state(), "SYN-RECEIVED");
    assert_eq!(script.read(100), Ok(Read::Data(10)));
    assert!(script.info().syn_data_taken);
    script.pass(RTT / 2);
    script.write(10_000);
    assert_eq!(script.data(), [(1, MSS), (1 + MSS, MSS), (1 + 2 * MSS, MSS)]);
    script.pass(RTT / 2);
    let ack = script.segment(Flags::NONE, 11, Some(1));
    script.deliver(ack, 0);
    let info = script.info();
    assert_eq!((script.state(), info.srtt), ("ESTABLISHED", Some(RTT)));
    script.pass(RTT / 2);
    script.peer_seq = 11;
    script.ack(1 + 3 * MSS);
    assert_eq!(script.data().len(), 4);
    let connected = script.events.iter().filter(|event| matches!(event, StackEvent::Accepted { .. })).count();
    assert_eq!(connected, 1);
    assert!(!script.saw(ConnEvent::Connected), "the application is notified once");
}

#[test]
fn a_valid_cookie_alone_lets_the_server_speak_first() {
    let mut script = listening(server(), KEYS);
    assert_eq!(syn(&mut script, valid_cookie(KEYS), 0).ack, Some(1));
    assert!(accepted(&script));
    assert!(!script.info().syn_data_taken);
    script.write(100);
    assert_eq!(script.data(), [(1, 100)]);
    let data = script.segment(Flags::NONE, 1, Some(101));
    script.deliver(data, 10);
    assert_eq!((script.state(), script.read(100)), ("ESTABLISHED", Ok(Read::Data(10))));
}

//= specs/rfc7413.md#cookies
//= type=test
//# Cookies of a secret that was replaced are believed for a while, and replaced.
#[test]
fn a_cookie_of_the_previous_key_is_believed_and_replaced() {
    let old = valid_cookie(FastOpenKeys { current: [2; 16], previous: None });
    let mut script = listening(server(), KEYS);
    let syn_ack = syn(&mut script, old, 10);
    assert_eq!((syn_ack.ack, syn_ack.options.fast_open), (Some(11), valid_cookie(KEYS)));
}

#[test]
fn a_listener_may_have_keys_of_its_own() {
    let mut script = listening(server(), KEYS);
    let own = FastOpenKeys { current: [3; 16], previous: None };
    script.stack.set_fast_open_keys_of(PEER_PORT, Some(own));
    assert_eq!(syn(&mut script, REQUEST, 0).options.fast_open, valid_cookie(own));
}

#[test_case(FastOpenServer::Off, 2, None => 1; "off")]
#[test_case(FastOpenServer::WithCookie, 0, None => 1; "a listener without room")]
#[test_case(FastOpenServer::WithCookie, 2, None => 1; "data without the option")]
#[test_case(FastOpenServer::WithoutCookie, 2, None => 11; "data from everyone")]
#[test_case(FastOpenServer::WithoutCookie, 2, REQUEST => 11; "data with a request from everyone")]
#[test_case(FastOpenServer::WithoutCookie, 0, None => 1; "data from everyone, without room")]
fn ack_for_ten_bytes(kind: FastOpenServer, pending_max: u32, offer: Option<FastOpen>) -> u32 {
    let mut cfg = server();
    (cfg.fastopen.server, cfg.fastopen.pending_max) = (kind, pending_max);
    let syn_ack = syn(&mut listening(cfg, KEYS), offer, 10);
    assert_eq!(syn_ack.options.fast_open, None);
    syn_ack.ack.unwrap()
}

/// Whether data flows early after a SYN with data and a valid cookie.
fn goes_ahead(script: &mut Script, port: u16) -> bool {
    syn_from(script, port, valid_cookie(KEYS), 10)[0].ack == Some(11)
}

fn from_port(script: &mut Script, port: u16, flags: Flags, ack: Option<u32>) {
    let mut segment = script.segment(flags, 11, ack);
    segment.src_port = port;
    script.deliver(segment, 0);
}

//= specs/rfc7413.md#server
//= type=test
//# No more connections go ahead of their handshake at once than a limit says.
#[test]
fn the_number_of_connections_ahead_of_their_handshake_is_limited() {
    let mut script = listening(server(), KEYS);
    assert!(goes_ahead(&mut script, 1001));
    assert!(goes_ahead(&mut script, 1002));
    assert!(!goes_ahead(&mut script, 1003));
    script.iss = script.stack.endpoint(script.conn).map(|endpoint| endpoint.snd.space.iss()).unwrap();
    from_port(&mut script, 1002, Flags::NONE, Some(1));
    assert!(goes_ahead(&mut script, 1004), "a handshake is over");
    assert!(!goes_ahead(&mut script, 1005));
}

//= specs/rfc7413.md#server
//= type=test
//# A connection that was reset counts as pending for a while.
#[test]
fn a_reset_makes_no_room_for_a_minute() {
    let mut script = listening(server(), KEYS);
    assert!(goes_ahead(&mut script, 1001) && goes_ahead(&mut script, 1002));
    from_port(&mut script, 1002, Flags::RST, None);
    script.pass(Duration::from_secs(59));
    assert!(!goes_ahead(&mut script, 1003));
    script.pass(Duration::from_secs(1));
    assert!(goes_ahead(&mut script, 1004));
    assert!(!goes_ahead(&mut script, 1005));
}

//= specs/rfc7413.md#server
//= type=test
//# Nothing but the SYN-ACK is sent again before the handshake is over.
//= specs/rfc7413.md#server
//= type=test
//# A SYN-ACK that is sent again leaves without the option.
#[test]
fn until_the_handshake_is_over_only_the_syn_ack_is_sent_again() {
    let mut script = gone_ahead(server());
    script.write(100);
    assert_eq!(script.data(), [(1, 100)]);
    script.pass(Duration::from_millis(3500));
    let again = script.sent();
    assert_eq!(again.len(), 2);
    assert!(again.iter().all(|out| out.flags == Flags::SYN && out.ack == Some(11) && out.options.fast_open.is_none()));
    // The client repeats its SYN without the option and data.
    assert_eq!(syn(&mut script, None, 0).ack, Some(11));
    let ack = script.segment(Flags::NONE, 11, Some(1));
    script.deliver(ack, 0);
    script.pass(Duration::from_secs(10));
    assert_eq!(script.data()[0], (1, 100), "now the data is");
}

#[test]
fn a_repeated_syn_with_the_data_that_was_left_asks_for_the_syn_ack_again() {
    let mut script = listening(server(), KEYS);
    syn(&mut script, cookie(&[9; 8]), 10);
    let again = syn(&mut script, cookie(&[9; 8]), 10);
    assert_eq!((again.ack, again.options.fast_open), (Some(1), None));
}

#[test]
fn what_went_ahead_and_was_lost_is_recovered() {
    let mut script = gone_ahead(server());
    script.write(10 * u64::from(MSS));
    assert_eq!(script.data().len(), 10);
    script.pass(RTT);
    let mut ack = script.segment(Flags::NONE, 11, Some(1));
    ack.options.sack.push(SeqRange::new(script.iss + 1 + 2 * MSS, script.iss + 1 + 6 * MSS));
    script.deliver(ack, 0);
    assert_eq!((script.state(), script.info().episode.name()), ("ESTABLISHED", "recovery"));
    assert_eq!(script.data()[0], (1, MSS));
}

#[test]
fn a_close_on_either_side_does_not_wait_for_the_handshake() {
    let mut script = gone_ahead(server());
    let fin = script.segment(Flags::FIN, 11, Some(1));
    script.deliver(fin, 0);
    assert_eq!((script.state(), script.sent()[0].ack), ("CLOSE-WAIT", Some(12)));

    let mut script = gone_ahead(server());
    script.write(5);
    script.shutdown();
    let sent = script.sent();
    assert_eq!(
        sent.iter().map(|out| (out.seq, out.len, out.flags.contains(Flags::FIN))).collect::<Vec<_>>(),
        [(1, 5, false), (6, 0, true)]
    );
    script.peer_seq = 11;
    script.ack(7);
    assert_eq!(script.state(), "FIN-WAIT-2");
}

#[test]
fn a_reset_leaves_the_data_to_the_application() {
    let mut script = gone_ahead(server());
    let reset = script.segment(Flags::RST, 11, None);
    script.deliver(reset, 0);
    assert!(script.saw(ConnEvent::Closed(CloseReason::Reset)));
    assert_eq!(script.read(100), Ok(Read::Data(10)));
    assert_eq!(script.read(100), Err(ReadError::Closed(CloseReason::Reset)));
}

// A connection that no application has accepted ends: packetdrill's `server_unreachable_before_accept` covers it.
#[test_case(0 => true; "the SYN-ACK was not delivered")]
#[test_case(700 => false; "nothing like it was sent")]
fn an_error_of_the_network_does_not_end_what_an_application_uses(seq: u32) -> bool {
    let mut cfg = server();
    cfg.icmp.opening = OpeningErrors::Any;
    let mut script = gone_ahead(cfg);
    script.icmp(IcmpKind::Unreachable(Unreachable::Host), seq);
    assert_eq!(script.stack.info(script.conn).expect("exists").closed, None);
    assert_eq!(script.read(100), Ok(Read::Data(10)));
    script.stack.soft_error(script.conn).is_some()
}

#[test]
fn a_reset_shows_the_window_like_any_other_segment() {
    let mut script = gone_ahead(server());
    script.stack.abort(&mut StackCx::new(script.now, &mut Off), script.conn);
    script.pass(Duration::ZERO);
    let sent = script.sent();
    assert_eq!((sent.len(), sent[0].flags, sent[0].seq, sent[0].ack), (1, Flags::RST, 1, Some(11)));
    assert!(sent[0].window > 0);
}

#[test]
fn a_client_that_vanishes_is_given_up_and_makes_room() {
    let mut cfg = server();
    cfg.retries.syn_ack = 2;
    cfg.fastopen.pending_max = 1;
    let mut script = gone_ahead(cfg);
    script.pass(Duration::from_secs(30));
    assert!(script.saw(ConnEvent::Closed(CloseReason::TimedOut)));
    assert!(goes_ahead(&mut script, 1001));
}

#[test]
fn a_closed_window_of_the_syn_is_probed_after_the_handshake_only() {
    let mut script = listening(server(), KEYS);
    script.peer_window = 0;
    syn(&mut script, valid_cookie(KEYS), 10);
    script.write(100);
    assert_eq!(script.data(), []);
    script.pass(Duration::from_millis(1500));
    assert!(script.sent().iter().all(|out| out.flags == Flags::SYN));
    let ack = script.segment(Flags::NONE, 11, Some(1));
    script.deliver(ack, 0);
    script.pass(Duration::from_secs(5));
    assert_eq!(script.data()[0], (1, 1));
}

#[test]
fn the_longest_cookie_leaves_beside_timestamps() {
    let mut cfg = client();
    cfg.options.timestamps = TimestampConfig::Offer;
    let mut script = host(&cfg);
    open(&mut script, &cfg, 0);
    let mut syn_ack = script.segment(SYN_ACK, 0, Some(1));
    let long = cookie(&[5; 16]);
    syn_ack.options =
        Options { fast_open: long, timestamps: Some(Timestamps { tsval: 1, tsecr: 0 }), ..peer_options() };
    script.deliver(syn_ack, 0);
    let syn = open(&mut script, &cfg, 100).1;
    assert_eq!((syn.len, syn.options.fast_open), (100, long));
    assert!(syn.options.timestamps.is_some() && syn.options.sack_permitted);
}
