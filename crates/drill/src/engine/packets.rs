//! Packets of a script: injects inbound ones, waits for outbound ones and checks them.

use super::Engine;
use super::clock::seconds;
use super::compare;
use super::socket::{Seen, Socket, Stage};
use crate::config::{Segments, TimestampEcho};
use crate::packet::{self, Live};
use crate::script::{Direction, PacketSpec, Tcp, TcpFlags, TcpOption, Transport};

/// How long to wait for a packet that may come at any time, in microseconds of real time.
const ANY_TIME_USECS: i64 = 130_000_000;
/// How late a stack in real time may be before we stop waiting for its packet.
const LATE_USECS: i64 = 1_000_000;

impl Engine<'_> {
    pub(super) fn packet(&mut self, spec: &PacketSpec) -> Result<(), String> {
        let index = self.socket_for(spec)?;
        match spec.direction {
            Direction::Inbound => {
                self.wait("the inbound packet")?;
                self.inject(index, spec)
            }
            Direction::Outbound => self.expect(index, spec),
        }
    }

    /// The socket to which a packet of the script belongs. A first packet to a listener, or to no socket, creates a new one.
    fn socket_for(&mut self, spec: &PacketSpec) -> Result<usize, String> {
        let stage = self.under_test.map(|index| self.sockets[index].stage);
        if let Transport::Tcp(segment) = &spec.transport {
            let opens = matches!(stage, None | Some(Stage::Listening));
            if spec.direction == Direction::Inbound && opens {
                return Ok(self.open_passively(segment));
            }
            let syn = segment.flags.has(TcpFlags::SYN) && !segment.flags.has(TcpFlags::ACK);
            if spec.direction == Direction::Outbound && syn && stage == Some(Stage::Connecting) {
                let socket = self.socket().ok_or("no socket")?;
                socket.stage = Stage::SynSent;
                socket.script_isn = segment.seq;
            }
        }
        self.under_test.ok_or_else(|| "no socket that the packet could belong to".into())
    }

    fn open_passively(&mut self, segment: &Tcp) -> usize {
        let mut socket = Socket::new(Stage::SynReceived, true);
        socket.local = Some((self.config.local_ip, self.config.bind_port));
        socket.remote = Some((self.config.remote_ip, self.next_port));
        socket.remote_isn = segment.seq;
        self.next_port += 1;
        self.sockets.push(socket);
        let index = self.sockets.len() - 1;
        self.under_test = Some(index);
        index
    }

    fn inject(&mut self, index: usize, spec: &PacketSpec) -> Result<(), String> {
        let echo = self.config.ts_echo;
        let socket = &mut self.sockets[index];
        if let Transport::Tcp(segment) = &spec.transport {
            let (syn, ack) = (segment.flags.has(TcpFlags::SYN), segment.flags.has(TcpFlags::ACK));
            match socket.stage {
                Stage::SynAckSent if ack => socket.stage = Stage::SynAckAcked,
                Stage::SynSent if syn && ack => {
                    socket.stage = Stage::SynAcked;
                    socket.remote_isn = segment.seq;
                }
                _ => {}
            }
        }
        let mut addresses = socket.inbound().ok_or("the connection has no addresses yet")?;
        let bytes = match &spec.transport {
            Transport::Tcp(segment) => {
                if let Some((source, destination)) = segment.ports {
                    addresses.source_port = if source == 0 { addresses.source_port } else { source };
                    addresses.destination_port =
                        if destination == 0 { addresses.destination_port } else { destination };
                }
                let live = live_segment(socket, segment, echo)?;
                socket.last_in = Some(Seen {
                    seq: live.seq.wrapping_add(u32::from(live.payload) + sequence_flags(live.flags)),
                    ack: live.ack,
                    window: live.window.unwrap_or(0),
                    acks: live.flags.has(TcpFlags::ACK),
                });
                packet::tcp(addresses, spec.ip, &live)
            }
            Transport::Icmp(message) => {
                let seq = message.echoed.seq.wrapping_add(socket.local_offset(false));
                packet::icmp(addresses, spec.ip, message, seq)?
            }
        };
        let now = self.clock.script(self.stack.now());
        (self.log)(format!("{} {spec}", seconds(now)));
        self.stack.send(&bytes)
    }

    /// Waits for a packet, or for as many as add up to the expected length, and compares.
    fn expect(&mut self, index: usize, spec: &PacketSpec) -> Result<(), String> {
        let wanted = match &spec.transport {
            Transport::Tcp(segment) => usize::from(segment.payload),
            Transport::Icmp(_) => 0,
        };
        let mut packets: Vec<Live> = Vec::new();
        let mut got = 0;
        loop {
            let live = self.sniff(index, spec)?;
            let scripted = self.in_script_terms(index, spec, live);
            if let Some(previous) = packets.last() {
                compare::fragments(previous, &scripted).map_err(|what| {
                    let so_far = self.shown("actual so far", &Live::join(&packets), spec);
                    let next = self.shown("then", &scripted, spec);
                    format!("the packet ended early: {what}\n{}\n{so_far}\n{next}", self.shown_script(spec))
                })?;
            }
            got += scripted.payload().len();
            let tcp = scripted.is_tcp();
            packets.push(scripted);
            if !tcp || got >= wanted || self.config.segments == Segments::Strict {
                break;
            }
        }
        let actual = Live::join(&packets);
        self.judge(index, spec, &actual)
            .map_err(|what| format!("{what}\n{}\n{}", self.shown_script(spec), self.shown("actual", &actual, spec)))
    }

    /// The next packet of the connection; packets of other connections are skipped.
    fn sniff(&mut self, index: usize, spec: &PacketSpec) -> Result<Live, String> {
        let deadline = match self.due.any {
            true => self.stack.now() + ANY_TIME_USECS,
            false => self.clock.live(self.due.to) + self.clock.tolerance(self.due.to) + LATE_USECS,
        };
        loop {
            let received = self.stack.receive(deadline);
            let (bytes, at) = received.map_err(|what| format!("{what}\n{}", self.shown_script(spec)))?;
            let live = Live::parse(bytes, at)?;
            // A SYN retransmitted by another socket does not open a new connection.
            let of_another =
                |(at, socket): (usize, &Socket)| at != index && socket.sent(&live) && socket.live_isn == live.seq();
            let known = self.sockets.iter().enumerate().any(of_another);
            let socket = &mut self.sockets[index];
            if socket.sent(&live) || (!known && connects(socket, &live)) {
                return if live.has_valid_ip_checksum() { Ok(live) } else { Err("a wrong IP header checksum".into()) };
            }
            // Not only TCP appears on the device: the kernel also sends neighbour and router discovery.
            if live.is_tcp() {
                let passed = packet::spec(&live, Direction::Outbound, None);
                (self.log)(format!("{} (other connection) {passed}", seconds(self.clock.script(at))));
            }
        }
    }

    /// Learns the stack's numbers from one of its packets, and rewrites them to the script's.
    fn in_script_terms(&mut self, index: usize, spec: &PacketSpec, mut live: Live) -> Live {
        if !live.is_tcp() {
            return live;
        }
        let socket = &mut self.sockets[index];
        if let Transport::Tcp(segment) = &spec.transport
            && segment.flags.has(TcpFlags::SYN | TcpFlags::ACK)
            && socket.stage == Stage::SynReceived
        {
            socket.live_isn = live.seq();
            socket.script_isn = segment.seq;
            socket.stage = Stage::SynAckSent;
        }
        let flags = live.flags();
        let syn = flags.has(TcpFlags::SYN);
        let acks = flags.has(TcpFlags::ACK);
        socket.last_out = Some(Seen { seq: live.seq(), ack: live.ack(), window: live.window(), acks });
        let remote = socket.remote_offset(syn);
        let mut options = live.options();
        for option in &mut options {
            if let TcpOption::Sack(blocks) = option {
                let shift = |edge: u32| edge.wrapping_sub(remote);
                blocks.iter_mut().for_each(|block| *block = (shift(block.0), shift(block.1)));
            }
        }
        let ack = if acks { live.ack().wrapping_sub(remote) } else { live.ack() };
        live.set_numbers(live.seq().wrapping_sub(socket.local_offset(syn)), ack);
        live.set_options(&options);
        let shown = packet::spec(&live, Direction::Outbound, Some(spec));
        (self.log)(format!("{} {shown}", seconds(self.clock.script(live.at))));
        live
    }

    fn judge(&mut self, index: usize, spec: &PacketSpec, actual: &Live) -> Result<(), String> {
        let socket = &mut self.sockets[index];
        let mut tick_offset = None;
        if let Transport::Tcp(segment) = &spec.transport {
            tick_offset = learn_timestamp(socket, segment, actual);
            if actual.payload().len() != usize::from(segment.payload) {
                return Err(format!("payload: expected {} bytes, actual {}", segment.payload, actual.payload().len()));
            }
        }
        compare::headers(actual, spec)?;
        if let Some(label) = spec.ip.flow_label {
            flow_label(socket, label, actual.ip().flow_label)?;
        }
        if let Transport::Tcp(Tcp { options: Some(options), .. }) = &spec.transport {
            compare::options(&actual.options(), options)?;
            self.timestamp_in_time(tick_offset)?;
        }
        if actual.is_tcp() {
            compare::payload(actual)?;
        }
        self.clock.verify(self.due, self.previous_due(), actual.at, "the packet")
    }

    /// How many ticks a timestamp is off, and the tolerance for times.
    fn timestamp_in_time(&self, off: Option<i32>) -> Result<(), String> {
        let off_usecs = i64::from(off.unwrap_or(0).unsigned_abs()) * self.config.ts_tick_usecs;
        let tolerance = self.clock.tolerance(self.due.from);
        if off_usecs <= tolerance {
            return Ok(());
        }
        Err(format!("the timestamp is {} ticks off, tolerance {} s", off.unwrap_or(0), seconds(tolerance)))
    }

    fn shown_script(&self, spec: &PacketSpec) -> String {
        format!("  script: {} {spec}", seconds(self.due.from))
    }

    fn shown(&self, what: &str, packet: &Live, like: &PacketSpec) -> String {
        let at = seconds(self.clock.script(packet.at));
        format!("  {what}: {at} {}", packet::spec(packet, Direction::Outbound, Some(like)))
    }
}

/// Whether `live` is the SYN of a connection whose port is not known yet; if so, records the port.
fn connects(socket: &mut Socket, live: &Live) -> bool {
    if !live.is_tcp() || socket.stage != Stage::SynSent {
        return false;
    }
    let flags = live.flags();
    let (source, destination) = live.addresses();
    let (from, to) = live.ports();
    let syn = flags.has(TcpFlags::SYN) && !flags.has(TcpFlags::ACK);
    if !syn || socket.remote != Some((destination, to)) {
        return false;
    }
    socket.local = Some((source, from));
    socket.live_isn = live.seq();
    true
}

/// A segment of the script, converted to the live connection's numbers.
fn live_segment(socket: &Socket, segment: &Tcp, echo: TimestampEcho) -> Result<Tcp, String> {
    let mut live = segment.clone();
    let syn = segment.flags.has(TcpFlags::SYN);
    let local = socket.local_offset(syn);
    live.seq = segment.seq.wrapping_add(socket.remote_offset(syn));
    if segment.flags.has(TcpFlags::ACK) {
        live.ack = segment.ack.wrapping_add(local);
    }
    for option in live.options.iter_mut().flatten() {
        match option {
            TcpOption::Sack(blocks) => {
                let shift = |edge: u32| edge.wrapping_add(local);
                blocks.iter_mut().for_each(|block| *block = (shift(block.0), shift(block.1)));
            }
            TcpOption::Timestamps { ecr, .. } if segment.flags.has(TcpFlags::ACK) => {
                *ecr = match (socket.timestamps.get(ecr), echo, socket.first_timestamp) {
                    (Some(&live), ..) => live,
                    (None, TimestampEcho::Scaled, Some((script, live))) => ecr.wrapping_sub(script).wrapping_add(live),
                    _ => return Err(format!("`ecr {ecr}` is not a timestamp that the stack has sent in this script")),
                };
            }
            _ => {}
        }
    }
    Ok(live)
}

/// Records the script's name for a live timestamp, and returns the ticks between the two, counted from the first.
fn learn_timestamp(socket: &mut Socket, segment: &Tcp, actual: &Live) -> Option<i32> {
    let value = |options: &[TcpOption]| {
        options.iter().find_map(|option| match option {
            TcpOption::Timestamps { val, .. } => Some(*val),
            _ => None,
        })
    };
    let script = value(segment.options.as_deref()?)?;
    let live = value(&actual.options())?;
    socket.timestamps.insert(script, live);
    let (first_script, first_live) = *socket.first_timestamp.get_or_insert((script, live));
    Some((live.wrapping_sub(first_live).wrapping_add(first_script).wrapping_sub(script)) as i32)
}

/// A script's flow label is a name: it stands for the same live label until another name takes that label.
fn flow_label(socket: &mut Socket, script: u32, live: u32) -> Result<(), String> {
    match socket.flow_label {
        _ if script == 0 => Ok(()),
        _ if live == 0 => Err("flowlabel: expected one, actual none".into()),
        Some((known, label)) if known == script && label == live => Ok(()),
        Some((known, label)) if known == script => {
            Err(format!("flowlabel: expected {label:#x} still, actual {live:#x}"))
        }
        Some((_, label)) if label == live => Err(format!("flowlabel: expected a new one, actual {live:#x} still")),
        _ => {
            socket.flow_label = Some((script, live));
            Ok(())
        }
    }
}

fn sequence_flags(flags: TcpFlags) -> u32 {
    u32::from(flags.has(TcpFlags::SYN)) + u32::from(flags.has(TcpFlags::FIN))
}
