//! The states of RFC 9293 §3.3.2 and what moves a connection from one to the next once it is open. LISTEN is a property of the
//! stack, not of an endpoint.

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Our SYN is out.
    SynSent,
    /// Both SYNs were sent, ours is not acknowledged.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// We closed; our FIN is not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer closed; we may still send.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed first, then we; our FIN is not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; waiting until old segments have expired.
    TimeWait,
    /// The connection is over.
    Closed,
}

impl State {
    /// Returns the name in traces.
    pub fn name(self) -> &'static str {
        trace::State::from(self).name()
    }
    /// Returns whether the handshake is complete and the connection not closed.
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed)
    }
    /// Returns the state after the application has closed our direction, if that changes it.
    pub(super) const fn after_shutdown(self) -> Option<Self> {
        match self {
            Self::Established => Some(Self::FinWait1),
            Self::CloseWait => Some(Self::LastAck),
            // RFC 9293 §3.10.4: nothing was sent yet, so there is nothing to close.
            Self::SynSent => Some(Self::Closed),
            _ => None,
        }
    }
    //= specs/rfc9293.md#closing
    //# Two FINs that cross end the connection on both sides.
    /// Returns the state after the peer's FIN and everything before it has arrived, if that changes it.
    pub(super) const fn after_fin(self) -> Option<Self> {
        match self {
            Self::Established => Some(Self::CloseWait),
            // Our FIN is not acknowledged yet, or step 9 of the ACK would have changed the state.
            Self::FinWait1 => Some(Self::Closing),
            Self::FinWait2 => Some(Self::TimeWait),
            _ => None,
        }
    }
    /// Returns the state after our FIN was acknowledged (RFC 9293 §3.10.7.4, fifth), if that changes it.
    pub(super) const fn after_fin_acknowledged(self) -> Option<Self> {
        match self {
            Self::FinWait1 => Some(Self::FinWait2),
            Self::Closing => Some(Self::TimeWait),
            Self::LastAck => Some(Self::Closed),
            _ => None,
        }
    }
    /// Returns whether the peer's data is still accepted.
    pub const fn may_receive(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }
    /// Returns whether segments with data or a FIN may leave, new or again.
    pub const fn may_send(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck)
    }
}

impl From<State> for trace::State {
    fn from(state: State) -> Self {
        match state {
            State::SynSent => Self::SynSent,
            State::SynReceived => Self::SynReceived,
            State::Established => Self::Established,
            State::FinWait1 => Self::FinWait1,
            State::FinWait2 => Self::FinWait2,
            State::CloseWait => Self::CloseWait,
            State::Closing => Self::Closing,
            State::LastAck => Self::LastAck,
            State::TimeWait => Self::TimeWait,
            State::Closed => Self::Closed,
        }
    }
}

/// Which side opened the connection (RFC 9293 MUST-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This side.
    Active,
    /// The other side.
    Passive,
}

/// How far our direction is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendSide {
    /// The application may write.
    Open,
    /// The application closed; a FIN follows the last byte.
    FinQueued,
    /// The FIN has a sequence number and is on the scoreboard.
    FinSent,
}

/// Zero-window probing (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probing {
    /// The window is open, or nothing waits.
    Idle,
    /// The persist timer runs; this many probes were sent.
    Waiting(u32),
    /// The persist timer fired: one probe is due.
    Due(u32),
}
