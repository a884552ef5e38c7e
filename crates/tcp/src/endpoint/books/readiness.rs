//! Readiness that the application has not polled yet, one bit per kind: this keeps an idle endpoint within its kibibyte.

/// A kind of readiness to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::endpoint) enum Readiness {
    /// The handshake has ended.
    Connected = 1,
    /// There is something to read.
    Readable = 2,
    /// The send buffer has room again, and a writer waits for it.
    Writable = 4,
    /// The peer has been unresponsive for a while.
    Unresponsive = 8,
    /// The connection is over.
    Closed = 16,
    /// Urgent data is announced.
    Urgent = 32,
    /// The peer has acknowledged our FIN.
    FinAcknowledged = 64,
}

/// A set of kinds of readiness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::endpoint) struct PendingEvents(u8);

impl PendingEvents {
    /// Adds one kind.
    #[inline]
    pub fn add(&mut self, readiness: Readiness) {
        self.0 |= readiness as u8;
    }

    /// Adds one kind if `is` holds.
    #[inline]
    pub fn add_if(&mut self, is: bool, readiness: Readiness) {
        if is {
            self.add(readiness);
        }
    }

    /// Removes one kind; returns whether the set contained it.
    #[inline]
    pub fn take(&mut self, readiness: Readiness) -> bool {
        let had = self.0 & readiness as u8 != 0;
        self.0 &= !(readiness as u8);
        had
    }

    /// Returns whether the set is empty.
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
        let all = [
            Readiness::Connected,
            Readiness::Readable,
            Readiness::Writable,
            Readiness::Unresponsive,
            Readiness::Closed,
            Readiness::Urgent,
        ];
        all.into_iter().for_each(|readiness| pending.add(readiness));
        for readiness in all {
            assert!(!pending.is_empty());
            assert_eq!((pending.take(readiness), pending.take(readiness)), (true, false));
        }
        assert!(pending.is_empty());
    }
}
