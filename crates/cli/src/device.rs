//! The TUN device of a command, and the profile of the TCP behind it.

use crate::failure::LinkError;
use clap::{Args, ValueEnum};
use net::{Cidr, Offload, Tun, TunConfig};
use profiles::Profile;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The device, and the TCP behind it.
#[derive(Args, Clone, Debug)]
pub struct DeviceArgs {
    /// Name of the TUN device; it is created, and removed at the end.
    #[arg(long, value_name = "NAME")]
    tun: String,
    /// Address of longhaul's own TCP behind the device, with its prefix; the kernel gets the first other address of the
    /// same network (10.9.0.2/24: the kernel is 10.9.0.1).
    #[arg(long, value_name = "ADDRESS/PREFIX")]
    addr: Cidr,
    /// TCP profile: a name from `longhaul profiles`, or the path of a TOML file.
    #[arg(long, value_name = "PROFILE", default_value = "longhaul")]
    profile: String,
    /// Leave super-segments and checksums to the kernel, or carry every packet as on a wire.
    #[arg(long, value_name = "on|off", default_value = "on")]
    offload: OffloadArg,
    /// Largest IP packet, bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..))]
    mtu: u16,
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OffloadArg {
    On,
    Off,
}

impl DeviceArgs {
    /// Creates the device.
    pub fn create(&self) -> Result<Tun, LinkError> {
        Tun::create(&self.config()).map_err(LinkError::usage)
    }

    /// Creates the device with so many queues, for a stack with a `second` address perhaps.
    pub fn create_queues(&self, queues: NonZeroU32, second: Option<Cidr>) -> Result<Vec<Tun>, LinkError> {
        let tuns = match queues {
            NonZeroU32::MIN => vec![self.create()?],
            _ => Tun::create_queues(&self.config(), queues).map_err(LinkError::usage)?,
        };
        if let Some(second) = second {
            tuns[0].add_address(second).map_err(LinkError::usage)?;
        }
        Ok(tuns)
    }

    fn config(&self) -> TunConfig {
        let offload = match self.offload {
            OffloadArg::On => Offload::On,
            OffloadArg::Off => Offload::Off,
        };
        TunConfig { name: self.tun.clone(), address: self.addr, mtu: self.mtu, offload }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.tun
    }

    /// The address of our TCP.
    pub fn address(&self) -> IpAddr {
        self.addr.address()
    }

    /// The chosen profile.
    pub fn profile(&self) -> Result<Arc<Profile>, LinkError> {
        let profile = profiles::find(&self.profile).map_err(LinkError::usage)?;
        crate::profiles::warn(&profile);
        Ok(profile)
    }

    /// Returns what distinguishes this device from others, for readers of a trace.
    pub fn settings(&self) -> Vec<(String, String)> {
        let offload = if self.offload == OffloadArg::On { "on" } else { "off" };
        vec![("link.mtu".to_owned(), self.mtu.to_string()), ("link.offload".to_owned(), offload.to_owned())]
    }

    /// Returns whether a remote address is reachable from ours.
    pub fn speaks_to(&self, remote: &SocketAddr) -> bool {
        remote.is_ipv4() == self.addr.address().is_ipv4()
    }

    /// Rejects what could only time out: the kernel forwards our packets to addresses other than the host's own, or drops
    /// them.
    pub fn check_forwarding(&self, remote: IpAddr) -> Result<(), LinkError> {
        // Only one of the host's own addresses can be bound.
        if UdpSocket::bind((remote, 0)).is_ok() {
            return Ok(());
        }
        match self.does_not_forward(self.address()) {
            None => Ok(()),
            Some(remedy) => Err(LinkError::usage(format!(
                "{remote} cannot be reached from {}: this host does not forward packets; allow it with `{remedy}`",
                self.tun
            ))),
        }
    }

    /// Returns the command that allows this host to forward the packets of one of our addresses, if it does not.
    pub fn does_not_forward(&self, address: IpAddr) -> Option<String> {
        let (file, setting) = match address {
            IpAddr::V4(_) => (format!("ipv4/conf/{}", self.tun), "net.ipv4.ip_forward"),
            IpAddr::V6(_) => ("ipv6/conf/all".to_owned(), "net.ipv6.conf.all.forwarding"),
        };
        let forwards = std::fs::read_to_string(format!("/proc/sys/net/{file}/forwarding"));
        forwards.is_ok_and(|text| text.trim() == "0").then(|| format!("sysctl -w {setting}=1"))
    }
}
