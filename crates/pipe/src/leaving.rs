//! What one run sends: straight into the device, or as packets for the tunnel.

use crate::outlet::Outlet;
use crate::packet::{Buffers, Packet};
use crate::queue::Room;
use tcp::{Sent, TxFrame};

/// The ways out of the stack, in one run.
#[derive(Debug)]
pub(crate) struct Leaving<'a> {
    /// The room towards the tunnel when the run began.
    pub room: Room,
    /// Packets for the tunnel, and their bytes.
    pub packets: &'a mut Vec<Packet>,
    pub bytes: usize,
    /// Buffers for packets.
    pub spare: &'a mut Buffers,
    /// Takes frames straight out: so many bytes, unless packets have to leave first.
    pub outlet: Option<&'a mut dyn Outlet>,
    pub straight: Option<usize>,
    /// Frames that went straight out as a whole.
    pub frames: usize,
}

impl Leaving<'_> {
    pub fn send(&mut self, frame: &TxFrame<'_>) -> Sent {
        let len = len_of(frame);
        let Self { packets, bytes, spare, outlet, straight, frames, .. } = self;
        if let (Some(outlet), Some(left), true) = (outlet, straight, packets.is_empty()) {
            if *left == 0 {
                return Sent::Full;
            }
            *left = left.saturating_sub(len);
            outlet.put(frame, &mut |rest| pack(packets, bytes, spare, &rest));
            *frames += usize::from(packets.is_empty());
            return if *left > 0 { Sent::Accepted } else { Sent::Last };
        }
        if !self.has_room(len) {
            return Sent::Full;
        }
        pack(self.packets, &mut self.bytes, self.spare, frame);
        // Frames of a bulk transfer are of one length, and one that is offered in vain is copied.
        if self.has_room(len) { Sent::Accepted } else { Sent::Last }
    }

    fn has_room(&self, len: usize) -> bool {
        self.room.has(len, self.packets.len(), self.bytes)
    }
}

fn len_of(frame: &TxFrame<'_>) -> usize {
    frame.header.len() + frame.payload.len() as usize
}

/// Makes a packet of a frame.
fn pack(packets: &mut Vec<Packet>, bytes: &mut usize, spare: &mut Buffers, frame: &TxFrame<'_>) {
    let len = len_of(frame);
    let mut packet = spare.take(len).unwrap_or(Packet::without_buffer());
    packet.fill(frame);
    *bytes += len;
    packets.push(packet);
}
