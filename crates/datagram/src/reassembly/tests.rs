//! Each rule about fragments, and each bound.

use super::*;
use base::Duration;
use test_case::test_case;
use wire::Ecn;

const CFG: ReassemblyConfig =
    ReassemblyConfig { bytes_max: 10_000, packets_max: 3, fragments_max: 4, patience: Duration::from_secs(15) };

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// A fragment of a datagram from `peer`.
fn piece(six: bool, peer: u8, id: u32, offset: usize, len: usize, more: bool) -> Vec<u8> {
    let field = (offset as u16) | u16::from(more);
    let payload = vec![offset as u8; len];
    let mut packet = match six {
        true => {
            let mut header = vec![0x60, 0, 0, 0, 0, 0, 44, 64];
            header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, peer]);
            header.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 17, 0]);
            header.extend(field.to_be_bytes());
            header.extend(id.to_be_bytes());
            header[4..6].copy_from_slice(&(8 + len as u16).to_be_bytes());
            header
        }
        false => {
            let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, peer, 192, 0, 3, 1];
            header[2..4].copy_from_slice(&(20 + len as u16).to_be_bytes());
            header[4..6].copy_from_slice(&(id as u16).to_be_bytes());
            header[6..8].copy_from_slice(&(u16::from(more) << 13 | (offset / 8) as u16).to_be_bytes());
            header
        }
    };
    mend(&mut packet);
    packet.extend(payload);
    packet
}

fn mend(packet: &mut [u8]) {
    if packet[0] >> 4 == 4 {
        packet[10..12].fill(0);
        let sum = !wire::checksum::ones_complement_sum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

fn with_ecn(mut packet: Vec<u8>, ecn: Ecn) -> Vec<u8> {
    packet[1] |= if packet[0] >> 4 == 4 { ecn as u8 } else { (ecn as u8) << 4 };
    mend(&mut packet);
    packet
}

struct Bench {
    reassembly: Reassembly,
    counters: DatagramCounters,
}

impl Bench {
    fn new(cfg: ReassemblyConfig) -> Self {
        Self { reassembly: Reassembly::new(cfg), counters: DatagramCounters::default() }
    }

    fn add(&mut self, seconds: u64, packet: &[u8]) -> Outcome {
        let view = IpView::read(packet).unwrap();
        let fragment = view.fragment.unwrap();
        let outcome = self.reassembly.add(at(seconds), &view, &fragment, &mut self.counters);
        let kept: usize = self.reassembly.packets.values().map(|kept| PARTIAL_BYTES + kept.partial.cost()).sum();
        assert_eq!((self.reassembly.bytes, self.reassembly.packets.len()), (kept, self.reassembly.by_age.len()));
        outcome
    }
}

fn dropped(reason: DropReason) -> Option<Outcome> {
    Some(Outcome::Dropped(reason))
}

/// What becomes of the last of these fragments (offset, bytes, more).
#[test_case(&[(0, 16, true), (16, 5, false)] => None; "two that fit")]
#[test_case(&[(16, 5, false), (0, 16, true)] => None; "the last one first")]
#[test_case(&[(0, 16, true), (0, 16, true), (16, 5, false)] => None; "an exact repetition, RFC 8200 4.5")]
#[test_case(&[(16, 5, false), (16, 5, false), (0, 16, true)] => None; "a repetition of the last")]
#[test_case(&[(0, 13, true)] => dropped(DropReason::FragmentLength); "a length that is no multiple of 8, RFC 8200 4.5")]
#[test_case(&[(8, 0, true)] => dropped(DropReason::FragmentLength); "nothing, and more")]
#[test_case(&[(8, 0, false)] => dropped(DropReason::FragmentLength); "nothing at the end")]
#[test_case(&[(65_520, 16, false)] => dropped(DropReason::FragmentTooLong); "beyond the largest packet, RFC 8200 4.5")]
#[test_case(&[(16, 16, true), (24, 8, true)] => dropped(DropReason::FragmentOverlap); "an overlap at the end, RFC 5722")]
#[test_case(&[(24, 8, true), (16, 16, true)] => dropped(DropReason::FragmentOverlap); "an overlap at the front")]
#[test_case(&[(16, 16, true), (16, 8, true)] => dropped(DropReason::FragmentOverlap); "a shorter one at the same place")]
#[test_case(&[(16, 8, true), (16, 8, false)] => dropped(DropReason::FragmentOverlap); "the same bytes as an end")]
#[test_case(&[(16, 8, false), (16, 8, true)] => dropped(DropReason::FragmentOverlap); "the same bytes as no end")]
#[test_case(&[(16, 8, false), (32, 8, false)] => dropped(DropReason::FragmentOverlap); "two ends")]
#[test_case(&[(24, 8, false), (8, 8, false)] => dropped(DropReason::FragmentOverlap); "two ends, the earlier one second")]
#[test_case(&[(32, 8, true), (16, 8, false)] => dropped(DropReason::FragmentOverlap); "an end before others")]
#[test_case(&[(16, 8, false), (32, 8, true)] => dropped(DropReason::FragmentOverlap); "one behind the end")]
#[test_case(&[(16, 8, true), (24, 8, true), (32, 8, true), (40, 8, true), (48, 8, true)] => dropped(DropReason::FragmentCount); "too many")]
fn the_last_fragment(parts: &[(usize, usize, bool)]) -> Option<Outcome> {
    let both = [false, true].map(|six| {
        let mut bench = Bench::new(CFG);
        let outcomes = parts.iter().map(|&(offset, len, more)| bench.add(1, &piece(six, 1, 7, offset, len, more)));
        let last = outcomes.last().unwrap();
        if matches!(last, Outcome::Dropped(DropReason::FragmentOverlap | DropReason::FragmentCount)) {
            let rest = bench.add(2, &piece(six, 1, 7, 64, 8, true));
            assert_eq!(rest, Outcome::Dropped(DropReason::FragmentOverlap), "what follows is dropped with it");
            assert_eq!(bench.reassembly.usage(), (PARTIAL_BYTES, 1), "without its bytes");
        }
        last
    });
    let [four, six] = both;
    match (four, six) {
        (Outcome::Whole(four), Outcome::Whole(six)) => {
            assert_eq!((four.len(), six.len()), (41, 61));
            assert_eq!(four[20..], six[40..]);
            None
        }
        (four, six) => {
            assert_eq!(four, six);
            Some(four)
        }
    }
}

/// RFC 1858, RFC 7112.
#[test_case(17, 8 => Outcome::Kept; "all of a UDP header")]
#[test_case(6, 16 => Outcome::Dropped(DropReason::FragmentTiny); "not all of a TCP header")]
#[test_case(6, 24 => Outcome::Kept; "all of a TCP header")]
fn a_first_fragment(protocol: u8, len: usize) -> Outcome {
    let mut packet = piece(false, 1, 7, 0, len, true);
    packet[9] = protocol;
    mend(&mut packet);
    Bench::new(CFG).add(1, &packet)
}

#[test]
fn an_ipv4_packet_counts_its_header() {
    let mut bench = Bench::new(CFG);
    let longest = piece(false, 1, 7, 65_504, 11, false);
    assert_eq!(bench.add(1, &longest), Outcome::Kept);
    let longer = piece(false, 1, 8, 65_504, 12, false);
    assert_eq!(bench.add(1, &longer), Outcome::Dropped(DropReason::FragmentTooLong));
    assert_eq!(bench.add(1, &piece(true, 1, 8, 65_520, 15, false)), Outcome::Kept);
}

/// RFC 3168 §5.3.
#[test_case(Ecn::Ect0, Ecn::Ect0 => Some(Ecn::Ect0))]
#[test_case(Ecn::Ect0, Ecn::Ce => Some(Ecn::Ce))]
#[test_case(Ecn::Ce, Ecn::Ect1 => Some(Ecn::Ce))]
#[test_case(Ecn::NotEct, Ecn::NotEct => Some(Ecn::NotEct))]
#[test_case(Ecn::NotEct, Ecn::Ce => None; "a mark on a packet that is not capable")]
fn congestion_of(one: Ecn, two: Ecn) -> Option<Ecn> {
    let [four, six] = [false, true].map(|six| {
        let mut bench = Bench::new(CFG);
        bench.add(1, &with_ecn(piece(six, 1, 7, 0, 16, true), one));
        match bench.add(1, &with_ecn(piece(six, 1, 7, 16, 5, false), two)) {
            Outcome::Whole(packet) => Some(IpView::read(&packet).unwrap().ecn),
            outcome => {
                assert_eq!(outcome, Outcome::Dropped(DropReason::FragmentEcn));
                None
            }
        }
    });
    assert_eq!(four, six);
    four
}

#[test]
fn packets_differ_in_all_that_names_them() {
    let mut bench = Bench::new(ReassemblyConfig { packets_max: 9, ..CFG });
    for six in [false, true] {
        for (peer, id) in [(1, 7), (2, 7), (1, 8)] {
            assert_eq!(bench.add(1, &piece(six, peer, id, 0, 16, true)), Outcome::Kept);
        }
    }
    let mut icmp = piece(false, 1, 7, 0, 16, true);
    icmp[9] = 1;
    mend(&mut icmp);
    assert_eq!(bench.add(1, &icmp), Outcome::Kept, "another protocol of IPv4");
    assert_eq!(bench.reassembly.usage().1, 7);
    // IPv6 takes the protocol of the first fragment alone.
    let mut last = piece(true, 1, 7, 16, 5, false);
    last[40] = 58;
    let Outcome::Whole(whole) = bench.add(1, &last) else { panic!("it is complete") };
    assert_eq!(whole[6], 17);
}

#[test]
fn the_oldest_packet_gives_way_to_one_too_many() {
    let mut bench = Bench::new(CFG);
    for id in 0..4 {
        bench.add(1, &piece(false, 1, id, 0, 16, true));
    }
    assert_eq!((bench.reassembly.usage().1, bench.counters.reassembly_evicted), (3, 1));
    assert_eq!(bench.add(1, &piece(false, 1, 0, 16, 5, false)), Outcome::Kept, "the oldest has gone");
    assert!(matches!(bench.add(1, &piece(false, 1, 3, 16, 5, false)), Outcome::Whole(_)));
}

#[test]
fn the_oldest_packet_gives_way_to_bytes_too_many() {
    let mut bench = Bench::new(CFG);
    for id in 0..3 {
        bench.add(1, &piece(false, 1, id, 0, 2_800, true));
    }
    assert_eq!(bench.reassembly.usage().1, 3);
    bench.add(1, &piece(false, 1, 2, 2_800, 2_800, true));
    assert_eq!((bench.reassembly.usage().1, bench.counters.reassembly_evicted), (2, 1));
    // A packet that is larger than all memory ends itself.
    bench.add(1, &piece(false, 1, 2, 5_600, 2_800, true));
    let last = bench.add(1, &piece(false, 1, 2, 8_400, 2_800, true));
    assert_eq!((last, bench.reassembly.usage()), (Outcome::Dropped(DropReason::FragmentMemory), (0, 0)));
    assert_eq!(bench.reassembly.next_deadline(), None);
}

#[test]
fn packets_expire_in_the_order_of_their_first_fragments() {
    let mut bench = Bench::new(CFG);
    bench.add(1, &piece(false, 1, 1, 0, 16, true));
    bench.add(2, &piece(false, 1, 2, 0, 16, true));
    bench.add(9, &piece(false, 1, 1, 32, 16, true));
    assert_eq!(bench.reassembly.next_deadline(), Some(at(16)), "a later fragment buys no time");
    bench.reassembly.expire(at(16), &mut bench.counters);
    assert_eq!((bench.reassembly.usage().1, bench.reassembly.next_deadline()), (1, Some(at(17))));
    bench.reassembly.expire(at(17), &mut bench.counters);
    assert_eq!((bench.reassembly.usage(), bench.counters.reassembly_expired), ((0, 0), 2));
}

#[test]
fn a_spoiled_packet_is_counted_once() {
    let mut bench = Bench::new(CFG);
    for id in 0..2 {
        bench.add(1, &piece(false, 1, id, 8, 16, true));
        let spoils = bench.add(1, &piece(false, 1, id, 16, 16, true));
        assert_eq!(spoils, Outcome::Dropped(DropReason::FragmentOverlap));
    }
    for id in 2..5 {
        bench.add(2, &piece(false, 1, id, 0, 16, true));
    }
    assert_eq!((bench.reassembly.usage().1, bench.counters.reassembly_evicted), (3, 0));
    bench.add(2, &piece(false, 1, 5, 8, 16, true));
    bench.add(2, &piece(false, 1, 5, 16, 16, true));
    assert_eq!(bench.counters.reassembly_evicted, 1);
    bench.reassembly.expire(at(17), &mut bench.counters);
    assert_eq!((bench.reassembly.usage(), bench.counters.reassembly_expired), ((0, 0), 2));
}
