//! Two stacks of one process, back to back.

use pipe::{Batch, Closed, Tunnel};
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

/// Packets that move at once.
const BATCH: usize = 64;

/// Moves packets between two stacks until one of them is gone. Nothing is copied or allocated for a packet.
pub async fn join(one: Tunnel, other: Tunnel) {
    let (mut there, mut back) = (Batch::default(), Batch::default());
    poll_fn(|cx| {
        let moved = [poll_move(cx, &one, &other, &mut there), poll_move(cx, &other, &one, &mut back)];
        if moved.iter().any(Poll::is_ready) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Moves packets one way; ready when an end is gone.
fn poll_move(cx: &mut Context<'_>, from: &Tunnel, to: &Tunnel, batch: &mut Batch) -> Poll<Closed> {
    loop {
        if batch.is_empty()
            && let Err(closed) = ready!(from.poll_recv(cx, batch, BATCH))
        {
            return Poll::Ready(closed);
        }
        if let Err(closed) = ready!(to.poll_send(cx, batch)) {
            return Poll::Ready(closed);
        }
    }
}
