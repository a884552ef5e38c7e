//! Stands for every address behind a TUN device, and connects each request to the same port of this machine. As root:
//! `cargo run --release -p longhaul --example transparent_proxy`, then `ip route add 198.51.100.0/24 dev lh-proxy` and, with a server
//! on port 8080, `curl http://198.51.100.7:8080/`.

use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use longhaul::{Incoming, TcpRequest, UdpFlow, Unreachable};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::net::{TcpStream, UdpSocket};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address: Cidr = "10.7.0.1/24".parse()?;
    let tun = Tun::create(&TunConfig { name: "lh-proxy".into(), address, mtu: 1_500, offload: Offload::On })?;
    let builder = longhaul::Stack::builder().any_destination(true).memory(64 << 20);
    let (net, packets, driver) = builder.device(tun.caps()).build()?;
    tokio::spawn(driver);
    let device = tokio::spawn(longhaul::tun::run(tun, packets));
    println!("every address behind lh-proxy is this machine");
    while let Some(incoming) = net.incoming().await {
        match incoming {
            Incoming::Tcp(request) => drop(tokio::spawn(connect(request))),
            Incoming::Udp(flow) => drop(tokio::spawn(relay(flow))),
            _ => {}
        }
    }
    Ok(device.await??)
}

/// Where a destination is here.
fn here(destination: SocketAddr) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, destination.port()).into()
}

/// Connects first, and answers the peer after that.
async fn connect(request: TcpRequest) -> io::Result<()> {
    let to = here(request.destination());
    match tokio::time::timeout(Duration::from_secs(20), TcpStream::connect(to)).await {
        Ok(Ok(mut upstream)) => {
            let mut stream = request.accept()?;
            tokio::io::copy_bidirectional(&mut stream, &mut upstream).await?;
        }
        Ok(Err(failed)) if failed.kind() == ErrorKind::ConnectionRefused => request.refuse(),
        _ => request.unreachable(Unreachable::Host),
    }
    Ok(())
}

/// Relays datagrams both ways until the flow has been idle for a minute.
async fn relay(flow: UdpFlow) -> io::Result<()> {
    let upstream = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    upstream.connect(here(flow.local_addr())).await?;
    let (mut there, mut back) = (vec![0; 65_535], vec![0; 65_535]);
    loop {
        tokio::select! {
            len = flow.recv(&mut there) => drop(upstream.send(&there[..len?]).await?),
            len = upstream.recv(&mut back) => drop(flow.send(&back[..len?]).await?),
        }
    }
}
