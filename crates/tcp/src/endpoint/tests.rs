//! Scripted exchanges with an endpoint, by topic.

mod account;
mod ack_clock;
mod acks;
mod bursts; // variant: chunks
mod clauses;
mod closing;
mod cost;
mod ecn;
mod fastopen;
mod give_up;
mod guard;
mod icmp;
mod mtu_search;
mod opening;
mod path_mtu;
mod pauses;
mod probes;
mod reassembly;
mod recovery;
mod reduction;
mod refused;
mod robustness;
mod room;
mod samples;
mod undo;
mod urgent;
mod windows;
