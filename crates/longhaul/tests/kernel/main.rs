//! The library's streams and the kernel's sockets, over a TUN device in a network namespace of its own. Needs root and /dev/net/tun; the
//! tests fail without them and say so.

mod echo;
mod examples;
mod http;
mod many;
mod namespace;
mod shards;
mod transparent;
mod udp;
