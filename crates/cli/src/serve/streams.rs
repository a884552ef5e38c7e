//! The services over the library's streams.

use super::counted::Counted;
use super::service::Service;
use super::web::{self, Folder};
use crate::failure::LinkError;
use crate::host::Host;
use crate::transfer::{SummaryFormat, print_summary};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// What is served, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    pub service: Service,
    /// For [`Service::Http`].
    pub web: Option<Folder>,
    pub address: SocketAddr,
    pub device: String,
    /// End after the first connection.
    pub once: bool,
    pub idle: Option<Duration>,
    pub format: SummaryFormat,
}

/// Serves one connection, or indefinitely.
///
/// # Errors
/// If nothing can listen at the address.
pub async fn run(host: Host, settings: Settings) -> Result<(), LinkError> {
    let cannot = |error: io::Error| LinkError::failed(format!("cannot listen at {}: {error}", settings.address));
    let listener = host.net.listen(settings.address).map_err(cannot)?;
    println!("READY {} {} on {}", settings.service.name(), settings.address, settings.device);
    let _ = io::stdout().flush();
    let settings = Rc::new(settings);
    loop {
        let place = host.place().await;
        let Ok((stream, _)) = listener.accept().await else {
            // The device's task has the reason.
            return std::future::pending().await;
        };
        let (ending, settings) = (host.clone(), settings.clone());
        let once = settings.once;
        let serving = async move { serve(stream, &ending, &settings).await };
        if once {
            serving.await;
            return Ok(());
        }
        host.spawn_to_end(place, serving);
    }
}

/// Serves a connection, and prints what it came to. What is idle for too long is reset, and what is left at the end.
async fn serve(stream: longhaul::TcpStream, host: &Host, settings: &Settings) {
    let mut stream = Counted::new(stream);
    let served = stream.clone();
    let service = async {
        match (&settings.web, settings.service) {
            (Some(folder), Service::Http) => web::serve(served, folder.clone(), host.ending()).await,
            (_, Service::Echo) => echo(served).await.is_ok(),
            (_, Service::Chargen) => chargen(served).await.is_ok(),
            (_, Service::Discard | Service::Http) => discard(served).await.is_ok(),
        }
    };
    let idle = async {
        match settings.idle {
            Some(limit) => stream.idle_for(limit).await,
            None => std::future::pending().await,
        }
    };
    let in_peace = tokio::select! {
        in_peace = service => in_peace,
        () = idle => false,
        () = host.cut() => false,
    };
    if in_peace {
        stream.close().await;
    } else {
        stream.abort();
    }
    if let Some(transfer) = stream.finish().await {
        print_summary(settings.format, "served", &transfer);
    }
}

async fn discard(mut stream: Counted) -> io::Result<()> {
    let mut buf = vec![0; CHUNK];
    while stream.read(&mut buf).await? > 0 {}
    Ok(())
}

async fn echo(mut stream: Counted) -> io::Result<()> {
    let mut buf = vec![0; CHUNK];
    loop {
        match stream.read(&mut buf).await? {
            0 => return Ok(()),
            len => stream.write_all(&buf[..len]).await?,
        }
    }
}

/// Lines of 72 of the 95 printable characters, each line beginning one further on (RFC 864), until the client closes. What it sends is
/// discarded.
async fn chargen(stream: Counted) -> io::Result<()> {
    let all: Vec<u8> =
        (0..95).flat_map(|from| (0..72).map(move |at| b' ' + (from + at) % 95).chain(*b"\r\n")).collect();
    let (mut read, mut write) = (stream.clone(), stream);
    let (mut at, mut buf) = (0, [0; 1 << 10]);
    loop {
        tokio::select! {
            biased;
            came = read.read(&mut buf) => if came? == 0 { return Ok(()) },
            written = write.write(&all[at..]) => at = (at + written?) % all.len(),
        }
    }
}
