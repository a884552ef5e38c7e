//! The peer: its knowledge of each conversation, and packets that are valid, nearly valid, or noise.

use crate::input::Input;
use base::{SeqNum, SeqRange};
use std::net::{IpAddr, SocketAddr};
use wire::icmp;
use wire::{Cookie, Ecn, FastOpen, FastOpenKind, Flags, Fragmentation, IcmpKind, IpRepr, MAX_HEADER, Options};
use wire::{TcpRepr, Timestamps, Unreachable};

/// Ports on our side: those of listeners, and one without a listener.
pub const LOCAL_PORTS: [u16; 3] = [8_080, 8_081, 9];
/// Ports on the peer's side.
pub const PEER_PORTS: [u16; 4] = [40_000, 40_001, 40_002, 7];

/// The byte at this number in every stream of the peer: all segments carry the same byte at the same
/// position, even with a forged header.
pub fn byte_at(seq: SeqNum) -> u8 {
    let mixed = seq.0.wrapping_mul(0x9e37_79b1) ^ seq.0 >> 7;
    (mixed ^ mixed >> 15) as u8
}

/// One pair of ports.
#[derive(Clone, Debug)]
struct Talk {
    local_port: u16,
    peer_port: u16,
    /// The peer's next number.
    next: SeqNum,
    /// What the peer has received up to.
    received: SeqNum,
    /// The stack's first number.
    iss: SeqNum,
    timestamps: Option<u32>,
    /// The stack has sent a SYN that was not answered.
    asked: bool,
}

/// The peer.
#[derive(Debug)]
pub struct Peer {
    pub local: IpAddr,
    pub remote: IpAddr,
    talks: Vec<Talk>,
    /// The packet the stack sent last, for ICMP to quote.
    seen: Vec<u8>,
    cookie: Option<Cookie>,
}

impl Peer {
    pub fn new(v6: bool) -> Self {
        let (local, remote) = if v6 { ("fd3d::1", "fd3d:8888::1") } else { ("192.168.0.1", "192.0.2.1") };
        let [local, remote] = [local, remote].map(|text| text.parse().expect("an address"));
        Self { local, remote, talks: Vec::new(), seen: Vec::new(), cookie: None }
    }

    pub fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.remote, port)
    }

    /// Learns from a packet of the stack's.
    pub fn note(&mut self, packet: &[u8]) {
        let Ok(split) = wire::split(packet) else { return };
        let len = split.payload.len() as u32;
        let Ok((_, tcp)) = split.header.parse(len) else { return };
        self.seen = packet.to_vec();
        self.cookie = tcp.options.fast_open.and_then(|option| option.cookie).or(self.cookie);
        let talk = self.talk(tcp.src_port, tcp.dst_port);
        talk.timestamps = tcp.options.timestamps.map(|timestamps| timestamps.tsval).or(talk.timestamps);
        if tcp.flags.contains(Flags::SYN) {
            (talk.iss, talk.received) = (tcp.seq, tcp.seq + 1);
            talk.asked = tcp.ack.is_none();
        }
        if tcp.seq == talk.received {
            talk.received = talk.received + len + u32::from(tcp.flags.contains(Flags::FIN));
        }
    }

    fn talk(&mut self, local_port: u16, peer_port: u16) -> &mut Talk {
        let known = |talk: &Talk| (talk.local_port, talk.peer_port) == (local_port, peer_port);
        let at = self.talks.iter().position(known).unwrap_or_else(|| {
            let (iss, received) = (SeqNum(0), SeqNum(0));
            let next = first_number(0);
            self.talks.push(Talk { local_port, peer_port, next, received, iss, timestamps: None, asked: false });
            self.talks.len() - 1
        });
        &mut self.talks[at]
    }

    /// A pair of ports: usually one with a conversation already.
    fn some_talk(&mut self, input: &mut Input<'_>) -> usize {
        if self.talks.is_empty() || input.chance(24) {
            let (local, peer) = (input.one_of(&LOCAL_PORTS), input.one_of(&PEER_PORTS));
            self.talk(local, peer);
        }
        let from_end = input.below(4).min(self.talks.len() - 1);
        self.talks.len() - 1 - from_end
    }

    fn packet(&self, tcp: &TcpRepr, len: u32, ecn: Ecn) -> Vec<u8> {
        let fragmentation = Fragmentation::Forbidden;
        let ip = IpRepr { src: self.remote, dst: self.local, ttl: 255, dscp: 0, ecn, fragmentation };
        let first = tcp.seq + u32::from(tcp.flags.contains(Flags::SYN));
        let payload: Vec<u8> = (0..len).map(|n| byte_at(first + n)).collect();
        let mut header = [0; MAX_HEADER];
        let header_len = wire::emit(&ip, tcp, len, &mut header);
        wire::checksum::fill(&mut header[..header_len], &payload);
        [&header[..header_len], &payload].concat()
    }

    fn segment(talk: &Talk, flags: Flags) -> TcpRepr {
        let tsval = 1_000 + talk.next.0 % 977;
        let options =
            Options { timestamps: talk.timestamps.map(|tsecr| Timestamps { tsval, tsecr }), ..Options::default() };
        TcpRepr {
            src_port: talk.peer_port,
            dst_port: talk.local_port,
            seq: talk.next,
            ack: Some(talk.received),
            flags,
            window: 32_792,
            urgent: 0,
            options,
        }
    }

    /// A SYN to a listener.
    pub fn opens(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let (local, peer) = (input.one_of(&LOCAL_PORTS[..2]), input.one_of(&PEER_PORTS[..3]));
        let (how, cookie) = (input.byte(), self.cookie);
        let talk = self.talk(local, peer);
        talk.timestamps = None;
        let iss = first_number(how >> 6);
        talk.next = iss;
        let mut tcp = Self::segment(talk, Flags::SYN);
        (tcp.ack, tcp.options) = (None, syn_options(how));
        let mut len = 0;
        if how & 0x30 == 0x30 {
            tcp.options.fast_open = Some(FastOpen { kind: FastOpenKind::Assigned, cookie });
            len = u32::from(input.byte());
        }
        talk.next = iss + 1;
        self.packet(&tcp, len, Ecn::NotEct)
    }

    /// An answer to the stack's last SYN, or the acknowledgement of everything so far.
    pub fn answers(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let at = self.talks.iter().rposition(|talk| talk.asked);
        let how = input.byte();
        let at = at.unwrap_or_else(|| self.some_talk(input));
        let talk = &mut self.talks[at];
        let mut tcp = Self::segment(talk, Flags::NONE);
        tcp.window = u16::from(how) << (how & 7);
        if talk.asked {
            let options = syn_options(how);
            let timestamps = tcp.options.timestamps;
            (tcp.flags, tcp.seq) = (Flags::SYN, first_number(how >> 6));
            tcp.options = Options { timestamps: options.timestamps.and(timestamps), ..options };
            talk.timestamps = tcp.options.timestamps.map(|timestamps| timestamps.tsecr);
            (talk.next, talk.asked) = (tcp.seq + 1, false);
        }
        self.packet(&tcp, 0, Ecn::NotEct)
    }

    /// A segment with data, a FIN or a reset, as a correct peer sends it.
    pub fn sends(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let at = self.some_talk(input);
        let (how, len) = (input.byte(), u32::from(input.short() % 3_000));
        let talk = &mut self.talks[at];
        let flags = match how {
            0..=190 => Flags::PSH,
            191..=235 => Flags::FIN,
            236..=245 => Flags::RST,
            _ => Flags::PSH.with(Flags::URG),
        };
        let mut tcp = Self::segment(talk, flags);
        tcp.urgent = u16::from(flags.contains(Flags::URG));
        let len = if flags.contains(Flags::RST) { 0 } else { len };
        if how & 7 != 7 {
            talk.next = talk.next + len + u32::from(flags.contains(Flags::FIN));
        }
        let ecn = [Ecn::NotEct, Ecn::NotEct, Ecn::Ect0, Ecn::Ce][usize::from(how & 3)];
        self.packet(&tcp, len, ecn)
    }

    /// A segment that is invalid in some way. Its bytes still match their positions.
    pub fn strays(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let at = self.some_talk(input);
        let (what, flags, near) = (input.byte(), input.byte(), input.short());
        let talk = &self.talks[at];
        let mut tcp = Self::segment(talk, Flags::from_bits(if what & 1 == 0 { flags } else { 0 }));
        let offset = u32::from(near) - if what & 2 == 0 { 0 } else { u32::from(near).min(2_000) };
        match what >> 2 & 7 {
            0 => tcp.seq = talk.next + offset,
            1 => tcp.seq = talk.next - u32::from(near & 0xfff),
            2 => tcp.ack = Some(talk.received + offset),
            3 => tcp.ack = Some(talk.iss + offset),
            4 => (tcp.ack, tcp.seq) = (None, talk.next + u32::from(near & 0xff)),
            5 => {
                let start = talk.iss + u32::from(near);
                tcp.options.sack.push(SeqRange::new(start, start + u32::from(flags) * 16));
                tcp.options.sack.push(SeqRange::new(talk.received, talk.received + 1_000));
            }
            6 => tcp.options.timestamps = Some(Timestamps { tsval: input.word(), tsecr: input.word() }),
            _ => (tcp.urgent, tcp.window) = (near, near),
        }
        let len = if what & 0xc0 == 0xc0 { u32::from(input.short() % 2_000) } else { 0 };
        self.packet(&tcp, len, Ecn::Ect0)
    }

    /// A valid header with some bytes changed and the checksums corrected.
    pub fn mutates(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let at = self.some_talk(input);
        let mut packet = self.packet(&Self::segment(&self.talks[at], Flags::NONE), 0, Ecn::NotEct);
        for _ in 0..=input.below(4) {
            let place = input.below(packet.len());
            packet[place] = input.byte();
        }
        if let Ok(split) = wire::split(&packet) {
            let mut header = split.header.bytes().to_vec();
            let payload = split.payload.to_vec();
            // Bytes that became payload through a changed length have no position in a stream.
            if payload.is_empty() && wire::parse(&header, 0).is_ok() {
                wire::checksum::fill(&mut header, &payload);
                return header;
            }
        }
        packet
    }

    /// What the network reports about the stack's last packet, or something close to it.
    pub fn complains(&mut self, input: &mut Input<'_>) -> Option<Vec<u8>> {
        let v4 = self.local.is_ipv4();
        let kinds = [
            IcmpKind::TooBig { mtu: u32::from(input.short()), packet_len: if v4 { 1_500 } else { 0 } },
            IcmpKind::Unreachable(Unreachable::Port),
            IcmpKind::TooBig { mtu: 1_280, packet_len: if v4 { 1_400 } else { 0 } },
            IcmpKind::Unreachable(if v4 { Unreachable::Host } else { Unreachable::Network }),
            IcmpKind::TimeExceeded,
            IcmpKind::ParameterProblem,
        ];
        let kind = input.one_of(&kinds);
        let mut seen = self.seen.clone();
        if seen.is_empty() {
            return None;
        }
        if input.chance(80) {
            let place = input.below(seen.len().min(60));
            seen[place] = input.byte();
        }
        let mut packet = Vec::new();
        icmp::emit(kind, self.remote, &seen, &mut packet);
        Some(packet)
    }

    /// Bytes of no meaning.
    pub fn babbles(&mut self, input: &mut Input<'_>) -> Vec<u8> {
        let len = input.below(80) + 1;
        let mut packet: Vec<u8> = (0..len).map(|_| input.byte()).collect();
        packet[0] = [0x45, 0x60, packet[0]][input.below(3)];
        packet
    }
}

/// The peer's initial numbers: one is close to the wrap.
fn first_number(which: u8) -> SeqNum {
    SeqNum([0, u32::MAX - 5_000, 0x7fff_f000, 1_000_000][usize::from(which & 3)])
}

fn syn_options(how: u8) -> Options {
    Options {
        mss: [None, Some(1_460), Some(1_000), Some(88)][usize::from(how & 3)],
        sack_permitted: how & 4 != 0,
        window_scale: (how & 8 != 0).then_some(how >> 5),
        timestamps: (how & 16 != 0).then_some(Timestamps { tsval: 900, tsecr: 0 }),
        ..Options::default()
    }
}
