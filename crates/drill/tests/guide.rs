//! The commands of the guide's page about scripts, as they are shown, with the program that these tests build.

use std::path::Path;
use std::process::Command;

const OURS: &str = "# cargo run --release -p longhaul-drill -- ";

#[test]
fn the_runner_does_what_the_guide_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/guide/packetdrill.md")).unwrap();
    let shown: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(OURS)).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    for arguments in shown {
        let mut runner = Command::new(env!("CARGO_BIN_EXE_longhaul-drill"));
        let ended = runner.args(arguments.split_whitespace()).current_dir(&root).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success(), "{arguments}\n{out}{err}");
    }
}
