//! Fast Open as data (RFC 7413).

use base::Duration;

/// Data in SYNs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastOpenConfig {
    /// Whether an application that asks for Fast Open gets it.
    pub client: FastOpenClient,
    /// Whether a listener accepts data in SYNs.
    pub server: FastOpenServer,
    /// Limit of a listener's connections whose SYN brought data and whose handshake is in progress; zero for a listener that
    /// takes none.
    pub pending_max: u32,
    /// How long the client does without Fast Open after three timeouts in a row on a connection that tried it; doubled each
    /// further time, up to 64 times as long. `None` keeps trying.
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
    /// Data in a SYN is ignored, so the peer sends it again.
    Off,
    /// Data is accepted from peers that present a cookie.
    WithCookie,
    /// Data is accepted from every peer, at the risk of a flood from forged addresses.
    WithoutCookie,
}

impl Default for FastOpenConfig {
    /// Off: RFC 7413 is experimental, and an application has to be prepared for data in a SYN that arrives twice.
    fn default() -> Self {
        Self { client: FastOpenClient::Off, server: FastOpenServer::Off, pending_max: 0, pause: None }
    }
}
