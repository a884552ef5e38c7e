//! A TCP for long, lossy paths in user space: SACK, RACK-TLP, PRR, HyStart++, CUBIC, undo, windows that tune themselves; behind
//! tokio's `AsyncRead` and `AsyncWrite`, over packets that come from anywhere.
//!
//! ```no_run
//! # #[cfg(all(feature = "tun", target_os = "linux"))]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use longhaul::tun::{Offload, Tun, TunConfig};
//! use tokio::io::AsyncWriteExt;
//!
//! // The kernel gets 10.7.0.2 of the device's network, and the stack 10.7.0.1.
//! let address = "10.7.0.1/24".parse()?;
//! let tun = Tun::create(&TunConfig { name: "lh0".into(), address, mtu: 1_500, offload: Offload::On })?;
//! let (net, packets, driver) = longhaul::Stack::builder().addresses([address.address()]).device(tun.caps()).build()?;
//! tokio::spawn(driver);
//! tokio::spawn(longhaul::tun::run(tun, packets));
//! let mut stream = net.connect("10.7.0.2:80".parse()?).await?;
//! stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
//! # Ok(())
//! # }
//! ```
//!
//! Without the feature `tokio` the crate is the core alone ([`sans_io`]): a pure function of state, time and packets.
#![forbid(unsafe_code)]

#[cfg(all(feature = "tun", target_os = "linux"))]
mod outlet;
#[cfg(all(feature = "tun", target_os = "linux"))]
pub mod tun;

#[cfg(feature = "tokio")]
pub use longhaul_tokio::*;

/// The guide's pages, whose programs are compiled.
#[cfg(all(doctest, feature = "tun", target_os = "linux"))]
mod guide {
    #[doc = include_str!("../../../docs/guide/library.md")]
    mod library {}
    #[doc = include_str!("../../../docs/guide/from-smoltcp.md")]
    mod from_smoltcp {}
    #[doc = include_str!("../../../docs/guide/from-ipstack.md")]
    mod from_ipstack {}
}

/// The core without tokio: the stack, its packet pipe and its profiles. The caller brings the time and moves the packets.
pub mod sans_io {
    pub use base;
    pub use pipe;
    pub use profiles;
    pub use tcp;
    pub use trace;
    #[cfg(feature = "trace")]
    pub use trace_io;
}
