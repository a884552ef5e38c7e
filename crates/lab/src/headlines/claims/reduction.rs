//! The benefit of proportional rate reduction.

use super::shapes::fact;
use crate::headlines::claim::{Band, Claim, Measure, Nothing, Published, Unit, between};
use crate::headlines::estimate::{Across, Estimate, What};
use crate::headlines::study::{Study, StudyArm};

const SOURCE: &str = "Microsoft's account of its TCP";

const ARMS: &[StudyArm] = &[
    StudyArm::with("no-prr", "server-2019", &[("recovery.reduction.kind", "pipe")]),
    StudyArm::profile("server-2019"),
];

/// Packets lost at random.
static SINGLES: Study = Study { iterations: 20, ..Study::of("prr", "prr", ARMS) };
/// Hundreds lost at the end of slow start.
static BURSTS: Study = Study::of("prr-bursts", "wan", ARMS);

const fn gain(study: &'static Study, across: Across, cells: &'static [&'static str]) -> Estimate {
    Estimate { study, cells, arm: "server-2019", over: &["no-prr"], what: What::Gain, across }
}

const MEDIAN: Estimate = Estimate { what: What::MedianGain, ..gain(&SINGLES, Across::Together, &[]) };

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "prr",
        claim: "Proportional rate reduction brings no gain that can be measured",
        source: SOURCE,
        published: "no gain",
        unit: Unit::Percent,
        band: Some(Band {
            published: Published::Words(between(-3.0, 3.0)),
            inside: between(-3.0, 3.0),
            direction: between(-10.0, 10.0),
        }),
        measure: Measure::Runs(MEDIAN),
        nothing: Nothing::Is(0.0),
        ablations: &[],
        facts: &[
            fact("least", Estimate { across: Across::Smallest, ..MEDIAN }, 1),
            fact("most", Estimate { across: Across::Largest, ..MEDIAN }, 1),
            fact("mean", gain(&SINGLES, Across::Together, &[]), 1),
        ],
        shows: "Packets lost at random, the same ones for both arms for as long as they send alike. The number is the median over seeds of the ratio, all cells \
                together, since nothing is known of the published test; by cell it is {least} to {most} %. After a single loss both rates end a \
                recovery with the same window and differ only in when the segments of one round trip leave. The ratio of means \
                says something else, {mean} %: some runs part early and then far, most of them in favour of proportional rate reduction. Why they do is not settled; \
                a typical run gains nothing, and who looks at means of few runs may see a gain.",
        reason: "The median is {measured} %; see above for what runs do.",
    },
    Claim {
        id: "prr-bursts",
        claim: "Nor does it where slow start ends with the loss of half a flight",
        source: SOURCE,
        published: "no gain",
        unit: Unit::Percent,
        band: None,
        measure: Measure::Runs(gain(&BURSTS, Across::Together, &[])),
        nothing: Nothing::Is(0.0),
        ablations: &[],
        facts: &[
            fact("least", gain(&BURSTS, Across::Smallest, &[]), 1),
            fact("most", gain(&BURSTS, Across::Largest, &[]), 1),
        ],
        shows: "The clean paths of the comparison of releases, with the sender of 2019. By cell {least} to {most} %. What decides there is which \
                retransmissions are dropped again and when the timer fires; the rate of repair shifts that a little. With RACK, where no timer \
                fires, the same change costs up to a few per cent (see gain-200ms).",
        reason: "It is not published on which paths no gain was found; the row before this one has the band.",
    },
];
