//! Connections of which nothing was kept (RFC 4987 §3.6): the SYN-ACK that says everything, and the endpoint that is made from
//! its acknowledgement.

use super::{Endpoint, SynInfo};
use crate::config::ValidConfig;
use crate::cx::Cx;
use trace::Observer;
use wire::{IpRepr, TcpRepr};

impl Endpoint {
    /// The SYN-ACK that an endpoint for this SYN would send, and the packet it would leave in. Nothing remains of the endpoint.
    pub(crate) fn syn_ack_for<O: Observer>(cfg: &ValidConfig, syn: &SynInfo, cx: &mut Cx<'_, O>) -> (IpRepr, TcpRepr) {
        let endpoint = Self::accept(cfg, syn, cx);
        (endpoint.ip_header(wire::Ecn::NotEct), endpoint.syn_repr(cx.now))
    }

    /// The endpoint that sent a SYN-ACK for this SYN, some time ago: it waits for the ACK that has just arrived.
    pub(crate) fn rebuild<O: Observer>(cfg: &ValidConfig, syn: &SynInfo, cx: &mut Cx<'_, O>) -> Self {
        let mut endpoint = Self::accept(cfg, syn, cx);
        endpoint.life.take_syn();
        endpoint.snd.space.on_syn_sent(0);
        endpoint.extras_mut().rebuilt = true;
        endpoint
    }

    /// Whether the time at which its SYN-ACK left is unknown.
    pub(super) fn is_rebuilt(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.rebuilt)
    }
}
