//! The table of keys that set a cell's network and flow.
//!
//! A key (`path.rtt`, `flow.bytes`) means the same in an experiment file, in a sweep and after `--set`, because all three
//! go through [`keys`].

mod flow;
mod host;
mod key;
mod life;
mod path;

pub use key::{Form, Key};

use crate::spec::managed_queue::DROP_TAIL;
use crate::spec::setting::Point;

/// The keys by what they are about, in the order of [`Point::settings`].
const GROUPS: [&[Key]; 4] = [path::KEYS, life::KEYS, host::KEYS, flow::KEYS];

/// Returns every key except those of arms.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    GROUPS.into_iter().flatten()
}

impl Key {
    /// The key of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        keys().find(|key| key.name == name)
    }
}

impl Point {
    /// Returns the settings that apply, key and canonical value, in a fixed order. The drop-tail queue is left out: runs over it
    /// were recorded before there were others.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let one = self.company.is_empty();
        let applies = move |name: &str| match name {
            "flow.bytes" | "flow.seconds" => one,
            "flow.company" | "flow.mix" | "flow.window" | "flow.orders" | "flow.harm" => !one,
            // A model sets them.
            "path.rate" => self.life.model.is_none(),
            "path.rtt" => self.life.model.is_none_or(|model| model.model.delay().is_none()),
            _ => true,
        };
        let shown = keys().filter(move |key| applies(key.name)).filter_map(|key| Some((key.name, (key.show)(self)?)));
        shown.filter(|(_, value)| value != DROP_TAIL)
    }

    /// Returns those settings that make the path more than a pipe.
    pub(crate) fn living(&self) -> impl Iterator<Item = (&'static str, String)> {
        life::KEYS.iter().filter_map(|key| Some((key.name, (key.show)(self)?)))
    }

    /// Returns every setting in a fixed order and in display form: two points with the same text are the same network.
    pub fn canonical(&self) -> String {
        self.settings().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;
    use netem::Buffer;
    use test_case::test_case;

    #[test]
    fn every_key_reads_what_its_form_announces() {
        for key in keys() {
            let examples = match key.form {
                Form::Words(words) => words.to_vec(),
                Form::Text(example) => vec![example],
                Form::Quantity(notation) | Form::Optional(notation) => {
                    vec![notation.meaning().split('`').nth(1).expect("it has an example")]
                }
            };
            for example in examples {
                let read = key.set(&mut Point::default(), example);
                assert!(read.is_ok(), "{} = {example}: {}", key.name, read.unwrap_err());
            }
            let none = key.set(&mut Point::default(), "none").is_ok();
            assert!(none || !matches!(key.form, Form::Optional(_)), "{}", key.name);
            assert!(!none || !matches!(key.form, Form::Quantity(_)), "{} may be none", key.name);
            assert!(
                !matches!(key.form, Form::Words(_)) || key.set(&mut Point::default(), "other").is_err(),
                "{}",
                key.name
            );
        }
    }

    fn set(name: &str, text: &str) -> Result<String, String> {
        let set = Key::find(name).expect("the key exists").set(&mut Point::default(), text);
        set.map_err(|refusal| refusal.to_string())
    }

    #[test_case("path.rate", "34.5MBIT", "34500kbit")]
    #[test_case("path.rate", "40 Mbit/s", "40Mbit")]
    #[test_case("path.rtt", "0.2s", "200ms")]
    #[test_case("path.buffer", "1BDP", "1bdp")]
    #[test_case("path.buffer", "0.5bdp", "0.5bdp")]
    #[test_case("path.buffer", "400pkt", "400pkt")]
    #[test_case("path.buffer", "64kb", "64kB")]
    #[test_case("path.queue", "DropTail", "droptail")]
    #[test_case("path.queue", "CODEL/target=10000us", "codel target=10ms")]
    #[test_case("path.jitter", "100us", "100us")]
    #[test_case("path.loss", "0.1%", "0.1%")]
    #[test_case("path.loss", "0.001", "0.1%")]
    #[test_case("path.drop", "1000kB x2 + last 3", "1MB x2 + last 3")]
    #[test_case("path.drop", "none", "none")]
    #[test_case("path.reorder.mode", "EARLY", "early")]
    #[test_case("path.reorder.queues", "4X8/0.002s", "4x8/2ms")]
    #[test_case("path.reorder.queues", "none", "none")]
    #[test_case("path.duplicate", "0.01", "1%")]
    #[test_case("path.duplicate", "0", "none"; "no copies")]
    #[test_case("path.bursts", " 1/300/2.50", "1/300/2.5")]
    #[test_case("path.bursts", "0.005/4", "0.5%/4")]
    #[test_case("path.bursts", "0%/4", "none"; "no losses")]
    #[test_case("path.policer", "20000kbit/s / 64KB", "20Mbit/64kB")]
    #[test_case("path.policer", "none", "none"; "no policer")]
    #[test_case("path.changes", "12s/outage=0.3s + 10s rate=5Mbit", "10s rate=5Mbit + 12s outage=300ms")]
    #[test_case("path.changes", "none", "none"; "no changes")]
    #[test_case("path.model", "LEO every=10s", "leo every=10s")]
    #[test_case("path.model", "none", "none"; "no model")]
    #[test_case("path.release", "1ms .. 0.005s", "1ms..5ms")]
    #[test_case("path.release", "5ms..5ms", "5ms"; "equal gaps")]
    #[test_case("path.release", "0..0", "none"; "no gaps")]
    #[test_case("path.back.rate", "1000kbit", "1Mbit")]
    #[test_case("path.back.rate", "none", "none"; "no bottleneck back")]
    #[test_case("path.back.buffer", "20PKT", "20pkt"; "back")]
    #[test_case("path.back.queue", "Same", "same"; "queue back")]
    #[test_case("path.back.queue", "codel target=10000us", "codel target=10ms"; "managed back")]
    #[test_case("path.back.loss", "0.01", "1%"; "loss back")]
    #[test_case("path.back.loss", "0", "none"; "no loss back")]
    #[test_case("path.back.release", "5ms", "5ms"; "releases back")]
    #[test_case("path.back.thin", "5000us", "5ms")]
    #[test_case("path.second.rate", "10000kbit", "10Mbit")]
    #[test_case("path.second.rate", "none", "none"; "one bottleneck")]
    #[test_case("path.second.rtt", "0.02s", "20ms")]
    #[test_case("path.second.queue", "codel target=10000us", "codel target=10ms"; "managed behind")]
    #[test_case("path.back.thin", "0", "none"; "no thinning")]
    #[test_case("path.bursts", "NONE", "none"; "no bursts")]
    #[test_case("host.sender.remembers", "2500KB / 0.2s", "2500kB/200ms")]
    #[test_case("host.sender.remembers", "none", "none"; "nothing remembered")]
    #[test_case("flow.bytes", "32mb", "32MB")]
    #[test_case("flow.seconds", "10", "10s")]
    #[test_case("flow.harm", "Measured", "measured")]
    #[test_case("flow.harm", "none", "none")]
    #[test_case("flow.startup", "MEASURED", "measured")]
    #[test_case("flow.mix", "0.1", "10%")]
    #[test_case("flow.mix", "none", "none"; "no mix")]
    fn a_setting_is_shown_in_canonical_form_and_reads_back(name: &str, text: &str, canonical: &str) {
        assert_eq!(set(name, text).as_deref(), Ok(canonical));
        assert_eq!(set(name, canonical).as_deref(), Ok(canonical), "it reads back");
    }

    #[test_case("path.rtt", "25")]
    #[test_case("path.rtt", "0ms")]
    #[test_case("path.rate", "100MB")]
    #[test_case("path.buffer", "0bdp")]
    #[test_case("path.buffer", "1.5pkt")]
    #[test_case("path.buffer", "1xyz")]
    #[test_case("path.queue", "red")]
    #[test_case("path.loss", "2")]
    #[test_case("path.drop", "first 3")]
    #[test_case("path.reorder.mode", "sideways")]
    #[test_case("path.reorder.queues", "8")]
    #[test_case("path.duplicate", "2"; "more than all")]
    #[test_case("path.bursts", "1%")]
    #[test_case("path.release", "5ms..1ms")]
    #[test_case("path.changes", "10s")]
    #[test_case("path.model", "leo every=0s")]
    #[test_case("path.release", "5")]
    #[test_case("path.back.rate", "1MB")]
    #[test_case("path.back.buffer", "0")]
    #[test_case("path.back.loss", "1.5")]
    #[test_case("path.back.thin", "always")]
    #[test_case("path.second.rate", "10MB")]
    #[test_case("path.second.rtt", "20")]
    #[test_case("path.second.buffer", "0bdp")]
    #[test_case("path.second.queue", "red")]
    #[test_case("path.policer", "20Mbit")]
    #[test_case("path.policer", "20Mbit/64")]
    #[test_case("path.policer", "fast/64kB")]
    #[test_case("path.policer", "20Mbit/1kB")]
    #[test_case("path.bursts", "1%/half")]
    #[test_case("path.bursts", "1%/0.5")]
    #[test_case("path.bursts", "90%/2")]
    #[test_case("flow.bytes", "0")]
    #[test_case("flow.harm", "much")]
    #[test_case("flow.startup", "soon")]
    #[test_case("flow.mix", "100%")]
    #[test_case("host.sender.remembers", "2500kB")]
    #[test_case("host.sender.remembers", "0B/200ms")]
    #[test_case("host.sender.remembers", "8GB/200ms")]
    fn a_wrong_setting_is_refused_with_what_would_be_right(name: &str, text: &str) {
        let problem = set(name, text).unwrap_err();
        assert!(problem.contains("write ") || problem.contains("use "), "{problem}");
    }

    #[test_case("1bdp", Buffer::Bytes(1_250_000))]
    #[test_case("0.25bdp", Buffer::Bytes(312_500))]
    #[test_case("10pkt", Buffer::Packets(10))]
    fn a_buffer_in_bandwidth_delay_products_follows_the_path(text: &str, expected: Buffer) {
        let mut point = Point::default();
        Key::find("path.buffer").unwrap().set(&mut point, text).unwrap();
        assert_eq!(point.buffer(), expected);
    }

    #[test_case("codel", Buffer::Packets(1_000))]
    #[test_case("fq_codel", Buffer::Packets(10_240))]
    #[test_case("pie limit=1bdp", Buffer::Bytes(1_250_000))]
    #[test_case("droptail", Buffer::Bytes(1_250_000))]
    fn a_managed_queue_has_room_of_its_own(text: &str, expected: Buffer) {
        let mut point = Point::default();
        Key::find("path.queue").unwrap().set(&mut point, text).unwrap();
        assert_eq!(point.buffer(), expected);
    }

    #[test]
    fn a_rate_can_follow_a_trace() {
        let file = std::env::temp_dir().join(format!("longhaul-rate-{}.trace", std::process::id()));
        let text = format!("Trace:{}", file.display());
        let with = |contents: &str| {
            std::fs::write(&file, contents).unwrap();
            let mut point = Point::default();
            let shown =
                Key::find("path.rate").unwrap().set(&mut point, &text).map_err(|refusal| refusal.to_string())?;
            Ok::<_, String>((shown, point))
        };
        let (shown, mut point) = with("1\n1\n3\n6\n").unwrap();
        assert_eq!(shown, format!("trace:{}", file.display()));
        assert_eq!(
            (point.rate.bits_per_sec(), point.buffer()),
            (8_000_000, Buffer::Bytes(100_000)),
            "one product of the mean"
        );
        Key::find("path.rate").unwrap().set(&mut point, "10Mbit").unwrap();
        assert_eq!(point, Point { rate: Rate::from_bits_per_sec(10_000_000).unwrap(), ..Point::default() });
        let problem = with("1\n2.5\n").unwrap_err();
        assert_eq!(
            problem,
            format!(
                "`{}`, line 2: `2.5` is not a whole number of milliseconds below 2^32: write digits only",
                file.display()
            )
        );
        std::fs::remove_file(&file).unwrap();
        let problem = set("path.rate", &text).unwrap_err();
        assert!(
            problem.contains("cannot be read (") && problem.contains("): write `trace:` and the path"),
            "{problem}"
        );
    }

    #[test]
    fn devices_that_merge_and_datagrams_do_not_go_together() {
        for (key, value) in [("host.offload", "on"), ("host.sender.merge", "2ms"), ("host.receiver.merge", "2ms")] {
            let mut point = Point::default();
            for (key, value) in [("flow.company", "arm + ping every=200ms"), (key, value)] {
                assert_eq!(point.check(), Ok(()));
                Key::find(key).unwrap().set(&mut point, value).unwrap();
            }
            let problem = point.check().unwrap_err().to_string();
            assert!(problem.contains("do not know datagrams") && problem.contains("take `datagrams`"), "{problem}");
        }
    }

    #[test]
    fn packets_leave_the_order_in_one_way_only() {
        let mut point = Point::default();
        for (key, value) in [("path.reorder.queues", "4x8/2ms"), ("path.reorder.probability", "1%")] {
            assert_eq!(point.check(), Ok(()));
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let problem = point.check().unwrap_err().to_string();
        assert!(problem.contains("by probability and by queues: set "), "{problem}");
    }

    #[test]
    fn the_way_back_has_a_product_of_its_own_rate_at_least_ten_packets() {
        let room = |settings: &[(&str, &str)]| {
            let mut point = Point::default();
            for (key, value) in settings {
                Key::find(key).unwrap().set(&mut point, value).unwrap();
            }
            point.check().map(|()| point.life.back.room(point.rtt, None)).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(room(&[]), Ok(Buffer::Unlimited));
        assert_eq!(room(&[("path.back.rate", "10Mbit")]), Ok(Buffer::Bytes(125_000)));
        assert_eq!(room(&[("path.back.rate", "100kbit")]), Ok(Buffer::Bytes(15_000)));
        let chosen = [("path.back.rate", "100kbit"), ("path.back.buffer", "2bdp")];
        assert_eq!(room(&chosen), Ok(Buffer::Bytes(3_000)));
        let problem = room(&chosen[1..]).unwrap_err();
        assert!(problem.contains("a buffer and no bottleneck: set `path.back.rate`"), "{problem}");
    }

    #[test]
    fn the_second_bottleneck_has_a_product_of_its_rate_and_both_round_trips() {
        let mut point = Point::default();
        for (key, value) in [("path.rtt", "60ms"), ("path.second.rate", "8Mbit"), ("path.second.rtt", "40ms")] {
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let second = point.life.second;
        assert_eq!(second.room(second.rate.unwrap(), point.whole_rtt()), Buffer::Bytes(100_000));
        let text = point.canonical();
        assert!(text.contains("path.second.rate=8Mbit path.second.rtt=40ms path.second.buffer=1bdp"), "{text}");
    }

    #[test]
    fn packets_are_lost_in_one_way_only() {
        let mut point = Point::default();
        for (key, value) in [("path.bursts", "1%/4"), ("path.loss", "1%")] {
            assert_eq!(point.check(), Ok(()));
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let problem = point.check().unwrap_err().to_string();
        assert!(problem.contains("at random and in bursts: set "), "{problem}");
    }

    #[test_case(&[("path.bursts", "1%/4"), ("path.changes", "1s loss=1%")], "lost at random and in bursts")]
    #[test_case(&[("path.model", "lte"), ("path.changes", "1s rate=1Mbit")], "a model sets the rate, and something else does")]
    #[test_case(&[("path.model", "leo"), ("path.changes", "1s rtt=10ms")], "a model and a schedule set the round-trip time")]
    #[test_case(&[("path.second.rtt", "9ms")], "a delay, a buffer or a queue, and no rate")]
    #[test_case(&[("flow.company", "arm hops=second")], "`arm x1 hops=second` cross one of two bottlenecks, and there is one")]
    #[test_case(&[("path.second.rate", "1Mbit"), ("flow.startup", "measured")], "starts are measured at one bottleneck")]
    #[test_case(&[("path.model", "wifi"), ("path.release", "1ms")], "groups of the model and of the path")]
    fn what_does_not_fit_together_is_refused(settings: &[(&str, &str)], problem: &str) {
        let mut point = Point::default();
        for (key, value) in settings {
            assert_eq!(point.check(), Ok(()));
            Key::find(key).unwrap().set(&mut point, value).unwrap();
        }
        let refusal = point.check().unwrap_err();
        assert!(refusal.problem.contains(problem) && refusal.remedy.starts_with("set "), "{refusal}");
    }

    #[test]
    fn a_model_sets_what_sizes_are_counted_in() {
        let with = |model: &str| {
            let mut point = Point::default();
            Key::find("path.model").unwrap().set(&mut point, model).unwrap();
            (point.buffer(), point.canonical())
        };
        let (buffer, text) = with("leo");
        assert_eq!(buffer, Buffer::Bytes(625_000), "125 Mbit/s and 40 ms");
        assert!(text.starts_with("path.buffer=1bdp ") && text.contains(" path.model=leo "), "{text}");
        let (buffer, text) = with("lte mean=8Mbit");
        assert_eq!(buffer, Buffer::Bytes(100_000), "8 Mbit/s and the path's 100 ms");
        assert!(text.starts_with("path.rtt=100ms "), "{text}");
    }

    #[test]
    fn equal_networks_have_equal_text_however_they_were_written() {
        let (mut a, mut b) = (Point::default(), Point::default());
        for (key, one, other) in
            [("path.rtt", "0.025s", "25ms"), ("path.loss", "1%", "0.01"), ("flow.bytes", "2MB", "2000kB")]
        {
            Key::find(key).unwrap().set(&mut a, one).unwrap();
            Key::find(key).unwrap().set(&mut b, other).unwrap();
        }
        assert_eq!(a.canonical(), b.canonical());
        assert!(a.canonical().starts_with("path.rate=100Mbit path.rtt=25ms path.buffer=1bdp"), "{}", a.canonical());
    }
}
