//! What a sender was allowed to send, and how it spent its time.
//!
//! An acknowledgement affects the sender when it has arrived there, and data passes here some time after it left. Both together
//! are the round trip from here to the sender, so acknowledgements take effect that much later: close to the sender this is
//! nothing, close to the receiver nearly the whole round trip.

use std::collections::VecDeque;

/// Acknowledgements on their way to the sender.
const UNDER_WAY: usize = 4_096;
/// The largest shift (RFC 7323 §2.3).
const LARGEST_SHIFT: u8 = 14;

/// What a sender does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    /// Before its first and after its last data.
    #[default]
    Nothing,
    /// All data is acknowledged and none is sent: the application has nothing to send.
    Idle,
    /// Less than a segment fits into the receiver's window.
    WindowLimited,
    /// The window is closed.
    WindowClosed,
    /// It repairs losses.
    Recovering,
    /// It waits for a timer.
    WaitingForTimer,
    /// It may send: the congestion window, pacing or the application limits it.
    Sending,
}

/// How many kinds of doing there are.
const KINDS: usize = 7;

/// Time by what it was spent on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shares {
    spent: [u64; KINDS],
    doing: Doing,
    since: u64,
}

impl Shares {
    /// Notes that from `at` on, the sender does this.
    #[inline]
    pub fn turn_to(&mut self, at: u64, doing: Doing) {
        self.spent[self.doing as usize] += at.saturating_sub(self.since);
        (self.doing, self.since) = (doing, at.max(self.since));
    }
    pub fn doing(&self) -> Doing {
        self.doing
    }
    pub fn of(&self, doing: Doing) -> u64 {
        self.spent[doing as usize]
    }
    /// All but nothing.
    pub fn total(&self) -> u64 {
        self.spent[1..].iter().sum()
    }
}

/// The factor of a window field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// From the handshake.
    Known(u8),
    /// The handshake was not captured: at least this, because of the data in flight.
    AtLeast(u8),
}

impl Scale {
    #[inline]
    pub fn shift(self) -> u8 {
        match self {
            Self::Known(shift) | Self::AtLeast(shift) => shift.min(LARGEST_SHIFT),
        }
    }
}

/// The windows that one end announces, and how the other sees them.
#[derive(Debug)]
pub(super) struct Window {
    pub scale: Scale,
    /// The highest byte that may be sent, as announced when it passed here.
    pub edge: u64,
    /// Last window, as in the header and in bytes; the largest, and the smallest that was not closed.
    pub field: u16,
    pub now: u64,
    pub largest: u64,
    pub smallest: u64,
    /// The largest once data were sent, and since then: windows by the time, microseconds, for which they stood, and that time.
    top: u64,
    since_top: (u128, u64),
    announced_at: u64,
    /// Closed since; how often it was, how long altogether, and the longest time.
    closed_since: Option<u64>,
    pub closed: u64,
    /// Acknowledgements that said so.
    pub closed_acks: u64,
    pub closed_time: u64,
    pub closed_longest: u64,
    /// The largest that limited the sender.
    pub limiting: u64,
    /// Segments that filled it to the last byte.
    pub filled: u64,
    /// Most bytes in flight, as seen here.
    pub most_in_flight: u64,
    under_way: VecDeque<Announced>,
    view: Announced,
    heard: u64,
    pub shares: Shares,
}

#[derive(Clone, Copy, Debug, Default)]
struct Announced {
    at: u64,
    ack: u64,
    edge: u64,
    is_closed: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            scale: Scale::AtLeast(0),
            edge: 0,
            field: 0,
            now: 0,
            largest: 0,
            smallest: u64::MAX,
            top: 0,
            since_top: (0, 0),
            announced_at: 0,
            closed_since: None,
            closed: 0,
            closed_acks: 0,
            closed_time: 0,
            closed_longest: 0,
            limiting: 0,
            filled: 0,
            most_in_flight: 0,
            under_way: VecDeque::new(),
            view: Announced::default(),
            heard: 0,
            shares: Shares::default(),
        }
    }
}

/// What the view needs to know of the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sender {
    /// Behind the last byte sent.
    pub max_end: u64,
    pub mss: u64,
    pub has_begun: bool,
    pub is_recovering: bool,
    /// Round trip from here to the sender.
    pub delay: u64,
}

impl Window {
    /// Returns the mean over time of the windows since the largest one, in per cent of that.
    pub fn since_largest_pct(&self) -> u64 {
        let (sum, time) = self.since_top;
        let most = u128::from(self.top) * u128::from(time);
        (100 * sum).checked_div(most).unwrap_or(100) as u64
    }

    pub fn is_closed(&self) -> bool {
        self.closed_since.is_some()
    }

    /// An acknowledgement passes; `shifted` unless it is a SYN's.
    #[inline]
    pub fn announced(&mut self, at: u64, ack: u64, field: u16, shifted: bool) {
        let now = u64::from(field) << if shifted { self.scale.shift() } else { 0 };
        if self.most_in_flight > 0 {
            let stood = at.saturating_sub(self.announced_at) / 1_000;
            let (sum, time) = self.since_top;
            self.since_top = (sum + u128::from(self.now) * u128::from(stood), time + stood);
            if now > self.top {
                (self.top, self.since_top) = (now, (0, 0));
            }
        }
        self.announced_at = at;
        (self.field, self.now) = (field, now);
        self.largest = self.largest.max(now);
        if now > 0 {
            self.smallest = self.smallest.min(now);
        }
        self.edge = self.edge.max(ack + now);
        self.closed_acks += u64::from(now == 0);
        match (now == 0, self.closed_since) {
            (true, None) => {
                self.closed += 1;
                self.closed_since = Some(at);
            }
            (false, Some(since)) => self.reopened(at.saturating_sub(since)),
            _ => {}
        }
        if self.under_way.len() == UNDER_WAY {
            self.view = self.under_way.pop_front().unwrap_or_default();
        }
        self.under_way.push_back(Announced { at, ack, edge: self.edge, is_closed: now == 0 });
    }

    fn reopened(&mut self, took: u64) {
        self.closed_since = None;
        self.closed_time += took;
        self.closed_longest = self.closed_longest.max(took);
    }

    /// New bytes pass, up to `end`, while those before `una` are acknowledged.
    #[inline]
    pub fn used(&mut self, end: u64, una: u64) {
        let in_flight = end.saturating_sub(una);
        self.most_in_flight = self.most_in_flight.max(in_flight);
        self.filled += u64::from(end == self.edge && self.now > 0);
        if let Scale::AtLeast(mut shift) = self.scale {
            // More in flight than was announced: the factor must be larger.
            while self.field > 0 && shift < LARGEST_SHIFT && in_flight > u64::from(self.field) << shift {
                shift += 1;
            }
            if Scale::AtLeast(shift) != self.scale {
                self.scale = Scale::AtLeast(shift);
                self.now = u64::from(self.field) << shift;
                self.edge = self.edge.max(una + self.now);
                self.largest = self.largest.max(self.now);
            }
        }
    }

    /// Advances the time: acknowledgements reach the sender, each at its time, and its activity changes.
    #[inline]
    pub fn advance(&mut self, at: u64, sender: &Sender) {
        while let Some(&next) = self.under_way.front() {
            let arrives = next.at.saturating_add(sender.delay);
            if arrives > at {
                break;
            }
            self.under_way.pop_front();
            (self.view, self.heard) = (next, arrives);
            let doing = self.doing(sender);
            self.shares.turn_to(arrives, doing);
        }
    }

    /// Notes that the sender has sent, `silent` after its last activity if a timer triggered it.
    #[inline]
    pub fn sent(&mut self, at: u64, sender: &Sender, waited: Option<u64>) {
        if let Some(waited) = waited {
            self.shares.turn_to(at.saturating_sub(waited), Doing::WaitingForTimer);
        }
        let doing = self.doing(sender);
        self.shares.turn_to(at, doing);
    }

    /// Returns when the newest acknowledgement reached the sender.
    pub fn heard(&self) -> u64 {
        self.heard
    }

    /// Returns the acknowledgement that has reached the sender, and the end of the bytes that it may send.
    pub fn known(&self) -> (u64, u64) {
        (self.view.ack, self.view.edge)
    }

    fn doing(&mut self, sender: &Sender) -> Doing {
        let Announced { ack, edge, is_closed, .. } = self.view;
        match () {
            () if !sender.has_begun => Doing::Nothing,
            () if is_closed => Doing::WindowClosed,
            () if sender.is_recovering => Doing::Recovering,
            () if ack >= sender.max_end => Doing::Idle,
            () if edge.saturating_sub(sender.max_end) < sender.mss && edge > 0 => {
                self.limiting = self.limiting.max(edge - ack.min(edge));
                Doing::WindowLimited
            }
            () => Doing::Sending,
        }
    }

    /// Bytes of memory beside the window itself.
    pub fn heap(&self) -> usize {
        self.under_way.capacity() * size_of::<Announced>()
    }

    /// Releases memory: acknowledgements in flight count as arrived.
    pub fn forget(&mut self) {
        self.view = self.under_way.back().copied().unwrap_or(self.view);
        self.under_way = VecDeque::new();
    }

    /// The capture ends.
    pub fn finish(&mut self, at: u64) {
        if let Some(since) = self.closed_since {
            self.reopened(at.saturating_sub(since));
        }
        // The sender's final activity may be the end of the connection as well.
        let last = if self.shares.doing == Doing::Idle { self.shares.since } else { at };
        self.shares.turn_to(last, Doing::Nothing);
    }
}

#[cfg(test)]
mod tests;
