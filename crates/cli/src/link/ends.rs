//! The syntax of a link's ends: `ns=wanA,dev=wa0,addr=10.77.0.1/24`.

use super::pairs::pairs;
use crate::failure::Failure;
use net::{Cidr, LinkEnd};
use profiles::units;

const KEYS: [&str; 4] = ["ns", "dev", "addr", "mtu"];

/// Default packet size in bytes; below it, the minimum for IPv6 (RFC 8200 §5).
const MTU: u16 = 1500;
const MTU_MIN: u16 = 1280;

/// Reads `--a` or `--b`.
///
/// # Errors
/// If a pair is wrong or one is missing.
pub fn read(option: &'static str, text: &str) -> Result<LinkEnd, Failure> {
    let mut end = LinkEnd { namespace: None, device: String::new(), addresses: Vec::new(), mtu: MTU };
    for pair in pairs(option, text, &KEYS, &["addr"])? {
        match pair.key.as_str() {
            "ns" => end.namespace = Some(pair.value),
            "dev" => end.device = pair.value,
            "addr" => end.addresses.push(pair.value.parse::<Cidr>().map_err(|error| pair.wrong(error))?),
            _ => end.mtu = pair.read(mtu)?,
        }
    }
    for (missing, pair) in [(end.device.is_empty(), "dev=NAME"), (end.addresses.is_empty(), "addr=ADDRESS/PREFIX")] {
        if missing {
            return Err(Failure::usage(format!(
                "{option} {text}: `{pair}` is missing, as in dev=wa0,addr=10.77.0.1/24"
            )));
        }
    }
    Ok(end)
}

fn mtu(text: &str) -> Result<u16, String> {
    let mtu = units::count(text).ok().and_then(|bytes| u16::try_from(bytes).ok()).filter(|mtu| *mtu >= MTU_MIN);
    mtu.ok_or_else(|| format!("`{text}` is not a valid packet size: write {MTU_MIN} to {}", u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_case::test_case;

    #[test]
    fn an_end_is_read_whatever_the_order() {
        let end = read("--a", "addr=10.77.0.1/24, dev=wa0,NS=wanA,mtu=9000,addr=fd77::1/64").unwrap();
        assert_eq!((end.namespace.as_deref(), end.device.as_str(), end.mtu), (Some("wanA"), "wa0", 9000));
        assert_eq!(end.addresses, ["10.77.0.1/24".parse().unwrap(), "fd77::1/64".parse().unwrap()]);
        assert_eq!(end.to_string(), "wa0 in wanA");
        let plain = read("--b", "dev=wb0,addr=10.77.0.2/24").unwrap();
        assert_eq!((plain.namespace.as_deref(), plain.mtu, plain.to_string().as_str()), (None, 1500, "wb0"));
    }

    #[test_case("addr=10.77.0.1/24", "--a addr=10.77.0.1/24: `dev=NAME` is missing, as in dev=wa0,"; "device")]
    #[test_case("dev=wa0", "--a dev=wa0: `addr=ADDRESS/PREFIX` is missing"; "address")]
    #[test_case("dev=wa0,addr=10.77.0.1", "--a addr=10.77.0.1: `10.77.0.1` is not ADDRESS/PREFIX"; "prefix")]
    #[test_case("dev=wa0,add=x", "--a add=x: unknown key `add`; did you mean `addr`? Keys are ns, dev, addr, mtu"; "key")]
    #[test_case("dev=wa0,dev=wa1,addr=x", "--a dev=wa1: `dev` is given twice; keep one"; "twice")]
    #[test_case("dev,addr=x", "--a dev: no value; write `dev=…`"; "value")]
    #[test_case("dev=wa0,addr=10.77.0.1/24,mtu=576", "--a mtu=576: `576` is not a valid packet size: write 1280 to 65535"; "mtu")]
    fn a_wrong_end_is_refused_by_place(text: &str, message: &str) {
        let Failure::Usage(problem) = read("--a", text).unwrap_err() else { panic!("not a matter of usage") };
        assert!(problem.starts_with(message), "{problem}");
    }
}
