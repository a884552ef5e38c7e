//! `longhaul proxy`: programs that speak SOCKS version 5 or CONNECT of HTTP get connections of our TCP, or, the other way round, the
//! kernel's programs connect to anywhere behind the device and get connections of the kernel's.

mod forward;
mod greeting;
mod relay;
mod rules;
mod target;
mod transparent;

use crate::device::DeviceArgs;
use crate::failure::LinkError;
use crate::host::{Ended, Host, HostArgs, Requests, Wanted};
use crate::tracer::{self, OurEnd, Subject};
use base::Duration;
use clap::Args;
use forward::Clients;
use greeting::Credentials;
use net::Cidr;
use rules::Rules;
use std::net::{IpAddr, SocketAddr};

/// Arguments of `longhaul proxy`.
#[derive(Args, Clone, Debug)]
pub struct ProxyArgs {
    #[command(flatten)]
    device: DeviceArgs,
    /// Where clients of the proxy connect to, with SOCKS 5 or CONNECT of HTTP.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:1080", conflicts_with = "transparent")]
    listen: SocketAddr,
    /// User name and password that clients have to give.
    #[arg(long, value_name = "NAME:PASSWORD", value_parser = Credentials::parse, conflicts_with = "transparent")]
    user: Option<Credentials>,
    /// Second address of longhaul's own TCP, with its prefix and of the other IP version: destinations of both are reached.
    #[arg(long, value_name = "ADDRESS/PREFIX")]
    second_addr: Option<Cidr>,
    /// The only ports to which clients may connect [default: all].
    #[arg(long, value_name = "PORT,…", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    ports: Vec<u16>,
    /// Stand for every destination behind the device: what is routed into it is connected on by the kernel.
    #[arg(long)]
    transparent: bool,
    /// The device through which `--transparent` connects on, where the routes lead back into the TUN device.
    #[arg(long, value_name = "NAME", requires = "transparent")]
    out: Option<String>,
    /// Clients of `--transparent` that may wait for their destination's answer without an answer of their own. Further ones are
    /// ignored, and ask again.
    #[arg(long, value_name = "N", default_value_t = 1_024, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    #[arg(requires = "transparent")]
    undecided: u32,
    /// Instead of ignoring further ones, connect so many before their destination has answered; one whose destination does not is reset.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=60_000))]
    #[arg(requires = "transparent")]
    late_requests: u32,
    /// How long a connection may take to open.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = profiles::units::duration)]
    patience: Duration,
    #[command(flatten)]
    host: HostArgs,
}

impl ProxyArgs {
    /// Returns the addresses of our TCP: one, or one of each IP version.
    fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        [Some(self.device.address()), self.second_addr.map(|second| second.address())].into_iter().flatten()
    }

    fn check_addresses(&self) -> Result<(), LinkError> {
        match self.second_addr {
            Some(second) if second.address().is_ipv4() == self.device.address().is_ipv4() => {
                let (first, second) = (self.device.address(), second.address());
                Err(LinkError::usage(format!(
                    "--second-addr: {second} is of the IP version of {first}; give one of the other version"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// Runs the proxy until it is interrupted.
///
/// # Errors
/// If the device or the port is not available, or the device fails.
pub fn run(args: &ProxyArgs) -> Result<(), LinkError> {
    args.check_addresses()?;
    let patience = std::time::Duration::from_nanos(args.patience.as_nanos());
    let rules = Rules { ports: args.ports.clone(), idle: args.host.idle(), patience };
    let work = async |host: Host| {
        if args.transparent {
            transparent::run(host, rules, args.device.name(), args.out.as_deref()).await
        } else {
            let (device, listen, credentials) = (&args.device, args.listen, args.user.clone());
            let clients = Clients { device, listen, credentials, addresses: args.addresses().collect() };
            forward::run(host, rules, clients).await
        }
    };
    let (command, settings) = ("proxy", args.device.settings());
    let subject = Subject { command, profile: &*args.device.profile()?, settings };
    let requests = args.transparent.then_some(Requests { undecided: args.undecided, late: args.late_requests });
    let wanted = Wanted { second: args.second_addr, requests };
    let run = |traces| Host::run(&args.device, &args.host, &wanted, traces, work);
    let ended = tracer::each(args.host.trace.as_deref(), subject, OurEnd::Sender, run)?;
    if let Ended::Interrupted(reset @ 1..) = ended {
        anstream::eprintln!("interrupted: {reset} open connections were reset; --grace TIME gives them longer");
    }
    Ok(())
}
