//! Tests of the registry's names: what each turns into, alone, together and inherited.

use crate::builtin::{BUILTIN, load};
use crate::profile::Profile;
use test_case::test_case;

/// The built-in profiles, and children of `windows-2000` with these registry tables, each extending the one before.
fn lineage(tables: &[&str]) -> Result<Vec<Profile>, String> {
    let mut files: Vec<(String, String)> =
        BUILTIN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    for (index, table) in tables.iter().enumerate() {
        let parent = if index == 0 { "windows-2000".to_owned() } else { format!("heir-{index}") };
        let settings: String = table
            .split_whitespace()
            .map(|set| set.split_once('=').expect("NAME=VALUE"))
            .map(|(name, value)| {
                format!("{name} = {{ value = {value}, source = \"here\", confidence = \"measured\" }}\n")
            })
            .collect();
        let text = format!("extends = \"{parent}\"\nsummary = \"an heir\"\n[registry]\n{settings}");
        files.push((format!("heir-{}", index + 1), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    load(&files).map_err(|error| error.to_string())
}

fn last(tables: &[&str]) -> Result<Profile, String> {
    Ok(lineage(tables)?.pop().expect("an heir"))
}

fn read(profile: &Profile, path: &str) -> String {
    profile.leaf(path).map_or_else(|| "–".to_owned(), |cited| cited.value.clone())
}

#[test_case("TcpWindowSize=16384", "16KiB"; "the default")]
#[test_case("TcpWindowSize=0", "5840B"; "never less than four segments")]
#[test_case("TcpWindowSize=131400", "131400B"; "ninety segments")]
#[test_case("TcpWindowSize=269000000", "269MB"; "a quarter of a gigabyte")]
#[test_case("GlobalMaxTcpWindowSize=131400", "131400B"; "the one for all interfaces")]
#[test_case("GlobalTcpMaxWindowSize=131400", "131400B"; "the same misspelt")]
#[test_case("GlobalMaxTcpWindowSize=131400 TcpWindowSize=16384", "16KiB"; "an interface's own comes first")]
#[test_case("tcpwindowsize=131400 TCP1323OPTS=3", "131400B"; "in any case")]
fn the_window_is(table: &str, bytes: &str) {
    let profile = last(&[table]).unwrap();
    assert_eq!(read(&profile, "receive.window.kind"), "fixed");
    assert_eq!(read(&profile, "receive.window.bytes"), bytes);
    assert_eq!(read(&profile, "receive.rounding"), "segments");
}

#[test_case(16_384, 0)]
#[test_case(131_400, 2)]
#[test_case(269_000_000, 13)]
#[test_case(0x3FFF_C000, 14)]
fn the_shift_is_the_smallest_that_expresses_the_window(window: u32, shift: u8) {
    let profile = last(&[&format!("TcpWindowSize={window} Tcp1323Opts=1")]).unwrap();
    assert_eq!(profile.config().options.window_scale, tcp::config::WindowScaleConfig::FromBuffer);
    assert_eq!(profile.config().receive.window.shift(), Some(shift));
}

#[test_case("TcpWindowSize=16384", "answer", "answer"; "absent, a window that needs none")]
#[test_case("TcpWindowSize=131400", "from_buffer", "answer"; "absent, a window that needs scaling")]
#[test_case("Tcp1323Opts=0", "off", "off")]
#[test_case("Tcp1323Opts=1", "from_buffer", "off")]
#[test_case("Tcp1323Opts=2", "off", "offer")]
#[test_case("Tcp1323Opts=3", "from_buffer", "offer")]
fn options_are(table: &str, scale: &str, timestamps: &str) {
    let profile = last(&[table]).unwrap();
    assert_eq!(read(&profile, "options.window_scale.kind"), scale);
    assert_eq!(read(&profile, "options.timestamps"), timestamps);
}

#[test_case("TcpMaxDupAcks=1", "recovery.detector.dup_thresh", "1")]
#[test_case("TcpMaxDupAcks=3", "recovery.detector.dup_thresh", "3")]
#[test_case("SackOpts=0", "options.sack", "off")]
#[test_case("SackOpts=1", "options.sack", "offer")]
#[test_case("TcpDelAckTicks=3", "ack.delay", "300ms")]
#[test_case("TcpDelAckTicks=0", "ack.every_segments", "1")]
#[test_case("TcpMaxDataRetransmissions=7", "retries.data", "7")]
#[test_case("TcpMaxConnectRetransmissions=5", "retries.syn", "5")]
fn a_setting_is_a_leaf_with_the_evidence_of_the_setting(table: &str, path: &str, value: &str) {
    let profile = last(&[table]).unwrap();
    let cited = profile.leaf(path).unwrap();
    assert_eq!((cited.value.as_str(), cited.from.as_str()), (value, "heir-1"));
    assert_eq!(cited.evidence.source, format!("{}: here", table.replace('=', " ")));
    assert_eq!(cited.evidence.confidence, crate::Confidence::Measured);
}

#[test]
fn settings_are_inherited_by_name_and_only_what_changes_is_the_heirs() {
    let heir = last(&["TcpWindowSize=131400 Tcp1323Opts=3 TcpMaxDupAcks=3", "TcpWindowSize=262800"]).unwrap();
    assert_eq!(read(&heir, "receive.window.bytes"), "262800B");
    assert_eq!(heir.leaf("receive.window.bytes").unwrap().from, "heir-2");
    assert_eq!(read(&heir, "options.timestamps"), "offer");
    assert_eq!(heir.leaf("options.timestamps").unwrap().from, "heir-1");
    let heir = last(&["TcpWindowSize=131400", "GlobalMaxTcpWindowSize=16384"]).unwrap();
    assert_eq!(read(&heir, "receive.window.bytes"), "131400B");
}

#[test]
fn a_name_that_the_system_would_ignore_is_read_with_a_warning() {
    let profile = last(&["GlobalTcpMaxWindowSize=131400"]).unwrap();
    let warnings: Vec<String> = profile.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["heir-1.toml:4:1: `GlobalTcpMaxWindowSize` is a name that the system does not know and would ignore; \
          it is read as `GlobalMaxTcpWindowSize`, which is meant"]
    );
    assert!(last(&["GlobalMaxTcpWindowSize=131400"]).unwrap().warnings().is_empty());
}

#[test_case(&["TcpWindowSiz=1"], "heir-1.toml:4:1: unknown name `TcpWindowSiz` in the registry; did you mean `TcpWindowSize`?"; "unknown")]
#[test_case(&["Tcp1323Opts=4"], "heir-1.toml:4:25: `4` is not a valid value of `Tcp1323Opts`; write a whole number from 0 to 3"; "options")]
#[test_case(&["TcpMaxDupAcks=0"], "heir-1.toml:4:27: `0` is not a valid value of `TcpMaxDupAcks`; write a whole number from 1 to 3"; "duplicates")]
#[test_case(&["TcpWindowSize=0.5"], "heir-1.toml:4:27: `0.5` is not a valid value of `TcpWindowSize`; write a whole number from 0 to 1073725440"; "window")]
#[test_case(&["TcpDelAckTicks=5"], "heir-1.toml:4:28: `5` is not a valid value of `TcpDelAckTicks`; write a whole number from 0 to 4"; "ticks")]
#[test_case(&["TcpWindowSize=70000 Tcp1323Opts=2"], "heir-1.toml:5:25: a window of 70000 bytes needs scaling, which `Tcp1323Opts` forbids; give `Tcp1323Opts` 1 or 3, or a window of at most 65535"; "contradiction")]
#[test_case(&["Tcp1323Opts=2", "TcpWindowSize=70000"], "heir-2.toml:4:27: a window of 70000 bytes needs scaling"; "contradiction with what is inherited")]
#[test_case(&["GlobalMaxTcpWindowSize=1 globalTcpMaxWindowSize=2"], "heir-1.toml:5:36: `globalTcpMaxWindowSize` is given twice; keep one of the two spellings"; "twice")]
fn what_is_wrong_is_said_with_its_place(tables: &[&str], message: &str) {
    let found = lineage(tables).expect_err("it is wrong");
    assert!(found.starts_with(message), "{found}");
}
