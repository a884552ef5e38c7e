//! Requests for connections that the application decides on before anything is answered, as a proxy needs: it first connects to the
//! destination itself, and only then accepts or refuses.
//!
//! A SYN that no listener answers becomes a request. The stack keeps what the SYN says, absorbs its repetitions, and sends nothing.
//! What strangers can cause is bounded: the number of undecided requests, their time, and their memory, which counts against the
//! stack's budget. A cookie answers such a SYN only if the application allows it ([`super::late_requests`]): it ends the handshake
//! before the decision.

use super::api::is_unicast;
use super::budget::REQUEST_BYTES;
use super::listen::Opening;
use super::listener::is_syn;
use super::request_table::{Held, Request, RequestConfig, RequestCounters, RequestError};
use super::slots::Admission;
use super::{Conn, Reply, Stack};
use crate::config::ValidConfig;
use crate::cx::StackCx;
use crate::endpoint::{Endpoint, FastOpenAnswer, FourTuple, Predecessor, Segment};
use crate::options;
use crate::pattern::Payload;
use base::Instant;
use core::net::IpAddr;
use trace::Observer;
use wire::{Flags, Unreachable};

impl Stack {
    /// From now on, SYNs that no listener answers become requests, which [`Self::poll_request`] returns; `None` refuses new ones with
    /// a reset again. Requests that wait already can still be decided.
    pub fn set_requests(&mut self, cfg: Option<RequestConfig>) {
        self.requests.cfg = cfg;
    }

    /// Returns the next new request; call until `None` after each turn. Whoever drops it ignores it: it is forgotten after
    /// [`RequestConfig::patience`].
    pub fn poll_request(&mut self) -> Option<(Request, FourTuple)> {
        self.requests.poll()
    }

    /// Returns whether [`Self::poll_request`] has a request.
    #[inline]
    pub fn has_requests(&self) -> bool {
        self.requests.has_new()
    }

    /// Returns how many requests are undecided.
    pub fn undecided(&self) -> usize {
        self.requests.len()
    }

    /// Returns what became of SYNs that no listener answered.
    pub fn request_counters(&self) -> &RequestCounters {
        &self.requests.counters
    }

    /// Accepts a request: its SYN-ACK leaves with the next turn, and `Connected` or `Closed` follows. The connection is the
    /// application's at once. One whose handshake is over takes on from `cfg` what an open connection can.
    ///
    /// # Errors
    /// [`RequestError`]; only after `NoMemory` does the request still wait.
    pub fn accept_request<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        request: Request,
        cfg: &ValidConfig,
    ) -> Result<Conn, RequestError> {
        let held = self.requests.get(request).ok_or(RequestError::Gone)?;
        if let Some(conn) = held.conn {
            return self.accept_late(cx, request, conn, cfg);
        }
        let tuple = held.tuple;
        let is_taken = self.slots.find(&tuple).is_some();
        if !is_taken && !self.has_memory_for_connection(cx.now, cx.obs) {
            return Err(RequestError::NoMemory);
        }
        let held = self.forget_request(request).ok_or(RequestError::Gone)?;
        if is_taken {
            return Err(RequestError::InUse);
        }
        let segment = Segment { repr: held.syn, payload: Payload::Bytes(&[]), ecn: held.ecn };
        let (answer, admission) = (FastOpenAnswer::Nothing, Admission::Owned);
        let opening = Opening { tuple, at: cx.now, last: held.last, answer, admission };
        Ok(self.open_passively(cfg, opening, &segment, cx.obs))
    }

    /// Answers a request with a reset, as a closed port does and as far as the guards allow; nothing happens if it is gone.
    pub fn refuse_request<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, request: Request) {
        let Some(held) = self.dismiss_request(cx, request) else { return };
        self.refuse(cx.now, &held.ip(), &held.syn, 0);
    }

    /// Reports to a request's sender that its destination cannot be reached, in the name of the destination and as far as the guards
    /// allow; nothing happens if it is gone. Where the IP version has no such report, the host is unreachable. A connection does not
    /// end by such a report: after the handshake it is a reset.
    pub fn report_unreachable<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, request: Request, why: Unreachable) {
        let Some(held) = self.dismiss_request(cx, request).filter(|_| self.may_reset(cx.now)) else { return };
        let ip = held.ip();
        self.reply(Reply::Unreachable(why.or_host(ip.dst.is_ipv4()), ip, held.syn));
    }

    /// Forgets a request without an answer; nothing happens if it is gone. The peer's next SYN is a new request. After the handshake
    /// it is a reset: the peer asks no more.
    pub fn ignore_request<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, request: Request) {
        self.dismiss_request(cx, request);
    }

    /// Forgets a request that is not accepted. Returns what there is to answer, or resets the connection that it is already.
    fn dismiss_request<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, request: Request) -> Option<Held> {
        let held = self.forget_request(request)?;
        let Some(conn) = held.conn else { return Some(held) };
        self.abort(cx, conn);
        self.release(cx, conn);
        None
    }

    pub(super) fn forget_request(&mut self, request: Request) -> Option<Held> {
        let held = self.requests.take(request)?;
        self.budget.charge(REQUEST_BYTES, 0, self.slots.len());
        Some(held)
    }

    /// Keeps a SYN that no listener answers for a decision. Returns whether it is one.
    #[cold]
    pub(super) fn offer_request<O: Observer>(
        &mut self,
        tuple: &FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let Some(cfg) = self.requests.cfg.filter(|_| is_syn(&segment.repr)) else { return false };
        if segment.repr.flags.contains(Flags::FIN) {
            self.counters.syn_fin += 1;
        } else if !self.requests.absorb(tuple, segment) {
            self.hold_request(cfg, None, tuple, at, segment, obs);
        }
        true
    }

    fn hold_request<O: Observer>(
        &mut self,
        cfg: RequestConfig,
        last: Option<Predecessor>,
        tuple: &FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) {
        if !self.has_place_for_request(cfg) {
            if !self.answer_late(tuple, at, segment, obs) {
                self.requests.counters.over_limit += 1;
            }
            return;
        }
        if !self.has_memory_for_request(at, obs) {
            self.requests.counters.no_memory += 1;
            return;
        }
        self.budget.charge(0, REQUEST_BYTES, self.slots.len());
        let (syn, ecn) = (segment.repr, segment.ecn);
        self.requests.hold(Held { syn, tuple: *tuple, ecn, until: at + cfg.patience, last, conn: None });
    }

    /// Returns whether one more request may wait that was not answered.
    fn has_place_for_request(&self, cfg: RequestConfig) -> bool {
        self.requests.len() - self.requests.late_len() < cfg.undecided_max as usize
    }

    /// Handles a SYN for a connection in TIME-WAIT that no listener answers: returns whether it became a request.
    #[cold]
    pub(super) fn request_next<O: Observer>(
        &mut self,
        index: u32,
        tuple: &FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let plain = !segment.repr.flags.contains(Flags::FIN);
        let Some(cfg) = self.requests.cfg.filter(|cfg| plain && self.has_place_for_request(*cfg)) else { return false };
        let yields = |old: &Endpoint| old.yields_to(&segment.repr, options::wants_timestamps(old.config(), Some(true)));
        let Some(last) = self.end_time_wait(index, at, obs, yields) else { return false };
        self.hold_request(cfg, Some(last), tuple, at, segment, obs);
        true
    }

    /// Forgets requests that the application did not decide in time.
    #[inline]
    pub(super) fn expire_requests<O: Observer>(&mut self, cx: &mut StackCx<'_, O>) {
        if self.requests.expiry() <= cx.now {
            self.forget_expired(cx);
        }
    }

    #[cold]
    fn forget_expired<O: Observer>(&mut self, cx: &mut StackCx<'_, O>) {
        while self.requests.expiry() <= cx.now
            && let Some(oldest) = self.requests.oldest()
        {
            self.ignore_request(cx, oldest);
            self.requests.counters.expired += 1;
        }
    }

    /// Returns whether frames to an address that is not this stack's own are for it all the same.
    #[cold]
    pub(super) fn stands_for(&self, address: IpAddr) -> bool {
        self.requests.any_destination() && is_unicast(address)
    }
}
