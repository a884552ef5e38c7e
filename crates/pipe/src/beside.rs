//! Packets beside the TCP's: datagrams, echo requests and fragments for those who handle them, everything else for the program.

use crate::packet::{Buffers, Packet};
use crate::place::Place;
use crate::queue::Room;
use base::Instant;
use datagram::{Datagrams, Fate};
use std::collections::VecDeque;
use tcp::ChecksumState;
use wire::{Carries, IpView, Malformed, Parts, Transport, udp};

/// Packets that leave in front of a turn's segments at most: half of a batch, so that neither holds the other up.
const SHARE: usize = 32;

/// What became of packets since it was last asked.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Kept for the program.
    pub others: u64,
    /// For the program, but too many wait.
    pub others_dropped: u64,
    /// Not IP packets.
    pub malformed: u64,
}

/// Handles packets that are not plain TCP segments.
#[derive(Debug)]
pub(crate) struct Beside {
    pub datagrams: Option<Box<Datagrams>>,
    others: VecDeque<Packet>,
    others_max: usize,
    pub sorted: Sorted,
    /// Among several shards, which one this is.
    pub place: Option<Place>,
    /// One datagram of a train.
    part: Vec<u8>,
}

impl Beside {
    pub fn new(others_max: usize) -> Self {
        Self {
            datagrams: None,
            others: VecDeque::new(),
            others_max,
            sorted: Sorted::default(),
            place: None,
            part: Vec::new(),
        }
    }

    /// Takes out what is not for the TCP; its place in `packets` is left empty. A packet that fragments have completed takes the place
    /// of the last one.
    pub fn sort(&mut self, now: Instant, packets: &mut [Packet]) {
        for packet in packets.iter_mut().filter(|packet| !is_plain_tcp(packet.bytes())) {
            self.place(now, packet);
        }
    }

    fn place(&mut self, now: Instant, packet: &mut Packet) {
        let Some(datagrams) = &mut self.datagrams else {
            match wire::split(packet.bytes()) {
                Ok(_) => {}
                Err(Malformed::NotTcp | Malformed::Fragment) => self.keep(packet),
                Err(_) => {
                    self.sorted.malformed += 1;
                    packet.truncate(0);
                }
            }
            return;
        };
        if let Some(size) = packet.gso_size
            && let Some(refused) = offer_train(datagrams, now, packet.bytes(), size, &mut self.part)
        {
            self.sorted.others_dropped += refused;
            return packet.truncate(0);
        }
        if packet.checksum != ChecksumState::InHeader && udp::complete(packet.bytes_mut()) {
            packet.checksum = ChecksumState::InHeader;
        }
        let fate = datagrams.handle_packet(now, packet.bytes());
        if matches!(fate, Fate::Whole | Fate::WholeOther) {
            packet.clear();
            packet.extend(&datagrams.take_whole().unwrap_or_default());
        }
        match fate {
            Fate::ForTcp => {}
            Fate::Whole => {
                if let Some(place) = &self.place {
                    place.hand_over(packet);
                }
            }
            Fate::Other | Fate::WholeOther => self.keep(packet),
            Fate::Taken | Fate::Dropped(_) => packet.truncate(0),
        }
    }

    /// Keeps a packet for the program, if there is room.
    fn keep(&mut self, packet: &mut Packet) {
        if self.others.len() < self.others_max {
            self.sorted.others += 1;
            self.others.push_back(std::mem::replace(packet, Packet::without_buffer()));
        } else {
            self.sorted.others_dropped += 1;
            packet.truncate(0);
        }
    }

    /// Serves timers, and moves datagrams and answers to `tx` as far as there is room. Returns their bytes.
    pub fn send(&mut self, now: Instant, room: &Room, spare: &mut Buffers, tx: &mut Vec<Packet>) -> usize {
        let Some(datagrams) = &mut self.datagrams else { return 0 };
        if datagrams.next_deadline().is_some_and(|due| due <= now) {
            datagrams.handle_timers(now);
        }
        let mut sent = 0;
        while tx.len() < SHARE
            && let Some(bytes) = datagrams.peek_transmit()
            && room.has(bytes.len(), tx.len(), sent)
        {
            let mut packet = spare.take(bytes.len()).unwrap_or(Packet::without_buffer());
            packet.clear();
            packet.extend(bytes);
            sent += bytes.len();
            tx.push(packet);
            datagrams.pop_transmit();
        }
        sent
    }

    /// Returns when a timer is due.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.datagrams.as_ref()?.next_deadline()
    }

    /// Returns whether something waits to leave.
    pub fn has_ready(&self) -> bool {
        self.datagrams.as_ref().is_some_and(|datagrams| datagrams.peek_transmit().is_some())
    }

    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    pub fn take_other(&mut self) -> Option<Packet> {
        self.others.pop_front()
    }
}

/// Offers each datagram of a train, and returns how many are of no use here: a program that gets packets as they came gets no trains.
/// `None` if it is not one.
fn offer_train(datagrams: &mut Datagrams, now: Instant, train: &[u8], size: u16, part: &mut Vec<u8>) -> Option<u64> {
    let view = IpView::read(train).ok()?;
    let at = view.header().len();
    if view.carries() != Carries::Udp || view.fragment.is_some() || view.payload().len() < udp::HEADER {
        return None;
    }
    let mut refused = 0;
    let (header, payload) = view.packet().split_at(at + udp::HEADER);
    let mut parts = Parts::behind(Transport::Udp(at), header, payload, Some(size));
    part.clear();
    while let Some(payload) = parts.next_into(part) {
        part.extend_from_slice(payload);
        // A train has one checksum, which is of none of its datagrams.
        udp::complete(part);
        refused += u64::from(datagrams.handle_packet(now, part) == Fate::Other);
        part.clear();
    }
    Some(refused)
}

/// Returns whether a packet is one that only the TCP handles: not a fragment, and TCP follows the fixed header.
#[inline]
fn is_plain_tcp(packet: &[u8]) -> bool {
    const TCP: u8 = 6;
    match packet {
        [0x45..=0x4f, _, _, _, _, _, high, low, _, TCP, ..] => high & 0x3f == 0 && *low == 0,
        [0x60..=0x6f, _, _, _, _, _, TCP, ..] => true,
        _ => false,
    }
}
