//! What is written is read back, and other files are refused by what is wrong with them.

use super::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

fn columns() -> Vec<Column> {
    let column = |name: &str, kind, optional, unit| Column { name: name.to_owned(), kind, optional, unit };
    vec![
        column("name", ColumnKind::Word, false, None),
        column("ns", ColumnKind::Wide, true, Some("ns")),
        column("count", ColumnKind::Narrow, false, Some("1")),
        column("share", ColumnKind::Real, true, Some("%")),
        column("late", ColumnKind::Flag, true, None),
    ]
}

fn rows() -> Vec<Vec<Option<Cell<'static>>>> {
    let (word, number) = (|word| Some(Cell::Word(word)), |number| Some(Cell::Number(number)));
    vec![
        vec![word("a"), number(u64::MAX), number(u32::MAX.into()), Some(Cell::Real(0.5)), Some(Cell::Flag(true))],
        vec![word("µs"), None, number(0), None, None],
        vec![word("a"), number(7), number(1), Some(Cell::Real(-1e300)), Some(Cell::Flag(false))],
    ]
}

fn written(columns: &[Column], rows: &[Vec<Option<Cell<'_>>>]) -> Vec<u8> {
    let mut sheet = Sheet::new(columns);
    rows.iter().for_each(|row| sheet.push(row));
    let mut bytes = Vec::new();
    sheet.write(&mut bytes, "table", &[("of", "tests".to_owned())]).unwrap();
    bytes
}

#[test]
fn rows_come_back_with_the_metadata_of_their_file() {
    let columns = columns();
    let bytes = written(&columns, &rows());
    assert_eq!(bytes, written(&columns, &rows()), "equal sheets are equal bytes");
    let (sheet, metadata) = Sheet::read(bytes, &columns).unwrap();
    assert_eq!((sheet.rows(), metadata["of"].as_str()), (3, "tests"));
    assert_eq!(sheet.each_row().collect::<Vec<_>>(), rows());
}

#[test]
fn some_columns_can_be_read_alone_and_a_sheet_without_rows_is_a_file() {
    let all = columns();
    let some = [all[2].clone(), all[0].clone()];
    let (sheet, _) = Sheet::read(written(&all, &rows()), &some).unwrap();
    assert_eq!(sheet.each_row().nth(1).unwrap(), [Some(Cell::Number(0)), Some(Cell::Word("µs"))]);
    assert_eq!(Sheet::read(written(&all, &[]), &some).unwrap().0.rows(), 0);
}

#[test]
fn a_file_with_other_columns_or_none_is_refused_by_what_is_wrong() {
    let columns = columns();
    let refused = |change: fn(&mut Column)| {
        let mut other = columns.clone();
        change(&mut other[1]);
        Sheet::read(written(&other, &rows()[..1]), &columns).map(|_| ()).unwrap_err()
    };
    assert_eq!(refused(|column| column.name = "us".to_owned()), "column `ns`: it is missing");
    assert_eq!(refused(|column| column.optional = false), "column `ns`: it is of another type");
    assert!(Sheet::read(b"no parquet".to_vec(), &columns).is_err());
    let whole = written(&columns, &rows());
    for len in 0..whole.len() {
        assert!(Sheet::read(whole[..len].to_vec(), &columns).is_err(), "cut to {len}");
    }
}

#[test]
#[should_panic(expected = "`count` has a value in every row")]
fn a_row_has_what_every_row_has() {
    let columns = columns();
    let mut row = rows().remove(0);
    row[2] = None;
    Sheet::new(&columns).push(&row);
}

/// That pyarrow understands it, `crates/lab/tests/tables/check.py` shows.
#[test]
fn the_units_stand_in_a_schema_of_arrow() {
    let (_, metadata) = Sheet::read(written(&columns(), &[]), &columns()).unwrap();
    let bytes = BASE64_STANDARD.decode(&metadata[arrow::KEY]).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((word(0), word(4)), (u32::MAX as usize, bytes.len() - 8));
    let has = |text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(has("unit") && has("ns") && has("share"));
}

/// polars takes a list's members from the bytes behind its beginning: neither they nor their descriptions may stand before it.
#[test]
fn what_describes_the_pair_of_a_unit_stands_behind_its_list() {
    let (_, metadata) = Sheet::read(written(&columns(), &[]), &columns()).unwrap();
    let bytes = BASE64_STANDARD.decode(&metadata[arrow::KEY]).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    // A list of one member, which is a pair whose key is the word behind it.
    let is_key = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(b"\x04\0\0\0unit"));
    let mut lists = 0;
    for at in (8..bytes.len() - 8).step_by(4).filter(|at| word(*at) == 1) {
        let pair = at + 4 + word(at + 4);
        if pair.is_multiple_of(4) && pair + 8 <= bytes.len() && is_key(pair + 4 + word(pair + 4)) {
            lists += 1;
            assert!(pair - word(pair) > at, "{at}: the pair at {pair} is described at {}", pair - word(pair));
        }
    }
    assert_eq!(lists, 3, "a list for each unit");
}
