//! Fast Open as data (RFC 7413).

use base::Duration;

/// Data in SYNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenConfig {
    /// Whether an application that asks for it gets it.
    pub client: FastOpenClient,
    /// Whether a listener takes data from SYNs.
    pub server: FastOpenServer,
    /// Connections of a listener whose SYN brought data and whose handshake is under way, at most; zero for a listener that
    /// takes none.
    pub pending_max: u32,
    /// How long the client makes do without after three timeouts in a row of a connection that tried; doubled when it
    /// happens again, up to 64 times as long. `None` for trying on.
    pub pause: Option<Duration>,
}

/// The client's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenClient {
    /// An application that asks for it learns that Fast Open is unavailable.
    Off,
    /// With the server's cookie.
    WithCookie,
    /// With a cookie or without one: for networks whose addresses are not forged.
    WithoutCookie,
}

/// The server's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenServer {
    /// Data in a SYN is left for the peer to send again.
    Off,
    /// Data is taken from those who have a cookie.
    WithCookie,
    /// Data is taken from everyone, at the risk of a flood from forged addresses.
    WithoutCookie,
}

impl Default for FastOpenConfig {
    /// Off: RFC 7413 is experimental, and an application has to know that data in a SYN may arrive twice.
    fn default() -> Self {
        Self { client: FastOpenClient::Off, server: FastOpenServer::Off, pending_max: 0, pause: None }
    }
}
