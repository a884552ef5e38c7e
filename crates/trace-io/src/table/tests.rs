//! What is written can be read back, and a damaged file is an error.

use super::*;
use crate::{Meta, Record, Trace, TraceError, dir};
use ::parquet::file::reader::FileReader as _;
use ::parquet::file::serialized_reader::SerializedFileReader;
use base::{Duration, Instant, SeqNum, SeqRange};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use trace::{ConnId, Event, FieldInfo, Kind, TimerKind, VERSION, VOCABULARY, Value};

fn value(field: &FieldInfo, bits: u64, mask: u64) -> Value<'static> {
    if field.optional && bits.is_multiple_of(3) {
        return Value::Absent;
    }
    match field.kind {
        Kind::Number => Value::Number(bits & mask),
        Kind::Flag => Value::Flag(bits & 1 == 1),
        Kind::Word => Value::Word(field.names[(bits % field.names.len() as u64) as usize]),
        Kind::Seq => Value::Seq(SeqNum(bits as u32)),
        Kind::Range => Value::Range(SeqRange::new(SeqNum(bits as u32), SeqNum((bits >> 32) as u32))),
        Kind::Span => Value::Span(Duration::from_nanos(bits)),
        Kind::Moment => Value::Moment(Instant::from_nanos(bits)),
    }
}

/// Any event, with numbers as wide as its fields take.
fn any_event() -> impl Strategy<Value = Event> {
    let bits = proptest::collection::vec(any::<u64>(), 12);
    (0..VOCABULARY.len(), bits).prop_map(|(place, bits)| {
        let made = [u64::MAX, u32::MAX.into(), u8::MAX.into()].into_iter().find_map(|mask| {
            let mut bits = bits.iter();
            Event::from_values(place, |field| value(field, *bits.next().expect("no event has more fields"), mask))
        });
        made.expect("eight bits fit into every number")
    })
}

fn any_record() -> impl Strategy<Value = Record> {
    (any::<u64>(), any::<u32>(), any_event()).prop_map(|(at, conn, event)| Record {
        at: Instant::from_nanos(at),
        conn: ConnId(conn),
        event,
    })
}

fn meta() -> Meta {
    let cell = vec![("path.rtt".to_owned(), "0.8ms".to_owned())];
    Meta { vocabulary: VERSION, experiment: "dsack".to_owned(), seed: u64::MAX, cell, ..Meta::default() }
}

proptest! {
    #[test]
    fn any_events_come_back_as_they_were(records in proptest::collection::vec(any_record(), 0..200)) {
        let directory = tempfile::tempdir().unwrap();
        let trace = Trace { meta: meta(), records };
        dir::write(directory.path(), &trace).unwrap();
        prop_assert_eq!(dir::read(directory.path()).unwrap(), trace);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_some_other_trace_and_never_a_panic(at in any::<prop::sample::Index>(), with in 1..=u8::MAX) {
        let directory = tempfile::tempdir().unwrap();
        dir::write(directory.path(), &Trace { meta: meta(), records: several(50) }).unwrap();
        let path = directory.path().join(dir::TABLE);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= with;
        std::fs::write(&path, &bytes).unwrap();
        let _ = dir::read(&path);
    }
}

fn several(records: usize) -> Vec<Record> {
    (0..records as u64)
        .map(|index| {
            let place = index as usize % VOCABULARY.len();
            let event = Event::from_values(place, |field| value(field, index, 0xff)).unwrap();
            Record { at: Instant::from_nanos(index), conn: ConnId(index as u32 % 2), event }
        })
        .collect()
}

#[test]
fn a_run_of_several_row_groups_comes_back_in_order() {
    let directory = tempfile::tempdir().unwrap();
    // Mostly of one kind, so that its groups fill up while others wait.
    let mut records = several(2 * ROWS + 17);
    let often = records[2].event;
    records.iter_mut().skip(1).step_by(2).for_each(|record| record.event = often);
    let trace = Trace { meta: meta(), records };
    dir::write(directory.path(), &trace).unwrap();
    let mut counts: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    trace.records.iter().for_each(|record| *counts.entry((record.conn.0, record.event.place())).or_default() += 1);
    assert!(counts.values().any(|rows| *rows > ROWS));
    assert_eq!(groups(directory.path()), counts.values().map(|rows| rows.div_ceil(ROWS)).sum::<usize>());
    assert!(dir::read(directory.path()).unwrap() == trace);
}

fn groups(directory: &std::path::Path) -> usize {
    SerializedFileReader::new(File::open(directory.join(dir::TABLE)).unwrap()).unwrap().num_row_groups()
}

#[test]
fn many_connections_share_row_groups_and_come_back_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let mut records = several(50_000);
    records.iter_mut().zip(0..).for_each(|(record, number)| record.conn = ConnId(number * 7 % 1_000));
    let trace = Trace { meta: meta(), records };
    dir::write(directory.path(), &trace).unwrap();
    assert!(groups(directory.path()) < 10 * VOCABULARY.len(), "{} row groups", groups(directory.path()));
    assert!(dir::read(directory.path()).unwrap() == trace);
}

/// A file of this version as first written, and its events as text. A change of the vocabulary raises its version and rewrites
/// both, with `UPDATE_GOLDEN=1`; the reader must not change its interpretation of a version.
#[test]
fn the_golden_file_of_this_version_is_read_as_it_was_written() {
    let golden = |suffix: &str| format!("{}/golden/v{VERSION}.{suffix}", env!("CARGO_MANIFEST_DIR"));
    let (table, text) = (golden("parquet"), golden("txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let directory = tempfile::tempdir().unwrap();
        let trace = Trace { meta: meta(), records: several(3 * VOCABULARY.len()) };
        dir::write(directory.path(), &trace).unwrap();
        std::fs::copy(directory.path().join(dir::TABLE), &table).unwrap();
        std::fs::write(&text, lines(&trace.records)).unwrap();
    }
    let trace = dir::read(table.as_ref()).unwrap();
    assert_eq!(trace.meta, meta());
    assert_eq!(lines(&trace.records), std::fs::read_to_string(&text).unwrap());
    assert_eq!(trace.records, several(3 * VOCABULARY.len()), "the vocabulary has changed, and its version has not");
}

/// The same as earlier releases wrote it: words that SQL reserves were names of columns.
#[test]
fn a_file_with_former_names_of_columns_is_read() {
    let former = |suffix: &str| format!("{}/golden/v5-former-columns.{suffix}", env!("CARGO_MANIFEST_DIR"));
    let trace = dir::read(former("parquet").as_ref()).unwrap();
    assert_eq!(lines(&trace.records), std::fs::read_to_string(former("txt")).unwrap());
    let file = SerializedFileReader::new(File::open(former("parquet")).unwrap()).unwrap();
    let names = file.metadata().file_metadata().schema_descr().columns().iter().map(|column| column.name().to_owned());
    assert!(names.collect::<Vec<_>>().contains(&"by".to_owned()));
}

/// Canonical text.
fn lines(records: &[Record]) -> String {
    let mut text = String::new();
    records.iter().for_each(|record| trace::write_line(&mut text, record.at, record.conn, &record.event));
    text
}

#[test]
fn a_file_of_another_version_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let other = Meta { vocabulary: VERSION + 1, ..meta() };
    dir::write(directory.path(), &Trace { meta: other, records: Vec::new() }).unwrap();
    let error = dir::read(directory.path()).unwrap_err();
    assert!(matches!(error, TraceError::Version { found, .. } if found == VERSION + 1), "{error}");
}

#[test]
fn what_is_not_a_table_of_ours_is_refused_by_name() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"no parquet").unwrap();
    let error = dir::read(file.path()).unwrap_err();
    assert!(matches!(error, TraceError::Foreign { .. }), "{error}");
    let missing = dir::read(&file.path().join("nowhere")).unwrap_err();
    assert!(matches!(missing, TraceError::Io { .. }), "{missing}");
}

#[test]
fn a_label_that_the_vocabulary_lacks_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let event = Event::TimerFired { kind: TimerKind::TailProbe };
    let record = Record { at: Instant::ZERO, conn: ConnId(0), event };
    dir::write(directory.path(), &Trace { meta: meta(), records: vec![record; 3] }).unwrap();
    let path = directory.path().join(dir::TABLE);
    let mut bytes = std::fs::read(&path).unwrap();
    let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"tail_probe")).collect();
    places.iter().for_each(|&at| bytes[at..at + 10].copy_from_slice(b"tall_probe"));
    std::fs::write(&path, &bytes).unwrap();
    let error = dir::read(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("row 0 of group 0 is not an event: `tall_probe` is not a `kind` of `TimerFired`"),
        "{error}"
    );
}
