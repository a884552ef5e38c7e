//! One packet in a hundred reordered, in both readings.

use super::releases::{BEFORE, NO_RACK, NO_WINDOW, RACK, WINDOW};
use super::shapes::{fact, mean, without};
use crate::headlines::claim::{Band, Claim, Measure, Nothing, Published, Unit, above, at_least, between};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity;
use crate::headlines::study::{Study, StudyArm, Watch};

const SOURCE: &str = "Microsoft's comparison of Windows Server 2016, 2019 and 2022, with reordering";

const NO_DSACK: StudyArm = StudyArm::with("without-dsack", "server-2022", &[("recovery.detector.dsack", "off")]);
const DSACK: (&str, &str) = ("D-SACKs that widen the reordering window", NO_DSACK.name);

static LATE: Study = Study {
    name: "reorder",
    experiment: "reorder",
    arms: &[
        StudyArm::profile("server-2016"),
        StudyArm::profile("server-2019"),
        StudyArm::profile("server-2022"),
        NO_RACK,
        NO_DSACK,
        NO_WINDOW,
    ],
    set: &[],
    iterations: 10,
    watch: Watch::Nothing,
};

static EARLY: Study = Study {
    name: "reorder-early",
    experiment: "reorder-early",
    arms: &[
        StudyArm::profile("server-2016"),
        StudyArm::profile("server-2019"),
        StudyArm::profile("server-2022"),
        NO_RACK,
        NO_DSACK,
    ],
    set: &[],
    iterations: 10,
    watch: Watch::Nothing,
};

const EVERY: &[&str] = &[];
const FARTHEST: &[&str] = &["path.rtt=200ms", "flow.bytes=128MB"];

const fn times(study: &'static Study, across: Across, cells: &'static [&'static str]) -> Estimate {
    Estimate { study, cells, arm: "server-2022", over: BEFORE, what: What::Times, across }
}

const fn over(study: &'static Study, other: &'static [&'static str], cells: &'static [&'static str]) -> Estimate {
    Estimate { over: other, ..times(study, Across::Smallest, cells) }
}

const ALL_LATE: Estimate = times(&LATE, Across::Smallest, EVERY);
const FAR_LATE: Estimate = times(&LATE, Across::Largest, FARTHEST);
const ALL_EARLY: Estimate = times(&EARLY, Across::Smallest, EVERY);
const FAR_EARLY: Estimate = times(&EARLY, Across::Largest, FARTHEST);

/// Why the literal reading has no band.
const NO_BAND: &str = "Nothing is asked of this reading. The text can be read both ways, and it is not known which the testbed made; the \
                       late one is the headline, since there nothing but the order of packets changes. In this one a short cut also tells \
                       the sender of a shorter path, which misleads whatever looks at the smallest round trip, so that results fall into \
                       several modes and depend on details that are not published.";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "reorder-all",
        claim: "With 1 % of the packets 5 ms late Server 2022 is at least five times as fast in all eight cells",
        source: SOURCE,
        published: "≥ 5×",
        unit: Unit::Times,
        band: Some(Band { published: Published::Bound(at_least(5.0)), inside: at_least(5.0), direction: above(1.0) }),
        measure: Measure::Runs(ALL_LATE),
        nothing: Nothing::Is(1.0),
        ablations: &without(ALL_LATE, [RACK, DSACK, WINDOW]),
        facts: &[
            fact("over_2016", over(&LATE, &["server-2016"], EVERY), 1),
            fact("mistakes_2019", mean(&LATE, "server-2019", quantity::recoveries_per_10mb, EVERY), 0),
            fact("mistakes_2022", mean(&LATE, "server-2022", quantity::recoveries_per_10mb, EVERY), 1),
        ],
        shows: "The number is that of the cell with the smallest ratio, over the better of 2016 and 2019; over 2016 the smallest is {over_2016}. A packet \
                that is 5 ms late is overtaken by some forty others at this rate, so whoever counts to three takes it for lost: \
                {mistakes_2019} recoveries for each 10 MB in 2019, every one a mistake, against {mistakes_2022} in 2022. The first recoveries are the same \
                in all three, for as long as reordering was never seen RACK waits for nothing either; then its reordering window is a quarter of \
                the smallest round trip, 6 ms and more, and what is 5 ms late is in time. D-SACKs are not needed for that.",
        reason: "",
    },
    Claim {
        id: "reorder-farthest",
        claim: "With 128 MB at 200 ms it is more than forty times as fast",
        source: SOURCE,
        published: "> 40×",
        unit: Unit::Times,
        band: Some(Band {
            published: Published::Bound(above(40.0)),
            inside: between(20.0, 80.0),
            direction: above(1.0),
        }),
        measure: Measure::Runs(FAR_LATE),
        nothing: Nothing::Is(1.0),
        ablations: &without(FAR_LATE, [RACK, DSACK, WINDOW]),
        facts: &[
            fact("over_2016", over(&LATE, &["server-2016"], FARTHEST), 1),
            fact("of_2016", mean(&LATE, "server-2016", quantity::goodput, FARTHEST), 1),
            fact("of_2019", mean(&LATE, "server-2019", quantity::goodput, FARTHEST), 1),
            fact("of_2022", mean(&LATE, "server-2022", quantity::goodput, FARTHEST), 1),
        ],
        shows: "Over the better of the two; over 2016 it is {over_2016}. At {of_2016} and {of_2019} Mbit/s the older releases live on windows of some \
                twenty segments: each late packet takes half or a third of the window, and it takes hundreds of round trips to fill \
                2,500 kB again. 2022 makes three to five mistakes within the first three seconds, which end slow start at 100 kB and are \
                never undone, and climbs by CUBIC alone from there: {of_2022} Mbit/s. Undoing them would bring the path's own rate; this is where \
                more than forty could come from.",
        reason: "",
    },
    Claim {
        id: "early-all",
        claim: "At least five times as fast in all eight cells where packets take 5 ms in place of the path's delay",
        source: SOURCE,
        published: "≥ 5×",
        unit: Unit::Times,
        band: None,
        measure: Measure::Runs(ALL_EARLY),
        nothing: Nothing::Is(1.0),
        ablations: &without(ALL_EARLY, [RACK, DSACK]),
        facts: &[
            fact("mistakes_2019", mean(&EARLY, "server-2019", quantity::recoveries_per_10mb, EVERY), 0),
            fact("mistakes_2022", mean(&EARLY, "server-2022", quantity::recoveries_per_10mb, EVERY), 1),
            fact("duplicates_2022", mean(&EARLY, "server-2022", quantity::duplicates_recognised, EVERY), 0),
        ],
        shows: "A packet on a short cut overtakes all that is in flight, and the smallest round trip is that of the short cut: of a path of 200 ms \
                it is 105 ms, and a quarter of that is 26 ms, while what was overtaken is 95 ms behind. So RACK is as wrong as counting at \
                first, and both releases lose slow start with ten segments in flight. But in 2022 the duplicates that are reported \
                ({duplicates_2022} a run) widen the window by a quarter each, and after the fourth mistake it exceeds the lead: {mistakes_2022} recoveries \
                for each 10 MB, against {mistakes_2019} in 2019. In this reading, other than in the late one, everything hangs on D-SACKs.",
        reason: NO_BAND,
    },
    Claim {
        id: "early-farthest",
        claim: "More than forty times as fast with 128 MB at 200 ms in that reading",
        source: SOURCE,
        published: "> 40×",
        unit: Unit::Times,
        band: None,
        measure: Measure::Runs(FAR_EARLY),
        nothing: Nothing::Is(1.0),
        ablations: &without(FAR_EARLY, [RACK, DSACK]),
        facts: &[
            fact("of_2019", mean(&EARLY, "server-2019", quantity::goodput, FARTHEST), 1),
            fact("of_2022", mean(&EARLY, "server-2022", quantity::goodput, FARTHEST), 1),
        ],
        shows: "{of_2019} and {of_2022} Mbit/s. In the trace of 2022 the fifth and last mistake is made after seven seconds with a window of some forty segments, and \
                CUBIC climbs undisturbed from there, but for one mistake behind the point where an adaptation expires, sixteen recoveries \
                later; 2019 halves a window of fifteen segments eight hundred times. The literal reading thus comes as close \
                to the published number as the late one.",
        reason: NO_BAND,
    },
];
