//! Which deviations a path or a receiver tolerates, and which it does not.

use super::recovery::DSACK;
use super::shapes::{fact, mean, without};
use crate::headlines::claim::{Ablation, Band, Claim, Measure, Nothing, Published, Unit, at_most};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity;
use crate::headlines::study::{Study, StudyArm, Watch};

static SMB: Study = Study::of(
    "smb",
    "smb",
    &[
        StudyArm::profile("windows-11-21h2"),
        StudyArm::with("counting", "windows-11-21h2", &[("recovery.detector.kind", "dup_thresh")]),
    ],
);

macro_rules! limited {
    ($name:literal, $limit:literal) => {
        StudyArm::with(
            $name,
            "server-2022",
            &[
                ("cc.slow_start.kind", "classic"),
                ("cc.slow_start.limit_segments", "8"),
                ("receive.reassembly_max", $limit),
            ],
        )
    };
}

static REASSEMBLY: Study = Study {
    name: "reassembly",
    experiment: "reassembly",
    arms: &[
        limited!("limit-64", "64"),
        limited!("limit-128", "128"),
        limited!("limit-256", "256"),
        limited!("unlimited", "8192"),
    ],
    set: &[],
    iterations: 10,
    watch: Watch::StaleSacks,
};

const fn stale(arm: &'static str) -> Estimate {
    Estimate {
        study: &REASSEMBLY,
        cells: &[],
        arm,
        over: &[],
        what: What::Share(quantity::stale_seconds, quantity::seconds),
        across: Across::Largest,
    }
}

const MISTAKES: Estimate = mean(&SMB, "windows-11-21h2", quantity::recoveries_per_10mb, &[]);
const COUNTING: Estimate = mean(&SMB, "counting", quantity::recoveries_per_10mb, &[]);
const NEARBY: Estimate = mean(&DSACK, "windows-11-21h2", quantity::recoveries_per_10mb, &[]);

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "smb",
        claim: "On a path of 9 ms the first reordering window absorbs the same lateness, even without D-SACKs",
        source: "G. Nebbett's analysis of TCP in Windows 11",
        published: "almost all absorbed",
        unit: Unit::Per10Mb,
        band: Some(Band { published: Published::Words(at_most(1.0)), inside: at_most(1.0), direction: at_most(10.0) }),
        measure: Measure::Runs(MISTAKES),
        nothing: Nothing::Measured(COUNTING),
        ablations: &[
            Ablation { ingredient: "a window of time in place of three later segments", without: COUNTING },
            Ablation { ingredient: "a round trip of which a quarter exceeds the lateness", without: NEARBY },
        ],
        facts: &[fact("counting", COUNTING, 0), fact("nearby", NEARBY, 0)],
        shows: "Recoveries for each 10 MB; nothing is lost, so each is a mistake. A quarter of the smallest round trip is 2.25 ms, and no packet is more than 1 ms late. \
                What is left is the first one: until reordering was seen, RACK takes three later segments for proof. Counting \
                alone would make {counting}, and the same system on a path of 0.8 ms makes {nearby}.",
        reason: "",
    },
    Claim {
        id: "reassembly",
        claim: "A receiver that limits its blocks out of order makes the sender hear SACKs that tell nothing new",
        source: "Microsoft's account of its TCP",
        published: "named as open",
        unit: Unit::Share,
        band: None,
        measure: Measure::Runs(stale("limit-64")),
        nothing: Nothing::Measured(stale("unlimited")),
        ablations: &without(stale("limit-64"), [("a limit of 64 blocks", "unlimited")]),
        facts: &[
            fact("of_128", stale("limit-128"), 1),
            fact("of_256", stale("limit-256"), 1),
            fact("of_none", stale("unlimited"), 1),
        ],
        shows: "On the path where it is most ({where}), the share of the time behind an acknowledgement with SACK blocks that carried nothing new, until one did. Slow start without HyStart++ \
                loses every second segment of the end of its flight, so that the receiver holds hundreds of blocks. With room for 64 it throws away \
                what would begin another and answers with the blocks it has, nothing is seen \
                to be lost that is, and each hole is found only when the one before it was closed. With 128 blocks it is {of_128} %, with 256 {of_256} %. \
                The {of_none} % without a limit are reports of duplicates behind the repair.",
        reason: "No number was published, neither of the limit nor of its effect.",
    },
];
