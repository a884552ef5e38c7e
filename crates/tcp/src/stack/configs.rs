//! Configurations that connections share: an application may make an equal one for each of many connections, and each would take
//! nearly as much memory as the connection's endpoint.

use crate::config::ValidConfig;

/// Maximum number of configurations that are known at a time; a further one takes the place of the oldest.
const KNOWN: usize = 4;

/// The configurations that connections were opened with, or changed to, most recently.
#[derive(Debug, Default)]
pub(super) struct Configs {
    known: [Option<ValidConfig>; KNOWN],
    /// The place of the oldest.
    oldest: usize,
}

impl Configs {
    /// Returns a configuration that equals `cfg` and takes no further memory, if one is known.
    pub fn shared(&mut self, cfg: &ValidConfig) -> ValidConfig {
        let known = || self.known.iter().flatten();
        if let Some(same) = known().find(|known| known.is(cfg)).or_else(|| known().find(|known| *known == cfg)) {
            return same.clone();
        }
        self.known[self.oldest] = Some(cfg.clone());
        self.oldest = (self.oldest + 1) % KNOWN;
        cfg.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::testing::valid;

    fn with_buffer(bytes: u32) -> ValidConfig {
        let mut config = Config::default();
        config.send.buffer = bytes;
        valid(config)
    }

    #[test]
    fn equal_configurations_are_one_until_four_others_came() {
        let mut configs = Configs::default();
        let first = configs.shared(&with_buffer(10_000));
        for others in [0, 3] {
            for other in 0..others {
                configs.shared(&with_buffer(20_000 + other));
            }
            let again = configs.shared(&with_buffer(10_000));
            assert!(again.is(&first), "{others} others");
        }
        let other = configs.shared(&with_buffer(30_000));
        assert!(!other.is(&first) && other == with_buffer(30_000));
        let again = configs.shared(&with_buffer(10_000));
        assert!(!again.is(&first) && again == first);
    }
}
