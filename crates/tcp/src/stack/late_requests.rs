//! Requests that are decided after their handshake ([`super::requests`] keeps the others): when too many wait for a decision, a SYN is
//! answered with a cookie, and the ACK that brings it back becomes a connection, which waits for the decision in the request's place.
//!
//! The price is the application's to pay, so that it has to ask for them: a peer learns that it is connected before the destination is
//! known to answer, and a refusal is a reset. What a flood can cause stays bounded: a cookie costs nothing, and only peers that receive
//! what is sent to them can bring one back.

use super::budget::REQUEST_BYTES;
use super::cookie_jar::PERIOD;
use super::cookies::Rebuilt;
use super::request_table::{Held, LateRequests, Request, RequestError};
use super::slots::Admission;
use super::{Conn, Stack};
use crate::config::ValidConfig;
use crate::cx::StackCx;
use crate::endpoint::{FourTuple, Segment};
use base::Instant;
use trace::Observer;
use wire::IpRepr;

impl Stack {
    /// From now on, SYNs that find too many requests undecided are answered with a cookie, and become requests when their handshake is
    /// over; `None` drops them again.
    pub fn set_late_requests(&mut self, late: Option<LateRequests>) {
        self.requests.late = late;
    }

    /// Returns how SYNs are answered that find too many requests undecided.
    pub fn late_requests(&self) -> Option<&LateRequests> {
        self.requests.late.as_ref()
    }

    /// Returns whether a request's handshake is over: its peer is connected, and a refusal is a reset.
    pub fn is_late_request(&self, request: Request) -> bool {
        self.requests.get(request).is_some_and(|held| held.conn.is_some())
    }

    /// Answers a SYN that has no place among the requests. Returns whether it has one among the late ones.
    pub(super) fn answer_late<O: Observer>(
        &mut self,
        tuple: &FourTuple,
        at: Instant,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let Some(late) = self.requests.late.as_ref().filter(|late| self.has_place_for_late(late)) else { return false };
        let cfg = late.cfg.clone();
        self.requests.cookie_at = Some(at);
        self.send_cookie(&cfg, *tuple, at, segment, obs);
        true
    }

    fn has_place_for_late(&self, late: &LateRequests) -> bool {
        self.requests.late_len() < late.undecided_max as usize
    }

    /// Returns whether an ACK without a connection brings back a cookie, and has become a request if there is room.
    #[cold]
    pub(super) fn take_late_request<O: Observer>(
        &mut self,
        tuple: FourTuple,
        at: Instant,
        ip: &IpRepr,
        segment: &Segment<'_>,
        obs: &mut O,
    ) -> bool {
        let recent = self.requests.cookie_at.is_some_and(|made| at.since(made) < PERIOD * 2);
        let (Some(cfg), Some(late), true) = (self.requests.cfg, &self.requests.late, recent) else { return false };
        let Some(cookie) = self.genuine_cookie(&tuple, at, &segment.repr) else { return false };
        if !self.has_place_for_late(late) {
            // The peer will send its data again, and the cookie with it.
            self.requests.counters.over_limit += 1;
            return true;
        }
        let late = late.cfg.clone();
        if !self.has_memory_for_connection(at, obs) {
            return true;
        }
        let rebuilt = Rebuilt { tuple, at, cookie, admission: Admission::Undecided };
        let Some(conn) = self.open_by_cookie(&late, rebuilt, ip, segment, obs) else { return true };
        // A copy of the SYN may have found a place.
        if !self.requests.connect(&tuple, conn) {
            self.budget.charge(0, REQUEST_BYTES, self.slots.len());
            let (syn, ecn, until) = (segment.repr, segment.ecn, at + cfg.patience);
            self.requests.hold(Held { syn, tuple, ecn, until, last: None, conn: Some(conn) });
        }
        true
    }

    /// Accepts a request that is a connection already.
    pub(super) fn accept_late<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        request: Request,
        conn: Conn,
        cfg: &ValidConfig,
    ) -> Result<Conn, RequestError> {
        self.forget_request(request);
        // It may have been evicted for want of memory.
        self.slots.get(conn).ok_or(RequestError::Gone)?;
        self.accept(conn);
        self.reconfigure(cx, conn, cfg);
        Ok(conn)
    }
}
