//! HTTP by axum over a stack behind a TUN device. As root: `cargo run --release -p longhaul --example http_axum`, then
//! `curl http://10.7.0.1/`.

use axum::Router;
use axum::routing::get;
use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use longhaul::{TcpListener, TcpStream};
use std::error::Error;
use std::net::SocketAddr;

/// What axum serves from.
struct Listener(TcpListener);

impl axum::serve::Listener for Listener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        match self.0.accept().await {
            Ok(accepted) => accepted,
            // The stack has ended, and no connection will come.
            Err(_) => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.0.local_addr())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address: Cidr = "10.7.0.1/24".parse()?;
    let tun = Tun::create(&TunConfig { name: "lh-http".into(), address, mtu: 1_500, offload: Offload::On })?;
    let (net, packets, driver) =
        longhaul::Stack::builder().addresses([address.address()]).device(tun.caps()).build()?;
    tokio::spawn(driver);
    tokio::spawn(longhaul::tun::run(tun, packets));
    let app = Router::new().route("/", get(|| async { "from user space\n" }));
    println!("http://{}/", address.address());
    axum::serve(Listener(net.listen("0.0.0.0:80".parse()?)?), app).await?;
    Ok(())
}
