//! Parts of an experiment for batch systems, and the engine that is not threads.

use crate::outside::longhaul;
use crate::text_of;
use std::collections::BTreeMap;
use std::path::Path;

/// Eight units: a unit is cut by what a path could carry, and losses let it carry little.
const SWEEP: [&str; 10] = [
    "--arms",
    "linux,longhaul",
    "--iterations",
    "8",
    "--set",
    "path.rate=10Gbit",
    "--set",
    "path.loss=5%",
    "--set",
    "flow.seconds=2",
];
const CELL: [&str; 2] = ["--set", "path.rtt=200ms"];

fn shards(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = ["runs", "flows"].map(|table| std::fs::read_dir(folder.join(table)).expect("there are shards"));
    let paths = files.into_iter().flatten().map(|entry| entry.expect("it can be read").path());
    paths.map(|path| (text_of(path.strip_prefix(folder).unwrap()).to_owned(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn seven_parts_in_any_order_are_the_bytes_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (parts, whole) = (folder.path().join("parts"), folder.path().join("whole"));
    for part in ["5", "2", "7", "1", "6", "3", "4", "2"] {
        let words = ["unit", part, "of", "7", "wan", "--out", text_of(&parts)];
        let made = longhaul(&[&words[..], &SWEEP, &CELL].concat());
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let units = if part == "1" { 2 } else { 1 };
        assert_eq!(made.stdout, format!("part {part} of 7: {units} units, {} runs, 0 failed\n", units * 2));
    }
    let words = ["ab", "wan", "--jobs", "2", "--out", text_of(&whole)];
    assert_eq!(longhaul(&[&words[..], &SWEEP, &CELL].concat()).code, Some(0));
    let expected = shards(&whole);
    assert_eq!(expected.len(), 16);
    assert!(shards(&parts) == expected, "the same names and bytes");
    let words = ["ab", "wan", "--out", text_of(&parts)];
    let again = longhaul(&[&words[..], &SWEEP, &CELL].concat());
    assert!(again.stderr.contains("16 runs"), "{}", again.stderr);
    assert!(shards(&parts) == expected, "nothing was made again");
}

#[test]
fn a_part_that_is_not_there_is_refused() {
    let refused = longhaul(&["unit", "4", "of", "3", "wan", "--out", "nowhere"]);
    assert_eq!(
        (refused.code, refused.stderr.as_str()),
        (Some(2), "error: there is no part 4 of 3; parts are 1 to 3\n")
    );
    let refused = longhaul(&["unit", "1", "of", "3", "wan", "--out", "nowhere", "--set", "path.rt=1ms"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("did you mean `path.rtt`?"), "{}", refused.stderr);
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn ray_needs_a_folder_and_an_interpreter_with_the_package() {
    let ray = |more: &[&str]| longhaul(&[&["ab", "wan", "--engine", "ray"], more].concat());
    let folder = tempfile::tempdir().unwrap();
    let out = text_of(folder.path());
    for (more, message) in [
        (&[][..], "error: --engine ray: Ray's machines have no place for results; name a folder"),
        (
            &["--out", "s3://bucket/it"],
            "error: --out s3://bucket/it: it is a URL; name a folder, or use `run(out=URL)`",
        ),
        (&["--out", out, "--backend", "netns"], "error: --engine ray: it does not go with `--backend`; leave one"),
        (&["--out", out, "--python", "no-such-python"], "error: --engine ray: `no-such-python`: No such file"),
        (
            &["--out", out, "--python", "false"],
            "error: --engine ray: `false` has no package `longhaul`; run `pip install .`",
        ),
    ] {
        let refused = ray(more);
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.starts_with(message), "{}", refused.stderr);
    }
}
