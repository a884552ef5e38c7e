//! The table of flows against a list that is searched from end to end.

use crate::support::{Seen, at, datagrams, judge, other, own, udp};
use base::{Duration, Instant};
use core::net::SocketAddr;
use longhaul_datagram::{DatagramEvent, Datagrams, DropReason, FLOW_KEPT, Fate, SendError, SocketId, Strangers};
use proptest::prelude::*;

const FLOWS_MAX: usize = 4;
const IDLE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
enum Step {
    /// A datagram of this peer to this port.
    Arrive {
        peer: u8,
        port: u16,
    },
    Send {
        which: prop::sample::Index,
    },
    Close {
        which: prop::sample::Index,
    },
    PollFlow,
    PollEvents,
    Wait {
        seconds: u64,
    },
    Timers,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u8..6, 1u16..3).prop_map(|(peer, port)| Step::Arrive { peer, port }),
        2 => any::<prop::sample::Index>().prop_map(|which| Step::Send { which }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Close { which }),
        3 => Just(Step::PollFlow),
        2 => Just(Step::PollEvents),
        2 => (0u64..20).prop_map(|seconds| Step::Wait { seconds }),
        2 => Just(Step::Timers),
    ]
}

/// What is known of a flow, in the order of their beginning.
#[derive(Clone, Debug)]
struct Known {
    remote: SocketAddr,
    local: SocketAddr,
    last: Instant,
    /// Once the application has it.
    id: Option<SocketId>,
    /// Datagrams that were not read.
    unread: usize,
}

#[derive(Default)]
struct Model {
    live: Vec<Known>,
    /// Ended flows whose event was not taken.
    ended: Vec<SocketId>,
    now: Instant,
}

impl Model {
    /// The flow idle the longest; of several the one that began first.
    fn most_idle(&self) -> Option<usize> {
        (0..self.live.len()).min_by_key(|index| (self.live[*index].last, *index))
    }

    fn end(&mut self, index: usize) {
        let gone = self.live.remove(index);
        self.ended.extend(gone.id);
    }

    fn arrive(&mut self, remote: SocketAddr, local: SocketAddr) -> Fate {
        let now = self.now;
        if let Some(known) = self.live.iter_mut().find(|known| known.remote == remote && known.local == local) {
            known.last = now;
            known.unread += 1;
            return Fate::Taken;
        }
        if self.live.len() + self.ended.len() >= FLOWS_MAX {
            let old = self.most_idle().filter(|index| now.since(self.live[*index].last) >= FLOW_KEPT);
            let Some(old) = old else { return Fate::Dropped(DropReason::FlowsFull) };
            self.end(old);
            if self.live.len() + self.ended.len() >= FLOWS_MAX {
                return Fate::Dropped(DropReason::FlowsFull);
            }
        }
        self.live.push(Known { remote, local, last: now, id: None, unread: 1 });
        Fate::Taken
    }
}

fn drain(it: &mut Datagrams, id: SocketId) -> usize {
    std::iter::from_fn(|| it.recv(id, &mut [0; 8])).count()
}

fn take(it: &mut Datagrams, model: &mut Model, step: Step) -> Result<(), TestCaseError> {
    match step {
        Step::Arrive { peer, port } => {
            let (remote, local) = (at(other(false, peer), 9), at(own(false), port));
            let fate = it.handle_packet(model.now, &udp(remote, local, b"x"));
            prop_assert_eq!(fate, model.arrive(remote, local));
        }
        Step::Send { which } if !model.live.is_empty() => {
            let known = which.get(&model.live).clone();
            let Some(id) = known.id else { return Ok(()) };
            prop_assert_eq!(it.send(model.now, id, None, known.remote, b"y"), Ok(()));
            let seen = judge(&it.pop_transmit().expect("it leaves"));
            prop_assert_eq!(seen, Seen::Udp { src: known.local, dst: known.remote, payload: b"y".to_vec() });
            let now = model.now;
            model.live.iter_mut().filter(|it| it.id == Some(id)).for_each(|it| it.last = now);
        }
        Step::Close { which } if !model.live.is_empty() => {
            let at = which.index(model.live.len());
            let Some(id) = model.live[at].id else { return Ok(()) };
            let remote = model.live.remove(at).remote;
            it.close(id);
            prop_assert_eq!(it.send(model.now, id, None, remote, b"y"), Err(SendError::Gone));
        }
        Step::PollFlow => {
            let expected = model.live.iter_mut().find(|known| known.id.is_none());
            let flow = it.poll_flow();
            prop_assert_eq!(
                flow.map(|flow| (flow.remote, flow.local)),
                expected.as_ref().map(|it| (it.remote, it.local))
            );
            if let (Some(flow), Some(known)) = (flow, expected) {
                known.id = Some(flow.id);
                prop_assert_eq!(drain(it, flow.id), std::mem::take(&mut known.unread));
            }
        }
        Step::PollEvents => {
            let mut ended = Vec::new();
            while let Some(event) = it.poll_event() {
                match event {
                    DatagramEvent::Readable(id) => {
                        let known = model.live.iter_mut().find(|known| known.id == Some(id)).expect("it is live");
                        prop_assert_eq!(drain(it, id), std::mem::take(&mut known.unread));
                    }
                    DatagramEvent::Ended(id) => ended.push(id),
                    event => prop_assert!(false, "{event:?}"),
                }
            }
            prop_assert_eq!(ended, std::mem::take(&mut model.ended));
            prop_assert!(model.live.iter().all(|known| known.id.is_none() || known.unread == 0), "nothing is hidden");
        }
        Step::Wait { seconds } => model.now += Duration::from_secs(seconds),
        Step::Timers => {
            it.handle_timers(model.now);
            while let Some(old) = model.most_idle().filter(|index| model.live[*index].last + IDLE <= model.now) {
                model.end(old);
            }
        }
        Step::Send { .. } | Step::Close { .. } => {}
    }
    prop_assert_eq!(it.flows(), model.live.len());
    prop_assert_eq!(it.usage().flows, model.live.len() + model.ended.len());
    prop_assert_eq!(it.next_deadline(), model.most_idle().map(|index| model.live[index].last + IDLE));
    Ok(())
}

proptest! {
    #[test]
    fn flows_are_those_of_a_list(steps in prop::collection::vec(step(), 0..120)) {
        let mut it = datagrams(|cfg| {
            (cfg.strangers, cfg.flows_max, cfg.flow_idle) = (Strangers::Offer, FLOWS_MAX, IDLE);
        });
        let mut model = Model::default();
        for step in steps {
            take(&mut it, &mut model, step)?;
        }
    }
}

#[test]
fn a_full_table_keeps_the_flows_in_use() {
    let mut it = datagrams(|cfg| (cfg.strangers, cfg.flows_max) = (Strangers::Offer, 2));
    let local = at(own(false), 53);
    let mut arrive = |now, peer| it.handle_packet(now, &udp(at(other(false, peer), 9), local, b"x"));
    let start = Instant::ZERO + Duration::from_secs(100);
    assert_eq!((arrive(start, 1), arrive(start, 2)), (Fate::Taken, Fate::Taken));
    assert_eq!(arrive(start + FLOW_KEPT - Duration::from_nanos(1), 3), Fate::Dropped(DropReason::FlowsFull));
    assert_eq!(arrive(start + FLOW_KEPT, 2), Fate::Taken, "the second is in use");
    assert_eq!(arrive(start + FLOW_KEPT, 3), Fate::Taken, "the first gives way");
    assert_eq!(arrive(start + FLOW_KEPT, 1), Fate::Dropped(DropReason::FlowsFull));
    assert_eq!((it.flows(), it.counters().flows_evicted, it.counters().flows), (2, 1, 3));
}

/// 50,000 strangers, one after the other, while one peer talks and the application takes nothing but its datagrams.
#[test]
fn a_flood_of_strangers_ends_no_conversation() {
    let mut it = datagrams(|cfg| cfg.strangers = Strangers::Offer);
    let (peer, local) = (at(other(false, 1), 9), at(own(false), 53));
    let start = Instant::ZERO + Duration::from_secs(1);
    assert_eq!(it.handle_packet(start, &udp(peer, local, b"first")), Fate::Taken);
    let id = it.poll_flow().expect("it begins").id;
    assert_eq!(drain(&mut it, id), 1);
    for stranger in 0..50_000_u32 {
        let now = start + Duration::from_millis(stranger.into());
        let [.., high, low] = stranger.to_be_bytes();
        it.handle_packet(now, &udp(at([203, 0, high, low].into(), 7), local, &[0; 64]));
        if stranger % 1_000 == 0 {
            assert_eq!(it.handle_packet(now, &udp(peer, local, b"again")), Fate::Taken, "{stranger}");
            assert_eq!((it.poll_event(), drain(&mut it, id)), (Some(DatagramEvent::Readable(id)), 1));
        }
        let usage = it.usage();
        assert!(it.flows() <= 4_096 && usage.events == 0 && usage.received <= 2 << 20, "{usage:?}");
    }
    assert_eq!(it.send(start, id, None, peer, b"answer"), Ok(()));
    assert!(it.counters().flows_evicted > 0 && it.counters().dropped(DropReason::FlowsFull) > 0);
}
