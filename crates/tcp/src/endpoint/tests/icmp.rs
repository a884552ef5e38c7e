//! ICMP errors: which ones are accepted, and how they affect a connection.

use crate::config::{Config, OpeningErrors};
use crate::testing::{PEER, Script, plain_device, quick, stack, valid};
use crate::{CloseReason, ConnEvent, IcmpError};
use base::Duration;
use test_case::test_case;
use wire::{Flags, IcmpKind, Unreachable};

const HOST: IcmpKind = IcmpKind::Unreachable(Unreachable::Host);
const PORT: IcmpKind = IcmpKind::Unreachable(Unreachable::Port);
const PROTOCOL: IcmpKind = IcmpKind::Unreachable(Unreachable::Protocol);
const UNREACHED: CloseReason = CloseReason::Icmp(IcmpError::Unreachable(Unreachable::Host));

fn believing(opening: OpeningErrors) -> Config {
    let mut cfg = quick();
    cfg.icmp.opening = opening;
    cfg
}

fn end(script: &Script) -> Option<CloseReason> {
    script.stack.info(script.conn).expect("exists").closed
}

//= specs/rfc9293.md#network-layer
//= type=test
//# A source quench is ignored.
//= specs/rfc9293.md#network-layer
//= type=test
//# What ICMP reports is acted on.
//= specs/rfc5927.md#errors
//= type=test
//# A hard error ends an attempt to open a connection, and does not end a connection that is open.
//= specs/rfc5927.md#errors
//= type=test
//# A source quench does nothing.
#[test_case(OpeningErrors::Hard, PORT => Some(CloseReason::Refused); "no listener")]
#[test_case(OpeningErrors::Hard, PROTOCOL => Some(CloseReason::Icmp(IcmpError::Unreachable(Unreachable::Protocol))); "no tcp")]
#[test_case(OpeningErrors::Hard, HOST => None; "an error that may pass")]
#[test_case(OpeningErrors::Any, HOST => Some(UNREACHED); "an error that may pass, where any is believed")]
#[test_case(OpeningErrors::Any, IcmpKind::TimeExceeded => Some(CloseReason::Icmp(IcmpError::TimeExceeded)); "on the way for too long")]
#[test_case(OpeningErrors::Any, IcmpKind::SourceQuench => None; "a source quench")]
#[test_case(OpeningErrors::Any, IcmpKind::TooBig { mtu: 1200, packet_len: 0 } => None; "too large")]
fn an_error_while_connecting(opening: OpeningErrors, kind: IcmpKind) -> Option<CloseReason> {
    let mut script = Script::connecting(believing(opening));
    script.icmp(kind, 0);
    assert_eq!(script.stack.counters().icmp, 1);
    end(&script)
}

//= specs/rfc9293.md#network-layer
//= type=test
//# Unreachable networks and hosts, times exceeded and parameter problems end no connection.
//= specs/rfc9293.md#network-layer
//= type=test
//# The application learns what the network reports.
//= specs/rfc5927.md#errors
//= type=test
//# A hard error ends an attempt to open a connection, and does not end a connection that is open.
//= specs/rfc5927.md#errors
//= type=test
//# A soft error ends nothing, but is reported to the application.
#[test_case(PORT, IcmpError::Unreachable(Unreachable::Port))]
#[test_case(HOST, IcmpError::Unreachable(Unreachable::Host))]
#[test_case(IcmpKind::ParameterProblem, IcmpError::ParameterProblem)]
fn an_open_connection_goes_on_and_its_application_is_notified(kind: IcmpKind, expected: IcmpError) {
    let mut script = Script::established(believing(OpeningErrors::Any));
    script.write(1460);
    script.icmp(kind, 1);
    assert_eq!(end(&script), None);
    assert!(script.saw(ConnEvent::Icmp(expected)));
    assert_eq!(script.stack.soft_error(script.conn), Some(expected));
    script.ack(1461);
    assert_eq!(script.stack.soft_error(script.conn), None, "something worked");
    script.write(10);
    assert_eq!(script.data().last(), Some(&(1461, 10)));
}

//= specs/rfc5927.md#validity
//= type=test
//# An error about a segment that is not in flight is dropped and counted.
#[test_case(0, 0; "an acknowledged one")]
#[test_case(1, 1; "the first in flight")]
#[test_case(2920, 1; "the last byte in flight")]
#[test_case(2921, 0; "one that was never sent")]
#[test_case(0x8000_0000, 0; "far off")]
fn an_error_counts_only_inside_the_flight(seq: u32, taken: u64) {
    let mut script = Script::established(quick());
    script.write(2920);
    script.icmp(HOST, seq);
    let counters = script.stack.counters();
    assert_eq!((counters.icmp, counters.icmp_out_of_window), (taken, 1 - taken));
    assert_eq!(script.stack.soft_error(script.conn).is_some(), taken == 1);
}

//= specs/rfc5927.md#errors
//= type=test
//# A connection that times out after a soft error ends with it as its cause.
#[test_case(true => Some(UNREACHED); "after an error")]
#[test_case(false => Some(CloseReason::TimedOut); "without one")]
fn a_connection_that_times_out(after_error: bool) -> Option<CloseReason> {
    let mut script = Script::established(quick());
    script.write(1460);
    if after_error {
        script.icmp(HOST, 1);
    }
    script.pass(Duration::from_secs(3_600));
    end(&script)
}

#[test]
fn an_attempt_that_times_out_says_what_the_network_said() {
    let mut script = Script::connecting(quick());
    script.icmp(HOST, 0);
    script.pass(Duration::from_secs(3_600));
    assert_eq!(end(&script), Some(UNREACHED));
}

#[test]
fn a_hard_error_frees_a_listener_of_an_attempt_without_an_application() {
    let mut script = Script::connecting(quick());
    script.stack = stack(plain_device());
    script.stack.listen(crate::testing::PEER_PORT, 8, &valid(quick())).expect("listens");
    script.local_port = crate::testing::PEER_PORT;
    script.out.clear();
    let mut syn = script.segment(Flags::SYN, 0, None);
    syn.options = crate::testing::peer_options();
    script.deliver(syn, 0);
    assert_eq!((script.stack.connections(), script.sent().len()), (1, 1));
    script.icmp(HOST, 0);
    assert_eq!(script.stack.connections(), 1, "that may pass");
    script.icmp(PROTOCOL, 0);
    assert_eq!(script.stack.connections(), 0);
    assert!(script.sent().is_empty(), "no application knows of it");
}

#[test]
fn an_error_about_a_segment_of_no_connection_is_counted() {
    let mut script = Script::established(quick());
    script.local_port += 1;
    script.icmp(HOST, 1);
    assert_eq!(script.stack.counters().icmp_ignored, 1);
    assert!(PEER.is_ipv4());
}
