//! What the sender and the receiver share: one connection that they open.

use super::session::{Session, Transfer};
use crate::driver::StartError;
use std::net::SocketAddr;
use tcp::{CloseReason, Stack, StackCx, ValidConfig};
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

    pub(super) fn connect<O: Observer>(
        &mut self,
        stack: &mut Stack,
        cx: &mut StackCx<'_, O>,
    ) -> Result<(), StartError> {
        let conn = stack.connect(cx, &self.cfg, self.remote)?;
        self.session = Some(Session::new(conn, None));
        Ok(())
    }

    pub(super) fn on_closed<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>, reason: CloseReason) {
        if let Some(session) = self.session.take() {
            self.transfer = Some(session.finish(stack, cx, reason));
        }
    }

    pub(super) fn abort<O: Observer>(&mut self, stack: &mut Stack, cx: &mut StackCx<'_, O>) {
        if let Some(session) = &self.session {
            stack.abort(cx, session.conn);
        }
    }
}
