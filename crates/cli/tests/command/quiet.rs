//! What `--quiet` takes away, also on a terminal, where progress is drawn at once, and what stays.

use super::outside::{Ended, command};
use super::{SMALL, ab, text_of};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

/// What a command writes to stderr where that is a terminal, and its exit code.
fn on_terminal(arguments: &[&str]) -> (Option<i32>, String) {
    let size = Winsize { ws_row: 24, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).expect("the system has terminals");
    let mut child = {
        let mut command = command(arguments);
        command.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal.slave);
        command.spawn().expect("the program starts")
        // Its end of the terminal is then the program's alone.
    };
    let (mut written, mut piece, mut master) = (Vec::new(), [0; 4096], File::from(terminal.master));
    // A terminal whose other end is gone ends with an error.
    while let Ok(len @ 1..) = master.read(&mut piece) {
        written.extend_from_slice(&piece[..len]);
    }
    let code = child.wait().expect("it is our child").code();
    (code, String::from_utf8(written).expect("the program speaks UTF-8"))
}

#[test]
fn quiet_commands_draw_no_progress_and_write_no_notes_and_no_summary() {
    let directory = tempfile::tempdir().unwrap();
    let (kept, folder) = (directory.path().join("kept"), directory.path().join("flent"));
    assert_eq!(ab("wan", &["--arms", "linux,rfc", "--out", text_of(&kept)]).code, Some(0));
    let compare = [&["ab", "wan", "--arms", "linux,rfc"], &SMALL[..]].concat();
    let report = ["report", text_of(&kept), "--flent", text_of(&folder)];
    for (words, progress, said) in
        [(&compare[..], "/4 runs", "done: 4 runs"), (&report, "/2 data files", "2 data files of flent")]
    {
        let (code, loud) = on_terminal(words);
        assert!(code == Some(0) && loud.contains(progress) && loud.contains(said), "{loud}");
        assert_eq!(on_terminal(&[words, &["--quiet"]].concat()), (Some(0), String::new()));
    }
}

#[test]
fn a_quiet_command_still_says_which_runs_failed() {
    let fails = ["ab", "wan", "--backend", "mock", "--set", "flow.bytes=13B", "--set", "path.rtt=25ms"];
    let more = ["--arms", "rfc", "--iterations", "2"];
    let (code, loud) = on_terminal(&[&fails[..], &more].concat());
    assert!(code == Some(1) && loud.contains("/2 runs") && loud.contains("done: 2 runs"), "{loud}");
    let (code, quiet) = on_terminal(&[&fails[..], &more, &["--quiet"]].concat());
    assert!(code == Some(1) && quiet.starts_with("error: run 1/rfc/1 "), "{quiet}");
    assert!(!quiet.contains("/2 runs") && !quiet.contains("done: "), "{quiet}");
}

#[test]
fn a_quiet_comparison_has_the_page_of_any_other_and_so_has_what_it_kept() {
    let pages = |before: &[&str], after: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| -> Ended { command(words).current_dir(&directory).output().unwrap().into() };
        let written = ["--out", "kept", "--report", "page.html"];
        let made = run(&[before, &["ab", "wan", "--arms", "rfc"], &SMALL, after, &written].concat());
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let later = run(&["report", "kept", "--out", "-"]);
        assert_eq!(later.code, Some(0), "{}", later.stderr);
        [std::fs::read_to_string(directory.path().join("page.html")).unwrap(), later.stdout]
    };
    let loud = pages(&[], &[]);
    assert!(loud[0] == loud[1]);
    assert!(pages(&["--quiet"], &[]) == loud && pages(&[], &["--quiet"]) == loud);
}
