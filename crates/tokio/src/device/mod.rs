//! What carries packets between a stack and the world: adapters for what programs have already.

mod io;
mod pair;
mod stream;
#[cfg(unix)]
mod watch;

pub use io::{PacketHeader, PacketIo, over_io};
pub use pair::join;
pub use stream::PacketStream;
#[cfg(unix)]
pub use watch::watch;
