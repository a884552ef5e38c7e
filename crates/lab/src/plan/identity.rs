//! The identity of a run: its name, the seed of its random streams, and the digest of everything that determines it.
//!
//! Arms of one cell run on equal seeds, so that they meet the same random conditions; an arm that is named twice draws different
//! seeds the second time, which shows how large the noise is. A seed depends on the experiment's seed, the cell's network and the
//! iteration, never on the rest of the sweep: narrowing a sweep to one cell repeats that cell's runs exactly.
//!
//! Seeds and digests take the network from a frozen encoding (`encoding.rs`), so published seeds outlive a change of how
//! settings are shown.

use crate::plan::encoding::network;
use crate::spec::{Ends, Figure, Point, Refusal};
use base::Rng;

/// Identifies one run of a plan: `CELL/ARM/ITERATION`, cells and iterations counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunName {
    /// Which cell.
    pub cell: usize,
    /// Label of the arm.
    pub arm: String,
    /// Which iteration.
    pub iteration: u32,
}

impl core::fmt::Display for RunName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}/{}", self.cell, self.arm, self.iteration)
    }
}

impl core::str::FromStr for RunName {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let parsed = || {
            let (cell, rest) = text.split_once('/')?;
            let (arm, iteration) = rest.rsplit_once('/')?;
            let cell = cell.parse().ok().filter(|cell| *cell > 0)?;
            Some(Self { cell, arm: arm.to_owned(), iteration: iteration.parse().ok()? })
        };
        parsed().ok_or_else(|| {
            Refusal::of_value(format!("`{text}` is not CELL/ARM/ITERATION"), "write for example `1/longhaul/3`")
        })
    }
}

/// Returns the label of an arm in its experiment, given its name and its position among equal names.
pub(crate) fn label(name: &str, ordinal: u32) -> String {
    if ordinal == 1 { name.to_owned() } else { format!("{name}#{ordinal}") }
}

/// Returns the seed of a run; it fits into 53 bits, so that every reader of JSON gets it exactly.
pub(crate) fn seed(experiment: u64, point: &Point, ordinal: u32, iteration: u32) -> u64 {
    let mut rng = Rng::new(experiment).fork(&network(point)).fork(&format!("iteration {iteration}"));
    if ordinal > 1 {
        rng = rng.fork(&format!("arm {ordinal}"));
    }
    rng.next_u64() >> 11
}

/// Returns the digest of everything that determines a run except its seed and the program.
pub(crate) fn digest(point: &Point, twin: Option<&Point>, ends: &Ends) -> String {
    let mut text = network(point);
    // A line without such figures must not stand for one that has them.
    if point.startup == Figure::Measured {
        text.push_str(" flow.startup=measured");
    }
    if !point.company.is_empty() && point.company.harm == Figure::Measured {
        text.push_str(" flow.harm in delay");
    }
    if !point.company.is_empty() && point.company.mix.is_some() {
        text.push_str(" flow.mix");
    }
    for (key, value) in ends.lines() {
        text.push_str(&format!("\n{key}={value}"));
    }
    for (name, other) in point.others() {
        text.push_str(&format!("\nflow.profile={name}"));
        for (key, value) in Ends::Profile(other.clone()).lines() {
            text.push_str(&format!("\n{key}={value}"));
        }
    }
    if let Some(twin) = twin {
        text.push_str(&format!("\nundisturbed {}", network(twin)));
    }
    fnv128(&text)
}

/// Returns the digest of a run that the simulator did not make.
pub(crate) fn made_by(digest: &str, maker: &str) -> String {
    fnv128(&format!("{digest} made by {maker}"))
}

/// FNV-1a, twice with different starts: 128 bits.
pub(crate) fn fnv128(text: &str) -> String {
    let fnv = |start: u64| {
        text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    };
    format!("{:016x}{:016x}", fnv(0xcbf2_9ce4_8422_2325), fnv(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::spec;
    use test_case::test_case;

    #[test]
    fn seeds_differ_by_everything_but_the_arm() {
        let (here, mut there) = (Point::default(), Point::default());
        there.rtt = base::Duration::from_millis(25);
        let mut seeds = vec![
            seed(1, &here, 1, 1),
            seed(2, &here, 1, 1),
            seed(1, &there, 1, 1),
            seed(1, &here, 1, 2),
            seed(1, &here, 2, 1),
        ];
        assert_eq!(seeds[0], seed(1, &here, 1, 1));
        assert!(seeds.iter().all(|seed| *seed < 1 << 53));
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 5);
    }

    /// A changed seed changes every published number: such a change must be deliberate.
    #[test]
    fn the_derivation_of_seeds_is_frozen() {
        assert_eq!(seed(1, &Point::default(), 1, 1), FROZEN);
    }
    const FROZEN: u64 = 5_879_033_818_802_952;

    /// The first half is 64-bit FNV-1a, here with values that its authors publish.
    #[test_case("", "cbf29ce484222325")]
    #[test_case("a", "af63dc4c8601ec8c"; "one letter")]
    #[test_case("foobar", "85944171f73967e8"; "a word")]
    fn digests_begin_with_the_published_hash(text: &str, published: &str) {
        let digest = fnv128(text);
        assert_eq!((&digest[..16], digest.len()), (published, 32));
    }

    /// A log of runs that another version wrote is continued by this digest. It moves with the profile's leaves.
    #[test]
    fn the_digest_of_a_built_in_run_is_frozen() {
        let runs = Plan::new(spec::builtin("smb").unwrap()).unwrap().runs;
        assert_eq!(runs[0].digest, "9420d3a244ac9610d91fab83a0c06dc0");
    }

    /// The sum of the seeds of all runs of each built-in experiment.
    #[test]
    fn the_seeds_of_the_built_in_experiments_are_those_that_were_published() {
        let sums = spec::BUILTIN.iter().map(|(name, _)| {
            let runs = Plan::new(spec::builtin(name).unwrap()).unwrap().runs;
            (*name, runs.iter().fold(0, |sum: u64, run| sum.wrapping_add(run.seed)))
        });
        assert_eq!(sums.collect::<Vec<_>>(), PUBLISHED);
    }
    const PUBLISHED: [(&str, u64); 28] = [
        ("aqm", 1_086_769_014_635_430_086),
        ("cellular", 1_338_834_092_552_884_216),
        ("dsack", 219_609_417_156_169_588),
        ("fairness", 2_903_260_032_879_940_320),
        ("fairness-rtt", 361_126_142_817_354_858),
        ("hystart", 9_715_289_279_220_537_834),
        ("idle", 357_012_379_633_399_077),
        ("jitter", 6_482_646_904_597_724_275),
        ("lan-reorder", 295_148_422_035_653_814),
        ("late-comer", 839_941_869_232_273_827),
        ("leo", 314_151_490_753_962_480),
        ("lost-retransmit", 440_999_323_366_973_841),
        ("nic-reorder", 915_864_791_575_813_420),
        ("parking-lot", 282_901_833_853_578_858),
        ("policer", 2_149_366_453_346_172_976),
        ("prr", 1_398_122_580_067_749_968),
        ("reassembly", 932_263_293_654_520_362),
        ("reorder", 1_930_498_692_278_056_390),
        ("reorder-early", 1_895_154_782_607_156_582),
        ("robust", 15_034_988_931_041_734_728),
        ("rrul", 455_606_504_706_562_494),
        ("short-flows", 491_440_726_754_000_637),
        ("slow-start", 5_982_223_383_259_977_354),
        ("smb", 335_234_458_192_799_964),
        ("tail-loss", 3_223_989_267_328_862_596),
        ("wan", 1_969_262_804_350_127_110),
        ("wifi", 1_428_699_259_573_133_720),
        ("window", 322_769_665_662_233_108),
    ];
}
