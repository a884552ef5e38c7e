//! Frames that go straight from the stack into a device.
//!
//! A frame's payload lies in its connection's buffer while the stack is run. A device that can be written at any time takes it from
//! there, so nothing is copied into a packet, and no packet waits in a queue. What the device cannot take goes the usual way.

use std::fmt::Debug;
use tcp::TxFrame;

/// Bytes that may go straight out before the tunnel has its turn, in which it reads what the device answers: few enough that they are
/// in the processor's caches until then.
const AHEAD: usize = 256 << 10;

/// Takes frames while the stack is run ([`crate::Tunnel::set_outlet`]).
pub trait Outlet: Debug + Send {
    /// Takes a frame, or packets of it. What it does not take now, it hands to `left` in order: the rest reaches the tunnel as packets.
    ///
    /// It is called under the stack's lock, so it neither waits nor calls the stack.
    fn put(&mut self, frame: &TxFrame<'_>, left: &mut dyn FnMut(TxFrame<'_>));
}

/// How much may go straight out.
#[derive(Debug, Default)]
pub(crate) struct Straight {
    /// To be called from the next run on.
    pub outlet: Option<Box<dyn Outlet>>,
    /// Bytes; `None` while packets of the usual way, which are older, wait for the tunnel or have not left it.
    bytes: Option<usize>,
}

impl Straight {
    /// The tunnel has its turn: all packets that it received have left, and no other waits.
    pub fn open(&mut self) {
        self.bytes = Some(AHEAD);
    }

    /// Packets go the usual way.
    pub fn close(&mut self) {
        self.bytes = None;
    }

    /// Takes the bytes that may go out in a run.
    pub fn take(&mut self) -> Option<usize> {
        self.bytes.as_mut().map(std::mem::take)
    }

    /// Returns those that did not. The tunnel may have had its turn meanwhile.
    pub fn give_back(&mut self, bytes: usize) {
        self.bytes = self.bytes.map(|given| given.max(bytes));
    }

    /// Returns whether the tunnel's turn comes before anything goes straight out again.
    pub fn is_used_up(&self) -> bool {
        self.bytes == Some(0)
    }
}
