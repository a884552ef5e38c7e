//! Three releases of a server over clean paths of 100 Mbit/s.

use super::shapes::{fact, mean, without};
use crate::headlines::claim::{Ablation, Band, Claim, Measure, Nothing, Published, Unit, above, at_least, between};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity;
use crate::headlines::study::{Study, StudyArm, Watch};

const SOURCE: &str = "Microsoft's comparison of Windows Server 2016, 2019 and 2022";

/// Server 2022 without one ingredient each.
pub(super) const NO_RACK: StudyArm = StudyArm::with(
    "without-rack",
    "server-2022",
    &[
        ("recovery.detector.kind", "rack_ring"), // variant: rack_ring
        ("recovery.detector.capacity", "64"),    // variant: rack_ring
    ],
);
const NO_HYSTART: StudyArm = StudyArm::with("without-hystart", "server-2022", &[("cc.slow_start.kind", "classic")]);
const NO_PRR: StudyArm = StudyArm::with("without-prr", "server-2022", &[("recovery.reduction.kind", "pipe")]);
pub(super) const NO_WINDOW: StudyArm = StudyArm::with(
    "without-window",
    "server-2022",
    &[("receive.window.share", "3/4"), ("receive.window.factor_percent", "150")],
);

pub(super) const RACK: (&str, &str) = ("RACK over every segment", NO_RACK.name);
const HYSTART: (&str, &str) = ("HyStart++", NO_HYSTART.name);
const PRR: (&str, &str) = ("proportional rate reduction", NO_PRR.name);
pub(super) const WINDOW: (&str, &str) = ("the receive window that opens early", NO_WINDOW.name);
const INGREDIENTS: [(&str, &str); 4] = [RACK, HYSTART, PRR, WINDOW];

pub(super) const BEFORE: &[&str] = &["server-2016", "server-2019"];

static WAN: Study = Study {
    name: "wan",
    experiment: "wan",
    arms: &[
        StudyArm::profile("server-2016"),
        StudyArm::profile("server-2019"),
        StudyArm::profile("server-2022"),
        NO_RACK,
        NO_HYSTART,
        NO_PRR,
        NO_WINDOW,
    ],
    set: &[],
    iterations: 10,
    watch: Watch::Nothing,
};

static SHORT: Study = Study {
    name: "wan-25ms",
    experiment: "wan",
    arms: &[
        StudyArm::profile("server-2016"),
        StudyArm::profile("server-2019"),
        StudyArm::with(
            "2019-with-window-of-2016",
            "server-2019",
            &[("receive.window.share", "3/4"), ("receive.window.factor_percent", "150")],
        ),
        StudyArm::with("2019-with-rack", "server-2019", &[("recovery.detector.kind", "rack")]),
        StudyArm::with("2016-with-limit-of-2019", "server-2016", &[("cc.slow_start.limit_segments", "8")]),
    ],
    set: &["path.rtt=25ms"],
    iterations: 10,
    watch: Watch::Nothing,
};

const AT_200: &[&str] = &["path.rtt=200ms"];
const AT_200_32MB: &[&str] = &["path.rtt=200ms", "flow.bytes=32MB"];
const ONLY_32MB: &[&str] = &["flow.bytes=32MB"];

const WINS: Estimate =
    Estimate { study: &WAN, cells: &[], arm: "server-2022", over: BEFORE, what: What::Wins, across: Across::Sum };

const fn gain(over: &'static [&'static str], cells: &'static [&'static str]) -> Estimate {
    Estimate { study: &WAN, cells, arm: "server-2022", over, what: What::Gain, across: Across::Largest }
}

const fn against(over: &'static [&'static str]) -> Estimate {
    Estimate { study: &SHORT, cells: &[], arm: "server-2016", over, what: What::Times, across: Across::Smallest }
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "best-of-three",
        claim: "Server 2022 is the fastest of the three releases in all eight cells",
        source: SOURCE,
        published: "8 of 8",
        unit: Unit::Cells,
        band: Some(Band {
            published: Published::Bound(between(8.0, 8.0)),
            inside: between(8.0, 8.0),
            direction: at_least(5.0),
        }),
        measure: Measure::Runs(WINS),
        nothing: Nothing::Is(0.0),
        ablations: &without(WINS, INGREDIENTS),
        facts: &[
            fact("rtos_2019", mean(&WAN, "server-2019", quantity::rtos, &[]), 1),
            fact("rtos_2022", mean(&WAN, "server-2022", quantity::rtos, &[]), 1),
            fact("rtos_2016", mean(&WAN, "server-2016", quantity::rtos, &[]), 1),
        ],
        shows: "Server 2019 and 2022 leave slow start alike: the delay tells them a round too late, the queue overflows, and some of \
                the retransmissions are dropped at the same queue. 2019 cannot see that and waits for its timer ({rtos_2019} times a run); \
                2022 finds them by the times of later segments ({rtos_2022} times). Server 2016 never comes that far: its receive \
                window grows so slowly that the flight stays below what path and queue hold, so it loses nothing ({rtos_2016} timeouts) and \
                takes longer to fill the path. Against 2019 the gain is RACK's, against 2016 the window's: without the one, 2022 behaves as \
                2019, without the other as 2016.",
        reason: "",
    },
    Claim {
        id: "gain-200ms",
        claim: "At 200 ms Server 2022 is faster by up to 60 % than the better of 2016 and 2019",
        source: SOURCE,
        published: "up to +60 %",
        unit: Unit::Percent,
        band: Some(Band { published: Published::Number(60.0), inside: between(25.0, 100.0), direction: above(0.0) }),
        measure: Measure::Runs(gain(BEFORE, AT_200)),
        nothing: Nothing::Is(0.0),
        ablations: &without(gain(BEFORE, AT_200), INGREDIENTS),
        facts: &[
            fact("over_2016", gain(&["server-2016"], AT_200), 1),
            fact("over_2019", gain(&["server-2019"], AT_200), 1),
            fact("seconds_2019", mean(&WAN, "server-2019", quantity::seconds, AT_200_32MB), 2),
            fact("seconds_2022", mean(&WAN, "server-2022", quantity::seconds, AT_200_32MB), 2),
        ],
        shows: "The publication does not name the baseline; the better of the two is taken, cell by cell. The gain is {over_2016} % over 2016 \
                and {over_2019} % over 2019. With 32 MB both 2019 and 2022 have three bandwidth-delay products in flight when the first drop is \
                noticed, and lose half of them. 2022 repairs that in one episode, lost retransmissions included, in less than two \
                seconds. 2019 stops when the first retransmission was lost, waits out a timer of more than a second, and begins \
                again with one segment: {seconds_2019} s in place of {seconds_2022} s. HyStart++ does not help here, the delay of a round is seen \
                one round after the queue began to grow; and of the rates of repair, proportional reduction is the slower one after so large a loss.",
        reason: "",
    },
    Claim {
        id: "accident-25ms",
        claim: "At 25 ms Server 2016 is faster than 2019, by the accident of a cautious receive window",
        source: SOURCE,
        published: "2016 above 2019",
        unit: Unit::Times,
        band: Some(Band { published: Published::Bound(above(1.0)), inside: above(1.0), direction: at_least(0.99) }),
        measure: Measure::Runs(against(&["server-2019"])),
        nothing: Nothing::Is(1.0),
        ablations: &[
            Ablation {
                ingredient: "the cautious receive window (2019 with it, too)",
                without: against(&["2019-with-window-of-2016"]),
            },
            Ablation {
                ingredient: "lost retransmissions that wait for a timer (2019 with RACK)",
                without: against(&["2019-with-rack"]),
            },
            Ablation {
                ingredient: "slow start by at most two segments an ACK",
                without: against(&["server-2019"]).for_arm("2016-with-limit-of-2019"),
            },
        ],
        facts: &[
            fact("rtos_2019", mean(&SHORT, "server-2019", quantity::rtos, ONLY_32MB), 1),
            fact("rtos_2016", mean(&SHORT, "server-2016", quantity::rtos, ONLY_32MB), 1),
            fact("of_32mb", Estimate { cells: ONLY_32MB, ..against(&["server-2019"]) }, 2),
        ],
        shows: "Path and queue hold 625 kB. With 2019's receiver the sender has 980 kB in flight when the first drop is noticed, and needs \
                its timer ({rtos_2019} times a run of 32 MB), which at 25 ms costs more than ten round trips. The receiver of 2016 lets no more than 450 kB \
                out, less than the two hold, and nothing is ever lost ({rtos_2016} timeouts). The smaller ratio is that of 128 MB; with 32 MB, \
                where one timeout weighs four times as much, it is {of_32mb}. A 2019 with the window of 2016 does as well as 2016, to the last digit.",
        reason: "",
    },
];
