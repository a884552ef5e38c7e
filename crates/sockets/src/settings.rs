//! What socket options say about the calls on a socket, not about its connection (for that see `tcp::Config`).

use crate::options::Options;
use base::Duration;

/// A socket's own settings.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// `SO_LINGER`: how long `close` waits for data to be acknowledged. Zero resets the connection.
    pub linger: Option<Duration>,
    /// `SO_RCVTIMEO`: how long a call waits for data or a connection; indefinitely when absent.
    pub receive_timeout: Option<Duration>,
    /// `SO_SNDTIMEO`: how long a call waits for room, or `connect` for the peer; indefinitely when absent.
    pub send_timeout: Option<Duration>,
    /// `SO_RCVLOWAT`: how many bytes make a socket readable, at least 1.
    pub receive_low: u32,
    /// `SO_REUSEADDR`.
    pub reuse_address: bool,
    /// The values set for the options.
    pub options: Options,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            linger: None,
            receive_timeout: None,
            send_timeout: None,
            receive_low: 1,
            reuse_address: false,
            options: Options::default(),
        }
    }
}
