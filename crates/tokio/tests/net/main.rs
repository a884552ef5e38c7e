//! A stack as a program uses it, in virtual time: exact instants, and the same bytes from the same seed.

mod adapters;
mod driver;
mod half_close;
mod late;
mod lifetime;
mod observed;
mod remembered;
mod requests;
mod runtime;
mod shards;
mod streams;
mod two;
mod udp;
