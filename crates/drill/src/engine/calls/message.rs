//! `struct msghdr` with its control messages: what a script passes, and what it expects in return.

use super::args::{braces, field, int, optional, value, vectors};
use crate::engine::clock::Clock;
use crate::engine::compare;
use crate::script::{Expr, Field};
use crate::stack::Message;

/// Size of `struct cmsghdr`, and the alignment of its data, in bytes.
const HEADER: usize = 16;
const ALIGN: usize = 8;

/// What `recvmsg` is expected to leave in memory.
#[derive(Debug)]
pub struct Expected {
    flags: i32,
    control: Vec<Control>,
}

/// A control message.
#[derive(Debug)]
struct Control {
    level: i32,
    kind: i32,
    data: Data,
}

#[derive(Debug)]
enum Data {
    /// Exact bytes, which may be followed by this many bytes that a script cannot express.
    Bytes(Vec<u8>, usize),
    /// Times in microseconds of script time; 0 is not compared.
    Stamps(Vec<i64>),
}

impl Data {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes, more) => bytes.len() + more,
            // Three pairs of seconds and nanoseconds.
            Self::Stamps(_) => 48,
        }
    }
}

/// The message described by `expr`, and what it is expected to contain afterwards.
pub fn message(expr: &Expr) -> Result<(Message, Expected), String> {
    let fields = braces(expr)?;
    let buffers = vectors(field(fields, "msg_iov")?)?;
    let iov = fields.iter().find(|field| field.name.as_deref() == Some("msg_iov"));
    if let Some(count) = iov.and_then(|field| field.length.as_ref()) {
        compare::field("msg_iov", value(count)?, buffers.len() as i64)?;
    }
    let flags = int(field(fields, "msg_flags")?)?;
    let control = match optional(fields, "msg_control") {
        Some(Expr::List(items)) => items.iter().map(control).collect::<Result<Vec<_>, _>>()?,
        Some(_) => return Err("msg_control is a list".into()),
        None => Vec::new(),
    };
    let bytes = control.iter().flat_map(Control::bytes).collect();
    let name = if optional(fields, "msg_name").is_some() { vec![0; 128] } else { Vec::new() };
    Ok((Message { name, buffers, control: bytes, flags }, Expected { flags, control }))
}

fn control(expr: &Expr) -> Result<Control, String> {
    let fields = braces(expr)?;
    let level = int(field(fields, "cmsg_level")?)?;
    let kind = int(field(fields, "cmsg_type")?)?;
    let data = match field(fields, "cmsg_data")? {
        Expr::Braces(inner) if optional(inner, "ee_errno").is_some() => extended_error(level, inner)?,
        Expr::Braces(inner) if optional(inner, "scm_sec").is_some() => {
            let seconds = value(field(inner, "scm_sec")?)?;
            Data::Stamps(vec![seconds * 1_000_000 + value(field(inner, "scm_nsec")?)? / 1_000])
        }
        Expr::Braces(_) => return Err("a cmsg_data of this form is not supported".into()),
        number => Data::Bytes(int(number)?.to_ne_bytes().to_vec(), 0),
    };
    Ok(Control { level, kind, data })
}

/// `struct sock_extended_err`, after which the kernel puts the address of the sender of the error.
fn extended_error(level: i32, fields: &[Field]) -> Result<Data, String> {
    let mut bytes = Vec::new();
    bytes.extend(int(field(fields, "ee_errno")?)?.to_ne_bytes());
    for name in ["ee_origin", "ee_type", "ee_code"] {
        bytes.push(int(field(fields, name)?)? as u8);
    }
    bytes.push(0);
    for name in ["ee_info", "ee_data"] {
        bytes.extend(int(field(fields, name)?)?.to_ne_bytes());
    }
    Ok(Data::Bytes(bytes, if level == libc::SOL_IP { 16 } else { 28 }))
}

impl Control {
    /// As laid out in memory, including padding.
    fn bytes(&self) -> Vec<u8> {
        let mut out = (HEADER + self.data.len()).to_ne_bytes().to_vec();
        out.extend(self.level.to_ne_bytes());
        out.extend(self.kind.to_ne_bytes());
        if let Data::Bytes(bytes, _) = &self.data {
            out.extend(bytes);
        }
        out.resize((HEADER + self.data.len()).next_multiple_of(ALIGN), 0);
        out
    }
}

impl Expected {
    /// Compares with what the call returned.
    pub fn compare(&self, message: &Message, clock: Clock, tolerance_usecs: i64) -> Result<(), String> {
        compare::field("msg_flags", self.flags, message.flags)?;
        let mut rest = message.control.as_slice();
        for (at, expected) in self.control.iter().enumerate() {
            let what = |what: &str| format!("control message {at}: {what}");
            let Some(header) = rest.get(..HEADER) else { return Err(format!("only {at} control messages came back")) };
            let int = |at: usize| i32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
            let mut length = [0; 8];
            length.copy_from_slice(&header[..8]);
            let length = usize::from_ne_bytes(length);
            compare::field(&what("level"), expected.level, int(8))?;
            compare::field(&what("type"), expected.kind, int(12))?;
            compare::field(&what("length"), HEADER + expected.data.len(), length)?;
            let data = rest.get(HEADER..length).ok_or_else(|| what("cut short"))?;
            expected.data.compare(data, clock, tolerance_usecs).map_err(|error| what(&error))?;
            rest = rest.get(length.next_multiple_of(ALIGN)..).unwrap_or_default();
        }
        if rest.len() >= HEADER {
            Err(format!("more than {} control messages came back", self.control.len()))
        } else {
            Ok(())
        }
    }
}

impl Data {
    fn compare(&self, actual: &[u8], clock: Clock, tolerance_usecs: i64) -> Result<(), String> {
        match self {
            Self::Bytes(bytes, _) if actual.starts_with(bytes) => Ok(()),
            Self::Bytes(bytes, _) => Err(format!("data: expected {bytes:?}, actual {:?}", &actual[..bytes.len()])),
            Self::Stamps(stamps) => {
                for (stamp, pair) in stamps.iter().zip(actual.chunks_exact(16)) {
                    let long = |bytes: &[u8]| bytes.try_into().map_or(0, i64::from_ne_bytes);
                    let at = clock.script(long(&pair[..8]) * 1_000_000 + long(&pair[8..]) / 1_000);
                    if *stamp != 0 && (at - stamp).abs() > tolerance_usecs {
                        return Err(format!("time stamp: expected {stamp} us, actual {at} us"));
                    }
                }
                Ok(())
            }
        }
    }
}
