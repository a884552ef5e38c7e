//! What the sender and the receiver share: one connection that they open.

use super::session::{Session, Transfer};
use super::{AppCx, StartError};
use std::net::SocketAddr;
use tcp::{CloseReason, ValidConfig};
use trace::Observer;

/// One connection, from its opening to its end.
#[derive(Debug)]
pub(super) struct Client {
    remote: SocketAddr,
    cfg: ValidConfig,
    pub(super) session: Option<Session>,
    pub(super) transfer: Option<Transfer>,
}

impl Client {
    pub(super) fn new(remote: SocketAddr, cfg: ValidConfig) -> Self {
        Self { remote, cfg, session: None, transfer: None }
    }

    pub(super) fn connect<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) -> Result<(), StartError> {
        let conn = cx.connect(&self.cfg, self.remote)?;
        self.session = Some(Session::new(conn, None));
        Ok(())
    }

    pub(super) fn on_closed<O: Observer>(&mut self, cx: &mut AppCx<'_, O>, reason: CloseReason) {
        if let Some(session) = self.session.take() {
            self.transfer = Some(session.finish(cx, reason));
        }
    }

    pub(super) fn abort<O: Observer>(&mut self, cx: &mut AppCx<'_, O>) {
        if let Some(session) = &self.session {
            cx.abort(session.conn);
        }
    }
}
