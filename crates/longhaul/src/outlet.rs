//! Frames that a TUN device takes straight out of the stack.

use longhaul_tokio::Outlet;
use net::Tun;
use std::io;
use std::sync::Arc;
use tcp::{ChecksumState, Payload, TxFrame};
use wire::Parts;

/// Writes frames from where the stack keeps their bytes. For a device without super-segments it cuts them first, and completes the
/// packets.
#[derive(Debug)]
pub(crate) struct TunOutlet {
    tun: Arc<Tun>,
    /// The packet that is written; empty for a device with super-segments, which needs no copy.
    packet: Vec<u8>,
}

impl TunOutlet {
    pub fn new(tun: Arc<Tun>) -> Self {
        let packet = if tun.front() == 0 { vec![0; u16::MAX.into()] } else { Vec::new() };
        Self { tun, packet }
    }

    /// Writes packet by packet, up to the first that the device does not take.
    fn cut(&mut self, frame: &TxFrame<'_>, payload: &[u8], left: &mut dyn FnMut(TxFrame<'_>)) {
        let mut parts = Parts::new(frame.header, payload, frame.gso_size);
        let mut is_blocked = false;
        loop {
            let Some(place) = parts.next_packet_in(&mut self.packet) else { return };
            let packet = &mut self.packet[..place.end];
            let (gso_size, checksum) = (None, ChecksumState::InHeader);
            if is_blocked || written(|| self.tun.transmit_behind_front(packet, gso_size, checksum)).is_err() {
                is_blocked = true;
                let (header, payload) = packet.split_at(place.start);
                left(TxFrame { header, payload: Payload::Bytes(payload), gso_size, checksum });
            }
        }
    }
}

/// What the device does not take for whatever reason goes the usual way, on which the reason is met again.
impl Outlet for TunOutlet {
    fn put(&mut self, frame: &TxFrame<'_>, left: &mut dyn FnMut(TxFrame<'_>)) {
        let Payload::Bytes(payload) = frame.payload else { return left(*frame) };
        let TxFrame { header, gso_size, checksum, .. } = *frame;
        if self.tun.front() == 0 && checksum != ChecksumState::InHeader {
            self.cut(frame, payload, left);
        } else if written(|| self.tun.transmit_pieces(header, payload, gso_size, checksum)).is_err() {
            left(*frame);
        }
    }
}

/// Writes until no signal interrupts it.
fn written(mut write: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match write() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
