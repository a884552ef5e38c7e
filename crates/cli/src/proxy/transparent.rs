//! The proxy that its clients do not know: a stack that stands for every destination behind the device. A kernel's socket connects to
//! the destination first; its success or its error is the answer to the client's SYN.

use super::relay::relay;
use super::rules::Rules;
use crate::failure::LinkError;
use crate::host::Host;
use longhaul::{Incoming, TcpRequest, Unreachable};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// Connections of the proxy's own that are being opened: where from, by port, and where to.
type Opening = Rc<RefCell<BTreeSet<(u16, SocketAddr)>>>;

/// Decides requests indefinitely.
///
/// # Errors
/// If `out` is no device.
pub async fn run(host: Host, rules: Rules, device: &str, out: Option<&str>) -> Result<(), LinkError> {
    if let Some(name) = out {
        let socket = TcpSocket::new_v4().and_then(|socket| socket.bind_device(Some(name.as_bytes())));
        socket.map_err(|error| LinkError::usage(format!("--out {name}: {error}; `ip link` lists the devices")))?;
    }
    println!("READY transparent proxy on {device}");
    let _ = io::stdout().flush();
    let (rules, opening) = (Rc::new(rules), Opening::default());
    let out: Option<Rc<str>> = out.map(Rc::from);
    loop {
        let place = host.place().await;
        match host.net.incoming().await {
            Some(Incoming::Tcp(request)) => {
                let (rules, opening, out, ending) = (rules.clone(), opening.clone(), out.clone(), host.clone());
                host.spawn(place, async move {
                    tokio::select! {
                        connected = connect(&request, &rules, &opening, out.as_deref()) => {
                            decide(request, connected, &rules).await;
                        }
                        // What is undecided is forgotten.
                        () = ending.ending() => {}
                    }
                });
            }
            // Whatever else the kernel sends into the device, router solicitations among it, is not TCP's.
            Some(_) => {}
            // The device's task has the reason.
            None => std::future::pending().await,
        }
    }
}

/// Connects to where a client wants to.
async fn connect(request: &TcpRequest, rules: &Rules, opening: &Opening, out: Option<&str>) -> io::Result<TcpStream> {
    let to = request.destination();
    if !rules.allow(to.port()) {
        return Err(ErrorKind::PermissionDenied.into());
    }
    if opening.borrow().contains(&(request.source().port(), to)) {
        anstream::eprintln!(
            "{to}: the kernel routes the proxy's own connection back into the device; name another one with --out"
        );
        return Err(ErrorKind::NetworkUnreachable.into());
    }
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(name) = out {
        socket.bind_device(Some(name.as_bytes()))?;
    }
    // The port is known before the SYN leaves.
    let any = if to.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (Ipv6Addr::UNSPECIFIED, 0).into() };
    socket.bind(any)?;
    let mark = (socket.local_addr()?.port(), to);
    opening.borrow_mut().insert(mark);
    let connected = timeout(rules.patience, socket.connect(to)).await;
    opening.borrow_mut().remove(&mark);
    connected.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Answers a request as the destination has answered, and carries bytes if that was a success.
async fn decide(request: TcpRequest, connected: io::Result<TcpStream>, rules: &Rules) {
    let to = request.destination();
    let error = match connected {
        Ok(kernel) => {
            let accepted = request.accept();
            match accepted {
                Ok(ours) => {
                    let _ = relay(ours, kernel, rules.idle).await;
                }
                // The client's patience was over, or the stack's memory is: the destination is not to wait.
                Err(_) => drop(kernel.set_zero_linger()),
            }
            return;
        }
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => request.refuse(),
        ErrorKind::NetworkUnreachable => request.unreachable(Unreachable::Network),
        ErrorKind::HostUnreachable | ErrorKind::TimedOut => request.unreachable(Unreachable::Host),
        ErrorKind::PermissionDenied => request.unreachable(Unreachable::HostProhibited),
        // Descriptors or ports may be free when the client asks again.
        _ => {
            anstream::eprintln!("{to}: cannot connect for {}: {error}; it will ask again", request.source());
            request.ignore();
        }
    }
}
