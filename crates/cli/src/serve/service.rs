//! The services of `longhaul serve`.

use clap::ValueEnum;

/// What runs on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Discards what it receives (RFC 863; port 9 by default).
    Discard,
    /// Sends back what it receives (RFC 862; port 7 by default).
    Echo,
    /// Sends lines of characters until the client closes (RFC 864; port 19 by default).
    Chargen,
    /// Serves the files below DIR by HTTP/1.1 (RFC 9110; port 80 by default).
    Http,
}

impl Service {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discard => "discard",
            Self::Echo => "echo",
            Self::Chargen => "chargen",
            Self::Http => "http",
        }
    }

    /// Returns the port that is assigned to it.
    pub fn port(self) -> u16 {
        match self {
            Self::Discard => 9,
            Self::Echo => 7,
            Self::Chargen => 19,
            Self::Http => 80,
        }
    }
}
