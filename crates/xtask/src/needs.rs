//! What the tests need from the machine: root, network namespaces and a TUN device for the interoperability tests, and a few
//! tools.
//!
//! As root, installs tools from apt and creates the device node; without root, lists everything missing at once.

use crate::runner::{Failure, Outcome, run};
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program, the package that contains it, and its purpose.
const TOOLS: [(&str, &str, &str); 7] = [
    ("ip", "iproute2", "to make namespaces and addresses"),
    ("tshark", "tshark", "as an independent reader of our packets"),
    ("curl", "curl", "to speak HTTP over the kernel's TCP"),
    ("iperf3", "iperf3", "to run the guide's commands"),
    ("ping", "iputils-ping", "to ask the stack for echoes"),
    ("npm", "npm", "to build the pages (with Node 20 or newer)"),
    ("chromium", "chromium", "to try the pages in a browser"),
];

/// Makes environments for packages of Python; Debian's Python comes without it.
const VENV: (&str, &str, &str) = ("python3 -m venv", "python3-venv", "to build and test the package for Python");

const VALGRIND: (&str, &str, &str) = ("valgrind", "valgrind", "to count instructions");

const TUN: &str = "/dev/net/tun";

/// Installs what is missing, or names it.
pub fn provide() -> Outcome {
    let tools = missing_tools(on_path);
    if effective_user_is_root() {
        install(&tools)?;
        make_tun();
    }
    let missing = missing_now();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::Missing(format!("this machine lacks\n  {}", missing.join("\n  "))))
}

/// Installs valgrind if it is missing, or reports that it is missing.
pub fn provide_valgrind() -> Outcome {
    let (program, package, why) = VALGRIND;
    if !on_path(program) && effective_user_is_root() {
        install(&[VALGRIND])?;
    }
    if on_path(program) {
        return Ok(());
    }
    Err(Failure::Missing(format!("this machine lacks `{program}` {why}: apt-get install {package}")))
}

/// Returns a Python of 3.11 or newer that can make environments, installing one as root if there is none.
pub fn provide_python() -> Result<&'static str, Failure> {
    let find = || {
        ["python3", "python3.11", "python3.12", "python3.13", "python3.14"]
            .into_iter()
            .find(|name| makes_environments(name))
    };
    let (what, package, why) = VENV;
    if find().is_none() && effective_user_is_root() {
        install(&[VENV])?;
    }
    let missing = || {
        Failure::Missing(format!(
            "this machine lacks `{what}` of Python 3.11 or newer {why}: apt-get install {package}"
        ))
    };
    find().ok_or_else(missing)
}

fn makes_environments(python: &str) -> bool {
    let asked = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))";
    let status = Command::new(python).args(["-c", asked]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn missing_tools(present: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str, &'static str)> {
    TOOLS.into_iter().filter(|(program, _, _)| !present(program)).collect()
}

fn install(tools: &[(&str, &str, &str)]) -> Outcome {
    if tools.is_empty() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        command
    };
    run(&mut apt(&["update", "-qq"]))?;
    let packages = tools.iter().map(|(_, package, _)| *package);
    run(apt(&["install", "-qq", "--yes", "--no-install-recommends"]).args(packages))
}

/// Containers often lack the node although the kernel has the driver. Opening it shows whether creating it worked.
fn make_tun() {
    if !Path::new(TUN).exists() {
        let _ = std::fs::create_dir_all("/dev/net");
        let _ = run(Command::new("mknod").args([TUN, "c", "10", "200"]));
    }
}

fn missing_now() -> Vec<String> {
    let tools = missing_tools(on_path);
    let mut missing: Vec<String> =
        tools.iter().map(|(program, package, why)| format!("`{program}` {why}: apt-get install {package}")).collect();
    if !Path::new(TUN).exists() {
        missing.push(format!("a TUN device: there is no {TUN}; load the kernel's `tun` driver, or pass the device in"));
    }
    if !effective_user_is_root() {
        missing.push("root, to make network namespaces and TUN devices: run `cargo xtask test` as root".to_owned());
        return missing; // Only root can say more.
    }
    if !namespaces_work() {
        let right = "a container needs CAP_SYS_ADMIN and CAP_NET_ADMIN";
        missing.push(format!("network namespaces: `unshare --net true` fails; {right}"));
    }
    if let Err(error) = OpenOptions::new().read(true).write(true).open(TUN) {
        missing.push(format!("access to {TUN}: {error}; a container needs the device passed in"));
    }
    missing
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// The standard library has no `geteuid`; the kernel exposes the ids in a file (real, *effective*, saved, file system).
fn effective_user_is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| effective_user(&status) == Some("0"))
}

fn effective_user(status: &str) -> Option<&str> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)
}

fn namespaces_work() -> bool {
    let status = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_named() {
        assert_eq!(missing_tools(|_| true), []);
        let names: Vec<&str> =
            missing_tools(|program| program == "ip").iter().map(|(program, _, _)| *program).collect();
        assert_eq!(names, ["tshark", "curl", "iperf3", "ping", "npm", "chromium"]);
    }

    #[test]
    fn the_effective_user_is_the_second_number() {
        assert_eq!(effective_user("Name:\tx\nUid:\t1000\t0\t0\t0\n"), Some("0"));
        assert_eq!(effective_user("Uid:\t0\t1000\t0\t0\n"), Some("1000"));
        assert_eq!(effective_user("Name:\tx\n"), None);
    }

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("longhaul-no-such-program"));
    }
}
