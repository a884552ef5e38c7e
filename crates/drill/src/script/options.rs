//! TCP options in script notation: parsing, and printing them.

use super::cursor::{Cursor, Parsed};
use std::fmt;

/// One option of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// End of the list (RFC 9293 §3.2).
    Eol,
    /// Padding.
    Nop,
    /// Largest segment, bytes.
    Mss(u16),
    /// Window shift (RFC 7323 §2); `None` expects any.
    WindowScale(Option<u8>),
    /// SACK permitted (RFC 2018 §2).
    SackPermitted,
    /// SACK blocks, left and right edge.
    Sack(Vec<(u32, u32)>),
    /// Timestamps (RFC 7323 §3).
    Timestamps {
        /// The sender's clock.
        val: u32,
        /// The clock value echoed.
        ecr: u32,
    },
    /// MD5 digest (RFC 2385).
    Md5(Vec<u8>),
    /// Fast Open cookie (RFC 7413 §4.1.1), empty to request one.
    FastOpen(Vec<u8>),
    /// The same under the experimental kind 254.
    FastOpenExperimental(Vec<u8>),
    /// Accurate ECN counters (RFC 9768 §3.2.3), in the order of the option's kind, 24 bits each.
    AccEcn {
        /// Which counter comes first.
        order: AccEcnOrder,
        /// One to three counters, or none.
        counters: Vec<u32>,
    },
    /// Any other kind: `opt KIND HEX`.
    Other {
        /// Kind byte.
        kind: u8,
        /// What follows kind and length.
        data: Vec<u8>,
    },
}

/// Order of the counters in an Accurate ECN option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccEcnOrder {
    /// Kind 172: `e0b`, `ceb`, `e1b`.
    Zero,
    /// Kind 174: `e1b`, `ceb`, `e0b`.
    One,
}

const EXPERIMENTAL: u8 = 254;
const FAST_OPEN_MAGIC: [u8; 2] = [0xf9, 0x89];

impl AccEcnOrder {
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Zero => ["e0b", "ceb", "e1b"],
            Self::One => ["e1b", "ceb", "e0b"],
        }
    }

    const fn kind(self) -> u8 {
        match self {
            Self::Zero => 172,
            Self::One => 174,
        }
    }
}

impl TcpOption {
    /// Kind byte.
    pub fn kind(&self) -> u8 {
        match self {
            Self::Eol => 0,
            Self::Nop => 1,
            Self::Mss(_) => 2,
            Self::WindowScale(_) => 3,
            Self::SackPermitted => 4,
            Self::Sack(_) => 5,
            Self::Timestamps { .. } => 8,
            Self::Md5(_) => 19,
            Self::FastOpen(_) => 34,
            Self::FastOpenExperimental(_) => EXPERIMENTAL,
            Self::AccEcn { order, .. } => order.kind(),
            Self::Other { kind, .. } => *kind,
        }
    }

    /// Appends the option's bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if matches!(self, Self::Eol | Self::Nop) {
            out.push(self.kind());
            return;
        }
        let begin = out.len();
        out.extend([self.kind(), 0]);
        match self {
            Self::Eol | Self::Nop | Self::SackPermitted => {}
            Self::Mss(mss) => out.extend(mss.to_be_bytes()),
            Self::WindowScale(shift) => out.push(shift.unwrap_or(0)),
            Self::Sack(blocks) => out.extend(blocks.iter().flat_map(|&(l, r)| [l, r]).flat_map(u32::to_be_bytes)),
            Self::Timestamps { val, ecr } => out.extend([*val, *ecr].into_iter().flat_map(u32::to_be_bytes)),
            Self::Md5(data) | Self::FastOpen(data) | Self::Other { data, .. } => out.extend(data),
            Self::FastOpenExperimental(cookie) => {
                out.extend(FAST_OPEN_MAGIC);
                out.extend(cookie);
            }
            Self::AccEcn { counters, .. } => {
                out.extend(counters.iter().flat_map(|c| c.to_be_bytes().into_iter().skip(1)))
            }
        }
        out[begin + 1] = u8::try_from(out.len() - begin).unwrap_or(u8::MAX);
    }

    /// Splits the options field of a live segment. An option of a known kind with the wrong length becomes [`Self::Other`].
    pub fn split(mut bytes: &[u8]) -> Vec<Self> {
        let mut options = Vec::new();
        while let Some((&kind, rest)) = bytes.split_first() {
            let (data, behind) = match (kind, rest.first()) {
                (0 | 1, _) => (&[][..], rest),
                // A length that does not fit: the remainder is kept unparsed.
                (_, Some(&len)) if len >= 2 && usize::from(len) <= bytes.len() => {
                    bytes[2..].split_at(usize::from(len) - 2)
                }
                _ => (rest, &[][..]),
            };
            options.push(Self::read(kind, data));
            bytes = behind;
        }
        options
    }

    fn read(kind: u8, data: &[u8]) -> Self {
        let other = || Self::Other { kind, data: data.to_vec() };
        match (kind, data) {
            (0, []) => Self::Eol,
            (1, []) => Self::Nop,
            (2, &[a, b]) => Self::Mss(u16::from_be_bytes([a, b])),
            (3, &[shift]) => Self::WindowScale(Some(shift)),
            (4, []) => Self::SackPermitted,
            (5, _) if !data.is_empty() && data.len().is_multiple_of(8) => {
                Self::Sack(data.chunks_exact(8).map(|block| (be32(&block[..4]), be32(&block[4..]))).collect())
            }
            (8, _) if data.len() == 8 => Self::Timestamps { val: be32(&data[..4]), ecr: be32(&data[4..]) },
            (19, _) => Self::Md5(data.to_vec()),
            (34, _) => Self::FastOpen(data.to_vec()),
            (EXPERIMENTAL, _) => match data.strip_prefix(&FAST_OPEN_MAGIC) {
                Some(cookie) => Self::FastOpenExperimental(cookie.to_vec()),
                None => other(),
            },
            (172 | 174, _) if data.len() <= 9 && data.len().is_multiple_of(3) => Self::AccEcn {
                order: if kind == 172 { AccEcnOrder::Zero } else { AccEcnOrder::One },
                counters: data.chunks_exact(3).map(|c| u32::from_be_bytes([0, c[0], c[1], c[2]])).collect(),
            },
            _ => other(),
        }
    }
}

fn be32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte))
}

impl Cursor<'_> {
    /// `<option, option>` or `<...>` (which is `None`), with the opening bracket not consumed yet.
    pub fn tcp_options(&mut self) -> Parsed<Option<Vec<TcpOption>>> {
        self.expect("<")?;
        if self.eat("...")? {
            self.expect(">")?;
            return Ok(None);
        }
        let mut options = vec![self.tcp_option()?];
        while self.eat(",")? {
            options.push(self.tcp_option()?);
        }
        self.expect(">")?;
        let mut bytes = Vec::new();
        options.iter().for_each(|option| option.emit(&mut bytes));
        if bytes.len() > 40 {
            return self.error(format!("TCP options of {} bytes; at most 40 fit", bytes.len()));
        }
        if !bytes.len().is_multiple_of(4) {
            return self.error(format!("TCP options of {} bytes: pad them with nop to a multiple of 4", bytes.len()));
        }
        Ok(Some(options))
    }

    fn tcp_option(&mut self) -> Parsed<TcpOption> {
        let name = self.word("a TCP option")?;
        Ok(match name {
            "nop" => TcpOption::Nop,
            "eol" => TcpOption::Eol,
            "mss" => TcpOption::Mss(self.field("the MSS")?),
            "wscale" if self.eat("*")? => TcpOption::WindowScale(None),
            "wscale" => TcpOption::WindowScale(Some(self.field("the window shift")?)),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => self.sack_blocks()?,
            "TS" => {
                self.expect_word("val")?;
                let val = self.field("the timestamp value")?;
                self.expect_word("ecr")?;
                TcpOption::Timestamps { val, ecr: self.field("the timestamp echo")? }
            }
            "md5" => TcpOption::Md5(self.hex("the MD5 digest", 16)?),
            "FO" => TcpOption::FastOpen(self.hex("the Fast Open cookie", 38)?),
            "FOEXP" => TcpOption::FastOpenExperimental(self.hex("the Fast Open cookie", 36)?),
            "ECN" => self.accurate_ecn()?,
            "opt" => {
                let kind = self.field("the option's kind")?;
                TcpOption::Other { kind, data: self.hex("the option's data", 38)? }
            }
            _ => return self.error(format!("unknown TCP option `{name}`")),
        })
    }

    fn sack_blocks(&mut self) -> Parsed<TcpOption> {
        let mut blocks = Vec::new();
        while self.sees_number() {
            let left = self.field("a SACK block's left edge")?;
            self.expect(":")?;
            blocks.push((left, self.field("a SACK block's right edge")?));
        }
        if blocks.is_empty() { self.expected("a SACK block") } else { Ok(TcpOption::Sack(blocks)) }
    }

    fn accurate_ecn(&mut self) -> Parsed<TcpOption> {
        let order = if self.peek_word() == "e0b" { AccEcnOrder::Zero } else { AccEcnOrder::One };
        let mut counters = Vec::new();
        for name in order.names() {
            if !self.eat_word(name)? {
                break;
            }
            let counter: u32 = self.field("a counter")?;
            if counter >> 24 != 0 {
                return self.error(format!("a counter of 24 bits cannot hold {counter}"));
            }
            counters.push(counter);
        }
        Ok(TcpOption::AccEcn { order, counters })
    }

    /// Hexadecimal digits, two per byte; there may be none. A symbol may stand for them.
    fn hex(&mut self, what: &str, most: usize) -> Parsed<Vec<u8>> {
        let word = self.peek_word();
        let digits = self.defined(word);
        if !digits.bytes().all(|c| c.is_ascii_hexdigit()) || !digits.len().is_multiple_of(2) || digits.len() > 2 * most
        {
            return self.error(format!("{what} is at most {most} bytes of two hexadecimal digits each, not `{word}`"));
        }
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(0);
        let bytes = (0..digits.len()).step_by(2).map(byte).collect();
        self.advance(word.len());
        self.skip()?;
        Ok(bytes)
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, name: &str, data: &[u8]| {
            write!(f, "{name}{}", if data.is_empty() { "" } else { " " })?;
            data.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match self {
            Self::Eol => write!(f, "eol"),
            Self::Nop => write!(f, "nop"),
            Self::Mss(mss) => write!(f, "mss {mss}"),
            Self::WindowScale(Some(shift)) => write!(f, "wscale {shift}"),
            Self::WindowScale(None) => write!(f, "wscale *"),
            Self::SackPermitted => write!(f, "sackOK"),
            Self::Sack(blocks) => {
                write!(f, "sack")?;
                blocks.iter().try_for_each(|(left, right)| write!(f, " {left}:{right}"))
            }
            Self::Timestamps { val, ecr } => write!(f, "TS val {val} ecr {ecr}"),
            Self::Md5(digest) => hex(f, "md5", digest),
            Self::FastOpen(cookie) => hex(f, "FO", cookie),
            Self::FastOpenExperimental(cookie) => hex(f, "FOEXP", cookie),
            Self::AccEcn { order, counters } => {
                write!(f, "ECN")?;
                order.names().iter().zip(counters).try_for_each(|(name, counter)| write!(f, " {name} {counter}"))
            }
            Self::Other { kind, data } => hex(f, &format!("opt {kind}"), data),
        }
    }
}
