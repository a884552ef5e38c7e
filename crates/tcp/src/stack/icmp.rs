//! Passes ICMP errors to the connections they refer to, and tells a connection what the stack knows of its path.

use super::{Segmentation, Stack};
use crate::cx::{Cx, StackCx};
use crate::endpoint::{Endpoint, FourTuple, Host};
use crate::event::{Disposition, IcmpError};
use crate::stack::Conn;
use crate::turn::RxFrame;
use base::Instant;
use core::net::IpAddr;
use trace::Observer;
use wire::icmp::Ignored;

impl Stack {
    //= specs/rfc9293.md#network-layer
    //# What ICMP reports is acted on.
    //= specs/rfc5927.md#validity
    //# An error about a segment that is not in flight is dropped and counted.
    /// Processes a frame that is not a TCP segment. Returns whether it was an ICMP message.
    #[cold]
    pub(super) fn handle_icmp<O: Observer>(&mut self, frame: &RxFrame<'_>, obs: &mut O) -> bool {
        let notice = match wire::icmp::parse(&frame.header) {
            Ok(notice) => notice,
            Err(Ignored::Malformed(wire::Malformed::NotTcp)) => return false,
            Err(Ignored::Checksum) => {
                self.counters.bad_checksum += 1;
                return true;
            }
            Err(_) => {
                self.counters.icmp_ignored += 1;
                return true;
            }
        };
        let tuple = FourTuple {
            remote_port: notice.dst_port,
            local_port: notice.src_port,
            remote: notice.dst,
            local: notice.src,
        };
        let Some((index, slot)) = self.slots.find(&tuple).and_then(|index| Some((index, self.slots.at(index)?))) else {
            self.counters.icmp_ignored += 1;
            return true;
        };
        let mut cx = Cx::new(frame.at, &mut slot.rng, slot.conn.id, obs);
        match slot.endpoint.handle_icmp(&mut cx, &notice) {
            Disposition::Accepted => self.counters.icmp += 1,
            _ => self.counters.icmp_out_of_window += 1,
        }
        self.remember_path(index);
        self.mark_ready(index);
        self.after_call(index);
        true
    }

    /// Changes the size of packets that the device takes, in bytes. Connections adapt at once, at a cost that grows with their
    /// number.
    pub fn set_mtu<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, mtu: u16) {
        if mtu == core::mem::replace(&mut self.device.mtu, mtu) {
            return;
        }
        let all: Vec<Conn> = self.iter().map(|(conn, _)| conn).collect();
        for conn in all {
            self.with(cx, conn, |endpoint, ecx| endpoint.set_mtu(ecx, mtu));
        }
    }

    /// Caches what a connection has learned about its path for the next one to the same host.
    pub(super) fn remember_path(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if let Some(learned) = slot.endpoint.take_learned_mtu() {
            self.paths.insert(slot.endpoint.tuple().remote, learned);
        }
    }

    /// Returns what a connection to `remote` begins with: the stack's bounds, what the device can do, what is known of the path.
    pub(super) fn host(&mut self, remote: IpAddr, now: Instant) -> Host {
        let bursts = self.device.segmentation != Segmentation::Off;
        Host { guards: self.guards, bursts, refuses: self.refuses, path: self.paths.get(remote, now) }
    }

    /// Returns the largest packet on a connection's path according to routers, in bytes.
    pub fn path_mtu(&self, conn: Conn) -> Option<u16> {
        self.endpoint(conn).map(Endpoint::path_mtu)
    }

    /// Returns the last error that the network reported on a connection's path, until data was acknowledged.
    pub fn soft_error(&self, conn: Conn) -> Option<IcmpError> {
        self.endpoint(conn).and_then(Endpoint::soft_error)
    }
}
