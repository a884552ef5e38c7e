//! What is remembered of the paths to hosts.

use crate::endpoint::LearnedMtu;
use base::Instant;
use core::net::IpAddr;
use std::collections::BTreeMap;

/// Maximum number of hosts with a cached path MTU; beyond it the entry that expires first is evicted.
const REMEMBERED: usize = 1024;

/// Path MTUs by host, for later connections (RFC 1191 §6.2).
#[derive(Debug, Default)]
pub(super) struct PathCache {
    paths: BTreeMap<IpAddr, LearnedMtu>,
}

impl PathCache {
    pub fn insert(&mut self, host: IpAddr, learned: LearnedMtu) {
        if self.paths.len() >= REMEMBERED && !self.paths.contains_key(&host) {
            let oldest = self.paths.iter().min_by_key(|(_, learned)| learned.until).map(|(host, _)| *host);
            oldest.map(|oldest| self.paths.remove(&oldest));
        }
        self.paths.insert(host, learned);
    }

    pub fn get(&mut self, host: IpAddr, now: Instant) -> Option<LearnedMtu> {
        let learned = *self.paths.get(&host)?;
        if learned.until > now {
            return Some(learned);
        }
        self.paths.remove(&host);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::{About, MayCut};
    use base::Duration;

    #[test]
    fn a_path_is_remembered_until_its_time_and_the_oldest_makes_room() {
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        let host = |n: u32| IpAddr::V4(n.into());
        let learned = |until| LearnedMtu { mtu: 1400, cut: MayCut::No, until: at(until), about: About::This };
        let mut cache = PathCache::default();
        for n in 0..REMEMBERED as u32 {
            cache.insert(host(n), learned(600 + u64::from(n)));
        }
        assert_eq!(cache.get(host(0), at(599)), Some(learned(600)));
        cache.insert(host(0), learned(2_000));
        cache.insert(host(5_000), learned(2_000));
        assert_eq!(cache.get(host(1), at(0)), None, "it had the least time left");
        assert_eq!(cache.get(host(2), at(602)), None, "its time has come");
        assert_eq!(cache.paths.len(), REMEMBERED - 1);
    }
}
