//! The Fast Open option (RFC 7413 §4.1.1): a cookie, or the request for one.
//!
//! There are two encodings: the assigned kind 34, and the experimental kind 254 with its magic number (RFC 6994), which is older
//! and which some hosts still use. Cookies have 4 to 16 bytes, an even number of them. Deviation from other options: a length out
//! of these bounds does not invalidate the segment, because the option is an offer that may be ignored, and the bounds belong to
//! the protocol, not to the encoding.

/// The assigned kind.
pub(super) const FAST_OPEN: u8 = 34;
/// Kind and magic number of the experiment.
pub(super) const EXPERIMENT: u8 = 254;
pub(super) const MAGIC: [u8; 2] = [0xf9, 0x89];

/// Most bytes of a cookie.
pub const MAX_COOKIE: usize = 16;

/// A cookie: 4 to 16 bytes that only its server understands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    bytes: [u8; MAX_COOKIE],
    len: u8,
}

impl Cookie {
    //= specs/rfc7413.md#option
    //# A cookie has 4 to 16 bytes, an even number of them.
    /// Creates a cookie of these bytes; `None` unless they are 4 to 16 and even in number (RFC 7413 §4.1.1).
    pub fn new(cookie: &[u8]) -> Option<Self> {
        if !(4..=MAX_COOKIE).contains(&cookie.len()) || !cookie.len().is_multiple_of(2) {
            return None;
        }
        let mut bytes = [0; MAX_COOKIE];
        bytes[..cookie.len()].copy_from_slice(cookie);
        Some(Self { bytes, len: cookie.len() as u8 })
    }
    /// Its bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl core::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.as_slice().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// How the option is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastOpenKind {
    /// With the assigned kind.
    #[default]
    Assigned,
    /// As an experiment.
    Experimental,
}

/// The Fast Open option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpen {
    /// The encoding, which an answer uses too.
    pub kind: FastOpenKind,
    /// The cookie; without one, the option requests it.
    pub cookie: Option<Cookie>,
}

impl FastOpen {
    //= specs/rfc7413.md#option
    //# An option without a cookie asks for one.
    //= specs/rfc7413.md#option
    //# What the option's length makes no cookie is ignored.
    /// Parses the body of an option; returns `None` if it is to be ignored.
    pub(super) fn read(kind: FastOpenKind, body: &[u8]) -> Option<Self> {
        match (Cookie::new(body), body) {
            (None, [_, ..]) => None,
            (cookie, _) => Some(Self { kind, cookie }),
        }
    }

    /// Writes kind, length and body to the front of `out` and returns their number.
    pub(super) fn write(&self, out: &mut [u8]) -> usize {
        let cookie = self.cookie.as_ref().map_or(&[][..], Cookie::as_slice);
        let head: &[u8] = match self.kind {
            FastOpenKind::Assigned => &[FAST_OPEN, 2],
            FastOpenKind::Experimental => &[EXPERIMENT, 4, MAGIC[0], MAGIC[1]],
        };
        let len = head.len() + cookie.len();
        out[..head.len()].copy_from_slice(head);
        out[head.len()..len].copy_from_slice(cookie);
        out[1] = len as u8;
        len
    }
}
