//! How a stack stays within its guards: after every call it counts what each connection holds, and when a limit is exceeded it
//! evicts the oldest holders. [`super::budget`] keeps the counts and decides the order.

use super::budget::{CONNECTION_BYTES, Expendable, GuardCounters, GuardedUsage, REPLY_BYTES, REQUEST_BYTES};
use super::slots::{Admission, Slot};
use super::{Conn, Reply, Stack};
use crate::config::GuardConfig;
use crate::cx::Cx;
use crate::endpoint::{Endpoint, State};
use base::{Bytes, Duration, Instant, Rng};
use trace::{ConnId, Event, Observer};

/// How long a connection without a flight keeps memory for the next one.
const QUIET: Duration = Duration::from_secs(1);

impl Slot {
    /// Memory that counts against the budget, in bytes, and the role in which the connection can be evicted.
    #[inline]
    fn weigh(&self, counts_written: bool) -> (usize, Option<Expendable>) {
        let kept = self.kept_for_application(counts_written);
        match (self.released, self.admission) {
            (false, Admission::Embryonic(_) | Admission::Undecided) => return (kept, Some(Expendable::Embryonic)),
            (false, _) => return (kept, None),
            (true, _) => {}
        }
        // Otherwise written data is the application's responsibility until the application has gone.
        let held = self.kept_for_application(true);
        match self.endpoint.state() {
            State::Closed => (held, None),
            State::TimeWait => (held, Some(Expendable::TimeWait)),
            State::FinWait2 => (held, Some(Expendable::Idle)),
            _ => (held, Some(Expendable::Orphan)),
        }
    }
}

impl Slot {
    /// Returns whether a segment or a call may have changed the budget's input. Roles change when a connection is released, after
    /// which this is always true, and when its admission changes, which is counted separately.
    #[inline]
    pub(super) fn has_changed(&self, counts_written: bool) -> bool {
        self.released || self.kept_for_application(counts_written) != self.share.held
    }

    /// Memory of data, in bytes: of what was received, and of what was written if that counts.
    #[inline]
    fn kept_for_application(&self, counts_written: bool) -> usize {
        let written = if counts_written { self.endpoint.send_memory() } else { 0 };
        self.endpoint.received_memory() + written
    }

    /// Frees every buffer of a connection that neither sends nor delivers any more data.
    fn compact(&mut self) {
        self.endpoint.receiver().compact();
        self.endpoint.sender().compact();
    }
}

impl Stack {
    /// Updates what a connection holds after a change.
    pub(super) fn recount(&mut self, index: u32) {
        let connections = self.slots.len();
        let counts_written = self.budget.counts_written();
        let Some(slot) = self.slots.at(index) else { return };
        if counts_written && self.budget.is_pressed() {
            slot.endpoint.sender().release_if_empty();
        }
        let (mut held, role) = slot.weigh(counts_written);
        let before = slot.share.role;
        if role == Some(Expendable::TimeWait) && before != role {
            slot.compact();
            (held, _) = slot.weigh(counts_written);
        }
        if !role.is_some_and(Expendable::is_orphan) {
            slot.release_until = Instant::MAX;
        }
        let had = core::mem::replace(&mut slot.share.held, held);
        self.budget.assign(index, &mut slot.share, role, slot.endpoint.has_out_of_order());
        self.budget.charge(had as u64, held as u64, connections);
        if role != before && self.has_too_many() {
            self.budget.note_excess();
        }
    }

    fn has_too_many(&self) -> bool {
        let GuardConfig { time_wait_max, orphans_max, .. } = self.guards;
        self.budget.count(Expendable::TimeWait) > time_wait_max as usize || self.budget.orphans() > orphans_max as usize
    }

    /// Opens the window at once after a call has freed memory; `before` was the limit before the call.
    pub(super) fn reopen_if_freed(&mut self, conn: Conn, before: Bytes) {
        let now = self.budget.window_max();
        if now > before
            && let Some(slot) = self.slots.get_mut(conn)
        {
            let (cfg, state) = (slot.endpoint.config().clone(), slot.endpoint.state());
            slot.endpoint.receiver().set_window_max(now);
            if slot.endpoint.receiver().reopen(&cfg.receive, state) {
                self.mark_ready(conn.slot);
            }
        }
    }

    /// Ensures that an orphan has an entry in the deadline heap no later than the end of its time.
    pub(super) fn await_release(&mut self, index: u32) {
        let Some(slot) = self.slots.at(index) else { return };
        if slot.release_until < slot.scheduled {
            slot.scheduled = slot.release_until;
            self.deadlines.set(slot.release_until, index);
        }
    }

    /// Notes that a connection keeps memory for its next flight. Every flight has a timer, whose entry in the deadline heap comes up,
    /// so none is missed; and no timer is set for this alone: the memory is freed by the next turn after [`QUIET`].
    pub(super) fn note_kept(&mut self, index: u32, now: Instant) {
        self.pages.shrink_if_idle(now);
        if let Some(slot) = self.slots.at(index)
            && !slot.keeps
            && slot.endpoint.sender().keeps_memory()
        {
            slot.keeps = true;
            self.keepers.push_back((now + QUIET, index));
        }
    }

    /// Frees what is kept for the next flight where none has come.
    #[cold]
    pub(super) fn release_kept(&mut self, now: Instant) {
        self.pages.shrink_if_idle(now);
        while let Some((_, index)) = self.keepers.pop_front_if(|(until, _)| *until <= now) {
            let Some(slot) = self.slots.at(index) else { continue };
            slot.keeps = slot.endpoint.sender().release_kept(now, QUIET);
            if slot.keeps {
                self.keepers.push_back((now + QUIET, index));
            }
            if self.budget.counts_written() {
                self.recount(index);
            }
        }
    }

    /// Evicts the oldest holders until every limit holds, or nothing is left to evict.
    #[cold]
    pub(super) fn relieve<O: Observer>(&mut self, now: Instant, obs: &mut O) {
        self.pages.release();
        while self.budget.count(Expendable::TimeWait) > self.guards.time_wait_max as usize {
            self.evict_oldest(Expendable::TimeWait, now, obs);
        }
        while self.budget.orphans() > self.guards.orphans_max as usize {
            let idle = self.budget.count(Expendable::Idle) > 0;
            self.evict_oldest(if idle { Expendable::Idle } else { Expendable::Orphan }, now, obs);
        }
        self.evict_for(0, now, obs);
        while self.budget.refuses(0)
            && let Some(index) = self.budget.oldest_out_of_order()
        {
            self.discard_last_block(index);
        }
        self.budget.settle();
    }

    /// Returns whether one more connection fits after evicting the expendable ones.
    pub(super) fn has_memory_for_connection<O: Observer>(&mut self, now: Instant, obs: &mut O) -> bool {
        self.evict_for(CONNECTION_BYTES, now, obs);
        let fits = !self.budget.refuses(CONNECTION_BYTES);
        self.guarded.refused_for_memory += u64::from(!fits);
        fits
    }

    /// Returns whether one more undecided request fits after evicting the expendable connections.
    pub(super) fn has_memory_for_request<O: Observer>(&mut self, now: Instant, obs: &mut O) -> bool {
        self.evict_for(REQUEST_BYTES, now, obs);
        !self.budget.refuses(REQUEST_BYTES)
    }

    /// Returns whether `bytes` of data fit after evicting everything that can be evicted.
    #[cold]
    pub(super) fn has_memory_for_data<O: Observer>(&mut self, bytes: usize, now: Instant, obs: &mut O) -> bool {
        if bytes == 0 {
            return true;
        }
        self.evict_for(bytes as u64, now, obs);
        while self.budget.refuses(bytes as u64) {
            let Some(index) = self.budget.oldest_out_of_order() else {
                self.guarded.refused_for_memory += 1;
                return false;
            };
            self.discard_last_block(index);
        }
        true
    }

    /// Evicts expendable connections until `more` bytes fit, or none is left.
    fn evict_for<O: Observer>(&mut self, more: u64, now: Instant, obs: &mut O) {
        // Memory of connections that have ended and only wait for their reset to leave.
        let mut leaving = 0;
        while self.budget.refuses_beyond(more, leaving) {
            let Some(role) = Expendable::ORDER.into_iter().find(|role| self.budget.count(*role) > 0) else { break };
            let before = self.slots.len();
            self.evict_oldest(role, now, obs);
            if self.slots.len() == before {
                leaving += CONNECTION_BYTES;
            }
        }
    }

    /// Adds a connection to the stack.
    pub(super) fn admit(&mut self, endpoint: Endpoint, rng: Rng, id: ConnId, admission: Admission) -> Conn {
        let conn = self.slots.insert(endpoint, rng, id, admission);
        self.budget.charge(0, CONNECTION_BYTES, self.slots.len());
        if admission != Admission::Owned {
            self.count_admission(admission, 1);
            self.recount(conn.slot);
        }
        conn
    }

    fn evict_oldest<O: Observer>(&mut self, role: Expendable, now: Instant, obs: &mut O) {
        let Some(index) = self.budget.oldest(role) else { return };
        match role {
            Expendable::TimeWait => {
                self.guarded.time_wait_evicted += 1;
                self.abort_at(index, now, obs);
            }
            Expendable::Embryonic => {
                // The peer is not notified, as if the SYN had found no room; a cookie may answer its next SYN. A peer that
                // already has our SYN-ACK acknowledges it, and is reset.
                self.guarded.embryonic_evicted += 1;
                if let Some(slot) = self.slots.at(index) {
                    let from = slot.endpoint.state().into();
                    let mut cx = Cx::new(now, &mut slot.rng, slot.conn.id, obs);
                    cx.emit(|| Event::StateChanged { from, to: trace::State::Closed });
                }
                self.drop_slot(index);
            }
            Expendable::Idle | Expendable::Orphan => self.reset_orphan(index, now, obs),
        }
    }

    /// Ends a connection that no application owns, with a reset if the peer has to be notified.
    pub(super) fn reset_orphan<O: Observer>(&mut self, index: u32, now: Instant, obs: &mut O) {
        self.guarded.orphans_reset += 1;
        self.abort_at(index, now, obs);
    }

    fn abort_at<O: Observer>(&mut self, index: u32, now: Instant, obs: &mut O) {
        let Some(slot) = self.slots.at(index) else { return };
        slot.endpoint.abort(&mut Cx::new(now, &mut slot.rng, slot.conn.id, obs));
        slot.compact();
        let wants = slot.endpoint.wants_to_send();
        self.recount(index);
        if wants {
            self.mark_ready(index);
        }
        self.after_call(index);
    }

    fn discard_last_block(&mut self, index: u32) {
        self.guarded.out_of_order_discarded += 1;
        if let Some(slot) = self.slots.at(index) {
            slot.endpoint.receiver().discard_last_block();
        }
        self.recount(index);
    }

    /// Queues a segment in reply to one without a connection.
    pub(super) fn reply(&mut self, reply: Reply) {
        if self.replies.len() >= self.guards.replies_max as usize {
            self.guarded.replies_dropped += 1;
            return;
        }
        self.budget.charge(0, REPLY_BYTES, self.slots.len());
        self.replies.push_back(reply);
    }

    /// Returns the next reply to send.
    pub(super) fn next_reply(&mut self) -> Option<Reply> {
        let reply = self.replies.pop_front()?;
        self.budget.charge(REPLY_BYTES, 0, self.slots.len());
        Some(reply)
    }

    /// Returns whether one more reset may answer a segment without a connection: a second's allowance may leave in one burst.
    pub(super) fn may_reset(&mut self, now: Instant) -> bool {
        let second = base::Duration::from_secs(1);
        let Some(interval) = second.as_nanos().checked_div(u64::from(self.guards.resets_per_second)) else {
            return false;
        };
        let next = self.resets_until.max(now) + base::Duration::from_nanos(interval);
        let allowed = next <= now + second;
        if allowed {
            self.resets_until = next;
        } else {
            self.guarded.resets_withheld += 1;
        }
        allowed
    }

    /// Returns what the stack currently holds on behalf of peers.
    pub fn guarded_usage(&self) -> GuardedUsage {
        GuardedUsage {
            memory: self.budget.used(),
            window_max: self.budget.window_max(),
            embryonic: self.budget.count(Expendable::Embryonic),
            time_wait: self.budget.count(Expendable::TimeWait),
            orphans: self.budget.orphans(),
            replies: self.replies.len(),
            deadlines: self.deadlines.size().0,
        }
    }

    /// Returns what the guards have done so far.
    pub fn guard_counters(&self) -> &GuardCounters {
        &self.guarded
    }
}
