//! Runs one script once in this process: a network namespace with a device, a stack, an engine.
//!
//! Scripts set sysctls, and a stack may read them, so each run gets its own namespace, whatever the stack. It has a `tun0` with
//! the run's addresses, as scripts expect. Entering the namespace changes the process permanently: one process, one run.

use crate::config::{Config, IpVersion, bytes};
use crate::ffi::{Kernel, Linked, enter_namespace, open_tun, prefer_realtime};
use crate::script::{ScriptOption, parse};
use crate::stack::Stack;
use crate::{Engine, config};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

const DEVICE: &str = "tun0";

/// The stack against which a script runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// This project's TCP, linked in.
    #[default]
    Linked,
    /// A shared object with packetdrill's interface.
    SharedObject(PathBuf),
    /// The kernel of this machine.
    Kernel,
}

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Against what.
    pub backend: Backend,
    /// Flags for the stack behind the interface.
    pub so_flags: Option<String>,
    /// Options that override the script's.
    pub overrides: Vec<ScriptOption>,
    /// Symbols for the script.
    pub defines: BTreeMap<String, String>,
}

/// Why a run did not pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line of the script failed.
    #[error("{0}")]
    Failed(String),
    /// The run was impossible: an invalid script, a missing privilege.
    #[error("{0}")]
    Impossible(String),
}

/// Runs the script at `path`; `log` receives one line per packet.
///
/// # Errors
/// The failure, or why the script could not run. Both name the script's line where there is one.
pub fn run(path: &Path, options: &Options, log: &mut dyn FnMut(String)) -> Result<(), Error> {
    let impossible = |what: String| Error::Impossible(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| impossible(error.to_string()))?;
    let located = |line: u32, what: &str| format!("{}:{line}: {what}", path.display());
    let read = |defines: &BTreeMap<String, String>| {
        let script = parse(&text, defines).map_err(|error| Error::Impossible(located(error.line, &error.what)))?;
        let config = Config::new(&script, &options.overrides).map_err(impossible)?;
        Ok((script, config))
    };
    // The symbols depend on the IP version, which may be set in the script.
    let (_, config) = read(&presets(IpVersion::V4, &options.defines))?;
    let (script, config) = read(&presets(config.ip_version, &options.defines))?;
    let stack = stack(&options.backend, options.so_flags.as_deref(), &config).map_err(Error::Impossible)?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let engine = Engine::start(&script, &config, stack, directory, log);
    let outcome = engine.and_then(Engine::run);
    outcome.map_err(|failure| Error::Failed(located(failure.line, &failure.what)))
}

/// Symbols that public scripts take for granted, because their runners define them. Cookies are those of the addresses here
/// under the Fast Open key of `scripts/common/defaults.sh`, and under a key of zeros. The user's own come on top.
fn presets(version: IpVersion, own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    // A socket reports in terms of its own family, the network in terms of the packets' family.
    let (level, kind) = match version {
        IpVersion::V4 => ("SOL_IP", "IP_RECVERR"),
        IpVersion::V4MappedV6 | IpVersion::V6 => ("SOL_IPV6", "IPV6_RECVERR"),
    };
    let [code, cookie, of_zeros] = match version {
        IpVersion::V4 | IpVersion::V4MappedV6 => ["host_unreachable", "3021b9d889017eeb", "b7c12350a90dc8f5"],
        IpVersion::V6 => ["address_unreachable", "c1d1e9742a47a9bc", "82af1a8f9a205c34"],
    };
    let names = ["CMSG_LEVEL_IP", "CMSG_TYPE_RECVERR", "CODE", "TFO_COOKIE", "TFO_COOKIE_ZERO"];
    let presets = names
        .into_iter()
        .zip([level, kind, code, cookie, of_zeros])
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    presets.chain(own.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
}

/// A namespace, its device, and the stack in it.
fn stack(backend: &Backend, so_flags: Option<&str>, config: &Config) -> Result<Arc<dyn Stack>, String> {
    enter_namespace()?;
    let tun = open_tun(DEVICE)?;
    set_up(config)?;
    Ok(match backend {
        Backend::Linked | Backend::SharedObject(_) => {
            // The device is there for the script's commands and the stack's look at the namespace; it lasts as long as
            // the process.
            std::mem::forget(tun);
            match backend {
                Backend::SharedObject(path) => Arc::new(Linked::load(path, so_flags)?),
                _ => Arc::new(Linked::own(so_flags)),
            }
        }
        Backend::Kernel => {
            prefer_realtime();
            Arc::new(Kernel::new(tun, DEVICE, config.mss)?)
        }
    })
}

/// Configures the device's MTU, its address and the route to the script's side.
fn set_up(config: &Config) -> Result<(), String> {
    let remote = network(config.remote_ip, config.remote_prefix);
    let flag = if config.ip_version == IpVersion::V6 { " nodad" } else { "" };
    let batch = format!(
        "link set lo up\nlink set {DEVICE} mtu {} up\naddr add {}/{} dev {DEVICE}{flag}\nroute add {remote}/{} dev {DEVICE}\n",
        config.mtu, config.local_ip, config.local_prefix, config.remote_prefix
    );
    let failed = |what: String| format!("setting up {DEVICE} with `ip`: {what}");
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("{error}; it is part of iproute2")))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(batch.as_bytes()).map_err(|error| failed(error.to_string()))?;
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}

/// `address` with its host bits cleared.
fn network(address: IpAddr, prefix: u8) -> IpAddr {
    let mut bytes = bytes(address);
    for (at, byte) in bytes.iter_mut().enumerate() {
        let kept = u32::from(prefix).saturating_sub(at as u32 * 8).min(8);
        *byte &= (0xff00_u32 >> kept) as u8;
    }
    config::address(&bytes).unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test_case("192.0.2.77", 24 => "192.0.2.0"; "whole bytes")]
    #[test_case("192.0.2.77", 28 => "192.0.2.64"; "part of a byte")]
    #[test_case("fd3d:fa7b:d17d::1", 48 => "fd3d:fa7b:d17d::"; "version six")]
    #[test_case("192.0.2.77", 0 => "0.0.0.0"; "everything")]
    fn a_network_has_no_host_bits(address: &str, prefix: u8) -> String {
        network(address.parse().unwrap(), prefix).to_string()
    }
}
