//! What comes in: which packets are ours, and what becomes of them.

use crate::config::{Echo, Strangers};
use crate::counters::DropReason;
use crate::datagrams::Datagrams;
use crate::event::{DatagramEvent, SocketId};
use crate::reassembly::Outcome;
use crate::socket::{Held, Kind, Pair, plain};
use base::Instant;
use core::net::IpAddr;
use wire::icmp::Ignored;
use wire::udp::{self, BadDatagram, Datagram};
use wire::{
    Carries, Ecn, Fragmentation, Header, IcmpKind, IcmpMessage, IpRepr, IpView, UdpNotice, Unreachable, icmp,
    is_unicast,
};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is handled, or a fragment that waits for the others.
    Taken,
    /// It is for the TCP as it came: a segment, or an ICMP error about one.
    ForTcp,
    /// It was a fragment and completed a packet for the TCP, which [`Datagrams::take_whole`] returns.
    Whole,
    /// It was a fragment and completed a packet for the caller, which [`Datagrams::take_whole`] returns.
    WholeOther,
    /// It is for the caller as it came: another protocol, another destination, a message that is not handled here.
    Other,
    /// It was dropped and counted.
    Dropped(DropReason),
}

impl Datagrams {
    /// Offers a packet, from its IP header on, that came at `now`. Any bytes may be offered; whole TCP segments need not be, since
    /// they are the TCP's.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) -> Fate {
        let fate = match IpView::read(packet) {
            Ok(view) if view.fragment.is_some() => self.handle_fragment(now, &view),
            Ok(view) => self.handle_whole(now, &view),
            Err(_) => Fate::Dropped(DropReason::Malformed),
        };
        if let Fate::Dropped(reason) = fate {
            self.counters.count(reason);
        }
        fate
    }

    fn handle_fragment(&mut self, now: Instant, view: &IpView<'_>) -> Fate {
        let Some(fragment) = view.fragment.filter(|_| view.carries() != Carries::Other && self.stands_for(view.dst))
        else {
            return Fate::Other;
        };
        if !is_unicast(view.src) {
            return Fate::Dropped(DropReason::Source);
        }
        self.reassembly.expire(now, &mut self.counters);
        let whole = match self.reassembly.add(now, view, &fragment, &mut self.counters) {
            Outcome::Kept => return Fate::Taken,
            Outcome::Dropped(reason) => return Fate::Dropped(reason),
            Outcome::Whole(packet) => packet,
        };
        let Ok(view) = IpView::read(&whole) else { return Fate::Dropped(DropReason::Malformed) };
        let fate = match self.handle_whole(now, &view) {
            Fate::ForTcp => Fate::Whole,
            Fate::Other => Fate::WholeOther,
            fate => return fate,
        };
        self.counters.whole_untaken += u64::from(self.whole.is_some());
        self.whole = Some(whole);
        fate
    }

    fn handle_whole(&mut self, now: Instant, view: &IpView<'_>) -> Fate {
        match view.carries() {
            Carries::Tcp => Fate::ForTcp,
            Carries::Udp if self.stands_for(view.dst) => self.handle_udp(now, view),
            Carries::Icmp => self.handle_icmp(now, view),
            Carries::Other if is_for_tcp_behind_extensions(view) => Fate::ForTcp,
            Carries::Udp | Carries::Other => Fate::Other,
        }
    }

    fn handle_udp(&mut self, now: Instant, view: &IpView<'_>) -> Fate {
        if !is_unicast(view.src) {
            return Fate::Dropped(DropReason::Source);
        }
        let datagram = match udp::parse(view) {
            Ok(datagram) => datagram,
            Err(BadDatagram::Checksum) => return Fate::Dropped(DropReason::UdpChecksum),
            Err(BadDatagram::NoChecksum) => return Fate::Dropped(DropReason::NoUdpChecksum),
            Err(BadDatagram::Length | BadDatagram::NotUdp) => return Fate::Dropped(DropReason::UdpLength),
        };
        let pair = Pair { local: (view.dst, datagram.dst_port), remote: (view.src, datagram.src_port) };
        let found = self.table.find(&pair, self.is_own(view.dst));
        match (found, self.cfg.strangers) {
            (None, Strangers::Refuse) => {
                self.report_unreachable(now, view.dst, view.packet());
                Fate::Dropped(DropReason::NoSocket)
            }
            (None, Strangers::Offer) if datagram.src_port == 0 || datagram.dst_port == 0 => {
                Fate::Dropped(DropReason::ZeroPort)
            }
            (found, _) => self.receive(now, found, pair, &datagram),
        }
    }

    /// Queues a datagram for a socket or flow, or for a new flow.
    fn receive(&mut self, now: Instant, found: Option<SocketId>, pair: Pair, datagram: &Datagram<'_>) -> Fate {
        let held = Held { source: pair.remote, destination: pair.local, payload: datagram.payload.into() };
        let cost = held.cost();
        if let Some(id) = found {
            self.table.touch(id, now);
        }
        let queued = found.and_then(|id| self.table.get(id)).map(|socket| socket.received()).unwrap_or_default();
        if !queued.has_room(cost, self.queue()) {
            return Fate::Dropped(DropReason::QueueFull);
        }
        if self.received_bytes + cost > self.cfg.memory_max / 2 {
            return Fate::Dropped(DropReason::MemoryFull);
        }
        let id = match found {
            Some(id) => id,
            None if self.make_place(now) => {
                self.counters.flows += 1;
                self.table.begin(pair, now, false)
            }
            None => return Fate::Dropped(DropReason::FlowsFull),
        };
        let Some(socket) = self.table.get_mut(id) else { return Fate::Dropped(DropReason::NoSocket) };
        socket.push(held);
        self.received_bytes += cost;
        self.counters.received += 1;
        if socket.is_known() {
            self.events.raise(DatagramEvent::Readable(id));
        }
        Fate::Taken
    }

    /// Ends a flow without an event, and answers its oldest unread datagram as if no socket had its port, as far as the allowance
    /// reaches. Without such a datagram, or of a socket, it is [`Self::close`].
    pub fn refuse(&mut self, now: Instant, id: SocketId) {
        let is_flow = self.table.get(id).is_some_and(|socket| matches!(socket.kind, Kind::Flow { .. }));
        let held = if is_flow { self.take_received(id) } else { None };
        self.close(id);
        let Some(Held { source, destination, payload }) = held else { return };
        // The datagram as it was, but for what routers change: its sender looks for addresses and ports.
        let (src, dst, fragmentation) = (source.0, destination.0, Fragmentation::Forbidden);
        let ip = IpRepr { src, dst, ttl: 64, dscp: 0, ecn: Ecn::NotEct, fragmentation };
        let mut packet = Vec::new();
        udp::emit(&ip, source.1, destination.1, &payload, &mut packet);
        self.report_unreachable(now, dst, &packet);
    }

    /// Reports that no socket has a datagram's port (RFC 1122 §4.1.3.1). Source and destination are single hosts, and a datagram is no
    /// ICMP error, so an answer is permitted (RFC 1122 §3.2.2, RFC 4443 §2.4 (e)).
    fn report_unreachable(&mut self, now: Instant, reporter: IpAddr, packet: &[u8]) {
        // A report quotes as much as fits, and at least what tells whose datagram it was, behind the longest header.
        let headers = if reporter.is_ipv4() { 28 } else { 48 };
        let room = usize::from(self.cfg.mtu).saturating_sub(headers).max(68);
        let quoted = &packet[..packet.len().min(room)];
        if self.transmit.has_room_for_reply(headers + quoted.len()) && self.unreachables.take(now) {
            let mut report = Vec::new();
            icmp::emit(IcmpKind::Unreachable(Unreachable::Port), reporter, quoted, &mut report);
            self.transmit.reply(report);
            self.counters.unreachables += 1;
        } else {
            self.counters.unreachables_withheld += 1;
        }
    }

    fn handle_icmp(&mut self, now: Instant, view: &IpView<'_>) -> Fate {
        match icmp::classify(view) {
            Ok(IcmpMessage::AboutTcp) => Fate::ForTcp,
            Ok(IcmpMessage::EchoRequest) if self.answers(view) => self.answer_echo(now, view),
            Ok(IcmpMessage::AboutUdp(notice)) if self.stands_for(view.dst) => self.handle_notice(&notice),
            Ok(_) => Fate::Other,
            Err(_) if !self.stands_for(view.dst) => Fate::Other,
            Err(Ignored::Checksum) => Fate::Dropped(DropReason::IcmpChecksum),
            Err(_) => Fate::Dropped(DropReason::IcmpMalformed),
        }
    }

    fn answers(&self, view: &IpView<'_>) -> bool {
        match self.cfg.echo {
            Echo::Own => self.is_own(view.dst),
            Echo::Any => self.is_own(view.dst) || is_unicast(view.dst),
            Echo::None => false,
        }
    }

    fn answer_echo(&mut self, now: Instant, view: &IpView<'_>) -> Fate {
        if !is_unicast(view.src) {
            return Fate::Dropped(DropReason::Source);
        }
        // The reply has a header without options.
        let len = view.payload().len() + if view.src.is_ipv4() { 20 } else { 40 };
        if len > usize::from(self.cfg.mtu) {
            return Fate::Dropped(DropReason::EchoTooLarge);
        }
        if !self.transmit.has_room_for_reply(len) {
            return Fate::Dropped(DropReason::RepliesFull);
        }
        if !self.echoes.take(now) {
            return Fate::Dropped(DropReason::EchoRate);
        }
        let mut packet = Vec::with_capacity(len);
        icmp::emit_echo_reply(view, &mut packet);
        self.transmit.reply(packet);
        self.counters.echoes += 1;
        Fate::Taken
    }

    /// Reports an error about a datagram to whom it came from, if it quotes all four of addresses and ports (RFC 1122 §4.1.3.3).
    fn handle_notice(&mut self, notice: &UdpNotice) -> Fate {
        let pair = Pair { local: plain(notice.src), remote: plain(notice.dst) };
        let found = self.table.find(&pair, self.is_own(notice.src.ip()));
        let sent = |id: &SocketId| self.table.get(*id).is_some_and(|it| it.is_known() && it.has_sent_to(pair.remote));
        let Some(id) = found.filter(sent) else { return Fate::Dropped(DropReason::IcmpUnmatched) };
        let event = match notice.kind {
            IcmpKind::Unreachable(Unreachable::Port) => DatagramEvent::Refused { id, remote: notice.dst },
            IcmpKind::TooBig { mtu, .. } => DatagramEvent::TooBig { id, remote: notice.dst, mtu },
            _ => return Fate::Dropped(DropReason::IcmpUnused),
        };
        self.counters.icmp += 1;
        self.events.raise(event);
        Fate::Taken
    }
}

/// Extension headers are not read here; the TCP skips them, and has to see its segments and the errors about them.
fn is_for_tcp_behind_extensions(view: &IpView<'_>) -> bool {
    let header = Header::read(view.packet());
    header.tcp_at().is_ok() || icmp::parse(&header).is_ok()
}
