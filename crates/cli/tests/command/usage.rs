//! Wrong usage: one clear message on stderr — problem, place, remedy — and exit code 2.

use crate::{ab, longhaul, text_of};
use test_case::test_case;

#[track_caller]
fn refused(arguments: &[&str], message: &str) {
    let ended = longhaul(arguments);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.starts_with(&format!("error: {message}")), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test_case(&["ab", "wam"], "unknown experiment `wam`: did you mean `wan`? Built in are aqm, cellular, dsack, fairness, fairness-rtt, hystart, idle, jitter, lan-reorder, late-comer, leo, lost-retransmit, nic-reorder, parking-lot, policer, prr, reassembly, reorder, reorder-early, robust, rrul, short-flows, slow-start, smb, tail-loss, wan, wifi, window"; "experiment")]
#[test_case(&["ab", "no/such.toml"], "cannot read the experiment `no/such.toml`: "; "file")]
#[test_case(&["ab", "wan", "--set", "path.rt=25ms"], "--set path.rt=25ms: unknown key `path.rt`; did you mean `path.rtt`?"; "key")]
#[test_case(&["ab", "wan", "--set", "path.rtt=25"], "--set path.rtt=25: `25` is not a valid duration; use a number and one of ns, us, ms, s, min, h"; "unit")]
#[test_case(&["ab", "wan", "--set", "path.rtt=25ms,x"], "--set path.rtt=25ms,x: `x` is not a valid duration; use"; "unit in a list")]
#[test_case(&["ab", "wan", "--set", "longhaul.rto.mim=1s"], "--set longhaul.rto.mim=1s: unknown key `longhaul.rto.mim`; did you mean `longhaul.rto.min`?"; "leaf")]
#[test_case(&["ab", "wan", "--set", "longhaul.rto.min=90s"], "arm longhaul: rto.min: must not exceed rto.max; "; "values together")]
#[test_case(&["ab", "wan", "--arms", "longhual"], "--arms longhual: unknown arm or profile `longhual`; did you mean `longhaul`?"; "arm")]
#[test_case(&["ab", "wan", "--arms", "longhaul,kernel:bbr"], "arm kernel:bbr: only profiles can be simulated; make the runs in real time with `--backend netns`"; "kernel in the simulator")]
#[test_case(&["ab", "wan", "--arms", "kernel:tahoe"], "--arms kernel:tahoe: no arm `kernel:tahoe`; the kernel's are `kernel:cubic`, "; "kernel arm")]
#[test_case(&["ab", "wan", "--run", "9/longhaul/1"], "--run 9/longhaul/1: no such run; cells are 1 to 8, arms "; "run")]
#[test_case(&["ab", "wan", "--out", "/dev/null/below"], "--out: cannot write `/dev/null/below`: "; "out")]
#[test_case(&["ab", "wan", "--run", "1/longhaul/1", "--trace", "/dev/null/x"], "--trace: cannot write `/dev/null/x`: "; "trace")]
#[test_case(&["tune", "--leaf", "rto.mim=1s"], "--leaf rto.mim=1s: unknown leaf `rto.mim`: did you mean `rto.min`?; `longhaul profiles longhaul` shows its leaves"; "leaf to tune")]
#[test_case(&["tune", "--leaf", "rto.min"], "--leaf rto.min: `rto.min` is not LEAF=VALUE,…; write for example "; "leaf without values")]
#[test_case(&["tune", "--leaf", "rto.min=1s", "--leaf", "rto.min=2s"], "--leaf rto.min=2s: `rto.min` is named twice; name all values at once"; "leaf named twice")]
#[test_case(&["tune", "--seed", "1"], "--seed 1: with this seed `robust` judges what was tuned; take another"; "seed that judges")]
#[test_case(&["tune", "--seed", "0"], "--seed 1: with this seed `robust` judges what was tuned; take another"; "seed before one that judges")]
#[test_case(&["tune", "--profile", "rfc"], "--profile rfc: it differs from `rfc` in nothing; name leaves with `--leaf`"; "nothing to tune")]
#[test_case(&["tune", "robst"], "unknown experiment `robst`: did you mean `robust`?"; "ground of tune")]
#[test_case(&["tune", "--set", "path.rt=1s"], "--set path.rt=1s: unknown key `path.rt`; did you mean `path.rtt`?"; "key of tune")]
#[test_case(&["tune", "wan", "--budget", "9"], "--budget 9: one value takes 288 runs, with the profile as it is, the reference and the confirmation; "; "budget")]
#[test_case(&["ab", "wan", "--report", "/dev"], "--report /dev: it is a directory; name a file in a folder that can be written"; "report in place of a folder")]
#[test_case(&["ab", "wan", "--report", "/dev/null/x"], "--report /dev/null/x: Not a directory (os error 20); name a file in a folder that can be written"; "report")]
#[test_case(&["ab", "wan", "--report", "-"], "--report -: stdout has the rows already; name a file"; "report to stdout")]
#[test_case(&["report", "/dev"], "`/dev`: no kept results are there; name a directory in which `longhaul ab EXPERIMENT --out DIR` kept its runs"; "report of another folder")]
#[test_case(&["report", "no/such"], "`no/such`: No such file or directory (os error 2); name a directory in which `longhaul ab"; "report of no folder")]
#[test_case(&["profiles", "server-2021"], "unknown profile `server-2021`: did you mean `server-2022`?"; "profile")]
#[test_case(&["view", "no/such"], "`no/such`: No such file or directory (os error 2); `longhaul run EXPERIMENT --trace DIR` makes"; "trace to view")]
#[test_case(&["link", "--a", "dev=wa0", "--b", "dev=wb0"], "--a dev=wa0: `addr=ADDRESS/PREFIX` is missing, as in dev=wa0,addr="; "end of a link")]
#[test_case(&["link", "--a", "dev=wa0,addr=10.77.0.1/24", "--b", "dev=wb0,addr=10.77.0.2/24", "--ba", "rate=10mbyte"], "--ba rate=10mbyte: `10mbyte` is not a valid rate: use"; "rate of a link")]
#[test_case(&["link", "--a", "dev=wa0,addr=10.77.0.1/24", "--b", "dev=wb0,addr=10.77.0.2/24", "--for", "long"], "--for long: `long` is not a valid duration: use"; "end of time")]
#[test_case(&["model", "geo"], "MODEL geo: `geo` is not a known model; did you mean `leo`? Use leo, lte, 5g, wifi"; "model")]
#[test_case(&["ab", "wan", "--set", "path.changes=10s"], "--set path.changes=10s: `10s` does not say what changes when; write for example"; "schedule")]
#[test_case(&["link", "set"], "link set: nothing to change; write for example --ab rate=50mbit"; "nothing to set")]
#[test_case(&["link", "stats", "--control", "/dev/null/x"], "--control /dev/null/x: no link answers there: "; "no such link")]
#[test_case(&["serve", "echo", ".", "--tun", "lh0", "--addr", "10.9.0.2/24"], "DIR goes with `http`; echo serves no files"; "folder of another service")]
#[test_case(&["serve", "http", "no/such", "--tun", "lh0", "--addr", "10.9.0.2/24"], "cannot serve `no/such`: No such file or directory (os error 2); name a folder"; "folder")]
#[test_case(&["serve", "chargen", "--loss", "1%", "--tun", "lh0", "--addr", "10.9.0.2/24"], "--loss goes with discard and echo alone, without --control, --metrics and --shards"; "loss")]
#[test_case(&["serve", "echo", "--loss", "1%", "--shards", "2", "--tun", "lh0", "--addr", "10.9.0.2/24"], "--loss goes with discard and echo alone, without"; "loss and shards")]
#[test_case(&["connections", "--control", "/dev/null/x"], "--control /dev/null/x: no `serve` or `proxy` answers there: "; "no such stack")]
#[test_case(&["proxy", "--tun", "lh0", "--addr", "10.9.0.2/24", "--second-addr", "10.9.1.2/24"], "--second-addr: 10.9.1.2 is of the IP version of 10.9.0.2; give one of the other version"; "two addresses of one version")]
fn a_wrong_word_is_refused_by_name(arguments: &[&str], message: &str) {
    refused(arguments, message);
}

#[test_case(&["ab"]; "no experiment")]
#[test_case(&["ab", "wan", "--iterations", "0"]; "no iterations")]
#[test_case(&["ab", "wan", "--jobs", "0"]; "no jobs")]
#[test_case(&["ab", "wan", "--format", "xml"]; "format")]
#[test_case(&["ab", "wan", "--run", "1"]; "name of a run")]
#[test_case(&["ab", "wan", "--trace", "x"]; "trace of everything")]
#[test_case(&["serve", "http", "--tun", "lh0", "--addr", "10.9.0.2/24"]; "no folder")]
#[test_case(&["proxy", "--tun", "lh0", "--addr", "10.9.0.2/24", "--user", "me"]; "no password")]
#[test_case(&["proxy", "--tun", "lh0", "--addr", "10.9.0.2/24", "--transparent", "--listen", "127.0.0.1:1"]; "two ways of a proxy")]
#[test_case(&["proxy", "--tun", "lh0", "--addr", "10.9.0.2/24", "--out", "eth0"]; "way out of no transparent proxy")]
#[test_case(&["proxy", "--tun", "lh0", "--addr", "10.9.0.2/24", "--late-requests", "9"]; "late requests of no transparent proxy")]
#[test_case(&["serve", "echo", "--tun", "lh0", "--addr", "10.9.0.2/24", "--shards", "300"]; "too many shards")]
#[test_case(&["serve", "echo", "--tun", "lh0", "--addr", "10.9.0.2/24", "--shards", "2", "--trace", "x"]; "trace of several shards")]
#[test_case(&["frobnicate"]; "subcommand")]
fn an_option_out_of_range_is_refused_without_output(arguments: &[&str]) {
    let ended = longhaul(arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.starts_with("error: "), "{}", ended.stderr);
}

#[test]
fn a_wrong_file_is_shown_with_line_and_column() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.toml");
    std::fs::write(&path, "summary = \"mine\"\n[arms]\nuse = [\"rfc\"]\n[path]\nrtt = \"25 parsecs\"\n").unwrap();
    let ended = longhaul(&["ab", text_of(&path)]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let first = ended.stderr.lines().next().unwrap();
    assert!(
        first.ends_with(
            "mine.toml:5:7: `25 parsecs` is not a valid duration; use a number and one of ns, us, ms, s, min, h, for example `25ms`"
        ),
        "{first}"
    );
    assert!(ended.stderr.contains("rtt = \"25 parsecs\""), "{}", ended.stderr);
}

#[test]
fn a_results_file_of_something_else_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("runs.jsonl");
    std::fs::write(&path, "{\"mine\": true}\n").unwrap();
    let ended = ab("wan", &["--out", text_of(directory.path())]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("line 1 is not a longhaul result"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"mine\": true}\n");
}

#[test]
fn a_quiet_command_says_nothing_but_its_result() {
    let loud = ab("wan", &["--arms", "linux,rfc"]);
    let quiet = ab("wan", &["--arms", "linux,rfc", "--quiet"]);
    assert_eq!((loud.code, quiet.code), (Some(0), Some(0)), "{}", loud.stderr);
    assert!(loud.stderr.contains("done: ") && quiet.stderr.is_empty(), "{}", quiet.stderr);
    assert_eq!(loud.stdout, quiet.stdout);
    let wrong = longhaul(&["--quiet", "ab", "no-such-experiment"]);
    assert!(wrong.code == Some(2) && wrong.stderr.starts_with("error: "), "{}", wrong.stderr);
}
