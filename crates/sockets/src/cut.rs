//! The packets that frames become: one packet per frame of many segments, whose length fits the IP header's field, as a host with
//! segmentation offload shows it to programs that look above the device; or one per segment, where a script has turned that
//! offload off (`ethtool -K tun0 tso off`).

use crate::device::DEVICE;
use crate::ffi::ethtool::{TCP_SEGMENTATION, feature};
use tcp::{Payload, TxFrame, fill_pattern};
use wire::Parts;

/// Payload of the largest frame: as much as an IP packet's length field covers beside headers, and as hosts with segmentation
/// offload send.
pub(crate) const TSO_MAX_BYTES: u32 = 65_215;

/// What cuts a burst of segments into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing that a script could observe: the burst goes out as one packet.
    Never,
    /// The host, just before the device. A kernel's TCP builds bursts whatever the device supports.
    AtTheDevice,
}

/// As configured by `ethtool -K tun0`.
pub(crate) fn device_cut() -> Cut {
    if feature(DEVICE, TCP_SEGMENTATION) == Some(false) { Cut::AtTheDevice } else { Cut::Never }
}

/// The packets into which a frame is cut.
pub(crate) fn packets(frame: &TxFrame<'_>, cut: Cut) -> Vec<Vec<u8>> {
    match (cut, frame.gso_size) {
        (Cut::AtTheDevice, Some(size)) => cut_up(frame, size),
        _ => vec![packet(frame)],
    }
}

/// The bytes of a frame.
fn packet(frame: &TxFrame<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(frame.header.len() + frame.payload.len() as usize);
    bytes.extend_from_slice(frame.header);
    match frame.payload {
        Payload::Bytes(payload) => bytes.extend_from_slice(payload),
        Payload::Pattern { offset, len } => {
            bytes.resize(frame.header.len() + len as usize, 0);
            fill_pattern(offset, &mut bytes[frame.header.len()..]);
        }
    }
    bytes
}

/// One packet for each segment.
fn cut_up(frame: &TxFrame<'_>, size: u16) -> Vec<Vec<u8>> {
    let whole = packet(frame);
    let mut parts = Parts::new(frame.header, &whole[frame.header.len()..], Some(size));
    let part = || {
        let mut packet = Vec::new();
        let payload = parts.next_into(&mut packet)?;
        wire::checksum::fill(&mut packet, payload);
        packet.extend_from_slice(payload);
        Some(packet)
    };
    core::iter::from_fn(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcp::{ChecksumState, Payload};
    use wire::{Ecn, Flags, Fragmentation, IpRepr, Options, TcpRepr};

    fn frame(header: &[u8]) -> TxFrame<'_> {
        let payload = Payload::Pattern { offset: 0, len: 2_500 };
        TxFrame { header, payload, gso_size: Some(1_000), checksum: ChecksumState::InHeader }
    }

    #[test]
    fn a_burst_is_cut_into_segments_that_are_whole_by_themselves() {
        let ip = IpRepr {
            src: [192, 168, 0, 1].into(),
            dst: [192, 0, 2, 1].into(),
            ttl: 64,
            dscp: 0,
            ecn: Ecn::Ect0,
            fragmentation: Fragmentation::Forbidden,
        };
        let tcp = TcpRepr {
            src_port: 8_080,
            dst_port: 40_000,
            seq: base::SeqNum(u32::MAX - 500),
            ack: Some(base::SeqNum(7)),
            flags: Flags::PSH.with(Flags::FIN).with(Flags::CWR),
            window: 100,
            urgent: 0,
            options: Options::default(),
        };
        let mut header = [0; wire::MAX_HEADER];
        let len = wire::emit(&ip, &tcp, 2_500, &mut header);
        let frame = frame(&header[..len]);
        assert_eq!(packets(&frame, Cut::Never), [packet(&frame)]);
        let (mut seen, mut bytes) = (Vec::new(), Vec::new());
        for packet in packets(&frame, Cut::AtTheDevice) {
            let cut = wire::split(&packet).expect("a packet");
            assert!(wire::checksum::verify(&cut.header, cut.payload));
            let (part_ip, part) = cut.header.parse(cut.payload.len() as u32).expect("a segment");
            assert_eq!((part_ip, part.ack, part.window), (ip, tcp.ack, tcp.window));
            seen.push((part.seq.distance_from(tcp.seq), cut.payload.len(), part.flags));
            bytes.extend_from_slice(cut.payload);
        }
        let last = Flags::PSH.with(Flags::FIN);
        assert_eq!(seen, [(0, 1_000, Flags::CWR), (1_000, 1_000, Flags::NONE), (2_000, 500, last)]);
        assert_eq!(bytes, packet(&frame)[len..]);
    }
}
