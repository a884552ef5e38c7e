//! Readiness that the application has not polled yet, a bit each: an idle endpoint stays within its kibibyte.

/// What there is to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum News {
    /// The handshake has ended.
    Connected = 1,
    /// There is something to read.
    Readable = 2,
    /// The send buffer has room again.
    Writable = 4,
    /// The peer has not answered for a while.
    Unresponsive = 8,
    /// The connection is over.
    Closed = 16,
    /// Urgent data is announced.
    Urgent = 32,
}

/// The set of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::endpoint) struct PendingEvents(u8);

impl PendingEvents {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, news: News) {
        self.0 |= news as u8;
    }

    /// Adds one if there `is` one.
    #[inline]
    pub fn add_if(&mut self, is: bool, news: News) {
        if is {
            self.add(news);
        }
    }

    /// Removes one; returns whether it was there.
    #[inline]
    pub fn take(&mut self, news: News) -> bool {
        let had = self.0 & news as u8 != 0;
        self.0 &= !(news as u8);
        had
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_taken_once_and_by_itself() {
        let mut pending = PendingEvents::default();
        let all = [News::Connected, News::Readable, News::Writable, News::Unresponsive, News::Closed, News::Urgent];
        all.into_iter().for_each(|news| pending.add(news));
        for news in all {
            assert!(!pending.is_empty());
            assert_eq!((pending.take(news), pending.take(news)), (true, false));
        }
        assert!(pending.is_empty());
    }
}
