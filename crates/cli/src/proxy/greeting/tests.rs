//! Both protocols, byte by byte and at once, against the codes and statuses of their RFCs; and arbitrary bytes.

use super::*;
use crate::proxy::target::Host;
use proptest::prelude::*;
use test_case::test_case;

/// Feeds pieces, as reads bring them, and returns all that was sent and the last step.
fn talk(user: Option<&str>, pieces: &[&[u8]]) -> (Vec<u8>, Step) {
    let mut greeting = Greeting::new(user.map(|user| Credentials::parse(user).unwrap()));
    let mut sent = Vec::new();
    for piece in pieces {
        greeting.handle_bytes(piece);
        loop {
            match greeting.poll() {
                Step::Send(bytes) => sent.extend(bytes),
                Step::More => break,
                last => return (sent, last),
            }
        }
    }
    (sent, Step::More)
}

fn whole(user: Option<&str>, bytes: &[u8]) -> (Vec<u8>, Step) {
    let at_once = talk(user, &[bytes]);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    let (sent, last) = talk(user, &single);
    let is_same = match (&at_once.1, &last) {
        // Bytes behind the request come later then.
        (Step::Connect(protocol, target, _), Step::Connect(other, same, _)) => (protocol, target) == (other, same),
        (step, other) => step == other,
    };
    assert!(is_same && sent == at_once.0, "{last:?} byte by byte, {:?} at once", at_once.1);
    at_once
}

fn target(text: &str) -> Target {
    let (host, port) = text.rsplit_once(':').unwrap();
    Target { host: Host::parse(host).unwrap(), port: port.parse().unwrap() }
}

#[test_case(b"\x05\x01\x00\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50", "10.0.0.1:80"; "version four")]
#[test_case(b"\x05\x02\x02\x00\x05\x01\x00\x03\x04a.de\x01\xbb", "a.de:443"; "name")]
#[test_case(b"\x05\x01\x00\x05\x01\x00\x03\x0910.1.2.34\x01\xbb", "10.1.2.34:443"; "address as a name")]
#[test_case(b"\x05\x01\x00\x05\x01\x00\x04\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\x01", "fd00::7:1"; "version six")]
fn socks_names_a_destination(bytes: &[u8], to: &str) {
    let (sent, last) = whole(None, bytes);
    assert_eq!((sent, last), (vec![5, 0], Step::Connect(Protocol::Socks, target(to), Vec::new())));
}

#[test_case(None, b"\x05\x01\x02", &[5, 0xff]; "authentication that is not asked for")]
#[test_case(None, b"\x05\x00", &[5, 0xff]; "no way to authenticate")]
#[test_case(Some("me:secret"), b"\x05\x01\x00", &[5, 0xff]; "no authentication")]
#[test_case(Some("me:secret"), b"\x05\x01\x02\x01\x02me\x05wrong", &[5, 2, 1, 1]; "wrong password")]
#[test_case(Some("me:secret"), b"\x05\x01\x02\x01\x02me\x00", &[5, 2, 1, 1]; "empty password")]
#[test_case(Some("me:secret"), b"\x05\x01\x02\x05\x02me\x06secret", &[5, 2, 1, 1]; "version of the login")]
#[test_case(None, b"\x05\x01\x00\x05\x02\x00\x01\0\0\0\0\0\0", &[5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]; "bind")]
#[test_case(None, b"\x05\x01\x00\x05\x01\x00\x02\0\0\0\0\0\0", &[5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0]; "form of address")]
#[test_case(None, b"\x05\x01\x00\x05\x01\x00\x01\x0a\0\0\x01\0\0", &[5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]; "port zero")]
#[test_case(None, b"\x05\x01\x00\x05\x01\x00\x03\x00\0\x50", &[5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]; "empty name")]
#[test_case(None, b"\x05\x01\x00\x05\x01\x00\x03\x02\xff\xfe\0\x50", &[5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]; "name that is no text")]
#[test_case(None, b"\x05\x01\x00\x04\x01\x00\x01\0\0\0\0\0\0", &[5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0]; "version of the request")]
#[test_case(None, b"\x04\x01\0\x50\x0a\0\0\x01\0", &[]; "version four of the protocol")]
#[test_case(None, b"\x16\x03\x01\x02\0", &[]; "tls")]
fn socks_is_refused_by_the_code_of_the_rfc(user: Option<&str>, bytes: &[u8], all: &[u8]) {
    let (mut sent, last) = whole(user, bytes);
    let Step::Refuse(reply, why) = last else { panic!("{last:?}") };
    sent.extend(reply);
    assert_eq!(sent, all);
    assert!(!why.is_empty());
}

#[test]
fn socks_takes_a_user_name_and_a_password() {
    let bytes = b"\x05\x02\x00\x02\x01\x02me\x06secret\x05\x01\x00\x03\x01h\0\x50";
    assert_eq!(
        whole(Some("me:secret"), bytes),
        (vec![5, 2, 1, 0], Step::Connect(Protocol::Socks, target("h:80"), Vec::new()))
    );
}

#[test]
fn what_follows_a_request_belongs_to_the_destination() {
    let socks = b"\x05\x01\x00\x05\x01\x00\x03\x01h\0\x50early";
    assert_eq!(talk(None, &[socks]).1, Step::Connect(Protocol::Socks, target("h:80"), b"early".to_vec()));
    let http = b"CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n\r\nearly";
    assert_eq!(talk(None, &[http]).1, Step::Connect(Protocol::Http, target("h:80"), b"\r\nearly".to_vec()));
}

#[test_case("CONNECT a.de:443 HTTP/1.1\r\nHost: a.de:443\r\n\r\n", "a.de:443"; "name")]
#[test_case("CONNECT 10.0.0.1:80 HTTP/1.0\r\n\r\n", "10.0.0.1:80"; "no host field in the old version")]
#[test_case("CONNECT [fd00::7]:1 HTTP/1.1\r\nhost:x\r\nX-Any: \"ä\"\t,\r\n\r\n", "fd00::7:1"; "version six")]
#[test_case("\r\nCONNECT h:1 HTTP/1.1\nHost: h\n\n", "h:1"; "bare line feeds and an empty line first")]
fn http_names_a_destination(text: &str, to: &str) {
    let (sent, last) = whole(None, text.as_bytes());
    assert_eq!((sent, last), (Vec::new(), Step::Connect(Protocol::Http, target(to), Vec::new())));
}

#[test_case(None, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "405 Method Not Allowed"; "get")]
#[test_case(None, "GET http://a.de/ HTTP/1.1\r\nHost: a.de\r\n\r\n", "405 Method Not Allowed"; "absolute form")]
#[test_case(None, "CONNECT h HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "no port")]
#[test_case(None, "CONNECT h: HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "empty port")]
#[test_case(None, "CONNECT h:0 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "port zero")]
#[test_case(None, "CONNECT h:+80 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "port with a sign")]
#[test_case(None, "CONNECT h:65536 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "port too large")]
#[test_case(None, "CONNECT fd00::1:80 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "version six without brackets")]
#[test_case(None, "CONNECT [10.0.0.1]:80 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "version four in brackets")]
#[test_case(None, "CONNECT me@h:80 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "user information")]
#[test_case(None, "CONNECT h:80 HTTP/1.1\r\n\r\n", "400 Bad Request"; "no host field")]
#[test_case(None, "CONNECT h:80 HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", "400 Bad Request"; "two host fields")]
#[test_case(None, "CONNECT h:80 HTTP/1.1\r\nHost : h\r\n\r\n", "400 Bad Request"; "space before the colon")]
#[test_case(None, "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", "400 Bad Request"; "folded field")]
#[test_case(None, "CONNECT h:80 HTTP/1.1\r\nHost: h\rX: y\r\n\r\n", "400 Bad Request"; "bare carriage return")]
#[test_case(None, "CONNECT  h:80 HTTP/1.1\r\nHost: h\r\n\r\n", "400 Bad Request"; "two spaces")]
#[test_case(None, "CONNECT h:80 HTTP/2\r\nHost: h\r\n\r\n", "400 Bad Request"; "version")]
#[test_case(Some("me:secret"), "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", "407 Proxy Authentication Required"; "no credentials")]
#[test_case(Some("me:secret"), "CONNECT h:80 HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic bWU6d3Jvbmc=\r\n\r\n", "407 Proxy Authentication Required"; "wrong credentials")]
fn http_is_refused_by_the_status_of_the_rfc(user: Option<&str>, text: &str, status: &str) {
    let (sent, last) = whole(user, text.as_bytes());
    let Step::Refuse(reply, _) = last else { panic!("{last:?}") };
    let reply = String::from_utf8([sent, reply].concat()).unwrap();
    assert!(reply.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{reply}");
    let (head, content) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", content.len())), "{reply}");
    assert_eq!(head.contains("\r\nAllow: CONNECT"), status.starts_with("405"));
    assert_eq!(head.contains("\r\nProxy-Authenticate: Basic "), status.starts_with("407"));
}

#[test]
fn http_takes_a_user_name_and_a_password() {
    let text = "CONNECT h:80 HTTP/1.1\r\nHost: h\r\nproxy-authorization: basic  bWU6c2VjcmV0 \r\n\r\n";
    assert_eq!(whole(Some("me:secret"), text.as_bytes()).1, Step::Connect(Protocol::Http, target("h:80"), Vec::new()));
}

#[test]
fn a_head_without_end_is_refused_and_no_more_of_it_is_kept() {
    for filler in [&b"a"[..], b"\r\n", b"X: y\r\n"] {
        let mut greeting = Greeting::new(None);
        greeting.handle_bytes(b"CONNECT h:80 HTTP/1.1\r\nX: ".get(..if filler == b"\r\n" { 0 } else { 26 }).unwrap());
        let mut fed = 0;
        let reply = loop {
            greeting.handle_bytes(filler);
            fed += filler.len();
            assert!(fed <= http::HEAD_MAX + 10);
            if let Step::Refuse(reply, _) = greeting.poll() {
                break reply;
            }
        };
        assert!(reply.starts_with(b"HTTP/1.1 400 "));
        assert_eq!(greeting.bytes.capacity(), 0);
    }
}

#[test_case(Unconnected::Failed, 1, "502"; "failed")]
#[test_case(Unconnected::Forbidden, 2, "403"; "forbidden")]
#[test_case(Unconnected::NetworkUnreachable, 3, "502"; "network")]
#[test_case(Unconnected::HostUnreachable, 4, "502"; "host")]
#[test_case(Unconnected::UnknownName, 4, "502"; "name")]
#[test_case(Unconnected::Refused, 5, "502"; "refused")]
#[test_case(Unconnected::TimedOut, 4, "504"; "timed out")]
fn both_protocols_have_a_word_for_each_failure(why: Unconnected, code: u8, status: &str) {
    assert_eq!(unconnected(Protocol::Socks, why)[..4], [5, code, 0, 1]);
    assert!(unconnected(Protocol::Http, why).starts_with(format!("HTTP/1.1 {status} ").as_bytes()));
}

#[test]
fn a_success_names_our_address_in_socks_and_has_no_content_in_http() {
    let four = connected(Protocol::Socks, "10.9.0.2:258".parse().unwrap());
    assert_eq!(four, [5, 0, 0, 1, 10, 9, 0, 2, 1, 2]);
    let six = connected(Protocol::Socks, "[fd09::2]:1".parse().unwrap());
    assert_eq!((&six[..6], six.len()), (&[5, 0, 0, 4, 0xfd, 9][..], 22));
    assert!(connected(Protocol::Http, "[fd09::2]:1".parse().unwrap()).ends_with(b"established\r\n\r\n"));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_taken_and_bounded(
        start in prop::sample::select(vec![&b""[..], b"\x05", b"\x05\x01\x02", b"\x05\x01\x00\x05\x01\x00", b"CONNECT ", b"\r\n"]),
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 0..20),
        with_user: bool,
    ) {
        let mut greeting = Greeting::new(with_user.then(|| Credentials::parse("a:b").unwrap()));
        greeting.handle_bytes(start);
        'pieces: for piece in pieces {
            greeting.handle_bytes(&piece);
            for turn in 0.. {
                prop_assert!(turn < 4, "no end of steps");
                match greeting.poll() {
                    Step::More => break,
                    Step::Send(bytes) => prop_assert!(!bytes.is_empty()),
                    Step::Connect(_, target, _) => {
                        prop_assert!(target.port != 0);
                        break 'pieces;
                    }
                    Step::Refuse(..) => break 'pieces,
                }
            }
            prop_assert!(greeting.bytes.len() <= http::HEAD_MAX);
        }
    }

    #[test]
    fn almost_valid_heads_are_taken(text in "(CONNECT|GET|[A-Z]{1,3}) [a-z\\[\\]:0-9]{0,12}:?[0-9]{0,6} HTTP/1\\.[01]\r?\n(Host|[a-zA-Z:\t -]{0,9}): ?[ -~\r\t]{0,9}\r?\n\r?\n") {
        let (_, last) = whole(None, text.as_bytes());
        prop_assert!(matches!(last, Step::Connect(..) | Step::Refuse(..)), "{last:?}");
    }
}
