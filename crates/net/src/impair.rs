//! An emulated path in each direction between device and stack, made of the hops of `netem`.
//!
//! Hops lose, delay and reorder *packets*. Therefore super-segments do not reach them: software segments those that were read,
//! and the stack sees a device without segmentation offload.

use crate::device::Frame;
use crate::pool::Pool;
use base::{Instant, Rng};
use netem::{Ecn, Packet, Path, PathSpec};
use tcp::{ChecksumState, Payload, RxFrame, TxFrame, fill_pattern};
use wire::{Header, Parts, Split};

/// What happens to packets between device and stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impairment {
    /// From the device to the stack.
    pub ingress: Option<PathSpec>,
    /// From the stack to the device.
    pub egress: Option<PathSpec>,
    /// Seed of the random streams.
    pub seed: u64,
}

impl Impairment {
    pub(crate) fn build_ingress(&self) -> Option<Path<Parcel>> {
        self.ingress.as_ref().map(|spec| spec.build(&Rng::new(self.seed).fork("ingress")))
    }

    pub(crate) fn build_egress(&self) -> Option<Path<Parcel>> {
        self.egress.as_ref().map(|spec| spec.build(&Rng::new(self.seed).fork("egress")))
    }
}

/// Packets are boxed: moving one moves a pointer.
pub(crate) type Parcel = Box<RawPacket>;

/// A plain IP packet with its bytes.
#[derive(Clone, Debug)]
pub struct RawPacket {
    bytes: Vec<u8>,
    header_len: usize,
    checksum: ChecksumState,
}

impl Default for RawPacket {
    fn default() -> Self {
        Self { bytes: Vec::new(), header_len: 0, checksum: ChecksumState::InHeader }
    }
}

impl RawPacket {
    pub(crate) fn as_rx(&self, at: Instant) -> RxFrame<'_> {
        let (header, payload) = self.bytes.split_at(self.header_len);
        RxFrame {
            at,
            header: Header::read(header),
            payload: Payload::Bytes(payload),
            gso_size: None,
            checksum: self.checksum,
        }
    }

    pub(crate) fn as_frame(&self) -> Frame<'_> {
        let (header, payload) = self.bytes.split_at(self.header_len);
        Frame { header, payload, gso_size: None, checksum: self.checksum }
    }
}

impl Packet for Parcel {
    fn wire_len(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn mark_ce(&mut self) -> bool {
        netem::ip::mark_ce(&mut self.bytes)
    }

    fn ecn(&self) -> Ecn {
        netem::ip::ecn(&self.bytes)
    }

    fn flow(&self) -> u64 {
        netem::ip::flow(&self.bytes)
    }

    fn duplicate(&self) -> Self {
        self.clone()
    }

    fn may_wait(&self) -> bool {
        netem::ack::is_pure(&self.bytes)
    }

    fn supersedes(&self, older: &Self) -> bool {
        netem::ack::supersedes(&self.bytes, &older.bytes)
    }
}

/// Creates packets, in boxes that are reused.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    boxes: Pool<RawPacket>,
}

impl PacketPool {
    fn take(&mut self, checksum: ChecksumState) -> Parcel {
        let mut packet = self.boxes.take();
        packet.bytes.clear();
        packet.checksum = checksum;
        packet
    }

    /// Converts a frame that the stack sends.
    pub(crate) fn outgoing(&mut self, frame: &TxFrame<'_>) -> Parcel {
        assert!(frame.gso_size.is_none(), "a super-segment although the device cuts none");
        let mut packet = self.take(frame.checksum);
        packet.bytes.extend_from_slice(frame.header);
        packet.header_len = frame.header.len();
        match frame.payload {
            Payload::Bytes(bytes) => packet.bytes.extend_from_slice(bytes),
            Payload::Pattern { offset, len } => {
                packet.bytes.resize(frame.header.len() + len as usize, 0);
                fill_pattern(offset, &mut packet.bytes[frame.header.len()..]);
            }
        }
        packet
    }

    /// Splits a frame from the device into plain packets, one by one.
    pub(crate) fn incoming(
        &mut self,
        split: &Split<'_>,
        gso_size: Option<u16>,
        checksum: ChecksumState,
        mut each: impl FnMut(&mut Self, Parcel),
    ) {
        let mut parts = Parts::new(split.header.bytes(), split.payload, gso_size);
        loop {
            let mut packet = self.take(checksum);
            let Some(payload) = parts.next_into(&mut packet.bytes) else {
                return self.put_back(packet);
            };
            packet.header_len = packet.bytes.len();
            packet.bytes.extend_from_slice(payload);
            each(self, packet);
        }
    }

    pub(crate) fn put_back(&mut self, packet: Parcel) {
        self.boxes.put_back(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;
    use wire::{Ecn, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, TcpRepr};

    /// Connections negotiate ECN where their profile offers it, so their packets can be marked instead of being dropped.
    #[test_case(Ecn::NotEct, None; "not capable")]
    #[test_case(Ecn::Ect0, Some(Ecn::Ce))]
    #[test_case(Ecn::Ect1, Some(Ecn::Ce))]
    fn a_packet_that_is_capable_takes_a_mark(before: Ecn, after: Option<Ecn>) {
        let fragmentation = Fragmentation::Forbidden;
        let [src, dst] = [1, 2].map(|host| [10, 9, 0, host].into());
        let ip = IpRepr { src, dst, ttl: 64, dscp: 0, ecn: before, fragmentation };
        let tcp = TcpRepr {
            src_port: 9,
            dst_port: 50_000,
            seq: base::SeqNum(1),
            ack: Some(base::SeqNum(7)),
            flags: Flags::NONE,
            window: 1_000,
            urgent: 0,
            options: Options::default(),
        };
        let mut header = [0; MAX_HEADER];
        let len = wire::emit(&ip, &tcp, 0, &mut header);
        let frame = TxFrame {
            header: &header[..len],
            payload: Payload::Bytes(&[]),
            gso_size: None,
            checksum: ChecksumState::InHeader,
        };
        let mut packet = PacketPool::default().outgoing(&frame);
        assert_eq!(packet.mark_ce(), after.is_some());
        let (ip, _) = wire::parse(&packet.bytes, 0).expect("its checksum holds");
        assert_eq!(ip.ecn, after.unwrap_or(before));
    }
}
