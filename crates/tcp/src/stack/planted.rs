//! Defects that tests plant to verify that checkers find them. Nothing else calls this.

use super::{Conn, Stack};
use crate::timers::TimerKind;

impl Stack {
    /// Stops a timer of a connection unnoticed, like a defect that fails to arm it.
    #[doc(hidden)]
    pub fn lose_timer(&mut self, conn: Conn, kind: TimerKind) {
        if let Some(slot) = self.slots.at(conn.slot).filter(|slot| slot.conn == conn) {
            slot.endpoint.lose_timer(kind);
        }
    }
}
