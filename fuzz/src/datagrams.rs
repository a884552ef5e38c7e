//! Any packets, calls and waits against the sockets, flows and fragments beside the TCP: no panic, bounds that hold after every step,
//! books that balance at the end, and packets that read as they should.

use crate::input::Input;
use base::{Duration, Instant, Rng};
use core::net::{IpAddr, SocketAddr};
use datagram::{
    DatagramConfig, Datagrams, Destinations, Echo, Fate, MemoryUsage, QueueConfig, ReassemblyConfig, ReplyConfig,
    SocketId, Strangers,
};
use wire::{Carries, Ecn, Fragmentation, IcmpKind, IcmpMessage, IpRepr, IpView, Unreachable, icmp, udp};

const MTU: u16 = 1280;

/// Plays the input: one byte selects the configuration, the others the steps.
pub fn datagrams(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let cfg = config(input.byte());
    let mut game = Game {
        it: Datagrams::new(cfg.clone(), Rng::new(1)),
        cfg,
        now: Instant::ZERO,
        known: Vec::new(),
        last: Vec::new(),
    };
    game.known.extend(game.it.bind(SocketAddr::new(address(false, 1), 53)));
    game.known.extend(game.it.bind(SocketAddr::new(IpAddr::V6(core::net::Ipv6Addr::UNSPECIFIED), 53)));
    for _ in 0..1_000 {
        if input.is_empty() {
            break;
        }
        game.step(&mut input);
        game.bounds_hold();
    }
    game.end();
}

fn config(choice: u8) -> DatagramConfig {
    DatagramConfig {
        destinations: if choice & 1 == 0 { Destinations::Own } else { Destinations::Any },
        strangers: if choice & 2 == 0 { Strangers::Refuse } else { Strangers::Offer },
        echo: if choice & 4 == 0 { Echo::Own } else { Echo::Any },
        flows_max: 4,
        queue: QueueConfig { datagrams: 3, bytes: 2_000 },
        memory_max: 3_000,
        reassembly: ReassemblyConfig {
            bytes_max: 1_500,
            packets_max: 4,
            fragments_max: 3,
            patience: Duration::from_secs(3),
        },
        replies: ReplyConfig { waiting_max: 3, bytes_max: 3_000, ..ReplyConfig::default() },
        ..DatagramConfig::new(vec![address(false, 1), address(true, 1)], MTU)
    }
}

fn address(six: bool, last: u8) -> IpAddr {
    if six { [0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()].into() } else { [192, 0, 2, last].into() }
}

struct Game {
    it: Datagrams,
    cfg: DatagramConfig,
    now: Instant,
    known: Vec<SocketId>,
    /// The packet that came before the current one.
    last: Vec<u8>,
}

impl Game {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.below(16) {
            0 => self.now += Duration::from_millis(input.short().into()),
            1 => self.it.handle_timers(self.now),
            2 => self.known.extend(self.it.poll_flow().map(|flow| flow.id)),
            3 => drop(self.it.poll_event()),
            4 => self.leave(),
            5 => {
                let id = self.one_known(input);
                let _ = self.it.recv(id, &mut [0; 100]);
            }
            6 => {
                let (id, to) = (self.one_known(input), peer(input));
                let len = usize::from(input.byte()) * 8;
                let _ = self.it.send(self.now, id, None, to, &vec![0; len]);
            }
            7 => {
                let id = self.one_known(input);
                if input.chance(128) { self.it.close(id) } else { self.it.refuse(self.now, id) }
            }
            8 => {
                let (six, to) = (input.chance(128), peer(input));
                self.known.extend(self.it.open(self.now, SocketAddr::new(address(six, 1), 0), to));
            }
            _ => self.arrive(input),
        }
    }

    fn one_known(&self, input: &mut Input<'_>) -> SocketId {
        let recent = &self.known[self.known.len().saturating_sub(8)..];
        recent[input.below(recent.len())]
    }

    fn arrive(&mut self, input: &mut Input<'_>) {
        let packet = match input.below(8) {
            0 => (0..input.byte()).map(|_| input.byte()).collect(),
            1 => self.it.peek_transmit().map(|packet| report(packet, input)).unwrap_or_default(),
            2 => changed(self.last.clone(), input),
            3 | 4 => fragment(input),
            5 => echo(input),
            _ => datagram_packet(input),
        };
        let before = self.it.counters().dropped_total();
        let fate = self.it.handle_packet(self.now, &packet);
        let dropped = self.it.counters().dropped_total() - before;
        assert_eq!(dropped, u64::from(matches!(fate, Fate::Dropped(_))), "every drop is counted once");
        let whole = self.it.take_whole();
        assert_eq!(whole.is_some(), matches!(fate, Fate::Whole | Fate::WholeOther));
        if let Some(whole) = whole {
            assert!(IpView::read(&whole).expect("it is well-formed").fragment.is_none());
        }
        self.last = packet;
    }

    /// Takes a packet and reads it as its receiver would.
    fn leave(&mut self) {
        let Some(packet) = self.it.pop_transmit() else { return };
        assert!(packet.len() <= usize::from(MTU));
        let view = IpView::read(&packet).expect("it is well-formed");
        assert!(view.fragment.is_none() && view.packet().len() == packet.len());
        match view.carries() {
            Carries::Udp => drop(udp::parse(&view).expect("it is a datagram")),
            Carries::Icmp => match icmp::classify(&view).expect("it is intact") {
                IcmpMessage::Other => {}
                IcmpMessage::AboutUdp(notice) => {
                    assert_eq!(notice.kind, IcmpKind::Unreachable(Unreachable::Port));
                }
                message => panic!("an answer is {message:?}"),
            },
            other => panic!("a packet carries {other:?}"),
        }
    }

    fn bounds_hold(&self) {
        let (usage, cfg) = (self.it.usage(), &self.cfg);
        assert!(usage.received <= cfg.memory_max / 2 && usage.unsent <= cfg.memory_max / 2, "{usage:?}");
        assert!(usage.replies <= cfg.replies.bytes_max && usage.fragments <= cfg.reassembly.bytes_max, "{usage:?}");
        assert!(usage.incomplete <= cfg.reassembly.packets_max && usage.flows <= cfg.flows_max, "{usage:?}");
        assert!(usage.events <= 5 * (cfg.flows_max + 2), "{usage:?}");
    }

    /// After a long time, and once the application has taken everything, nothing is left.
    fn end(mut self) {
        self.it.handle_timers(self.now + Duration::from_secs(1_000));
        assert_eq!((self.it.flows(), self.it.next_deadline()), (0, None));
        self.known.iter().for_each(|id| self.it.close(*id));
        while self.it.peek_transmit().is_some() {
            self.leave();
        }
        while self.it.poll_event().is_some() {}
        assert_eq!(self.it.usage(), MemoryUsage::default());
    }
}

fn peer(input: &mut Input<'_>) -> SocketAddr {
    let choice = input.byte();
    SocketAddr::new(address(choice & 1 != 0, 5 + (choice >> 1 & 7)), u16::from(choice >> 4))
}

/// A datagram from a peer to one of few addresses.
fn datagram_packet(input: &mut Input<'_>) -> Vec<u8> {
    let (from, choice) = (peer(input), input.byte());
    let to = address(from.is_ipv6(), 1 + (choice & 1));
    let ip =
        IpRepr { src: from.ip(), dst: to, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation: Fragmentation::Forbidden };
    let mut packet = Vec::new();
    udp::emit(
        &ip,
        from.port(),
        [53, 54][usize::from(choice >> 1 & 1)],
        &vec![choice; usize::from(choice)],
        &mut packet,
    );
    packet
}

/// An echo request with the addresses and the length of a datagram.
fn echo(input: &mut Input<'_>) -> Vec<u8> {
    let mut packet = datagram_packet(input);
    let is_v4 = packet[0] >> 4 == 4;
    let (at, kind) = if is_v4 { (20, 8) } else { (40, 128) };
    if is_v4 {
        packet[9] = 1
    } else {
        packet[6] = 58
    }
    packet[at..at + 8].copy_from_slice(&[kind, 0, 0, 0, 1, 2, 3, 4]);
    let pseudo = if is_v4 { 0 } else { sum(&packet[8..40]) + 58 + (packet.len() - at) as u32 };
    let whole = pseudo + sum(&packet[at..]);
    let folded = (whole & 0xffff) + (whole >> 16);
    packet[at + 2..at + 4].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    mend(&mut packet);
    packet
}

fn sum(bytes: &[u8]) -> u32 {
    wire::checksum::ones_complement_sum(bytes).into()
}

/// A part of a datagram, with few identifications.
fn fragment(input: &mut Input<'_>) -> Vec<u8> {
    let whole = datagram_packet(input);
    let choice = input.byte();
    let (id, is_v4) = (choice & 1, whole[0] >> 4 == 4);
    let (header, payload) = whole.split_at(if is_v4 { 20 } else { 40 });
    let from = (usize::from(choice >> 1 & 7) * 16).min(payload.len() & !7);
    let to = if choice & 16 == 0 { payload.len() } else { payload.len().min(from + 16) };
    let more = if choice & 32 == 0 { to < payload.len() } else { choice & 64 == 0 };
    let mut packet = header.to_vec();
    if is_v4 {
        packet[2..4].copy_from_slice(&((20 + to - from) as u16).to_be_bytes());
        packet[5] = id;
        packet[6..8].copy_from_slice(&(u16::from(more) << 13 | (from / 8) as u16).to_be_bytes());
        mend(&mut packet);
    } else {
        packet[4..6].copy_from_slice(&((8 + to - from) as u16).to_be_bytes());
        packet[6] = 44;
        let [high, low] = (from as u16 | u16::from(more)).to_be_bytes();
        packet.extend([17, 0, high, low, 0, 0, 0, id]);
    }
    packet.extend(&payload[from..to]);
    packet
}

/// A router's error about a packet of ours.
fn report(packet: &[u8], input: &mut Input<'_>) -> Vec<u8> {
    let port = IcmpKind::Unreachable(Unreachable::Port);
    let kinds = [port, IcmpKind::TooBig { mtu: 1_300, packet_len: 0 }, IcmpKind::TimeExceeded];
    let mut out = Vec::new();
    icmp::emit(input.one_of(&kinds), address(packet[0] >> 4 == 6, 99), packet, &mut out);
    out
}

/// A packet with other bytes here and there.
fn changed(mut packet: Vec<u8>, input: &mut Input<'_>) -> Vec<u8> {
    for _ in 0..input.below(4) {
        let (at, byte) = (input.short(), input.byte());
        if let Some(place) = packet.len().checked_sub(1).map(|last| usize::from(at) % (last + 1)) {
            packet[place] = byte;
        }
    }
    if packet.len() >= 20 && packet[0] == 0x45 && input.chance(200) {
        mend(&mut packet);
    }
    packet
}

/// Corrects the checksum of an IPv4 header without options.
fn mend(packet: &mut [u8]) {
    if packet[0] >> 4 == 4 {
        packet[10..12].fill(0);
        let header = !(sum(&packet[..20]) as u16);
        packet[10..12].copy_from_slice(&header.to_be_bytes());
    }
}
