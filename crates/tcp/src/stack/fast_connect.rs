//! Connections that begin with data (RFC 7413), on either side. [`super::fastopen`] remembers servers, makes and checks cookies.

use super::fastopen::{FastOpenKeys, answer};
use super::{Conn, ConnectError, ListenOn, Stack};
use crate::config::{FastOpenClient, FastOpenServer, ValidConfig};
use crate::cx::StackCx;
use crate::endpoint::{FastOpenAnswer, FastOpenReport, FourTuple, Segment};
use crate::options;
use base::{Duration, Instant};
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use trace::Observer;

/// How long a connection that was reset instead of established counts as pending.
const RESET_COUNTS_FOR: Duration = Duration::from_secs(60);

/// Why a connection cannot begin with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOpenError {
    /// The configuration does not allow it.
    Off,
    /// The SYN has left, or the connection does not exist.
    TooLate,
    /// The connection could not be opened at all.
    Connect(ConnectError),
}

impl fmt::Display for FastOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("Fast Open is off: `fastopen.client` would have to allow it"),
            Self::TooLate => f.write_str("data can be sent with a SYN only before it has left"),
            Self::Connect(error) => error.fmt(f),
        }
    }
}
impl core::error::Error for FastOpenError {}

impl Stack {
    /// Makes and checks cookies with these keys from now on, for every listener without its own keys.
    pub fn set_fast_open_keys(&mut self, keys: FastOpenKeys) {
        self.fast_open.keys = keys;
    }

    /// Gives a listener its own keys, or removes them. No effect where no socket listens.
    pub fn set_fast_open_keys_of(&mut self, on: impl Into<ListenOn>, keys: Option<FastOpenKeys>) {
        if let Some(listener) = self.listeners.get_mut(&on.into()) {
            listener.fast_open.keys = keys;
        }
    }

    /// Forgets every server, and every pause.
    pub fn forget_fast_open_servers(&mut self) {
        self.fast_open.forget();
    }

    /// Returns whether a connection to `remote` could begin with data now: an application that has none yet may then delay the
    /// SYN until it has some.
    pub fn fast_open_is_ready(&self, cfg: &ValidConfig, remote: IpAddr, now: Instant) -> bool {
        cfg.fastopen.client != FastOpenClient::Off && self.fast_open.plan(&cfg.fastopen, remote, u16::MAX, now).1 > 0
    }

    /// Lets the SYN of a connection that was just opened, without a turn since, carry data: as much of `data` as fits, if a
    /// cookie of the server is cached. Without one, the SYN requests it and carries no data; an empty `data` makes it carry the
    /// cookie alone.
    ///
    /// Returns how many bytes were accepted. Pass the rest to [`Self::write`]. The accepted bytes also arrive, after the
    /// handshake, if the peer takes no data from SYNs. They may arrive twice at an application whose server has lost its state
    /// (RFC 7413 §6): it has to tolerate that.
    ///
    /// # Errors
    /// If the configuration does not allow it, or the SYN has left.
    pub fn fast_open<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        conn: Conn,
        data: &[u8],
    ) -> Result<usize, FastOpenError> {
        let slot = self.slots.get_mut(conn).ok_or(FastOpenError::TooLate)?;
        let (cfg, tuple) = (slot.endpoint.config().clone(), slot.endpoint.tuple());
        if cfg.fastopen.client == FastOpenClient::Off {
            return Err(FastOpenError::Off);
        }
        let own_mss = options::own_mss(&cfg, self.device.mtu, tuple.local);
        let (option, room) = self.fast_open.plan(&cfg.fastopen, tuple.remote, own_mss, cx.now);
        slot.endpoint.open_fast(option, data, u32::from(room)).ok_or(FastOpenError::TooLate)
    }

    /// [`Self::connect`] and [`Self::fast_open`] in one.
    ///
    /// # Errors
    /// As for both. If Fast Open is off, no connection is opened.
    pub fn connect_with_data<O: Observer>(
        &mut self,
        cx: &mut StackCx<'_, O>,
        cfg: &ValidConfig,
        remote: SocketAddr,
        data: &[u8],
    ) -> Result<(Conn, usize), FastOpenError> {
        if cfg.fastopen.client == FastOpenClient::Off {
            return Err(FastOpenError::Off);
        }
        let conn = self.connect(cx, cfg, remote).map_err(FastOpenError::Connect)?;
        let taken = self.fast_open(cx, conn, data)?;
        Ok((conn, taken))
    }

    /// Returns a listener's answer to a SYN. Counts the connection as pending if it may send early.
    pub(super) fn answer_fast_open(
        &mut self,
        on: ListenOn,
        tuple: &FourTuple,
        syn: &Segment<'_>,
        at: Instant,
    ) -> FastOpenAnswer {
        let offer = syn.repr.options.fast_open;
        let asked = offer.is_some() || !syn.payload.is_empty();
        let Some(listener) = self.listeners.get_mut(&on).filter(|_| asked) else { return FastOpenAnswer::Nothing };
        let config = listener.cfg.fastopen;
        let pending = &mut listener.fast_open;
        if config.server == FastOpenServer::Off || !pending.has_room(at, config.pending_max) {
            return FastOpenAnswer::Nothing;
        }
        let answer = answer(config.server, pending.keys.as_ref().unwrap_or(&self.fast_open.keys), tuple, offer);
        pending.pending += u32::from(matches!(answer, FastOpenAnswer::Believe(_)));
        answer
    }

    /// Handles a connection's Fast Open report.
    #[cold]
    pub(super) fn on_fast_open_report(&mut self, index: u32, report: FastOpenReport) {
        let Some(slot) = self.slots.at(index) else { return };
        let (tuple, config) = (slot.endpoint.tuple(), slot.endpoint.config().fastopen);
        match report {
            FastOpenReport::Learnt { mss, option, answers } => {
                self.fast_open.learn(tuple.remote, mss, option, answers);
                self.fast_open.silences = 0;
            }
            FastOpenReport::Silence(at) => self.fast_open.on_silence(&config, at),
            FastOpenReport::Settled | FastOpenReport::Reset(_) => {
                let on = self.listener_for(&tuple).map(|(on, _)| on);
                let Some(listener) = on.and_then(|on| self.listeners.get_mut(&on)) else { return };
                let pending = &mut listener.fast_open;
                match report {
                    FastOpenReport::Reset(at) => pending.resets.push_back(at + RESET_COUNTS_FOR),
                    _ => pending.pending = pending.pending.saturating_sub(1),
                }
            }
        }
    }
}
