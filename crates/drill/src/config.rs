//! Run options: addresses, ports, tolerances. The command line overrides the script.
//!
//! The defaults are those with which public scripts are run: a local address in 192.168.0.0/16 (or a unique local IPv6 prefix),
//! and a remote one reserved for documentation.

use crate::script::{Script, ScriptOption};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which IP version a script uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4 sockets and packets.
    V4,
    /// IPv6 sockets, IPv4 packets.
    V4MappedV6,
    /// IPv6 sockets and packets.
    V6,
}

/// Whether consecutive packets are merged until they reach the length the script expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// Several live packets may match one expected packet.
    Joined,
    /// Each live packet must match one expected packet (`--strict_segments`).
    Strict,
}

/// The options of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `--ip_version`.
    pub ip_version: IpVersion,
    /// `--local_ip`: the stack's address.
    pub local_ip: IpAddr,
    /// `--remote_ip`: the script's side.
    pub remote_ip: IpAddr,
    /// Prefix length of the remote network, routed to the device.
    pub remote_prefix: u8,
    /// Prefix length of the local network.
    pub local_prefix: u8,
    /// `--bind_port`: the port on which the stack listens.
    pub bind_port: u16,
    /// `--connect_port`: the port to which the stack connects.
    pub connect_port: u16,
    /// `--mtu` of the device, bytes.
    pub mtu: u32,
    /// `--mss`: segment size of injected super-segments (kernel only).
    pub mss: Option<u16>,
    /// `--tolerance_usecs`.
    pub tolerance_usecs: i64,
    /// `--tolerance_percent` of the time since the previous event, in thousandths of a percent.
    pub tolerance_millipercent: i64,
    /// `--tcp_ts_tick_usecs`: the length of one tick of the timestamp clock; with 0 its values are not compared.
    pub ts_tick_usecs: i64,
    /// `--tcp_ts_ecr_scaled`: an echo of a value never sent is computed from the first timestamp seen.
    pub ts_echo: TimestampEcho,
    /// `--strict_segments`.
    pub segments: Segments,
    /// Symbols for scripts, `-D NAME=value`.
    pub defines: BTreeMap<String, String>,
}

/// How to treat an echo of a timestamp that the stack never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampEcho {
    /// As an error: well-behaved peers echo what they received.
    Exact,
    /// Computed from the first timestamp seen.
    Scaled,
}

/// Options with a value that have no effect here: they name external programs, the wire mode or the shared object.
const WITHOUT_EFFECT: [&str; 16] = [
    "code_command",
    "code_format",
    "code_sockopt",
    "gateway_ip",
    "init_scripts",
    "non_fatal",
    "speed",
    "so_filename",
    "so_flags",
    "wire_server_ip",
    "wire_server_at",
    "wire_server_port",
    "wire_client_dev",
    "wire_server_dev",
    "psp_udp_dport",
    "define",
];
const FLAGS_WITHOUT_EFFECT: [&str; 6] = ["verbose", "debug", "dry_run", "send_omit_free", "wire_client", "wire_server"];

/// Options in order of arrival; later ones override earlier ones.
#[derive(Default)]
struct Given<'a>(BTreeMap<&'a str, &'a ScriptOption>);

impl Config {
    /// Options of `script`, then `overrides`.
    ///
    /// # Errors
    /// The first option that is unknown or has an invalid value.
    pub fn new(script: &Script, overrides: &[ScriptOption]) -> Result<Self, String> {
        let mut given = Given::default();
        for option in script.options.iter().chain(overrides) {
            known(option)?;
            given.0.insert(option.name.as_str(), option);
        }
        let ip_version = match given.text("ip_version") {
            None | Some("ipv4") => IpVersion::V4,
            Some("ipv4-mapped-ipv6") => IpVersion::V4MappedV6,
            Some("ipv6") => IpVersion::V6,
            Some(other) => {
                return Err(format!("--ip_version={other}: known are ipv4, ipv6 and ipv4-mapped-ipv6"));
            }
        };
        let v6 = ip_version == IpVersion::V6;
        let (local, remote, remote_prefix): (&str, &str, u8) =
            if v6 { ("fd3d:0a0b:17d6::1", "fd3d:fa7b:d17d::1", 48) } else { ("192.168.0.1", "192.0.2.1", 24) };
        let (remote_ip, remote_prefix) = prefixed(given.text("remote_ip").unwrap_or(remote), remote_prefix)?;
        let (local_ip, _) = prefixed(given.text("local_ip").unwrap_or(local), 0)?;
        if local_ip.is_ipv6() != v6 || remote_ip.is_ipv6() != v6 {
            return Err(format!("--local_ip={local_ip} --remote_ip={remote_ip} are not of --ip_version"));
        }
        let local_prefix = if v6 { 48 } else { netmask(given.text("netmask_ip").unwrap_or("255.255.0.0"))? };
        Ok(Self {
            ip_version,
            local_ip,
            remote_ip,
            remote_prefix,
            local_prefix,
            bind_port: given.number("bind_port", 8080, 1, 0xffff)? as u16,
            connect_port: given.number("connect_port", 8080, 1, 0xffff)? as u16,
            mtu: given.number("mtu", 1500, 68, 65535)? as u32,
            mss: given.text("mss").map(|_| given.number("mss", 0, 1, 0xffff)).transpose()?.map(|mss| mss as u16),
            tolerance_usecs: given.number("tolerance_usecs", 4_000, 1, i64::MAX)?,
            tolerance_millipercent: given.millipercent()?,
            ts_tick_usecs: given.number("tcp_ts_tick_usecs", 0, 0, 1_000_000)?,
            ts_echo: if given.0.contains_key("tcp_ts_ecr_scaled") {
                TimestampEcho::Scaled
            } else {
                TimestampEcho::Exact
            },
            segments: if given.0.contains_key("strict_segments") { Segments::Strict } else { Segments::Joined },
            defines: BTreeMap::new(),
        })
    }

    /// `AF_INET` or `AF_INET6`: the domain for which `socket(..., …)` stands.
    pub fn socket_domain(&self) -> i32 {
        if self.ip_version == IpVersion::V4 { libc::AF_INET } else { libc::AF_INET6 }
    }

    /// `address` in the form that sockets of this run use.
    pub fn socket_ip(&self, address: IpAddr) -> IpAddr {
        match (self.ip_version, address) {
            (IpVersion::V4MappedV6, IpAddr::V4(v4)) => IpAddr::V6(v4.to_ipv6_mapped()),
            _ => address,
        }
    }
}

fn known(option: &ScriptOption) -> Result<(), String> {
    const WITH_VALUE: [&str; 12] = [
        "ip_version",
        "local_ip",
        "remote_ip",
        "netmask_ip",
        "bind_port",
        "connect_port",
        "mtu",
        "mss",
        "tolerance_usecs",
        "tolerance_percent",
        "tcp_ts_tick_usecs",
        "remote_prefix",
    ];
    let name = option.name.as_str();
    let takes = if WITH_VALUE.contains(&name) || WITHOUT_EFFECT.contains(&name) {
        true
    } else if name == "tcp_ts_ecr_scaled" || name == "strict_segments" || FLAGS_WITHOUT_EFFECT.contains(&name) {
        false
    } else if name == "is_anyip" {
        return Err("--is_anyip is for sockets other than TCP's".into());
    } else {
        return Err(format!("unknown option --{name}"));
    };
    match (takes, &option.value) {
        (true, None) => Err(format!("--{name} needs a value")),
        (false, Some(value)) => Err(format!("--{name}={value}: the option takes no value")),
        _ => Ok(()),
    }
}

impl<'a> Given<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).and_then(|option| option.value.as_deref())
    }

    fn number(&self, name: &str, default: i64, least: i64, most: i64) -> Result<i64, String> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("--{name}={text}: a number from {least} to {most} is needed"))
    }

    /// A percentage with up to three decimals.
    fn millipercent(&self) -> Result<i64, String> {
        let Some(text) = self.text("tolerance_percent") else { return Ok(12_500) };
        let wrong = || format!("--tolerance_percent={text}: a number from 0 to 100 is needed");
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
        let number: i64 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
        if (0..=100_000).contains(&number) { Ok(number) } else { Err(wrong()) }
    }
}

/// `address` or `address/prefix`.
fn prefixed(text: &str, default: u8) -> Result<(IpAddr, u8), String> {
    let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
    let wrong = || format!("`{text}` is not an address");
    let address = address.parse().map_err(|_| wrong())?;
    let prefix = prefix.map_or(Ok(default), str::parse).map_err(|_| wrong())?;
    Ok((address, prefix))
}

/// Prefix length of a netmask.
fn netmask(text: &str) -> Result<u8, String> {
    let mask: Ipv4Addr = text.parse().map_err(|_| format!("--netmask_ip={text} is not a netmask"))?;
    Ok(u8::try_from(mask.to_bits().leading_ones()).unwrap_or(32))
}

/// The address's bytes in the order of a header.
pub fn bytes(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// An address of 4 or 16 bytes.
pub fn address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| IpAddr::V4(Ipv4Addr::from(bytes))),
        16 => <[u8; 16]>::try_from(bytes).ok().map(|bytes| IpAddr::V6(Ipv6Addr::from(bytes))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::parse;
    use test_case::test_case;

    fn config(options: &str) -> Result<Config, String> {
        Config::new(&parse(&format!("{options}\n0 socket(..., SOCK_STREAM, 0) = 3"), &BTreeMap::new()).unwrap(), &[])
    }

    #[test]
    fn a_script_without_options_gets_the_defaults_of_public_scripts() {
        let config = config("").unwrap();
        assert_eq!(config.local_ip.to_string(), "192.168.0.1");
        assert_eq!((config.remote_ip.to_string(), config.remote_prefix), ("192.0.2.1".into(), 24));
        assert_eq!((config.tolerance_usecs, config.tolerance_millipercent), (4_000, 12_500));
        assert_eq!((config.local_prefix, config.mtu, config.bind_port), (16, 1500, 8080));
    }

    #[test]
    fn the_ip_version_chooses_addresses_and_socket_domain() {
        let v6 = config("--ip_version=ipv6").unwrap();
        assert_eq!((v6.local_ip.is_ipv6(), v6.socket_domain()), (true, libc::AF_INET6));
        let mapped = config("--ip_version=ipv4-mapped-ipv6").unwrap();
        assert_eq!((mapped.local_ip.is_ipv4(), mapped.socket_domain()), (true, libc::AF_INET6));
        assert_eq!(mapped.socket_ip(mapped.local_ip).to_string(), "::ffff:192.168.0.1");
    }

    #[test]
    fn the_command_line_overrides_the_script() {
        let script = parse("--mtu=1400\n0 close(3) = 0", &BTreeMap::new()).unwrap();
        let mtu = ScriptOption { name: "mtu".into(), value: Some("9000".into()), line: 0 };
        assert_eq!(Config::new(&script, &[mtu]).unwrap().mtu, 9000);
    }

    #[test_case("--tolerance_percent=0.25" => 250; "a fraction")]
    #[test_case("--tolerance_percent=25" => 25_000; "a whole number")]
    fn percent(option: &str) -> i64 {
        // The language reads plain values up to the next white space.
        config(option).unwrap().tolerance_millipercent
    }

    #[test_case("--no_such_option=1", "unknown option --no_such_option")]
    #[test_case("--mtu", "--mtu needs a value")]
    #[test_case("--mtu=67", "from 68 to 65535")]
    #[test_case("--strict_segments=1", "takes no value")]
    #[test_case("--local_ip=::1", "not of --ip_version")]
    #[test_case("--remote_ip=192.0.2", "is not an address")]
    fn a_wrong_option_is_named(option: &str, part: &str) {
        let error = config(option).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
