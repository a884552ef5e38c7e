//! The savings of HyStart++, with and without the loss detection of its time.

use super::shapes::{fact, mean};
use crate::headlines::claim::{Ablation, Band, Claim, Measure, Nothing, Published, Unit, above, below, between};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::quantity;
use crate::headlines::study::{Study, StudyArm, Watch};

const SOURCE: &str = "slides on HyStart++ at IETF 106";

const CLASSIC: [(&str, &str); 2] = [("cc.slow_start.kind", "classic"), ("cc.slow_start.limit_segments", "8")];

const ARMS: &[StudyArm] = &[StudyArm::with("no-hystart", "server-2019", &CLASSIC), StudyArm::profile("server-2019")];

/// The whole grid.
static GRID: Study = Study::of("hystart", "hystart", ARMS);

/// Cells in which a tail can be recognised.
static TAIL: Study = Study {
    name: "hystart-tail",
    experiment: "hystart",
    arms: ARMS,
    set: &["path.loss=0", "path.rtt=100ms", "flow.bytes=8MB"],
    iterations: 50,
    watch: Watch::Nothing,
};

/// The same with a sender that finds lost retransmissions without a timer.
static WITH_RACK: Study = Study {
    name: "hystart-with-rack",
    experiment: "hystart",
    arms: &[
        StudyArm::with("rack-no-hystart", "server-2019", &[CLASSIC[0], CLASSIC[1], ("recovery.detector.kind", "rack")]),
        StudyArm::with("rack", "server-2019", &[("recovery.detector.kind", "rack")]),
    ],
    set: &["path.loss=0", "path.rtt=100ms", "flow.bytes=8MB,32MB"],
    iterations: 10,
    watch: Watch::Nothing,
};

const SHORT: &[&str] = &["path.rtt=100ms", "path.loss=0%", "flow.bytes=8MB"];
const LONG: &[&str] = &["path.rtt=100ms", "path.loss=0%", "flow.bytes=32MB|128MB"];
const SHORT_NARROW: &[&str] =
    &["path.rtt=100ms", "path.loss=0%", "flow.bytes=8MB", "path.buffer=1bdp", "path.rate=100Mbit"];
const LONG_NARROW: &[&str] =
    &["path.rtt=100ms", "path.loss=0%", "flow.bytes=32MB", "path.buffer=1bdp", "path.rate=100Mbit"];

const fn compared(cells: &'static [&'static str], what: What, across: Across) -> Estimate {
    Estimate { study: &GRID, cells, arm: "server-2019", over: &["no-hystart"], what, across }
}

const fn gain(cells: &'static [&'static str]) -> Estimate {
    compared(cells, What::Gain, Across::Largest)
}

const fn with_rack(cells: &'static [&'static str]) -> Estimate {
    let over = &["rack-no-hystart"];
    Estimate { study: &WITH_RACK, cells, arm: "rack", over, what: What::Gain, across: Across::Largest }
}

const fn pooled(what: What) -> Estimate {
    compared(&[], what, Across::Together)
}

/// The arms of the grid differ in nothing else.
const fn itself(estimate: Estimate) -> Ablation {
    Ablation { ingredient: "HyStart++", without: estimate.for_arm("no-hystart") }
}

const RETRANSMITTED: Estimate = pooled(What::Change(quantity::retransmitted));
const RTOS: Estimate = pooled(What::Change(quantity::rtos));
const SUCCESS: Estimate = pooled(What::Points(quantity::episodes_without_timeout, quantity::episodes));
const TAIL_GAIN: Estimate = Estimate {
    study: &TAIL,
    cells: &[],
    arm: "server-2019",
    over: &["no-hystart"],
    what: What::TailGain,
    across: Across::Largest,
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "hystart-short",
        claim: "At 100 ms HyStart++ makes short flows faster by up to 39 %",
        source: SOURCE,
        published: "up to +39 %",
        unit: Unit::Percent,
        band: Some(Band { published: Published::Number(39.0), inside: between(20.0, 60.0), direction: above(0.0) }),
        measure: Measure::Runs(gain(SHORT)),
        nothing: Nothing::Is(0.0),
        ablations: &[
            itself(gain(SHORT)),
            Ablation {
                ingredient: "lost retransmissions that wait for a timer (with RACK)",
                without: with_rack(&["flow.bytes=8MB"]),
            },
        ],
        facts: &[fact("narrow", gain(SHORT_NARROW), 1)],
        shows: "The largest gain of all rates and buffers at 100 ms without random loss ({where}); sizes, rates and buffers were not published. It is a matter of \
                where in a round the queue fills: with 100 Mbit/s and one bandwidth-delay product of buffer it is {narrow} %, since HyStart++ notices the \
                delay one round late and loses segments, too, only fewer. Where it leaves in time nothing is lost, while the other sender \
                loses a quarter of all it sends, some retransmissions among them, and waits for its timer. With RACK in both there \
                is no timer to wait for, and little left to gain.",
        reason: "",
    },
    Claim {
        id: "hystart-short-p90",
        claim: "And so does the ninetieth percentile",
        source: SOURCE,
        published: "up to +39 %",
        unit: Unit::Percent,
        band: None,
        measure: Measure::Runs(TAIL_GAIN),
        nothing: Nothing::Is(0.0),
        ablations: &[itself(TAIL_GAIN)],
        facts: &[],
        shows: "Of fifty runs in each of the cells above. Without random loss runs differ by 0.1 ms of jitter only, so that the tail is where \
                the mean is: what decides in these cells is at which point of a round the queue is full, and that is the same in most runs.",
        reason: "Nothing more is asked than of the mean.",
    },
    Claim {
        id: "hystart-long",
        claim: "At 100 ms HyStart++ makes long flows faster by up to 14 %",
        source: SOURCE,
        published: "+14 %",
        unit: Unit::Percent,
        band: Some(Band { published: Published::Number(14.0), inside: between(5.0, 30.0), direction: above(0.0) }),
        measure: Measure::Runs(gain(LONG)),
        nothing: Nothing::Is(0.0),
        ablations: &[
            itself(gain(LONG)),
            Ablation {
                ingredient: "lost retransmissions that wait for a timer (with RACK)",
                without: with_rack(&["flow.bytes=32MB"]),
            },
        ],
        facts: &[fact("narrow", gain(LONG_NARROW), 1), fact("all", compared(LONG, What::Gain, Across::Together), 1)],
        shows: "The largest gain of flows of 32 and 128 MB at 100 ms ({where}), by the same estimator as for short ones. All such cells together gain {all} %, and that with \
                100 Mbit/s, 32 MB and one bandwidth-delay product of buffer {narrow} %: with less buffer the drops come before the delay is noticed, and the longer \
                the flow the less one timeout weighs.",
        reason: "",
    },
    Claim {
        id: "hystart-retransmissions",
        claim: "Over all tests of HyStart++ half as many bytes are sent again",
        source: SOURCE,
        published: "−50 %",
        unit: Unit::Percent,
        band: Some(Band { published: Published::Number(-50.0), inside: between(-90.0, -35.0), direction: below(0.0) }),
        measure: Measure::Runs(RETRANSMITTED),
        nothing: Nothing::Is(0.0),
        ablations: &[itself(RETRANSMITTED)],
        facts: &[
            fact("half", compared(&["path.buffer=0.5bdp"], What::Change(quantity::retransmitted), Across::Together), 0),
            fact("one", compared(&["path.buffer=1bdp"], What::Change(quantity::retransmitted), Across::Together), 0),
            fact("two", compared(&["path.buffer=2bdp"], What::Change(quantity::retransmitted), Across::Together), 0),
        ],
        shows: "By buffer: {half} % with half a bandwidth-delay product, {one} % with one, {two} % with two. The delay of a round is known when its \
                first eight samples are back, and the smallest of them was sent when the round began, so HyStart++ leaves slow start one \
                round after the queue began to stand, at up to three bandwidth-delay products. With half a product of buffer the drops come \
                first, and both senders do the same; with one it leaves just behind the first drops and saves the growth of the rest of the \
                round; with two it leaves before any.",
        reason: "",
    },
    Claim {
        id: "hystart-timeouts",
        claim: "Over all tests there are fewer timeouts",
        source: SOURCE,
        published: "−36 %",
        unit: Unit::Percent,
        band: Some(Band { published: Published::Number(-36.0), inside: between(-80.0, -20.0), direction: below(0.0) }),
        measure: Measure::Runs(RTOS),
        nothing: Nothing::Is(0.0),
        ablations: &[itself(RTOS)],
        facts: &[
            fact("before", mean(&GRID, "no-hystart", quantity::rtos, &[]), 2),
            fact("after", mean(&GRID, "server-2019", quantity::rtos, &[]), 2),
            fact("two", compared(&["path.buffer=2bdp"], What::Change(quantity::rtos), Across::Together), 0),
        ],
        shows: "{before} timeouts a run before and {after} after. Each is the same story: hundreds of segments lost at once, the retransmissions enter a \
                queue that is still full, some are dropped there, and a sender of that time learns of it by its timer. HyStart++ prevents it where \
                the buffer holds two bandwidth-delay products ({two} % there) and not where it holds less.",
        reason: "",
    },
    Claim {
        id: "hystart-recovery",
        claim: "Over all tests more recoveries succeed",
        source: SOURCE,
        published: "43.48 → 52 %",
        unit: Unit::Points,
        band: Some(Band { published: Published::Number(8.52), inside: between(5.0, 30.0), direction: above(0.0) }),
        measure: Measure::Runs(SUCCESS),
        nothing: Nothing::Is(0.0),
        ablations: &[itself(SUCCESS)],
        facts: &[
            fact("before", share("no-hystart", &[]), 1),
            fact("after", share("server-2019", &[]), 1),
            fact("clean_before", share("no-hystart", &["path.loss=0%"]), 1),
            fact("clean_after", share("server-2019", &["path.loss=0%"]), 1),
        ],
        shows: "Published without a definition; here a recovery succeeds if it ends without a timeout. {before} → {after} %. Most recoveries of the whole grid are those of \
                single random losses, which succeed either way; without random loss it is {clean_before} → {clean_after} %, the published level. Where HyStart++ \
                leaves in time there is one small recovery in place of a large one that fails.",
        reason: "",
    },
];

const fn share(arm: &'static str, cells: &'static [&'static str]) -> Estimate {
    let what = What::Share(quantity::episodes_without_timeout, quantity::episodes);
    Estimate { study: &GRID, cells, arm, over: &[], what, across: Across::Together }
}
