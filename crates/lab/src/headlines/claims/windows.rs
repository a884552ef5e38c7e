//! The receive window of a system of 1999, and the arithmetic of the note that recommended a larger one.

use super::shapes::{fact, mean};
use crate::headlines::claim::{Ablation, Band, Claim, Measure, Nothing, Published, Unit, at_least, between};
use crate::headlines::estimate::Estimate;
use crate::headlines::quantity;
use crate::headlines::study::{Study, StudyArm};
use crate::window::{bits_per_sec, bytes, segments, shift};
use base::{Duration, Rate};

const SOURCE: &str = "a published note on tuning Windows 2000";

static WINDOW: Study =
    Study::of("window", "window", &[StudyArm::profile("windows-2000"), StudyArm::profile("windows-2000-tuned")]);

const fn goodput(arm: &'static str, cells: &'static [&'static str]) -> Estimate {
    mean(&WINDOW, arm, quantity::goodput, cells)
}

const SLOW: &[&str] = &["path.rate=10Mbit"];
const FAST: &[&str] = &["path.rate=100Mbit"];
const BEFORE: Estimate = goodput("windows-2000", SLOW);
const AFTER: Estimate = goodput("windows-2000-tuned", SLOW);

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "window-before",
        claim: "Windows 2000 as it is installed downloads 1.8 Mbit/s over a path of nearly 80 ms",
        source: SOURCE,
        published: "1.8 Mbit/s",
        unit: Unit::Mbit,
        band: Some(Band {
            published: Published::Number(1.8),
            inside: between(1.62, 1.98),
            direction: between(0.9, 3.6),
        }),
        measure: Measure::Runs(BEFORE),
        nothing: Nothing::Measured(AFTER),
        ablations: &[Ablation { ingredient: "the window of 17,520 bytes", without: AFTER }],
        facts: &[fact("fast", goodput("windows-2000", FAST), 2)],
        shows: "One window a round trip: the trace shows twelve segments, then nothing until their acknowledgements are back, from the first to the last round, \
                on a path of 10 Mbit/s as on one of 100 ({fast} Mbit/s there). 17,520 bytes in 77.87 ms would be 1.80; the twelve segments take some of \
                that round trip to leave. That round trip is not published; it is what 1.8 Mbit/s and the window imply.",
        reason: "",
    },
    Claim {
        id: "window-after",
        claim: "With a window of 131,400 bytes it downloads 7 Mbit/s",
        source: SOURCE,
        published: "7 Mbit/s",
        unit: Unit::Mbit,
        band: Some(Band { published: Published::Number(7.0), inside: between(6.3, 13.5), direction: at_least(3.6) }),
        measure: Measure::Runs(AFTER),
        nothing: Nothing::Measured(BEFORE),
        ablations: &[Ablation { ingredient: "the window of 131,400 bytes", without: BEFORE }],
        facts: &[fact("fast", goodput("windows-2000-tuned", FAST), 2)],
        shows: "On a path of 10 Mbit/s, and there the path is the limit: the window would allow 13.5. On a path of 100 Mbit/s the window is the limit ({fast} \
                Mbit/s). The published 7 is below both, so that note's path, or its losses, carried no more; what the window can be \
                credited with is that it stopped being the limit.",
        reason: "",
    },
    Claim {
        id: "window-examples",
        claim: "The ten worked examples of the note come out to the digit",
        source: SOURCE,
        published: "10 of 10",
        unit: Unit::Examples,
        band: Some(Band {
            published: Published::Bound(between(10.0, 10.0)),
            inside: between(10.0, 10.0),
            direction: at_least(8.0),
        }),
        measure: Measure::Examples(worked),
        nothing: Nothing::Is(0.0),
        ablations: &[],
        facts: &[],
        shows: "Arithmetic, not a run: `longhaul window` computes 12,500 bytes or nine segments for 10 Mbit/s and 10 ms; 1.0512 ms that nine segments cover at \
                100 Mbit/s; 70.08 Mbit/s that twelve segments allow over 2 ms, and 2.0023 Mbit/s over 70 ms; 106,250 bytes for 85 ms, 131,250 with 20 ms of jitter, \
                which are 90 segments or 131,400 bytes, cover 105.12 ms and need a shift of two; seven and a half times the \
                default (\"nearly eight-fold\"); and from 1.8 Mbit/s a round trip of 77.87 ms, over which the larger window allows 13.5 Mbit/s.",
        reason: "",
    },
];

/// Returns how many examples of the note are reproduced, and of how many.
fn worked() -> (usize, usize) {
    const MSS: u32 = 1_460;
    let ms = Duration::from_millis;
    let covers =
        |rate: u64, window: u64| Rate::from_bits_per_sec(rate).map_or(0, |rate| rate.time_for(window).as_nanos());
    let implied = Duration::from_nanos(17_520 * 8_000_000_000 / 1_800_000);
    let examples: [(u64, u64); 10] = [
        (segments(bytes(10_000_000, ms(10)), MSS), 9),
        (covers(100_000_000, 9 * 1_460), 1_051_200),
        (bits_per_sec(17_520, ms(2)), 70_080_000),
        (bits_per_sec(17_520, ms(70)) / 100, 20_022),
        (bytes(10_000_000, ms(85)), 106_250),
        (bytes(10_000_000, ms(105)), 131_250),
        (segments(131_250, MSS) * u64::from(MSS) + u64::from(shift(131_400)), 131_400 + 2),
        (covers(10_000_000, 131_400), 105_120_000),
        (131_400 * 10 / 17_520, 75),
        (bits_per_sec(131_400, implied) / 10_000, 1_350),
    ];
    (examples.iter().filter(|(found, published)| found == published).count(), examples.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_ten_come_out() {
        assert_eq!(super::worked(), (10, 10));
    }
}
