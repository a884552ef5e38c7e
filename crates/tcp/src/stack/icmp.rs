//! ICMP errors on their way to the connection they speak of, and what is remembered of the paths to hosts.

use super::{Segmentation, Stack};
use crate::cx::Cx;
use crate::endpoint::{Endpoint, FourTuple, Host, LearnedMtu};
use crate::event::{Disposition, IcmpError};
use crate::stack::Conn;
use crate::turn::RxFrame;
use base::Instant;
use core::net::IpAddr;
use std::collections::BTreeMap;
use trace::Observer;
use wire::icmp::Ignored;

/// Hosts whose path MTU is remembered; beyond it the word that expires first is forgotten.
const REMEMBERED: usize = 1024;

/// Path MTUs by host, for connections to come (RFC 1191 §6.2).
#[derive(Debug, Default)]
pub(super) struct PathCache {
    paths: BTreeMap<IpAddr, LearnedMtu>,
}

impl PathCache {
    fn insert(&mut self, host: IpAddr, learned: LearnedMtu) {
        if self.paths.len() >= REMEMBERED && !self.paths.contains_key(&host) {
            let oldest = self.paths.iter().min_by_key(|(_, learned)| learned.until).map(|(host, _)| *host);
            oldest.map(|oldest| self.paths.remove(&oldest));
        }
        self.paths.insert(host, learned);
    }

    fn get(&mut self, host: IpAddr, now: Instant) -> Option<LearnedMtu> {
        let learned = *self.paths.get(&host)?;
        if learned.until > now {
            return Some(learned);
        }
        self.paths.remove(&host);
        None
    }
}

impl Stack {
    //= specs/rfc9293.md#network-layer
    //# What ICMP reports is acted on.
    //= specs/rfc5927.md#validity
    //# An error about a segment that is not in flight is dropped and counted.
    /// Takes in a frame that is not a TCP segment. Returns whether it was an ICMP message.
    #[cold]
    pub(super) fn handle_icmp<O: Observer>(&mut self, frame: &RxFrame<'_>, obs: &mut O) -> bool {
        let notice = match wire::icmp::parse(frame.header) {
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

    /// What a connection has learned of its path serves the next one to the same host.
    pub(super) fn remember_path(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if let Some(learned) = slot.endpoint.take_path_news() {
            self.paths.insert(slot.endpoint.tuple().remote, learned);
        }
    }

    /// Returns what a connection to `remote` begins with: the stack's bounds, what the device can do, what is known of the path.
    pub(super) fn host(&mut self, remote: IpAddr, now: Instant) -> Host {
        let bursts = self.device.segmentation != Segmentation::Off;
        Host { guards: self.guards, bursts, refuses: self.refuses, path: self.paths.get(remote, now) }
    }

    /// Bytes of the largest packet that the path of a connection takes, as far as routers have said.
    pub fn path_mtu(&self, conn: Conn) -> Option<u16> {
        self.endpoint(conn).map(Endpoint::path_mtu)
    }

    /// The last trouble that the network reported on the path of a connection, until something was acknowledged.
    pub fn soft_error(&self, conn: Conn) -> Option<IcmpError> {
        self.endpoint(conn).and_then(Endpoint::soft_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{About, MayCut};
    use base::Duration;

    #[test]
    fn a_path_is_remembered_until_its_time_and_the_oldest_makes_room() {
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        let host = |n: u32| IpAddr::V4(n.into());
        let learned = |until| LearnedMtu { mtu: 1400, cut: MayCut::No, until: at(until), about: About::This };
        let mut cache = PathCache::default();
        for n in 0..REMEMBERED as u32 {
            cache.insert(host(n), learned(600 + u64::from(n)));
        }
        assert_eq!(cache.get(host(0), at(599)), Some(learned(600)));
        cache.insert(host(0), learned(2_000));
        cache.insert(host(5_000), learned(2_000));
        assert_eq!(cache.get(host(1), at(0)), None, "it had the least time left");
        assert_eq!(cache.get(host(2), at(602)), None, "its time has come");
        assert_eq!(cache.paths.len(), REMEMBERED - 1);
    }
}
