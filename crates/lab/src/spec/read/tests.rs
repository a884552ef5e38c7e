//! Tests of reading experiments: errors name their place.

use super::*;
use crate::spec::buffer::BufferSize;
use crate::spec::builtin;
use crate::spec::kind::{CommandPair, Ends, KernelCc};
use crate::spec::setting::ReorderMode;
use profiles::units::Fraction;
use test_case::test_case;

const HEAD: &str = "summary = \"s\"\n[arms]\nuse = [\"rfc\"]\n";

fn parse(text: &str) -> Result<Experiment, String> {
    read("x", "x.toml", text).map_err(|error| error.to_string())
}

#[test]
fn the_built_in_experiments_are_what_was_promised() {
    let wan = builtin("wan").unwrap();
    assert_eq!(wan.point.rate.bits_per_sec(), 100_000_000);
    assert_eq!(wan.point.buffer, BufferSize::Bdp(Fraction::whole(1)));
    assert_eq!(wan.point.jitter, base::Duration::from_micros(100));
    assert_eq!(wan.sweep[0].values, ["25ms", "50ms", "100ms", "200ms"]);
    assert_eq!(wan.sweep[1].values, ["32MB", "128MB"]);
    assert_eq!(wan.iterations, 10);
    assert_eq!(
        wan.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(),
        ["server-2016", "server-2019", "server-2022", "linux", "longhaul"]
    );
    let mut reorder = builtin("reorder").unwrap();
    assert_eq!(reorder.point.reorder.probability, base::Ratio::new(1, 100).unwrap());
    assert_eq!(reorder.point.reorder.delay, base::Duration::from_millis(5));
    assert_eq!(reorder.point.reorder.mode, ReorderMode::Late);
    reorder.point.reorder = wan.point.reorder;
    assert_eq!((&reorder.point, &reorder.sweep, &reorder.arms), (&wan.point, &wan.sweep, &wan.arms));
    assert_eq!(builtin("nowhere"), None);
}

#[test]
fn everything_a_file_can_say_is_understood_in_any_order() {
    let text = r#"
        summary = "all of it"
        [expect]
        "slow.goodput / rfc.goodput" = { at_most = 1, at_least = 0.1 }
        [sweep]
        "slow.ack.delay" = ["10ms", "0.02s"]
        "path.buffer" = ["0.5bdp", "64kB"]
        [run]
        iterations = 3
        seed = 42
        [flow]
        seconds = 10
        [path]
        rate = "34.5mbit"
        loss = "0.1%"
        reorder.mode = "early"
        reorder.probability = 0.16
        [arms]
        use = ["slow", "rfc"]
        [arms.slow]
        profile = "longhaul"
        set = { "rto.min" = "500ms", "cc.pacing.quantum_segments" = 16, "cc.pacing.kind" = "window" }
        [arms.spare]
        profile = "rfc"
    "#;
    let found = parse(text).unwrap();
    assert_eq!(found.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), ["slow", "rfc", "spare"]);
    assert_eq!(rto_min(&found.arms[0]), Some(base::Duration::from_millis(500)));
    assert_eq!(found.sweep[0], Axis { key: "slow.ack.delay".into(), values: vec!["10ms".into(), "20ms".into()] });
    assert_eq!(found.sweep[1].values, ["0.5bdp", "64kB"]);
    assert_eq!((found.iterations, found.seed, found.expect.len()), (3, 42, 1));
    assert_eq!(found.expect[0].at_most, Some(1.0));
    let canonical = "path.rate=34500kbit path.rtt=100ms path.buffer=1bdp path.jitter=0ns path.loss=0.1% \
                     path.reorder.probability=16% path.reorder.delay=0ns path.reorder.mode=early flow.seconds=10s";
    assert_eq!(found.point.canonical(), canonical);
}

fn rto_min(arm: &ArmSpec) -> Option<base::Duration> {
    match arm.ends(&[]).unwrap() {
        Ends::Profile(config) => Some(config.rto.min),
        Ends::Kernel(_) | Ends::Command(_) => None,
    }
}

#[test]
fn the_kernel_and_pairs_of_commands_are_arms() {
    let text = r#"
        summary = "the real ones"
        [arms]
        use = ["kernel:bbr", "iperf", "rfc"]
        [arms.iperf]
        server = "iperf3 -s -1 -p {port}"
        client = "iperf3 -c {host} -p {port} -n {bytes}"
    "#;
    let kinds: Vec<ArmKind> = parse(text).unwrap().arms.into_iter().map(|arm| arm.kind).collect();
    let (server, client) = ("iperf3 -s -1 -p {port}".to_owned(), "iperf3 -c {host} -p {port} -n {bytes}".to_owned());
    assert_eq!(kinds[..2], [ArmKind::Kernel(KernelCc::Bbr), ArmKind::Command(CommandPair { server, client })]);
}

#[test_case("[arms]\nuse = [\"rfc\"]", "x.toml:1:1: `summary` is missing; say in one sentence what is compared"; "no summary")]
#[test_case("summary = \"s\"", "x.toml:1:1: `[arms]` is missing; write `[arms]` and"; "no arms")]
#[test_case("sumary = \"s\"", "x.toml:1:1: unknown key `sumary`; did you mean `summary`?"; "unknown section")]
#[test_case("[path]\nrt = 3", "x.toml:2:1: unknown key `rt`; did you mean `rtt`?"; "unknown key of the path")]
#[test_case("[path]\nreorder = { chance = 1 }", "x.toml:2:13: unknown key `chance`"; "unknown nested key")]
#[test_case("[path]\nrtt = 25", "x.toml:2:7: `25` is not a valid duration; use a number and one of ns, us, ms, s, min, h"; "no unit")]
#[test_case("[path]\nrtt = true", "x.toml:2:7: `rtt` is of type boolean; a string or a number belongs here"; "wrong type")]
#[test_case("[path]\nreorder = 5", "x.toml:2:11: `reorder` is of type integer; a table belongs here"; "scalar for a table")]
#[test_case("[flow]\nbytes = \"3Mbit\"", "x.toml:2:9: `3Mbit` is not a valid number of bytes; use"; "wrong unit")]
#[test_case("[arms]\nuse = [\"rfd\"]", "x.toml:2:8: no arm `rfd`; did you mean `rfc`?"; "unknown arm")]
#[test_case("[arms]\nuse = \"rfc\"", "x.toml:2:7: `use` is of type string; a list belongs here"; "arms that are no list")]
#[test_case("[arms]\nuse = []", "x.toml:2:7: `use` is an empty list; give it one value or more"; "empty list")]
#[test_case("[arms.path]\nprofile = \"rfc\"", "x.toml:1:7: `path` cannot be the name of an arm; use letters"; "reserved name")]
#[test_case("[arms.\"a.b\"]\nprofile = \"rfc\"", "x.toml:1:7: `a.b` cannot be the name of an arm; use letters"; "dotted name")]
#[test_case("[arms]\nuse = [\"kernel:tahoe\"]", "x.toml:2:8: no arm `kernel:tahoe`; the kernel's are `kernel:cubic`, `kernel:bbr`, `kernel:reno`"; "unknown kernel")]
#[test_case("[arms.a]\nserver = \"x {port}\"", "x.toml:1:7: arm `a` is half a pair; give it both a `server` and a `client`"; "half a pair")]
#[test_case("[arms.a]\nserver = \"x\"\nclient = \"y {host} {port} {bytes}\"", "x.toml:2:10: the server of arm `a` does not know where to meet; write `{port}`"; "server without a port")]
#[test_case("[arms.a]\nserver = \"x {port}\"\nclient = \"y {host} {port}\"", "x.toml:3:10: the client of arm `a` does not know where to meet; write `{host}`, `{port}` and `{bytes}`"; "client without a size")]
#[test_case("[arms.a]\nserver = \"x {port}\"\nprofile = \"rfc\"", "x.toml:3:1: unknown key `profile`"; "both kinds at once")]
#[test_case("[arms.a]\nset = {}", "x.toml:1:7: arm `a` has no `profile`; name the profile it starts from"; "arm without a profile")]
#[test_case("[arms.a]\nprofile = \"rfx\"", "x.toml:2:11: unknown profile `rfx`; did you mean `rfc`?"; "unknown profile")]
#[test_case("[arms.a]\nprofile = \"rfc\"\nset = { \"rto.mim\" = \"1s\" }", "x.toml:3:9: unknown leaf `rto.mim`: did you mean `rto.min`?; see"; "unknown leaf")]
#[test_case("[arms.a]\nprofile = \"rfc\"\nset = { \"rto.min\" = \"100s\" }", "x.toml:3:1: rto.min: must not exceed rto.max; "; "leaves that do not fit")]
#[test_case("[sweep]\n\"path.rtt\" = [\"25ms\", \"x\"]", "x.toml:2:23: `x` is not a valid duration; use"; "bad value in a sweep")]
#[test_case("[sweep]\n\"path.rt\" = [\"25ms\"]", "x.toml:2:1: unknown key `path.rt`; did you mean `path.rtt`?"; "unknown key in a sweep")]
#[test_case("[run]\niterations = 0", "x.toml:2:14: `0` iterations cannot be made; write 1 or more"; "no iterations")]
#[test_case("[run]\nsed = 1", "x.toml:2:1: unknown key `sed`; did you mean `seed`?"; "unknown key of the run")]
#[test_case("[arms]\nuse = [\"rfc\"]\n[expect]\n\"x.goodput\" = { at_least = 1 }", "x.toml:4:1: unknown arm `x`; there are rfc"; "condition on an unknown arm")]
#[test_case("[arms]\nuse = [\"rfc\"]\n[expect]\n\"rfc.speed\" = { at_least = 1 }", "x.toml:4:1: `rfc.speed` is not ARM.METRIC; the metrics are goodput"; "condition on nothing")]
#[test_case("[arms]\nuse = [\"rfc\"]\n[expect]\n\"rfc.rtos\" = { least = 1 }", "x.toml:4:16: unknown key `least`; did you mean `at_least`?"; "unknown bound")]
fn a_wrong_file_is_refused_with_its_place(text: &str, message: &str) {
    let found = parse(text).unwrap_err();
    assert!(found.starts_with(message), "{found}");
}

#[test]
fn what_a_file_leaves_out_has_a_default() {
    let found = parse(HEAD).unwrap();
    assert_eq!((found.iterations, found.seed, found.point), (10, 1, Point::default()));
    assert!(found.sweep.is_empty() && found.expect.is_empty() && found.source.is_empty());
}
