//! The tunnel's end of a pipe.

use crate::outlet::{Outlet, Straight};
use crate::packet::{Batch, Packet};
use crate::place::Place;
use crate::queue::{Closed, Direction, PipeCounters, Shared, State};
use std::future::poll_fn;
use std::task::{Context, Poll};

/// The end of a pipe that a tunnel, a device or a test holds. Dropped, it stands for a device that takes and brings nothing more.
///
/// One task may wait to send and one to receive; of two that wait for the same, only the last one is woken. Among several shards
/// ([`crate::share`]) each tunnel takes packets of every flow, and hands those of others over.
#[derive(Debug)]
pub struct Tunnel {
    pub(crate) shared: Shared,
    /// Among several shards, which one this is.
    pub(crate) place: Option<Place>,
}

impl Tunnel {
    pub(crate) fn new(shared: Shared) -> Self {
        Self { shared, place: None }
    }

    /// Sends packets to the stack, oldest first, and returns how many; packets that do not fit stay in the batch.
    ///
    /// # Errors
    /// [`Closed`].
    pub fn try_send(&self, batch: &mut Batch) -> Result<usize, Closed> {
        match &self.place {
            None => self.shared.with(|state| send_into(state, batch)),
            Some(place) => place.send(batch, |_, _| {}),
        }
    }

    /// Sends the whole batch; pending until there has been room for all of it. What has been sent leaves the batch, so dropping the
    /// future loses nothing.
    ///
    /// # Errors
    /// [`Closed`].
    pub fn poll_send(&self, cx: &mut Context<'_>, batch: &mut Batch) -> Poll<Result<(), Closed>> {
        if let Some(place) = &self.place {
            place.send(batch, |state, is_guest| match is_guest {
                false => state.sender = Some(cx.waker().clone()),
                true => state.add_guest(cx),
            })?;
            return if batch.is_empty() { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        self.shared.with(|state| {
            send_into(state, batch)?;
            if batch.is_empty() {
                return Poll::Ready(Ok(()));
            }
            state.sender = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// [`Self::poll_send`] as a future; cancellation-safe.
    ///
    /// # Errors
    /// [`Closed`].
    pub async fn send(&self, batch: &mut Batch) -> Result<(), Closed> {
        poll_fn(|cx| self.poll_send(cx, batch)).await
    }

    /// Receives up to `max` packets of the stack in place of those in the batch, whose buffers go back to the pool. Returns how many
    /// came; zero if none waits.
    ///
    /// # Errors
    /// [`Closed`], when everything that the stack had sent has been received.
    pub fn try_recv(&self, batch: &mut Batch, max: usize) -> Result<usize, Closed> {
        self.shared.with(|state| recv_from(state, batch, max))
    }

    /// The same; pending until at least one packet comes.
    ///
    /// # Errors
    /// As for [`Self::try_recv`].
    pub fn poll_recv(&self, cx: &mut Context<'_>, batch: &mut Batch, max: usize) -> Poll<Result<usize, Closed>> {
        self.shared.with(|state| {
            let came = recv_from(state, batch, max)?;
            if came > 0 || max == 0 {
                return Poll::Ready(Ok(came));
            }
            state.receiver = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// [`Self::poll_recv`] as a future; cancellation-safe.
    ///
    /// # Errors
    /// As for [`Self::try_recv`].
    pub async fn recv(&self, batch: &mut Batch, max: usize) -> Result<usize, Closed> {
        poll_fn(|cx| self.poll_recv(cx, batch, max)).await
    }

    /// Lets the stack's frames go straight out, as long as no packet waits here and those received before have left: who calls
    /// [`Self::try_recv`] or a like says by it that they have.
    pub fn set_outlet(&self, outlet: Box<dyn Outlet>) {
        self.shared.with(|state| state.straight.outlet = Some(outlet));
    }

    /// Says that a device is read into this pipe, so that packets may wait which have not reached it. From now on a timer is served
    /// only once the device is known to be empty ([`Self::device_is_empty`]): an ACK that waits in the device answers its segment
    /// before a timer takes it for lost.
    ///
    /// The task that reads the device calls [`Self::poll_asked`] while it waits, reads the device when that is ready, and then says
    /// that it is empty.
    pub fn reads_device(&self) {
        self.shared.with(|state| state.reads_device = true);
    }

    /// Says that the device was just read empty, and that everything it held was sent. The time is that of the next run.
    pub fn device_is_empty(&self) {
        self.shared.with(|state| {
            state.device_is_empty = true;
            if std::mem::take(&mut state.runner_asks) {
                state.wake_runner();
            }
        });
    }

    /// Ready when the stack has to know whether the device is empty. One task waits for it: the last that asked.
    pub fn poll_asked(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.shared.with(|state| {
            if state.runner_asks {
                return Poll::Ready(());
            }
            state.reader = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Totals of the pipe.
    pub fn counters(&self) -> PipeCounters {
        self.shared.with(|state| state.counters)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.shared.with(|state| {
            (state.tunnel_is_gone, state.runner_wants_room) = (true, false);
            (state.reads_device, state.runner_asks) = (false, false);
            state.straight = Straight::default();
            state.wake_runner();
        });
    }
}

/// Moves packets from the batch into the queue, as many as fit.
fn send_into(state: &mut State, batch: &mut Batch) -> Result<usize, Closed> {
    if state.runner_is_gone {
        return Err(Closed);
    }
    let fits = |packet: &Packet, state: &State| state.inbound.room().has(packet.bytes().len(), 0, 0);
    let mut sent = 0;
    while sent < batch.packets.len() && fits(&batch.packets[sent], state) {
        let packet = std::mem::replace(&mut batch.packets[sent], Packet::without_buffer());
        if let Some(empty) = state.pool.take(packet.bytes().len()) {
            batch.empty.put(empty);
        }
        state.inbound.push(packet);
        sent += 1;
    }
    state.counters.inbound += sent as u64;
    state.counters.inbound_full += u64::from(sent < batch.packets.len());
    batch.packets.drain(..sent);
    if sent > 0 {
        state.wake_runner();
    }
    Ok(sent)
}

/// Moves packets from the queue into the batch.
fn recv_from(state: &mut State, batch: &mut Batch, max: usize) -> Result<usize, Closed> {
    let came = state.fill(batch, max, Direction::Outbound);
    if came > 0 || max == 0 {
        state.straight.close();
    } else {
        state.straight.open();
    }
    if max > 0 && state.runner_wants_room {
        state.runner_wants_room = false;
        state.wake_runner();
    }
    if came == 0 && max > 0 && state.runner_is_gone { Err(Closed) } else { Ok(came) }
}
