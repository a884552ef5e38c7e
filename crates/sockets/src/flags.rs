//! What the user may say with `--so_flags`: `profile=NAME,mtu=N,local=ADDRESS,trace=FILE`, in any order, one `local` for each
//! version.
//!
//! A word that is not understood is named on standard error and ignored: packetdrill offers no way to refuse a script here.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The profile that packetdrill's scripts are written for.
const DEFAULT_PROFILE: &str = "linux";
/// Least MTU of IPv4 (RFC 791); a smaller number is a slip of the pen.
const LEAST_MTU: u16 = 68;

/// Settings of one script.
#[derive(Clone, Debug)]
pub(crate) struct Flags {
    /// What every socket's configuration begins with.
    pub profile: Arc<profiles::Profile>,
    /// Largest IP packet, bytes; the device's when absent.
    pub mtu: Option<u16>,
    /// The host's own addresses, for connections from sockets that are not bound.
    pub local: Vec<IpAddr>,
    /// Where the stack's events go.
    pub trace: Option<PathBuf>,
}

impl Flags {
    /// Reads `text`; calls `complain` with each word that makes no sense, and with what would.
    pub fn read(text: &str, complain: &mut dyn FnMut(&str)) -> Self {
        let profile = profiles::find(DEFAULT_PROFILE).expect("it is built in");
        let mut flags = Self { profile, mtu: None, local: Vec::new(), trace: None };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if let Err(problem) = flags.take(word) {
                complain(&format!("--so_flags: {problem}; the flag is ignored"));
            }
        }
        flags
    }

    fn take(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "profile" => self.profile = profiles::find(value).map_err(|error| error.to_string())?,
            "mtu" => {
                let mtu = value.parse().ok().filter(|mtu| *mtu >= LEAST_MTU);
                self.mtu = Some(mtu.ok_or(format!("`{word}` is no MTU, a number from {LEAST_MTU} to 65535"))?);
            }
            "local" => self.local.push(value.parse().map_err(|_| format!("`{value}` is no address in `{word}`"))?),
            "trace" if !value.is_empty() => self.trace = Some(value.into()),
            _ => {
                let known = "profile=NAME, mtu=N, local=ADDRESS and trace=FILE";
                return Err(format!("`{word}` is unknown; there are {known}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Flags, Vec<String>) {
        let mut complaints = Vec::new();
        let flags = Flags::read(text, &mut |complaint| complaints.push(complaint.to_owned()));
        (flags, complaints)
    }

    #[test]
    fn words_come_in_any_order_and_addresses_may_repeat() {
        let (flags, complaints) = read("mtu=1280, profile=rfc,local=10.0.0.1,local=fd00::1");
        assert_eq!((flags.profile.name.as_str(), flags.mtu), ("rfc", Some(1280)));
        let local: Vec<IpAddr> = vec!["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()];
        assert_eq!((flags.local, complaints), (local, vec![]));
    }

    #[test]
    fn what_is_not_understood_is_named_and_leaves_the_default() {
        let (flags, complaints) = read("mtu=20,profil=rfc,profile=linus,local=here");
        assert_eq!((flags.profile.name.as_str(), flags.mtu, flags.local.len()), ("linux", None, 0));
        for (complaint, named) in complaints.iter().zip(["`mtu=20`", "`profil=rfc`", "`linus`", "`here`"]) {
            assert!(complaint.starts_with("--so_flags: ") && complaint.contains(named), "{complaint}");
        }
        assert_eq!(complaints.len(), 4);
    }
}
