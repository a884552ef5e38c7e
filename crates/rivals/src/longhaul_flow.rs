//! longhaul's end of a flow: the public library over a tokio runtime of one thread.

use crate::case::{CALL, Case, MTU, OURS, PORT, THEIRS};
use crate::kernel::Kernel;
use crate::measure::{Plan, Sample, Watch, Whose};
use longhaul::tun::{Cidr, Offload, Tun, TunConfig};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Runs one flow.
pub fn run(case: Case, profile: String, plan: Plan, mut kernel: Kernel) -> Sample {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let address: Cidr = format!("{}/24", Ipv4Addr::from(OURS)).parse().expect("an address");
        let offload = if case.offload { Offload::On } else { Offload::Off };
        let config = TunConfig { name: "lh0".into(), address, mtu: MTU, offload };
        let tun = Tun::create(&config).unwrap_or_else(|error| panic!("{error}"));
        let builder = longhaul::Stack::builder().addresses([address.address()]).device(tun.caps());
        let built = builder.profile(profile).build();
        let (net, packets, driver) = built.unwrap_or_else(|error| panic!("--profile: {error}"));
        tokio::spawn(driver);
        tokio::spawn(longhaul::tun::run(tun, packets));
        kernel.listen(case);
        let to = SocketAddr::new(Ipv4Addr::from(THEIRS).into(), PORT);
        let mut stream = net.connect(to).await.expect("the kernel listens");
        let mut watch = Watch::new(case, plan, kernel, Whose::Thread);
        let (mut buf, mut read) = (vec![7; CALL], 0);
        loop {
            if case.sends {
                let _written = stream.write(&buf).await.expect("the flow goes on");
            } else {
                read += stream.read(&mut buf).await.expect("the flow goes on") as u64;
            }
            if let Some(sample) = watch.look(read) {
                return sample;
            }
        }
    })
}
