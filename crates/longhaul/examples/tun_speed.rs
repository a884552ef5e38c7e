//! How fast one connection with the kernel is over a TUN device, in a network namespace of its own, as root:
//! `cargo run --release -p longhaul --example tun_speed -- [tx|rx] [on|off] [GB]`. Prints Gbit/s and the user time of our side's thread.

use longhaul::tun::{Offload, Tun, TunConfig};
use std::io::{Read, Write};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default: &str| words.get(at).cloned().unwrap_or(default.to_owned());
    let (direction, offload, gb) = (word(0, "tx"), word(1, "on"), word(2, "4").parse::<u64>().unwrap());
    let bytes = gb * 1_000_000_000;
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a namespace of its own: needs root");
    let (ready, go) = std::sync::mpsc::channel();
    let sends = direction == "tx";
    let kernel = std::thread::spawn(move || {
        go.recv().unwrap();
        let listener = std::net::TcpListener::bind("10.7.0.2:9").unwrap();
        go.recv().ok();
        let (mut stream, _) = listener.accept().unwrap();
        let mut buf = vec![7; 1 << 20];
        let mut moved = 0;
        if sends {
            loop {
                let len = stream.read(&mut buf).unwrap();
                if len == 0 {
                    break;
                }
                moved += len as u64;
            }
        } else {
            while moved < bytes {
                stream.write_all(&buf).unwrap();
                moved += buf.len() as u64;
            }
        }
        moved
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let address: longhaul::tun::Cidr = "10.7.0.1/24".parse().unwrap();
        let offload = if offload == "on" { Offload::On } else { Offload::Off };
        let tun = Tun::create(&TunConfig { name: "lh-speed".into(), address, mtu: 1_500, offload }).unwrap();
        ready.send(()).unwrap();
        let (net, packets, driver) =
            longhaul::Stack::builder().addresses([address.address()]).device(tun.caps()).build().unwrap();
        tokio::spawn(driver);
        tokio::spawn(longhaul::tun::run(tun, packets));
        ready.send(()).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let mut stream = net.connect("10.7.0.2:9".parse().unwrap()).await.unwrap();
        let (from, cpu) = (Instant::now(), user_time());
        let mut buf = vec![7; 1 << 18];
        let mut moved = 0_u64;
        if sends {
            while moved < bytes {
                moved += stream.write(&buf).await.unwrap() as u64;
            }
            stream.shutdown().await.unwrap();
            stream.closed().await.unwrap();
        } else {
            loop {
                let len = stream.read(&mut buf).await.unwrap();
                if len == 0 {
                    break;
                }
                moved += len as u64;
            }
        }
        let (took, cpu) = (from.elapsed().as_secs_f64(), user_time() - cpu);
        let gbit = moved as f64 * 8e-9;
        println!("{direction} offload {offload:?}: {:.2} Gbit/s, {:.3} s of user time a Gbit", gbit / took, cpu / gbit);
    });
    drop(ready);
    kernel.join().unwrap();
}

fn user_time() -> f64 {
    let time = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_THREAD).unwrap().user_time();
    time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6
}
