//! The cost of duplicates and lost retransmissions, before and after their recognition was fixed.

use super::shapes::{fact, mean, without};
use crate::headlines::claim::{Ablation, Band, Claim, Measure, Nothing, Published, Unit, above, at_least, between};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity::{self, Quantity};
use crate::headlines::study::{Study, StudyArm, Watch};

const NEBBETT: &str = "G. Nebbett's analysis of TCP in Windows 11";
const RECOVERY: &str = "Microsoft's account of what changed in the loss recovery of its servers";

pub(super) static DSACK: Study = Study {
    name: "dsack",
    experiment: "dsack",
    arms: &[
        StudyArm::profile("windows-11-21h2"),
        StudyArm::profile("windows-11-22h2"),
        StudyArm::with("without-dsack", "windows-11-22h2", &[("recovery.detector.dsack", "off")]),
        StudyArm::with("without-prr", "windows-11-22h2", &[("recovery.reduction.kind", "pipe")]),
    ],
    set: &[],
    iterations: 10,
    watch: Watch::Nothing,
};

static LOST: Study = Study {
    name: "lost-retransmit",
    experiment: "lost-retransmit",
    arms: &[
        StudyArm::profile("server-2016"),
        StudyArm::profile("server-2019"),
        StudyArm::profile("server-2022"),
        StudyArm::with(
            "without-rack",
            "server-2022",
            &[
                ("recovery.detector.kind", "rack_ring"), // variant: rack_ring
                ("recovery.detector.capacity", "64"),    // variant: rack_ring
            ],
        ),
        StudyArm::with("with-rack", "server-2016", &[("recovery.detector.kind", "rack")]),
        StudyArm::with(
            "with-rack-and-window",
            "server-2016",
            &[
                ("recovery.detector.kind", "rack"),
                ("receive.window.share", "1/8"),
                ("receive.window.factor_percent", "800"),
            ],
        ),
        StudyArm::with("with-shorter-timer", "server-2016", &[("rto.min", "200ms")]),
    ],
    set: &["flow.bytes=150kB", "path.drop=60kB x2,60kB"],
    iterations: 10,
    watch: Watch::Nothing,
};

const TWICE_NOT_ONCE: [&str; 2] = ["path.drop=60kB x2", "path.drop=60kB"];
const TWICE: &[&str] = &["path.drop=60kB x2"];

const fn slower(arm: &'static str) -> Estimate {
    Estimate {
        study: &DSACK,
        cells: &[],
        arm,
        over: &["windows-11-21h2"],
        what: What::Less(quantity::seconds),
        across: Across::Together,
    }
}

const fn cost(arm: &'static str, of: Quantity, across: Across) -> Estimate {
    Estimate { study: &LOST, cells: TWICE, arm, over: &[], what: What::More(of, TWICE_NOT_ONCE), across }
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "dsack",
        claim: "Recognising D-SACKs shortens 10 MB over a short path that reorders from 4.2 to 2.4 s",
        source: NEBBETT,
        published: "4.2 s / 2.4 s = 1.75×",
        unit: Unit::Times,
        band: Some(Band { published: Published::Number(1.75), inside: between(1.5, 2.0), direction: above(1.0) }),
        measure: Measure::Runs(slower("windows-11-22h2")),
        nothing: Nothing::Is(1.0),
        ablations: &without(
            slower("windows-11-22h2"),
            [
                ("D-SACKs that widen the reordering window", "without-dsack"),
                ("proportional rate reduction", "without-prr"),
            ],
        ),
        facts: &[
            fact("before", mean(&DSACK, "windows-11-21h2", quantity::seconds, &[]), 2),
            fact("after", mean(&DSACK, "windows-11-22h2", quantity::seconds, &[]), 2),
            fact("mistakes_before", mean(&DSACK, "windows-11-21h2", quantity::recoveries_per_10mb, &[]), 0),
            fact("mistakes_after", mean(&DSACK, "windows-11-22h2", quantity::recoveries_per_10mb, &[]), 0),
        ],
        shows: "{before} s and {after} s. A quarter of the smallest round trip is 0.2 ms, less than the 1 ms by which packets are late. With \
                every duplicate that is reported the sender of 22H2 widens its window by another quarter; after five it is as wide as \
                the lateness, within the first 25 ms, and the transfer makes {mistakes_after} mistakes in all. The sender of 21H2 hears of the \
                duplicates, rejects the reports, and makes {mistakes_before}. Rate and lateness of the path are chosen to match; what the \
                measurement shows is that one such path explains both times.",
        reason: "",
    },
    Claim {
        id: "lost-retransmission-before",
        claim: "In Server 2016 a lost retransmission waits for the timer, which takes 300 ms or more",
        source: RECOVERY,
        published: "≥ 300 ms",
        unit: Unit::Milliseconds,
        band: Some(Band {
            published: Published::Bound(at_least(300.0)),
            inside: at_least(300.0),
            direction: at_least(200.0),
        }),
        measure: Measure::Runs(cost("server-2016", quantity::repair_ms, Across::Smallest)),
        nothing: Nothing::Is(0.0),
        ablations: &without(
            cost("server-2016", quantity::repair_ms, Across::Smallest),
            [
                ("a detector that loses track, and a window after which nothing may be sent", "with-rack-and-window"),
                ("a detector that loses track of retransmissions", "with-rack"),
                ("a shortest timer of 300 ms", "with-shorter-timer"),
            ],
        ),
        facts: &[fact("longest", cost("server-2016", quantity::repair_ms, Across::Largest), 0)],
        shows: "150 kB, of which the segment at 60 kB is lost once or twice: the number is what the second loss adds, on the path where that is \
                least; at most it is {longest} ms. The retransmission leaves one round trip after the original and is lost; nothing moves until \
                the timer fires, exactly 300 ms later, and slow start from one segment costs the rest. A detector alone would not have \
                helped: 2016's receive window is full by then, nothing may be sent after the retransmission, and what was sent \
                before it says nothing about it.",
        reason: "",
    },
    Claim {
        id: "lost-retransmission-after",
        claim: "In Server 2022 it is noticed and sent again after one round trip",
        source: RECOVERY,
        published: "~ 1 RTT",
        unit: Unit::RoundTrips,
        band: Some(Band {
            published: Published::Number(1.0),
            inside: between(0.75, 1.5),
            direction: between(0.0, 3.0),
        }),
        measure: Measure::Runs(cost("server-2022", quantity::repair_rtts, Across::Largest)),
        nothing: Nothing::Measured(cost("without-rack", quantity::repair_rtts, Across::Largest)),
        ablations: &[Ablation {
            ingredient: "RACK over every segment",
            without: cost("without-rack", quantity::repair_rtts, Across::Largest),
        }],
        facts: &[fact("without", cost("without-rack", quantity::repair_rtts, Across::Largest), 1)],
        shows: "The same transfers, on the path where it costs most. The segments that limited transmit and the open window let out after the \
                retransmission are acknowledged one round trip later; RACK sees that they were sent after it, waits for the rest of its \
                reordering window and sends the segment a third time, without a timer. The detector that keeps times of blocks only \
                needs {without} round trips on the shortest path.",
        reason: "",
    },
];
