//! Bytes both ways between one of our streams and a socket of the kernel. The end of one direction is the end of the other side's, a reset
//! on one side a reset on the other; so is everything that cuts the relay off: the idle limit, and dropping it.

use crate::activity::Activity;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes that are read at once, each way.
const CHUNK: usize = 32 << 10;

/// Why a relay ended without the end of both directions.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// One side has failed.
    #[error("{0}")]
    Failed(#[from] io::Error),
    /// No byte came for the time of the idle limit.
    #[error("no byte either way for {} s", .0.as_secs_f64())]
    Idle(Duration),
}

/// Carries bytes until both directions have ended.
///
/// # Errors
/// Why it was cut off. Both sides were reset then.
pub async fn relay(mut ours: longhaul::TcpStream, mut kernel: TcpStream, idle: Option<Duration>) -> Result<(), Broken> {
    // Until the end in peace, dropping the streams resets them.
    ours.set_linger(Some(Duration::ZERO));
    kernel.set_zero_linger()?;
    // Small segments leave as they come: the relay must not delay what the applications did not.
    kernel.set_nodelay(true)?;
    let _ = ours.set_nodelay(true);
    let active = Activity::default();
    {
        let ((our_read, our_write), (their_read, their_write)) = (ours.split(), kernel.split());
        let both = async {
            tokio::try_join!(carry(our_read, their_write, &active), carry(their_read, our_write, &active)).map(|_| ())
        };
        match idle {
            Some(limit) => tokio::select! {
                ended = both => ended?,
                () = active.idle_for(limit) => return Err(Broken::Idle(limit)),
            },
            None => both.await?,
        }
    }
    ours.set_linger(None);
    // The default: the kernel closes in the background.
    socket_closes_in_background(&kernel)?;
    Ok(())
}

/// One direction.
async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, active: &Activity) -> io::Result<()> {
    let mut buf = vec![0; CHUNK];
    loop {
        let len = from.read(&mut buf).await?;
        active.touch();
        if len == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buf[..len]).await?;
        active.touch();
    }
}

fn socket_closes_in_background(socket: &TcpStream) -> io::Result<()> {
    let linger = nix::libc::linger { l_onoff: 0, l_linger: 0 };
    Ok(nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::Linger, &linger)?)
}
