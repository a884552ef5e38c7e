//! The words of `--so_flags`: `profile=NAME,mtu=N,local=ADDRESS,trace=FILE`, in any order, with one `local` for each IP
//! version.
//!
//! An unknown word is reported on standard error and ignored: packetdrill offers no way to reject a script at this point.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The profile for which packetdrill's scripts are written.
const DEFAULT_PROFILE: &str = "linux";
/// Smallest MTU of IPv4 (RFC 791); a smaller number is a typing mistake.
const LEAST_MTU: u16 = 68;

/// Settings of one script.
#[derive(Clone, Debug)]
pub(crate) struct Flags {
    /// The basis of every socket's configuration.
    pub profile: Arc<profiles::Profile>,
    /// Largest IP packet, bytes; the device's MTU when absent.
    pub mtu: Option<u16>,
    /// The host's own addresses, for connections from sockets that are not bound.
    pub local: Vec<IpAddr>,
    /// The file that receives the stack's events.
    pub trace: Option<PathBuf>,
}

impl Flags {
    /// Parses `text`; calls `complain` for each invalid word, with the words that are valid.
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
                self.mtu =
                    Some(mtu.ok_or(format!("`{word}` is not a valid MTU; use a number from {LEAST_MTU} to 65535"))?);
            }
            "local" => {
                self.local.push(value.parse().map_err(|_| format!("`{value}` is not a valid address in `{word}`"))?)
            }
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
