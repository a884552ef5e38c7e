//! What both ways of the proxy heed.

use std::time::Duration;

/// The rules for connections.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The only ports to connect to; none means all.
    pub ports: Vec<u16>,
    /// Connections without a byte for so long are reset.
    pub idle: Option<Duration>,
    /// How long a connection may take to open.
    pub patience: Duration,
}

impl Rules {
    /// Returns whether a port may be connected to (RFC 9110 §9.3.6 asks for such a list).
    pub fn allow(&self, port: u16) -> bool {
        self.ports.is_empty() || self.ports.contains(&port)
    }
}
