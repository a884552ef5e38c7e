//! Arguments of a call: expressions evaluated to numbers, lists, addresses.

use crate::config::bytes;
use crate::script::{Expr, Field};
use crate::symbols::number;
use std::net::IpAddr;

/// The arguments of one call, by position.
#[derive(Clone, Copy)]
pub struct Args<'a>(pub &'a [Expr]);

impl<'a> Args<'a> {
    /// Checks that there are exactly `count` arguments.
    pub fn count(self, count: usize) -> Result<(), String> {
        if self.0.len() == count {
            Ok(())
        } else {
            Err(format!("{count} arguments are needed, {} given", self.0.len()))
        }
    }

    /// Argument `at`.
    pub fn get(self, at: usize) -> Result<&'a Expr, String> {
        self.0.get(at).ok_or_else(|| format!("argument {} is missing", at + 1))
    }

    /// Argument `at` as a 32-bit number.
    pub fn int(self, at: usize) -> Result<i32, String> {
        int(self.get(at)?).map_err(|what| format!("argument {}: {what}", at + 1))
    }

    /// Argument `at`, a length.
    pub fn length(self, at: usize) -> Result<usize, String> {
        let length = value(self.get(at)?)?;
        usize::try_from(length)
            .ok()
            .filter(|length| *length <= 1 << 30)
            .ok_or_else(|| format!("argument {}: {length} is not a valid length", at + 1))
    }

    /// `[n]`.
    pub fn bracketed(self, at: usize) -> Result<i32, String> {
        match self.get(at)? {
            Expr::List(items) if items.len() == 1 => int(&items[0]),
            _ => Err(format!("argument {} should be a number in brackets", at + 1)),
        }
    }

    /// Checks that argument `at` is `...`.
    pub fn ellipsis(self, at: usize) -> Result<(), String> {
        match self.get(at)? {
            Expr::Ellipsis => Ok(()),
            _ => Err(format!("argument {} should be `...`", at + 1)),
        }
    }

    /// The items of a list.
    pub fn list(self, at: usize) -> Result<&'a [Expr], String> {
        match self.get(at)? {
            Expr::List(items) => Ok(items),
            _ => Err(format!("argument {} should be a list in brackets", at + 1)),
        }
    }

    /// `...` as `length` zeros, or 0 as a null pointer with that length.
    pub fn buffer(self, at: usize, length: usize) -> Result<crate::stack::Buffer, String> {
        match self.get(at)? {
            Expr::Ellipsis => Ok(crate::stack::Buffer::Bytes(vec![0; length])),
            null if value(null) == Ok(0) => Ok(crate::stack::Buffer::Null(length)),
            _ => Err(format!("argument {} should be `...` or NULL", at + 1)),
        }
    }

    /// `[{..., 1000}, {..., 1}]` as buffers of zeros.
    pub fn vectors(self, at: usize) -> Result<Vec<Vec<u8>>, String> {
        vectors(self.get(at)?).map_err(|what| format!("argument {}: {what}", at + 1))
    }
}

/// The numeric value of an expression.
pub fn value(expr: &Expr) -> Result<i64, String> {
    match expr {
        Expr::Int(value) => Ok(*value),
        Expr::Word(name) => number(name),
        Expr::Or(left, right) => Ok(value(left)? | value(right)?),
        Expr::Apply(name, arguments) => match (name.as_str(), arguments.as_slice()) {
            ("htons", [argument]) => {
                let port = value(argument)?;
                u16::try_from(port)
                    .map(|port| i64::from(port.to_be()))
                    .map_err(|_| format!("{port} is not a valid port"))
            }
            ("inet_addr", [argument]) => match ip(argument)? {
                IpAddr::V4(v4) => Ok(i64::from(u32::from_ne_bytes(v4.octets()))),
                IpAddr::V6(_) => Err("inet_addr() needs an IPv4 address".into()),
            },
            _ => Err(format!("`{name}(…)` is not a number")),
        },
        _ => Err("a number is needed".into()),
    }
}

/// The same in 32 bits, signed or unsigned.
pub fn int(expr: &Expr) -> Result<i32, String> {
    let value = value(expr)?;
    let signed = i32::try_from(value);
    signed
        .or_else(|_| u32::try_from(value).map(|value| value as i32))
        .map_err(|_| format!("{value} has more than 32 bits"))
}

/// An address in a string.
pub fn ip(expr: &Expr) -> Result<IpAddr, String> {
    let Expr::Str(text) = expr else { return Err("an address in quotes is needed".into()) };
    let text = String::from_utf8_lossy(text);
    text.parse().map_err(|_| format!("`{text}` is not an address"))
}

/// A field of a structure.
pub fn field<'a>(fields: &'a [Field], name: &str) -> Result<&'a Expr, String> {
    optional(fields, name).ok_or_else(|| format!("`{name}` is missing"))
}

/// A field of a structure that may be absent.
pub fn optional<'a>(fields: &'a [Field], name: &str) -> Option<&'a Expr> {
    fields.iter().find(|field| field.name.as_deref() == Some(name)).map(|field| &field.value)
}

/// `{…}`.
pub fn braces(expr: &Expr) -> Result<&[Field], String> {
    match expr {
        Expr::Braces(fields) => Ok(fields),
        _ => Err("a structure in braces is needed".into()),
    }
}

/// `[{..., 1000}]`.
pub fn vectors(expr: &Expr) -> Result<Vec<Vec<u8>>, String> {
    let Expr::List(items) = expr else { return Err("a list of buffers is needed".into()) };
    let buffer = |item: &Expr| match braces(item)? {
        [Field { value: Expr::Ellipsis, .. }, Field { value: length, .. }] => {
            let length = value(length)?;
            let length = usize::try_from(length).ok().filter(|length| *length <= 1 << 30);
            length.map(|length| vec![0; length]).ok_or_else(|| "a buffer's length is out of range".into())
        }
        _ => Err("a buffer is spelled {..., LENGTH}".to_owned()),
    };
    items.iter().map(buffer).collect()
}

/// `struct sockaddr_in` or `sockaddr_in6`.
pub fn socket_address(ip: IpAddr, port: u16) -> Vec<u8> {
    let family = if ip.is_ipv6() { libc::AF_INET6 } else { libc::AF_INET };
    let mut out = (family as u16).to_ne_bytes().to_vec();
    out.extend(port.to_be_bytes());
    if ip.is_ipv6() {
        out.extend([0; 4]);
    }
    out.extend(bytes(ip));
    out.resize(if ip.is_ipv6() { 28 } else { 16 }, 0);
    out
}

/// `{sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr("192.0.2.1")}`.
pub fn spelled_address(fields: &[Field]) -> Result<Vec<u8>, String> {
    let Expr::Apply(_, argument) = field(fields, "sin_addr")? else {
        return Err("sin_addr needs inet_addr(…)".into());
    };
    let ip = ip(argument.first().ok_or("inet_addr() of nothing")?)?;
    let port = value(field(fields, "sin_port")?)?;
    let mut address = socket_address(ip, u16::from_be(port as u16));
    let family = int(field(fields, "sa_family")?)?;
    address[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    Ok(address)
}
