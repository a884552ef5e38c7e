//! How sockets and flows of ours begin, and which ports they get.

use crate::datagrams::Datagrams;
use crate::error::BindError;
use crate::event::SocketId;
use crate::socket::{Kind, Pair, plain, socket_addr};
use base::Instant;
use core::net::{IpAddr, SocketAddr};
use wire::is_unicast;

/// The dynamic ports (RFC 6335 §6).
const DYNAMIC: core::ops::RangeInclusive<u16> = 49_152..=65_535;

impl Datagrams {
    /// Binds a socket to an address and port; the unspecified address means every own address of its version, port zero a free dynamic
    /// port (RFC 6056 §3.3.1: a random one, or the next free).
    ///
    /// # Errors
    /// [`BindError::NotOwn`], [`BindError::InUse`], [`BindError::NoPorts`].
    pub fn bind(&mut self, at: SocketAddr) -> Result<SocketId, BindError> {
        let (ip, port) = plain(at);
        if !ip.is_unspecified() && !self.stands_for(ip) {
            return Err(BindError::NotOwn);
        }
        let port = if port == 0 { self.free_port(ip)? } else { port };
        if self.table.is_bound((ip, port)) {
            return Err(BindError::InUse);
        }
        Ok(self.table.bind((ip, port)))
    }

    /// Returns a dynamic port that no socket of the address's version has, and no flow from the address, or from any own one if it is
    /// unspecified.
    fn free_port(&mut self, ip: IpAddr) -> Result<u16, BindError> {
        let count = DYNAMIC.len() as u64;
        let start = self.rng.below(count);
        let mut ports = (0..count).map(|step| DYNAMIC.start() + ((start + step) % count) as u16);
        let has_flow = |port| match ip.is_unspecified() {
            true => self.cfg.addresses.iter().any(|own| self.table.has_flow_from((*own, port))),
            false => self.table.has_flow_from((ip, port)),
        };
        ports.find(|port| !self.table.has_port(*port, ip) && !has_flow(*port)).ok_or(BindError::NoPorts)
    }

    /// Begins a flow to `remote`; a local port of zero is picked as in [`Self::bind`]. The flow takes a place among
    /// [`crate::DatagramConfig::flows_max`] and ends like any other.
    ///
    /// # Errors
    /// Every [`BindError`].
    pub fn open(&mut self, now: Instant, local: SocketAddr, remote: SocketAddr) -> Result<SocketId, BindError> {
        let ((ip, port), remote) = (plain(local), plain(remote));
        if remote.1 == 0 || !is_unicast(remote.0) || remote.0.is_ipv4() != ip.is_ipv4() {
            return Err(BindError::BadPeer);
        }
        let ip = if ip.is_unspecified() { self.first_own(ip).ok_or(BindError::NotOwn)? } else { ip };
        if !self.stands_for(ip) {
            return Err(BindError::NotOwn);
        }
        let port = if port == 0 { self.free_port(ip)? } else { port };
        let pair = Pair { local: (ip, port), remote };
        if self.table.flow(&pair).is_some() {
            return Err(BindError::InUse);
        }
        if !self.make_place(now) {
            return Err(BindError::FlowsFull);
        }
        Ok(self.table.begin(pair, now, true))
    }

    /// Returns the local address of a socket or flow, its port filled in; `None` if it is gone.
    pub fn local(&self, id: SocketId) -> Option<SocketAddr> {
        self.table.get(id).map(|socket| match &socket.kind {
            Kind::Bound { at, .. } => socket_addr(*at),
            Kind::Flow { pair, .. } => socket_addr(pair.local),
        })
    }
}
