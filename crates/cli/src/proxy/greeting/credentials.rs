//! The user name and the password that clients of the proxy have to know.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt;

/// The longest user name or password, in bytes (RFC 1929 §2).
const LONGEST: usize = 255;

/// A user name and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    user: Vec<u8>,
    password: Vec<u8>,
    /// As HTTP carries them (RFC 7617 §2).
    basic: String,
}

impl Credentials {
    /// Reads `NAME:PASSWORD`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_fit = |part: &str| (1..=LONGEST).contains(&part.len());
        match text.split_once(':') {
            Some((user, password)) if is_fit(user) && is_fit(password) => Ok(Self {
                user: user.as_bytes().to_vec(),
                password: password.as_bytes().to_vec(),
                basic: STANDARD.encode(text),
            }),
            _ => Err(format!("write NAME:PASSWORD, each of 1 to {LONGEST} bytes")),
        }
    }

    /// Returns whether these are they.
    pub fn are(&self, user: &[u8], password: &[u8]) -> bool {
        // Both comparisons happen, whatever the first says.
        is_same(user, &self.user) & is_same(password, &self.password)
    }

    /// Returns whether these are they, in the form that HTTP carries.
    pub fn are_basic(&self, given: &str) -> bool {
        is_same(given.as_bytes(), self.basic.as_bytes())
    }
}

/// Without the password.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Compares in a time that depends on the lengths alone.
fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differences = given.iter().zip(wanted).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == wanted.len() && std::hint::black_box(differences) == 0
}
