//! The window a controller owns, and its initial size (RFC 5681 §3.1, RFC 3390, RFC 6928).
//!
//! Everything is in bytes. Every method that changes a [`Window`] keeps it inside its bounds, so that no algorithm has to: `cwnd`
//! lies between one segment and [`Window::MAX`], `ssthresh` is never below two segments.

use base::Bytes;

/// `cwnd`, `ssthresh` and `smss`, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: Bytes,
    ssthresh: Bytes,
    smss: Bytes,
}

impl Window {
    /// Largest `cwnd`: no peer can offer more (RFC 7323 §2.3).
    pub const MAX: Bytes = 1 << 30;
    //= specs/rfc5681.md#initial-window
    //# `ssthresh` is at first arbitrarily high.
    /// `ssthresh` before anything is known about the path (RFC 5681 §3.1: arbitrarily high).
    pub const UNKNOWN: Bytes = Bytes::MAX;

    /// Creates the window of a new connection whose segments hold `smss` bytes.
    ///
    /// # Panics
    /// When `smss` is zero: no window can be counted in such segments.
    pub fn new(initial: &InitialWindow, smss: Bytes) -> Self {
        assert!(smss > 0, "a segment must hold at least one byte");
        let mut window = Self { cwnd: 0, ssthresh: Self::UNKNOWN, smss };
        window.set_cwnd(initial.bytes(smss));
        window
    }
    /// Bytes that may be in flight.
    #[inline]
    pub const fn cwnd(&self) -> Bytes {
        self.cwnd
    }
    /// Slow start ends here, bytes; [`Window::UNKNOWN`] before the first congestion signal or exit.
    #[inline]
    pub const fn ssthresh(&self) -> Bytes {
        self.ssthresh
    }
    /// Bytes of a full segment.
    #[inline]
    pub const fn smss(&self) -> Bytes {
        self.smss
    }
    //= specs/rfc9438.md#slow-start
    //# A slow start algorithm governs the window while it is below `ssthresh`.
    //= specs/rfc5681.md#slow-start-and-congestion-avoidance
    //# Slow start is used while the window is below `ssthresh`, and avoidance while it is above.
    /// Returns `cwnd < ssthresh`; on equality RFC 5681 §3.1 leaves the choice, and this chooses avoidance.
    #[inline]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
    /// Returns the window that the path is believed to hold. After a timeout `cwnd` restarts from one segment, and a further
    /// timeout concerns not that but the `ssthresh` it is growing to.
    pub const fn believed(&self) -> Bytes {
        if self.ssthresh != Self::UNKNOWN && self.ssthresh > self.cwnd { self.ssthresh } else { self.cwnd }
    }
    /// Opens the window by `bytes`.
    #[inline]
    pub fn grow(&mut self, bytes: Bytes) {
        self.set_cwnd(self.cwnd.saturating_add(bytes));
    }
    /// Sets `cwnd`, limited to between one segment and [`Window::MAX`].
    #[inline]
    pub fn set_cwnd(&mut self, bytes: Bytes) {
        self.cwnd = bytes.min(Self::MAX).max(self.smss);
    }
    //= specs/rfc9438.md#multiplicative-decrease
    //# `ssthresh` is at least two segments.
    /// Sets `ssthresh`, at least two segments (RFC 5681 §3.1, equation 4).
    pub fn set_ssthresh(&mut self, bytes: Bytes) {
        self.ssthresh = bytes.max(self.smss.saturating_mul(2));
    }
    /// Adjusts to a changed segment size of the path. Sizes in bytes stay, as far as the bounds allow.
    ///
    /// # Panics
    /// When `smss` is zero.
    pub fn set_smss(&mut self, smss: Bytes) {
        assert!(smss > 0, "a segment must hold at least one byte");
        self.smss = smss;
        self.set_cwnd(self.cwnd);
        self.set_ssthresh(self.ssthresh);
    }
}

/// The initial window of a new connection: a number of segments, and optionally a bound in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialWindow {
    /// At most this many full segments.
    pub segments: u32,
    /// At most this many bytes, except that two segments are always allowed; `None` for no such bound.
    pub bytes_max: Option<Bytes>,
}

impl InitialWindow {
    /// Ten segments, bounded for segments larger than Ethernet's (RFC 6928 §2).
    pub const RFC6928: Self = Self { segments: 10, bytes_max: Some(14_600) };

    /// Exactly `segments` segments, whatever their size.
    pub const fn plain(segments: u32) -> Self {
        Self { segments, bytes_max: None }
    }
    //= specs/rfc5681.md#initial-window
    //# The initial window is no larger than ten segments, or 14600 bytes, or two segments, as RFC 6928 combines them.
    /// The initial window in bytes for segments of `smss` bytes.
    pub fn bytes(&self, smss: Bytes) -> Bytes {
        let counted = self.segments.saturating_mul(smss);
        self.bytes_max.map_or(counted, |max| counted.min(max.max(smss.saturating_mul(2))))
    }
}

impl Default for InitialWindow {
    fn default() -> Self {
        Self::RFC6928
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    /// Two to four segments, by their size (RFC 3390 §1).
    const RFC3390: InitialWindow = InitialWindow { segments: 4, bytes_max: Some(4_380) };

    //= specs/rfc5681.md#initial-window
    //= type=test
    //# The initial window is no larger than ten segments, or 14600 bytes, or two segments, as RFC 6928 combines them.
    #[test_case(InitialWindow::RFC6928, 1460, 14_600)]
    #[test_case(InitialWindow::RFC6928, 1448, 14_480)]
    #[test_case(InitialWindow::RFC6928, 8960, 17_920; "two jumbo segments")]
    #[test_case(InitialWindow::RFC6928, 536, 5_360)]
    #[test_case(RFC3390, 1460, 4_380; "three segments")]
    #[test_case(RFC3390, 536, 2_144; "four segments")]
    #[test_case(RFC3390, 4096, 8_192; "two segments")]
    #[test_case(InitialWindow::plain(10), 8960, 89_600; "plain count")]
    #[test_case(InitialWindow::plain(1), 1460, 1_460; "one segment")]
    #[test_case(InitialWindow { segments: 1, bytes_max: Some(14_600) }, 8960, 8_960; "the count still bounds")]
    fn initial_window_of(initial: InitialWindow, smss: Bytes, expected: Bytes) {
        assert_eq!(initial.bytes(smss), expected);
        assert_eq!(Window::new(&initial, smss).cwnd(), expected);
    }

    //= specs/rfc5681.md#initial-window
    //= type=test
    //# `ssthresh` is at first arbitrarily high.
    #[test]
    fn a_new_window_is_in_slow_start_with_an_unknown_threshold() {
        let window = Window::new(&InitialWindow::RFC6928, 1460);
        assert!(window.in_slow_start());
        assert_eq!(window.ssthresh(), Window::UNKNOWN);
        assert_eq!(window.believed(), 14_600);
    }

    //= specs/rfc9438.md#multiplicative-decrease
    //= type=test
    //# `ssthresh` is at least two segments.
    #[test]
    fn no_mutation_leaves_the_bounds() {
        let mut window = Window::new(&InitialWindow::plain(u32::MAX), 65_535);
        assert_eq!(window.cwnd(), Window::MAX);
        window.grow(Bytes::MAX);
        assert_eq!(window.cwnd(), Window::MAX);
        window.set_cwnd(0);
        window.set_ssthresh(0);
        assert_eq!((window.cwnd(), window.ssthresh()), (65_535, 131_070));
    }

    #[test]
    fn a_smaller_segment_keeps_the_bytes_and_a_larger_one_raises_the_floors() {
        let mut window = Window::new(&InitialWindow::plain(2), 1_000);
        window.set_ssthresh(2_000);
        window.set_smss(500);
        assert_eq!((window.cwnd(), window.ssthresh(), window.smss()), (2_000, 2_000, 500));
        window.set_smss(3_000);
        assert_eq!((window.cwnd(), window.ssthresh(), window.smss()), (3_000, 6_000, 3_000));
    }

    #[test]
    fn what_is_believed_after_a_timeout_is_the_threshold() {
        let mut window = Window::new(&InitialWindow::plain(1), 1_000);
        window.set_ssthresh(50_000);
        assert_eq!(window.believed(), 50_000);
        window.set_cwnd(60_000);
        assert_eq!(window.believed(), 60_000);
    }
}
