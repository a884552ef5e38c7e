//! The syntax of a link's two directions: `rate=100mbit,delay=50ms,buffer=1bdp,reorder=1%/5ms/late`.
//!
//! The lab's parsers read rates, buffers, queues, loss, jitter and reordering. A buffer in bandwidth-delay products refers to
//! the round trip, so the two directions are evaluated together, and again when one of them changes.

use super::pairs::{Pair, pairs};
use crate::failure::Failure;
use base::{Duration, Rate, Ratio};
use lab::spec::{Key, Point, Refusal};
use net::Way;
use netem::{Buffer, PathSpec, QueueSpec};
use profiles::units;

const KEYS: [&str; 14] = [
    "rate",
    "delay",
    "buffer",
    "queue",
    "loss",
    "bursts",
    "policer",
    "release",
    "thin",
    "changes",
    "model",
    "jitter",
    "reorder",
    "duplicate",
];

/// Minimum default buffer: a short path holds less than a packet between its ends.
const BUFFER_LEAST: u64 = 64_000;

/// One direction, with the settings as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Direction {
    rate: Option<Rate>,
    delay: Duration,
    /// Loss, jitter, reordering, and the buffer if one was given.
    point: Point,
    buffer: Asked,
    /// The queue, if one was chosen.
    queue: Asked,
}

/// Whether the user set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Asked {
    #[default]
    No,
    /// In this pair.
    Yes(Pair),
}

/// Both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    ab: Direction,
    ba: Direction,
    /// What models draw from: both directions the same.
    seed: u64,
}

impl Paths {
    /// Creates paths that do nothing; their models will draw from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Changes what `--ab` and `--ba` name, and keeps the rest; changes nothing if a pair is wrong.
    ///
    /// # Errors
    /// If a pair is wrong or does not fit the others.
    pub fn change(&mut self, ab: Option<&str>, ba: Option<&str>) -> Result<(), Failure> {
        let mut changed = self.clone();
        changed.ab.change("--ab", ab.unwrap_or_default())?;
        changed.ba.change("--ba", ba.unwrap_or_default())?;
        changed.specs()?;
        *self = changed;
        Ok(())
    }

    /// The paths.
    ///
    /// # Errors
    /// If a buffer holds no packet, or the parts of a direction do not fit together.
    pub fn specs(&self) -> Result<[(Way, PathSpec); 2], Failure> {
        let round_trip = self.ab.delay + self.ba.delay;
        let spec = |option: &str, direction: &Direction| direction.spec(option, round_trip, self.seed);
        Ok([(Way::Ab, spec("--ab", &self.ab)?), (Way::Ba, spec("--ba", &self.ba)?)])
    }
}

impl Direction {
    fn change(&mut self, option: &'static str, text: &str) -> Result<(), Failure> {
        for pair in pairs(option, text, &KEYS, &[])? {
            match pair.key.as_str() {
                "rate" => pair.read(|text| self.set_rate(text))?,
                "delay" => self.delay = pair.read(units::duration)?,
                "reorder" => pair.read(|text| self.reorder(text))?,
                "thin" => pair.read(|text| set(&mut self.point, "path.back.thin", text))?,
                "loss" => {
                    pair.read(|text| set(&mut self.point, "path.loss", text))?;
                    self.point.life.bursts = None;
                }
                "bursts" => {
                    pair.read(|text| set(&mut self.point, "path.bursts", text))?;
                    self.point.loss = Ratio::ZERO;
                }
                "buffer" => {
                    pair.read(|text| set(&mut self.point, "path.buffer", text))?;
                    self.buffer = Asked::Yes(pair);
                }
                "queue" => {
                    pair.read(|text| set(&mut self.point, "path.queue", text))?;
                    self.queue = Asked::Yes(pair);
                }
                key => pair.read(|text| set(&mut self.point, &format!("path.{key}"), text))?,
            }
        }
        Ok(())
    }

    fn set_rate(&mut self, text: &str) -> Result<(), Refusal> {
        if text.eq_ignore_ascii_case("none") {
            self.rate = None;
            return Ok(());
        }
        set(&mut self.point, "path.rate", text)?;
        self.rate = Some(self.point.rate);
        Ok(())
    }

    /// `1%/5ms/late`, where the share may itself be a fraction, or `4x8/2ms/queues`.
    fn reorder(&mut self, text: &str) -> Result<(), Refusal> {
        set(&mut self.point, "path.reorder.probability", "0")?;
        set(&mut self.point, "path.reorder.queues", "none")?;
        if text.eq_ignore_ascii_case("none") {
            return Ok(());
        }
        let mut parts = text.rsplitn(3, '/');
        let (Some(mode), Some(delay), Some(share)) = (parts.next(), parts.next(), parts.next()) else {
            let problem = format!("`{text}` says not which, how long and how");
            return Err(Refusal::of_value(problem, "write for example `1%/5ms/late`"));
        };
        if mode.eq_ignore_ascii_case("queues") {
            return set(&mut self.point, "path.reorder.queues", &format!("{share}/{delay}"));
        }
        set(&mut self.point, "path.reorder.probability", share)?;
        set(&mut self.point, "path.reorder.delay", delay)?;
        set(&mut self.point, "path.reorder.mode", mode)
    }

    fn spec(&self, option: &str, round_trip: Duration, seed: u64) -> Result<PathSpec, Failure> {
        let point = Point { rate: self.rate.unwrap_or(self.point.rate), rtt: round_trip, ..self.point.clone() };
        let fits = point.check().and_then(|()| point.life.changes.without_reports());
        fits.map_err(|refusal| Failure::usage(format!("{option}: {refusal}")))?;
        let mut spec = lab::run::forward(&point, self.delay, seed);
        spec.thin = point.life.back.thin;
        if self.rate.is_none() && point.life.model.is_none() {
            if spec.rates.is_some() {
                let problem =
                    "a rate or an outage in `changes` needs a bottleneck; write for example `rate=100mbit` too";
                return Err(Failure::usage(format!("{option}: {problem}")));
            }
            (spec.rate, spec.trace) = (None, None);
            (spec.buffer, spec.queue) = (Buffer::Unlimited, QueueSpec::DropTail);
            return Ok(spec);
        }
        // A managed queue has room of its own.
        let asked = if self.point.queue.is_some() { &self.queue } else { &self.buffer };
        match (asked, spec.buffer) {
            (Asked::No, Buffer::Bytes(bytes)) => spec.buffer = Buffer::Bytes(bytes.max(BUFFER_LEAST)),
            (Asked::Yes(pair), Buffer::Bytes(bytes)) if bytes < PACKET => {
                return Err(pair.wrong(format!("that is {bytes} bytes and holds no packet; write for example `64kB`")));
            }
            _ => {}
        }
        Ok(spec)
    }
}

/// Bytes of a full packet on most links.
const PACKET: u64 = 1_500;

/// Applies one of the lab's settings.
fn set(point: &mut Point, key: &str, text: &str) -> Result<(), Refusal> {
    Key::find(key).expect("the lab has this key").set(point, text).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netem::{Chain, Jitter, JitterKind, LossSpec, Pie, PolicerSpec, ReleaseSpec, ReorderSpec, Signal};
    use test_case::test_case;

    fn specs(ab: &str, ba: &str) -> [PathSpec; 2] {
        let mut paths = Paths::default();
        paths.change(Some(ab), Some(ba)).unwrap();
        paths.specs().unwrap().map(|(_, spec)| spec)
    }

    fn mbit(mbit: u64) -> Option<Rate> {
        Rate::from_bits_per_sec(mbit * 1_000_000)
    }

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn everything_can_be_said() {
        let [ab, ba] = specs(
            "RATE=100MBIT,delay=50ms,Buffer=1BDP,reorder=1%/5ms/Late,loss=1/300,jitter=1ms,duplicate=0.1%",
            "delay=50ms",
        );
        let expected = PathSpec {
            rate: mbit(100),
            buffer: Buffer::Bytes(1_250_000),
            jitter: Some(Jitter { max: ms(1), kind: JitterKind::KeepOrder }),
            loss: LossSpec::Bernoulli(Ratio::new(1, 300).unwrap()),
            reorder: ReorderSpec::Late { probability: Ratio::new(1, 100).unwrap(), extra: ms(5) },
            duplicate: Ratio::new(1, 1000).unwrap(),
            ..PathSpec::ideal(ms(50))
        };
        assert_eq!(ab, expected);
        assert_eq!(ba, PathSpec::ideal(ms(50)));
    }

    #[test_case("rate=10mbit,delay=5ms,buffer=0.5bdp", Buffer::Bytes(12_500); "of both delays")]
    #[test_case("rate=10mbit,delay=5ms,buffer=100pkt", Buffer::Packets(100))]
    #[test_case("rate=10mbit,delay=5ms,buffer=64kB", Buffer::Bytes(64_000))]
    #[test_case("rate=1gbit,delay=5ms", Buffer::Bytes(2_500_000); "one product by default")]
    #[test_case("rate=10mbit,delay=5ms", Buffer::Bytes(64_000); "but not too little")]
    #[test_case("delay=5ms", Buffer::Unlimited; "no bottleneck")]
    fn a_buffer_follows_the_path(ab: &str, buffer: Buffer) {
        assert_eq!(specs(ab, "delay=15ms")[0].buffer, buffer);
    }

    #[test_case("queue=codel", Buffer::Packets(1_000))]
    #[test_case("queue=fq_codel/quantum=300/limit=1bdp,buffer=9MB", Buffer::Bytes(12_500); "the limit holds, not the buffer")]
    #[test_case("queue=droptail,buffer=9MB", Buffer::Bytes(9_000_000))]
    fn a_queue_can_be_chosen(queue: &str, room: Buffer) {
        let [spec, _] = specs(&format!("rate=10mbit,delay=5ms,{queue}"), "delay=5ms");
        assert_eq!((spec.buffer, spec.queue == QueueSpec::DropTail), (room, queue.starts_with("queue=droptail")));
    }

    #[test]
    fn a_rate_can_follow_a_trace() {
        let file = std::env::temp_dir().join(format!("longhaul-link-{}.trace", std::process::id()));
        std::fs::write(&file, "1\n1\n3\n6\n").unwrap();
        let mut paths = Paths::default();
        paths.change(Some(&format!("rate=trace:{},delay=5ms,buffer=100pkt", file.display())), None).unwrap();
        std::fs::remove_file(&file).unwrap();
        let spec = paths.specs().unwrap()[0].1.clone();
        assert_eq!(spec.trace.expect("it follows one").times_ms(), [1, 1, 3, 6]);
        paths.change(Some("rate=none"), None).unwrap();
        assert_eq!(paths.specs().unwrap()[0].1, PathSpec::ideal(ms(5)));
        paths.change(Some("rate=5mbit"), None).unwrap();
        let spec = &paths.specs().unwrap()[0].1;
        assert_eq!((spec.rate, &spec.trace), (mbit(5), &None));
    }

    #[test]
    fn a_queue_can_be_changed_while_the_link_runs() {
        let mut paths = Paths::default();
        paths.change(Some("rate=10mbit,delay=5ms,queue=pie/ecn=on/target=20ms"), None).unwrap();
        let pie = Pie { target: ms(20), signal: Signal::Mark, ..Pie::default() };
        assert_eq!(paths.specs().unwrap()[0].1.queue, QueueSpec::Pie(pie));
        paths.change(Some("queue=droptail"), None).unwrap();
        assert_eq!(paths.specs().unwrap()[0].1.queue, QueueSpec::DropTail);
        paths.change(Some("queue=pie,rate=none"), None).unwrap();
        assert_eq!(paths.specs().unwrap()[0].1, PathSpec::ideal(ms(5)), "no bottleneck, no queue");
    }

    #[test_case("none", ReorderSpec::None)]
    #[test_case("4x8/2ms/queues", ReorderSpec::Queues { queues: 4, burst: 8, skew: ms(2) })]
    #[test_case("0.5%/2ms/early", ReorderSpec::Early { probability: Ratio::new(1, 200).unwrap(), delay: ms(2) })]
    #[test_case("7/10/2ms/EARLY", ReorderSpec::Early { probability: Ratio::new(7, 10).unwrap(), delay: ms(2) })]
    fn reordering_has_three_parts(text: &str, reorder: ReorderSpec) {
        assert_eq!(specs(&format!("reorder={text}"), "")[0].reorder, reorder);
    }

    #[test_case("1%/5ms/late", "4x8/2ms/queues")]
    #[test_case("4x8/2ms/queues", "1%/5ms/late")]
    #[test_case("4x8/2ms/queues", "none")]
    fn the_later_way_to_leave_the_order_holds(first: &str, second: &str) {
        let mut paths = Paths::default();
        paths.change(Some(&format!("reorder={first}")), None).unwrap();
        paths.change(Some(&format!("reorder={second}")), None).unwrap();
        assert_eq!(paths.specs().unwrap()[0].1.reorder, specs(&format!("reorder={second}"), "")[0].reorder);
    }

    #[test]
    fn losses_come_in_bursts_or_at_random_whichever_was_said_last() {
        let loss = |text: &str| specs(text, "")[0].loss.clone();
        let one_percent = Ratio::new(1, 100).unwrap();
        let bursts = LossSpec::GilbertElliott(Chain::of_bursts(one_percent, 4, 1).unwrap());
        assert_eq!(loss("bursts=1%/4"), bursts);
        assert_eq!(loss("loss=3%,bursts=1%/4"), bursts);
        assert_eq!(loss("bursts=1%/4,loss=1%"), LossSpec::Bernoulli(one_percent));
        assert_eq!(loss("bursts=1%/4,loss=0"), LossSpec::None);
    }

    #[test]
    fn either_direction_releases_in_groups_and_thins_acks() {
        for spec in specs("release=1ms..5ms,thin=2ms", "thin=2ms,release=1ms..5ms") {
            assert_eq!((spec.release, spec.thin), (Some(ReleaseSpec { least: ms(1), most: ms(5) }), Some(ms(2))));
        }
    }

    #[test]
    fn a_direction_can_change_with_time() {
        let changes = "rate=10mbit,delay=10ms,changes=1s rate=5mbit + 2s/rtt=80ms";
        let [ab, ba] = specs(changes, "delay=10ms");
        let delays: Vec<_> = ab.delays.unwrap().stretches().map(|stretch| stretch.delay.unwrap()).collect();
        assert_eq!(delays, [ms(10), ms(40)], "half of sixty more");
        let rates: Vec<_> = ab.rates.unwrap().stretches().map(|stretch| stretch.rate).collect();
        assert_eq!((rates, ba.delays), (vec![mbit(10), mbit(5)], None));
        let problem = Paths::default().change(Some("changes=1s outage=1s"), None).unwrap_err();
        let Failure::Usage(problem) = problem else { panic!("not a matter of usage") };
        assert!(problem.starts_with("--ab: a rate or an outage in `changes` needs a bottleneck; write"), "{problem}");
    }

    #[test]
    fn both_directions_of_a_model_draw_the_same() {
        let mut paths = Paths::new(7);
        paths.change(Some("model=leo/every=10s,buffer=1bdp"), Some("model=leo/every=10s")).unwrap();
        let [(_, ab), (_, ba)] = paths.specs().unwrap();
        assert_eq!((&ab.delays, &ab.rates), (&ba.delays, &ba.rates));
        assert_eq!((ab.rate, ab.buffer), (mbit(125), Buffer::Bytes(625_000)), "a product of the middle of both");
        let problem = paths.change(Some("changes=1s rtt=5ms"), None).unwrap_err();
        let Failure::Usage(problem) = problem else { panic!("not a matter of usage") };
        assert!(problem.starts_with("--ab: a model and a schedule set the round-trip time: set "), "{problem}");
    }

    #[test]
    fn a_link_has_no_router_that_reports_a_largest_packet() {
        let problem = Paths::default().change(Some("changes=1s mtu=1400"), None).unwrap_err();
        let Failure::Usage(problem) = problem else { panic!("not a matter of usage") };
        assert!(problem.contains("in the simulator only: write `blackhole`"), "{problem}");
        assert_eq!(Paths::default().change(Some("changes=1s blackhole=1400"), None).map_err(|_| ()), Ok(()));
    }

    #[test]
    fn a_policer_needs_no_bottleneck() {
        let [spec, _] = specs("policer=20mbit/64kB", "");
        let expected = PolicerSpec { rate: mbit(20).unwrap(), burst: 64_000 };
        assert_eq!((spec.policer, spec.rate), (Some(expected), None));
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name() {
        let mut paths = Paths::default();
        paths.change(Some("rate=100mbit,delay=50ms,buffer=1bdp,loss=1%"), Some("delay=50ms")).unwrap();
        paths.change(Some("rate=50mbit"), None).unwrap();
        let [(_, ab), (_, ba)] = paths.specs().unwrap();
        assert_eq!((ab.rate, ab.buffer, ab.delay), (mbit(50), Buffer::Bytes(625_000), ms(50)));
        assert_eq!(ab.loss, LossSpec::Bernoulli(Ratio::new(1, 100).unwrap()));
        paths.change(None, Some("delay=0")).unwrap();
        assert_eq!(paths.specs().unwrap()[0].1.buffer, Buffer::Bytes(312_500), "the round trip is shorter now");
        paths.change(Some("rate=none,loss=0"), None).unwrap();
        assert_eq!((&paths.specs().unwrap()[0].1, ba), (&PathSpec::ideal(ms(50)), PathSpec::ideal(ms(50))));
        let before = paths.clone();
        paths.change(Some("delay=1ms,rate=1"), None).unwrap_err();
        assert_eq!(paths, before, "a wrong pair changes nothing");
    }

    #[test_case("rate=100mbyte", "--ab rate=100mbyte: `100mbyte` is not a valid rate: use"; "rate")]
    #[test_case("delay=50", "--ab delay=50: `50` is not a valid duration: use"; "delay")]
    #[test_case("buffer=big", "--ab buffer=big: `big` is not a valid buffer size: write for example `1bdp`"; "buffer")]
    #[test_case("rate=1mbit,buffer=1bdp", "--ab buffer=1bdp: that is 0 bytes and holds no packet; write"; "no product")]
    #[test_case("queue=red", "--ab queue=red: `red` is not a known queue: use droptail, codel"; "queue")]
    #[test_case("queue=codel/quantum=1", "--ab queue=codel/quantum=1: `quantum` is not a parameter of codel: use target, interval"; "parameter")]
    #[test_case("rate=1mbit,queue=codel/limit=1bdp", "--ab queue=codel/limit=1bdp: that is 0 bytes and holds no packet; write"; "limit")]
    #[test_case("loss=2", "--ab loss=2: `2` is not a share between 0 and 1: use"; "loss")]
    #[test_case("bursts=1%", "--ab bursts=1%: `1%` has no length of a burst: write for example `0.5%/4`"; "bursts")]
    #[test_case("jitter=x", "--ab jitter=x: `x` is not a valid duration: use"; "jitter")]
    #[test_case("reorder=1%", "--ab reorder=1%: `1%` says not which, how long and how: write for example `1%/5ms/late`"; "reorder")]
    #[test_case("reorder=1%/5ms/sideways", "--ab reorder=1%/5ms/sideways: `sideways` is not a valid reordering mode: write"; "mode")]
    #[test_case("reorder=4/2ms/queues", "--ab reorder=4/2ms/queues: `4/2ms` is not a valid set of queues: write for example `4x8/2ms`"; "queues")]
    #[test_case("dealy=5ms", "--ab dealy=5ms: unknown key `dealy`; did you mean `delay`? Keys are rate, delay"; "key")]
    #[test_case("delay=5ms,delay=6ms", "--ab delay=6ms: `delay` is given twice; keep one"; "twice")]
    fn a_wrong_path_is_refused_by_place(text: &str, message: &str) {
        let Failure::Usage(problem) = Paths::default().change(Some(text), None).unwrap_err() else {
            panic!("not a matter of usage")
        };
        assert!(problem.starts_with(message), "{problem}");
    }
}
