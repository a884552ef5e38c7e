//! What the kernel counts of all TCP connections of a namespace: `TcpExt` in `/proc/net/netstat` (RFC 4022's table and much
//! that Linux adds).

use net::Namespace;
use std::collections::BTreeMap;

/// Counters by name.
#[derive(Debug)]
pub struct Snmp(BTreeMap<String, u64>);

impl Snmp {
    /// Reads them inside a namespace; returns `None` if they cannot be read.
    pub fn read(namespace: &Namespace) -> Option<Self> {
        let text = namespace.run(|| std::fs::read_to_string("/proc/thread-self/net/netstat"));
        Some(Self::parse(&text.ok()?.ok()?))
    }

    /// Lines come in pairs, names and then numbers, each after the name of its table.
    fn parse(text: &str) -> Self {
        let mut of_table = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
        let (names, numbers) = (of_table.next().unwrap_or_default(), of_table.next().unwrap_or_default());
        let pairs = names.split_whitespace().zip(numbers.split_whitespace());
        Self(pairs.filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?))).collect())
    }

    /// The sum of some counters; `None` when the kernel does not know one of them.
    pub fn sum(&self, names: &[&str]) -> Option<u64> {
        names.iter().map(|name| self.0.get(*name).copied()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_below_their_names() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts TCPLossProbes\nTcpExt: 0 3 5\nIpExt: InNoRoutes\nIpExt: 7\n";
        let snmp = Snmp::parse(text);
        assert_eq!(snmp.sum(&["TCPTimeouts"]), Some(3));
        assert_eq!(snmp.sum(&["TCPTimeouts", "TCPLossProbes"]), Some(8));
        assert_eq!(snmp.sum(&["TCPTimeouts", "InNoRoutes"]), None);
        assert_eq!(Snmp::parse("").sum(&["TCPTimeouts"]), None);
    }
}
