//! Two stacks and a path between them.

use longhaul_tokio::virtual_time::{PathSpec, World};
use longhaul_tokio::{Duration, Net, Stack, StackBuilder};
use std::net::SocketAddr;

/// The client's address and the server's.
pub const CLIENT: &str = "10.0.0.1";
pub const SERVER: &str = "10.0.0.2";

/// A world with a client and a server, half of `rtt` apart.
pub struct Two {
    pub world: World,
    pub client: Net,
    pub server: Net,
}

impl Two {
    pub fn new(rtt: Duration) -> Self {
        Self::built(rtt, |builder| builder, |builder| builder)
    }

    pub fn built(
        rtt: Duration,
        client: impl FnOnce(StackBuilder) -> StackBuilder,
        server: impl FnOnce(StackBuilder) -> StackBuilder,
    ) -> Self {
        let path = PathSpec::ideal(rtt / 2);
        Self::over([path.clone(), path], 1, client, server)
    }

    pub fn over(
        paths: [PathSpec; 2],
        seed: u64,
        client: impl FnOnce(StackBuilder) -> StackBuilder,
        server: impl FnOnce(StackBuilder) -> StackBuilder,
    ) -> Self {
        let mut world = World::new(seed);
        let builder =
            |address: &str| Stack::builder().addresses([address.parse().unwrap()]).seed(seed).clock(world.clock());
        let (client, one, first) = client(builder(CLIENT)).build().unwrap();
        let (server, other, second) = server(builder(SERVER)).build().unwrap();
        world.link(one, other, paths);
        world.spawn(first);
        world.spawn(second);
        Self { world, client, server }
    }
}

/// The server's address with a port.
pub fn server(port: u16) -> SocketAddr {
    SocketAddr::new(SERVER.parse().unwrap(), port)
}

/// Every address, with a port.
pub fn any(port: u16) -> SocketAddr {
    SocketAddr::new([0, 0, 0, 0].into(), port)
}

pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
