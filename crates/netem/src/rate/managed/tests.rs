//! The hop's own part: its clock, its contents, and the change from one bottleneck to another.

use super::*;
use crate::path::Path;
use crate::queue::Codel;
use crate::rate::Bottleneck;
use crate::testing::{Parcel, at, drive, full_sized, rate};

/// 1500 bytes take 1 ms.
const MBIT_12: u64 = 12_000_000;
const MS: u64 = 1_000_000;

fn managed(room: Buffer) -> ManagedBottleneck<Parcel> {
    let spec = QueueSpec::Codel(Codel::default());
    ManagedBottleneck::new(Serialiser::new(rate(MBIT_12)), &spec, room, &Rng::new(1)).expect("it is managed")
}

fn path(hop: impl Hop<Parcel> + 'static) -> Path<Parcel> {
    Path::new(vec![Box::new(hop)], &Rng::new(1))
}

#[test]
fn a_packet_that_meets_an_idle_link_needs_no_event() {
    let (mut hop, mut rng) = (managed(Buffer::Unlimited), Rng::new(1));
    assert!(matches!(hop.offer(at(5), full_sized(0), &mut rng), Offer::Forwards(exit, _) if exit == at(MS + 5)));
    assert_eq!(hop.next_deadline(), None);
    assert!(matches!(hop.offer(at(6), full_sized(1), &mut rng), Offer::Queued));
    assert_eq!(hop.next_deadline(), Some(at(MS + 5)));
    assert!(hop.poll(at(MS + 4), &mut rng).is_none());
    assert!(matches!(hop.poll(at(MS + 5), &mut rng), Some(Left::Leaves(exit, _)) if exit == at(2 * MS + 5)));
    assert_eq!((hop.next_deadline(), hop.poll(at(MS + 5), &mut rng).is_none()), (None, true));
}

#[test]
fn the_room_is_for_packets_that_wait_and_the_backlog_counts_the_one_in_service() {
    let mut path = path(managed(Buffer::Packets(2)));
    let mut drops = Vec::new();
    for index in 0..4 {
        path.offer(at(0), full_sized(index), &mut |lost, _, _| drops.push(lost.index));
    }
    assert_eq!(drops, [3]);
    assert_eq!((path.backlog(at(0)), path.stats().max_backlog_bytes), (4_500, 4_500));
    assert_eq!(path.poll(at(MS), &mut |_, _, _| {}), Some((at(MS), full_sized(0))));
    assert_eq!(path.backlog(at(MS)), 3_000);
}

#[test]
fn a_new_bottleneck_begins_behind_what_waits_in_the_old_one() {
    let plain = || path(Bottleneck::new(rate(MBIT_12), Buffer::Unlimited));
    let changes = [
        (path(managed(Buffer::Unlimited)), plain()),
        (plain(), path(managed(Buffer::Unlimited))),
        (path(managed(Buffer::Unlimited)), path(managed(Buffer::Unlimited))),
    ];
    for (mut old, mut new) in changes {
        for index in 0..3 {
            old.offer(at(0), full_sized(index), &mut |_, _, _| {});
        }
        new.take_over(&mut old);
        assert_eq!((new.backlog(at(0)), old.backlog(at(0))), (4_500, 0), "they occupy the new link");
        let after: Vec<u64> =
            drive(&mut new, &[(MS / 2, 1_500), (MS / 2, 1_500)]).arrivals.iter().map(|a| a.0).collect();
        assert_eq!(after, [4 * MS, 5 * MS]);
        let before: Vec<u64> = drive(&mut old, &[]).arrivals.iter().map(|a| a.0).collect();
        assert_eq!(before, [MS, 2 * MS, 3 * MS], "packets of the old one leave as without the change");
    }
}
