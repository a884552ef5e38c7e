//! The `[registry]` table of a profile: settings by their names in an old system's registry.
//!
//! Names, units, ranges and precedence follow Microsoft's reference of the registry of Windows 2000 (TechNet, one page per name)
//! and its articles 170359 and 224829. Each setting is converted to leaves, which keep its evidence. Settings are inherited and
//! overridden by name; leaves follow from all of them together, because the window depends on scaling.
//!
//! Deviation: `TcpInitialRtt` is not read, because one of these pages counts it in seconds and another in milliseconds.

use crate::evidence::Evidence;
use crate::lookup;
use crate::nearest;
use crate::raw_leaf::RawLeaf;
use core::ops::Range;
use std::collections::BTreeMap;

/// Least window, bytes: four segments of Ethernet.
const WINDOW_MIN: u32 = 4 * 1460;
/// Largest window that a SYN or a connection without scaling can express.
const UNSCALED_MAX: u32 = 65_535;
/// `65535 << 14`, the largest possible window.
const WINDOW_MAX: u32 = 0x3FFF_C000;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name {
    TcpWindowSize,
    GlobalMaxTcpWindowSize,
    Tcp1323Opts,
    SackOpts,
    TcpMaxDupAcks,
    TcpDelAckTicks,
    TcpMaxDataRetransmissions,
    TcpMaxConnectRetransmissions,
}

/// The system's spelling of a name, and its valid values.
const NAMES: [(Name, &str, core::ops::RangeInclusive<u32>); 8] = [
    (Name::TcpWindowSize, "TcpWindowSize", 0..=WINDOW_MAX),
    (Name::GlobalMaxTcpWindowSize, "GlobalMaxTcpWindowSize", 0..=WINDOW_MAX),
    (Name::Tcp1323Opts, "Tcp1323Opts", 0..=3),
    (Name::SackOpts, "SackOpts", 0..=1),
    (Name::TcpMaxDupAcks, "TcpMaxDupAcks", 1..=3),
    // The system accepts up to 6; RFC 9293 §3.8.6.3 limits the delay to below 500 ms.
    (Name::TcpDelAckTicks, "TcpDelAckTicks", 0..=4),
    (Name::TcpMaxDataRetransmissions, "TcpMaxDataRetransmissions", 3..=u32::MAX),
    (Name::TcpMaxConnectRetransmissions, "TcpMaxConnectRetransmissions", 1..=255),
];

/// A spelling that appears in published notes on tuning, but that the system does not recognise.
const MISSPELT: &str = "GlobalTcpMaxWindowSize";

/// Returns the names that `[registry]` of a profile accepts, with their valid values: the system's, and the misspelt one.
pub fn names() -> impl Iterator<Item = (&'static str, core::ops::RangeInclusive<u32>)> {
    let known = NAMES.iter().map(|(_, spelling, range)| (*spelling, range.clone()));
    known.chain([(MISSPELT, 0..=WINDOW_MAX)])
}

/// What is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub problem: String,
    pub remedy: String,
}

/// One setting as the file gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub value: u32,
    pub evidence: Evidence,
    /// Where the value stands.
    pub span: Range<usize>,
}

/// Settings by name.
pub(crate) type Settings = BTreeMap<Name, Setting>;

/// Returns the intended name, ignoring case, and a note about its spelling.
pub(crate) fn name(text: &str) -> Result<(Name, Option<Problem>), Problem> {
    if text.eq_ignore_ascii_case(MISSPELT) {
        let warning = Problem {
            problem: format!("`{text}` is a name that the system does not know and would ignore"),
            remedy: "it is read as `GlobalMaxTcpWindowSize`, which is meant".to_owned(),
        };
        return Ok((Name::GlobalMaxTcpWindowSize, Some(warning)));
    }
    let found = NAMES.iter().find(|(_, spelling, _)| spelling.eq_ignore_ascii_case(text));
    found.map(|(name, ..)| (*name, None)).ok_or_else(|| {
        let known: Vec<&str> = NAMES.iter().map(|(_, spelling, _)| *spelling).collect();
        let remedy = nearest(text, known.iter().copied())
            .map_or_else(|| format!("known here: {}", known.join(", ")), |word| format!("did you mean `{word}`?"));
        Problem { problem: format!("unknown name `{text}` in the registry"), remedy }
    })
}

/// The number, within the range of its name.
pub(crate) fn value(name: Name, text: &str) -> Result<u32, Problem> {
    let (_, spelling, range) = entry(name);
    let number = text.trim().parse::<u32>().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| Problem {
        problem: format!("`{text}` is not a valid value of `{spelling}`"),
        remedy: format!("write a whole number from {} to {}", range.start(), range.end()),
    })
}

fn entry(name: Name) -> &'static (Name, &'static str, core::ops::RangeInclusive<u32>) {
    NAMES.iter().find(|(known, ..)| *known == name).expect("every name is in the table")
}

/// The leaves that follow from all settings together.
///
/// # Errors
/// When they contradict one another.
pub(crate) fn leaves(settings: &Settings) -> Result<Vec<RawLeaf>, Problem> {
    let mut found = Vec::new();
    for (name, setting) in settings {
        let value = setting.value;
        let mut say = |path: &str, text: String| found.push(raw(*name, setting, path, text));
        match name {
            Name::TcpWindowSize | Name::GlobalMaxTcpWindowSize => {}
            Name::Tcp1323Opts => options(value, &mut say),
            Name::SackOpts => say("options.sack", if value == 0 { "off" } else { "offer" }.to_owned()),
            Name::TcpMaxDupAcks => say("recovery.detector.dup_thresh", value.to_string()),
            Name::TcpDelAckTicks if value == 0 => say("ack.every_segments", "1".to_owned()),
            Name::TcpDelAckTicks => say("ack.delay", format!("{}ms", 100 * value)),
            Name::TcpMaxDataRetransmissions => say("retries.data", value.to_string()),
            Name::TcpMaxConnectRetransmissions => say("retries.syn", value.to_string()),
        }
    }
    window(settings, &mut found)?;
    Ok(found)
}

/// Bit 0 enables scaling, bit 1 timestamps; a disabled option is not answered either.
fn options(bits: u32, say: &mut impl FnMut(&str, String)) {
    say("options.window_scale.kind", if bits & 1 == 0 { "off" } else { "from_buffer" }.to_owned());
    say("options.timestamps", if bits & 2 == 0 { "off" } else { "offer" }.to_owned());
}

/// Derives the window: an interface's own setting precedes the one for all; in whole segments, scaled where necessary.
fn window(settings: &Settings, found: &mut Vec<RawLeaf>) -> Result<(), Problem> {
    let size = |name| settings.get(&name).map(|setting| (name, setting));
    let Some((name, setting)) = size(Name::TcpWindowSize).or_else(|| size(Name::GlobalMaxTcpWindowSize)) else {
        return Ok(());
    };
    let options = settings.get(&Name::Tcp1323Opts).map(|options| options.value);
    let large = setting.value > UNSCALED_MAX;
    if large && options.is_some_and(|bits| bits & 1 == 0) {
        return Err(Problem {
            problem: format!("a window of {} bytes needs scaling, which `Tcp1323Opts` forbids", setting.value),
            remedy: "give `Tcp1323Opts` 1 or 3, or a window of at most 65535".to_owned(),
        });
    }
    let bytes = setting.value.max(WINDOW_MIN);
    found.push(raw(name, setting, "receive.window.kind", "fixed".to_owned()));
    found.push(raw(name, setting, "receive.window.bytes", format!("{bytes}B")));
    found.push(raw(name, setting, "receive.rounding", "segments".to_owned()));
    if large && options.is_none() {
        found.push(raw(name, setting, "options.window_scale.kind", "from_buffer".to_owned()));
    }
    Ok(())
}

/// Returns a leaf with the evidence of its setting.
fn raw(name: Name, setting: &Setting, path: &str, text: String) -> RawLeaf {
    let leaf = lookup::find(path).expect("the table of leaves has this path");
    let source = format!("{} {}: {}", entry(name).1, setting.value, setting.evidence.source);
    let evidence = Evidence { source, confidence: setting.evidence.confidence };
    RawLeaf { leaf, text, evidence, span: setting.span.clone() }
}

#[cfg(test)]
mod tests;
