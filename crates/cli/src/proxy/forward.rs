//! The proxy that its clients know: they connect to a port of the kernel and name a destination, to which our TCP connects.

use super::greeting::{self, Credentials, Greeting, Step};
use super::relay::relay;
use super::rules::Rules;
use super::target::{Host as TargetHost, Protocol, Target, Unconnected};
use crate::device::DeviceArgs;
use crate::failure::LinkError;
use crate::host::Host;
use longhaul::{Config, ValidConfig};
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::time::Duration;
use tcp::config::OpeningErrors;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// A client has this long to say what it wants.
const GREETING: Duration = Duration::from_secs(10);
/// An exhausted system gets this long to recover before the next attempt to accept.
const RECOVERY: Duration = Duration::from_millis(100);
/// After a refusal, what the client still sends is read for as long as this and up to so many bytes: unread bytes would make the kernel
/// reset the connection, and the client might not see why.
const LAST_WORDS: Duration = Duration::from_secs(1);
const LAST_BYTES: u64 = 64 << 10;

/// An address has this long before the destination's next one is tried beside it (RFC 8305 §5): a client need not wait for the
/// end of its patience behind one of an IP version that this host's network does not carry.
const ATTEMPT: Duration = Duration::from_millis(250);

/// What all connections share.
struct Proxy {
    host: Host,
    rules: Rules,
    credentials: Option<Credentials>,
    /// The stack's, one of an IP version.
    addresses: Vec<IpAddr>,
    config: ValidConfig,
}

/// What the command line says of clients and of our TCP.
pub struct Clients<'a> {
    pub device: &'a DeviceArgs,
    pub listen: SocketAddr,
    pub credentials: Option<Credentials>,
    /// Addresses of our TCP, one of an IP version.
    pub addresses: Vec<IpAddr>,
}

/// Accepts clients indefinitely.
///
/// # Errors
/// If nothing can listen at `listen`.
pub async fn run(host: Host, rules: Rules, clients: Clients<'_>) -> Result<(), LinkError> {
    let Clients { device, listen, credentials, addresses } = clients;
    let cannot = |error: io::Error| {
        LinkError::usage(format!("--listen {listen}: cannot listen there: {error}; name a free port of this host"))
    };
    let listener = TcpListener::bind(listen).await.map_err(cannot)?;
    for address in &addresses {
        if let Some(remedy) = device.does_not_forward(*address) {
            anstream::eprintln!(
                "warning: this host does not forward packets of {address}, so they reach this host alone; allow it with `{remedy}`"
            );
        }
    }
    println!("READY proxy {} on {}", listener.local_addr().map_err(cannot)?, device.name());
    let _ = io::stdout().flush();
    let config = opening(&host.net.config())?;
    let proxy = Rc::new(Proxy { host: host.clone(), rules, credentials, addresses, config });
    loop {
        let place = host.place().await;
        match listener.accept().await {
            Ok((client, _)) => {
                let proxy = proxy.clone();
                host.spawn(place, async move { proxy.serve(client).await });
            }
            // A client that left, or a system without descriptors: later ones may fare better.
            Err(error) => {
                anstream::eprintln!("cannot accept a client: {error}");
                sleep(RECOVERY).await;
            }
        }
    }
}

/// The profile, with any report of an unreachable destination as the end of an attempt (RFC 5461 §4.1): the client gets its answer
/// at once, and another address its turn.
fn opening(config: &ValidConfig) -> Result<ValidConfig, LinkError> {
    let mut config = Config::clone(config);
    config.icmp.opening = OpeningErrors::Any;
    config.validate().map_err(|errors| LinkError::failed(format!("the profile: {errors:?}")))
}

impl Proxy {
    /// Serves one client to its end. What it did wrong is its own affair and not reported here.
    async fn serve(&self, mut client: TcpStream) {
        let mut greeting = Greeting::new(self.credentials.clone());
        let greeted = tokio::select! {
            greeted = timeout(GREETING, greet(&mut client, &mut greeting)) => greeted,
            () = self.host.ending() => return,
        };
        let Ok(Ok((protocol, target, rest))) = greeted else { return };
        let connected = timeout(self.rules.patience, self.connect(&target)).await;
        match connected.unwrap_or(Err(Unconnected::TimedOut)) {
            Ok(mut stream) => {
                stream.set_linger(Some(Duration::ZERO));
                let begun = async {
                    client.write_all(&greeting::connected(protocol, stream.local_addr())).await?;
                    stream.write_all(&rest).await
                };
                if begun.await.is_ok() {
                    let _ = relay(stream, client, self.rules.idle).await;
                }
            }
            Err(why) => part_with(&mut client, &greeting::unconnected(protocol, why)).await,
        }
    }

    /// Connects to the one of the destination's addresses that answers first.
    async fn connect(&self, target: &Target) -> Result<longhaul::TcpStream, Unconnected> {
        if !self.rules.allow(target.port) {
            return Err(Unconnected::Forbidden);
        }
        let addresses: Vec<SocketAddr> = match &target.host {
            TargetHost::Address(address) => vec![SocketAddr::new(*address, target.port)],
            TargetHost::Name(name) => {
                let found = tokio::net::lookup_host((name.as_str(), target.port)).await;
                found.map_err(|_| Unconnected::UnknownName)?.collect()
            }
        };
        let mut last = match target.host {
            TargetHost::Address(_) => Unconnected::NetworkUnreachable,
            TargetHost::Name(_) => Unconnected::UnknownName,
        };
        let is_ours = |to: &SocketAddr| self.addresses.iter().any(|ours| ours.is_ipv4() == to.is_ipv4());
        let mut waiting = addresses.into_iter().filter(is_ours);
        let mut attempts = JoinSet::new();
        let mut begin = |attempts: &mut JoinSet<_>| {
            let Some(to) = waiting.next() else { return false };
            let (net, config) = (self.host.net.clone(), self.config.clone());
            attempts.spawn_local(async move { net.connect_with(None, to, &config).await });
            true
        };
        let mut more = begin(&mut attempts);
        while more || !attempts.is_empty() {
            tokio::select! {
                Some(ended) = attempts.join_next() => match ended {
                    Ok(Ok(stream)) => return Ok(stream),
                    Ok(Err(error)) => last = Unconnected::from(&error),
                    Err(_) => last = Unconnected::Failed,
                },
                () = sleep(ATTEMPT), if more => {}
            }
            more = more && begin(&mut attempts);
        }
        Err(last)
    }
}

/// Speaks with a client until its destination is known.
async fn greet(client: &mut TcpStream, greeting: &mut Greeting) -> io::Result<(Protocol, Target, Vec<u8>)> {
    let mut buf = [0; 1 << 10];
    loop {
        match greeting.poll() {
            Step::More => {
                let len = client.read(&mut buf).await?;
                if len == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                greeting.handle_bytes(&buf[..len]);
            }
            Step::Send(bytes) => client.write_all(&bytes).await?,
            Step::Connect(protocol, target, rest) => return Ok((protocol, target, rest)),
            Step::Refuse(bytes, why) => {
                part_with(client, &bytes).await;
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
    }
}

/// Sends the last bytes and reads until the client closes as well.
async fn part_with(client: &mut TcpStream, bytes: &[u8]) {
    let parting = async {
        client.write_all(bytes).await?;
        client.shutdown().await?;
        tokio::io::copy(&mut client.take(LAST_BYTES), &mut tokio::io::sink()).await
    };
    let _ = timeout(LAST_WORDS, parting).await;
}
