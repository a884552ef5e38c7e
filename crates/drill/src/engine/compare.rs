//! Is what came what the script expects? A packet's numbers are already the script's.

use crate::packet::Live;
use crate::script::{PacketSpec, Tcp, TcpFlags, TcpOption, TosCheck, Transport};

/// Compares header fields, in the order in which differences are reported.
///
/// # Errors
/// The first field that differs.
pub fn headers(actual: &Live, expected: &PacketSpec) -> Result<(), String> {
    traffic_class(actual.ip().tos, expected.ip.tos)?;
    if let Some(ttl) = expected.ip.ttl {
        field("ttl", ttl, actual.ip().ttl)?;
    }
    match &expected.transport {
        Transport::Tcp(_) if !actual.is_tcp() => Err("expected a TCP segment".into()),
        Transport::Icmp(_) if !actual.is_icmp() => Err("expected an ICMP message".into()),
        Transport::Tcp(segment) => tcp(actual, segment),
        Transport::Icmp(message) => {
            let (kind, code) =
                crate::packet::icmp_names(actual.ip().version == 6, actual.transport_byte(0), actual.transport_byte(1));
            field("ICMP type", message.kind.as_str(), kind.as_str())?;
            field("ICMP code", message.code.as_deref().unwrap_or_default(), code.as_deref().unwrap_or_default())
        }
    }
}

/// Compares one value, which messages call `name`.
///
/// # Errors
/// Both values, when they differ.
pub fn field<T: PartialEq + std::fmt::Display>(name: &str, expected: T, actual: T) -> Result<(), String> {
    if expected == actual { Ok(()) } else { Err(format!("{name}: expected {expected}, actual {actual}")) }
}

fn traffic_class(actual: u8, expected: TosCheck) -> Result<(), String> {
    match expected {
        TosCheck::None => Ok(()),
        TosCheck::Ecn(bits) => field("ECN bits", bits, actual & 3),
        TosCheck::Whole(tos) => field("tos", tos, actual),
        TosCheck::Ect01 if matches!(actual & 3, 1 | 2) => Ok(()),
        TosCheck::Ect01 => Err(format!("ECN bits: expected 1 or 2, actual {}", actual & 3)),
    }
}

fn tcp(actual: &Live, expected: &Tcp) -> Result<(), String> {
    if let Some(options) = &expected.options {
        let mut bytes = Vec::new();
        options.iter().for_each(|option| option.emit(&mut bytes));
        field("bytes of TCP options", bytes.len(), actual.header_len() - 20)?;
    }
    flags(actual.flags(), expected.flags)?;
    field("reserved bits", 0, actual.reserved())?;
    field("seq", expected.seq, actual.seq())?;
    field("ack", expected.ack, actual.ack())?;
    if let Some(window) = expected.window {
        field("win", window, actual.window())?;
    }
    field("urg", expected.urgent, actual.urgent())
}

fn flags(actual: TcpFlags, expected: TcpFlags) -> Result<(), String> {
    let ecn = TcpFlags::CWR | TcpFlags::ECE;
    let (plain_expected, plain_actual) = (expected.byte & !ecn, actual.byte & !ecn);
    let shown = |byte| TcpFlags { byte, ..TcpFlags::default() };
    field("flags", plain_expected, plain_actual)
        .map_err(|_| format!("flags: expected {}, actual {}", shown(plain_expected), shown(plain_actual)))?;
    field("ECN flags as a number", expected.ace(), actual.ace())
}

/// Whether `next` continues `previous` as if a device had cut one burst: equal headers, contiguous bytes.
///
/// # Errors
/// What differs.
pub fn fragments(previous: &Live, next: &Live) -> Result<(), String> {
    let unequal = TcpFlags::PSH | TcpFlags::FIN | TcpFlags::CWR;
    field("bytes of header", previous.header_len(), next.header_len())?;
    field("ttl", previous.ip().ttl, next.ip().ttl)?;
    let plain = |packet: &Live| packet.flags().byte & !unequal;
    field("flags", plain(previous), plain(next))?;
    field("seq", previous.seq().wrapping_add(previous.payload().len() as u32), next.seq())?;
    field("ack", previous.ack(), next.ack())?;
    field("win", previous.window(), next.window())?;
    field("urg", previous.urgent(), next.urgent())
}

/// Compares kind, order and value of options. The caller compares timestamp values; echoes are not compared.
///
/// # Errors
/// The first difference.
pub fn options(actual: &[TcpOption], expected: &[TcpOption]) -> Result<(), String> {
    for at in 0..actual.len().max(expected.len()) {
        let shown = |option: Option<&TcpOption>| option.map_or_else(|| "nothing".into(), ToString::to_string);
        let (actual, expected) = (actual.get(at), expected.get(at));
        let equal = match (actual, expected) {
            (Some(TcpOption::Timestamps { .. }), Some(TcpOption::Timestamps { .. })) => true,
            (Some(TcpOption::WindowScale(_)), Some(TcpOption::WindowScale(None))) => true,
            _ => actual == expected,
        };
        if !equal {
            return Err(format!("TCP option {}: expected {}, actual {}", at + 1, shown(expected), shown(actual)));
        }
    }
    Ok(())
}

/// Checks that a payload is all zeros, as in scripts.
///
/// # Errors
/// Where it is not.
pub fn payload(actual: &Live) -> Result<(), String> {
    match actual.payload().iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(at) => Err(format!("payload: expected zeros, byte {at} is {}", actual.payload()[at])),
    }
}
