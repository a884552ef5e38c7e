//! The application's side of a stack.

use super::shards::{Shard, Shards};
use super::slots::{Admission, Label, Slot};
use super::{Conn, ConnectError, LocalEnd, PORT_STEPS_MAX, Stack, StackEvent};
use crate::config::ValidConfig;
use crate::cx::{Cx, StackCx};
use crate::endpoint::{Boundary, Endpoint, FourTuple, Source, State};
use crate::event::{Read, ReadError, UrgentError, WriteError};
use crate::recv::AckPace;
use base::{Bytes, Instant};
use cc::SavedPath;
use core::net::{IpAddr, SocketAddr};
use core::ops::RangeInclusive;
use trace::{ConnId, Observer};

impl Stack {
    /// Opens a connection from any local address and port; its SYN leaves with the next turn, and `Connected` or `Closed`
    /// follows.
    ///
    /// # Errors
    /// No usable local address or port, or a remote that cannot be connected to.
    pub fn connect<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        cfg: &ValidConfig,
        remote: SocketAddr,
    ) -> Result<Conn, ConnectError> {
        self.connect_from(cx, cfg, &LocalEnd::default(), remote)
    }

    //= specs/rfc9293.md#opening
    //# One local address is chosen when the application chooses none, and every segment of the connection carries it.
    //= specs/rfc9293.md#opening
    //# The application may choose the local address.
    /// Like [`Self::connect`], from a local end of the application's choice (RFC 9293 MUST-43).
    ///
    /// # Errors
    /// As for `connect`; an address must be one of the stack's own, unless the stack stands for any
    /// ([`super::Destinations`]).
    pub fn connect_from<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        cfg: &ValidConfig,
        from: &LocalEnd,
        remote: SocketAddr,
    ) -> Result<Conn, ConnectError> {
        let ip = remote.ip();
        if remote.port() == 0 || !is_unicast(ip) {
            return Err(ConnectError::InvalidRemote);
        }
        let usable = |own: &IpAddr| own.is_ipv4() == ip.is_ipv4() && from.address.is_none_or(|wanted| wanted == *own);
        // Who stands for every address may also speak for every one.
        let foreign = from.address.filter(|own| self.requests.any_destination() && is_unicast(*own) && usable(own));
        let local = foreign.or_else(|| self.addresses.iter().copied().find(usable));
        let local = local.ok_or(ConnectError::NoLocalAddress)?;
        let tuple = self.free_tuple(cx.now, cfg, local, &from.ports, remote)?;
        let last = self.slots.find(&tuple).and_then(|index| self.end_time_wait(index, cx.now, cx.obs, |_| true));
        let mut numbering = self.isn.numbering(&tuple, cx.now);
        if let Some(last) = &last {
            (numbering.iss, numbering.recent) = (last.iss(numbering.iss), last.recent);
        }
        let (id, mut rng) = self.next_stream();
        let mut ecx = Cx::new(cx.now, &mut rng, id, cx.obs);
        let cfg = self.configs.shared(cfg);
        let mut endpoint = Endpoint::connect(&cfg, tuple, numbering, self.device.mtu, &mut ecx);
        endpoint.equip(&self.host(remote.ip(), cx.now));
        let conn = self.admit(endpoint, rng, id, Admission::Owned);
        self.mark_ready(conn.slot);
        Ok(conn)
    }

    pub(super) fn next_stream(&mut self) -> (ConnId, base::Rng) {
        let id = self.slots.next_id();
        (id, self.rng.fork_bytes(Label::of(id).as_bytes()))
    }

    //= specs/rfc6056.md#selection
    //# From one connection to the next the port moves on by a random number of steps.
    //= specs/rfc6056.md#selection
    //# How far it moves can be bounded, so that a port does not come back soon.
    //= specs/rfc6056.md#selection
    //# A port that is in use towards the same destination is passed over.
    /// RFC 6056 §3.3.5: an observer of one of our ports has to guess the next one among many, and yet a port returns only after
    /// many connections, when the last one's segments have left the network.
    fn free_tuple(
        &mut self,
        now: Instant,
        cfg: &ValidConfig,
        local: IpAddr,
        ports: &RangeInclusive<u16>,
        remote: SocketAddr,
    ) -> Result<FourTuple, ConnectError> {
        let (first, count) = (*ports.start(), ports.len() as u32);
        let mut tuple = FourTuple { remote_port: remote.port(), local_port: 0, remote: remote.ip(), local };
        let begin = self.next_port;
        self.next_port = begin.wrapping_add(1 + self.rng.below(PORT_STEPS_MAX) as u32);
        for tried in 0..count {
            // Less than the range's length, so it fits.
            tuple.local_port = first + (begin.wrapping_add(tried) % count) as u16;
            // A port that the application named is used as it is; a random choice avoids those of listeners and of other shards.
            let avoided = count > 1
                && (self.shard.is_some_and(|shard| !shard.has(&tuple))
                    || self.listeners.keys().any(|on| on.port == tuple.local_port));
            if tuple.local_port != 0 && !avoided && self.is_free(&tuple, cfg, now) {
                return Ok(tuple);
            }
        }
        Err(ConnectError::PortsExhausted)
    }

    /// From now on ports that the stack chooses itself give flows of its own shard. Its driver brings it no others' segments.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn set_shard(&mut self, shards: Shards, own: usize) {
        self.shard = Some(Shard::new(shards, own));
    }

    /// Returns whether a new connection may use these addresses and ports.
    fn is_free(&mut self, tuple: &FourTuple, cfg: &ValidConfig, now: Instant) -> bool {
        let Some(index) = self.slots.find(tuple) else { return true };
        self.slots.at(index).is_none_or(|slot| {
            let old = &slot.endpoint;
            old.state() == State::Closed || old.yields_to_active_open(cfg.timers.time_wait_reuse, now)
        })
    }

    /// Appends as much of `data` as fits; a `Writable` event follows a short count.
    ///
    /// # Errors
    /// After `shutdown`, or on a connection that has ended or is unknown.
    pub fn write<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        data: &[u8],
    ) -> Result<usize, WriteError> {
        self.write_with(cx, conn, Source::Bytes(data), Boundary::None).map(|taken| taken as usize)
    }

    /// Like [`Self::write`], for bytes or the position-coded pattern; `boundary` says what is at their end.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_with<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        source: Source<'_>,
        boundary: Boundary,
    ) -> Result<u64, WriteError> {
        let curb = self.budget.counts_written().then(|| self.budget.write_max(self.unacknowledged(conn)) as u64);
        let written = self.with(cx, conn, |endpoint, ecx| match curb.filter(|most| *most < source.len()) {
            None => endpoint.write_with(ecx, source, boundary),
            Some(most) => {
                let taken = endpoint.write_with(ecx, source.up_to(most), Boundary::None);
                endpoint.sender().expect_writer();
                taken
            }
        });
        written.unwrap_or(Err(WriteError::NoConnection))
    }

    fn unacknowledged(&self, conn: Conn) -> Bytes {
        self.endpoint(conn).map_or(0, Endpoint::unacknowledged)
    }

    /// Returns whether writing is worthwhile; otherwise a `Writable` event follows once it is.
    pub fn poll_writable<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) -> bool {
        self.with(cx, conn, |endpoint, _| {
            let cfg = endpoint.config().clone();
            endpoint.sender().poll_writable(&cfg)
        })
        .unwrap_or(false)
    }

    /// Sends data that waits for more to be written.
    pub fn push_pending<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) {
        self.with(cx, conn, |endpoint, _| endpoint.sender().push_pending());
    }

    /// Like [`Self::write`], for `len` bytes of the position-coded pattern.
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_pattern<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        len: u64,
    ) -> Result<u64, WriteError> {
        self.write_with(cx, conn, Source::Pattern(len), Boundary::None)
    }

    /// Like [`Self::write`]; the last byte accepted is the last urgent one (RFC 9293 §3.8.5).
    ///
    /// # Errors
    /// As for `write`.
    pub fn write_urgent<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        data: &[u8],
    ) -> Result<usize, WriteError> {
        self.with(cx, conn, |endpoint, ecx| endpoint.write_urgent(ecx, data)).unwrap_or(Err(WriteError::NoConnection))
    }

    /// Removes and returns the last urgent byte, which is outside the stream; [`Endpoint::urgent_byte`] only looks at it.
    ///
    /// # Errors
    /// If there is none, if it has not arrived, or if the connection does not exist.
    pub fn take_urgent_byte<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) -> Result<u8, UrgentError> {
        self.with(cx, conn, |endpoint, _| {
            let cfg = endpoint.config().clone();
            endpoint.receiver().take_urgent_byte(&cfg.receive)
        })
        .unwrap_or(Err(UrgentError::NoConnection))
    }

    /// Moves received bytes into `buf`.
    ///
    /// # Errors
    /// On a connection that ended abnormally, or is unknown.
    pub fn read<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        buf: &mut [u8],
    ) -> Result<Read, ReadError> {
        let mut pages = core::mem::take(&mut self.pages);
        let read = self.with(cx, conn, |endpoint, ecx| {
            endpoint.receiver().lend(&mut pages, false);
            let read = endpoint.read(ecx, |rcv, cfg| rcv.read(cfg, buf));
            endpoint.receiver().take_back(&mut pages);
            read
        });
        self.pages = pages;
        read.unwrap_or(Err(ReadError::NoConnection))
    }

    /// Like [`Self::read`], but checks up to `max` bytes against the pattern instead of moving them.
    ///
    /// # Errors
    /// As for `read`.
    pub fn read_pattern<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        max: u64,
    ) -> Result<Read, ReadError> {
        self.with(cx, conn, |endpoint, ecx| endpoint.read(ecx, |rcv, cfg| rcv.read_pattern(cfg, max)))
            .unwrap_or(Err(ReadError::NoConnection))
    }

    /// Applies changed settings to this connection; `Endpoint::reconfigure` says which ones.
    pub fn reconfigure<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn, cfg: &ValidConfig) {
        let cfg = self.configs.shared(cfg);
        self.with(cx, conn, |endpoint, ecx| endpoint.reconfigure(ecx, &cfg));
    }

    /// Lets a connection begin with what an earlier one left ([`Endpoint::saved_path`]), before it has sent data. Returns whether it does:
    /// not after a lost SYN, and not with a controller that models the path.
    pub fn resume(&mut self, conn: Conn, saved: &SavedPath) -> bool {
        self.slots.get_mut(conn).is_some_and(|slot| slot.endpoint.resume(saved))
    }

    /// Makes ACKs leave sooner or later from now on; later traffic may change this again.
    pub fn set_ack_pace<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn, pace: AckPace) {
        self.with(cx, conn, |endpoint, _| {
            let state = endpoint.state();
            endpoint.receiver().set_ack_pace(state, pace);
        });
    }

    /// Announces that a call of the application waits for the connection in order to write once it is open. The SYN-ACK then
    /// needs no separate acknowledgement ([`crate::config::SynAckAnswer`]). No effect once it has arrived.
    pub fn announce_writer<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn, waits: bool) {
        self.with(cx, conn, |endpoint, _| endpoint.announce_writer(waits));
    }

    /// Closes the sending direction; reading goes on.
    pub fn shutdown<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) {
        self.with(cx, conn, |endpoint, ecx| endpoint.shutdown(ecx));
    }

    /// Stops reading; writing is still possible. Once the sending direction is closed as well, a reset answers data that still
    /// arrives.
    pub fn stop_reading<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) {
        self.with(cx, conn, |endpoint, _| endpoint.stop_reading());
    }

    /// Resets the connection.
    pub fn abort<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) {
        self.with(cx, conn, |endpoint, ecx| endpoint.abort(ecx));
    }

    /// Releases the connection on the application's behalf: closes it if it is still open, resets it if data was not read,
    /// reports no more events, and frees it once it has ended.
    pub fn release<O: Observer>(&mut self, cx: &mut StackCx<'_, O>, conn: Conn) {
        self.accept(conn);
        self.with(cx, conn, |endpoint, ecx| endpoint.release(ecx));
        let until = cx.now + self.guards.orphan_time;
        if let Some(slot) = self.slots.get_mut(conn) {
            (slot.released, slot.release_until) = (true, until);
            slot.release_left = slot.endpoint.unacknowledged();
            self.recount(conn.slot);
            self.await_release(conn.slot);
            self.free_if_over(conn.slot);
        }
        if self.budget.exceeded() {
            self.relieve(cx.now, cx.obs);
        }
    }

    /// Runs `call` on a connection's endpoint, then checks what became ready.
    pub(super) fn with<O: Observer, T>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_, O>) -> T,
    ) -> Option<T> {
        let window_max = self.budget.window_max();
        let slot: &mut Slot = self.slots.get_mut(conn)?;
        slot.endpoint.receiver().set_window_max(window_max);
        let mut ecx = Cx::new(cx.now, &mut slot.rng, slot.conn.id, cx.obs);
        let result = call(&mut slot.endpoint, &mut ecx);
        let wants = slot.endpoint.wants_to_send();
        let changed = slot.has_changed(self.budget.counts_written());
        if wants {
            self.mark_ready(conn.slot);
        }
        self.after_call(conn.slot);
        if changed {
            self.recount(conn.slot);
            self.reopen_if_freed(conn, window_max);
        }
        Some(result)
    }

    /// Returns the next event for the application; call until `None` after each turn.
    #[inline]
    pub fn poll_event(&mut self) -> Option<StackEvent> {
        while let Some(&index) = self.eventful.front() {
            let Some(slot) = self.slots.at(index) else {
                self.eventful.pop_front();
                continue;
            };
            let conn = slot.conn;
            if slot.admission == Admission::Undecided {
                // The application does not know it yet; once it does, its events come.
                self.eventful.pop_front();
                continue;
            }
            if slot.released {
                while slot.endpoint.poll_event().is_some() {}
            } else if let Some(event) = slot.endpoint.poll_event() {
                if let (crate::ConnEvent::Connected, Admission::Waiting(on)) = (event, slot.admission) {
                    return Some(StackEvent::Accepted { conn, port: on.port });
                }
                return Some(StackEvent::Conn { conn, event });
            }
            slot.has_events = false;
            self.eventful.pop_front();
            self.free_if_over(index);
        }
        None
    }

    /// Returns whether [`Self::poll_event`] may have something for the application.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.eventful.is_empty()
    }

    /// Returns whether a turn would find something to transmit.
    #[inline]
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty() || !self.replies.is_empty() || self.held.is_some()
    }

    /// Returns when the next timer is due. May be early, never late.
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        let timer = self.deadlines.peek().map_or(Instant::MAX, |(at, _)| at);
        Some(timer.min(self.requests.expiry())).filter(|at| *at != Instant::MAX)
    }
}

//= specs/rfc9293.md#opening
//# A connection to a broadcast or multicast address is refused.
/// Returns whether a segment may come from, or go to, this address (RFC 9293 MUST-46, MUST-57).
pub(super) fn is_unicast(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => !v4.is_multicast() && !v4.is_broadcast() && !v4.is_unspecified(),
        IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified(),
    }
}
