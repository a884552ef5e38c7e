//! The crate as a program sees it. Packets are made, and those that leave are judged, by an independent library.

mod flows;
mod fragments;
mod hostile;
mod icmp;
mod support;
mod udp;
