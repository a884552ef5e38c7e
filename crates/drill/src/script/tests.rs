//! Tests of the language: every form once, and no input that makes the parser panic.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use test_case::test_case;

fn parsed(text: &str) -> Result<Script, ParseError> {
    parse(text, &BTreeMap::new())
}

fn event(text: &str) -> Event {
    parsed(text).unwrap_or_else(|error| panic!("{text}: {error}")).events.remove(0)
}

fn packet(text: &str) -> PacketSpec {
    match event(text).action {
        Action::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

fn segment(text: &str) -> Tcp {
    match packet(text).transport {
        Transport::Tcp(tcp) => tcp,
        other => panic!("{other:?}"),
    }
}

fn call(text: &str) -> CallSpec {
    match event(text).action {
        Action::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_has_options_a_command_events_and_a_command() {
    let script = parsed(
        "// what it is about\n--tolerance_usecs=7000\n--define=CC=\"reno\"\n--strict_segments\n\n`sysctl -q a=b\nip addr`\n\
         /* twice\n over */\n0 close(3) = 0\n+.1 `echo \\`date\\``\n+0 %{ assert x == 1 }%\n`cleanup`\n",
    )
    .unwrap();
    let options: Vec<_> = script.options.iter().map(|o| (o.name.as_str(), o.value.as_deref(), o.line)).collect();
    assert_eq!(
        options,
        [("tolerance_usecs", Some("7000"), 2), ("define", Some("CC=\"reno\""), 3), ("strict_segments", None, 4)]
    );
    assert_eq!(script.init, Some(Command { text: "sysctl -q a=b\nip addr".into(), line: 6 }));
    assert_eq!(script.events.iter().map(|event| event.line).collect::<Vec<_>>(), [10, 11, 12]);
    assert_eq!(script.events[2].action, Action::Code("assert x == 1 ".trim().into()));
    assert_eq!(script.cleanup.map(|command| command.line), Some(13));
}

#[test_case("0", EventTime::Absolute(0); "zero")]
#[test_case("1.5", EventTime::Absolute(1_500_000); "seconds")]
#[test_case("+.1", EventTime::Relative(100_000); "relative without a leading zero")]
#[test_case("+0.0000019", EventTime::Relative(1); "below a microsecond is cut off")]
#[test_case("*", EventTime::Any; "any time")]
#[test_case("0.1~0.25", EventTime::AbsoluteRange(100_000, 250_000); "a range")]
#[test_case("+.02~+0.5", EventTime::RelativeRange(20_000, 500_000); "a relative range")]
fn times(text: &str, time: EventTime) {
    assert_eq!(event(&format!("{text} > . 1:1(0) ack 1")).time, time);
}

#[test_case("+0...0.2 accept(3, ..., ...) = 4", Some(200_000); "an integer before the ellipsis")]
#[test_case("0.100...0.200 accept(3, ..., ...) = 4", Some(200_000); "fractions")]
#[test_case("+.1 ...  .3 accept(3, ..., ...) = 4", Some(300_000); "spaces")]
#[test_case("+.1 accept(3, ..., ...) = 4", None; "a call that does not block")]
fn a_blocking_call_says_when_it_returns(text: &str, end: Option<i64>) {
    assert_eq!(call(text).end, end);
}

#[test]
fn a_call_has_arguments_a_result_and_an_error() {
    let spec = call("0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)");
    assert_eq!(spec.args, [Expr::Int(3), Expr::Ellipsis, Expr::Ellipsis]);
    assert_eq!((spec.result, spec.errno.as_deref()), (Expr::Int(-1), Some("EINPROGRESS")));
    let spec = call("0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)\n+0 close(3) = 0");
    assert_eq!((spec.result, spec.errno), (Expr::Int(2), None));
}

#[test_case("[1]", Expr::List(vec![Expr::Int(1)]); "brackets")]
#[test_case("\"cubic\"", Expr::Str(b"cubic".to_vec()); "a string")]
#[test_case("\"a\\x01\\n\\\"b\"", Expr::Str(b"a\x01\n\"b".to_vec()); "escapes")]
#[test_case("\"abc\"...", Expr::Str(b"abc".to_vec()); "a string that goes on")]
#[test_case("O_RDWR|O_NONBLOCK", Expr::Or(Box::new(Expr::Word("O_RDWR".into())), Box::new(Expr::Word("O_NONBLOCK".into()))); "flags")]
#[test_case("htons(8080)", Expr::Apply("htons".into(), vec![Expr::Int(8080)]); "an application")]
#[test_case("-1", Expr::Int(-1); "a negative number")]
fn expressions(text: &str, expected: Expr) {
    assert_eq!(call(&format!("0 f({text}) = 0")).args, [expected]);
}

#[test_case("{fd=4, events=POLLIN, revents=POLLIN|POLLHUP}", &["fd", "events", "revents"]; "pollfd")]
#[test_case("{events=EPOLLOUT|EPOLLET, ptr=0x123456789abcdef}", &["events", "ptr"]; "epoll event")]
#[test_case("{onoff=1, linger=0}", &["onoff", "linger"]; "linger")]
#[test_case("{sa_family = AF_INET, sin_port = htons(8080), sin_addr = inet_addr(\"192.168.0.1\")}", &["sa_family", "sin_port", "sin_addr"]; "sockaddr")]
#[test_case("{msg_name(...)=..., msg_iov(1)=[{...,1000}], msg_flags=MSG_EOR, msg_control=[{cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, cmsg_data=500}]}", &["msg_name", "msg_iov", "msg_flags", "msg_control"]; "msghdr")]
#[test_case("{ee_errno=0,ee_origin=SO_EE_ORIGIN_ZEROCOPY,ee_type=0,ee_code=0,ee_info=0,ee_data=0}", &["ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data"]; "extended error")]
fn structures(text: &str, names: &[&str]) {
    let Expr::Braces(fields) = &call(&format!("0 f({text}) = 0")).args[0] else { panic!("{text}") };
    assert_eq!(fields.iter().map(|field| field.name.as_deref().unwrap()).collect::<Vec<_>>(), names);
}

#[test]
fn a_defined_symbol_stands_for_its_value() {
    let text = "--define=CC=\"reno\"\n--define=LEVEL=SOL_IP\n--define=N=7\n0 f(CC, LEVEL, N, OTHER) = N";
    let spec = call(text);
    let word = |name: &str| Expr::Word(name.into());
    assert_eq!(spec.args, [Expr::Str(b"reno".to_vec()), word("SOL_IP"), Expr::Int(7), word("OTHER")]);
    let defines = BTreeMap::from([("LEVEL".to_owned(), "SOL_IPV6".to_owned())]);
    let Action::Call(spec) = parse(text, &defines).unwrap().events.remove(0).action else { panic!() };
    assert_eq!(spec.args[1], word("SOL_IPV6"), "the command line wins");
}

#[test]
fn a_symbol_may_stand_for_a_cookie_and_for_an_icmp_code() {
    let defines = "--define=COOKIE=0123456789abcdef\n--define=CODE=host_unreachable\n";
    let tcp = segment(&format!("{defines}0 > S 0:0(0) <nop,nop,FO COOKIE>"));
    assert_eq!(tcp.options.unwrap()[2].to_string(), "FO 0123456789abcdef");
    let Transport::Icmp(icmp) = packet(&format!("{defines}0 < icmp unreachable CODE [1:1(0)]")).transport else {
        panic!()
    };
    assert_eq!(icmp.code.as_deref(), Some("host_unreachable"));
}

#[test_case("S", 0x02, 0, None; "SYN")]
#[test_case("FP.", 0x19, 0, None; "FIN PSH ACK")]
#[test_case("R.", 0x14, 0, None; "RST ACK")]
#[test_case("SEW", 0xc2, 0, None; "ECN setup SYN")]
#[test_case("SEWA", 0xc2, 1, None; "accurate ECN setup SYN")]
#[test_case("EAP.", 0x58, 1, None; "AE and ECE")]
#[test_case(".5", 0x50, 1, Some(5); "a number behind the point")]
#[test_case("P.6", 0x98, 1, Some(6); "a number behind flags")]
#[test_case("U.", 0x30, 0, None; "URG")]
#[test_case("-", 0, 0, None; "none")]
fn flags(letters: &str, byte: u8, ae: u8, ace: Option<u8>) {
    assert_eq!(segment(&format!("0 > {letters} 1:1(0) ack 1")).flags, TcpFlags { byte, ae, ace });
}

#[test]
fn a_segment_has_all_its_fields() {
    let text = "+.1 < [ect0] 4000 > 8080 PU. 1:1001(1000) ack 4294967295 win 257 urg 9 <nop,nop,TS val 1 ecr 2>";
    let PacketSpec { direction, ip, transport } = packet(text);
    assert_eq!((direction, ip.tos), (Direction::Inbound, TosCheck::Ecn(2)));
    let Transport::Tcp(tcp) = transport else { panic!() };
    assert_eq!((tcp.ports, tcp.seq, tcp.payload, tcp.ack), (Some((4000, 8080)), 1, 1000, u32::MAX));
    assert_eq!((tcp.window, tcp.urgent), (Some(257), 9));
    assert_eq!(tcp.options, Some(vec![TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamps { val: 1, ecr: 2 }]));
}

#[test_case("mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8"; "a SYN's")]
#[test_case("nop,nop,sack 1:1001 2001:3001"; "blocks")]
#[test_case("nop,nop,FO 0123456789abcdef01234567"; "a cookie that begins with a digit")]
#[test_case("nop,nop,FO"; "a request for a cookie")]
#[test_case("FOEXP abcd,nop,nop"; "experimental")]
#[test_case("nop,nop,md5 00112233445566778899aabbccddeeff"; "a digest")]
#[test_case("ECN e1b 1 ceb 0 e0b 1,nop"; "counters in order one")]
#[test_case("ECN e0b 1 ceb 16777215,nop,nop,nop,nop"; "two counters in order zero")]
#[test_case("mss 1000,nop,wscale *"; "any shift")]
#[test_case("opt 253 0102,eol,nop,nop,nop"; "an unknown kind")]
fn options_are_written_as_they_are_read(text: &str) {
    let options = segment(&format!("0 > S 0:0(0) <{text}>")).options.unwrap();
    let shown: Vec<String> = options.iter().map(ToString::to_string).collect();
    assert_eq!(shown.join(","), text);
    let mut bytes = Vec::new();
    options.iter().for_each(|option| option.emit(&mut bytes));
    let again: Vec<String> = TcpOption::split(&bytes).iter().map(ToString::to_string).collect();
    assert_eq!(again.join(","), text.replace('*', "0"), "and from bytes");
}

#[test]
fn options_may_be_left_open_or_absent() {
    assert_eq!(segment("0 > S. 0:0(0) ack 1 <...>").options, None);
    assert_eq!(segment("0 > . 1:1(0) ack 1\n+0 < . 1:1(0) ack 1 win 5").options, Some(vec![]));
}

#[test_case("[noecn]", TosCheck::Ecn(0), None, None; "no ECN")]
#[test_case("[ect01]", TosCheck::Ect01, None, None; "either ECT")]
#[test_case("[ce]", TosCheck::Ecn(3), None, None; "CE")]
#[test_case("[tos 0x10, flowlabel 0xfffff]", TosCheck::Whole(16), Some(0xfffff), None; "class and label")]
#[test_case("(flowlabel 0x1)", TosCheck::None, Some(1), None; "parentheses")]
#[test_case("[ttl 64]", TosCheck::None, None, Some(64); "ttl")]
fn ip_fields(text: &str, tos: TosCheck, flow_label: Option<u32>, ttl: Option<u8>) {
    assert_eq!(packet(&format!("0 > {text} . 1:1(0) ack 1")).ip, IpFields { tos, flow_label, ttl });
}

#[test_case(
    "icmp unreachable frag_needed mtu 1200 [1:1461(1460)]",
    "unreachable",
    Some("frag_needed"),
    Some(1200),
    1,
    1460
)]
#[test_case("icmp unreachable host_unreachable [1:1(0)]", "unreachable", Some("host_unreachable"), None, 1, 0)]
#[test_case("icmp packet_too_big mtu 1280", "packet_too_big", None, Some(1280), 0, 0)]
#[test_case("icmp type_3 code_13", "type_3", Some("code_13"), None, 0, 0)]
#[test_case("icmp source_quench", "source_quench", None, None, 0, 0)]
fn icmp_messages(text: &str, kind: &str, code: Option<&str>, mtu: Option<u32>, seq: u32, payload: u16) {
    let both = parsed(&format!("0 < {text}\n0.5 close(3) = 0")).unwrap();
    let Action::Packet(PacketSpec { transport: Transport::Icmp(icmp), .. }) = &both.events[0].action else { panic!() };
    assert_eq!((icmp.kind.as_str(), icmp.code.as_deref(), icmp.mtu), (kind, code, mtu));
    assert_eq!(icmp.echoed, EchoedSegment { seq, payload });
    assert_eq!(both.events.len(), 2);
}

#[test_case("", 1, "at least one event"; "nothing")]
#[test_case("0 < . 1:1(0) ack 1\n\n+0 close(3) = 0", 1, "needs a window"; "an inbound segment without a window")]
#[test_case("0 < S 0:0(0) win 1 <...>", 1, "options spelled out"; "open options inbound")]
#[test_case("0 > . 1:5(3) ack 1", 1, "1:5 are not 3 bytes"; "a wrong length")]
#[test_case("0 > . 1:1(0) ack 1 <nop>", 1, "pad them with nop"; "unpadded options")]
#[test_case("0 > S 0:0(0) <mss 1,sack 1:2 3:4 5:6 7:8,TS val 1 ecr 1>", 1, "at most 40 fit"; "too many options")]
#[test_case("\n0 > X 1:1(0)", 2, "flag `X`"; "an unknown flag")]
#[test_case("0 > E5 1:1(0)", 1, "flag `5`"; "ECN twice")]
#[test_case("0 > S 0:0(0) <foo 3>", 1, "unknown TCP option `foo`"; "an unknown option")]
#[test_case("+0~+1 close(3) = 0", 1, "outbound packets only"; "a range for a call")]
#[test_case("\n* < . 1:1(0) ack 1 win 5\n// next\n+0 close(3) = 0", 2, "outbound packets only"; "any time inbound")]
#[test_case("2~1 > . 1:1(0)", 1, "backwards"; "a backward range")]
#[test_case("0 close(3)", 1, "expected `=`, found the end"; "a call without a result")]
#[test_case("0 close(3) = 0\n0 close(", 2, "expected an expression, found the end"; "an open call")]
#[test_case("/* never\nclosed", 1, "does not end"; "an open comment")]
#[test_case("0 %{ x", 1, "does not end"; "an open block")]
#[test_case("0 `x", 1, "does not end"; "an open command")]
#[test_case("0 close(3) = 0\n`a`\n0 close(3) = 0", 3, "the end after the cleanup command"; "events behind the cleanup")]
#[test_case("0 < ipv4 192.0.2.1 > 192.0.2.2: S 0:0(0) win 1", 1, "only TCP segments"; "encapsulation")]
#[test_case("0 > S 0:0(0) win 65536", 1, "the window is out of range: 65536"; "a wide window")]
#[test_case("0 close(99999999999999999999) = 0", 1, "too large"; "a huge number")]
fn errors_name_line_and_remedy(text: &str, line: u32, part: &str) {
    let error = parsed(text).unwrap_err();
    assert_eq!(error.line, line, "{error}");
    assert!(error.what.contains(part), "{error}");
}

#[test]
fn a_packet_is_shown_as_a_script_spells_it() {
    for text in [
        "> S 0:0(0) win 65535 <mss 1460,nop,nop,sackOK,nop,wscale 8>",
        "< P. 1:1001(1000) ack 1 win 257",
        "> [ect0] .5 1:1(0) ack 1 <...>",
        "> FP. 1:11(10) ack 1",
        "< 4000 > 8080 R 1:1(0) win 0",
        "< icmp unreachable frag_needed mtu 1200 [1:1001(1000)]",
    ] {
        assert_eq!(packet(&format!("0 {text}")).to_string(), text.replace(".5", "EA."), "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        let _ = parsed(&text);
    }

    #[test]
    fn pieces_of_the_language_in_any_order_are_read_or_refused(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "0", "+.1", "*", "~", "...", "<", ">", "S", ".", "P.5", "1:1(0)", "ack", "1", "win", "<mss 1,nop>", "<...>", "{", "}",
            "[", "]", "(", ")", "=", ",", "|", "\"", "`", "%{", "}%", "/*", "*/", "//", "\n", "f", "icmp", "unreachable", "-1", "[ect0]",
            "sack", "TS val", "ecr", "--mtu=1", "0x", "é",
        ]), 0..40),
    ) {
        let _ = parsed(&pieces.join(" "));
        let _ = parsed(&pieces.concat());
    }

    #[test]
    fn deep_nesting_is_refused_without_harm(depth in 0_usize..5_000, open in prop::sample::select(vec!["[", "{", "f(", "{a="])) {
        let _ = parsed(&format!("0 f({}", open.repeat(depth)));
    }

    #[test]
    fn any_options_field_is_split(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut again = Vec::new();
        TcpOption::split(&bytes).iter().for_each(|option| { option.to_string(); option.emit(&mut again); });
        prop_assert!(again.len() <= bytes.len() + 1);
    }
}
