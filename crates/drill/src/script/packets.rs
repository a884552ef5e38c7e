//! Packets as scripts spell them: `> P. 1:1001(1000) ack 1 win 65535 <nop,nop,TS val 1 ecr 2>`, `< icmp unreachable …`.

use super::cursor::{Cursor, Parsed};
use super::options::TcpOption;
use std::fmt;

/// A packet, injected or expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketSpec {
    /// Direction, seen from the stack under test.
    pub direction: Direction,
    /// What is said of its IP header.
    pub ip: IpFields,
    /// What it carries.
    pub transport: Transport,
}

/// Direction of a packet, seen from the stack under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: injected.
    Inbound,
    /// `>`: expected.
    Outbound,
}

/// What a script says of an IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IpFields {
    /// Traffic class.
    pub tos: TosCheck,
    /// IPv6 flow label; in an outbound packet, a name for the label that the connection uses.
    pub flow_label: Option<u32>,
    /// TTL or hop limit.
    pub ttl: Option<u8>,
}

/// Which part of the traffic class is specified and compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TosCheck {
    /// Nothing.
    #[default]
    None,
    /// The two ECN bits.
    Ecn(u8),
    /// Either ECT codepoint (outbound only).
    Ect01,
    /// The whole byte.
    Whole(u8),
}

/// What a packet carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(Tcp),
    /// An ICMP message.
    Icmp(Icmp),
}

/// A TCP segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Source and destination port, where they differ from the connection's.
    pub ports: Option<(u16, u16)>,
    /// Flags.
    pub flags: TcpFlags,
    /// First sequence number; relative to the sender's initial one unless SYN is set.
    pub seq: u32,
    /// Payload, bytes.
    pub payload: u16,
    /// Acknowledgement number, relative in the same way.
    pub ack: u32,
    /// Window field; `None` is not compared.
    pub window: Option<u16>,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options in order; `None` (`<...>`) is not compared.
    pub options: Option<Vec<TcpOption>>,
}

/// The flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags {
    /// CWR to FIN, in the layout of the header's byte 13.
    pub byte: u8,
    /// The AE flag (RFC 9768), the lowest bit of byte 12.
    pub ae: u8,
    /// AE, CWR and ECE given as a number.
    pub ace: Option<u8>,
}

/// An ICMP message, IPv4's or IPv6's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// Name or `type_N`.
    pub kind: String,
    /// Name or `code_N`.
    pub code: Option<String>,
    /// MTU of a packet-too-big message.
    pub mtu: Option<u32>,
    /// Identifier of an echo.
    pub id: Option<u16>,
    /// The segment the message quotes.
    pub echoed: EchoedSegment,
}

/// The segment an ICMP message quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoedSegment {
    /// Its relative sequence number.
    pub seq: u32,
    /// How many payload bytes the quoted IP header claims.
    pub payload: u16,
}

/// Bits of byte 13 by their letters, in the order they are printed.
const FLAG_LETTERS: [(char, u8); 8] =
    [('F', 0x01), ('S', 0x02), ('R', 0x04), ('P', 0x08), ('E', 0x40), ('W', 0x80), ('U', 0x20), ('.', 0x10)];
const CWR: u8 = 0x80;
const ECE: u8 = 0x40;

impl TcpFlags {
    /// FIN.
    pub const FIN: u8 = 0x01;
    /// SYN.
    pub const SYN: u8 = 0x02;
    /// RST.
    pub const RST: u8 = 0x04;
    /// PSH.
    pub const PSH: u8 = 0x08;
    /// ACK.
    pub const ACK: u8 = 0x10;
    /// URG.
    pub const URG: u8 = 0x20;
    /// ECE.
    pub const ECE: u8 = ECE;
    /// CWR.
    pub const CWR: u8 = CWR;

    /// Parses the letters, and a digit for the ACE field.
    pub fn parse(letters: &str) -> Result<Self, String> {
        let mut flags = Self::default();
        for letter in letters.chars() {
            let ecn_given = flags.ae != 0 || flags.byte & (CWR | ECE) != 0;
            if let Some(&(_, bit)) = FLAG_LETTERS.iter().find(|(known, _)| *known == letter) {
                if bit & (CWR | ECE) != 0 && flags.ace.is_some() {
                    return Err(format!("flag `{letter}` beside an ACE number"));
                }
                flags.byte |= bit;
            } else if letter == 'A' && flags.ace.is_none() {
                flags.ae = 1;
            } else if let Some(ace @ 0..=7) = letter.to_digit(10)
                && flags.ace.is_none()
                && !ecn_given
            {
                flags.ace = u8::try_from(ace).ok();
            } else if letter != '-' || letters != "-" {
                return Err(format!("flag `{letter}` in `{letters}`; known are F S R P . U E W A and one of 0 to 7"));
            }
        }
        if let Some(ace) = flags.ace {
            flags.ae = ace >> 2;
            flags.byte |= ((ace >> 1 & 1) * CWR) | ((ace & 1) * ECE);
        }
        Ok(flags)
    }

    /// Whether all bits of `bits` are set.
    pub const fn has(self, bits: u8) -> bool {
        self.byte & bits == bits
    }

    /// AE, CWR and ECE as a number.
    pub const fn ace(self) -> u8 {
        self.ae << 2 | (self.byte >> 7) << 1 | (self.byte >> 6 & 1)
    }
}

impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.byte == 0 && self.ae == 0 {
            return write!(f, "-");
        }
        for (letter, bit) in FLAG_LETTERS {
            if letter == 'U' && self.ae != 0 {
                write!(f, "A")?;
            }
            if self.has(bit) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

impl Cursor<'_> {
    /// A packet, its `<` or `>` not read yet.
    pub fn packet(&mut self) -> Parsed<PacketSpec> {
        let direction = if self.eat("<")? { Direction::Inbound } else { Direction::Outbound };
        if direction == Direction::Outbound {
            self.expect(">")?;
        }
        for layer in ["ipv4", "ipv6", "gre", "GREv0", "mpls", "udp"] {
            if self.peek_word() == layer {
                return self.error(format!("`{layer}`: only TCP segments and ICMP messages are supported"));
            }
        }
        let ip = self.ip_fields()?;
        if ip.tos == TosCheck::Ect01 && direction == Direction::Inbound {
            return self.error("[ect01] expects; an inbound packet needs [ect0] or [ect1]");
        }
        let transport = if self.eat_word("icmp")? {
            Transport::Icmp(self.icmp()?)
        } else {
            Transport::Tcp(self.segment(direction)?)
        };
        Ok(PacketSpec { direction, ip, transport })
    }

    /// `[ect0]`, `(tos 0x10, flowlabel 0x5)`, `[ttl 64]`, or nothing.
    fn ip_fields(&mut self) -> Parsed<IpFields> {
        let mut fields = IpFields::default();
        let close = if self.eat("[")? {
            "]"
        } else if self.eat("(")? {
            ")"
        } else {
            return Ok(fields);
        };
        loop {
            match self.word("an IP field")? {
                "noecn" => fields.tos = TosCheck::Ecn(0),
                "ect1" => fields.tos = TosCheck::Ecn(1),
                "ect0" => fields.tos = TosCheck::Ecn(2),
                "ce" => fields.tos = TosCheck::Ecn(3),
                "ect01" => fields.tos = TosCheck::Ect01,
                "tos" => fields.tos = TosCheck::Whole(self.field("tos")?),
                "ttl" => fields.ttl = Some(self.field("ttl")?),
                "flowlabel" => {
                    let label: u32 = self.field("flowlabel")?;
                    if label >> 20 != 0 {
                        return self.error("a flow label has 20 bits");
                    }
                    fields.flow_label = Some(label);
                }
                other => return self.error(format!("unknown IP field `{other}`")),
            }
            if self.eat(close)? {
                return Ok(fields);
            }
            self.expect(",")?;
        }
    }

    fn segment(&mut self, direction: Direction) -> Parsed<Tcp> {
        let ports = self.ports()?;
        let letters = self.run(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
        if letters.is_empty() {
            return self.expected("TCP flags");
        }
        let flags = TcpFlags::parse(letters).or_else(|what| self.error(what))?;
        self.advance(letters.len());
        self.skip()?;
        let (seq, payload) = self.sequence_range()?;
        let ack = if self.eat_word("ack")? { self.field("the ACK number")? } else { 0 };
        let window = if self.eat_word("win")? { Some(self.field("the window")?) } else { None };
        let urgent = if self.eat_word("urg")? { self.field("the urgent pointer")? } else { 0 };
        let options = if self.sees("<") { self.tcp_options()? } else { Some(Vec::new()) };
        if direction == Direction::Inbound && window.is_none() {
            return self.error("an inbound segment needs a window: `win N`");
        }
        if direction == Direction::Inbound && options.is_none() {
            return self.error("<...> expects; an inbound segment needs its options spelled out");
        }
        Ok(Tcp { ports, flags, seq, payload, ack, window, urgent, options })
    }

    fn ports(&mut self) -> Parsed<Option<(u16, u16)>> {
        let digits = self.run(|c| c.is_ascii_digit());
        if digits.is_empty() || !self.rest()[digits.len()..].trim_start().starts_with('>') {
            return Ok(None);
        }
        let source = self.field("the source port")?;
        self.expect(">")?;
        Ok(Some((source, self.field("the destination port")?)))
    }

    /// `first:last(length)`.
    fn sequence_range(&mut self) -> Parsed<(u32, u16)> {
        let first: u32 = self.field("the first sequence number")?;
        self.expect(":")?;
        let last: u32 = self.field("the last sequence number")?;
        self.expect("(")?;
        let payload: u16 = self.field("the payload length")?;
        self.expect(")")?;
        if first.wrapping_add(u32::from(payload)) != last {
            return self.error(format!("{first}:{last} are not {payload} bytes"));
        }
        Ok((first, payload))
    }

    fn icmp(&mut self) -> Parsed<Icmp> {
        let kind = self.word("an ICMP type")?;
        let kind = self.defined(kind);
        let code = match self.peek_word() {
            "" | "mtu" | "id" => None,
            // A digit begins the time of the next event.
            word if word.starts_with(|c: char| c.is_ascii_digit()) => None,
            _ => {
                let code = self.word("an ICMP code")?;
                Some(self.defined(code))
            }
        };
        let mtu = if self.eat_word("mtu")? { Some(self.field("the MTU")?) } else { None };
        let id = if self.eat_word("id")? { Some(self.field("the identifier")?) } else { None };
        let mut echoed = EchoedSegment::default();
        if self.eat("[")? {
            let (seq, payload) = self.sequence_range()?;
            echoed = EchoedSegment { seq, payload };
            self.expect("]")?;
        }
        Ok(Icmp { kind, code, mtu, id, echoed })
    }
}

impl fmt::Display for PacketSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.direction == Direction::Inbound { '<' } else { '>' };
        write!(f, "{arrow} {}", self.ip)?;
        match &self.transport {
            Transport::Tcp(tcp) => write!(f, "{tcp}"),
            Transport::Icmp(icmp) => write!(f, "{icmp}"),
        }
    }
}

impl fmt::Display for IpFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tos = match self.tos {
            TosCheck::None => None,
            TosCheck::Ecn(bits) => Some(["noecn", "ect1", "ect0", "ce"][usize::from(bits & 3)].to_owned()),
            TosCheck::Ect01 => Some("ect01".to_owned()),
            TosCheck::Whole(tos) => Some(format!("tos {tos:#04x}")),
        };
        let label = self.flow_label.map(|label| format!("flowlabel {label:#x}"));
        let ttl = self.ttl.map(|ttl| format!("ttl {ttl}"));
        let fields: Vec<String> = [tos, label, ttl].into_iter().flatten().collect();
        if fields.is_empty() { Ok(()) } else { write!(f, "[{}] ", fields.join(", ")) }
    }
}

impl fmt::Display for Tcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((source, destination)) = self.ports {
            write!(f, "{source} > {destination} ")?;
        }
        let last = self.seq.wrapping_add(u32::from(self.payload));
        write!(f, "{} {}:{last}({})", self.flags, self.seq, self.payload)?;
        if self.flags.has(TcpFlags::ACK) || self.ack != 0 {
            write!(f, " ack {}", self.ack)?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if self.urgent != 0 {
            write!(f, " urg {}", self.urgent)?;
        }
        match self.options.as_deref() {
            None => write!(f, " <...>"),
            Some([]) => Ok(()),
            Some(options) => {
                let options: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", options.join(","))
            }
        }
    }
}

impl fmt::Display for Icmp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "icmp {}", self.kind)?;
        self.code.iter().try_for_each(|code| write!(f, " {code}"))?;
        self.mtu.iter().try_for_each(|mtu| write!(f, " mtu {mtu}"))?;
        self.id.iter().try_for_each(|id| write!(f, " id {id}"))?;
        let EchoedSegment { seq, payload } = self.echoed;
        write!(f, " [{seq}:{}({payload})]", seq.wrapping_add(u32::from(payload)))
    }
}
