//! What tests with packets need of the machine.

use std::path::Path;
use std::process::Command;

/// Fails, naming everything at once that `what` needs and that is missing: root, TUN devices, and programs, each with the option that it
/// answers at once and its package.
pub fn check(what: &str, programs: &[(&str, &str, &str)]) {
    let mut missing = Vec::new();
    if !nix::unistd::geteuid().is_root() {
        missing.push("root, to make network namespaces and TUN devices".to_owned());
    }
    if !Path::new("/dev/net/tun").exists() {
        missing.push("/dev/net/tun (the kernel's `tun` module, or the device passed into the container)".to_owned());
    }
    for (program, asked, package) in programs {
        if Command::new(program).arg(asked).output().is_err() {
            missing.push(format!("`{program}`: apt-get install -y {package}"));
        }
    }
    assert!(missing.is_empty(), "{what}: {}", missing.join("; "));
}
