//! Total parsers and exact emitters for IPv4, IPv6 and TCP headers, and for the ICMP errors that concern TCP; UDP
//! datagrams, echoes and fragments beside them.
//!
//! *View* and *meaning* are separate: [`split`] and [`Header`] accept any bytes and return a meaning or a named reason, never a
//! panic; [`emit`] converts a meaning ([`IpRepr`], [`TcpRepr`]) into the one canonical encoding.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic, clippy::disallowed_methods, clippy::disallowed_types)]

pub mod checksum;
mod fragment;
mod header;
pub mod icmp;
mod in_place;
mod ip;
mod ipv4;
mod ipv6;
mod malformed;
mod merge;
mod packet;
mod parts;
mod sum;
pub mod tcp;
pub mod udp;
mod view;
mod words;

pub use fragment::put_together;
pub use header::Header;
pub use icmp::{IcmpKind, IcmpMessage, IcmpNotice, UdpNotice, Unreachable};
pub use in_place::CutInPlace;
pub use ip::{Ecn, Fragmentation, IpRepr};
pub use malformed::Malformed;
pub use merge::Merge;
pub use packet::{MAX_HEADER, Split, emit, parse, split};
pub use parts::{Cuts, Parts, Transport};
pub use tcp::{Cookie, FastOpen, FastOpenKind, Flags, Options, SackBlocks, TcpRepr, Timestamps};
pub use view::{Carries, Fragment, IpView, is_unicast};
