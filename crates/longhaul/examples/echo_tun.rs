//! Echoes whatever comes to port 7 of 10.7.0.1, over a TUN device. As root: `cargo run --release --example echo_tun`, and in another
//! terminal `nc 10.7.0.1 7`.

use longhaul::tun::{Offload, Tun, TunConfig};
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let address: longhaul::tun::Cidr = "10.7.0.1/24".parse()?;
    let tun = Tun::create(&TunConfig { name: "lh-echo".into(), address, mtu: 1_500, offload: Offload::On })?;
    let (net, packets, driver) =
        longhaul::Stack::builder().addresses([address.address()]).device(tun.caps()).build()?;
    tokio::spawn(driver);
    tokio::spawn(longhaul::tun::run(tun, packets));
    let listener = net.listen("0.0.0.0:7".parse()?)?;
    println!("listening on {address}, port 7");
    loop {
        let (stream, peer) = listener.accept().await?;
        println!("{peer} is connected");
        tokio::spawn(async move {
            let (mut read, mut write) = stream.into_split();
            match tokio::io::copy(&mut read, &mut write).await {
                Ok(bytes) => println!("{peer} sent {bytes} bytes"),
                Err(failed) => println!("{peer}: {failed}"),
            }
        });
    }
}
