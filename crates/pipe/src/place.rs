//! Stacks side by side, each behind a pipe of its own: whoever brings a packet to one of the pipes has it handed to the pipe of its flow's
//! shard.
//!
//! What is not a flow's — other protocols, fragments, what cannot be read — is the first shard's. An ICMP error goes to the flow that it
//! quotes.

use crate::packet::{Batch, Packet};
use crate::queue::{Closed, Shared, State};
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::{FourTuple, Shards};
use wire::Header;

/// The pipes of all shards.
#[derive(Debug)]
struct Siblings {
    shards: Shards,
    all: Vec<Shared>,
}

/// A pipe's place among them.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    siblings: Arc<Siblings>,
    own: usize,
}

/// Marks a packet that was sent.
const SENT: usize = usize::MAX;

impl Place {
    /// Returns the places of these pipes, which are as many as there are shards.
    pub fn all(shards: Shards, pipes: Vec<Shared>) -> impl Iterator<Item = Self> {
        let count = pipes.len();
        let siblings = Arc::new(Siblings { shards, all: pipes });
        (0..count).map(move |own| Self { siblings: siblings.clone(), own })
    }

    /// Moves packets from the batch into the queues of their shards, as many as fit, and those of a flow in their order. `when_full` gets the
    /// state of each queue that could not take all of them, and whether it is another shard's. Returns how many were sent.
    pub fn send(&self, batch: &mut Batch, mut when_full: impl FnMut(&mut State, bool)) -> Result<usize, Closed> {
        let Siblings { shards, all } = &*self.siblings;
        let mut places = std::mem::take(&mut batch.places);
        places.clear();
        places.extend(batch.packets.iter().map(|packet| shard_of(shards, packet.bytes())));
        let mut sent = Ok(0);
        for (shard, shared) in all.iter().enumerate() {
            if !places.contains(&shard) {
                continue;
            }
            let is_guest = shard != self.own;
            shared.with(|state| match send_those(state, batch, &mut places, shard, is_guest) {
                Ok(true) => {}
                Ok(false) => when_full(state, is_guest),
                Err(closed) => sent = Err(closed),
            });
        }
        let mut at = 0;
        batch.packets.retain(|_| {
            at += 1;
            places[at - 1] != SENT
        });
        sent = sent.map(|_| places.len() - batch.packets.len());
        batch.places = places;
        sent
    }

    /// Hands a packet that fragments have completed to its shard, if that is another one; without room it is dropped.
    pub fn hand_over(&self, packet: &mut Packet) {
        let shard = shard_of(&self.siblings.shards, packet.bytes());
        if shard == self.own {
            return;
        }
        self.siblings.all[shard].with(|state| {
            if state.inbound.room().has(packet.bytes().len(), 0, 0) {
                take_in(state, std::mem::replace(packet, Packet::without_buffer()), true);
                state.wake_runner();
            } else {
                state.counters.inbound_full += 1;
            }
        });
        packet.truncate(0);
    }
}

/// Moves a shard's packets. Returns whether all of them fitted; those for another shard that is gone are dropped.
fn send_those(
    state: &mut State,
    batch: &mut Batch,
    places: &mut [usize],
    shard: usize,
    is_guest: bool,
) -> Result<bool, Closed> {
    if state.runner_is_gone && !is_guest {
        return Err(Closed);
    }
    let mut moved = false;
    for (packet, place) in batch.packets.iter_mut().zip(places).filter(|(_, place)| **place == shard) {
        if !state.runner_is_gone {
            if !state.inbound.room().has(packet.bytes().len(), 0, 0) {
                state.counters.inbound_full += 1;
                if moved {
                    state.wake_runner();
                }
                return Ok(false);
            }
            if let Some(empty) = state.pool.take(packet.bytes().len()) {
                batch.empty.put(empty);
            }
            take_in(state, std::mem::replace(packet, Packet::without_buffer()), is_guest);
            moved = true;
        }
        *place = SENT;
    }
    if moved {
        state.wake_runner();
    }
    Ok(true)
}

fn take_in(state: &mut State, packet: Packet, is_guest: bool) {
    state.counters.inbound += 1;
    state.counters.handed_over += u64::from(is_guest);
    state.inbound.push(packet);
}

/// Returns the shard of a packet.
fn shard_of(shards: &Shards, packet: &[u8]) -> usize {
    let header = Header::read(packet);
    let ends = header.ends().or_else(|| {
        let notice = wire::icmp::parse(&header).ok()?;
        Some([SocketAddr::new(notice.src, notice.src_port), SocketAddr::new(notice.dst, notice.dst_port)])
    });
    ends.map_or(0, |[one, other]| {
        let (local, remote) = (other.ip(), one.ip());
        shards.of(&FourTuple { remote_port: one.port(), local_port: other.port(), remote, local })
    })
}
