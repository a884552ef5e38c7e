//! Any meaning that a header can have, for the property tests.

use base::{SeqNum, SeqRange};
use core::net::IpAddr;
use longhaul_wire::{
    Cookie, Ecn, FastOpen, FastOpenKind, Flags, Fragmentation, IpRepr, MAX_HEADER, Options, SackBlocks, TcpRepr,
    Timestamps,
};
use proptest::prelude::*;

/// Any IP header of either version.
pub fn ip() -> impl Strategy<Value = IpRepr> {
    let addresses = prop_oneof![
        any::<([u8; 4], [u8; 4])>().prop_map(|(src, dst)| (IpAddr::from(src), IpAddr::from(dst))),
        any::<([u8; 16], [u8; 16])>().prop_map(|(src, dst)| (IpAddr::from(src), IpAddr::from(dst))),
    ];
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]);
    (addresses, any::<u8>(), 0u8..64, ecn, any::<Option<u16>>()).prop_map(|((src, dst), ttl, dscp, ecn, id)| {
        let id = id.filter(|_| src.is_ipv4());
        let fragmentation = id.map_or(Fragmentation::Forbidden, |id| Fragmentation::Allowed { id });
        IpRepr { src, dst, ttl, dscp, ecn, fragmentation }
    })
}

/// Any combination of options.
pub fn options() -> impl Strategy<Value = Options> {
    let stamps = any::<(u32, u32)>().prop_map(|(tsval, tsecr)| Timestamps { tsval, tsecr });
    let sack = prop::collection::vec(any::<(u32, u32)>(), 0..=4).prop_map(|edges| {
        let mut blocks = SackBlocks::NONE;
        for (start, end) in edges {
            blocks.push(SeqRange::new(SeqNum(start), SeqNum(end)));
        }
        blocks
    });
    let cookie = prop::collection::vec(any::<u8>(), 0..=16).prop_map(|bytes| Cookie::new(&bytes));
    let kind = prop_oneof![Just(FastOpenKind::Assigned), Just(FastOpenKind::Experimental)];
    let fast_open = prop::option::of((kind, cookie).prop_map(|(kind, cookie)| FastOpen { kind, cookie }));
    (any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>(), prop::option::of(stamps), fast_open, sack).prop_map(
        |(mss, window_scale, sack_permitted, timestamps, fast_open, sack)| Options {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            fast_open,
            sack,
        },
    )
}

/// Any TCP header.
pub fn tcp() -> impl Strategy<Value = TcpRepr> {
    let numbers = (1u16.., 1u16.., any::<u32>(), any::<Option<u32>>());
    (numbers, any::<u8>(), any::<u16>(), any::<u16>(), options()).prop_map(
        |((src_port, dst_port, seq, ack), bits, window, urgent, options)| TcpRepr {
            src_port,
            dst_port,
            seq: SeqNum(seq),
            ack: ack.map(SeqNum),
            flags: Flags::from_bits(bits),
            window,
            urgent,
            options,
        },
    )
}

/// The canonical header as a vector.
pub fn emitted(ip: &IpRepr, tcp: &TcpRepr, payload_len: u32) -> Vec<u8> {
    let mut out = [0xee; MAX_HEADER];
    let len = longhaul_wire::emit(ip, tcp, payload_len, &mut out);
    out[..len].to_vec()
}

/// What of `tcp` the canonical encoding holds: SACK blocks that do not fit beside the other options are left out.
pub fn that_fits(mut tcp: TcpRepr) -> TcpRepr {
    let o = &tcp.options;
    let words = match (o.timestamps, o.sack_permitted) {
        (Some(_), _) => 3,
        (None, true) => 1,
        (None, false) => 0,
    } + usize::from(o.mss.is_some())
        + usize::from(o.window_scale.is_some())
        + o.fast_open.map_or(0, |option| {
            let head = if option.kind == FastOpenKind::Assigned { 2 } else { 4 };
            (head + option.cookie.map_or(0, |cookie| cookie.as_slice().len())).div_ceil(4)
        });
    tcp.options.sack = o.sack.truncated(9usize.saturating_sub(words) / 2);
    tcp
}
